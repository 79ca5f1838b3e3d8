//! WebSockets: two byte streams copied into each other.

use std::io;
use std::time::Duration;

use futures::future::BoxFuture;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};
use tokio::time::{interval, timeout};

use super::body::Activity;

/// How long neither side may say anything.
const SILENCE: Duration = Duration::from_secs(4 * 3_600);
/// How long one side may take nothing.
const SLOWNESS: Duration = Duration::from_secs(120);
/// How often it is asked whether the user still may.
const RECHECK: Duration = Duration::from_secs(5);
/// Bytes on their way, each way.
const PIECE: usize = 16 * 1024;

/// Asks whether the user still may.
pub(super) type StillAllowed = Box<dyn Fn() -> BoxFuture<'static, bool> + Send + Sync>;

/// Copies until both sides have ended, one fails or is silent, or the user may no longer.
pub(super) async fn run(client: Upgraded, task: Upgraded, still_allowed: &StillAllowed) {
    let (client_reads, client_writes) = split(TokioIo::new(client));
    let (task_reads, task_writes) = split(TokioIo::new(task));
    let activity = Activity::begin();
    let both = async {
        tokio::try_join!(
            copy(client_reads, task_writes, &activity),
            copy(task_reads, client_writes, &activity)
        )
    };
    tokio::select! {
        // Whoever goes away at any moment is no failure of ours.
        _ended_or_broken = both => {}
        () = activity.silent_for(SILENCE) => {}
        () = revoked(still_allowed) => {}
    }
}

/// Returns when the user may no more.
pub(super) async fn revoked(still_allowed: &StillAllowed) {
    let mut tick = interval(RECHECK);
    // He was asked for just now.
    tick.tick().await;
    loop {
        tick.tick().await;
        if !still_allowed().await {
            return;
        }
    }
}

async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    activity: &Activity,
) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        let length = from.read(&mut piece).await?;
        activity.note();
        if length == 0 {
            return to.shutdown().await;
        }
        let write = async {
            to.write_all(&piece[..length]).await?;
            to.flush().await
        };
        timeout(SLOWNESS, write).await??;
    }
}
