//! The lead among several servers of one PostgreSQL. Why no two of them act at once, and what is written
//! by a server that has lost the lead is refused, is said in [`protocol::lead`].
//!
//! The lead is a lock of a session, which PostgreSQL gives to one at a time and takes back when the session
//! ends. The table `leader` has the term that holds. It is made by whoever leads first, before any migration:
//! a server of another version is refused its writes before the tables are changed under it. Beside it
//! `servers` has when each server was heard, for people to read.

use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::lead::{Before, LeadLease};
use sea_orm::sqlx::ConnectOptions;
use sea_orm::sqlx::postgres::PgConnectOptions;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use self::keeper::Keeper;
use self::session::{ANSWER, Session};
use crate::{Result, address};

mod clock;
mod heard;
mod keeper;
mod session;

pub use heard::{Heard, heard};

/// A server that does not lead says so often that it is there.
pub const SIGN: Duration = Duration::from_secs(5);

/// A server as the others know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// What people call it.
    pub name: String,
    /// Where the other servers reach it, if they can.
    pub address: Option<String>,
}

/// The server that leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leader {
    /// Grows with each server that takes the lead.
    pub term: i64,
    /// Which one it is.
    pub server: Named,
}

/// Whose turn it is.
#[derive(Debug)]
pub enum Turn {
    /// This server's, until it is lost or given back.
    Leads(Lead),
    /// Another one's, if it is known whose.
    Follows(Option<Leader>),
}

/// A server that would lead.
pub struct Candidate {
    /// `None`: nobody else can use the database.
    options: Option<PgConnectOptions>,
    server: Named,
    session: Option<Session>,
    /// When it said last that it is there.
    signed: Option<Instant>,
}

impl Candidate {
    /// For the lead over the database at this address. That of a file has nobody but who opened it.
    ///
    /// # Errors
    /// [`crate::Error::Unavailable`] when the address is not understood.
    pub fn new(url: &str, server: Named) -> Result<Self> {
        let options =
            if url.starts_with("postgres") { Some(address::postgres(url)?) } else { None };
        let millis = |time: Duration| format!("{}ms", time.as_millis());
        let options = options.map(|options| {
            let limits = [
                ("statement_timeout", millis(ANSWER)),
                ("lock_timeout", millis(ANSWER / 2)),
                ("idle_in_transaction_session_timeout", millis(ANSWER)),
            ];
            options.application_name("berth").options(limits).disable_statement_logging()
        });
        Ok(Self { options, server, session: None, signed: None })
    }

    /// Takes the lead, if it is free.
    ///
    /// # Errors
    /// When the database does not answer. It may be asked again.
    pub async fn stand(&mut self) -> Result<Turn> {
        let Some(options) = &self.options else { return Ok(Turn::Leads(Lead::alone())) };
        // Dropped where anything fails, with whatever it holds: the next one is another one.
        let mut session = match self.session.take() {
            Some(session) => session,
            None => Session::begin(options).await?,
        };
        let asked = clock::now();
        if !session.take().await? {
            let leader = session.leader().await?;
            if self.signed.is_none_or(|signed| signed.elapsed() >= SIGN) {
                session.sign(&self.server).await?;
                self.signed = Some(Instant::now());
            }
            self.session = Some(session);
            return Ok(Turn::Follows(leader));
        }
        let (term, before) = session.begin_term(&self.server).await?;
        let leader = Leader { term, server: self.server.clone() };
        Ok(Turn::Leads(Lead::begin(options.clone(), session, (asked, leader, before))))
    }
}

impl std::fmt::Debug for Candidate {
    /// Without the address, which may hold a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Candidate").field("server", &self.server).finish_non_exhaustive()
    }
}

/// By what right a server writes and acts. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct FencingToken(Option<Arc<Held>>);

/// A lead that may be lost.
#[derive(Debug)]
struct Held {
    leader: Leader,
    /// Its clock begins then, by the machine's.
    begun: Duration,
    lease: watch::Sender<LeadLease>,
    fence: String,
}

impl Held {
    fn now(&self) -> Duration {
        clock::now().saturating_sub(self.begun)
    }
}

impl FencingToken {
    /// Who leads; `None`: there can be no other server.
    #[must_use]
    pub fn leader(&self) -> Option<&Leader> {
        self.0.as_ref().map(|held| &held.leader)
    }

    /// Whether this server may act on engines.
    #[must_use]
    pub fn acts(&self) -> bool {
        self.0.as_ref().is_none_or(|held| held.lease.borrow().acts(held.now()))
    }

