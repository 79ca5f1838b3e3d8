//! The table `job_files`: the wide part of a job, written once and read only where it is needed.

use protocol::document::Syntax;
use protocol::spec::JobSpec;
use sea_orm::entity::prelude::*;
use serde::Deserialize;

use crate::Result;
use crate::convert::Row;

#[sea_orm::model]
#[derive(Clone, Debug, DeriveEntityModel)]
#[sea_orm(table_name = "job_files")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub job: i64,
    pub spec: String,
    pub text: String,
    pub syntax: String,
}

impl ActiveModelBehavior for ActiveModel {}

/// Reads a spec back.
pub(crate) fn spec(job: i64, text: &str) -> Result<JobSpec> {
    Row::new("job_files", &job).json(text)
}

/// The image of a spec's first role; `None`: it cannot be read. All else is passed over.
pub(crate) fn first_image(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Spec {
        roles: Vec<Role>,
    }
    #[derive(Deserialize)]
    struct Role {
        image: String,
    }
    let Spec { roles } = serde_json::from_str(text).ok()?;
    roles.into_iter().next().map(|role| role.image)
}

pub(crate) fn syntax_word(syntax: Syntax) -> &'static str {
    match syntax {
        Syntax::Json => "json",
        Syntax::Yaml => "yaml",
    }
}

impl Model {
    /// The text as it was written, and its notation.
    pub(crate) fn into_text(self) -> Result<(String, Syntax)> {
        let syntax = Row::new("job_files", &self.job).word(&self.syntax, |word| {
            [Syntax::Json, Syntax::Yaml].into_iter().find(|syntax| syntax_word(*syntax) == word)
        })?;
        Ok((self.text, syntax))
    }
}
