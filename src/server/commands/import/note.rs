//! What is worth knowing of a thing that comes, or that does not.

use app::i18n::Language;

use crate::commands::words::Import;

/// What is to be known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Note {
    /// Of a group.
    AdminMembers,
    /// Of a user, by no group.
    Administrator,
    /// What would be everybody's here.
    NobodyMay,
    Guaranteed {
        gpus: u64,
        gpu_type: String,
    },
    /// So many GPUs are its own there.
    NoShare(u64),
    NoPassword,
    /// What kind of storage it is.
    NotMounted(String),
    /// The name that it has here.
    KnownAs(String),
    MemberOf(Vec<String>),
    /// Groups of there in which a user is not here.
    AlsoIn(Vec<String>),
    /// Why that failed.
    InNoGroup(String),
    NoJobFile,
    ToBeChanged {
        mistake: String,
        file: String,
    },
    /// What somebody else says.
    Told(String),
}

impl Note {
    /// What somebody else says.
    pub(super) fn told(text: impl ToString) -> Self {
        Self::Told(text.to_string())
    }

    /// In a language, by its words.
    pub(super) fn said(&self, words: &Import, language: Language) -> String {
        match self {
            Self::AdminMembers => words.admin_members.to_owned(),
            Self::Administrator => words.administrator.to_owned(),
            Self::NobodyMay => words.nobody_may.to_owned(),
            Self::Guaranteed { gpus, gpu_type } => (words.guaranteed)(*gpus, gpu_type),
            Self::NoShare(gpus) => (words.no_share)(*gpus),
            Self::NoPassword => words.no_password.to_owned(),
            Self::NotMounted(kind) => (words.not_mounted)(kind),
            Self::KnownAs(name) => (words.known_as)(name),
            Self::MemberOf(groups) => (words.member_of)(&groups.join(", ")),
            Self::AlsoIn(groups) => (words.also_in)(&groups.join(", ")),
            Self::InNoGroup(why) => (words.in_no_group)(why),
            Self::NoJobFile => words.no_job_file.to_owned(),
            Self::ToBeChanged { mistake, file } => {
                (words.to_be_changed)(&language.told(mistake), file)
            }
            Self::Told(text) => language.told(text),
        }
    }
}
