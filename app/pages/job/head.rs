use leptos::prelude::*;
use leptos_meta::Title;
use protocol::ids::JobKey;
use protocol::state::State;

use crate::address;
use crate::i18n::{Reader, tr};
use crate::live::Live;
use crate::pages::job::timeline::Timeline;
use crate::parts::about::About;
use crate::parts::clock::Clock;
use crate::parts::copy::Copy;
use crate::parts::exit_line::ExitLine;
use crate::parts::state_chip::{Place, StateChip};
use crate::server_fns::jobs::JobSeen;

/// Name, state, why, and what can be done.
#[component]
pub(crate) fn JobHead(
    detail: JobSeen,
    stopping: About<JobKey>,
    deleting: About<JobKey>,
) -> impl IntoView {
    let job = detail.summary.clone();
    if job.state == State::Waiting {
        follow_queue(&job.key);
    }
    let reader = Reader::get();
    let title = {
        let name = job.key.name.to_string();
        move || format!("{name} · {}", (reader.texts().state)(job.state))
    };
    let (of_stop, of_delete) = (job.key.clone(), job.key.clone());
    let stoppable = detail.may_manage && !job.state.is_final() && !job.stop_requested;
    let stop = stoppable.then(|| {
        let ask = move |_| stopping.ask(of_stop.clone());
        view! {
            <button type="button" class="button" data-stop="" on:click=ask>
                {tr(|t| t.job.stop)}
            </button>
        }
    });
    let deletable = detail.may_manage && job.state.is_final();
    let delete = deletable.then(|| {
        let ask = move |_| deleting.ask(of_delete.clone());
        view! { <button type="button" class="button" on:click=ask>{tr(|t| t.job.delete)}</button> }
    });
    let compare = address::compare([job.key.to_string().as_str()].into_iter(), false);
    view! {
        <Title text=title/>
        <header class="job-head">
            <div class="job-head__line">
                <h1 class="page-header__title">{job.key.name.to_string()}</h1>
                <span role="status">
                    <StateChip state=job.state place=Place::of(&job)/>
                </span>
                <Reason detail=detail.clone()/>
            </div>
            <div class="job-head__id"><Copy text=job.key.to_string()/></div>
            <div class="page-header__actions">
                <a class="button" href=address::clone_job(&job.key)>{tr(|t| t.job.clone)}</a>
                <a class="button" href=compare>{tr(|t| t.compare.short)}</a>
                {stop}
                {delete}
            </div>
        </header>
        <Timeline detail=detail/>
    }
    .into_any()
}

/// While a job waits, a change of the queue is one of the job.
fn follow_queue(key: &JobKey) {
    let (queue, job) = (Live::get().queue(), Live::get().job(key));
    Effect::watch(move || queue.get(), move |_, _, _| job.update(|count| *count += 1), false);
}

/// When it may start, or why it ended, in one line. Why it waits is said by the panel below.
#[component]
fn Reason(detail: JobSeen) -> impl IntoView {
    let job = detail.summary;
    let (reader, clock) = (Reader::get(), Clock::get());
    let asked = job.stop_requested && !job.state.is_final();
    match (asked, job.expected, job.ended()) {
        (true, _, _) => {
            view! { <span class="hint">{tr(|t| t.job.stop_requested)}</span> }.into_any()
        }
        (false, Some(expected), _) => {
            let when = move || reader.texts().queue.starts_when(&expected, clock.now());
            view! { <span class="hint">{move || when()}</span> }.into_any()
        }
        (false, None, Some(exit)) => view! { <ExitLine exit=exit.clone()/> }.into_any(),
        (false, None, None) => ().into_any(),
    }
}
