//! The server while it leads.

use std::os::unix::fs::DirBuilderExt;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use control::{Consent, Control};
use database::lead::{FencingToken, Lead};
use database::{Database, Limits};
use protocol::time::Timestamp;
use storage::Storage;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::active_router::{ActiveRouter, Routers};
use super::private;
use crate::auth::session_store::{SessionDatabase, Store};
use crate::config::{Config, Demonstration, Providers};
use crate::guest;
use crate::health::OfControl;
use crate::openapi;
use crate::router::{metrics_router, router};
use crate::site::Site;
use crate::state::{AppState, StateOptions};

/// How long what it does by itself may take to end. What hangs in the database, an engine or a disk is
/// gone on with by whoever leads next, as after a crash.
const LEAVE: Duration = Duration::from_secs(10);

/// The server while it leads.
pub(super) struct Leading {
    lead: Lead,
    control: Arc<Control>,
    /// What goes on beside requests.
    beside: TaskTracker,
    tasks: TaskTracker,
    /// Ends all that goes on because it leads.
    over: CancellationToken,
}

impl Leading {
    /// Starts everything, and answers from now on, until `shutdown` or its end.
    pub(super) async fn begin(
        (config, consent): (&Config, Consent),
        lead: Lead,
        (active, shutdown): (&ActiveRouter, &CancellationToken),
    ) -> anyhow::Result<Self> {
        let Providers { options: sign_in, oidc, ways } = config.sign_in.providers()?;
        // What is asked is compared with it: it is made meanwhile, so that nobody's first question waits for it.
        drop(tokio::task::spawn_blocking(openapi::document));
        let control =
            start_control((config, consent), sign_in, lead.fencing_token().clone()).await?;
        let (control, tasks) = (Arc::new(control), TaskTracker::new());
        let over = shutdown.child_token();
        if config.demo == Demonstration::Living {
            tasks.spawn(demo::run(control.backend.clone(), over.clone()));
        }
        tasks.close();
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
            metrics_of_jobs: config.metrics.jobs,
            steady: config.tls.is_on().then(|| active.of_certificate()).into_iter().collect(),
            shutdown: over.clone(),
        };
        let probe = Arc::new(OfControl::new(Arc::clone(&control)));
        let state = AppState::new(control.backend.clone(), probe, options);
        let beside = state.tasks.clone();
        let portal = router(state.clone(), Store::new(control.clone()));
        let servers = portal.clone();
        active.set(Some(Routers { portal, metrics: metrics_router(state), servers }));
        Ok(Self { lead, control, beside, tasks, over })
    }

    /// The administrator's password when it was generated just now.
    pub(super) fn first_password(&self) -> Option<&str> {
        self.control.first_password.as_deref()
    }

    /// Returns once another server leads.
    pub(super) async fn lost(&self) {
        self.lead.fencing_token().lost().await;
    }

    /// Ends everything, and lets another server lead.
    pub(super) async fn end(self) {
        let Self { lead, control, beside, tasks, over } = self;
        over.cancel();
        beside.close();
        let ended = async {
            beside.wait().await;
            tasks.wait().await;
            control.shutdown().await;
        };
        let ended = tokio::time::timeout(LEAVE, ended).await.is_ok();
        if !ended {
            tracing::warn!("what does not end in time is left to the next start");
        }
        lead.give_back(ended).await;
    }
}

async fn start_control(
    (config, consent): (&Config, Consent),
    sign_in: control::SignInOptions,
    fencing_token: FencingToken,
) -> anyhow::Result<Control> {
    let data = &config.data;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(data)
        .with_context(|| format!("data = {}: the folder cannot be made", data.display()))?;
    private::what_is_there(data);
    if let Some(key) = &config.key_file {
        private::what_is_given(key);
    }
    let database =
        Database::open_by(&config.database_url(), Limits::default(), fencing_token).await;
    let database = database.context("database.url")?;
    let storage = Storage::open_with(config.storage_options()).context("storage")?;
    let root = config.storage_options().root;
    if config.storage.mount.is_some() && !root.contains("://") {
        private::what_tasks_leave(&root);
    }
    let mut first_password = None;
    if let Some(mode) = config.demo.mode() {
        first_password = demonstrate(config, (mode, consent), &database, &storage).await?;
    }
    let options = control::Options {
        database,
        storage,
        data: data.clone(),
        key: config.key_file.clone(),
        consent,
        nodes: config.nodes.clone(),
        first_node: config.first_node(),
        virtual_clusters: config.virtual_clusters.clone(),
        storages: config.storages.clone(),
        groups: config.groups.clone(),
        certificates: config.certificates.clone(),
        guests: guest::programs(config.guest.as_deref())?,
        storage_mount: config.storage.mount.clone(),
        images_quota: config.images_quota(),
        registries: config.images.registries.clone(),
        gpus: config.gpus(),
        several_servers: config.servers.listen.is_some(),
        checks: config.checks.clone(),
        container_disk: config.container_disk(),
        portal: config.portal(),
        admin_password: config.admin_password.clone(),
        rules: config.rules(),
        sign_in,
        notifying: config.notifying().context("notifications")?,
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
    (mode, consent): (demo::Mode, Consent),
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
    let (key, password) = (config.key(), config.admin_password.clone());
    let control::Founded { installation, first_password } =
        control::found(database, (&key, consent), password).await?;
    let now = Timestamp(time::OffsetDateTime::now_utc().unix_timestamp() * 1000);
    if ground == demo::Ground::Empty {
        demo::seed(database, storage, now).await?;
    }
    demo::revive(database, &installation, mode, now).await?;
    Ok(first_password)
}

impl SessionDatabase for Control {
    fn database(&self) -> &Database {
        Control::database(self)
    }
}
