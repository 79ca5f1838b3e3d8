//! What changes on the server, as it changes: messages wake topics. A topic is a counter; resources
//! have it among their sources and read again. Topics wake together and at most once a second, and
//! not at all while nobody looks; what came meanwhile wakes them when somebody does.

mod cursor;
mod stream;
mod tabs;

use std::collections::BTreeMap;
use std::time::Duration;

use api::changes::{Change, Mark};
use leptos::prelude::*;
use protocol::ids::{JobKey, UserName};
use protocol::time::Timestamp;

use crate::edge;
use crate::looked::is_hidden;
use crate::session::Session;
use cursor::{Cursor, Position};

/// Changes that come together wake their topics once, in milliseconds.
const GATHER: i64 = 150;
/// The shortest time between two wakings, in milliseconds.
const PAUSE: i64 = 1000;

/// Whether the page has been taken over from the server. Before that it reads nothing anew, so what
/// changes meanwhile must not be told yet.
#[derive(Debug, Clone)]
pub(crate) struct Alive(pub(crate) ArcRwSignal<bool>);

/// Topics that pages can follow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Live {
    jobs: RwSignal<u64>,
    own_jobs: RwSignal<u64>,
    nodes: RwSignal<u64>,
    cluster: RwSignal<u64>,
    queue: RwSignal<u64>,
    images: RwSignal<u64>,
    followed: StoredValue<BTreeMap<JobKey, ArcRwSignal<u64>>>,
    lost: RwSignal<Option<Timestamp>>,
    reader: StoredValue<Option<UserName>>,
    cursor: StoredValue<Cursor>,
    gathered: StoredValue<Gathered>,
}

/// What waits to wake its topics.
#[derive(Debug, Default)]
struct Gathered {
    touched: Touched,
    /// A waking is on its way.
    arranged: bool,
    woken_at: Option<Timestamp>,
}

/// What the messages of a moment have touched.
#[derive(Debug, Default, PartialEq, Eq)]
struct Touched {
    jobs: Vec<JobKey>,
    nodes: bool,
    cluster: bool,
    queue: bool,
    images: bool,
    all: bool,
}

