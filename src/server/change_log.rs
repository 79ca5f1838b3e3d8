use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use api::changes::{Change, Mark, News};
use bytes::{Bytes, BytesMut};
use control::Steady;
use futures::StreamExt;
use futures::stream::BoxStream;
use protocol::ids::{JobId, NodeName, UserName};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How many changes are remembered for those who come back: minutes of a busy cluster.
const KEPT: usize = 4096;
/// Changes that come together are told together, and of one thing once.
const GATHER: Duration = Duration::from_millis(100);

/// The changes since the server started.
#[derive(Debug)]
pub(crate) struct ChangeLog {
    run: u32,
    kept: Mutex<Kept>,
    ticker: watch::Sender<u64>,
}

/// The last changes, each with the event that tells it.
#[derive(Debug, Default)]
struct Kept {
    told: VecDeque<(Change, Bytes)>,
    /// The number of the last one.
    number: u64,
    /// The events that were told together last, and the number before them: nearly all who listen have
    /// heard up to there, and all are given the same bytes.
    latest: (u64, Bytes),
}

impl ChangeLog {
    pub(crate) fn new() -> Arc<Self> {
        let ticker = watch::Sender::new(0);
        Arc::new(Self { run: rand::random(), kept: Mutex::default(), ticker })
    }

    /// Hears what changes from now on, until the server stops. Where it breaks off, what was not heard before it
    /// begins anew is told as missed.
    pub(crate) fn listen(
        self: Arc<Self>,
        subscribe: impl Fn() -> BoxStream<'static, Change> + Send + Sync + 'static,
        steady: Arc<Steady>,
        shutdown: CancellationToken,
    ) -> impl Future<Output = ()> + Send + 'static {
        let first = Mutex::new(Some(subscribe()));
        async move {
            let begin = |stop| {
                let first = first.lock().unwrap_or_else(PoisonError::into_inner).take();
                let (news, subscribe) = (Arc::clone(&self), &subscribe);
                async move {
                    let heard = first.unwrap_or_else(|| {
                        let heard = subscribe();
                        news.tell(vec![Change::Missed]);
                        heard
                    });
                    news.run(heard, stop).await;
                }
            };
            steady.run("changes", begin, &shutdown).await;
        }
    }

    /// Numbers and writes what changes until the server stops.
    async fn run(
        self: Arc<Self>,
        mut changes: BoxStream<'static, Change>,
        shutdown: CancellationToken,
    ) {
        while let Some(Some(first)) = shutdown.run_until_cancelled(changes.next()).await {
            let mut together = vec![first];
            let more = async {
                while together.len() < KEPT
                    && let Some(change) = changes.next().await
                {
                    together.push(change);
                }
            };
            let _either_way = tokio::time::timeout(GATHER, more).await;
            self.tell(once_each(together));
        }
    }

    /// Up to where it is told at this moment.
    pub(crate) fn mark(&self) -> Mark {
        Mark { run: self.run, number: self.kept().number }
    }

    /// Wakes whoever waits for more.
    pub(crate) fn ticker(&self) -> watch::Receiver<u64> {
        self.ticker.subscribe()
    }

    /// All events after a mark and the mark after them; `None`: there is nothing new.
    pub(crate) fn records_after(&self, mark: Mark) -> Option<(Bytes, Mark)> {
        let kept = self.kept();
        let now = Mark { run: self.run, number: kept.number };
        if mark == now {
            return None;
        }
        let (before, latest) = &kept.latest;
        if mark == (Mark { number: *before, ..now }) {
            return Some((latest.clone(), now));
        }
        let Some(new) = kept.after(mark, self.run) else {
            return Some((record(now, &Change::Missed).into(), now));
        };
        let mut records = BytesMut::new();
        for (_, record) in new {
            records.extend_from_slice(record);
        }
        Some((records.freeze(), now))
    }

    /// The same for who asks.
    pub(crate) fn after(&self, mark: Option<Mark>) -> News {
        let kept = self.kept();
        let now = Mark { run: self.run, number: kept.number };
        let changes = match kept.after(mark.unwrap_or(now), self.run) {
            Some(new) => new.map(|(change, _)| change.clone()).collect(),
            None => vec![Change::Missed],
        };
        News { mark: now, changes }
    }

    fn tell(&self, changes: Vec<Change>) {
        let mut kept = self.kept();
        let before = kept.number;
        let (mut written, mut ends) = (BytesMut::new(), Vec::with_capacity(changes.len()));
        for change in &changes {
            kept.number += 1;
            let mark = Mark { run: self.run, number: kept.number };
            written.extend_from_slice(record(mark, change).as_bytes());
            ends.push(written.len());
        }
        let written = written.freeze();
        let mut begin = 0;
        for (change, end) in changes.into_iter().zip(ends) {
            kept.told.push_back((change, written.slice(begin..end)));
            begin = end;
        }
        kept.latest = (before, written);
        let surplus = kept.told.len().saturating_sub(KEPT);
        kept.told.drain(..surplus);
        self.ticker.send_replace(kept.number);
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// What came after a mark; `None`: some of it is forgotten, or the mark is of another run.
    fn after(&self, mark: Mark, run: u32) -> Option<impl Iterator<Item = &(Change, Bytes)>> {
        let new = usize::try_from(self.number.checked_sub(mark.number)?).ok()?;
        let known = self.told.len().checked_sub(new)?;
        (mark.run == run).then(|| self.told.range(known..))
    }
}

