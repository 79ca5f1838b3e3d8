//! `<% $parameters.x %>` and its like in the texts of a version 2 job.

use std::borrow::Cow;

use crate::document::{Node, Value};

/// One `<% … %>` of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tag<'t> {
    /// What stands between the marks, without white space around it.
    pub(crate) inner: &'t str,
    /// First byte of `<%`.
    pub(crate) start: usize,
    /// The byte after `%>`.
    pub(crate) end: usize,
}

impl<'t> Tag<'t> {
    /// The name, when it refers to a secret; `a.0` is the first of the list `a`, as is `a[0]`.
    pub(crate) fn secret(self) -> Option<Cow<'t, str>> {
        let name = self.inner.strip_prefix("$secrets.").filter(|name| !name.is_empty())?;
        let nested = name.contains('[');
        Some(if nested { steps(name).collect::<Vec<_>>().join(".").into() } else { name.into() })
    }

    /// Whether it is meant as a reference: it begins with `$`, or the `$` was forgotten.
    pub(crate) fn is_reference(self) -> bool {
        self.inner.starts_with('$') || SCOPES.contains(&self.scope())
    }

    /// What it refers to first: `data` of `$data.uri[0]`.
    pub(crate) fn scope(self) -> &'t str {
        let path = self.inner.strip_prefix('$').unwrap_or(self.inner);
        path.split(['.', '[']).next().unwrap_or(path)
    }
}

/// What can be referred to.
pub(crate) const SCOPES: [&str; 5] = ["parameters", "script", "output", "data", "secrets"];

/// All tags of a text, in order.
pub(crate) fn tags(text: &str) -> impl Iterator<Item = Tag<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text.get(from..)?.find("<%")?;
        let end = start + 2 + text[start + 2..].find("%>")? + 2;
        from = end;
        Some(Tag { inner: text[start + 2..end - 2].trim(), start, end })
    })
}

/// The steps of `a.b[0].c`.
fn steps(path: &str) -> impl Iterator<Item = &str> {
    path.split(['.', '[']).map(|step| step.strip_suffix(']').unwrap_or(step))
}

/// Follows a path such as `uri[0]` or `a.b` from a node. A single value takes `[0]` as well: the
/// documents let `uri` be a text or a list.
pub(crate) fn follow<'d>(from: &'d Node, path: &str) -> Option<&'d Node> {
    steps(path).try_fold(from, |node, step| match &node.value {
        Value::Map(_) => node.get(step),
        Value::List(items) => items.get(step.parse::<usize>().ok()?),
        Value::Text(_) | Value::Number(_) | Value::Bool(_) => (step == "0").then_some(node),
        Value::Null => None,
    })
}

/// A value as text: lists by commas. Objects have no text.
pub(crate) fn to_text(node: &Node) -> Option<String> {
    match &node.value {
        Value::Null => Some(String::new()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(text) | Value::Text(text) => Some(text.clone()),
        Value::List(items) => {
            let texts: Option<Vec<String>> = items.iter().map(to_text).collect();
            texts.map(|texts| texts.join(","))
        }
        Value::Map(_) => None,
    }
}

/// The paths that lead somewhere below a node, for a message: at most twenty.
pub(crate) fn known(prefix: &str, node: &Node, paths: &mut Vec<String>) {
    if paths.len() >= 20 {
        return;
    }
    match &node.value {
        Value::Map(entries) => {
            for entry in entries {
                known(&format!("{prefix}.{}", entry.key), &entry.node, paths);
            }
        }
        Value::List(items) => {
            for (i, item) in items.iter().enumerate() {
                known(&format!("{prefix}[{i}]"), item, paths);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => {
            paths.push(prefix.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_found_in_order() {
        let text = "a <% $secrets.x %> b <%$data.uri[0]%> c <%> open";
        let found: Vec<_> = tags(text).map(|tag| (tag.inner, &text[tag.start..tag.end])).collect();
        assert_eq!(
            found,
            [("$secrets.x", "<% $secrets.x %>"), ("$data.uri[0]", "<%$data.uri[0]%>")]
        );
    }
}
