//! Connections to what tasks serve: through their guests, which are known by their host keys and
//! connect to nobody but the task's own programs. A node's address and a port alone would lead to
//! whoever happens to listen there.
//!
//! A session of SSH carries one connection at a time: were it shared, a reader that does not read
//! would hold up all others. What a session was entered for costs some round trips, so one that is
//! done is kept for the next connection to the same task.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use api::proxy::{NoWay, TaskStream, Way};
use async_trait::async_trait;
use database::tasks::Task;
use futures::io::{AsyncRead, AsyncWrite};
use protocol::guest::OWN_HOST;
use protocol::ids::{JobKey, TaskKey};
use russh::ChannelStream;
use russh::client::{Handle, Msg};
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::container::entry::host_check::HostCheck;
use crate::container::entry::{self, Failure};
use crate::known::passes::{Passes, Rhythm};
use crate::shared::Shared;

pub(crate) mod idle;

use idle::REST;

/// A connection comes about within so long or not at all. A guest gives up before.
const CONNECT: Duration = Duration::from_secs(30);
/// Bytes that a task may send before it hears from us.
const WINDOW: u32 = 1 << 20;
/// Sessions wait a little longer without it.
pub(crate) const RHYTHM: Rhythm = Rhythm::beside(Duration::from_secs(300));

/// Runs until shutdown; then lets go of all sessions.
pub(crate) async fn run(shared: Arc<Shared>, passes: Arc<Passes>, shutdown: CancellationToken) {
    while tokio::time::timeout(REST / 4, shutdown.cancelled()).await.is_err() {
        let began = Instant::now();
        shared.containers.tunnels.tidy();
        passes.ended(began);
    }
    shared.containers.tunnels.clear();
}

/// The way to a port of a task.
#[derive(Debug)]
pub(crate) struct Tunnel {
    pub(crate) shared: Arc<Shared>,
    pub(crate) job: JobKey,
    pub(crate) task: Task,
    pub(crate) port: u16,
}

#[async_trait]
impl Way for Tunnel {
    async fn connect(&self) -> Result<Pin<Box<dyn TaskStream>>, NoWay> {
        match timeout(CONNECT, self.open()).await {
            Ok(opened) => opened,
            Err(_) => Err(NoWay::Unreachable),
        }
    }
}

impl Tunnel {
    async fn open(&self) -> Result<Pin<Box<dyn TaskStream>>, NoWay> {
        let key = self.task.key;
        while let Some(session) = self.shared.containers.tunnels.take(&key) {
            match self.forward(session).await {
                // It has been closed meanwhile: another one may not.
                Err(NoWay::Unreachable) => {}
                answer => return answer,
            }
        }
        let entered = entry::enter_for(&self.shared, &self.job, &self.task, WINDOW).await;
        let session = entered.map_err(|failure| {
            match failure {
                Failure::Impostor | Failure::Denied => {
                    tracing::warn!(task = ?key, %failure, "what a task serves is not asked for");
                }
                Failure::Unreachable
                | Failure::Timeout
                | Failure::Protocol(_)
                | Failure::Engine(_) => {
                    tracing::debug!(task = ?key, %failure, "a task cannot be entered");
                }
            }
            NoWay::Unreachable
        })?;
        self.forward(session).await
    }

    async fn forward(&self, session: Handle<HostCheck>) -> Result<Pin<Box<dyn TaskStream>>, NoWay> {
        let (key, port) = (self.task.key, u32::from(self.port));
        match session.channel_open_direct_tcpip(OWN_HOST, port, "127.0.0.1", 0).await {
            Ok(channel) => Ok(Box::pin(Connection {
                stream: channel.into_stream(),
                session: Some(session),
                task: key,
                shared: Arc::clone(&self.shared),
            })),
            Err(russh::Error::ChannelOpenFailure(_)) => {
                self.shared.containers.tunnels.give(key, session);
                Err(NoWay::NotListening)
            }
            Err(_) => Err(NoWay::Unreachable),
        }
    }
}

/// A connection; its session goes back when it ends.
struct Connection {
    stream: ChannelStream<Msg>,
    session: Option<Handle<HostCheck>>,
    task: TaskKey,
    shared: Arc<Shared>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            self.shared.containers.tunnels.give(self.task, session);
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let mut read = ReadBuf::new(bytes);
        ready!(Pin::new(&mut self.stream).poll_read(cx, &mut read))?;
        Poll::Ready(Ok(read.filled().len()))
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
