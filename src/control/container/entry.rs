//! The way into a task by its SSH server, with the job's own keys.

use std::sync::Arc;
use std::time::Duration;

use database::tasks::Task;
use protocol::ids::JobKey;
use russh::client::{self, Config, Handle};
use russh::keys::{PrivateKey, PrivateKeyWithHashAlg, PublicKey};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::secrets::keys::{self, Pair};
use crate::shared::Shared;

pub(crate) mod host_check;

use host_check::HostCheck;

/// Getting in takes so long or fails.
const ENTER: Duration = Duration::from_secs(10);
/// How often a silent task is asked whether it is still there, and how often in vain.
const KEEPALIVE: (Duration, usize) = (Duration::from_secs(15), 3);
/// Bytes that a task may send before it hears from us. Little, so that a key that stops a flood of
/// output is not answered by all that is on its way.
const WINDOW: u32 = 128 * 1024;
/// Messages of a channel that wait for us.
const WAITING: usize = 8;

/// Why a container cannot be entered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
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

/// Enters a task that runs.
pub(crate) async fn enter(
    shared: &Shared,
    job: &JobKey,
    task: &Task,
) -> Result<Handle<HostCheck>, Failure> {
    enter_for(shared, job, task, WINDOW).await
}

/// Enters it for more than what a person types and reads: the task may send `window` bytes before it
/// hears from us.
pub(crate) async fn enter_for(
    shared: &Shared,
    job: &JobKey,
    task: &Task,
    window: u32,
) -> Result<Handle<HostCheck>, Failure> {
    let (true, Some(port)) = (shared.containers.guests.are_there(), task.placement.ssh_port())
    else {
        return Err(Failure::Unreachable);
    };
    let cluster = shared.nodes.cluster();
    let node = cluster.node(&task.placement.node);
    if node.is_some_and(|node| node.settings.is_simulated()) {
        // What is at the address that it pretends to have is somebody else's.
        return Err(Failure::Unreachable);
    }
    let host = keys::private_key(&shared.seal, task.key.job, job, Pair::Host);
    let entry = keys::private_key(&shared.seal, task.key.job, job, Pair::Entry);
    let host = host.public_key().clone();
    let connecting = connect((&task.placement.address, port), host, entry, window);
    timeout(ENTER, connecting).await.map_err(|_| Failure::Timeout)?
}

async fn connect(
    address: (&str, u16),
    host: PublicKey,
    entry: PrivateKey,
    window: u32,
) -> Result<Handle<HostCheck>, Failure> {
    let stream = TcpStream::connect(address).await.map_err(|_| Failure::Unreachable)?;
    stream.set_nodelay(true).map_err(|_| Failure::Unreachable)?;
    let config = Config {
        window_size: window,
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
