use api::jobs::JobSummary;
use leptos::prelude::*;
use protocol::exit::{Blame, Exit};
use protocol::ids::JobKey;
use protocol::wait::Waiting;

use crate::address;
use crate::i18n::{Reader, tr};
use crate::parts::clock::Clock;
use crate::time::Span;

/// Why the job waits: the reason, its place, when it may start, what would start it.
#[component]
pub(crate) fn WhyWaiting(job: JobSummary, waiting: Waiting) -> impl IntoView {
    let Waiting { reason, position, expected_start } = waiting;
    let cluster = job.virtual_cluster.to_string();
    let reader = Reader::get();
    let clock = Clock::get();
    let when = move || {
        let texts = reader.texts();
        match expected_start {
            Some(at) => {
                let span = (texts.ahead)(Span::of_millis(at.since(clock.now())));
                (texts.job.expected)(&span)
            }
            None => texts.job.expected_unknown.to_owned(),
        }
    };
    let of_remedy = reason.clone();
    let remedy = move || {
        let remedy = (reader.texts().wait_remedy)(&of_remedy);
        (!remedy.is_empty()).then(|| view! { <p class="why__remedy">{remedy}</p> })
    };
    view! {
        <section class="card why why--waiting" aria-labelledby="why-waiting">
            <h2 id="why-waiting">{tr(|t| t.job.why_waiting)}</h2>
            <p class="why__reason">{tr(move |t| (t.wait)(&reason))}</p>
            <ul class="why__facts">
                <li>{tr(move |t| (t.job.place)(position, &cluster))}</li>
                <li>{when}</li>
            </ul>
            {remedy}
        </section>
    }
}

/// Why the job ended: the cause, what to do, the log lines that show it.
#[component]
pub(crate) fn WhyEnded(key: JobKey, exit: Exit) -> impl IntoView {
    let Exit { code, cause, evidence } = exit;
    let modifier = match cause.blame() {
        Blame::None | Blame::Stop => "",
        Blame::User | Blame::Platform => " why--failed",
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
            <h2 id="why-ended">{tr(|t| t.job.why_ended)} " " {code}</h2>
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
