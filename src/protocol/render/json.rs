//! Pretty JSON.

use super::tree::Tree;

pub(super) fn write(tree: &Tree) -> String {
    let mut text = String::new();
    value(tree, 0, &mut text);
    text.push('\n');
    text
}

fn value(tree: &Tree, indent: usize, text: &mut String) {
    match tree {
        Tree::Null => text.push_str("null"),
        Tree::Bool(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Tree::Number(number) => text.push_str(number),
        Tree::Text(value) => text.push_str(&quoted(value)),
        Tree::List(items) => {
            let mut brackets = Brackets::open('[', indent, text);
            for item in items {
                brackets.next(text);
                value(item, indent + 2, text);
            }
            brackets.close(']', text);
        }
        Tree::Map(entries) => {
            let mut brackets = Brackets::open('{', indent, text);
            for (key, item) in entries {
                brackets.next(text);
                text.push_str(&quoted(key));
                text.push_str(": ");
                value(item, indent + 2, text);
            }
            brackets.close('}', text);
        }
    }
}

/// A JSON text in its quotation marks.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

struct Brackets {
    indent: usize,
    empty: bool,
}

impl Brackets {
    fn open(bracket: char, indent: usize, text: &mut String) -> Self {
        text.push(bracket);
        Self { indent, empty: true }
    }

    fn next(&mut self, text: &mut String) {
        text.push_str(if self.empty { "\n" } else { ",\n" });
        text.push_str(&" ".repeat(self.indent + 2));
        self.empty = false;
    }

    fn close(self, bracket: char, text: &mut String) {
        if !self.empty {
            text.push('\n');
            text.push_str(&" ".repeat(self.indent));
        }
        text.push(bracket);
    }
}
