//! A shell in a container: by its SSH server, or by the engine where that is not reached.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use api::terminals::TerminalSize;
use bytes::Bytes;
use database::tasks::Task;
use engine::{Engine, Exec};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use protocol::ids::JobKey;
use russh::client::{Handle, Msg};
use russh::{Channel, ChannelMsg, ChannelReadHalf, ChannelWriteHalf};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use crate::container::entry::host_check::HostCheck;
use crate::container::entry::{self, Failure};
use crate::known::cluster::Observation;
use crate::known::identity::Identity;
use crate::known::nodes::KnownNodes;
use crate::shared::Shared;

/// What programs in it take the terminal for.
const KIND: &str = "xterm-256color";
/// A shell opens within so long or not at all.
const OPEN: Duration = Duration::from_secs(10);
/// The best shell of an image without our program.
const ANY_SHELL: &str =
    "export TERM=xterm-256color; command -v bash >/dev/null && exec bash -l; exec sh -l";

/// What comes out of a shell.
#[derive(Debug)]
pub(super) enum Said {
    Output(Bytes),
    /// It has ended, with this exit code if it told one.
    Exited(Option<u32>),
    /// It cannot be heard any more.
    Lost,
}

/// An open shell.
pub(super) struct Shell {
    pub(super) said: BoxStream<'static, Said>,
    pub(super) hand: Hand,
    /// How it was entered, for the audit log.
    pub(super) way: &'static str,
}

/// What types into a shell.
pub(super) enum Hand {
    Ssh { channel: ChannelWriteHalf<Msg>, _connection: Handle<HostCheck> },
    Exec { engine: Arc<dyn Engine>, id: String, input: Pin<Box<dyn AsyncWrite + Send>> },
}

impl Hand {
    /// Types; `false`: nobody takes it.
    pub(super) async fn write(&mut self, bytes: Bytes) -> bool {
        match self {
            Self::Ssh { channel, .. } => channel.data_bytes(bytes).await.is_ok(),
            Self::Exec { input, .. } => {
                input.write_all(&bytes).await.is_ok() && input.flush().await.is_ok()
            }
        }
    }

    pub(super) async fn resize(&mut self, size: TerminalSize) {
        let TerminalSize { columns, rows } = size;
        match self {
            Self::Ssh { channel, .. } => {
                // A shell that has ended has no size.
                let _ = channel.window_change(columns.into(), rows.into(), 0, 0).await;
            }
            Self::Exec { engine, id, .. } => {
                let _ = engine.resize_exec(id, columns, rows).await;
            }
        }
    }

    /// Hangs up: what runs in it is told by the kernel.
    pub(super) async fn hang_up(mut self) {
        match &mut self {
            Self::Ssh { channel, .. } => {
                let _ = channel.close().await;
            }
            Self::Exec { input, .. } => {
                let _ = input.shutdown().await;
            }
        }
    }
}

/// Opens a shell in a task that runs.
pub(super) async fn open(
    shared: &Shared,
    job: &JobKey,
    task: &Task,
    size: TerminalSize,
) -> Result<Shell, Failure> {
    let entered = by_ssh(shared, job, task, size).await;
    match entered {
        // Whoever answers there is not asked for another way in.
        Ok(_) | Err(Failure::Impostor | Failure::Denied) => entered,
        Err(ssh) => {
            by_engine(&shared.identity, &shared.nodes, task, size).await.map_err(|failure| {
                match failure {
                    Failure::Unreachable => ssh,
                    other => other,
                }
            })
        }
    }
}

async fn by_ssh(
    shared: &Shared,
    job: &JobKey,
    task: &Task,
    size: TerminalSize,
) -> Result<Shell, Failure> {
    let connection = entry::enter(shared, job, task).await?;
    let opening = async { begin(connection.channel_open_session().await?, size).await };
    let channel = timeout(OPEN, opening).await.map_err(|_| Failure::Timeout)??;
    let (heard, channel) = channel.split();
    let hand = Hand::Ssh { channel, _connection: connection };
    Ok(Shell { said: said_by_ssh(heard), hand, way: "ssh" })
}

async fn begin(mut channel: Channel<Msg>, size: TerminalSize) -> Result<Channel<Msg>, Failure> {
    let TerminalSize { columns, rows } = size;
    channel.request_pty(false, KIND, columns.into(), rows.into(), 0, 0, &[]).await?;
    channel.set_env(false, "COLORTERM", "truecolor").await?;
    channel.request_shell(true).await?;
    loop {
        match channel.wait().await {
            Some(ChannelMsg::Success) => return Ok(channel),
            Some(ChannelMsg::Failure | ChannelMsg::Close) | None => return Err(Failure::Denied),
            Some(_) => {}
        }
    }
}

fn said_by_ssh(heard: ChannelReadHalf) -> BoxStream<'static, Said> {
    stream::unfold(Some((heard, None)), async |state| {
        let (mut heard, mut code) = state?;
        loop {
            let said = match heard.wait().await {
                Some(ChannelMsg::Data { data } | ChannelMsg::ExtendedData { data, .. }) => {
                    return Some((Said::Output(data), Some((heard, code))));
                }
                Some(ChannelMsg::ExitStatus { exit_status }) => {
                    code = Some(Some(exit_status));
                    continue;
                }
                Some(ChannelMsg::ExitSignal { .. }) => {
                    code = Some(None);
                    continue;
                }
                Some(ChannelMsg::Close) | None => code.map_or(Said::Lost, Said::Exited),
                Some(_) => continue,
            };
            return Some((said, None));
        }
    })
    .boxed()
}

async fn by_engine(
    identity: &Identity,
    nodes: &KnownNodes,
    task: &Task,
    size: TerminalSize,
) -> Result<Shell, Failure> {
    let engine = match nodes.observations().get(&task.placement.node) {
        Some(Observation::Answers { engine, .. }) => Arc::clone(engine),
        Some(Observation::Silent) | None => return Err(Failure::Unreachable),
    };
    let name = task.key.container_name(&identity.installation);
    let command = ["/bin/sh", "-c", ANY_SHELL].map(str::to_owned).to_vec();
    let Exec { input, output, id } = engine.exec(&name, command, true).await?;
    let _ = engine.resize_exec(&id, size.columns, size.rows).await;
    let said = said_by_engine(Arc::clone(&engine), id.clone(), output);
    Ok(Shell { said, hand: Hand::Exec { engine, id, input }, way: "engine" })
}

fn said_by_engine(
    engine: Arc<dyn Engine>,
    id: String,
    output: BoxStream<'static, engine::Result<engine::LogChunk>>,
) -> BoxStream<'static, Said> {
    let said = output.map(|chunk| match chunk {
        Ok(chunk) => Said::Output(chunk.bytes),
        Err(_) => Said::Lost,
    });
    let end = stream::once(async move {
        let code = engine.exec_code(&id).await.ok().flatten();
        Said::Exited(code.and_then(|code| u32::try_from(code).ok()))
    });
    said.chain(end).boxed()
}
