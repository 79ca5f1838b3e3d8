use api::jobs::JobDetail;
use api::queue::Explanation;
use leptos::prelude::*;
use protocol::exit::{Blame, Cause, Exit};
use protocol::ids::JobKey;
use protocol::state::State;
use protocol::wait::Waiting;

use crate::address;
use crate::i18n::{Reader, Texts, tr};
use crate::pages::job::turn::Turn;
use crate::parts::wait_facts::WaitFacts;

/// Why the job waits: the reason, its place, what is short and who holds it, when it may start, what
/// would start it, and what can be done about its turn.
#[component]
pub(crate) fn WhyWaiting(detail: JobDetail, waiting: Waiting) -> impl IntoView {
    let job = detail.summary.clone();
    let unknown = || Explanation { waiting, scarce: None, holders: Vec::new(), expected: None };
    let explanation = detail.explanation.clone().unwrap_or_else(unknown);
    let Waiting { reason, position, expected_start: _ } = explanation.waiting.clone();
    let cluster = job.virtual_cluster.to_string();
    let reader = Reader::get();
    let of_remedy = reason.clone();
    let remedy = move || {
        let remedy = (reader.texts().wait_remedy)(&of_remedy);
        (!remedy.is_empty()).then(|| view! { <p class="why__remedy">{remedy}</p> })
    };
    let changeable = detail.may_manage && !job.stop_requested;
    let turn = changeable.then(|| view! { <Turn detail=detail/> });
    view! {
        <section class="card why why--waiting" aria-labelledby="why-waiting">
            <h2 id="why-waiting">{tr(|t| t.job.why_waiting)}</h2>
            <p class="why__reason">{tr(move |t| (t.wait)(&reason))}</p>
            <p>{tr(move |t| (t.job.place)(position, &cluster))}</p>
            <WaitFacts explanation=explanation/>
            {remedy}
            {turn}
        </section>
    }
}

/// Why the job, or of one that goes on its last attempt, ended: the cause, what to do, the log lines that show it.
#[component]
pub(crate) fn WhyEnded(key: JobKey, state: State, exit: Exit) -> impl IntoView {
    let Exit { code, cause, evidence } = exit;
    let modifier = match (&cause, cause.blame()) {
        (Cause::Preempted | Cause::NodeDrained { .. }, _) | (_, Blame::None | Blame::Stop) => "",
        (_, Blame::User | Blame::Platform) => " why--failed",
    };
    let heading = match state.is_final() {
        true => |t: &'static Texts| t.job.why_ended,
        false => |t: &'static Texts| t.job.why_attempt_ended,
    };
    let of_remedy = cause.clone();
    let reader = Reader::get();
    let remedy = move || {
        let remedy = (reader.texts().remedy)(&of_remedy);
        (!remedy.is_empty()).then(
            || view! { <p class="why__remedy"><b>{tr(|t| t.job.remedy)}</b> " " {remedy}</p> },
        )
    };
    let code = code.map(|code| {
        view! { <span class="badge">{tr(|t| t.job.exit_code)} " " {code}</span> }
    });
    let lines = (!evidence.is_empty()).then(|| view! { <Evidence lines=evidence/> });
    view! {
        <section class=format!("card why{modifier}") aria-labelledby="why-ended">
            <h2 id="why-ended">{tr(heading)} " " {code}</h2>
            <p class="why__reason">{tr(move |t| (t.cause)(&cause))}</p>
            {remedy}
            {lines}
            <a href=address::job_tab(&key, "logs")>{tr(|t| t.job.open_log)}</a>
        </section>
    }
}

#[component]
fn Evidence(lines: Vec<String>) -> impl IntoView {
    view! {
        <figure>
            <figcaption class="hint">{tr(|t| t.job.evidence)}</figcaption>
            <pre class="why__evidence" tabindex="0">{lines.join("\n")}</pre>
        </figure>
    }
}
