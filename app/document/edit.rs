use protocol::edit;
use protocol::problem::Problem;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::document::steps::steps;
use crate::json::from_json;

/// A change of the text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Edit {
    /// Puts a value at a path, which need not be there yet.
    Set(String, Json),
    /// Takes away what stands at a path.
    Remove(String),
    /// Gives what stands at a path another key.
    Rename(String, String),
}

impl Edit {
    /// What was typed into a field. An empty field is taken out of the file, unless the file must
    /// have it.
    pub(crate) fn typed(path: &str, typed: &str, number: bool, required: bool) -> Self {
        let path = path.to_owned();
        if typed.is_empty() && !required {
            return Self::Remove(path);
        }
        let value = if number { number_of(typed.trim()) } else { None };
        Self::Set(path, value.unwrap_or_else(|| typed.into()))
    }

    /// The text after the change; all else in it stays as it was.
    pub(crate) fn apply(&self, text: &str) -> Result<String, Vec<Problem>> {
        match self {
            Self::Set(path, value) => edit::set(text, &steps(path), value),
            Self::Remove(path) => edit::remove(text, &steps(path)),
            Self::Rename(path, key) => edit::rename(text, &steps(path), key),
        }
    }
}

/// A number that is written as it was typed; on the way to `0.25`, `0.` is none yet.
fn number_of(typed: &str) -> Option<Json> {
    if let Ok(whole) = typed.parse::<i64>() {
        return Some(whole.into());
    }
    let number: serde_json::Number = from_json(typed).ok()?;
    (number.to_string() == typed).then_some(Json::Number(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_becomes_a_number_a_text_or_nothing() {
        let typed = |typed, number, required| Edit::typed("x", typed, number, required);
        assert_eq!(typed("4", true, false), Edit::Set("x".into(), 4.into()));
        assert_eq!(typed("0.25", true, false), Edit::Set("x".into(), 0.25.into()));
        for unfinished in ["0.", ".", "0.250", "inf"] {
            assert_eq!(typed(unfinished, true, false), Edit::Set("x".into(), unfinished.into()));
        }
        assert_eq!(typed("4 GPUs", true, false), Edit::Set("x".into(), "4 GPUs".into()));
        assert_eq!(typed("4", false, false), Edit::Set("x".into(), "4".into()));
        assert_eq!(typed("", false, false), Edit::Remove("x".into()));
        assert_eq!(typed("", false, true), Edit::Set("x".into(), "".into()));
    }
}
