//! The server's configuration: a file, then `BERTH_*` variables, then flags; the later wins.
//! Nothing else reads the environment.

mod demonstration;
mod door;
mod gpus;
mod notifications;
mod retention;
mod scheduler;
mod servers;
mod sign_in;
mod stored;
mod variables;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use axum::http::Uri;
use clap::ValueEnum;
use control::{GpuOptions, Portal};
use figment::Figment;
use figment::providers::{Format, Serialized, Toml};
use post::MailSettings;
use protocol::amount::Amount;
use protocol::cluster::{NodeSettings, VirtualClusterSettings};
use protocol::gpus::GpuWeights;
use protocol::health::Check;
use protocol::ids::{GpuType, NodeName};
use protocol::person::GroupSettings;
use protocol::storages::StorageSettings;
use serde::{Deserialize, Serialize};

use crate::limits::Limits;
use crate::task_hosts::is_pattern;
pub use demonstration::Demonstration;
pub use door::{AcmeConfig, ConnectionsConfig, CorsConfig, TlsConfig};
pub use notifications::NotificationsConfig;
pub use retention::RetentionConfig;
pub use scheduler::SchedulerConfig;
pub use servers::ServersConfig;
pub use sign_in::{Providers, SignInConfig};
use stored::bytes;
pub use stored::{DatabaseConfig, ImagesConfig, StorageConfig};
use variables::Variables;

/// Everything that can be configured.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Address and port to serve at.
    pub listen: SocketAddr,
    /// Folder of the database, the users' files and the logs.
    pub data: PathBuf,
    /// The key that seals secrets, in place of the data folder's own; it is not made.
    pub key_file: Option<PathBuf>,
    /// The address users type, when a proxy is in front (`https://berth.example.org`).
    pub public_url: Option<String>,
    /// Further names that we go by; requests for others are refused.
    pub hosts: Vec<String>,
    /// Encryption by the server itself.
    pub tls: TlsConfig,
    /// How many connections there may be.
    pub connections: ConnectionsConfig,
    /// Whether tasks may be at the portal's own host without https, where what they serve is sent
    /// the sessions of those who open it: for who trusts all users.
    pub allow_tasks_at_portal: bool,
    /// Which other sites' pages may call.
    pub cors: CorsConfig,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpAddr>,
    /// The administrator's first password; else one is made up and printed once.
    pub admin_password: Option<String>,
    /// Folder with `ca.pem`, `cert.pem` and `key.pem` for engines reached by TLS.
    pub certificates: Option<PathBuf>,
    /// Makes an empty data folder a simulated cluster to look at.
    pub demo: Demonstration,
    /// The front end's folder; else what the binary has.
    pub site: Option<PathBuf>,
    /// The program that is put into containers, in place of the binary's own.
    pub guest: Option<PathBuf>,
    /// The database.
    pub database: DatabaseConfig,
    /// Other servers of the same database.
    pub servers: ServersConfig,
    /// Users' files.
    pub storage: StorageConfig,
    /// What users save from containers.
    pub images: ImagesConfig,
    /// Pages of tasks.
    pub proxy: ProxyConfig,
    /// API tokens.
    pub tokens: TokensConfig,
    /// Jobs.
    pub jobs: JobsConfig,
    /// For how long what is over is remembered.
    pub retention: RetentionConfig,
    /// Who goes first.
    pub scheduler: SchedulerConfig,
    /// How people sign in.
    pub sign_in: SignInConfig,
    /// The server that sends mail; none: none is sent.
    pub mail: Option<MailSettings>,
    /// How people are told what they do not see.
    pub notifications: NotificationsConfig,
    /// Who may read `/metrics`.
    pub metrics: MetricsConfig,
    /// How much one may ask at a time.
    pub limits: Limits,
    /// What is written to standard error.
    pub log: LogConfig,
    /// How types of GPUs are named: patterns of what the driver calls them, by type.
    pub gpu_types: BTreeMap<GpuType, Vec<String>>,
    /// The image in which drivers are asked for GPUs.
    pub gpu_image: String,
    /// What an hour of a GPU costs, by its type.
    pub gpu_prices: BTreeMap<GpuType, Amount>,
    /// As how many GPUs one counts where users share by what they have had: by patterns of types' names.
    pub gpu_weights: GpuWeights,
    /// Commands that say whether nodes are well.
    pub checks: Vec<Check>,
    /// Worker nodes. None: those that the pages added, and at first the Docker engine of this machine.
    pub nodes: Vec<NodeSettings>,
    /// Virtual clusters beside `default`.
    pub virtual_clusters: Vec<VirtualClusterSettings>,
    /// Folders beside the users' own files that tasks may have.
    pub storages: Vec<StorageSettings>,
    /// Groups of users.
    pub groups: Vec<GroupSettings>,
}

