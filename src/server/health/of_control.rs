use std::sync::Arc;

use async_trait::async_trait;
use control::{Control, Figures, OwnFailureCounts, Part, PassTimes, PostCounts, SweptCounts};

use crate::probe::{Check, Histogram, Labels, Measurement, Probe, Value};

/// Asks a running control.
#[derive(Debug)]
pub struct OfControl(Arc<Control>);

impl OfControl {
    /// Asks this one.
    #[must_use]
    pub fn new(control: Arc<Control>) -> Self {
        Self(control)
    }
}

#[async_trait]
impl Probe for OfControl {
    async fn readiness(&self) -> Vec<Check> {
        let check = |part: Part| {
            let Part { name, needed, problem } = part;
            Check { name, ready: problem.is_none(), needed, problem }
        };
        self.0.readiness().await.into_iter().map(check).collect()
    }

    async fn measurements(&self) -> Vec<Measurement> {
        let (parts, figures) = tokio::join!(self.0.readiness(), self.0.figures());
        let mut measured = vec![of_build(), of_parts(&parts)];
        measured.extend(of_passes(self.0.schedule_passes()));
        measured.extend(of_own_failures(self.0.own_failures()));
        measured.extend(of_swept(self.0.swept()));
        measured.extend(of_posted(self.0.posted()));
        measured.extend(of_figures(figures));
        measured
    }
}

fn of_build() -> Measurement {
    let labels = vec![("version", env!("CARGO_PKG_VERSION").to_owned())];
    Measurement {
        name: "build_info",
        help: "Version of the server",
        value: Value::Gauges(vec![(labels, 1.0)]),
    }
}

fn of_parts(parts: &[Part]) -> Measurement {
    let ready = |part: &Part| {
        let labels = vec![("part", part.name.clone())];
        (labels, f64::from(u8::from(part.problem.is_none())))
    };
    Measurement {
        name: "ready",
        help: "1 for each part of the server that is well, as /readyz says it",
        value: Value::Gauges(parts.iter().map(ready).collect()),
    }
}

fn of_passes(PassTimes { count, total, last }: PassTimes) -> [Measurement; 2] {
    [
        Measurement {
            name: "schedule_pass_seconds",
            help: "Passes of the scheduler and the time they took",
            value: Value::Summary { count, sum: total.as_secs_f64() },
        },
        Measurement {
            name: "schedule_last_pass_seconds",
            help: "Time that the last pass of the scheduler took",
            value: Value::Gauge(last.as_secs_f64()),
        },
    ]
}

fn of_own_failures(counts: OwnFailureCounts) -> [Measurement; 4] {
    let OwnFailureCounts { records, storage, key, panics } = counts;
    let counter = |name, help, count| Measurement { name, help, value: Value::Counter(count) };
    [
        counter(
            "database_failures",
            "Times that jobs did not go on since the database failed",
            records,
        ),
        counter(
            "storage_failures",
            "Times that jobs were not launched since the storage failed",
            storage,
        ),
        counter(
            "key_failures",
            "Times that jobs were not launched since the key does not open their secrets",
            key,
        ),
        counter(
            "loop_panics",
            "Times that a part of the server panicked or ended and began anew",
            panics,
        ),
    ]
}

/// What was forgotten, since it was older than it is kept for.
fn of_swept(counts: SweptCounts) -> [Measurement; 4] {
    let SweptCounts { jobs, logs, events, audit } = counts;
    let counter = |name, help, count| Measurement { name, help, value: Value::Counter(count) };
    [
        counter("swept_jobs", "Jobs that were forgotten for their age", jobs),
        counter("swept_logs", "Logs that were removed for their age", logs),
        counter("swept_events", "Events that were forgotten for their age", events),
        counter("swept_audit", "Entries of the audit log that were removed for their age", audit),
    ]
}

/// What people were sent.
fn of_posted(counts: PostCounts) -> [Measurement; 3] {
    let PostCounts { sent, failed, dropped } = counts;
    let counter = |name, help, count| Measurement { name, help, value: Value::Counter(count) };
    [
        counter("notifications_sent", "Mails and calls of webhooks that were taken", sent),
        counter("notifications_failed", "Mails and calls of webhooks that failed", failed),
        counter("notifications_dropped", "Notices that were given up unsent", dropped),
    ]
}

fn of_figures(figures: Figures) -> Vec<Measurement> {
    let of_loop = |name: &'static str| -> Labels { vec![("loop", name.to_owned())] };
    let ages = figures.loops.iter().map(|pass| (of_loop(pass.name), pass.age.as_secs_f64()));
    let patience =
        figures.loops.iter().map(|pass| (of_loop(pass.name), pass.patience.as_secs_f64()));
    let calls = figures.engine_calls.into_iter().map(|(action, times)| {
        let sum = times.total.as_secs_f64();
        let counts = Histogram { within: times.within, count: times.count, sum };
        (vec![("action", action.to_owned())], counts)
    });
    let failures = figures.engine_failures.into_iter().map(|(node, action, count)| {
        (vec![("node", node.to_string()), ("action", action.to_owned())], count)
    });
    let known = |value: Option<f64>| {
        Value::Gauges(value.into_iter().map(|value| (Labels::new(), value)).collect())
    };
    let measurement = |name, help, value| Measurement { name, help, value };
    vec![
        measurement(
            "loop_last_pass_age_seconds",
            "Time since a pass of the loop ended well",
            Value::Gauges(ages.collect()),
        ),
        measurement(
            "loop_patience_seconds",
            "The loop is not well when its last pass is longer ago",
            Value::Gauges(patience.collect()),
        ),
        measurement(
            "engine_call_seconds",
            "Calls to the engines of all nodes and the time they took",
            Value::Histograms(calls.collect()),
        ),
        measurement(
            "engine_failures",
            "Times that a node's engine did not answer or did not do what it was asked",
            Value::Counters(failures.collect()),
        ),
        measurement(
            "database_bytes",
            "Bytes that the database takes",
            known(figures.database_bytes.map(|bytes| bytes as f64)),
        ),
        measurement(
            "oldest_waiting_job_seconds",
            "Time that the job has waited that waits longest for its first start and is not held",
            known(figures.oldest_waiting.map(|waited| waited.as_secs_f64())),
        ),
        measurement(
            "leads",
            "1 of the server that leads, 0 of the others",
            Value::Gauge(f64::from(u8::from(figures.leads))),
        ),
        measurement(
            "lead_term",
            "Number of the lead among several servers, which grows with each change of it",
            known(figures.term.map(|term| term as f64)),
        ),
    ]
}
