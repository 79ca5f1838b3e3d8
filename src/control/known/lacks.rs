//! Storages that nodes were found to lack when a task was to have them, until a try of ours finds them
//! there: no job that asks for one goes to such a node meanwhile.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use protocol::exit::{Cause, Exit};
use protocol::ids::{NodeName, StorageName, UserName};
use protocol::spec::JobSpec;
use protocol::storages::{Asked, asked};

use crate::known::active::Active;
use crate::lock::lock;

/// The pauses between tries double so often.
const DOUBLED: u32 = 3;

/// A storage, or a user's own folder of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Part {
    /// The storage.
    pub(crate) storage: StorageName,
    /// Whose folder of it; `None`: all of it.
    pub(crate) own: Option<UserName>,
}

/// Which nodes lack what, as the scheduler is told it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Lacks(BTreeMap<Part, BTreeSet<NodeName>>);

impl Lacks {
    /// The nodes on which a job cannot start, each with a storage that it lacks.
    pub(crate) fn of_job(&self, job: &Active) -> BTreeMap<NodeName, StorageName> {
        self.of(&job.spec, &job.row.key.user, job.row.exit.as_deref())
    }

    /// The same of a user's job whose last attempt, if there was one, ended so.
    pub(crate) fn of(
        &self,
        spec: &JobSpec,
        user: &UserName,
        last: Option<&Exit>,
    ) -> BTreeMap<NodeName, StorageName> {
        if self.0.is_empty() {
            return BTreeMap::new();
        }
        let named: BTreeSet<StorageName> = match asked(spec) {
            None => return BTreeMap::new(),
            Some(Asked::These(these)) => these.into_iter().map(|one| one.name).collect(),
            // Which they are its owner's rights say: of one of them its last attempt tells.
            Some(Asked::Defaults) => last.and_then(wanted).into_iter().collect(),
        };
        let is_asked = |part: &Part| {
            named.contains(&part.storage) && part.own.as_ref().is_none_or(|own| own == user)
        };
        let lacking = self.0.iter().filter(|(part, _)| is_asked(part));
        let pairs = lacking.flat_map(|(part, nodes)| {
            nodes.iter().map(move |node| (node.clone(), part.storage.clone()))
        });
        pairs.collect()
    }
}

/// The storage for want of which an attempt ended.
fn wanted(exit: &Exit) -> Option<StorageName> {
    let Cause::StorageAbsent { storage, .. } = &exit.cause else { return None };
    Some(storage.clone())
}

/// What nodes were found to lack, and when each is tried again.
#[derive(Debug, Default)]
pub(crate) struct Lacking(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    all: BTreeMap<(NodeName, Part), Lack>,
    told: Arc<Lacks>,
}

#[derive(Debug)]
struct Lack {
    asked: Asking,
    tries: u32,
    not_before: Instant,
}

/// Whose job was to have it, in a container of which image: it is there, and whoever names it is no stranger to
/// what he would see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asking {
    pub(crate) user: UserName,
    pub(crate) image: String,
}

/// What a node lacks, to be tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Due {
    pub(crate) node: NodeName,
    pub(crate) part: Part,
    pub(crate) asked: Asking,
}

impl Lacking {
    /// A node was found to lack it when somebody's job was to have it. Says whether that is news.
    pub(crate) fn found(
        &self,
        (node, part): (&NodeName, &Part),
        asked: Asking,
        (pause, now): (Duration, Instant),
    ) -> bool {
        let mut known = lock(&self.0);
        let Entry::Vacant(unknown) = known.all.entry((node.clone(), part.clone())) else {
            return false;
        };
        unknown.insert(Lack { asked, tries: 0, not_before: now + pause });
        known.tell();
        true
    }

    /// Which nodes lack what.
    pub(crate) fn told(&self) -> Arc<Lacks> {
        Arc::clone(&lock(&self.0).told)
    }

    /// What may be tried again.
    pub(crate) fn due(&self, now: Instant) -> Vec<Due> {
        let known = lock(&self.0);
        let due = known.all.iter().filter(|(_, lack)| lack.not_before <= now);
        let due = due.map(|((node, part), lack)| Due {
            node: node.clone(),
            part: part.clone(),
            asked: lack.asked.clone(),
        });
        due.collect()
    }