/// Pages of tasks.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProxyConfig {
    /// Below which name each task has a host of its own (`https://*.tasks.example.org`); none: below
    /// `localhost`, for those who reach the portal by a loopback address.
    pub url: Option<String>,
}

/// API tokens.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TokensConfig {
    /// The longest life of a token, in days.
    pub longest_days: u32,
    /// Whether tokens may live until they are revoked.
    pub without_end: bool,
}

/// Jobs.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct JobsConfig {
    /// Whether job files, commands and what happened to jobs are for their owners and
    /// administrators only.
    pub private: bool,
    /// The most a task may write into its container, in GB, unless it asks for more disk.
    pub container_disk_gb: u64,
}

impl Default for JobsConfig {
    fn default() -> Self {
        let control::ContainerDisk { most, .. } = control::ContainerDisk::default();
        Self { private: false, container_disk_gb: most / 1_000_000_000 }
    }
}

impl Default for TokensConfig {
    fn default() -> Self {
        let control::TokenRules { longest_days, without_end } = control::TokenRules::default();
        Self { longest_days, without_end }
    }
}

/// Who may read `/metrics`, beside administrators, and what is measured and told there.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MetricsConfig {
    /// Whoever sends it (`Authorization: Bearer …`).
    pub token: Option<String>,
    /// Whoever reaches this address; with `token`, only who has that as well.
    pub listen: Option<SocketAddr>,
    /// Running jobs are told of one by one.
    pub jobs: bool,
    /// What tasks and their GPUs use is measured.
    pub tasks: bool,
}

impl Default for MetricsConfig {
    fn default() -> Self {
        Self { token: None, listen: None, jobs: false, tasks: true }
    }
}

impl std::fmt::Debug for MetricsConfig {
    /// Without the token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { token: _, listen, jobs, tasks } = self;
        let mut shown = f.debug_struct("MetricsConfig");
        let shown = shown.field("listen", listen).field("jobs", jobs).field("tasks", tasks);
        shown.finish_non_exhaustive()
    }
}

/// The log.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogConfig {
    /// What is logged, as `info` or `info,server=debug`.
    pub filter: String,
    /// `text` for people, `json` for programs, `journal` for that of systemd.
    pub format: LogFormat,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For programs: one JSON object a line.
    Json,
    /// For the journal of systemd: without the time, and before each line how urgent it is, as `<6>`.
    Journal,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self { filter: "info".to_owned(), format: LogFormat::Text }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            data: PathBuf::from("data"),
            public_url: None,
            hosts: Vec::new(),
            tls: TlsConfig::default(),
            connections: ConnectionsConfig::default(),
            allow_tasks_at_portal: false,
            cors: CorsConfig::default(),
            trusted_proxies: Vec::new(),
            admin_password: None,
            certificates: None,
            demo: Demonstration::Off,
            site: None,
            guest: None,
            key_file: None,
            database: DatabaseConfig::default(),
            servers: ServersConfig::default(),
            storage: StorageConfig::default(),
            images: ImagesConfig::default(),
            proxy: ProxyConfig::default(),
            tokens: TokensConfig::default(),
            jobs: JobsConfig::default(),
            retention: RetentionConfig::default(),
            scheduler: SchedulerConfig::default(),
            sign_in: SignInConfig::default(),
            mail: None,
            notifications: NotificationsConfig::default(),
            metrics: MetricsConfig::default(),
            limits: Limits::default(),
            log: LogConfig::default(),
            gpu_types: BTreeMap::new(),
            gpu_image: GpuOptions::default().image,
            gpu_prices: BTreeMap::new(),
            gpu_weights: GpuWeights::default(),
            checks: Vec::new(),
            nodes: Vec::new(),
            virtual_clusters: Vec::new(),
            storages: Vec::new(),
            groups: Vec::new(),
        }
    }
}