/// What a change is about.
#[derive(PartialEq, Eq, Hash)]
enum About<'c> {
    Job(JobId),
    Node(&'c NodeName),
    Image(&'c UserName),
    Cluster,
    Queue,
    Missed,
}

impl<'c> From<&'c Change> for About<'c> {
    fn from(change: &'c Change) -> Self {
        match change {
            Change::Job { id, key: _, state: _ } => Self::Job(*id),
            Change::Node { name } => Self::Node(name),
            Change::Image { owner } => Self::Image(owner),
            Change::Cluster => Self::Cluster,
            Change::Queue => Self::Queue,
            Change::Missed => Self::Missed,
        }
    }
}

/// Of a job its last state counts, of all else that it changed.
fn once_each(changes: Vec<Change>) -> Vec<Change> {
    let last = are_last(&changes);
    changes.into_iter().zip(last).filter(|(_, last)| *last).map(|(change, _)| change).collect()
}

/// Of each change whether no later one is about the same.
fn are_last(changes: &[Change]) -> Vec<bool> {
    let mut later = HashSet::new();
    let mut last: Vec<bool> =
        changes.iter().rev().map(|change| later.insert(About::from(change))).collect();
    last.reverse();
    last
}

/// A change as an event of the stream.
fn record(mark: Mark, change: &Change) -> String {
    let data = serde_json::to_string(change).unwrap_or_else(|error| {
        tracing::error!(%error, "a change cannot be written");
        r#"{"kind":"missed"}"#.to_owned()
    });
    format!("id: {mark}\ndata: {data}\n\n")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::Poll;

    use futures::stream;
    use protocol::ids::JobId;
    use protocol::state::State;

    use super::*;

    #[tokio::test]
    async fn changes_are_heard_after_a_panic_and_what_was_missed_is_told() {
        let (news, steady, stop) =
            (ChangeLog::new(), Arc::<Steady>::default(), CancellationToken::new());
        let (begin, mut ticker) = (news.mark(), news.ticker());
        let lives = AtomicU32::new(0);
        let subscribe = move || match lives.fetch_add(1, Ordering::SeqCst) {
            0 => stream::poll_fn(|_| -> Poll<Option<Change>> { panic!("of no kind") }).boxed(),
            _ => stream::iter([Change::Queue]).chain(stream::pending()).boxed(),
        };
        let listening = Arc::clone(&news).listen(subscribe, Arc::clone(&steady), stop.clone());
        let listening = tokio::spawn(listening);
        let heard = ticker.wait_for(|number| *number == 2);
        tokio::time::timeout(Duration::from_secs(10), heard).await.unwrap().unwrap();
        assert_eq!(news.after(Some(begin)).changes, [Change::Missed, Change::Queue]);
        assert_eq!((steady.panics(), steady.problem()), (1, None));
        stop.cancel();
        listening.await.unwrap();
    }

    fn job(id: i64, state: State) -> Change {
        Change::Job { id: JobId(id), key: format!("ada~job-{id}").parse().unwrap(), state }
    }

    #[test]
    fn who_comes_back_hears_what_he_missed_and_no_more() {
        let news = ChangeLog::new();
        let begin = news.mark();
        assert_eq!(news.records_after(begin), None);
        news.tell(vec![Change::Cluster, Change::Queue]);
        let middle = news.mark();
        news.tell(vec![Change::Cluster]);
        let heard = |mark| news.after(Some(mark)).changes;
        assert_eq!(heard(begin), [Change::Cluster, Change::Queue, Change::Cluster]);
        assert_eq!(heard(middle), [Change::Cluster]);
        assert_eq!(heard(news.mark()), []);
        let (records, mark) = news.records_after(middle).unwrap();
        assert_eq!(mark, news.mark());
        let expected = format!("id: {mark}\ndata: {{\"kind\":\"cluster\"}}\n\n");
        assert_eq!(records, expected.as_bytes());
    }

    #[test]
    fn what_is_forgotten_or_of_another_run_is_missed() {
        let news = ChangeLog::new();
        let begin = news.mark();
        let other_run = Mark { run: begin.run.wrapping_add(1), ..begin };
        news.tell(vec![Change::Queue; KEPT]);
        assert_eq!(news.after(Some(begin)).changes.len(), KEPT);
        news.tell(vec![Change::Queue]);
        assert_eq!(news.kept().told.len(), KEPT);
        let to_come = Mark { number: u64::MAX, ..begin };
        for mark in [begin, other_run, to_come] {
            assert_eq!(news.after(Some(mark)).changes, [Change::Missed], "{mark}");
            let (records, now) = news.records_after(mark).unwrap();
            assert!(records.ends_with(b"data: {\"kind\":\"missed\"}\n\n"));
            assert_eq!(now, news.mark());
        }
    }

    #[test]
    fn what_many_listen_to_is_written_once() {
        let news = ChangeLog::new();
        let begin = news.mark();
        news.tell(vec![Change::Cluster, Change::Queue]);
        let middle = news.mark();
        news.tell((1..=100).map(|id| job(id, State::Running)).collect());
        let (one, _) = news.records_after(middle).unwrap();
        let (other, now) = news.records_after(middle).unwrap();
        assert_eq!((one.as_ptr(), now), (other.as_ptr(), news.mark()), "both have the same bytes");
        let (all, _) = news.records_after(begin).unwrap();
        assert!(all.ends_with(&one));
        assert!(all.starts_with(format!("id: {}.1\ndata: ", begin.run).as_bytes()));
        let told = all.windows(4).filter(|part| *part == b"id: ").count();
        assert_eq!(told, 102);
        let before_the_last = Mark { number: now.number - 1, ..now };
        let (last, _) = news.records_after(before_the_last).unwrap();
        assert!(one.ends_with(&last) && last.len() < 200);
    }

    #[test]
    fn of_one_thing_it_is_told_once() {
        let node = |name: &str| Change::Node { name: name.parse().unwrap() };
        let together = vec![
            job(1, State::Waiting),
            node("a"),
            Change::Cluster,
            job(2, State::Running),
            node("b"),
            job(1, State::Running),
            node("a"),
            Change::Cluster,
        ];
        let once =
            [job(2, State::Running), node("b"), job(1, State::Running), node("a"), Change::Cluster];
        assert_eq!(once_each(together), once);
    }
}
