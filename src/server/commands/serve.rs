//! `berth serve`: puts everything together, serves, and ends in good order.

mod log;
mod notify;
mod private;

use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use control::{Consent, Control};
use database::Database;
use protocol::time::Timestamp;
use storage::Storage;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::notify::{Notify, State};
use crate::auth::session_store::{SessionDatabase, Store};
use crate::commands::{self, installation};
use crate::config::{Config, Demonstration, Flags, LogFlags, LogFormat, Providers};
use crate::guest;
use crate::health::OfControl;
use crate::listen::tls::Tls;
use crate::listen::{self, Door, Limits, Machine, OwnHosts};
use crate::router::{metrics_router, router};
use crate::site::Site;
use crate::state::{AppState, StateOptions};

/// How long requests may take to end when the server stops.
const FAREWELL: Duration = Duration::from_secs(10);
/// How long what it does by itself may take to end after them. What hangs in the database, an engine
/// or a disk is gone on with at the next start, as after a crash.
const LEAVE: Duration = Duration::from_secs(10);
/// How long threads may take that end no sooner than their disk answers.
const THREADS: Duration = Duration::from_secs(1);

/// Flags of `berth serve`.
#[derive(Debug, Args)]
pub struct Serve {
    /// Address and port to serve at [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<String>,
    /// Folder of the database, the users' files and the logs [default: data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Configuration file (TOML)
    #[arg(long, value_name = "FILE", env = "BERTH_CONFIG")]
    config: Option<PathBuf>,
    /// Makes an empty data folder a simulated cluster of 40 nodes and 10 000 jobs to look at, where
    /// jobs come and go or (`still`) nothing begins or ends by itself
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "living")]
    demo: Option<Demonstration>,
    /// How the log is written to standard error [default: text]
    #[arg(long, value_enum, value_name = "FORMAT")]
    log_format: Option<LogFormat>,
    /// Serves a database that was moved or restored: nothing serves it where it was before any more
    #[arg(long)]
    take_over: bool,
    /// Begins anew where database and sealing key do not belong together, or one of them is lost
    #[arg(long)]
    begin_anew: bool,
}

impl Serve {
    pub(super) fn run(self) -> commands::Outcome {
        private::from_now_on();
        let Self { listen, data, config, demo, log_format, take_over, begin_anew } = self;
        let consent = Consent { take_over, begin_anew };
        let log = log_format.map(|format| LogFlags { format });
        let flags = Flags { listen, data, demo, log };
        let config = Config::load(config.as_deref(), installation::environment(), &flags)?;
        log::start(&config.log)?;
        let runtime = tokio::runtime::Runtime::new().context("the runtime cannot be started")?;
        let served = runtime.block_on(serve(config, consent, Notify::starter()));
        runtime.shutdown_timeout(THREADS);
        served
    }
}