impl std::fmt::Debug for Config {
    /// Without the password, and without the database's address, which may hold one.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config")
            .field("listen", &self.listen)
            .field("data", &self.data)
            .finish_non_exhaustive()
    }
}

/// What the command line says; what is left out is not said.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Flags {
    /// `--listen`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen: Option<String>,
    /// `--data`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<PathBuf>,
    /// `--demo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demo: Option<Demonstration>,
    /// What is said of the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<LogFlags>,
}

/// What the command line says of the log.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct LogFlags {
    /// `--log-format`.
    pub format: LogFormat,
}

/// A configuration that cannot be used: one line a mistake.
#[derive(Debug, thiserror::Error)]
#[error("the configuration cannot be used:\n{}", .0.join("\n"))]
pub struct ConfigError(pub Vec<String>);

impl Config {
    /// Reads everything and checks it.
    ///
    /// # Errors
    /// [`ConfigError`] names each key, its value and what is allowed.
    pub fn load(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (String, String)>,
        flags: &Flags,
    ) -> Result<Self, ConfigError> {
        let variables = Variables::read(environment)?;
        let mut figment = Figment::new();
        if let Some(path) = file {
            if !path.is_file() {
                let line = format!("--config {}: there is no such file", path.display());
                return Err(ConfigError(vec![line]));
            }
            figment = figment.merge(Toml::file_exact(path));
        }
        let figment = figment.merge(variables).merge(Serialized::defaults(flags));
        let config: Config = figment.extract().map_err(mistakes)?;
        config.check()
    }

    fn check(self) -> Result<Self, ConfigError> {
        let mut lines = Vec::new();
        if let Some(url) = &self.public_url
            && !(url.starts_with("http://") || url.starts_with("https://"))
        {
            lines.push(format!("public_url = {url:?}: allowed is http://HOST or https://HOST"));
        }
        for host in self.hosts.iter().filter(|host| !door::is_host(host)) {
            lines.push(format!(
                "hosts: {host:?}: allowed are names and addresses, without scheme and port"
            ));
        }
        lines.extend(self.cors.mistakes());
        lines.extend(self.tls.mistakes(self.listen, self.public_url.as_deref()));
        lines.extend(self.connections.mistakes());
        if let Some(password) = &self.admin_password
            && password.chars().count() < 8
        {
            lines.push("admin_password: allowed are 8 characters or more".to_owned());
        }
        if let Some(url) = &self.database.url
            && !["sqlite:", "postgres://", "postgresql://"].iter().any(|kind| url.starts_with(kind))
        {
            lines.push(
                "database.url: allowed is sqlite://PATH or postgres://USER@HOST/NAME".to_owned(),
            );
        }
        lines.extend(self.servers.mistakes(&self.nodes));
        if self.metrics.token.as_ref().is_some_and(|token| token.len() < 16) {
            lines.push("metrics.token: allowed are 16 characters or more".to_owned());
        }
        if let Some(mount) = &self.storage.mount
            && !mount.starts_with('/')
        {
            lines.push(format!("storage.mount = {mount:?}: allowed is an absolute path"));
        }
        if let Some(url) = self.proxy.url.as_ref().filter(|url| !is_pattern(url)) {
            lines.push(format!("proxy.url = {url:?}: allowed is https://*.HOST or http://*.HOST"));
        }
        if self.tokens.longest_days == 0 {
            lines.push("tokens.longest_days = 0: allowed is 1 and more".to_owned());
        }
        lines.extend(self.images.mistakes());
        lines.extend(self.retention.mistakes());
        lines.extend(self.sign_in.mistakes(self.public_url.as_deref()));
        for (index, node) in self.nodes.iter().enumerate() {
            let mistakes = node.mistakes().into_iter();
            lines.extend(mistakes.map(|mistake| format!("nodes[{index}].{mistake}")));
        }
        for (index, check) in self.checks.iter().enumerate() {
            let mistakes = check.mistakes().into_iter();
            lines.extend(mistakes.map(|mistake| format!("checks[{index}].{mistake}")));
        }
        repeated("checks", self.checks.iter().map(|check| check.name.as_str()), &mut lines);
        repeated("nodes", self.nodes.iter().map(|node| node.name.as_str()), &mut lines);
        lines.extend(protocol::cluster::shared_engines(&self.nodes));
        let clusters = self.virtual_clusters.iter().map(|cluster| cluster.name.as_str());
        repeated("virtual_clusters", clusters, &mut lines);
        let mistakes = self.virtual_clusters.iter().flat_map(VirtualClusterSettings::mistakes);
        lines.extend(mistakes.map(|mistake| mistake.to_string()));
        let storages = self.storages.iter().map(|storage| storage.name.as_str());
        repeated("storages", storages, &mut lines);
        let mistakes = protocol::storages::mistakes(&self.storages);
        lines.extend(mistakes.iter().map(ToString::to_string));
        for (index, group) in self.groups.iter().enumerate() {
            let mistakes = group.mistakes().into_iter();
            lines.extend(mistakes.map(|mistake| format!("groups[{index}].{mistake}")));
        }
        repeated("groups", self.groups.iter().map(|group| group.name.as_str()), &mut lines);
        if lines.is_empty() { Ok(self) } else { Err(ConfigError(lines)) }
    }

