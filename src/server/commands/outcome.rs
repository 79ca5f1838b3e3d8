//! How a command ends.

/// Why a command did not do what it should: what is printed, without more.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct CommandError {
    pub(super) message: String,
    /// What is wrong in a job file, one line each.
    pub(super) problems: Vec<String>,
}

impl CommandError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), problems: Vec::new() }
    }
}

pub(super) type Outcome = Result<(), anyhow::Error>;