    /// A try of ours has found the same: the next one follows after a pause, which doubles a few times.
    pub(crate) fn still(&self, due: &Due, pause: Duration, now: Instant) {
        if let Some(lack) = lock(&self.0).all.get_mut(&(due.node.clone(), due.part.clone())) {
            lack.tries = lack.tries.saturating_add(1);
            lack.not_before = now + pause.saturating_mul(1 << lack.tries.min(DOUBLED));
        }
    }

    /// Forgets what is not to be kept. Says whether there was any.
    pub(crate) fn keep(&self, is_kept: impl Fn(&NodeName, &Part) -> bool) -> bool {
        let mut known = lock(&self.0);
        let before = known.all.len();
        known.all.retain(|(node, part), _| is_kept(node, part));
        let any = known.all.len() < before;
        if any {
            known.tell();
        }
        any
    }
}

impl Known {
    fn tell(&mut self) {
        let mut lacks: BTreeMap<Part, BTreeSet<NodeName>> = BTreeMap::new();
        for (node, part) in self.all.keys() {
            lacks.entry(part.clone()).or_default().insert(node.clone());
        }
        self.told = Arc::new(Lacks(lacks));
    }
}

#[cfg(test)]
mod tests {
    use protocol::ids::JobId;
    use protocol::time::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::known::queue::tests::{row, spec};

    const PAUSE: Duration = Duration::from_secs(30);

    fn part(own: Option<&str>) -> Part {
        Part { storage: "data".parse().unwrap(), own: own.map(|own| own.parse().unwrap()) }
    }

    fn node(name: &str) -> NodeName {
        name.parse().unwrap()
    }

    fn asking() -> Asking {
        Asking { user: "alice".parse().unwrap(), image: "image".to_owned() }
    }

    /// A job of alice's.
    fn job(asks: &serde_json::Value) -> Active {
        let mut spec = spec(1, 0);
        spec.extras.insert("storages".to_owned(), asks.clone());
        let row = row(JobId(1), &spec, Timestamp(0));
        Active { row: Arc::new(row), spec: Arc::new(spec) }
    }

    #[test]
    fn who_asks_for_what_a_node_lacks_does_not_go_there() {
        let (lacking, now) = (Lacking::default(), Instant::now());
        let asks = job(&json!([{ "name": "data" }]));
        assert!(lacking.told().of_job(&asks).is_empty());
        let finds =
            |name: &str, own| lacking.found((&node(name), &part(own)), asking(), (PAUSE, now));
        assert!(finds("a", None) && !finds("a", None));
        assert!(finds("b", Some("alice")) && finds("c", Some("bob")));
        let nodes: Vec<_> = lacking.told().of_job(&asks).into_keys().collect();
        assert_eq!(nodes, [node("a"), node("b")], "what bob lacks is not hers");
        assert!(lacking.told().of_job(&job(&json!([{ "name": "other" }]))).is_empty());
        let mut defaults = job(&json!([]));
        assert!(lacking.told().of_job(&defaults).is_empty(), "nobody knows yet what it has");
        let message = String::new();
        let cause = Cause::StorageAbsent { node: node("a"), storage: part(None).storage, message };
        defaults.row_mut().exit = Some(Box::new(Exit { code: None, cause, evidence: Vec::new() }));
        assert_eq!(lacking.told().of_job(&defaults).len(), 2);
        assert!(lacking.keep(|_, part| part.own.is_some()) && !lacking.keep(|_, _| true));
        assert_eq!(lacking.told().of_job(&asks).into_keys().collect::<Vec<_>>(), [node("b")]);
    }

    #[test]
    fn what_is_lacked_is_looked_for_again_after_pauses() {
        let (lacking, began) = (Lacking::default(), Instant::now());
        assert!(lacking.found((&node("a"), &part(None)), asking(), (PAUSE, began)));
        let mut now = began;
        for seconds in [30, 60, 120, 240, 240] {
            now += Duration::from_secs(seconds - 1);
            assert_eq!(lacking.due(now), [], "{seconds}");
            now += Duration::from_secs(1);
            let due = lacking.due(now);
            assert_eq!((due.len(), &due[0].asked), (1, &asking()), "{seconds}");
            lacking.still(&due[0], PAUSE, now);
        }
    }
}
