use control::{Kept, Retention};
use serde::Deserialize;

/// For how long what is over is remembered. What is not said is the installation's own choice; logs, what was
/// measured and events are then kept no longer than jobs.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RetentionConfig {
    /// Jobs, with all that is recorded of them, from their end on.
    pub jobs: Option<Kept>,
    /// Their logs, from the jobs' end on.
    pub logs: Option<Kept>,
    /// What was measured of their tasks, likewise.
    pub metrics: Option<Kept>,
    /// What happened to jobs and to the cluster.
    pub events: Option<Kept>,
    /// The audit log.
    pub audit: Option<Kept>,
}

impl RetentionConfig {
    /// What is wrong with it, one line a key.
    pub(super) fn mistakes(&self) -> Vec<String> {
        let jobs = self.retention().jobs;
        let longer = |(key, kept): (&str, Option<Kept>)| {
            let kept = kept.filter(|kept| *kept > jobs)?;
            Some(format!(
                "retention.{key} = \"{kept}\": allowed is at most what retention.jobs says \
                 ({jobs}), with which they go"
            ))
        };
        let go_with_jobs =
            [("logs", self.logs), ("metrics", self.metrics), ("events", self.events)];
        go_with_jobs.into_iter().filter_map(longer).collect()
    }

    pub(super) fn retention(&self) -> Retention {
        let plain = Retention::default();
        let jobs = self.jobs.unwrap_or(plain.jobs);
        Retention {
            jobs,
            logs: self.logs.unwrap_or(plain.logs.min(jobs)),
            metrics: self.metrics.unwrap_or(plain.metrics.min(jobs)),
            events: self.events.unwrap_or(plain.events.min(jobs)),
            audit: self.audit.unwrap_or(plain.audit),
        }
    }
}
