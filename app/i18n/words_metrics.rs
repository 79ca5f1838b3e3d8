//! What is said of what tasks use, and of what was used.

type Word = &'static str;

/// What tasks use.
#[derive(Debug)]
pub(crate) struct Metrics {
    pub(crate) tab: Word,
    pub(crate) span: Word,
    pub(crate) whole: Word,
    pub(crate) day: Word,
    pub(crate) hour: Word,
    pub(crate) week: Word,
    pub(crate) nothing: Word,
    pub(crate) nothing_hint: Word,
    /// Of many tasks, only so many are shown.
    pub(crate) only_first: fn(u64) -> String,
    pub(crate) table: Word,
    /// Heads what the GPUs of a node do.
    pub(crate) now: Word,
    /// Followed by how long ago a GPU did something.
    pub(crate) last_busy: Word,
    /// The same as the name of a column.
    pub(crate) last_busy_head: Word,
    /// Heads the GPUs that a job holds and does not use, and what to do.
    pub(crate) idle_title: Word,
    pub(crate) idle_advice: Word,
    /// Heads what becomes of a job none of whose GPUs does anything.
    pub(crate) all_idle: Word,
    /// Both are followed by a moment.
    pub(crate) stops_at: Word,
    pub(crate) kept_until: Word,
    /// Keeps it for so many hours.
    pub(crate) keep: fn(u32) -> String,
    /// Heads the jobs that hold GPUs and do not use them.
    pub(crate) idle_jobs: Word,
    pub(crate) no_idle_jobs: Word,
    pub(crate) stops: Word,
    pub(crate) kept: Word,
    /// Cores that were asked for, and that were used at most.
    pub(crate) few_cpus: fn(u64, &str) -> String,
    /// Memory that was asked for, and that was used at most.
    pub(crate) little_memory: fn(&str, &str) -> String,
    /// A GPU by its index.
    pub(crate) idle_gpu: fn(u32) -> String,
    /// So many GPUs, of so many.
    pub(crate) idle_gpus: fn(u32, u32) -> String,
    /// Heads what a job came to.
    pub(crate) used: Word,
    pub(crate) waited: Word,
    /// GPU hours.
    pub(crate) asked_hours: Word,
    pub(crate) held_hours: Word,
    pub(crate) lost_hours: Word,
    pub(crate) busy_hours: Word,
    /// Hours, and how much of all that is.
    pub(crate) busy_of: fn(&str, &str) -> String,
    /// Mean and most of what was used, and what was asked for.
    pub(crate) extent: fn(&str, &str, Option<&str>) -> String,
    /// Only so many runs of tasks were looked at, of so many.
    pub(crate) only_last: fn(u32, u32) -> String,
    /// Followed by how much GPUs took.
    pub(crate) energy: Word,
    pub(crate) quantity: Word,
    pub(crate) latest: Word,
    pub(crate) mean: Word,
    pub(crate) highest: Word,
    /// Cores in use.
    pub(crate) cpu: Word,
    pub(crate) memory: Word,
    pub(crate) network: Word,
    pub(crate) received: Word,
    pub(crate) sent: Word,
    pub(crate) disk: Word,
    pub(crate) read: Word,
    pub(crate) written: Word,
    pub(crate) gpu_load: Word,
    pub(crate) gpu_memory: Word,
    pub(crate) gpu_power: Word,
    /// The same beside a GPU's name.
    pub(crate) power: Word,
    pub(crate) gpu_temperature: Word,
    pub(crate) gpu_clock: Word,
    pub(crate) gpu_ecc: Word,
    pub(crate) gpu_xid: Word,
}

/// What was used of GPUs.
#[derive(Debug)]
pub(crate) struct Usage {
    pub(crate) title: Word,
    pub(crate) csv: Word,
    pub(crate) from: Word,
    pub(crate) until: Word,
    /// So many days are shown where neither the first nor the last one is said.
    pub(crate) days_unsaid: fn(i64) -> String,
    pub(crate) show: Word,
    /// By what use is summed up.
    pub(crate) by: Word,
    /// A group of users.
    pub(crate) group: Word,
    pub(crate) day: Word,
    pub(crate) month: Word,
    pub(crate) nothing: Word,
    pub(crate) counted: Word,
    /// So many GPU hours on the day with most.
    pub(crate) hours: fn(&str) -> String,
    /// GPU hours, and jobs that ended.
    pub(crate) whole: fn(&str, u64) -> String,
    /// Hours for which GPUs were asked for, and for which they were held.
    pub(crate) asked: Word,
    pub(crate) gpu_hours: Word,
    pub(crate) part: Word,
    pub(crate) jobs: Word,
    /// How busy the GPUs were, the hours that came to nothing, the mean wait, and what it costs.
    pub(crate) busy: Word,
    pub(crate) lost: Word,
    pub(crate) wait: Word,
    pub(crate) cost: Word,
    /// What these are.
    pub(crate) meant: Word,
    /// On no GPU, or on one of a type that is not known any more.
    pub(crate) no_type: Word,
    /// Of nobody who is in a group.
    pub(crate) no_group: Word,
}
