//! The leases of tasks: who has been answered when, whom it is time to ask again, and of whom surely
//! nothing runs any more. How that follows is in [`protocol::lease`].

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use database::tasks::Task;
use protocol::epoch::Epoch;
use protocol::ids::{JobKey, NodeName, TaskKey};
use protocol::lease::Granting;

use crate::lock::lock;

/// Tasks of one node that are talked to at the same time: nodes that hang hold up nobody else's.
const AT_ONCE: usize = 4;
/// After a conversation that failed there is another one so soon, at the soonest.
const SOON: Duration = Duration::from_secs(1);
/// And so soon at the latest.
const LATE: Duration = Duration::from_secs(10);
/// After so many failures of the first conversation somebody is told.
const MANY: u32 = 5;

/// What is known of all of them.
#[derive(Debug)]
pub(crate) struct Leases {
    /// Their clock begins then.
    begun: Instant,
    /// Until then an earlier server may answer.
    earlier: Duration,
    held: Mutex<HashMap<TaskKey, Held>>,
}

/// A task to be talked to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Leased {
    pub(crate) key: TaskKey,
    /// In which life of the database it was given.
    pub(crate) epoch: Epoch,
    pub(crate) job: JobKey,
    pub(crate) node: NodeName,
    pub(crate) address: String,
    pub(crate) port: u16,
}

/// What is worth telling of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum News {
    /// It was heard for the first time.
    First,
    /// It was not heard yet, again and again.
    Unheard,
    /// It was not heard for so long, which is half of its lease.
    Silent(Duration),
}

#[derive(Debug)]
struct Held {
    task: Leased,
    lease: Duration,
    granting: Granting,
    /// Its container runs, as far as anybody knows.
    runs: bool,
    /// Somebody talks to it.
    talks: bool,
    /// When it is to be talked to next.
    next: Duration,
    /// When it has said last that it has heard.
    heard: Option<Duration>,
    /// At some time it may have been asked to end since it had not heard for long: between two answers, or
    /// before this server knew it.
    lapsed: bool,
    /// So many conversations in a row have failed.
    failures: u32,
}

impl Default for Leases {
    fn default() -> Self {
        Self::new(Duration::ZERO)
    }
}

impl Leases {
    /// `earlier`: for so long from now on an earlier server may answer.
    pub(crate) fn new(earlier: Duration) -> Self {
        Self { begun: Instant::now(), earlier, held: Mutex::default() }
    }

    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    /// A task whose container may be there or come. An earlier server may have answered it until now.
    /// `runs`: whether its container does, if that is seen. Says whether it is to be talked to at once.
    pub(crate) fn watch(
        &self,
        (job, task): (&JobKey, &Task),
        lease: Duration,
        runs: Option<bool>,
    ) -> bool {
        let Some(port) = task.placement.ssh_port() else { return false };
        let now = self.now();
        let mut held = lock(&self.held);
        let known = held.entry(task.key).or_insert_with(|| Held {
            task: Leased {
                key: task.key,
                epoch: task.epoch,
                job: job.clone(),
                node: task.placement.node.clone(),
                address: task.placement.address.clone(),
                port,
            },
            lease,
            granting: Granting::new(lease, now.max(self.earlier)),
            // What nobody sees may run all the same.
            runs: runs.unwrap_or(true),
            talks: false,
            next: now,
            heard: None,
            lapsed: runs != Some(false),
            failures: 0,
        });
        let begins = runs == Some(true) && !known.runs;
        known.runs = runs.unwrap_or(known.runs);
        if begins {
            (known.next, known.failures) = (now, 0);
        }
        known.runs && known.heard.is_none() && known.failures == 0
    }

    /// Nothing of it is there any more, or nobody wants it.
    pub(crate) fn forget(&self, task: &TaskKey) {
        lock(&self.held).remove(task);
    }

    /// Forgets all others.
    pub(crate) fn forget_all_but(&self, is_active: impl Fn(&TaskKey) -> bool) {
        lock(&self.held).retain(|task, _| is_active(task));
    }

    /// Nobody talks to any of them: who did is gone.
    pub(crate) fn begin_anew(&self) {
        lock(&self.held).values_mut().for_each(|held| held.talks = false);
    }

