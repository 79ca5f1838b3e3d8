use api::jobs::TaskView;
use leptos::prelude::*;
use protocol::ids::JobKey;

use crate::address;
use crate::i18n::{told, tr};

/// The pages that a task serves, each port by one click.
#[component]
pub(crate) fn Ports(job: JobKey, task: TaskView) -> impl IntoView {
    let links = task.ports.keys().filter(|label| label.as_str() != "ssh").map(|label| {
        let (href, label) = (address::proxy(&job, &task, label), label.to_string());
        view! {
            <a class="button" href=href rel="external" target="_blank">
                {told(move |t| (t.connect.open_port)(&label))}
            </a>
        }
    });
    let links = links.collect_view();
    view! {
        <section class="card stack" aria-labelledby="connect-ports">
            <div>
                <h2 id="connect-ports">{tr(|t| t.connect.pages)}</h2>
                <p class="hint">{tr(|t| t.connect.pages_hint)}</p>
            </div>
            <div class="buttons">{links}</div>
        </section>
    }
    .into_any()
}
