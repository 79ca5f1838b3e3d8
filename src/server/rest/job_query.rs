use api::jobs::{JobOrder, JobQuery};
use api::{ErrorCode, job_filter};
use protocol::ids::{InvalidName, UserName};
use protocol::spec::Priority;
use protocol::state::State;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::failure::Failure;

/// The most jobs one answer may have.
const MAX_LIMIT: u64 = 50_000;

/// Parameters of both versions' job lists. One that is not known is refused: whoever asks for less
/// than all jobs, and then stops them, must not be given all.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct JobParams {
    username: Option<String>,
    vc: Option<String>,
    state: Option<String>,
    keyword: Option<String>,
    /// Tags, any of which will do.
    tags_contain: Option<String>,
    /// Tags, none of which it has.
    tags_not_contain: Option<String>,
    /// Classes of priorities, or `default`.
    job_priority: Option<String>,
    /// A filter as the pages have it: `gpu:>=4 since:7d`.
    q: Option<String>,
    order: Option<String>,
    offset: Option<u64>,
    limit: Option<u64>,
    /// Whether the answer says how many there are on all pages.
    #[serde(deserialize_with = "flag")]
    pub(crate) with_total_count: bool,
}

impl JobParams {
    /// The query of `me`. Values that cannot match anything (a state that does not exist) are refused,
    /// and so is a filter with a word that cannot be read. Of users, states, virtual clusters and tags
    /// the parameters say more than the filter.
    pub(crate) fn query(&self, me: &UserName, default_limit: u64) -> Result<JobQuery, Failure> {
        let limit = self.limit.unwrap_or(default_limit);
        if limit > MAX_LIMIT {
            return Err(invalid(format!("Limit exceeds max number {MAX_LIMIT}.")));
        }
        let (order, ascending) = self.order.as_deref().and_then(order).unwrap_or_default();
        let asked = job_filter::read(self.q.as_deref().unwrap_or_default(), Some(me));
        let asked = asked.map_err(|misread| {
            invalid(misread.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
        })?;
        Ok(JobQuery {
            users: or(list(self.username.as_deref())?, asked.users),
            states: or(states(self.state.as_deref())?, asked.states),
            virtual_clusters: or(list(self.vc.as_deref())?, asked.virtual_clusters),
            keyword: self.keyword.clone().unwrap_or(asked.keyword),
            tags: or(list(self.tags_contain.as_deref())?, asked.tags),
            without_tags: list(self.tags_not_contain.as_deref())?,
            priority_ranges: classes(self.job_priority.as_deref())?,
            order,
            ascending,
            offset: self.offset.unwrap_or(0),
            // Of the contract, 0 is the default; of this door, it is nothing.
            limit: limit.max(1),
            ..asked
        })
    }
}

/// Present and not denied: `?dryRun`, `?dryRun=true`.
pub(crate) fn flag<'de, D: serde::Deserializer<'de>>(text: D) -> Result<bool, D::Error> {
    let text = String::deserialize(text)?;
    Ok(matches!(text.as_str(), "" | "true" | "1"))
}

fn or<T>(said: Vec<T>, filtered: Vec<T>) -> Vec<T> {
    if said.is_empty() { filtered } else { said }
}

fn words(text: Option<&str>) -> impl Iterator<Item = &str> {
    text.unwrap_or_default().split(',').map(str::trim).filter(|word| !word.is_empty())
}

fn list<T>(text: Option<&str>) -> Result<Vec<T>, Failure>
where
    T: std::str::FromStr<Err = InvalidName>,
{
    words(text).map(|word| word.parse::<T>().map_err(Failure::from)).collect()
}

/// The old words and ours; the old WAITING covers what is being prepared.
fn states(text: Option<&str>) -> Result<Vec<State>, Failure> {
    let mut states = Vec::new();
    for word in words(text) {
        let state = State::from_word(&word.to_ascii_uppercase());
        let state = state.ok_or_else(|| {
            let allowed = State::ALL.map(State::as_str).join(", ");
            invalid(format!("{word:?} is not a state: allowed are {allowed}"))
        })?;
        states.push(state);
        if state == State::Waiting {
            states.push(State::Preparing);
        }
    }
    Ok(states)
}

/// The priorities of classes; the default is one of `test`.
fn classes(text: Option<&str>) -> Result<Vec<(Priority, Priority)>, Failure> {
    let class = |word: &str| {
        let class = if word == "default" { Some(Priority::TEST) } else { Priority::of_class(word) };
        class.map(Priority::within_class).ok_or_else(|| {
            let allowed: Vec<&str> =
                Priority::CLASSES.iter().rev().map(|(word, _)| *word).collect();
            let allowed = allowed.join(", ");
            invalid(format!("{word:?} is no class of priorities: allowed are {allowed}, default"))
        })
    };
    words(text).map(class).collect()
}

/// `field,ASC` or `field,DESC`; what is not understood is ignored, as the old servers did.
fn order(text: &str) -> Option<(JobOrder, bool)> {
    let (field, direction) = text.split_once(',').unwrap_or((text, "DESC"));
    let order = match field.trim() {
        "jobName" => JobOrder::Name,
        "submissionTime" => JobOrder::Submitted,
        "username" => JobOrder::User,
        "vc" => JobOrder::VirtualCluster,
        "retries" => JobOrder::Retries,
        "totalTaskNumber" => JobOrder::Tasks,
        "totalGpuNumber" => JobOrder::Gpus,
        "state" => JobOrder::State,
        "completionTime" => JobOrder::Completed,
        "jobPriority" => JobOrder::Priority,
        _ => return None,
    };
    match direction.trim() {
        "ASC" => Some((order, true)),
        "DESC" => Some((order, false)),
        _ => None,
    }
}

fn invalid(message: String) -> Failure {
    Failure::new(ErrorCode::InvalidParametersError, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(text: &str) -> JobParams {
        serde_urlencoded::from_str(text).unwrap()
    }

    fn ada() -> UserName {
        "ada".parse().unwrap()
    }

    #[test]
    fn filters_paging_and_order_are_read() {
        let params = params(
            "username=alice,bob&vc=default&state=WAITING,FAILED&keyword=tf&order=jobName,ASC\
             &offset=20&limit=10&withTotalCount=true",
        );
        assert!(params.with_total_count);
        let query = params.query(&ada(), 5000).unwrap();
        assert_eq!(query.users.len(), 2);
        assert_eq!(query.states, [State::Waiting, State::Preparing, State::Failed]);
        assert_eq!((query.order, query.ascending), (JobOrder::Name, true));
        assert_eq!((query.offset, query.limit), (20, 10));
    }

    #[test]
    fn tags_and_classes_of_priorities_are_read() {
        let asked = "tagsContain=a,b+c&tagsNotContain=old&jobPriority=oppo,default";
        let query = params(asked).query(&ada(), 5000).unwrap();
        let tags: Vec<_> = query.tags.iter().map(protocol::ids::Tag::as_str).collect();
        assert_eq!((tags, query.without_tags.len()), (vec!["a", "b c"], 1));
        let is_in = |priority: i32| {
            let mut ranges = query.priority_ranges.iter();
            ranges.any(|(least, most)| (least.0..=most.0).contains(&priority))
        };
        let asked = [-1, 0, 10, 99, 100, 120].map(is_in);
        assert_eq!(asked, [true, true, true, true, false, false]);
    }

    #[test]
    fn defaults_are_those_of_the_old_servers() {
        let query = params("order=jobPriority,ASC").query(&ada(), 5000).unwrap();
        assert_eq!((query.order, query.ascending), (JobOrder::Priority, true));
        let query = params("order=nonsense,UP").query(&ada(), 5000).unwrap();
        assert_eq!((query.order, query.ascending), (JobOrder::Submitted, false));
        assert_eq!((query.offset, query.limit), (0, 5000));
    }

    #[test]
    fn a_filter_is_read_and_refused_as_on_the_pages() {
        let query = params("q=gpu:>=4+state:failed+resnet&username=bo").query(&ada(), 10).unwrap();
        assert_eq!((query.least_gpus, query.keyword.as_str()), (Some(4000), "resnet"));
        assert_eq!((query.states.as_slice(), query.users.len()), (&[State::Failed][..], 1));
        assert_eq!(params("q=user:me").query(&ada(), 10).unwrap().users, [ada()]);
        let tags = params("q=tag:%22best+run%22").query(&ada(), 10).unwrap().tags;
        assert_eq!(tags, ["best run".parse().unwrap()]);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for bad in [
            "limit=50001",
            "state=DONE",
            "username=a~b",
            "q=sate:failed",
            "q=gpu:many",
            "jobPriority=high",
            "tagsContain=a%00b",
        ] {
            assert!(params(bad).query(&ada(), 5000).is_err(), "{bad}");
        }
        for bad in ["limit=-1", "tagContains=x", "tags=x", "priority=prod"] {
            assert!(serde_urlencoded::from_str::<JobParams>(bad).is_err(), "{bad}");
        }
    }
}
