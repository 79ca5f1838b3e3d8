//! What the server says, by the English words of it.

mod causes;
mod events;
mod problems;
mod refusals;

use crate::i18n::said::{Saying, told};

/// All of them.
pub(super) const SAYINGS: [&[Saying]; 4] =
    [problems::PROBLEMS, events::EVENTS, causes::CAUSES, refusals::REFUSALS];

pub(super) fn said(sentence: &str) -> String {
    told(&SAYINGS, sentence)
}
