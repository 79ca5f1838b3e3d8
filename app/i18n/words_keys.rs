//! What a catalogue must say of the keys.

type Word = &'static str;

/// What each key does, and whether single ones do anything.
#[derive(Debug)]
pub(crate) struct Keys {
    pub(crate) title: Word,
    /// When single keys are silent.
    pub(crate) silent: Word,
    pub(crate) close: Word,
    pub(crate) anywhere: Word,
    pub(crate) find: Word,
    pub(crate) filter: Word,
    pub(crate) these: Word,
    pub(crate) escape: Word,
    pub(crate) pages: Word,
    pub(crate) jobs: Word,
    pub(crate) down: Word,
    pub(crate) up: Word,
    pub(crate) choose: Word,
    pub(crate) open: Word,
    pub(crate) stop: Word,
    pub(crate) clone: Word,
    pub(crate) log: Word,
    pub(crate) terminal: Word,
    pub(crate) page_before: Word,
    pub(crate) page_after: Word,
    pub(crate) job: Word,
    pub(crate) stop_this: Word,
    pub(crate) task_before: Word,
    pub(crate) task_after: Word,
    pub(crate) logs: Word,
    pub(crate) follow: Word,
    pub(crate) wrap: Word,
    pub(crate) match_after: Word,
    pub(crate) match_before: Word,
    pub(crate) start: Word,
    pub(crate) end: Word,
    pub(crate) form: Word,
    pub(crate) submit: Word,
    /// In the profile.
    pub(crate) single: Word,
    pub(crate) single_hint: Word,
    pub(crate) show: Word,
}
