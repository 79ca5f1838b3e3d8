//! What is wrong with a job file or with settings, and where.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One mistake in a job file or in settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// Where in the document, as `taskRoles[1].portList[0].label`; empty for the document itself.
    pub path: String,
    /// Line in the text, from 1; 0 where there is no text.
    pub line: u32,
    /// Column in the text in characters, from 1; 0 where there is no text.
    pub column: u32,
    /// What is wrong, one sentence.
    pub message: String,
    /// What is allowed there; empty where the message says it all.
    pub allowed: String,
}

impl Problem {
    /// A mistake in a setting, wherever that was written.
    #[must_use]
    pub fn of_setting(
        path: impl Into<String>,
        message: impl Into<String>,
        allowed: impl Into<String>,
    ) -> Self {
        let (path, message, allowed) = (path.into(), message.into(), allowed.into());
        Self { path, line: 0, column: 0, message, allowed }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { path, line, column, message, allowed } = self;
        match (*line, path.is_empty()) {
            (0, true) => {}
            (0, false) => write!(f, "{path}: ")?,
            (line, true) => write!(f, "line {line}, column {column}: ")?,
            (line, false) => write!(f, "line {line}, column {column}, {path}: ")?,
        }
        f.write_str(message)?;
        if !allowed.is_empty() {
            write!(f, " (allowed: {allowed})")?;
        }
        Ok(())
    }
}
