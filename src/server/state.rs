//! What every handler may use.

use std::fmt;
use std::net::IpAddr;
use std::ops::Deref;
use std::sync::Arc;

use api::Backend;
use api::sign_ins::SignInWays;
use control::Steady;
use directory::Oidc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::auth::answers::Answers;
use crate::auth::device::Devices;
use crate::auth::origin::OwnOrigin;
use crate::auth::sign_in_limit::SignInLimit;
use crate::auth::system_actor::system_actor;
use crate::change_log::ChangeLog;
use crate::cors::Welcome;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::probe::Probe;
use crate::rates::Rates;
use crate::site::Site;
use crate::streams::Streams;
use crate::task_hosts::TaskHosts;

/// The most bytes of a file that is sent, when nothing is said.
const UPLOAD_LIMIT: u64 = 100_000_000_000;

/// Shared by all handlers. Every layer around them has one of its own for each request: a clone is one count.
#[derive(Clone)]
pub struct AppState(Arc<Parts>);

impl Deref for AppState {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// What is shared.
pub struct Parts {
    /// All operations.
    pub backend: Backend,
    /// Whether the parts below are well.
    pub probe: Arc<dyn Probe>,
    /// The front end's files.
    pub site: Arc<Site>,
    /// How often one may try to sign in.
    pub(crate) sign_in_limit: Arc<SignInLimit>,
    /// Which devices are known.
    pub(crate) devices: Arc<Devices>,
    /// Whether those who hold something open still may.
    pub(crate) answers: Arc<Answers>,
    /// Providers with pages of their own.
    pub(crate) oidc: Arc<[Arc<Oidc>]>,
    /// What the page for signing in offers.
    pub(crate) ways: Arc<SignInWays>,
    /// Which pages are ours.
    pub(crate) origin: Arc<OwnOrigin>,
    /// Which other sites' pages may call.
    pub(crate) welcome: Arc<Welcome>,
    /// Which hosts are tasks'.
    pub(crate) task_hosts: Arc<TaskHosts>,
    /// Proxies whose word about the client's address is taken.
    pub(crate) trusted_proxies: Arc<[IpAddr]>,
    /// The most bytes of a file that is sent.
    pub(crate) upload_limit: u64,
    /// How often one may ask.
    pub(crate) rates: Arc<Rates>,
    /// How many answers without end there are.
    pub(crate) streams: Arc<Streams>,
    /// What changed since the start.
    pub(crate) change_log: Arc<ChangeLog>,
    /// What goes on by itself, and how it is.
    pub(crate) steady: Vec<(&'static str, Arc<Steady>)>,
    /// Counters.
    pub(crate) metrics: Arc<Metrics>,
    /// What lets programs read the counters.
    pub(crate) metrics_token: Option<Arc<str>>,
    /// Ends the answers that have no end.
    pub(crate) shutdown: CancellationToken,
    /// What goes on beside the requests; all of it ends with `shutdown`.
    pub tasks: TaskTracker,
}

impl AppState {
    /// The state of a server, which begins to hear what changes.
    #[must_use]
    pub fn new(backend: Backend, probe: Arc<dyn Probe>, options: StateOptions) -> Self {
        let (change_log, tasks) = (ChangeLog::new(), TaskTracker::new());
        let (listening, mut steady) = (Arc::<Steady>::default(), options.steady);
        steady.push(("changes", Arc::clone(&listening)));
        let changes = Arc::clone(&backend.changes);
        let subscribe = move || changes.subscribe(&system_actor());
        tasks.spawn(Arc::clone(&change_log).listen(subscribe, listening, options.shutdown.clone()));
        Self(Arc::new(Parts {
            backend,
            probe,
            site: Arc::new(options.site),
            sign_in_limit: Arc::new(SignInLimit::default()),
            devices: Arc::new(Devices::new(options.device_key)),
            answers: Arc::default(),
            oidc: options.oidc.into(),
            ways: Arc::new(options.ways),
            origin: Arc::new(OwnOrigin::new(options.public_url, options.tls)),
            welcome: Arc::new(Welcome::new(&options.cors_origins)),
            task_hosts: Arc::new(TaskHosts::new(options.proxy_url.as_deref())),
            trusted_proxies: options.trusted_proxies.into(),
            upload_limit: options.upload_limit.unwrap_or(UPLOAD_LIMIT),
            rates: Arc::new(Rates::new(&options.limits)),
            streams: Arc::new(Streams::new(&options.limits)),
            change_log,
            steady,
            metrics: Arc::new(Metrics::new(options.metrics_of_jobs)),
            metrics_token: options.metrics_token.map(Into::into),
            shutdown: options.shutdown,
            tasks,
        }))
    }
}

impl fmt::Debug for AppState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AppState").finish_non_exhaustive()
    }
}

/// What can be chosen about a server's state.
#[derive(Default)]
pub struct StateOptions {
    /// The address users type, when it is not the one we listen at (behind a proxy).
    pub public_url: Option<String>,
    /// Whether we encrypt ourselves.
    pub tls: bool,
    /// Below which name tasks have their hosts (`https://*.tasks.example.org`).
    pub proxy_url: Option<String>,
    /// Origins of other sites whose pages may call the programs' doors; `*`: all.
    pub cors_origins: Vec<String>,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpAddr>,
    /// The front end's files.
    pub site: Site,
    /// The most bytes of a file that is sent; 100 GB when nothing is said.
    pub upload_limit: Option<u64>,
    /// What makes the marks of known devices; one of this process when nothing is said.
    pub device_key: Option<[u8; 32]>,
    /// Providers with pages of their own.
    pub oidc: Vec<Arc<Oidc>>,
    /// What the page for signing in offers.
    pub ways: SignInWays,
    /// How much one may ask at a time.
    pub limits: Limits,
    /// What lets programs read the counters, beside administrators.
    pub metrics_token: Option<String>,
    /// Whether the counters tell of running jobs one by one.
    pub metrics_of_jobs: bool,
    /// What goes on beside it, of which readiness tells as well.
    pub steady: Vec<(&'static str, Arc<Steady>)>,
    /// Cancelled when the server stops.
    pub shutdown: CancellationToken,
}

impl fmt::Debug for StateOptions {
    /// Without the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateOptions").field("public_url", &self.public_url).finish_non_exhaustive()
    }
}
