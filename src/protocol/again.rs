//! A job file that is submitted once more, under another name.

use crate::document::{Document, Value};
use crate::edit::{self, Step};
use crate::fields::{JobField, Notation};
use crate::time::Timestamp;

/// The text with a new ending on the job's name, so that it can be submitted as it is. A text that
/// cannot be read stays as it is.
#[must_use]
pub fn renamed(text: &str, now: Timestamp) -> String {
    let Ok(document) = Document::read(text) else { return text.to_owned() };
    let roles = document.root.get("taskRoles").map(|node| &node.value);
    let is_v2 =
        document.root.get("protocolVersion").is_some() || matches!(roles, Some(Value::Map(_)));
    let path = JobField::Name.path(if is_v2 { Notation::V2 } else { Notation::V1 });
    let name = match document.root.get(&path).map(|node| &node.value) {
        Some(Value::Text(name) | Value::Number(name)) => name.as_str(),
        Some(Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_)) | None => "",
    };
    let new = format!("{}_{}", without_ending(name), ending(now));
    edit::set(text, &[Step::Key(path)], &new.into()).unwrap_or_else(|_| text.to_owned())
}

/// Six letters and digits that differ from second to second for half a century.
fn ending(now: Timestamp) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut rest = now.0.div_euclid(1000).unsigned_abs();
    let mut ending: Vec<char> = Vec::new();
    for _ in 0..6 {
        ending.push(char::from(DIGITS[usize::try_from(rest % 36).unwrap_or(0)]));
        rest /= 36;
    }
    ending.into_iter().rev().collect()
}

fn without_ending(name: &str) -> &str {
    match name.rsplit_once('_') {
        Some((stem, ending))
            if ending.len() == 6
                && ending.bytes().any(|byte| byte.is_ascii_digit())
                && ending
                    .bytes()
                    .all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase()) =>
        {
            stem
        }
        Some(_) | None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_767_225_599_000);

    #[test]
    fn a_new_name_takes_the_place_of_the_old_ending() {
        let first = renamed(r#"{"jobName": "mine" /* kept */}"#, NOW);
        let later = renamed(&first, Timestamp(NOW.0 + 1000));
        assert!(
            first.starts_with(r#"{"jobName": "mine_"#) && first.ends_with("/* kept */}"),
            "{first}"
        );
        assert_ne!(first, later);
        assert_eq!(first.len(), later.len());
    }

    #[test]
    fn version_2_has_its_name_elsewhere() {
        let first = renamed("protocolVersion: 2\nname: mine\ntype: job\n", NOW);
        assert!(first.contains("\nname: mine_") && !first.contains("jobName"), "{first}");
    }

    #[test]
    fn a_text_that_cannot_be_read_stays() {
        assert_eq!(renamed("{\"jobName\": ", NOW), "{\"jobName\": ");
    }
}
