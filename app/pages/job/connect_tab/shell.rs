use api::ssh::SshTask;
use leptos::prelude::*;

use crate::connect::Ways;
use crate::i18n::{told, tr};
use crate::parts::copy::Copy;

/// The commands for a terminal.
#[component]
pub(crate) fn Shell(ways: Ways, task: SshTask) -> impl IntoView {
    let other = ways.tasks.iter().find(|other| other.alias() != task.alias()).map(|other| {
        let alias = other.alias();
        view! { <p class="hint">{told(move |t| (t.connect.between)(&alias))}</p> }
    });
    view! {
        <section class="card stack" aria-labelledby="connect-shell">
            <h2 id="connect-shell">{tr(|t| t.connect.terminal)}</h2>
            <div>
                <p>{tr(|t| t.connect.command)}</p>
                <Copy text=ways.command(&task)/>
                <p class="connect__other">{tr(|t| t.connect.copy_files)}</p>
                <Copy text=ways.copy(&task)/>
            </div>
            {other}
        </section>
    }
    .into_any()
}