impl Touched {
    fn add(&mut self, change: Change) {
        match change {
            Change::Job { key, id: _, state: _ } => {
                if !self.jobs.contains(&key) {
                    self.jobs.push(key);
                }
            }
            Change::Node { name: _ } => self.nodes = true,
            Change::Image { owner: _ } => self.images = true,
            Change::Cluster => self.cluster = true,
            Change::Queue => self.queue = true,
            Change::Missed => self.all = true,
        }
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Gathered {
    /// How long from now the next waking is; `None`: there is nothing to wake, or it is arranged.
    fn arrange(&mut self, now: Timestamp) -> Option<Duration> {
        if self.arranged || self.touched.is_empty() {
            return None;
        }
        self.arranged = true;
        let since = self.woken_at.map_or(PAUSE, |at| now.since(at).max(0));
        let wait = (PAUSE - since).max(GATHER);
        Some(Duration::from_millis(wait.unsigned_abs()))
    }

    fn take(&mut self, now: Timestamp) -> Touched {
        self.woken_at = Some(now);
        std::mem::take(&mut self.touched)
    }
}

impl Live {
    /// Provides the topics; in the browser, listens for who is signed in, from where the page was
    /// rendered on.
    pub(crate) fn provide(session: Session, rendered_at: Option<Mark>) {
        let topic = || RwSignal::new(0);
        let live = Live {
            jobs: topic(),
            own_jobs: topic(),
            nodes: topic(),
            cluster: topic(),
            queue: topic(),
            images: topic(),
            followed: StoredValue::new(BTreeMap::new()),
            lost: RwSignal::new(None),
            reader: StoredValue::new(session.actor().map(|actor| actor.user)),
            cursor: StoredValue::new(Cursor::at(rendered_at)),
            gathered: StoredValue::default(),
        };
        provide_context(live);
        let alive = use_context::<Alive>();
        Effect::new(move |_| {
            if alive.as_ref().is_some_and(|alive| alive.0.get()) && session.actor().is_some() {
                tabs::listen(live);
            }
        });
    }

    /// The topics of this page.
    pub(crate) fn get() -> Self {
        expect_context()
    }

    /// Counts changes of any job.
    pub(crate) fn jobs(self) -> Signal<u64> {
        self.jobs.into()
    }

    /// Counts changes of the reader's jobs.
    pub(crate) fn own_jobs(self) -> Signal<u64> {
        self.own_jobs.into()
    }

    /// Counts changes of nodes.
    pub(crate) fn nodes(self) -> Signal<u64> {
        self.nodes.into()
    }

    /// Counts changes of shares and their use.
    pub(crate) fn cluster(self) -> Signal<u64> {
        self.cluster.into()
    }

    /// Counts changes of what waiting jobs wait for.
    pub(crate) fn queue(self) -> Signal<u64> {
        self.queue.into()
    }

    /// Counts changes of saved images.
    pub(crate) fn images(self) -> Signal<u64> {
        self.images.into()
    }

    /// Counts changes of one job.
    pub(crate) fn job(self, key: &JobKey) -> ArcRwSignal<u64> {
        self.followed
            .try_update_value(|followed| followed.entry(key.clone()).or_default().clone())
            .unwrap_or_default()
    }

    /// Since when the server does not answer; `None`: it does.
    pub(crate) fn lost(self) -> Signal<Option<Timestamp>> {
        self.lost.into()
    }

    /// Up to where this page has heard.
    fn mark(self) -> Option<Mark> {
        self.cursor.with_value(Cursor::mark)
    }

    /// Takes a change in; `false`: it was known.
    fn hear(self, mark: Mark, change: Change) -> bool {
        let position =
            self.cursor.try_update_value(|cursor| cursor.advance(mark)).unwrap_or(Position::Missed);
        let change = match position {
            Position::Known => return false,
            Position::Next => change,
            Position::Missed => Change::Missed,
        };
        self.gathered.update_value(|gathered| gathered.touched.add(change));
        self.arrange();
        true
    }

    /// Compares with how far another page has heard.
    fn compare(self, mark: Mark) {
        if self.mark() != Some(mark) {
            self.hear(mark, Change::Missed);
        }
    }

    /// The server answers, or does not.
    fn set_lost(self, lost: bool) {
        if lost != self.lost.get_untracked().is_some() {
            self.lost.set(lost.then(edge::now));
        }
    }

    /// Wakes soon what waits to be woken, if somebody looks.
    fn arrange(self) {
        if is_hidden() {
            return;
        }
        let wait = self.gathered.try_update_value(|gathered| gathered.arrange(edge::now()));
        if let Some(wait) = wait.flatten() {
            set_timeout(move || self.wake_gathered(), wait);
        }
    }

    fn wake_gathered(self) {
        let touched = self.gathered.try_update_value(|gathered| {
            gathered.arranged = false;
            (!is_hidden()).then(|| gathered.take(edge::now()))
        });
        if let Some(touched) = touched.flatten() {
            self.wake(&touched);
        }
    }

    fn wake(self, touched: &Touched) {
        let own =
            |key: &JobKey| self.reader.with_value(|reader| reader.as_ref() == Some(&key.user));
        for (topic, is_touched) in [
            (self.jobs, !touched.jobs.is_empty()),
            (self.own_jobs, touched.jobs.iter().any(own)),
            (self.nodes, touched.nodes),
            (self.cluster, touched.cluster),
            (self.queue, touched.queue),
            (self.images, touched.images),
        ] {
            if touched.all || is_touched {
                topic.update(|count| *count += 1);
            }
        }
        let followed = self.followed.try_get_value().unwrap_or_default();
        for (key, topic) in followed {
            if touched.all || touched.jobs.contains(&key) {
                topic.update(|count| *count += 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::ids::JobId;
    use protocol::state::State;

    use super::*;

    #[test]
    fn changes_of_one_job_are_gathered() {
        let key: JobKey = "ada~first".parse().unwrap();
        let change = Change::Job { id: JobId(1), key: key.clone(), state: State::Running };
        let mut touched = Touched::default();
        touched.add(change.clone());
        touched.add(change);
        touched.add(Change::Cluster);
        let expected = Touched { jobs: vec![key], cluster: true, ..Touched::default() };
        assert_eq!(touched, expected);
    }

    #[test]
    fn topics_wake_soon_and_then_once_a_second() {
        let at = |millis: i64| Timestamp(1_000_000 + millis);
        let millis = |millis| Some(Duration::from_millis(millis));
        let mut gathered = Gathered::default();
        assert_eq!(gathered.arrange(at(0)), None, "nothing has changed");
        gathered.touched.add(Change::Cluster);
        assert_eq!(gathered.arrange(at(0)), millis(150));
        gathered.touched.add(Change::Queue);
        assert_eq!(gathered.arrange(at(50)), None, "it is arranged");
        gathered.arranged = false;
        let touched = gathered.take(at(150));
        assert!(touched.cluster && touched.queue);
        gathered.touched.add(Change::Cluster);
        assert_eq!(gathered.arrange(at(250)), millis(900));
        gathered.arranged = false;
        gathered.take(at(1150));
        gathered.touched.add(Change::Cluster);
        assert_eq!(gathered.arrange(at(9000)), millis(150), "quiet is over");
    }
}
