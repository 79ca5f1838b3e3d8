use leptos::prelude::*;

use crate::address;
use crate::connect::Ways;
use crate::i18n::{told, tr};
use crate::parts::copy::Copy;

/// The job's key: to be downloaded and put where `ssh` looks for it.
#[component]
pub(crate) fn KeyFile(ways: Ways) -> impl IntoView {
    let key = address::job_key(&ways.job);
    let (keep, on_windows) = (ways.keep_key(), ways.keep_key_on_windows());
    let name = ways.key_file;
    let putty = format!("{name}.ppk");
    let shown = name.clone();
    view! {
        <section class="card stack" aria-labelledby="connect-key">
            <div>
                <h2 id="connect-key">{tr(|t| t.connect.key)}</h2>
                <p class="hint">{tr(|t| t.connect.key_hint)}</p>
            </div>
            <div class="buttons">
                <a class="button button--primary" href=key.clone() rel="external" download=name>
                    {told(move |t| (t.connect.download)(&shown))}
                </a>
                <a class="button" href=format!("{key}?form=putty") rel="external" download=putty>
                    {tr(|t| t.connect.for_putty)}
                </a>
            </div>
            <div>
                <p>{tr(|t| t.connect.put_away)}</p>
                <Copy text=keep/>
                <p class="connect__other">{tr(|t| t.connect.on_windows)}</p>
                <Copy text=on_windows/>
            </div>
            <p class="hint">
                <a href="/profile#public-keys">{tr(|t| t.connect.own_keys)}</a>
            </p>
        </section>
    }
    .into_any()
}
