//! What the server says, by the English words of it.

mod causes;
mod doors;
mod engines;
mod events;
mod problems;
mod refusals;
mod syntax;
mod waits;

use crate::i18n::said::told;

/// All of them.
pub(super) const SAYINGS: [&str; 8] = [
    problems::PROBLEMS,
    syntax::SYNTAX,
    events::EVENTS,
    causes::CAUSES,
    waits::WAITS,
    refusals::REFUSALS,
    doors::DOORS,
    engines::ENGINES,
];

pub(crate) fn said(sentence: &str) -> String {
    told(&SAYINGS, sentence)
}
