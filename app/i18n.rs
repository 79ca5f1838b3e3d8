//! The pages' words in every language. A catalogue is a value of [`Texts`], so a text that is
//! missing in one language does not compile.

mod causes;
mod en;
mod said;
mod spacing;
mod waits;
mod words;
pub(crate) mod words_accounts;
pub(crate) mod words_audit;
pub(crate) mod words_connect;
pub(crate) mod words_files;
pub(crate) mod words_images;
pub(crate) mod words_job;
pub(crate) mod words_lists;
pub(crate) mod words_metrics;
pub(crate) mod words_outage;
pub(crate) mod words_quarantine;
pub(crate) mod words_queue;
pub(crate) mod words_storages;
pub(crate) mod words_submit;
mod zh;

pub(crate) use words::Texts;

use std::sync::Arc;

use leptos::prelude::*;
use protocol::problem::Problem;
use serde::{Deserialize, Serialize};

use crate::edge;
use crate::session::Session;

/// A language of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// English.
    #[default]
    English,
    /// 简体中文.
    Chinese,
}

impl Language {
    /// All of them.
    pub const ALL: [Language; 2] = [Language::English, Language::Chinese];

    /// The document's `lang`.
    #[must_use]
    pub fn tag(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::Chinese => "zh-CN",
        }
    }

    /// The word in the cookie.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::Chinese => "zh",
        }
    }

    /// What the language calls itself.
    #[must_use]
    pub fn own_name(self) -> &'static str {
        match self {
            Language::English => "English",
            Language::Chinese => "简体中文",
        }
    }

    /// Reads [`Language::as_str`] back.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.as_str() == word)
    }

    /// The best language for an `Accept-Language` header; English when none of ours is in it.
    #[must_use]
    pub fn from_accept(header: &str) -> Self {
        let mut best = (Language::English, 0_u32);
        for entry in header.split(',') {
            let (tag, weight) = entry.split_once(";q=").unwrap_or((entry, "1"));
            let tag = tag.trim().to_ascii_lowercase();
            let primary = tag.split('-').next().unwrap_or_default();
            if let Some(language) = Self::from_word(primary)
                && thousandths(weight) > best.1
            {
                best = (language, thousandths(weight));
            }
        }
        best.0
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

    /// The logical name of the file in which a browser finds the catalogue.
    pub(crate) fn file(self) -> &'static str {
        match self {
            Language::English => "part_english_texts.wasm",
            Language::Chinese => "part_chinese_texts.wasm",
        }
    }
}

/// The English catalogue itself. Catalogues are large, and a reader needs one: browsers fetch it.
pub(crate) fn english() -> &'static Texts {
    &en::TEXTS
}

/// The Chinese catalogue itself.
pub(crate) fn chinese() -> &'static Texts {
    &zh::TEXTS
}

/// Says sentences of the server in another language.
pub(crate) type Sayings = fn(&str) -> String;

/// What says them in Chinese. They are half of the Chinese words, and most pages show none of them:
/// browsers fetch them for the first.
pub(crate) fn chinese_sayings() -> Sayings {
    zh::said
}

/// A weight of `Accept-Language` (`0.8`) in thousandths; what cannot be read weighs nothing.
fn thousandths(weight: &str) -> u32 {
    let weight = weight.trim();
    let (whole, fraction) = weight.split_once('.').unwrap_or((weight, ""));
    let mut digits = fraction.chars().chain("000".chars()).take(3).collect::<String>();
    digits.insert_str(0, whole);
    digits.parse().unwrap_or(0)
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

/// A mistake in the language in which `said` says sentences.
pub(crate) fn worded(problem: &Problem, said: fn(&str) -> String) -> Problem {
    let (message, allowed) = (said(&problem.message), said(&problem.allowed));
    Problem { message, allowed, ..problem.clone() }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_known_language_is_taken() {
        for (header, language) in [
            ("", Language::English),
            ("de", Language::English),
            ("zh-CN,zh;q=0.9,en;q=0.8", Language::Chinese),
            ("en-US,en;q=0.9,zh;q=0.8", Language::English),
            ("fr;q=0.9, zh-TW;q=0.3, en;q=0.25", Language::Chinese),
            ("en;q=0, zh;q=0.001", Language::Chinese),
        ] {
            assert_eq!(Language::from_accept(header), language, "{header}");
        }
    }

    #[test]
    fn words_of_languages_are_read_back() {
        for language in Language::ALL {
            assert_eq!(Language::from_word(language.as_str()), Some(language));
        }
    }
}
