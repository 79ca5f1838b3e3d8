//! Conversations with tasks about their leases; how no two attempts ever run at the same time is said in
//! [`protocol::lease`].

use std::sync::Arc;
use std::time::Duration;

use engine::ContainerStatus;
use hmac::{Hmac, KeyInit, Mac};
use protocol::epoch::Epoch;
use protocol::guest::GuestLease;
use protocol::ids::TaskKey;
use protocol::lease::{GREETING, HEARD, NONCE_BYTES, Nonce, PROOF_BYTES, answer, question};
use sha2::Sha256;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::known::cluster::Observation;
use crate::known::leases::Leased;
use crate::secrets::sealing::{Seal, random};
use crate::shared::Shared;

/// A conversation takes so long or fails.
const TALK: Duration = Duration::from_secs(5);

/// Why a task has not heard.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("it cannot be reached: {0}")]
    Unreachable(#[from] std::io::Error),
    #[error("it takes too long")]
    Timeout,
    #[error("who answers there is not the task")]
    Stranger,
    #[error("its lease is over")]
    Over,
    #[error("it is not known whether this server leads")]
    Doubt,
    #[error("its simulated node does not answer, or it does not run")]
    Simulated,
}

/// What a task's guest is told of a lease of so many seconds.
pub(crate) fn told(
    (seal, installation): (&Seal, &str),
    run: (&TaskKey, Epoch),
    seconds: u32,
) -> GuestLease {
    GuestLease { seconds: seconds.into(), key: key(seal, installation, run).to_vec() }
}

/// What server and guest know each other by: of each run of each task another, and another one where its
/// name comes again in another life of the database.
fn key(seal: &Seal, installation: &str, (task, epoch): (&TaskKey, Epoch)) -> [u8; 32] {
    seal.derive(&format!("lease of {} of {epoch}", task.container_name(installation)))
}

/// Lets a task run on, from the moment at which its guest asks for it.
pub(crate) async fn renew(shared: &Shared, task: &Leased) -> Result<(), Failure> {
    if !shared.store.database.fencing_token().acts() {
        return Err(Failure::Doubt);
    }
    let cluster = shared.nodes.cluster();
    let node = cluster.node(&task.node);
    if node.is_some_and(|node| node.settings.is_simulated()) {
        return renew_simulated(shared, task).await;
    }
    timeout(TALK, talk(shared, task)).await.map_err(|_late| Failure::Timeout)?
}

/// What is at the address that it pretends to have is somebody else's: its engine speaks for it.
async fn renew_simulated(shared: &Shared, task: &Leased) -> Result<(), Failure> {
    let engine = match shared.nodes.observations().get(&task.node) {
        Some(Observation::Answers { engine, .. }) => Arc::clone(engine),
        Some(Observation::Silent) | None => return Err(Failure::Simulated),
    };
    let name = task.key.container_name(&shared.identity.installation);
    let found = engine.inspect(&name).await.ok().flatten();
    let runs = found.is_some_and(|found| {
        found.epoch == task.epoch && matches!(found.status, ContainerStatus::Running { .. })
    });
    if runs && shared.jobs.leases.answers(&task.key) { Ok(()) } else { Err(Failure::Simulated) }
}

async fn talk(shared: &Shared, task: &Leased) -> Result<(), Failure> {
    let key = key(&shared.seal, &shared.identity.installation, (&task.key, task.epoch));
    let mut stream = TcpStream::connect((task.address.as_str(), task.port)).await?;
    stream.set_nodelay(true)?;
    let ours: Nonce = random();
    stream.write_all(&[GREETING.as_slice(), ours.as_slice()].concat()).await?;
    let mut theirs: Nonce = [0; NONCE_BYTES];
    stream.read_exact(&mut theirs).await?;
    let mut proof = [0; PROOF_BYTES];
    stream.read_exact(&mut proof).await?;
    let asks = mac(&key, &question(&ours, &theirs)).verify_slice(&proof);
    asks.map_err(|_other| Failure::Stranger)?;
    // Once another server leads, that one counts from its own beginning for how long the task may run.
    if !shared.store.database.fencing_token().acts() {
        return Err(Failure::Doubt);
    }
    // From here on it may run for its lease, whether or not the answer arrives.
    if !shared.jobs.leases.answers(&task.key) {
        return Err(Failure::Over);
    }
    let proof = mac(&key, &answer(&ours, &theirs)).finalize().into_bytes();
    stream.write_all(proof.as_slice()).await?;
    let mut heard = [0];
    stream.read_exact(&mut heard).await?;
    if heard == [HEARD] { Ok(()) } else { Err(Failure::Stranger) }
}

fn mac(key: &[u8], text: &[u8]) -> Hmac<Sha256> {
    let mac = Hmac::<Sha256>::new_from_slice(key);
    let mut mac = mac.expect("any length of key is allowed");
    mac.update(text);
    mac
}
