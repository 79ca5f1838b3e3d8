use serde::{Deserialize, Serialize};

/// An example of a job file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Template {
    pub(crate) name: String,
    pub(crate) file: String,
    pub(crate) en: TemplateWords,
    pub(crate) zh: TemplateWords,
}

/// What a template is called and what it does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TemplateWords {
    pub(crate) title: String,
    pub(crate) description: String,
}
