//! `berth serve`: puts everything together, serves, and ends in good order.

mod active_router;
mod doors;
mod election;
mod leading;
mod log;
mod memory;
mod notify;
mod private;

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use control::Consent;
use tokio::runtime::{Handle, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::active_router::ActiveRouter;
use self::doors::Sockets;
use self::election::Election;
use self::leading::Leading;
use self::notify::{Notify, State};
use crate::commands::installation;
use crate::commands::outcome::Outcome;
use crate::config::{Config, Demonstration, Flags, LogFlags, LogFormat};
use crate::listen;

/// How long what goes on beside everything may take to end.
const LEAVE: Duration = Duration::from_secs(2);
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
    pub(super) fn run(self) -> Outcome {
        private::from_now_on();
        let Self { listen, data, config, demo, log_format, take_over, begin_anew } = self;
        let consent = Consent { take_over, begin_anew };
        let log = log_format.map(|format| LogFlags { format });
        let flags = Flags { listen, data, demo, log };
        let config = Config::load(config.as_deref(), installation::environment(), &flags)?;
        log::start(&config.log)?;
        memory::in_small_pages();
        let doing = Runtime::new().context("the runtime cannot be started")?;
        let looking = looking().context("the runtime of connections cannot be started")?;
        let serving = serve(config, consent, Notify::starter(), looking.handle());
        let served = doing.block_on(serving);
        doing.shutdown_timeout(THREADS);
        // It ends last: what is done goes by connections to the database and to engines that were opened here.
        looking.shutdown_timeout(THREADS);
        served
    }
}

/// Where connections are and whoever only looks is answered: half as many threads as there are processors.
fn looking() -> std::io::Result<Runtime> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads((processors / 2).max(1)).thread_name("looking").enable_all().build()
}

async fn serve(
    config: Config,
    consent: Consent,
    starter: Notify,
    looking: &Handle,
) -> anyhow::Result<()> {
    // Before anything is started, so that a stop while starting is not lost.
    let mut stop = Box::pin(stop_signal()?);
    // Its mistakes are told now, also by a server that does not lead yet.
    config.sign_in.providers()?;
    config.notifying()?;
    listen::raise_open_files();
    // Before anything takes its time, so that nobody else takes the port meanwhile.
    let sockets = Sockets::open(&config, looking.clone())?;
    let (active, shutdown) = (ActiveRouter::default(), CancellationToken::new());
    let roles = (&active, &shutdown);
    let mut election = Election::new((&config, consent), sockets.of_servers()?, roles)?;
    let first = tokio::select! {
        first = election.begin() => first?,
        () = &mut stop => {
            starter.tell(State::Stopping);
            tracing::info!("stopped while starting");
            return Ok(());
        }
    };
    let (key, tasks) = (election::servers_key(&config)?, TaskTracker::new());
    let doors = sockets.doors(&config, key, (&tasks, &shutdown), &active.certificate)?;
    tasks.close();
    greet(&config, doors.address, first.as_ref().and_then(Leading::first_password));
    starter.tell(State::Ready);
    let stop = async {
        stop.await;
        starter.tell(State::Stopping);
    };
    let leave = CancellationToken::new();
    let answered = async {
        doors.answer(&active, stop, &shutdown).await;
        leave.cancel();
        // Nothing is lost with it.
        let _ended_or_late = tokio::time::timeout(LEAVE, tasks.wait()).await;
    };
    tokio::join!(answered, election.hold(first, &leave));
    tracing::info!("stopped; containers go on running");
    Ok(())
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
