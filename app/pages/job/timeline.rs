use leptos::prelude::*;
use protocol::state::State;
use protocol::time::Timestamp;

use crate::i18n::{Texts, tr};
use crate::parts::clock::Clock;
use crate::parts::duration::Duration;
use crate::parts::relative_time::RelativeTime;
use crate::server_fns::jobs::JobSeen;

/// A stretch of a job's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stretch {
    kind: Kind,
    from: Timestamp,
    /// `None`: it goes on.
    to: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Waited,
    Prepared,
    Ran,
}

impl Kind {
    fn modifier(self) -> &'static str {
        match self {
            Kind::Waited => "waiting",
            Kind::Prepared => "preparing",
            Kind::Ran => "running",
        }
    }

    fn word(self) -> fn(&'static Texts) -> &'static str {
        match self {
            Kind::Waited => |t| t.job.waited,
            Kind::Prepared => |t| t.job.prepared,
            Kind::Ran => |t| t.job.ran,
        }
    }

    /// Of one that goes on.
    fn word_now(self) -> fn(&'static Texts) -> &'static str {
        match self {
            Kind::Waited => |t| (t.state)(State::Waiting),
            Kind::Prepared => |t| (t.state)(State::Preparing),
            Kind::Ran => |t| (t.state)(State::Running),
        }
    }
}

/// The stretches in order. Time in the queue is never part of the time it ran: between two
/// attempts the job waits again.
fn stretches(detail: &JobSeen) -> Vec<Stretch> {
    let job = &detail.summary;
    let mut found = Vec::new();
    let mut waits_since = Some(job.submitted_at);
    for attempt in &detail.attempts {
        if let Some(from) = waits_since {
            found.push(Stretch { kind: Kind::Waited, from, to: Some(attempt.placed_at) });
        }
        let prepared_until = attempt.started_at.or(attempt.completed_at);
        found.push(Stretch { kind: Kind::Prepared, from: attempt.placed_at, to: prepared_until });
        if let Some(from) = attempt.started_at {
            found.push(Stretch { kind: Kind::Ran, from, to: attempt.completed_at });
        }
        waits_since = attempt.completed_at;
    }
    if let Some(from) = waits_since
        && (!job.state.is_final() || detail.attempts.is_empty())
    {
        found.push(Stretch { kind: Kind::Waited, from, to: job.completed_at });
    }
    found
}

/// When the job was submitted, how long it waited, prepared and ran, when it ended.
#[component]
pub(crate) fn Timeline(detail: JobSeen) -> impl IntoView {
    let parts = stretches(&detail).into_iter().map(|part| view! { <Part part=part/> });
    let parts = parts.collect_view();
    let ended = detail.summary.completed_at.map(|at| {
        view! {
            <li class="timeline__moment">
                <span class="timeline__word">{tr(|t| t.job.ended)}</span>
                <RelativeTime at=at/>
            </li>
        }
    });
    view! {
        <ol class="timeline" tabindex="0" aria-label=tr(|t| t.job.timeline)>
            <li class="timeline__moment">
                <span class="timeline__word">{tr(|t| t.job.submitted)}</span>
                <RelativeTime at=detail.summary.submitted_at/>
            </li>
            {parts}
            {ended}
        </ol>
    }
}

#[component]
fn Part(part: Stretch) -> impl IntoView {
    let clock = Clock::get();
    let Stretch { kind, from, to } = part;
    let word = if to.is_some() { kind.word() } else { kind.word_now() };
    // The square root keeps a minute visible beside a day.
    let grow = move || {
        let end = to.unwrap_or_else(|| clock.now());
        format!("flex-grow:{}", end.since(from).max(1).isqrt())
    };
    view! {
        <li class=format!("timeline__part timeline__part--{}", kind.modifier()) style=move || grow()>
            <span class="timeline__word">{tr(word)}</span>
            <Duration from=from to=to/>
        </li>
    }
}

#[cfg(test)]
mod tests {
    use api::jobs::{AttemptView, JobDetail, JobSummary, Retries};
    use protocol::spec::{Dialect, NodeSelector, Priority, RetryLimit};

    use super::*;

    fn attempt(placed: i64, started: Option<i64>, completed: Option<i64>) -> AttemptView {
        AttemptView {
            number: 0,
            state: State::Running,
            placed_at: Timestamp(placed),
            started_at: started.map(Timestamp),
            completed_at: completed.map(Timestamp),
            exit: None,
            tasks: Vec::new(),
        }
    }

    fn job(state: State, completed: Option<i64>, attempts: Vec<AttemptView>) -> JobDetail {
        JobDetail {
            summary: JobSummary {
                id: protocol::ids::JobId(1),
                key: "ada~a".parse().unwrap(),
                state,
                stop_requested: false,
                virtual_cluster: Default::default(),
                priority: Priority::TEST,
                tasks: 1,
                roles: 1,
                gpus: 0.into(),
                gpu_types: Vec::new(),
                retries: Retries::default(),
                submitted_at: Timestamp(0),
                started_at: None,
                completed_at: completed.map(Timestamp),
                waiting: None,
                expected: None,
                held: None,
                tags: Vec::new(),
                ends_by: None,
                lately: Default::default(),
                exit: None,
            },
            description: None,
            dialect: Dialect::Pai,
            retry_limit: RetryLimit::Times(0),
            nodes: NodeSelector::default(),
            time_limit: None,
            grace: None,
            deadline: None,
            roles: Vec::new(),
            storages: Vec::new(),
            attempts,
            idling: None,
            may_manage: true,
            most_priority: None,
            explanation: None,
        }
    }

    fn kinds(detail: &JobDetail) -> Vec<(Kind, i64, Option<i64>)> {
        let seen = JobSeen::from(detail.clone());
        stretches(&seen).iter().map(|s| (s.kind, s.from.0, s.to.map(|to| to.0))).collect()
    }

    #[test]
    fn nothing_is_lost_that_only_some_parts_read() {
        let attempts = vec![attempt(10, Some(12), Some(20)), attempt(25, None, None)];
        let description = Some("\"a\" in words".to_owned());
        let detail = JobDetail { description, ..job(State::Preparing, None, attempts) };
        assert_eq!(JobSeen::from(detail.clone()).whole(), Ok(detail));
    }

    #[test]
    fn a_job_in_the_queue_waits_until_now() {
        assert_eq!(kinds(&job(State::Waiting, None, vec![])), [(Kind::Waited, 0, None)]);
    }

    #[test]
    fn a_job_stopped_in_the_queue_waited_until_then() {
        assert_eq!(kinds(&job(State::Stopped, Some(9), vec![])), [(Kind::Waited, 0, Some(9))]);
    }

    #[test]
    fn between_two_attempts_it_waits_again() {
        let attempts = vec![attempt(10, Some(12), Some(20)), attempt(25, None, None)];
        assert_eq!(
            kinds(&job(State::Preparing, None, attempts)),
            [
                (Kind::Waited, 0, Some(10)),
                (Kind::Prepared, 10, Some(12)),
                (Kind::Ran, 12, Some(20)),
                (Kind::Waited, 20, Some(25)),
                (Kind::Prepared, 25, None),
            ]
        );
    }

    #[test]
    fn after_the_end_nothing_waits() {
        let attempts = vec![attempt(10, Some(12), Some(20))];
        assert_eq!(kinds(&job(State::Succeeded, Some(20), attempts)).len(), 3);
    }
}