async fn serve(config: Config, consent: Consent, starter: Notify) -> anyhow::Result<()> {
    // Before anything is started, so that a stop while starting is not lost.
    let mut stop = Box::pin(stop_signal()?);
    let Providers { options: sign_in, oidc, ways } = config.sign_in.providers()?;
    listen::raise_open_files();
    // Before anything takes its time, so that nobody else takes the port meanwhile.
    let sockets = Sockets::open(&config)?;
    let control = tokio::select! {
        started = start_control(&config, sign_in, consent) => Arc::new(started?),
        () = &mut stop => {
            starter.tell(State::Stopping);
            tracing::info!("stopped while starting");
            return Ok(());
        }
    };
    let shutdown = CancellationToken::new();
    let tasks = TaskTracker::new();
    let doors = sockets.doors(&config, &tasks, &shutdown)?;
    if config.demo == Demonstration::Living {
        tasks.spawn(demo::run(control.backend.clone(), shutdown.clone()));
    }
    tasks.close();
    greet(&config, doors.address, control.first_password.as_deref());
    let options = StateOptions {
        public_url: config.public_url.clone(),
        tls: config.tls.is_on(),
        proxy_url: config.proxy.url.clone(),
        cors_origins: config.cors.origins.clone(),
        trusted_proxies: config.trusted_proxies.clone(),
        site: Site::open(config.site.clone()),
        upload_limit: config.upload_limit(),
        device_key: Some(control.derive_key("known devices")),
        oidc,
        ways,
        limits: config.limits,
        metrics_token: config.metrics.token.clone(),
        shutdown: shutdown.clone(),
    };
    let probe = Arc::new(OfControl::new(Arc::clone(&control)));
    let state = AppState::new(control.backend.clone(), probe, options);
    let beside = state.tasks.clone();
    let routers = (router(state.clone(), Store::new(control.clone())), metrics_router(state));
    starter.tell(State::Ready);
    let stop = async {
        stop.await;
        starter.tell(State::Stopping);
    };
    doors.answer(routers, stop, &shutdown).await;
    beside.close();
    let ended = async {
        beside.wait().await;
        tasks.wait().await;
        control.shutdown().await;
    };
    if tokio::time::timeout(LEAVE, ended).await.is_err() {
        tracing::warn!("what does not end in time is left to the next start");
    }
    tracing::info!("stopped; containers go on running");
    Ok(())
}

/// What is listened at.
struct Sockets {
    portal: Vec<TcpListener>,
    redirect: Vec<TcpListener>,
    metrics: Vec<TcpListener>,
}

/// What is listened at, ready to answer.
struct Doors {
    sockets: Sockets,
    portal: Door,
    /// What leads to the portal's, and its answers.
    redirect: (Door, axum::Router),
    /// Prometheus' own.
    metrics: Door,
    /// Where the portal is.
    address: SocketAddr,
}

impl Sockets {
    fn open(config: &Config) -> anyhow::Result<Self> {
        let portal = listen::bind(config.listen)
            .with_context(|| format!("listen = {}: cannot be served at", config.listen))?;
        let also = |key: &str, address: Option<SocketAddr>| match address {
            None => Ok(Vec::new()),
            Some(address) => listen::bind(address)
                .with_context(|| format!("{key} = {address}: cannot be served at")),
        };
        let redirect = also("tls.http_redirect", config.tls.http_redirect)?;
        let metrics = also("metrics.listen", config.metrics.listen)?;
        Ok(Self { portal, redirect, metrics })
    }

    fn doors(
        self,
        config: &Config,
        tasks: &TaskTracker,
        shutdown: &CancellationToken,
    ) -> anyhow::Result<Doors> {
        let Config { public_url, proxy, trusted_proxies, connections, .. } = config;
        let first = self.portal.first().context("there is nothing to serve at")?;
        let address = first.local_addr().context("listen")?;
        let source = config.tls.source(&config.data);
        let tls = source.map(|source| Tls::start(source, tasks, shutdown)).transpose()?;
        let (public_url, proxy_url) = (public_url.as_deref(), proxy.url.as_deref());
        let door = |encrypted: bool| {
            let limits = Limits::default().with(connections.total, connections.per_address);
            let named = config.hosts.iter().map(String::as_str).chain(config.tls.domains());
            let hosts = OwnHosts::new(Machine::read(), named, public_url, proxy_url)
                .with_certificate(tls.clone());
            let tls = tls.clone().filter(|_| encrypted);
            Door::new(limits, hosts, trusted_proxies.clone(), tls)
        };
        let ways = listen::redirect(public_url, proxy_url, address.port());
        let (portal, redirect, metrics) = (door(true), (door(false), ways), door(false));
        Ok(Doors { sockets: self, portal, redirect, metrics, address })
    }
}

