use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use api::changes::{Change, Mark, News};
use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use futures::stream::BoxStream;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How many changes are remembered for those who come back: minutes of a busy cluster.
const KEPT: usize = 4096;
/// Changes that come together are told together, and of one thing once.
const GATHER: Duration = Duration::from_millis(100);

/// The changes since the server started.
#[derive(Debug)]
pub(crate) struct Newsroom {
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
}

impl Newsroom {
    pub(crate) fn new() -> Arc<Self> {
        let ticker = watch::Sender::new(0);
        Arc::new(Self { run: rand::random(), kept: Mutex::default(), ticker })
    }

    /// Numbers and writes what changes until the server stops.
    pub(crate) async fn run(
        self: Arc<Self>,
        mut changes: BoxStream<'static, Change>,
        shutdown: CancellationToken,
    ) {
        while let Some(Some(first)) = shutdown.run_until_cancelled(changes.next()).await {
            let mut together = vec![first];
            let more = async {
                while let Some(change) = changes.next().await {
                    add(&mut together, change);
                }
            };
            let _either_way = tokio::time::timeout(GATHER, more).await;
            self.tell(together);
        }
    }

    /// Up to where it is told at this moment.
    pub(crate) fn mark(&self) -> Mark {
        Mark { run: self.run, number: self.kept().number }
    }

    /// Wakes whoever waits for more.
    pub(super) fn ticker(&self) -> watch::Receiver<u64> {
        self.ticker.subscribe()
    }

    /// All events after a mark and the mark after them; `None`: there is nothing new.
    pub(super) fn records_after(&self, mark: Mark) -> Option<(Bytes, Mark)> {
        let kept = self.kept();
        let now = Mark { run: self.run, number: kept.number };
        if mark == now {
            return None;
        }
        let Some(new) = kept.after(mark, self.run) else {
            return Some((record(now, &Change::Missed), now));
        };
        let mut records = BytesMut::new();
        for (_, record) in new {
            records.extend_from_slice(record);
        }
        Some((records.freeze(), now))
    }

    /// The same for who asks.
    pub(super) fn after(&self, mark: Option<Mark>) -> News {
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
        for change in changes {
            kept.number += 1;
            let record = record(Mark { run: self.run, number: kept.number }, &change);
            kept.told.push_back((change, record));
        }
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

/// Of a job its last state counts, of all else that it changed.
fn add(together: &mut Vec<Change>, change: Change) {
    let same = |other: &Change| match (other, &change) {
        (Change::Job { id: one, .. }, Change::Job { id: other, .. }) => one == other,
        (one, other) => one == other,
    };
    together.retain(|other| !same(other));
    together.push(change);
}

/// A change as an event of the stream.
fn record(mark: Mark, change: &Change) -> Bytes {
    let data = serde_json::to_string(change).unwrap_or_else(|error| {
        tracing::error!(%error, "a change cannot be written");
        r#"{"kind":"missed"}"#.to_owned()
    });
    Bytes::from(format!("id: {mark}\ndata: {data}\n\n"))
}

#[cfg(test)]
mod tests {
    use protocol::ids::JobId;
    use protocol::state::State;

    use super::*;

    fn job(id: i64, state: State) -> Change {
        Change::Job { id: JobId(id), key: format!("ada~job-{id}").parse().unwrap(), state }
    }

    #[test]
    fn who_comes_back_hears_what_he_missed_and_no_more() {
        let news = Newsroom::new();
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
        let news = Newsroom::new();
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
    fn of_one_thing_it_is_told_once() {
        let mut together = vec![job(1, State::Waiting)];
        for change in
            [Change::Cluster, job(2, State::Running), job(1, State::Running), Change::Cluster]
        {
            add(&mut together, change);
        }
        assert_eq!(together, [job(2, State::Running), job(1, State::Running), Change::Cluster]);
    }
}
