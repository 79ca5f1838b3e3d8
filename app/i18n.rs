//! The pages' words in every language. A catalogue is a value of [`Texts`], so a text that is
//! missing in one language does not compile.

mod causes;
pub(crate) mod en;
pub(crate) mod language;
pub(crate) mod mistakes;
mod said;
pub(crate) mod spacing;
mod waits;
pub(crate) mod words;
pub(crate) mod words_accounts;
pub(crate) mod words_audit;
pub(crate) mod words_connect;
pub(crate) mod words_declared;
pub(crate) mod words_files;
pub(crate) mod words_images;
pub(crate) mod words_job;
pub(crate) mod words_keys;
pub(crate) mod words_lists;
pub(crate) mod words_metrics;
pub(crate) mod words_notifications;
pub(crate) mod words_outage;
pub(crate) mod words_quarantine;
pub(crate) mod words_queue;
pub(crate) mod words_storages;
pub(crate) mod words_submit;
pub(crate) mod zh;

pub use self::language::Language;
pub(crate) use self::mistakes::worded;
pub(crate) use self::words::Texts;

use std::sync::Arc;

use leptos::prelude::*;
use protocol::state::State;
use protocol::wait::WaitReason;

use crate::edge;
use crate::session::Session;

impl Language {
    /// The word of a state.
    #[must_use]
    pub fn state(self, state: State) -> &'static str {
        (self.texts().state)(state)
    }

    /// Why a job waits, one sentence.
    #[must_use]
    pub fn wait(self, reason: &WaitReason) -> String {
        (self.texts().wait)(reason)
    }

    /// A sentence of the server, which is English, in this language.
    #[must_use]
    pub fn told(self, sentence: &str) -> String {
        (self.texts().said)(sentence)
    }

    /// The catalogue. A browser has that of the page's language.
    pub(crate) fn texts(self) -> &'static Texts {
        edge::texts(self)
    }
}

/// Picks a text from the catalogue.
type Pick = fn(&'static Texts) -> &'static str;

/// A sentence that follows a change of the language.
pub(crate) type Told = Arc<dyn Fn() -> String + Send + Sync>;

// What shows a text is compiled once for each type of what makes it. There are hundreds of texts and
// the browser loads that code, so all texts have one type, and so have all sentences.

/// A text in the reader's language, which follows a change of it. The argument picks it from the
/// catalogue: `{tr(|t| t.nav.jobs)}`.
pub(crate) fn tr(pick: Pick) -> impl Copy + Send + Sync + Fn() -> &'static str {
    let language = Session::get().language;
    move || pick(language.get().texts())
}

/// The same of a sentence with something in it: `{told(move |t| (t.home.failed_jobs)(failed))}`.
pub(crate) fn told<R: Into<String>>(
    make: impl Fn(&'static Texts) -> R + Send + Sync + 'static,
) -> Told {
    let language = Session::get().language;
    Arc::new(move || make(language.get().texts()).into())
}

/// A text for a component that takes a signal: `title=text(|t| t.nav.jobs)`.
pub(crate) fn text(pick: Pick) -> Signal<String> {
    let text = tr(pick);
    Signal::derive(move || text().to_owned())
}

/// A sentence for a component that takes a signal.
pub(crate) fn text_of<R: Into<String>>(
    make: impl Fn(&'static Texts) -> R + Send + Sync + 'static,
) -> Signal<String> {
    derived(told(make))
}

fn derived(told: Told) -> Signal<String> {
    Signal::derive(move || told())
}

/// A sentence of the server in the reader's language.
pub(crate) fn said(sentence: impl Into<String>) -> Told {
    let sentence = sentence.into();
    told(move |t| (t.said)(&sentence))
}

/// The catalogue of the moment, for texts made outside of views.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader(RwSignal<Language>);

impl Reader {
    /// The reader of this page.
    pub(crate) fn get() -> Self {
        Self(Session::get().language)
    }

    /// The catalogue; what calls this in a view follows a change of the language.
    pub(crate) fn texts(self) -> &'static Texts {
        self.0.get().texts()
    }

    /// The catalogue at this moment, for what happens in answer to an event.
    pub(crate) fn texts_untracked(self) -> &'static Texts {
        self.0.get_untracked().texts()
    }
}
