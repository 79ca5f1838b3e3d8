//! What is wrong with a job file, and where.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One mistake in a job file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// Where in the document, as `taskRoles[1].portList[0].label`; empty for the document itself.
    pub path: String,
    /// Line in the text, from 1.
    pub line: u32,
    /// Column in the text in characters, from 1.
    pub column: u32,
    /// What is wrong, one sentence.
    pub message: String,
    /// What is allowed there; empty where the message says it all.
    pub allowed: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { path, line, column, message, allowed } = self;
        write!(f, "line {line}, column {column}")?;
        if !path.is_empty() {
            write!(f, ", {path}")?;
        }
        write!(f, ": {message}")?;
        if !allowed.is_empty() {
            write!(f, " (allowed: {allowed})")?;
        }
        Ok(())
    }
}
