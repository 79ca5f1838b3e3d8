//! Bodies on their way: piece by piece, never faster than they are taken.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures::{StreamExt, stream};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::places::Place;
use super::tunnel::{self, StillAllowed};

/// How long a task may say nothing in the middle of an answer. Streams of events are often quiet.
const SILENCE: Duration = Duration::from_secs(3_600);
/// How long a client may take nothing. After that the task is let go.
const SLOWNESS: Duration = Duration::from_secs(120);
/// Pieces that wait for the client.
const PIECES: usize = 2;

/// When something last happened.
#[derive(Debug, Clone)]
pub(super) struct Activity {
    began: Instant,
    last: Arc<AtomicU64>,
}

impl Activity {
    pub(super) fn begin() -> Self {
        Self { began: Instant::now(), last: Arc::default() }
    }

    pub(super) fn note(&self) {
        let elapsed = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last.store(elapsed, Ordering::Relaxed);
    }

    /// Returns when nothing has happened for so long.
    pub(super) async fn silent_for(&self, limit: Duration) {
        loop {
            let last = Duration::from_millis(self.last.load(Ordering::Relaxed));
            let deadline = self.began + last + limit;
            if Instant::now() >= deadline {
                return;
            }
            tokio::time::sleep_until(deadline).await;
        }
    }
}

/// A request's body that notes when a piece of it is taken.
pub(super) fn noted(body: Body, activity: Activity) -> Body {
    Body::from_stream(body.into_data_stream().inspect(move |_| activity.note()))
}

/// An answer's body. The task is let go when the client takes nothing for long, when its user may
/// no more, and when we stop; whoever got only a part by then is told so by the end of his
/// connection.
pub(super) fn relayed(
    body: Body,
    place: Place,
    (tasks, stop): (&TaskTracker, CancellationToken),
    still_allowed: StillAllowed,
) -> Body {
    let (pieces, taken) = mpsc::channel(PIECES);
    tasks.spawn(async move {
        tokio::select! {
            () = relay(body, pieces) => {}
            () = tunnel::revoked(&still_allowed) => {}
            () = stop.cancelled() => {}
        }
        drop(place);
    });
    Body::from_stream(stream::unfold(taken, async |mut taken: mpsc::Receiver<Piece>| {
        match taken.recv().await {
            Some(Piece::Bytes(bytes)) => Some((Ok(bytes), taken)),
            Some(Piece::End) => None,
            None => {
                taken.close();
                Some((Err("the answer was cut off"), taken))
            }
        }
    }))
}

enum Piece {
    Bytes(Bytes),
    /// That was all. Without it something is missing.
    End,
}

async fn relay(body: Body, pieces: mpsc::Sender<Piece>) {
    let mut body = body.into_data_stream();
    while let Ok(next) = timeout(SILENCE, body.next()).await {
        let piece = match next {
            Some(Ok(bytes)) => Piece::Bytes(bytes),
            Some(Err(_)) => return,
            None => Piece::End,
        };
        let ended = matches!(piece, Piece::End);
        let taken = timeout(SLOWNESS, pieces.send(piece)).await;
        if ended || !matches!(taken, Ok(Ok(()))) {
            return;
        }
    }
}
