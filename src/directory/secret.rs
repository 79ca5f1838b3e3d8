use std::fmt;
use std::path::Path;

use serde::Deserialize;

use crate::{Error, Result};

/// A password of ours, which no log shows.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Takes a text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("******")
    }
}

/// The secret as it is written, or the first line of the file that has it.
pub(crate) fn read(
    key: &str,
    written: Option<&Secret>,
    file: Option<&Path>,
) -> Result<Option<Secret>> {
    let Some(path) = file else { return Ok(written.cloned()) };
    if written.is_some() {
        return Err(Error::Settings(format!("{key} and {key}_file: allowed is one of them")));
    }
    let path_text = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::Settings(format!("{key}_file = \"{path_text}\": {error}")))?;
    let line = text.lines().next().unwrap_or_default().trim_end();
    if line.is_empty() {
        let message = format!("{key}_file = \"{path_text}\": its first line is empty");
        return Err(Error::Settings(message));
    }
    Ok(Some(Secret::new(line)))
}
