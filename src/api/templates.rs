//! Job files that people share.

use async_trait::async_trait;
use protocol::ids::{TemplateName, UserName};
use protocol::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::error::Result;

/// What people do with templates.
#[async_trait]
pub trait Templates: Send + Sync {
    /// All of them, by name; they are for everybody who is signed in.
    async fn list(&self, actor: &Actor) -> Result<Vec<TemplateView>>;
    /// One with its job file.
    async fn get(&self, actor: &Actor, name: &TemplateName) -> Result<Template>;
    /// Shares a job file without the values of its secrets, and of what names like `HF_TOKEN` say is one, or
    /// puts another one in the place of what was shared under that name (its author and administrators).
    /// `true`: there was none.
    async fn save(&self, actor: &Actor, template: ShareTemplate) -> Result<bool>;
    /// Takes one back (its author and administrators).
    async fn remove(&self, actor: &Actor, name: &TemplateName) -> Result<()>;
}

/// What is to be shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareTemplate {
    /// What it is called.
    pub name: TemplateName,
    /// What it is good for, in a few words.
    pub description: String,
    /// The job file, in whatever dialect.
    pub text: String,
}

/// A template among others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplateView {
    /// What it is called.
    pub name: TemplateName,
    /// What it is good for.
    pub description: String,
    /// Who shared it.
    pub author: UserName,
    /// When that was, or when it was changed last.
    pub changed_at: Timestamp,
}

/// A template with its job file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Template {
    /// What is said of it.
    #[serde(flatten)]
    pub view: TemplateView,
    /// The job file as it was written, but for its secrets and what their names say are some.
    pub text: String,
}
