use api::ssh::SshTask;
use leptos::prelude::*;

use crate::connect::Ways;
use crate::i18n::{told, tr};
use crate::parts::copy_button::CopyButton;

/// Editors that go by the scheme of their links.
const EDITORS: [(&str, &str); 3] =
    [("VS Code", "vscode"), ("Cursor", "cursor"), ("Windsurf", "windsurf")];

/// The block for `~/.ssh/config` and the links that go by it.
#[component]
pub(crate) fn Editors(ways: Ways, task: SshTask) -> impl IntoView {
    let config = ways.config();
    let links = EDITORS.map(|(name, scheme)| (name, ways.editor(scheme, &task)));
    let links = links.into_iter().chain([("JetBrains Gateway", ways.gateway(&task))]);
    let links = links.map(|(name, href)| {
        view! {
            <a class="button" href=href rel="external">{told(move |t| (t.connect.open_in)(name))}</a>
        }
    });
    view! {
        <section class="card stack" aria-labelledby="connect-editors">
            <div class="card__head">
                <div class="connect__about">
                    <h2 id="connect-editors">{tr(|t| t.connect.editors)}</h2>
                    <p class="hint">{tr(|t| t.connect.editors_hint)}</p>
                </div>
                <CopyButton text=config.clone()/>
            </div>
            <pre class="connect__config" tabindex="0" role="region" aria-label=tr(|t| t.connect.config)>
                {config}
            </pre>
            <div class="buttons">{links.collect_view()}</div>
        </section>
    }
    .into_any()
}
