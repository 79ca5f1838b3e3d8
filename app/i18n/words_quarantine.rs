//! What a catalogue must say of containers that are not touched.

type Word = &'static str;

/// Containers that are not touched.
#[derive(Debug)]
pub(crate) struct Quarantine {
    pub(crate) title: Word,
    /// What they are, and what to do.
    pub(crate) what: Word,
    pub(crate) container: Word,
    pub(crate) says: Word,
    pub(crate) holds: Word,
    /// CPU cores and memory.
    pub(crate) amounts: fn(u32, &str) -> String,
    pub(crate) gpus: fn(&str) -> String,
    pub(crate) of_cluster: fn(&str) -> String,
    /// In place of what they hold.
    pub(crate) not_ours: Word,
    pub(crate) created: Word,
    pub(crate) runs: Word,
    pub(crate) ended: Word,
    pub(crate) stop: Word,
    pub(crate) stop_title: fn(&str) -> String,
    pub(crate) stop_text: Word,
    pub(crate) remove_title: fn(&str) -> String,
    pub(crate) remove_text: Word,
    /// What was asked for.
    pub(crate) done: Word,
    /// In the audit log.
    pub(crate) was_stopped: Word,
    pub(crate) was_removed: Word,
}
