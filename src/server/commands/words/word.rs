//! What catalogues are made of.

pub(super) type Word = &'static str;
/// A sentence with a name in it.
pub(in crate::commands) type Named = fn(&str) -> String;
/// A sentence with two of them.
pub(super) type Paired = fn(&str, &str) -> String;
/// A sentence with a number in it.
pub(in crate::commands) type Counted = fn(usize) -> String;
