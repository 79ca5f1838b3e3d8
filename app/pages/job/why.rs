use api::jobs::{AttemptView, JobDetail};
use api::queue::{Explanation, Instead};
use leptos::prelude::*;
use protocol::exit::{Blame, Exit};
use protocol::ids::JobKey;
use protocol::wait::Waiting;

use crate::address;
use crate::i18n::{Reader, told, tr};
use crate::pages::job::turn::Turn;
use crate::parts::alternatives::Alternatives;
use crate::parts::relative_time::RelativeTime;
use crate::parts::wait_facts::WaitFacts;

/// Makes the view of why a job waits.
pub(super) type MakeWaiting = fn(JobDetail, Waiting) -> AnyView;

/// Why a job waits.
#[lazy]
pub(super) fn job_overview_waiting() -> MakeWaiting {
    |detail, waiting| view! { <WhyWaiting detail=detail waiting=waiting/> }.into_any()
}

/// Why the job waits: the reason, its place, what is short and who holds it, when it may start, what
/// would start it, and what can be done about its turn.
#[component]
pub(crate) fn WhyWaiting(detail: JobDetail, waiting: Waiting) -> impl IntoView {
    let job = detail.summary.clone();
    let unknown = || Explanation::only(waiting, job.virtual_cluster.clone());
    let explanation = detail.explanation.clone().unwrap_or_else(unknown);
    let reason = explanation.reason.clone();
    let place = explanation.place().map(|place| {
        let cluster = job.virtual_cluster.to_string();
        view! { <p>{told(move |t| (t.job.place)(place, &cluster))}</p> }
    });
    let reader = Reader::get();
    let of_remedy = reason.clone();
    let alternatives = explanation.alternatives.clone();
    let key = job.key.clone();
    let link = move |instead: Instead, words: AnyView| {
        let instead = address::encode(&instead.to_string());
        let href = format!("{}&instead={instead}", address::clone_job(&key));
        view! { <a class="button button--small" href=href>{words}</a> }.into_any()
    };
    let remedy = move || {
        let remedy = (reader.texts().wait_remedy)(&of_remedy);
        (!remedy.is_empty()).then(|| view! { <p class="why__remedy">{remedy}</p> })
    };
    let changeable = detail.may_manage && !job.stop_requested;
    let turn = changeable.then(|| view! { <Turn detail=detail/> });
    view! {
        <section class="card why why--waiting" aria-labelledby="why-waiting">
            <h2 id="why-waiting">{tr(|t| t.job.why_waiting)}</h2>
            <p class="why__reason">{told(move |t| (t.wait)(&reason))}</p>
            {move || remedy()}
            {place}
            <WaitFacts explanation=explanation/>
            <Alternatives alternatives=alternatives link=link/>
            {turn}
        </section>
    }
}

/// Why the job ended: the cause, what to do, the log lines that show it.
#[component]
pub(crate) fn WhyEnded(key: JobKey, exit: Exit) -> impl IntoView {
    let modifier = match exit.cause.blame() {
        Blame::None | Blame::Stop => "",
        Blame::User | Blame::Platform => " why--failed",
    };
    let code = exit.code.map(|code| {
        view! { <span class="badge">{tr(|t| t.job.exit_code)} " " {code}</span> }
    });
    view! {
        <section class=format!("card why{modifier}") aria-labelledby="why-ended">
            <h2 id="why-ended">{tr(|t| t.job.why_ended)} " " {code}</h2>
            <Ending key=key exit=exit/>
        </section>
    }
    .into_any()
}

/// What befell the last attempt of a job that goes on, and when.
#[component]
pub(crate) fn AttemptEnded(key: JobKey, attempt: AttemptView) -> impl IntoView {
    let AttemptView { number, completed_at, exit, .. } = attempt;
    let when = completed_at.map(|at| view! { " " <RelativeTime at=at/> });
    let exit = exit.map(|exit| view! { <Ending key=key exit=exit/> });
    view! {
        <section class="card why" aria-labelledby="attempt-ended">
            <h2 id="attempt-ended">{told(move |t| (t.job.attempt_ended)(number))} {when}</h2>
            {exit}
        </section>
    }
    .into_any()
}

/// The cause, what to do, the log lines that show it.
#[component]
fn Ending(key: JobKey, exit: Exit) -> impl IntoView {
    let Exit { code: _, cause, evidence } = exit;
    let of_remedy = cause.clone();
    let reader = Reader::get();
    let remedy = move || {
        let remedy = (reader.texts().remedy)(&of_remedy);
        (!remedy.is_empty()).then(
            || view! { <p class="why__remedy"><b>{tr(|t| t.job.remedy)}</b> " " {remedy}</p> },
        )
    };
    let lines = (!evidence.is_empty()).then(|| view! { <Evidence lines=evidence/> });
    view! {
        <p class="why__reason">{told(move |t| (t.cause)(&cause))}</p>
        {move || remedy()}
        {lines}
        <a href=address::job_tab(&key, "logs")>{tr(|t| t.job.open_log)}</a>
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
