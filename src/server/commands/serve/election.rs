//! Whether this server leads or follows, and what answers at its doors because of that.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context;
use control::Consent;
use database::lead::{Candidate, Lead, Leader, Named, Turn};
use protocol::lead::LOOK;
use tokio_util::sync::CancellationToken;

use super::active_router::{ActiveRouter, Routers};
use super::leading::Leading;
use crate::config::Config;
use crate::follow::Following;
use crate::listen::ServersKey;

/// Where the kernel says what this machine is called.
const NAME: &str = "/proc/sys/kernel/hostname";
/// Whoever could not begin to lead lets the others try meanwhile.
const REST: Duration = Duration::from_secs(5);

/// What the key is derived for that the servers of a cluster know each other by.
const USAGE: &str = "servers of this cluster";

/// That key.
pub(super) fn servers_key(config: &Config) -> anyhow::Result<ServersKey> {
    Ok(ServersKey::new(control::derive_key(&config.key(), USAGE)?))
}

/// The role of this server.
pub(super) struct Election<'a> {
    config: &'a Config,
    consent: Consent,
    candidate: Candidate,
    following: Option<Following>,
    active: &'a ActiveRouter,
    shutdown: &'a CancellationToken,
}

impl<'a> Election<'a> {
    /// `reached`: where other servers do, if they do.
    pub(super) fn new(
        (config, consent): (&'a Config, Consent),
        reached: Option<SocketAddr>,
        (active, shutdown): (&'a ActiveRouter, &'a CancellationToken),
    ) -> anyhow::Result<Self> {
        let name = std::fs::read_to_string(NAME).unwrap_or_default().trim().to_owned();
        let server = Named { name, address: reached.map(|address| address.to_string()) };
        let candidate = Candidate::new(&config.database_url(), server).context("database.url")?;
        Ok(Self { config, consent, candidate, following: None, active, shutdown })
    }

    /// The first role: the server answers from now on. `None`: it follows.
    pub(super) async fn begin(&mut self) -> anyhow::Result<Option<Leading>> {
        loop {
            match self.candidate.stand().await.context("database.url")? {
                Turn::Leads(lead) => return self.lead(lead).await.map(Some),
                Turn::Follows(Some(leader)) => {
                    self.follow(Some(leader)).await?;
                    return Ok(None);
                }
                // Somebody has just begun, and has not said who.
                Turn::Follows(None) => tokio::time::sleep(LOOK).await,
            }
        }
    }

    /// Leads and follows until `leave`, and ends in good order.
    pub(super) async fn hold(mut self, first: Option<Leading>, leave: &CancellationToken) {
        let mut role = first;
        loop {
            if let Some(leading) = role.take() {
                let lost = tokio::select! {
                    biased;
                    () = leave.cancelled() => false,
                    () = leading.lost() => true,
                };
                if lost {
                    // Nobody answers until it is known who leads.
                    self.active.set(None);
                }
                leading.end().await;
            }
            role = tokio::select! {
                biased;
                () = leave.cancelled() => return,
                leading = self.wait() => Some(leading),
            };
        }
    }

    /// Follows until it leads.
    async fn wait(&mut self) -> Leading {
        loop {
            let begun = match self.candidate.stand().await {
                Ok(Turn::Leads(lead)) => self.lead(lead).await.map(Some),
                Ok(Turn::Follows(leader)) => self.follow(leader).await.map(|()| None),
                Err(error) => {
                    tracing::debug!(%error, "nobody says who leads");
                    // The leader that is known may be well.
                    let known = self.following.as_ref().and_then(Following::leader).cloned();
                    self.follow(known).await.map(|()| None)
                }
            };
            match begun {
                Ok(Some(leading)) => return leading,
                Ok(None) => tokio::time::sleep(LOOK).await,
                Err(error) => {
                    tracing::error!("this server cannot do its part: {error:#}");
                    tokio::time::sleep(REST).await;
                }
            }
        }
    }

    async fn lead(&mut self, lead: Lead) -> anyhow::Result<Leading> {
        if let Some(leader) = lead.fencing_token().leader() {
            tracing::info!(term = leader.term, "this server leads");
        }
        // Requests wait for what answers next.
        self.active.set(None);
        if let Some(following) = self.following.take() {
            following.end().await;
        }
        let Self { config, consent, active, shutdown, .. } = *self;
        Leading::begin((config, consent), lead, (active, shutdown)).await
    }

    /// Passes on to this one, if it did not before.
    async fn follow(&mut self, leader: Option<Leader>) -> anyhow::Result<()> {
        if self.following.as_ref().is_some_and(|now| now.leader() == leader.as_ref()) {
            return Ok(());
        }
        if let Some(leader) = &leader {
            let Leader { term, server: Named { name, address } } = leader;
            tracing::info!(term, name, address, "another server leads; this one follows");
        }
        let (key, stop) = (servers_key(self.config)?, self.shutdown.clone());
        let following = Following::new(leader, key, stop);
        self.active.set(Some(Routers {
            portal: following.router(),
            metrics: Following::metrics_router(),
            servers: Following::servers_router(),
        }));
        if let Some(before) = self.following.replace(following) {
            before.end().await;
        }
        Ok(())
    }
}
