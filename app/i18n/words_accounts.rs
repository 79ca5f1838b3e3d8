//! What a catalogue must say of accounts and groups.

/// A word or a sentence.
type Word = &'static str;
/// A sentence with a name in it.
type Named = fn(&str) -> String;

/// Accounts of a company, and groups.
#[derive(Debug)]
pub(crate) struct Accounts {
    pub(crate) sign_in_by: Named,
    pub(crate) or_password: Word,
    pub(crate) administrators: Word,
    pub(crate) signed_out: Named,
    pub(crate) sign_out_of: Named,
    pub(crate) lost: Word,
    pub(crate) unavailable: Word,
    pub(crate) refused: Word,
    pub(crate) not_allowed: Word,
    pub(crate) unsaid: Word,
    pub(crate) taken: Word,
    pub(crate) bad_name: Word,
    pub(crate) for_administrators: Word,
    pub(crate) account: Word,
    pub(crate) of_provider: Named,
    pub(crate) of_here: Word,
    pub(crate) mail: Word,
    pub(crate) groups: Word,
    pub(crate) no_groups: Word,
    pub(crate) lapsed: Word,
    pub(crate) source: Word,
    pub(crate) here: Word,
    pub(crate) groups_hint: Word,
    pub(crate) groups_of: Named,
    pub(crate) groups_of_hint: Word,
    pub(crate) groups_set: Word,
    pub(crate) description: Word,
    pub(crate) members: Word,
    pub(crate) none_yet: Word,
    pub(crate) add_group: Word,
    pub(crate) edit_group: Named,
    pub(crate) edit_group_text: Word,
    pub(crate) remove_group: Named,
    pub(crate) remove_group_text: Word,
    pub(crate) clusters_hint: Word,
    pub(crate) cluster_stopped: Word,
    pub(crate) stop_cluster: Word,
    pub(crate) resume_cluster: Word,
    pub(crate) of_administrators: Word,
    pub(crate) put_into_groups: Word,
    pub(crate) provided: Word,
    pub(crate) group_was_saved: Word,
    pub(crate) group_was_removed: Word,
    pub(crate) was_given_clusters: Word,
}
