//! The task's lease. The server is heard where the SSH server listens; that the task ends with its lease
//! is seen to by a thread of its own, so that nothing else that this program is stuck in lets it live.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use protocol::guest::{GuestExit, GuestLease};
use protocol::lease::{
    GREETING, HEARD, Holding, LEASE_OVER_CODE, NONCE_BYTES, Nonce, PROOF_BYTES, Standing, answer,
    question,
};
use rustix::rand::{GetRandomFlags, getrandom};
use rustix::time::{ClockId, clock_gettime};
use sha2::Sha256;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::children::Children;

/// The clock is looked at so often at least: timers stand still while a machine sleeps.
const TICK: Duration = Duration::from_secs(1);
/// Who connects says within so long that he is the server, or is a client of SSH.
const HASTE: Duration = Duration::from_secs(2);
/// A conversation takes so long or fails.
const TALK: Duration = Duration::from_secs(10);
/// When the lease is over the rest of this program has so long to write down what there is to tell.
const LAST: Duration = Duration::from_secs(5);

/// The lease.
pub(crate) struct Lease {
    key: Vec<u8>,
    holding: Mutex<Holding>,
    changed: Notify,
}

/// The key is nobody's business.
impl fmt::Debug for Lease {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Lease").field("holding", &self.holding).finish_non_exhaustive()
    }
}

impl Lease {
    /// Begins it: from now on all processes end with it.
    pub(crate) fn begin(told: &GuestLease, children: &Children) -> io::Result<Arc<Self>> {
        let holding = Holding::new(Duration::from_secs(told.seconds));
        let (key, holding, changed) = (told.key.clone(), Mutex::new(holding), Notify::new());
        let lease = Arc::new(Self { key, holding, changed });
        let (kept, children) = (Arc::clone(&lease), children.clone());
        thread::Builder::new().name("lease".to_owned()).spawn(move || kept.keep(&children))?;
        Ok(lease)
    }

    /// Waits for its end, and ends everything.
    fn keep(&self, children: &Children) {
        loop {
            let left = match self.standing() {
                Standing::Unheard => TICK,
                Standing::Runs(left) | Standing::Ends(left) => left,
                Standing::Over => break,
            };
            thread::sleep(left.min(TICK));
        }
        children.end_all_at_once();
        self.changed.notify_waiters();
        thread::sleep(LAST);
        std::process::exit(LEASE_OVER_CODE.into());
    }

    /// Waits until the server was heard.
    pub(crate) async fn heard(&self) {
        self.until(|standing| standing != Standing::Unheard).await;
    }

    /// Waits until the command is to be asked to end.
    pub(crate) async fn ends(&self) {
        self.until(|standing| matches!(standing, Standing::Ends(_) | Standing::Over)).await;
    }

    /// Waits until nothing may run any more.
    pub(crate) async fn over(&self) {
        self.until(|standing| standing == Standing::Over).await;
    }

    async fn until(&self, holds: impl Fn(Standing) -> bool) {
        loop {
            let changed = self.changed.notified();
            let left = match self.standing() {
                standing if holds(standing) => return,
                Standing::Unheard | Standing::Over => TICK,
                Standing::Runs(left) | Standing::Ends(left) => left.min(TICK),
            };
            tokio::select! {
                () = changed => {}
                () = tokio::time::sleep(left) => {}
            }
        }
    }

    /// Whether nothing may run any more.
    pub(crate) fn is_over(&self) -> bool {
        self.standing() == Standing::Over
    }

    fn standing(&self) -> Standing {
        self.holding().standing(now())
    }

    fn holding(&self) -> MutexGuard<'_, Holding> {
        self.holding.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has a conversation with who says that he is the server.
    pub(crate) async fn talk(&self, mut stream: TcpStream) -> io::Result<()> {
        timeout(TALK, self.ask(&mut stream)).await?
    }

    async fn ask(&self, stream: &mut TcpStream) -> io::Result<()> {
        let mut greeting = [0; GREETING.len()];
        stream.read_exact(&mut greeting).await?;
        if greeting != *GREETING {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut servers: Nonce = [0; NONCE_BYTES];
        stream.read_exact(&mut servers).await?;
        // The answer is good from now on, however long it takes.
        let asked = now();
        let ours = nonce()?;
        let proof = self.mac(&question(&servers, &ours)).finalize().into_bytes();
        stream.write_all(&[ours.as_slice(), proof.as_slice()].concat()).await?;
        let mut proof = [0; PROOF_BYTES];
        stream.read_exact(&mut proof).await?;
        let is_server = self.mac(&answer(&servers, &ours)).verify_slice(&proof).is_ok();
        if !is_server || !self.holding().answered(asked, now()) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        self.changed.notify_waiters();
        stream.write_all(&[HEARD]).await
    }

    fn mac(&self, text: &[u8]) -> Hmac<Sha256> {
        let mac = Hmac::<Sha256>::new_from_slice(&self.key);
        let mut mac = mac.expect("any length of key is allowed");
        mac.update(text);
        mac
    }
}

/// Whether who has connected is the server, or says so: a client of SSH begins otherwise, or waits.
pub(crate) async fn is_servers(stream: &TcpStream) -> bool {
    let mut first = [0];
    let seen = timeout(HASTE, stream.peek(&mut first)).await;
    matches!(seen, Ok(Ok(1))) && first[0] == GREETING[0]
}

/// How a command ends whose lease is over.
pub(crate) fn exit() -> GuestExit {
    GuestExit { code: LEASE_OVER_CODE.into(), signal: None }
}

/// The time since the machine was started, with that in which it slept: nobody can set it.
fn now() -> Duration {
    Duration::try_from(clock_gettime(ClockId::Boottime)).unwrap_or(Duration::MAX)
}

fn nonce() -> io::Result<Nonce> {
    let mut nonce = [0; NONCE_BYTES];
    let filled = getrandom(&mut nonce, GetRandomFlags::empty())?;
    if filled == NONCE_BYTES { Ok(nonce) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
