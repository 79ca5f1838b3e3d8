//! Where the server listens, and what answers there.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use control::Steady;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::active_router::ActiveRouter;
use crate::config::Config;
use crate::listen::tls::Tls;
use crate::listen::{self, Door, Limits, Machine, OwnHosts, ServersKey};

/// How long requests may take to end when the server stops.
const FAREWELL: Duration = Duration::from_secs(10);

/// What is listened at.
pub(super) struct Sockets {
    portal: Vec<TcpListener>,
    redirect: Vec<TcpListener>,
    metrics: Vec<TcpListener>,
    servers: Vec<TcpListener>,
    /// Where connections are.
    looking: Handle,
}

/// What is listened at, ready to answer.
pub(super) struct Doors {
    sockets: Sockets,
    portal: Door,
    /// What leads to the portal's, and its answers.
    redirect: (Door, axum::Router),
    /// Prometheus' own.
    metrics: Door,
    /// That of other servers of the cluster.
    servers: Door,
    /// Where the portal is.
    pub(super) address: SocketAddr,
}

impl Sockets {
    pub(super) fn open(config: &Config, looking: Handle) -> anyhow::Result<Self> {
        let portal = listen::bind(config.listen)
            .with_context(|| format!("listen = {}: cannot be served at", config.listen))?;
        let also = |key: &str, address: Option<SocketAddr>| match address {
            None => Ok(Vec::new()),
            Some(address) => listen::bind(address)
                .with_context(|| format!("{key} = {address}: cannot be served at")),
        };
        let redirect = also("tls.http_redirect", config.tls.http_redirect)?;
        let metrics = also("metrics.listen", config.metrics.listen)?;
        let servers = also("servers.listen", config.servers.listen)?;
        Ok(Self { portal, redirect, metrics, servers, looking })
    }

    /// Where other servers of the cluster reach this one, if they do.
    pub(super) fn of_servers(&self) -> anyhow::Result<Option<SocketAddr>> {
        let address = self.servers.first().map(TcpListener::local_addr).transpose();
        address.context("servers.listen")
    }

    pub(super) fn doors(
        self,
        config: &Config,
        key: ServersKey,
        keeping: (&TaskTracker, &CancellationToken),
        certificate: &Arc<Steady>,
    ) -> anyhow::Result<Doors> {
        let Config { public_url, proxy, trusted_proxies, connections, .. } = config;
        let first = self.portal.first().context("there is nothing to serve at")?;
        let address = first.local_addr().context("listen")?;
        let source = config.tls.source(&config.data);
        let tls = source.map(|source| Tls::start(source, keeping, certificate)).transpose()?;
        let (public_url, proxy_url) = (public_url.as_deref(), proxy.url.as_deref());
        let door = |encrypted: bool| {
            let limits = Limits::default().with(connections.total, connections.per_address);
            let named = config.hosts.iter().map(String::as_str).chain(config.tls.domains());
            let hosts = OwnHosts::new(Machine::read(), named, public_url, proxy_url)
                .with_certificate(tls.clone());
            let tls = tls.clone().filter(|_| encrypted);
            let door = Door::new(limits, hosts, trusted_proxies.clone(), tls);
            door.with_connections_in(&self.looking)
        };
        let ways = listen::redirect(public_url, proxy_url, address.port());
        let (portal, redirect, metrics) = (door(true), (door(false), ways), door(false));
        let servers = door(false).of_servers(key);
        Ok(Doors { sockets: self, portal, redirect, metrics, servers, address })
    }
}

impl Doors {
    /// Answers requests until `stop`, then takes no more and gives those under way their time.
    pub(super) async fn answer(
        self,
        active: &ActiveRouter,
        stop: impl Future<Output = ()>,
        shutdown: &CancellationToken,
    ) {
        let Self { sockets, portal, redirect: (redirect, ways), metrics, servers, .. } = self;
        let served = futures::future::join4(
            listen::serve(sockets.portal, portal, active.router(|role| &role.portal), shutdown),
            listen::serve(sockets.redirect, redirect, ways, shutdown),
            listen::serve(sockets.metrics, metrics, active.router(|role| &role.metrics), shutdown),
            listen::serve(sockets.servers, servers, active.router(|role| &role.servers), shutdown),
        );
        let farewell = async {
            stop.await;
            tracing::info!("stopping");
            shutdown.cancel();
            tokio::time::sleep(FAREWELL).await;
        };
        tokio::select! {
            _all = served => {}
            () = farewell => tracing::warn!("requests that did not end in time are cut off"),
        }
    }
}
