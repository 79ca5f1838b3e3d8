//! Keeps the lead: says again and again that its server is there.

use std::sync::Arc;

use protocol::lead::{BEAT, Before};
use sea_orm::sqlx::postgres::PgConnectOptions;
use tokio::sync::oneshot;

use super::Held;
use super::session::Session;
use crate::{Error, Result};

/// Keeps a lead until it is lost or given back. Without it nobody would know that it is lost: it ends with its
/// keeper, also where that panics.
pub(super) struct Keeper {
    pub(super) options: PgConnectOptions,
    /// Which one had the lead last.
    pub(super) former: i32,
    /// `None`: it broke off.
    pub(super) session: Option<Session>,
    pub(super) held: Arc<Held>,
}

impl Keeper {
    /// Runs until then.
    pub(super) async fn keep(mut self, mut given_back: oneshot::Receiver<bool>) {
        loop {
            tokio::select! {
                biased;
                // Whoever has just dropped it has not said that anything has ended.
                ended = &mut given_back => return self.give_back(ended.unwrap_or(false)).await,
                () = tokio::time::sleep(BEAT) => {}
            }
            let asked = self.held.now();
            match self.confirm().await {
                Ok(true) => self.held.lease.send_modify(|lease| lease.confirmed(asked)),
                Ok(false) => {
                    tracing::error!("another server leads now");
                    self.end();
                    return;
                }
                Err(error) => self.doubt(&error),
            }
        }
    }

    /// Whether this server still leads.
    async fn confirm(&mut self) -> Result<bool> {
        match &mut self.session {
            Some(session) => session.beat().await.map(|()| true),
            None => self.regain().await,
        }
    }

    /// Takes the lead again after its session broke off, unless somebody has led since.
    async fn regain(&mut self) -> Result<bool> {
        let term = self.held.leader.term;
        let mut session = Session::begin(&self.options).await?;
        if session.take().await? {
            let goes_on = session.go_on(term).await?;
            if goes_on {
                tracing::info!("this server still leads");
                self.former = session.number;
                self.session = Some(session);
            }
            return Ok(goes_on);
        }
        if session.leader().await?.is_some_and(|leader| leader.term != term) {
            return Ok(false);
        }
        session.end_former(self.former).await?;
        Err(Error::unavailable("the session that had the lead is still there"))
    }

    /// It is not known whether it still leads. It acts for a moment, and then no more until it is known.
    fn doubt(&mut self, error: &Error) {
        match self.session.take() {
            Some(_broken_off) => tracing::warn!(%error, "nobody says whether this server leads"),
            None => tracing::debug!(%error, "nobody says whether this server leads"),
        }
    }

    fn end(&self) -> Before {
        let (mut before, now) = (Before::Unknown, self.held.now());
        self.held.lease.send_modify(|lease| before = lease.end(now));
        before
    }

    async fn give_back(mut self, ended: bool) {
        let before = self.end();
        let Some(session) = self.session.take() else { return };
        let done = ended && before == Before::Done;
        if let Err(error) = session.give_back(self.held.leader.term, done).await {
            tracing::debug!(%error, "the lead is not given back but left");
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::lead::FencingToken;
    use crate::lead::tests::held;

    #[tokio::test]
    async fn a_lead_ends_with_its_keeper() {
        let held = held(Duration::ZERO);
        let fencing_token = FencingToken(Some(Arc::clone(&held)));
        let keeper = Keeper { options: PgConnectOptions::new(), former: 1, session: None, held };
        assert!(fencing_token.acts());
        let broken_off = tokio::spawn(async move {
            let _keeper = keeper;
            panic!("in the midst of it");
        });
        tokio::time::timeout(BEAT, fencing_token.lost()).await.unwrap();
        assert!(!fencing_token.acts());
        assert!(broken_off.await.is_err_and(|error| error.is_panic()));
    }
}
