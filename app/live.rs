//! What changes on the server, as it changes: one event stream a browser tab, whose messages wake
//! topics. A topic is a counter; resources have it among their sources and read again.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use api::changes::Change;
use leptos::prelude::*;
use protocol::ids::JobKey;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{EventSource, MessageEvent};

use crate::session::Session;

/// Where the server tells what changes.
const EVENTS: &str = "/api/events";
/// Changes that come together wake their topics once.
const GATHER: Duration = Duration::from_millis(250);
/// Waiting before each new connection, in seconds; the last one repeats.
const BACK_OFF: [u64; 6] = [0, 1, 2, 4, 8, 10];

/// Whether the page has been taken over from the server. Before that it reads nothing anew, so what
/// changes meanwhile must not be told yet.
#[derive(Debug, Clone)]
pub(crate) struct Alive(pub(crate) ArcRwSignal<bool>);

/// Topics that pages can follow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Live {
    jobs: RwSignal<u64>,
    nodes: RwSignal<u64>,
    cluster: RwSignal<u64>,
    queue: RwSignal<u64>,
    images: RwSignal<u64>,
    followed: StoredValue<BTreeMap<JobKey, ArcRwSignal<u64>>>,
    lost: RwSignal<bool>,
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
}

impl Live {
    /// Provides the topics; in the browser, connects for who is signed in.
    pub(crate) fn provide(session: Session) {
        let live = Live {
            jobs: RwSignal::new(0),
            nodes: RwSignal::new(0),
            cluster: RwSignal::new(0),
            queue: RwSignal::new(0),
            images: RwSignal::new(0),
            followed: StoredValue::new(BTreeMap::new()),
            lost: RwSignal::new(false),
        };
        provide_context(live);
        let alive = use_context::<Alive>();
        Effect::new(move |_| {
            if alive.as_ref().is_some_and(|alive| alive.0.get()) && session.actor().is_some() {
                connect(live, 0);
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

    /// Whether the connection is lost at the moment.
    pub(crate) fn lost(self) -> Signal<bool> {
        self.lost.into()
    }

    fn wake(self, touched: &Touched) {
        let bump = |topic: RwSignal<u64>| topic.update(|count| *count += 1);
        if touched.all || !touched.jobs.is_empty() {
            bump(self.jobs);
        }
        if touched.all || touched.nodes {
            bump(self.nodes);
        }
        if touched.all || touched.cluster {
            bump(self.cluster);
        }
        if touched.all || touched.queue {
            bump(self.queue);
        }
        if touched.all || touched.images {
            bump(self.images);
        }
        let followed = self.followed.try_get_value().unwrap_or_default();
        for (key, topic) in followed {
            if touched.all || touched.jobs.contains(&key) {
                topic.update(|count| *count += 1);
            }
        }
    }
}

/// Opens the stream; when it breaks, opens it again after a while. What was missed meanwhile is
/// read anew.
fn connect(live: Live, tries: usize) {
    let Ok(source) = EventSource::new(EVENTS) else {
        return;
    };
    on_message(&source, live);
    let opened = Closure::<dyn FnMut()>::new(move || {
        live.lost.set(false);
        // Also the first time: the page was rendered before the stream was open.
        live.wake(&Touched { all: true, ..Touched::default() });
    });
    source.set_onopen(Some(opened.as_ref().unchecked_ref()));
    opened.forget();
    let broken = source.clone();
    let failed = Closure::<dyn FnMut()>::new(move || {
        broken.close();
        live.lost.set(true);
        let wait = BACK_OFF[tries.min(BACK_OFF.len() - 1)];
        set_timeout(move || connect(live, tries + 1), Duration::from_secs(wait));
    });
    source.set_onerror(Some(failed.as_ref().unchecked_ref()));
    failed.forget();
}

/// Gathers the messages of a moment, then wakes their topics.
fn on_message(source: &EventSource, live: Live) {
    let gathered: Rc<RefCell<Option<Touched>>> = Rc::default();
    let received = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        let Some(change) =
            event.data().as_string().and_then(|text| serde_json::from_str(&text).ok())
        else {
            return;
        };
        let first = gathered.borrow().is_none();
        gathered.borrow_mut().get_or_insert_default().add(change);
        if first {
            let gathered = Rc::clone(&gathered);
            set_timeout(
                move || {
                    let touched = gathered.borrow_mut().take().unwrap_or_default();
                    live.wake(&touched);
                },
                GATHER,
            );
        }
    });
    source.set_onmessage(Some(received.as_ref().unchecked_ref()));
    received.forget();
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
}
