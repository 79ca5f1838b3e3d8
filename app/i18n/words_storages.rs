//! What a catalogue must say of storages that administrators set up.

/// A word or a sentence.
type Word = &'static str;
/// A sentence with a name in it.
type Named = fn(&str) -> String;

/// Storages.
#[derive(Debug)]
pub(crate) struct Storages {
    pub(crate) title: Word,
    pub(crate) none: Word,
    pub(crate) none_hint: Word,
    pub(crate) add: Word,
    pub(crate) edit: Named,
    pub(crate) saved: Word,
    pub(crate) remove: Named,
    pub(crate) remove_text: Word,
    pub(crate) place: Word,
    pub(crate) place_hint: Word,
    pub(crate) mount: Word,
    pub(crate) mount_hint: Word,
    pub(crate) user: Word,
    pub(crate) user_hint: Word,
    pub(crate) password: Word,
    pub(crate) password_kept: Word,
    pub(crate) options: Word,
    pub(crate) options_hint: Word,
    pub(crate) rights: Word,
    pub(crate) read_only: Word,
    pub(crate) writable: Word,
    pub(crate) default: Word,
    pub(crate) own_folders: Word,
    pub(crate) make_read_only: Word,
    pub(crate) make_default: Word,
    pub(crate) make_own_folders: Word,
    pub(crate) was_saved: Word,
    pub(crate) was_removed: Word,
    /// Of the submit form.
    pub(crate) asked_hint: Word,
    /// Those that are for every job, by their names.
    pub(crate) defaults: Named,
    /// Of the job's page.
    pub(crate) of_job_hint: Word,
    pub(crate) variable: Word,
}
