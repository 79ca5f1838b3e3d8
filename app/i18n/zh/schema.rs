//! What the keys of job files mean, in Chinese, for the editor's help: the table of job-file fields has
//! it beside the English. The schemas are the server's alone: none of this is sent with the pages.

use protocol::fields::chinese;
use serde_json::Value;

use crate::i18n::Language;

/// A schema with its explanations in a language.
pub(crate) fn in_language(mut schema: Value, language: Language) -> Value {
    if language == Language::Chinese {
        explain(&mut schema);
    }
    schema
}

fn explain(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::String(text)) = map.get_mut("description")
                && let Some(chinese) = chinese(text)
            {
                chinese.clone_into(text);
            }
            map.values_mut().for_each(explain);
        }
        Value::Array(items) => items.iter_mut().for_each(explain),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explanations(schema: &Value, found: &mut Vec<String>) {
        match schema {
            Value::Object(map) => {
                found.extend(map.get("description").and_then(Value::as_str).map(str::to_owned));
                map.values().for_each(|part| explanations(part, found));
            }
            Value::Array(items) => items.iter().for_each(|part| explanations(part, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    #[test]
    fn every_key_is_explained_in_chinese() {
        for schema in [protocol::schema::v1(), protocol::schema::v2()] {
            let mut found = Vec::new();
            explanations(&in_language(schema.clone(), Language::Chinese), &mut found);
            assert!(found.len() > 30, "{found:?}");
            for text in found {
                assert!(
                    text.contains(|letter: char| ('\u{4e00}'..='\u{9fff}').contains(&letter)),
                    "{text}"
                );
            }
            assert_eq!(in_language(schema.clone(), Language::English), schema);
        }
    }
}