    /// Those that are to be talked to now. Of each it is told when that is [done](Self::done).
    pub(crate) fn due(&self) -> Vec<Leased> {
        let now = self.now();
        let mut held = lock(&self.held);
        let mut talks: HashMap<NodeName, usize> = HashMap::new();
        for held in held.values().filter(|held| held.talks) {
            *talks.entry(held.task.node.clone()).or_default() += 1;
        }
        let mut due: Vec<&mut Held> =
            held.values_mut().filter(|held| held.runs && !held.talks && held.next <= now).collect();
        // Who waits longest comes first.
        due.sort_by_key(|held| held.next);
        let mut chosen = Vec::new();
        for held in due {
            let talks = talks.entry(held.task.node.clone()).or_default();
            if *talks < AT_ONCE {
                *talks += 1;
                held.talks = true;
                chosen.push(held.task.clone());
            }
        }
        chosen
    }

    /// A task's guest has asked: whether it is answered. What is not known is not answered.
    pub(crate) fn answers(&self, task: &TaskKey) -> bool {
        let now = self.now();
        lock(&self.held).get_mut(task).is_some_and(|held| held.granting.answers(now))
    }

    /// The conversation is over. `heard`: the guest has said that it has heard.
    pub(crate) fn done(&self, task: &TaskKey, heard: bool) -> Option<News> {
        let now = self.now();
        let mut held = lock(&self.held);
        let held = held.get_mut(task)?;
        held.talks = false;
        if heard { held.was_heard(now) } else { held.was_not_heard(now) }
    }

    /// How long it must be waited until surely nothing of a task runs; 0: nothing does, and it is never
    /// answered again. `None`: it has no lease, so that nobody can tell.
    pub(crate) fn wait(&self, task: &TaskKey) -> Option<Duration> {
        let now = self.now();
        lock(&self.held).get_mut(task).map(|held| held.granting.wait(now))
    }

    /// Whether a task's guest may have ended it since its lease was over.
    pub(crate) fn may_be_over(&self, task: &TaskKey) -> bool {
        let now = self.now();
        let held = lock(&self.held);
        held.get(task).is_some_and(|held| held.lapsed || held.is_nearly_over(now))
    }
}

impl Held {
    fn was_heard(&mut self, now: Duration) -> Option<News> {
        self.next = now + self.lease / 4;
        self.failures = 0;
        self.lapsed |= self.heard.is_some() && self.is_nearly_over(now);
        self.heard.replace(now).is_none().then_some(News::First)
    }

    /// Whether it may have been asked to end, or have ended, for what it has not heard.
    fn is_nearly_over(&self, now: Duration) -> bool {
        self.heard.is_none_or(|heard| now.saturating_sub(heard) >= self.lease / 4 * 3)
    }

    fn was_not_heard(&mut self, now: Duration) -> Option<News> {
        self.failures = self.failures.saturating_add(1);
        let pause = SOON.saturating_mul(self.failures).min(LATE).min(self.lease / 16);
        let before = std::mem::replace(&mut self.next, now + pause);
        let Some(heard) = self.heard else {
            return (self.failures == MANY).then_some(News::Unheard);
        };
        let (half, silent) = (self.lease / 2, now.saturating_sub(heard));
        // Once: when it was not so long yet at the last time.
        (silent >= half && before.saturating_sub(heard) < half).then_some(News::Silent(silent))
    }
}

#[cfg(test)]
mod tests {
    use protocol::ids::JobId;
    use protocol::placement::{TaskPlacement, TaskPorts};
    use protocol::resources::Resources;
    use protocol::state::State;

    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn task(index: u32, node: &str) -> Task {
        Task {
            key: TaskKey { job: JobId(1), attempt: 0, role: 0, index, retry: 0 },
            epoch: Epoch::default(),
            role_name: "worker".parse().unwrap(),
            state: State::Running,
            placement: TaskPlacement {
                role: 0,
                index,
                node: node.parse().unwrap(),
                address: "10.0.0.1".to_owned(),
                gpus: Vec::new(),
                ports: TaskPorts::from([("ssh".parse().unwrap(), vec![20_022])]),
            },
            resources: Resources::default(),
            container: None,
            progress: None,
            intent: None,
            started_at: None,
            completed_at: None,
            exit: None,
        }
    }

