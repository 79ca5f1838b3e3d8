//! Whatever is thrown at the reader, it answers.

use proptest::prelude::*;
use serde_json::json;

use super::cases;
use crate::edit::{Step, remove, set, value};
use crate::parse::parse;

const EXAMPLES: [&str; 4] = [
    include_str!("../../fixtures/qizhi.json"),
    include_str!("../../fixtures/earliest.json"),
    include_str!("../../fixtures/scm.json"),
    include_str!("../../fixtures/v2.yaml"),
];

/// Characters that mean something in either notation.
const MARKS: &str = "-{}[]:,#&*!|>'\"%@`?~/<$. \t\r\n\n\\ab01é\u{85}\u{2028}\u{feff}";

fn marks() -> impl Strategy<Value = String> {
    let all: Vec<char> = MARKS.chars().collect();
    proptest::collection::vec(prop::sample::select(all), 0..60)
        .prop_map(|marks| marks.into_iter().collect())
}

/// Reads a text in every way there is; each must end in an answer whose places are in the text.
pub(super) fn read(text: &str) {
    let lines = text.matches(['\n', '\r']).count() + 1;
    match parse(text) {
        Ok(parsed) => assert!(parsed.spec.task_count() > 0),
        Err(problems) => {
            assert!(!problems.is_empty());
            for problem in problems {
                assert!((1..=lines).contains(&(problem.line as usize)), "{problem}");
                assert!(problem.column >= 1 && !problem.message.is_empty());
            }
        }
    }
    if let Ok(json) = value(text) {
        let key = |key: &str| Step::Key(key.to_owned());
        for path in [
            vec![key("jobName")],
            vec![key("taskRoles"), Step::Append],
            vec![key("taskRoles"), Step::Index(0), key("command")],
            vec![key("taskRoles"), key("worker"), key("commands"), Step::Index(1)],
        ] {
            let edited = set(text, &path, &json!("line\nline"));
            if let Ok(edited) = edited {
                assert!(value(&edited).is_ok());
            }
            if let Ok(edited) = remove(text, &path) {
                let back = value(&edited).unwrap();
                assert!(back == json || back.to_string().len() < json.to_string().len());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(128), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_answered(text in any::<String>()) {
        read(&text);
    }

    #[test]
    fn any_marks_are_answered(text in marks()) {
        read(&text);
    }

    #[test]
    fn any_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        read(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn a_damaged_example_is_answered(
        example in 0..EXAMPLES.len(),
        at in any::<prop::sample::Index>(),
        length in 0..40_usize,
        put in marks(),
    ) {
        let mut text: Vec<char> = EXAMPLES[example].chars().collect();
        let at = at.index(text.len());
        let end = (at + length).min(text.len());
        text.splice(at..end, put.chars());
        read(&text.into_iter().collect::<String>());
    }

    #[test]
    fn two_damages_are_answered(
        example in 0..EXAMPLES.len(),
        first in any::<prop::sample::Index>(),
        second in any::<prop::sample::Index>(),
    ) {
        let mut text: Vec<char> = EXAMPLES[example].chars().collect();
        let (first, second) = (first.index(text.len()), second.index(text.len()));
        text.swap(first, second);
        read(&text.into_iter().collect::<String>());
    }
}