impl Doors {
    /// Answers requests until `stop`, then takes no more and gives those under way their time.
    async fn answer(
        self,
        (router, of_metrics): (axum::Router, axum::Router),
        stop: impl Future<Output = ()>,
        shutdown: &CancellationToken,
    ) {
        let Self { sockets, portal, redirect: (redirect, ways), metrics, .. } = self;
        let served = futures::future::join3(
            listen::serve(sockets.portal, portal, router, shutdown),
            listen::serve(sockets.redirect, redirect, ways, shutdown),
            listen::serve(sockets.metrics, metrics, of_metrics, shutdown),
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

async fn start_control(
    config: &Config,
    sign_in: control::SignInOptions,
    consent: Consent,
) -> anyhow::Result<Control> {
    let data = &config.data;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(data)
        .with_context(|| format!("data = {}: the folder cannot be made", data.display()))?;
    private::what_is_there(data);
    let database = Database::open(&config.database_url()).await.context("database.url")?;
    let storage = Storage::open_with(config.storage_options()).context("storage")?;
    let mut first_password = None;
    if let Some(mood) = config.demo.mood() {
        first_password = demonstrate(config, (mood, consent), &database, &storage).await?;
    }
    let options = control::Options {
        database,
        storage,
        data: data.clone(),
        consent,
        nodes: config.nodes.clone(),
        first_node: config.first_node(),
        virtual_clusters: config.virtual_clusters.clone(),
        certificates: config.certificates.clone(),
        guest: guest::program(config.guest.as_deref())?,
        storage_mount: config.storage.mount.clone(),
        images_quota: config.images_quota(),
        gpus: config.gpus(),
        container_disk: config.container_disk(),
        portal: config.portal(),
        admin_password: config.admin_password.clone(),
        rules: config.rules(),
        sign_in,
    };
    let mut control =
        control::start(options).await.context("the control loops cannot be started")?;
    control.first_password = first_password.or(control.first_password);
    Ok(control)
}

/// Makes an empty database a simulated cluster, and has what runs there run again. Says the
/// administrator's password when it was generated just now.
async fn demonstrate(
    config: &Config,
    (mood, consent): (demo::Mood, Consent),
    database: &Database,
    storage: &Storage,
) -> anyhow::Result<Option<String>> {
    let ground = demo::ground(database).await?;
    if ground == demo::Ground::Taken {
        anyhow::bail!(
            "--demo: {} is a real installation; a demonstration needs an empty data folder (--data)",
            config.data.display()
        );
    }
    let (data, password) = (config.data.as_path(), config.admin_password.clone());
    let control::Founded { installation, first_password } =
        control::found(database, (data, consent), password).await?;
    let now = Timestamp(time::OffsetDateTime::now_utc().unix_timestamp() * 1000);
    if ground == demo::Ground::Empty {
        demo::seed(database, storage, now).await?;
    }
    demo::revive(database, &installation, mood, now).await?;
    Ok(first_password)
}

/// What a person who has just started it wants to know, on standard output.
fn greet(config: &Config, address: SocketAddr, first_password: Option<&str>) {
    let scheme = if config.tls.is_on() { "https" } else { "http" };
    let mut lines = Vec::new();
    if !config.is_https() && !address.ip().is_loopback() {
        tracing::warn!(
            %address,
            "passwords, cookies and tokens pass the network in clear: anybody on the way can read \
             and use them. Give [tls] a certificate, or let a proxy encrypt and set public_url to \
             its https:// address"
        );
        lines.push(
            "Warning: without [tls] passwords and cookies pass the network in clear.".to_owned(),
        );
    }
    lines.push(format!("Berth serves at {scheme}://{address}"));
    lines.extend(first_password.map(|password| {
        format!("Sign in as admin with the password {password} (it is not shown again).")
    }));
    // Whoever started it may read no more: it serves nevertheless.
    if let Err(error) = writeln!(std::io::stdout(), "{}", lines.join("\n")) {
        tracing::warn!(%error, "nobody reads where it serves");
    }
}

/// SIGTERM or SIGINT.
fn stop_signal() -> anyhow::Result<impl Future<Output = ()> + Send + 'static> {
    let mut terminate = signal(SignalKind::terminate()).context("SIGTERM cannot be caught")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("SIGINT cannot be caught")?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

impl SessionDatabase for Control {
    fn database(&self) -> &Database {
        Control::database(self)
    }
}