    fn watch(leases: &Leases, task: &Task, lease: Duration, runs: Option<bool>) -> bool {
        leases.watch((&"alice~job".parse().unwrap(), task), lease, runs)
    }

    #[test]
    fn tasks_are_talked_to_once_they_run_and_few_of_a_node_at_the_same_time() {
        let leases = Leases::default();
        let tasks: Vec<Task> = (0..6).map(|index| task(index, "a")).collect();
        let other = task(6, "b");
        for task in tasks.iter().chain([&other]) {
            assert!(!watch(&leases, task, HOUR, Some(false)), "its image is being pulled");
        }
        assert_eq!(leases.due(), []);
        for task in tasks.iter().chain([&other]) {
            assert!(watch(&leases, task, HOUR, Some(true)));
        }
        let due = leases.due();
        assert_eq!(due.iter().filter(|leased| leased.node.as_str() == "a").count(), AT_ONCE);
        assert_eq!(due.len(), AT_ONCE + 1, "one node keeps no other waiting");
        assert_eq!(leases.due(), [], "nobody is talked to twice");
        let first = due.iter().find(|leased| leased.node.as_str() == "a").unwrap().key;
        assert!(leases.answers(&first));
        assert_eq!(leases.done(&first, true), Some(News::First));
        assert_eq!(leases.due().len(), 1, "another one of that node");
        leases.begin_anew();
        assert_eq!(leases.due().len(), 5, "what was begun by who is gone is begun again");
    }

    #[test]
    fn who_is_not_known_is_not_answered() {
        let (leases, task) = (Leases::default(), task(0, "a"));
        assert!(!leases.answers(&task.key));
        assert_eq!(leases.wait(&task.key), None);
        watch(&leases, &task, HOUR, None);
        assert_eq!(leases.due().len(), 1, "what nobody sees may run");
        assert!(leases.answers(&task.key));
        assert!(leases.wait(&task.key).is_some_and(|wait| wait > HOUR));
        for _ in 1..MANY {
            assert_eq!(leases.done(&task.key, false), None);
        }
        assert_eq!(leases.done(&task.key, false), Some(News::Unheard));
        assert_eq!(leases.done(&task.key, false), None, "that is told once");
        leases.forget(&task.key);
        assert!(!leases.answers(&task.key));
        assert_eq!(leases.done(&task.key, true), None);
    }

    #[test]
    fn what_an_earlier_server_may_still_answer_is_waited_for() {
        let (leases, task) = (Leases::new(2 * HOUR), task(0, "a"));
        watch(&leases, &task, HOUR, None);
        assert!(leases.wait(&task.key).is_some_and(|wait| wait > 3 * HOUR));
        assert!(leases.answers(&task.key));
    }

    #[test]
    fn a_lease_that_is_over_is_over_for_ever() {
        let (leases, task) = (Leases::default(), task(0, "a"));
        watch(&leases, &task, Duration::ZERO, None);
        assert_eq!(leases.wait(&task.key), Some(Duration::ZERO));
        assert!(!leases.answers(&task.key));
        watch(&leases, &task, Duration::ZERO, Some(true));
        assert!(!leases.answers(&task.key), "whatever is seen of it afterwards");
        assert!(leases.may_be_over(&task.key));
    }

    #[test]
    fn what_ends_by_itself_soon_after_it_was_heard_has_not_ended_with_its_lease() {
        let leases = Leases::default();
        let (new, old, lapsed) = (task(0, "a"), task(1, "b"), task(2, "c"));
        watch(&leases, &new, HOUR, Some(false));
        watch(&leases, &old, HOUR, Some(true));
        watch(&leases, &lapsed, Duration::ZERO, Some(false));
        assert!(leases.may_be_over(&new.key), "it may never have begun");
        for task in [&new, &old, &lapsed, &lapsed] {
            leases.done(&task.key, true);
        }
        assert!(!leases.may_be_over(&new.key));
        assert!(leases.may_be_over(&old.key), "nobody knows what was before");
        assert!(leases.may_be_over(&lapsed.key), "too long lay between the two times");
    }
}
