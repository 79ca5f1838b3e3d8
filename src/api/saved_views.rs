//! Lists of jobs that users have given names.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::error::{Error, ErrorCode, Result};
use crate::job_filter;

/// A user has so many at most.
pub const MOST: usize = 30;

/// A name has so many characters at most.
const LONGEST_NAME: usize = 64;
/// A filter has so many bytes at most.
const LONGEST_FILTER: usize = 1_000;
/// So does the word for an order.
const LONGEST_SORT: usize = 32;

/// What users do with views of their own. Nobody sees those of others.
#[async_trait]
pub trait SavedViews: Send + Sync {
    /// The actor's own, oldest first.
    async fn list(&self, actor: &Actor) -> Result<Vec<SavedView>>;
    /// Saves one, whatever the actor had of that name.
    async fn save(&self, actor: &Actor, view: SavedView) -> Result<()>;
    /// Gives one another name.
    async fn rename(&self, actor: &Actor, name: &str, to: &str) -> Result<()>;
    /// Removes one.
    async fn remove(&self, actor: &Actor, name: &str) -> Result<()>;
}

/// A list of jobs with a name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SavedView {
    /// What its user calls it.
    pub name: String,
    /// The words of the filter.
    pub filter: String,
    /// Everybody's jobs instead of the user's own.
    pub all: bool,
    /// The column by which it is ordered, with `-` before it where that descends; empty: as it comes.
    pub sort: String,
}

impl SavedView {
    /// Refuses what cannot be kept, or not be read again.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidParametersError`].
    pub fn check(&self) -> Result<()> {
        check_name(&self.name)?;
        let is_sort =
            |sort: &str| sort.bytes().all(|byte| byte == b'-' || byte.is_ascii_lowercase());
        if self.sort.len() > LONGEST_SORT || !is_sort(&self.sort) {
            return Err(invalid(format!("{:?} is no order of a list", self.sort)));
        }
        if self.filter.len() > LONGEST_FILTER {
            return Err(invalid(format!("a filter has {LONGEST_FILTER} bytes at most")));
        }
        if self.filter.chars().any(char::is_control) {
            return Err(invalid("a filter is one line of text".to_owned()));
        }
        job_filter::read(&self.filter, None).map(drop).map_err(|misread| {
            invalid(misread.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
        })
    }
}

/// Refuses a name that a view cannot have.
///
/// # Errors
/// [`ErrorCode::InvalidParametersError`].
pub fn check_name(name: &str) -> Result<()> {
    let is_long = name.chars().count() > LONGEST_NAME;
    if name.is_empty() || is_long || name.trim() != name || name.chars().any(char::is_control) {
        return Err(invalid(format!(
            "the name of a view has 1 to {LONGEST_NAME} characters, without spaces around them"
        )));
    }
    Ok(())
}

fn invalid(message: String) -> Error {
    Error::new(ErrorCode::InvalidParametersError, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_kept_is_refused() {
        let view = |name: &str, filter: &str, sort: &str| SavedView {
            name: name.to_owned(),
            filter: filter.to_owned(),
            all: false,
            sort: sort.to_owned(),
        };
        let long = "x".repeat(LONGEST_NAME + 1);
        for (view, good) in [
            (view("失败的作业", "state:failed", "-gpus"), true),
            (view("all", "", ""), true),
            (view("", "", ""), false),
            (view(" a", "", ""), false),
            (view("a\n", "", ""), false),
            (view(&long, "", ""), false),
            (view("a", "sate:failed", ""), false),
            (view("a", &"x".repeat(LONGEST_FILTER + 1), ""), false),
            (view("a", "", "&page=2"), false),
            (view("a", "x\0", ""), false),
            (view("a", "x\ny", ""), false),
        ] {
            assert_eq!(view.check().is_ok(), good, "{view:?}");
        }
    }
}