    /// Whether users reach us by https: we encrypt, or somebody in front of us does.
    #[must_use]
    pub fn is_https(&self) -> bool {
        let in_front = self.public_url.as_ref().is_some_and(|url| url.starts_with("https://"));
        in_front || self.tls.is_on()
    }

    /// Where the file names no node, a new installation has the Docker engine of this machine, unless
    /// servers on other machines may lead as well.
    #[must_use]
    pub fn first_node(&self) -> Option<NodeSettings> {
        (self.nodes.is_empty() && self.servers.listen.is_none()).then(|| {
            let name = NodeName::new("local").expect("the word is a valid node name");
            NodeSettings::new(name, "127.0.0.1", "unix:///var/run/docker.sock")
        })
    }

    /// Where the key is that seals secrets.
    #[must_use]
    pub fn key(&self) -> control::KeyFile {
        control::KeyFile::new(&self.data, self.key_file.clone())
    }

    /// Where the portal is, of which tasks are kept apart.
    #[must_use]
    pub fn portal(&self) -> Portal {
        let url = self.public_url.as_deref().and_then(|url| url.parse::<Uri>().ok());
        Portal {
            listen: vec![self.listen.ip()],
            host: url.as_ref().and_then(Uri::host).map(str::to_owned),
            https: self.is_https(),
            tasks_allowed: self.allow_tasks_at_portal,
        }
    }

    /// What this installation decides about accounts and jobs.
    #[must_use]
    pub fn rules(&self) -> control::Rules {
        let TokensConfig { longest_days, without_end } = self.tokens;
        let tokens = control::TokenRules { longest_days, without_end };
        control::Rules {
            tokens,
            private_jobs: self.jobs.private,
            retention: self.retention.retention(),
            closed_nodes: control::ClosedNodes::default(),
            measured_every: control::MeasuredEvery::default(),
            clock: control::Clock::default(),
            unmeasured: !self.metrics.tasks,
            half_life: self.scheduler.half_life,
        }
    }

    /// What tasks may write into their containers.
    #[must_use]
    pub fn container_disk(&self) -> control::ContainerDisk {
        let most = bytes(self.jobs.container_disk_gb.saturating_mul(1000));
        control::ContainerDisk { most, ..control::ContainerDisk::default() }
    }
}

fn repeated<'a>(what: &str, names: impl Iterator<Item = &'a str>, lines: &mut Vec<String>) {
    let mut seen = std::collections::BTreeSet::new();
    for name in names.filter(|name| !seen.insert(*name)) {
        lines.push(format!("{what}: the name {name:?} is there twice"));
    }
}

/// One line a mistake: where it is written, the key, and what is wrong with its value.
fn mistakes(error: figment::Error) -> ConfigError {
    let lines = error.into_iter().map(|error| {
        let key = error.path.join(".");
        let place = error.metadata.as_ref().map(|source| match &source.source {
            Some(place) => format!("{place}: "),
            None => format!("{}: ", source.name),
        });
        let place = place.unwrap_or_default();
        let colon = if key.is_empty() { "" } else { ": " };
        format!("{place}{key}{colon}{}", error.kind)
    });
    ConfigError(lines.collect())
}

#[cfg(test)]
mod tests;
