//! What can be done with the ticked jobs, and what is asked before.

use leptos::prelude::*;

use crate::i18n::Texts;
use crate::parts::confirm::Opener;
use crate::parts::selection::Selection;

/// Something that is done with many jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Stop,
    Delete,
    Again,
    Priority,
    Tag,
    Untag,
}

impl Act {
    pub(crate) const ALL: [Self; 6] =
        [Self::Stop, Self::Delete, Self::Again, Self::Priority, Self::Tag, Self::Untag];

    /// Whether it is done with those that have ended, or with those that have not; with all.
    pub(crate) fn ended(self) -> Option<bool> {
        match self {
            Self::Stop | Self::Priority => Some(false),
            Self::Delete => Some(true),
            Self::Again | Self::Tag | Self::Untag => None,
        }
    }

    /// The class of the button that does it, or that asks for it.
    pub(crate) fn class(self, asks: bool) -> &'static str {
        match self {
            Self::Stop | Self::Delete => "button button--danger",
            Self::Again | Self::Priority | Self::Tag | Self::Untag if asks => "button",
            Self::Again | Self::Priority | Self::Tag | Self::Untag => "button button--primary",
        }
    }

    /// What it is, with so many.
    pub(crate) fn title(self, texts: &'static Texts, count: u64) -> String {
        let words = match self {
            Self::Stop => texts.jobs.stop_many,
            Self::Delete => texts.jobs.delete_many,
            Self::Again => texts.many.again,
            Self::Priority => texts.many.priority,
            Self::Tag => texts.many.tag,
            Self::Untag => texts.many.untag,
        };
        words(count)
    }
}

/// What is asked before something is done with the ticked jobs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asking {
    pub(crate) selection: Selection,
    /// What was to be done last.
    pub(crate) act: RwSignal<Option<Act>>,
    pub(crate) opener: Opener,
}

impl Asking {
    /// The jobs with which it would be done.
    pub(crate) fn keys(self, act: Act) -> Vec<String> {
        self.selection.keys(act.ended())
    }

    /// Asks, as soon as there is something to ask with.
    pub(crate) fn ask(self, act: Act) {
        self.act.set(Some(act));
        self.opener.open();
    }
}
