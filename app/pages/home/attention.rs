use api::cluster::Silent;
use leptos::prelude::*;
use protocol::state::State;

use crate::address;
use crate::i18n::{told, tr};
use crate::pages::home::Home;
use crate::parts::loaded::Loaded;
use crate::server_fns::home::HomeView;

/// Failed jobs of the reader, and nodes that do not answer.
#[component]
pub(crate) fn Attention(home: Home) -> impl IntoView {
    view! {
        <section class="card" aria-labelledby="attention">
            <h2 id="attention" class="card__head">{tr(|t| t.home.attention)}</h2>
            <Loaded
                resource=home
                lines=2
                content=move |HomeView { mine, silent, .. }| {
                    let failed = mine.counts.get(&State::Failed).copied().unwrap_or(0);
                    view! { <Points failed=failed silent=silent/> }
                }
            />
        </section>
    }
}

#[component]
fn Points(failed: u64, silent: Silent) -> impl IntoView {
    let Silent { count, names } = silent;
    let all_well =
        (failed + count == 0).then(|| view! { <p class="hint">{tr(|t| t.home.all_well)}</p> });
    let failed = (failed > 0).then(|| {
        view! {
            <li class="point point--failed">
                <a href="/jobs?q=state:failed">{told(move |t| (t.home.failed_jobs)(failed))}</a>
            </li>
        }
    });
    let names = names.into_iter().map(|name| {
        view! { <a href=address::node(&name)>{name.to_string()}</a> " " }
    });
    let names = names.collect_view();
    let unreachable = (count > 0).then(|| {
        view! {
            <li class="point point--failed">
                {told(move |t| (t.home.unreachable_nodes)(count))} ": " {names}
            </li>
        }
    });
    view! { {all_well} <ul class="points">{failed} {unreachable}</ul> }
}
