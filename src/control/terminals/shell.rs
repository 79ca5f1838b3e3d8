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
use russh::client::{self, Config, Handle, Msg};
use russh::keys::{PrivateKey, PrivateKeyWithHashAlg, PublicKey, PublicKeyOrCertificate};
use russh::{Channel, ChannelMsg, ChannelReadHalf, ChannelWriteHalf};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::cluster::Observation;
use crate::keys::{self, Pair};
use crate::shared::Shared;

/// What programs in it take the terminal for.
const KIND: &str = "xterm-256color";
/// Getting in takes so long or fails.
const ENTER: Duration = Duration::from_secs(10);
/// How often a silent task is asked whether it is still there, and how often in vain.
const KEEPALIVE: (Duration, usize) = (Duration::from_secs(15), 3);
/// Bytes that a task may send before it hears from us. Little, so that a key that stops a flood of
/// output is not answered by all that is on its way.
const WINDOW: u32 = 128 * 1024;
/// Messages of a channel that wait for us.
const WAITING: usize = 8;
/// The best shell of an image without our program.
const ANY_SHELL: &str =
    "export TERM=xterm-256color; command -v bash >/dev/null && exec bash -l; exec sh -l";

/// Why a container cannot be entered.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("it cannot be reached")]
    Unreachable,
    #[error("its SSH server is not the one it was given")]
    Impostor,
    #[error("it does not take the job's key")]
    Denied,
    #[error("it takes too long")]
    Timeout,
    #[error(transparent)]
    Protocol(#[from] russh::Error),
    #[error(transparent)]
    Engine(#[from] engine::EngineError),
}

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
    let entered = match (&shared.guest, task.placement.ssh_port()) {
        (Some(_), Some(port)) => by_ssh(shared, job, task, port, size).await,
        _ => Err(Failure::Unreachable),
    };
    match entered {
        // Whoever answers there is not asked for another way in.
        Ok(_) | Err(Failure::Impostor | Failure::Denied) => entered,
        Err(ssh) => by_engine(shared, task, size).await.map_err(|failure| match failure {
            Failure::Unreachable => ssh,
            other => other,
        }),
    }
}

async fn by_ssh(
    shared: &Shared,
    job: &JobKey,
    task: &Task,
    port: u16,
    size: TerminalSize,
) -> Result<Shell, Failure> {
    let host = keys::private_key(&shared.seal, task.key.job, job, Pair::Host);
    let entry = keys::private_key(&shared.seal, task.key.job, job, Pair::Entry);
    let address = task.placement.address.as_str();
    let entering = async {
        let connection = connect(address, port, host.public_key().clone(), entry).await?;
        let channel = connection.channel_open_session().await?;
        let channel = begin(channel, size).await?;
        let (heard, channel) = channel.split();
        let hand = Hand::Ssh { channel, _connection: connection };
        Ok(Shell { said: said_by_ssh(heard), hand, way: "ssh" })
    };
    timeout(ENTER, entering).await.map_err(|_| Failure::Timeout)?
}

async fn connect(
    address: &str,
    port: u16,
    host: PublicKey,
    entry: PrivateKey,
) -> Result<Handle<HostCheck>, Failure> {
    let stream = TcpStream::connect((address, port)).await.map_err(|_| Failure::Unreachable)?;
    stream.set_nodelay(true).map_err(|_| Failure::Unreachable)?;
    let config = Config {
        window_size: WINDOW,
        channel_buffer_size: WAITING,
        keepalive_interval: Some(KEEPALIVE.0),
        keepalive_max: KEEPALIVE.1,
        nodelay: true,
        ..Config::default()
    };
    let opened = client::connect_stream(Arc::new(config), stream, HostCheck(host)).await;
    let mut connection = opened.map_err(|error| match error {
        russh::Error::UnknownKey => Failure::Impostor,
        other => Failure::Protocol(other),
    })?;
    let key = PrivateKeyWithHashAlg::new(Arc::new(entry), None);
    if connection.authenticate_publickey("root", key).await?.success() {
        Ok(connection)
    } else {
        Err(Failure::Denied)
    }
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

/// Whether the server is the one that the task was given the key for.
pub(super) struct HostCheck(PublicKey);

impl client::Handler for HostCheck {
    type Error = russh::Error;

    async fn check_server_key(
        &mut self,
        shown: &PublicKeyOrCertificate,
    ) -> Result<bool, Self::Error> {
        let PublicKeyOrCertificate::PublicKey { key, .. } = shown else { return Ok(false) };
        Ok(key.key_data() == self.0.key_data())
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

async fn by_engine(shared: &Shared, task: &Task, size: TerminalSize) -> Result<Shell, Failure> {
    let engine = match shared.observations().get(&task.placement.node) {
        Some(Observation::Answers { engine, .. }) => Arc::clone(engine),
        Some(Observation::Silent) | None => return Err(Failure::Unreachable),
    };
    let name = task.key.container_name(&shared.installation);
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
