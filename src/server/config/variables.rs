use figment::value::{Dict, Map, Value};
use figment::{Metadata, Profile, Provider};

use super::ConfigError;

/// What a variable's text is.
#[derive(Clone, Copy)]
enum Kind {
    /// A text, whatever it looks like.
    Text,
    /// A number, a truth value, a list or a table, as TOML writes it.
    Value,
}

/// Every variable, the key it sets, and what its text is.
const KNOWN: [(&str, &str, Kind); 60] = [
    ("BERTH_LISTEN", "listen", Kind::Text),
    ("BERTH_DATA", "data", Kind::Text),
    ("BERTH_KEY_FILE", "key_file", Kind::Text),
    ("BERTH_PUBLIC_URL", "public_url", Kind::Text),
    ("BERTH_ALLOW_TASKS_AT_PORTAL", "allow_tasks_at_portal", Kind::Value),
    ("BERTH_HOSTS", "hosts", Kind::Value),
    ("BERTH_TLS_CERTIFICATE", "tls.certificate", Kind::Text),
    ("BERTH_TLS_KEY", "tls.key", Kind::Text),
    ("BERTH_TLS_HTTP_REDIRECT", "tls.http_redirect", Kind::Text),
    ("BERTH_TLS_ACME", "tls.acme", Kind::Value),
    ("BERTH_CONNECTIONS_TOTAL", "connections.total", Kind::Value),
    ("BERTH_CONNECTIONS_PER_ADDRESS", "connections.per_address", Kind::Value),
    ("BERTH_CORS_ORIGINS", "cors.origins", Kind::Value),
    ("BERTH_TRUSTED_PROXIES", "trusted_proxies", Kind::Value),
    ("BERTH_ADMIN_PASSWORD", "admin_password", Kind::Text),
    ("BERTH_CERTIFICATES", "certificates", Kind::Text),
    ("BERTH_DEMO", "demo", Kind::Value),
    ("BERTH_SITE", "site", Kind::Text),
    ("BERTH_GUEST", "guest", Kind::Text),
    ("BERTH_DATABASE_URL", "database.url", Kind::Text),
    ("BERTH_SERVERS_LISTEN", "servers.listen", Kind::Text),
    ("BERTH_STORAGE_ROOT", "storage.root", Kind::Text),
    ("BERTH_STORAGE_ENDPOINT", "storage.endpoint", Kind::Text),
    ("BERTH_STORAGE_USER", "storage.user", Kind::Text),
    ("BERTH_STORAGE_DELEGATION", "storage.delegation", Kind::Text),
    ("BERTH_STORAGE_QUOTA_MB", "storage.quota_mb", Kind::Value),
    ("BERTH_STORAGE_UPLOAD_LIMIT_MB", "storage.upload_limit_mb", Kind::Value),
    ("BERTH_STORAGE_MOUNT", "storage.mount", Kind::Text),
    ("BERTH_IMAGES_QUOTA_MB", "images.quota_mb", Kind::Value),
    ("BERTH_IMAGES_REGISTRIES", "images.registries", Kind::Value),
    ("BERTH_PROXY_URL", "proxy.url", Kind::Text),
    ("BERTH_TOKENS_LONGEST_DAYS", "tokens.longest_days", Kind::Value),
    ("BERTH_TOKENS_WITHOUT_END", "tokens.without_end", Kind::Value),
    ("BERTH_JOBS_PRIVATE", "jobs.private", Kind::Value),
    ("BERTH_JOBS_CONTAINER_DISK_GB", "jobs.container_disk_gb", Kind::Value),
    ("BERTH_RETENTION_JOBS", "retention.jobs", Kind::Text),
    ("BERTH_RETENTION_LOGS", "retention.logs", Kind::Text),
    ("BERTH_RETENTION_METRICS", "retention.metrics", Kind::Text),
    ("BERTH_RETENTION_EVENTS", "retention.events", Kind::Text),
    ("BERTH_RETENTION_AUDIT", "retention.audit", Kind::Text),
    ("BERTH_SCHEDULER_HALF_LIFE", "scheduler.half_life", Kind::Text),
    ("BERTH_SIGN_IN", "sign_in", Kind::Value),
    ("BERTH_MAIL", "mail", Kind::Value),
    ("BERTH_NOTIFICATIONS", "notifications", Kind::Value),
    ("BERTH_METRICS_TOKEN", "metrics.token", Kind::Text),
    ("BERTH_METRICS_LISTEN", "metrics.listen", Kind::Text),
    ("BERTH_METRICS_JOBS", "metrics.jobs", Kind::Value),
    ("BERTH_METRICS_TASKS", "metrics.tasks", Kind::Value),
    ("BERTH_LIMITS", "limits", Kind::Value),
    ("BERTH_LOG_FILTER", "log.filter", Kind::Text),
    ("BERTH_LOG_FORMAT", "log.format", Kind::Text),
    ("BERTH_GPU_TYPES", "gpu_types", Kind::Value),
    ("BERTH_GPU_IMAGE", "gpu_image", Kind::Text),
    ("BERTH_GPU_PRICES", "gpu_prices", Kind::Value),
    ("BERTH_GPU_WEIGHTS", "gpu_weights", Kind::Value),
    ("BERTH_CHECKS", "checks", Kind::Value),
    ("BERTH_NODES", "nodes", Kind::Value),
    ("BERTH_VIRTUAL_CLUSTERS", "virtual_clusters", Kind::Value),
    ("BERTH_STORAGES", "storages", Kind::Value),
    ("BERTH_GROUPS", "groups", Kind::Value),
];

