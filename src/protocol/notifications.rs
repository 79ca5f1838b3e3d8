//! What people want to be told when they are not looking.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What somebody may want to be told of a job.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum Occasion {
    /// Its first container runs.
    Started,
    /// It did what it should.
    Succeeded,
    /// It failed.
    Failed,
    /// It was stopped.
    Stopped,
    /// It is tried again.
    Retried,
    /// It gives way to others, and waits again.
    Preempted,
    /// It has waited too long.
    Waiting,
    /// Its GPUs do nothing.
    Idle,
}

impl Occasion {
    /// All of them.
    pub const ALL: [Occasion; 8] = [
        Occasion::Started,
        Occasion::Succeeded,
        Occasion::Failed,
        Occasion::Stopped,
        Occasion::Retried,
        Occasion::Preempted,
        Occasion::Waiting,
        Occasion::Idle,
    ];
}

/// The language of what is sent to somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum Tongue {
    /// English.
    #[default]
    #[serde(rename = "en")]
    English,
    /// 简体中文.
    #[serde(rename = "zh")]
    Chinese,
}

/// What somebody wants to be told, and how.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Wishes {
    /// On which occasions.
    pub occasions: BTreeSet<Occasion>,
    /// By mail, to the address of the account.
    pub mail: bool,
    /// By a call of this address.
    pub webhook: Option<String>,
    /// The language of mails.
    pub language: Tongue,
}

/// The key of `extras` by which a job says on which occasions its owner gets a mail.
pub const OF_JOB: &str = "jobStatusChangeNotification";

/// The occasions that a job names in its `extras`, whatever its owner wants otherwise.
#[must_use]
pub fn of_job(extras: &Map<String, Value>) -> BTreeSet<Occasion> {
    let named = extras.get(OF_JOB).and_then(Value::as_object);
    let wanted = |name: &str| named.and_then(|named| named.get(name)) == Some(&Value::Bool(true));
    let names = [
        ("running", Occasion::Started),
        ("succeeded", Occasion::Succeeded),
        ("failed", Occasion::Failed),
        ("stopped", Occasion::Stopped),
        ("retried", Occasion::Retried),
    ];
    names.into_iter().filter(|(name, _)| wanted(name)).map(|(_, occasion)| occasion).collect()
}

/// Something that happened to a job, as somebody is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// `user~name` of the job.
    pub job: crate::ids::JobKey,
    /// What happened.
    pub occasion: Occasion,
    /// In more words, English.
    pub detail: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_names_the_occasions_of_openpai() {
        let of = |text: &str| {
            let extras: Map<String, Value> = serde_json::from_str(text).unwrap();
            of_job(&extras).into_iter().collect::<Vec<_>>()
        };
        assert_eq!(of("{}"), []);
        assert_eq!(of(r#"{"jobStatusChangeNotification": "all"}"#), []);
        let some = r#"{"jobStatusChangeNotification":
            {"running": true, "failed": true, "stopped": false, "retried": "true", "x": true}}"#;
        assert_eq!(of(some), [Occasion::Started, Occasion::Failed]);
    }

    #[test]
    fn all_occasions_are_listed_and_wishes_survive() {
        let wishes = Wishes {
            occasions: Occasion::ALL.into(),
            mail: true,
            webhook: Some("https://example.org/".to_owned()),
            language: Tongue::Chinese,
        };
        assert_eq!(wishes.occasions.len(), Occasion::ALL.len());
        let text = serde_json::to_string(&wishes).unwrap();
        assert_eq!(serde_json::from_str::<Wishes>(&text).unwrap(), wishes);
        assert_eq!(serde_json::from_str::<Wishes>("{}").unwrap(), Wishes::default());
    }
}
