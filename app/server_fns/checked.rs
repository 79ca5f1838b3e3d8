//! What a submission would meet, as the submit page knows it.

use api::jobs::{CheckReport, DryRun};
use protocol::ids::NodeName;
use protocol::problem::Problem;
use serde::{Deserialize, Serialize};

use crate::json::from_json;

/// What the check says of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Checked {
    pub(crate) problems: Vec<Problem>,
    pub(crate) warnings: Vec<String>,
    pub(crate) dry_run: Option<Outlook>,
}

/// What the scheduler would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Outlook {
    /// Start it at once.
    Fits { nodes: Vec<NodeName>, borrowed: bool, place: Option<String> },
    /// Something else: a [`DryRun`] as JSON. The code that reads it comes with what shows it.
    Later(String),
}

impl From<CheckReport> for Checked {
    fn from(CheckReport { problems, warnings, dry_run }: CheckReport) -> Self {
        Self { problems, warnings, dry_run: dry_run.map(Outlook::from) }
    }
}

impl From<DryRun> for Outlook {
    fn from(answer: DryRun) -> Self {
        match answer {
            DryRun::FitsNow { nodes, borrowed, place } => Self::Fits { nodes, borrowed, place },
            later @ (DryRun::Waits(_) | DryRun::Never { .. }) => {
                Self::Later(serde_json::to_string(&later).unwrap_or_default())
            }
        }
    }
}

impl Outlook {
    /// Why it would not start at once.
    pub(crate) fn later(&self) -> Option<DryRun> {
        match self {
            Self::Fits { .. } => None,
            Self::Later(answer) => from_json(answer).ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use api::queue::Explanation;
    use protocol::wait::{WaitReason, Waiting};

    use super::*;

    fn outlook(answer: DryRun) -> Outlook {
        let report =
            CheckReport { problems: Vec::new(), warnings: Vec::new(), dry_run: Some(answer) };
        Checked::from(report).dry_run.unwrap()
    }

    #[test]
    fn what_comes_later_is_read_back() {
        let waiting = Waiting { reason: WaitReason::Queued, position: 3, expected_start: None };
        let explanation = Explanation::only(waiting, "vision".parse().unwrap());
        for answer in
            [DryRun::Waits(Box::new(explanation)), DryRun::Never { reason: WaitReason::NoNodes }]
        {
            assert_eq!(outlook(answer.clone()).later(), Some(answer));
        }
    }

    #[test]
    fn what_starts_at_once_is_known_without() {
        let nodes = vec!["a100-1".parse().unwrap()];
        let fits = outlook(DryRun::FitsNow { nodes: nodes.clone(), borrowed: true, place: None });
        assert_eq!(fits.later(), None);
        assert_eq!(fits, Outlook::Fits { nodes, borrowed: true, place: None });
    }
}