/// Variables of the command-line client, of the build and of the tests.
const OTHERS: [&str; 4] = ["BERTH_CONFIG", "BERTH_TOKEN", "BERTH_SERVER", "BERTH_LANGUAGE"];
const OTHER_PREFIXES: [&str; 3] = ["BERTH_XTASK_", "BERTH_TEST_", "BERTH_BASE_IMAGE"];

/// The `BERTH_*` variables of the environment.
pub(super) struct Variables(Dict);

impl Variables {
    /// Takes what is ours; a name that we do not know is a mistake, since it surely was meant to
    /// do something, unless Kubernetes set it because a service is called `berth…`.
    pub(super) fn read(
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let mut dict = Dict::new();
        let mut unknown = Vec::new();
        for (name, text) in environment.into_iter().filter(|(name, _)| name.starts_with("BERTH_")) {
            match KNOWN.iter().find(|(known, ..)| *known == name) {
                Some((_, key, kind)) => set(&mut dict, key, value(*kind, text)),
                None if is_other(&name) || is_of_service(&name, &text) => {}
                None => unknown.push(name),
            }
        }
        if unknown.is_empty() {
            return Ok(Self(dict));
        }
        let known: Vec<_> = KNOWN.iter().map(|(name, ..)| *name).collect();
        let known = known.join(", ");
        let line = |name| format!("{name}: there is no such variable; allowed are {known}");
        Err(ConfigError(unknown.into_iter().map(line).collect()))
    }
}

fn is_other(name: &str) -> bool {
    OTHERS.contains(&name) || OTHER_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether it tells where a service is, as Kubernetes tells containers: `BERTH_SERVICE_HOST`,
/// `BERTH_SERVICE_PORT_HTTP`, `BERTH_PORT=tcp://10.0.0.1:80`, `BERTH_PORT_80_TCP_ADDR`.
fn is_of_service(name: &str, text: &str) -> bool {
    let of_service = name.ends_with("_SERVICE_HOST")
        || name.ends_with("_SERVICE_PORT")
        || name.contains("_SERVICE_PORT_");
    let is_address = ["tcp://", "udp://", "sctp://"].iter().any(|kind| text.starts_with(kind));
    let of_port = name.rsplit_once("_PORT_").map_or(name, |(_, rest)| rest);
    let number = of_port.split('_').next().unwrap_or_default();
    let numbered = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    of_service || name.ends_with("_PORT") && is_address || numbered
}

fn value(kind: Kind, text: String) -> Value {
    match kind {
        Kind::Text => Value::from(text),
        Kind::Value => match text.parse() {
            Ok(value) => value,
            Err(never) => match never {},
        },
    }
}

fn set(dict: &mut Dict, key: &str, value: Value) {
    match key.split_once('.') {
        None => {
            dict.insert(key.to_owned(), value);
        }
        Some((section, key)) => {
            let section =
                dict.entry(section.to_owned()).or_insert_with(|| Value::from(Dict::new()));
            if let Value::Dict(_, inner) = section {
                inner.insert(key.to_owned(), value);
            }
        }
    }
}

impl Provider for Variables {
    fn metadata(&self) -> Metadata {
        Metadata::named("BERTH_* variable")
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        Ok(Map::from([(Profile::Default, self.0.clone())]))
    }
}