    /// For how long the leader before may still act.
    #[must_use]
    pub fn waits(&self) -> Duration {
        let waits = |held: &Arc<Held>| held.lease.borrow().waits(held.now());
        self.0.as_ref().map_or(Duration::ZERO, waits)
    }

    /// Returns once it may: at once, as a rule. Never, if it has lost the lead.
    pub async fn acting(&self) {
        let Some(held) = &self.0 else { return };
        let mut news = held.lease.subscribe();
        loop {
            let (lease, now) = (*news.borrow_and_update(), held.now());
            if lease.acts(now) {
                return;
            }
            let waits = lease.waits(now);
            let patience = if waits.is_zero() { Duration::MAX } else { waits };
            let _news_or_not = tokio::time::timeout(patience, news.changed()).await;
        }
    }

    /// Returns once the lead is lost or given back.
    pub async fn lost(&self) {
        match &self.0 {
            None => std::future::pending().await,
            Some(held) => {
                let mut news = held.lease.subscribe();
                let _held_here = news.wait_for(LeadLease::is_over).await;
            }
        }
    }

    /// What a transaction that writes begins with: it fails if another term holds, and no other one begins
    /// before the transaction has ended.
    pub(crate) fn fence(&self) -> Option<&str> {
        self.0.as_ref().map(|held| held.fence.as_str())
    }
}

/// Its class is that of a server that is shut down.
fn fence(term: i64) -> String {
    format!(
        "DO $fence$ BEGIN PERFORM pg_advisory_xact_lock_shared(4919, 2); \
         IF NOT EXISTS (SELECT FROM leader WHERE term = {term}) THEN \
         RAISE EXCEPTION 'another server leads' USING ERRCODE = '57L01'; END IF; END $fence$"
    )
}

/// The lead, for as long as it is kept.
#[derive(Debug)]
pub struct Lead {
    fencing_token: FencingToken,
    keeper: Option<(oneshot::Sender<bool>, JoinHandle<()>)>,
}

impl Lead {
    /// Of the only server there can be.
    #[must_use]
    pub fn alone() -> Self {
        Self { fencing_token: FencingToken::default(), keeper: None }
    }

    fn begin(
        options: PgConnectOptions,
        session: Session,
        (asked, leader, before): (Duration, Leader, Before),
    ) -> Self {
        let now = clock::now().saturating_sub(asked);
        let lease = LeadLease::begun(Duration::ZERO, now, before);
        let fence = fence(leader.term);
        let (lease, _) = watch::channel(lease);
        let held = Arc::new(Held { leader, begun: asked, lease, fence });
        let (give_back, given_back) = oneshot::channel();
        let keeper = Keeper { options, former: session.number, session: Some(session), held };
        let fencing_token = FencingToken(Some(Arc::clone(&keeper.held)));
        let keeping = tokio::spawn(keeper.keep(given_back));
        Self { fencing_token, keeper: Some((give_back, keeping)) }
    }

    /// What follows from it.
    #[must_use]
    pub fn fencing_token(&self) -> &FencingToken {
        &self.fencing_token
    }

    /// Gives it back. `ended`: so has all that this server did by it.
    pub async fn give_back(mut self, ended: bool) {
        if let Some((give_back, keeping)) = self.keeper.take() {
            let _it_may_be_lost = give_back.send(ended);
            let _it_may_have_panicked = keeping.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::lead::HOLD;

    use super::*;

    /// A lead that began so long ago by the machine's clock, and of which nothing was heard since.
    pub(super) fn held(ago: Duration) -> Arc<Held> {
        let server = Named { name: "a".to_owned(), address: None };
        let (lease, _) =
            watch::channel(LeadLease::begun(Duration::ZERO, Duration::ZERO, Before::Done));
        let begun = clock::now().saturating_sub(ago);
        Arc::new(Held { leader: Leader { term: 1, server }, begun, lease, fence: fence(1) })
    }

    #[test]
    fn what_a_machine_sleeps_counts_against_its_lead() {
        let uptime = std::fs::read_to_string("/proc/uptime").unwrap();
        let uptime: f64 = uptime.split(' ').next().unwrap().parse().unwrap();
        let apart = clock::now().as_secs_f64() - uptime;
        assert!(apart.abs() < 10.0, "this clock goes on while the machine sleeps: {apart} s");
        let moment = Duration::from_millis(500);
        assert!(FencingToken(Some(held(HOLD - moment))).acts());
        assert!(!FencingToken(Some(held(HOLD + moment))).acts());
    }
}
