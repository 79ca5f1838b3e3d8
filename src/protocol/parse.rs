//! Reads a job file of any dialect into a [`JobSpec`], or says everything that is wrong with it.

mod extras;
mod parts;
mod plugins;
mod reader;
mod storages;
#[cfg(test)]
mod tests;
mod v1;
mod v2;

use std::fmt;

#[cfg(test)]
pub(crate) use self::parts::without_implicit;
use self::reader::{Field, Fields, Reader};
use crate::document::{Document, Syntax, Value};
use crate::problem::Problem;
use crate::secrets::{MASK, Secrets};
use crate::spec::JobSpec;

/// A job file that is right.
#[derive(Clone, PartialEq)]
pub struct Parsed {
    /// What it asks for.
    pub spec: JobSpec,
    /// How it is written.
    pub syntax: Syntax,
    /// Its secrets: names and values. They are in no other part of this.
    pub secrets: Secrets,
    /// The text as written, every secret replaced by `******`.
    pub masked_text: String,
    /// What is allowed but probably not meant, a sentence each.
    pub warnings: Vec<String>,
}

impl fmt::Debug for Parsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parsed")
            .field("spec", &self.spec)
            .field("syntax", &self.syntax)
            .field("secrets", &self.secrets)
            .field("warnings", &self.warnings)
            .finish_non_exhaustive()
    }
}

/// Reads and checks a job file of any of the five dialects in either notation.
///
/// # Errors
/// All mistakes in the order of the text; only a text that cannot be read at all (not JSON, not
/// YAML) has just one.
pub fn parse(text: &str) -> Result<Parsed, Vec<Problem>> {
    let document = Document::read(text).map_err(|problem| vec![problem])?;
    let mut reader = Reader::new(&document);
    let root = Field { node: &document.root, path: String::new() };
    let Some(fields) = reader.map(&root) else { return Err(reader.into_problems()) };
    let read = if is_version_2(&fields) {
        v2::read(&mut reader, &fields)
    } else {
        v1::read(&mut reader, &fields)
    };
    match read {
        Some((spec, secrets)) if reader.is_clean() => {
            let masked_text = mask(text, &document, &reader.hidden);
            let warnings = reader.into_warnings();
            Ok(Parsed { spec, syntax: document.syntax, secrets, masked_text, warnings })
        }
        _ => Err(reader.into_problems()),
    }
}

/// Version 2 says so, or at least looks so.
fn is_version_2(root: &Fields<'_>) -> bool {
    let roles_by_name =
        root.get("taskRoles").is_some_and(|field| matches!(field.node.value, Value::Map(_)));
    let named = root.get("name").is_some() && root.get("type").is_some();
    root.get("protocolVersion").is_some()
        || (root.get("jobName").is_none() && (named || roles_by_name))
}

/// The text with the hidden places covered, every other byte as it was.
fn mask(text: &str, document: &Document<'_>, hidden: &[(usize, usize)]) -> String {
    let mut hidden = hidden.to_vec();
    hidden.sort_unstable();
    let shift = text.len() - document.text.len();
    let mut masked = text[..shift].to_owned();
    let mut last = 0;
    for (start, end) in hidden {
        if start < last {
            continue;
        }
        let value = &document.text[start..end];
        // What follows the last line of a block belongs to the text around it.
        let end = start + value.trim_end().len();
        masked.push_str(&document.text[last..start]);
        masked.push('"');
        masked.push_str(MASK);
        masked.push('"');
        last = end.max(start);
    }
    masked.push_str(&document.text[last..]);
    masked
}
