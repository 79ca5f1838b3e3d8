//! JSON with comments and trailing commas.

use jsonc_parser::ast::{self, ObjectPropName};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::{Entry, Fault, MAX_DEPTH, Node, Value};

const ALLOWED: &str = "JSON; comments and trailing commas may be used";

pub(super) fn read(text: &str) -> Result<Node, Fault> {
    let options = ParseOptions {
        allow_comments: true,
        allow_loose_object_property_names: false,
        allow_trailing_commas: true,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options).map_err(|error| {
        Fault::new(error.range().start, format!("this is not JSON: {}", error.kind()), ALLOWED)
    })?;
    match parsed.value {
        Some(value) => node(value, 0),
        None => Err(Fault::new(0, "the file is empty", "a job in JSON or YAML")),
    }
}

fn node(value: ast::Value<'_>, depth: usize) -> Result<Node, Fault> {
    let (value, range) = match value {
        ast::Value::NullKeyword(null) => (Value::Null, null.range),
        ast::Value::BooleanLit(flag) => (Value::Bool(flag.value), flag.range),
        ast::Value::NumberLit(number) => (Value::Number(number.value.to_owned()), number.range),
        ast::Value::StringLit(text) => (Value::Text(text.value.into_owned()), text.range),
        ast::Value::Array(list) => {
            check_depth(depth, list.range.start)?;
            let items = list.elements.into_iter().map(|item| node(item, depth + 1));
            (Value::List(items.collect::<Result<_, _>>()?), list.range)
        }
        ast::Value::Object(map) => {
            check_depth(depth, map.range.start)?;
            let entries = map.properties.into_iter().map(|property| {
                let (key, range) = match property.name {
                    ObjectPropName::String(text) => (text.value.into_owned(), text.range),
                    ObjectPropName::Word(word) => (word.value.to_owned(), word.range),
                };
                let node = node(property.value, depth + 1)?;
                Ok(Entry { key, key_start: range.start, key_end: range.end, node })
            });
            (Value::Map(entries.collect::<Result<_, Fault>>()?), map.range)
        }
    };
    Ok(Node { value, start: range.start, end: range.end, alias: false, flow: true })
}

fn check_depth(depth: usize, at: usize) -> Result<(), Fault> {
    if depth < MAX_DEPTH {
        return Ok(());
    }
    Err(Fault::new(at, "lists and objects are nested too deeply", "at most 64 levels"))
}
