use api::cluster::Silent;
use api::metrics::IdleJob;
use leptos::prelude::*;
use protocol::ids::NodeName;

use crate::failed_lately::FailedLately;
use crate::i18n::{Texts, told, tr};
use crate::pages::home::Home;
use crate::parts::loaded::Loaded;
use crate::parts::relative_time::RelativeTime;
use crate::parts::send_form::SendForm;
use crate::sending::Sending;
use crate::server_fns::home::HomeView;
use crate::{address, time};

/// Picks a sentence about so many nodes.
type Words = fn(&'static Texts) -> fn(u64) -> String;

/// Jobs of the reader that failed lately, and nodes that do not answer or start nothing.
#[component]
pub(crate) fn Attention(home: Home, dismiss: Sending) -> impl IntoView {
    view! {
        <section class="card" aria-labelledby="attention">
            <h2 id="attention" class="card__head">{tr(|t| t.home.attention)}</h2>
            <Loaded
                resource=home
                lines=2
                content=move |HomeView { failed, idle, silent, .. }| {
                    view! { <Points failed=failed idle=idle silent=silent dismiss=dismiss/> }
                }
            />
        </section>
    }
}

#[component]
fn Points(
    failed: FailedLately,
    idle: Vec<IdleJob>,
    silent: Silent,
    dismiss: Sending,
) -> impl IntoView {
    let Silent { count, names, closed, closed_names } = silent;
    let all_well = (failed.count + count + closed == 0 && idle.is_empty())
        .then(|| view! { <p class="hint">{tr(|t| t.home.all_well)}</p> });
    let failed = (failed.count > 0).then(|| view! { <FailedJobs failed=failed dismiss=dismiss/> });
    let unreachable = (count > 0).then(|| {
        view! { <SomeNodes count=count names=names words=|t| t.home.unreachable_nodes/> }
    });
    let closed = (closed > 0).then(|| {
        view! { <SomeNodes count=closed names=closed_names words=|t| t.home.closed_nodes/> }
    });
    let idle = idle.into_iter().map(|job| view! { <Unused job=job/> }).collect_view();
    view! { {all_well} <ul class="points">{failed} {idle} {unreachable} {closed}</ul> }
}

/// A job that holds GPUs and does not use them, and when it is stopped for that.
#[component]
fn Unused(job: IdleJob) -> impl IntoView {
    let IdleJob { key, idling, .. } = job;
    let stops = idling.stops_at.map(|at| {
        view! { " · " {tr(|t| t.metrics.stops)} " " <RelativeTime at=at/> }
    });
    view! {
        <li class="point point--failed">
            <a href=address::job(&key)>{key.name.to_string()}</a>
            {tr(|t| t.common.colon)} {tr(|t| t.metrics.all_idle)} {stops}
        </li>
    }
}

/// How many nodes are in a bad way, and the first of them.
#[component]
fn SomeNodes(count: u64, names: Vec<NodeName>, words: Words) -> impl IntoView {
    let names = names.into_iter().map(|name| {
        view! { <a href=address::node(&name)>{name.to_string()}</a> " " }
    });
    view! {
        <li class="point point--failed">
            {told(move |t| words(t)(count))} {tr(|t| t.common.colon)} {names.collect_view()}
        </li>
    }
}

/// How many have failed, the way to them, and to hear no more of these.
#[component]
fn FailedJobs(failed: FailedLately, dismiss: Sending) -> impl IntoView {
    let FailedLately { count, since, last } = failed;
    let ended = since.map_or_else(|| "7d".to_owned(), time::exact);
    let filter = address::encode(&format!("state:failed ended:{ended}"));
    let last = last.map(|last| {
        view! {
            <SendForm to=dismiss>
                <input type="hidden" name="last" value=last.to_string()/>
                <button class="button button--small">{tr(|t| t.home.dismiss)}</button>
            </SendForm>
        }
    });
    view! {
        <li class="point point--failed point--with-button">
            <a href=format!("/jobs?q={filter}&sort=-completed")>
                {told(move |t| (t.home.failed_jobs)(count, since.is_some()))}
            </a>
            {last}
        </li>
    }
}
