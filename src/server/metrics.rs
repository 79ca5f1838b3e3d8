//! Counters of the server, and the gauges of the cluster that are read when somebody asks.

mod series;

use std::fmt::Write;
use std::time::{Duration, Instant};

use api::Backend;
use api::jobs::JobQuery;
use axum::http::Method;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use protocol::amount::Amount;
use protocol::cluster::NodeCondition;
use protocol::health::Grade;
use protocol::state::State;
use tokio::sync::Mutex;

use crate::auth::system_actor::system_actor;
use crate::probe::{Histogram as Counts, Measurement, Probe, Value};

/// Where they are read.
pub(crate) const PATH: &str = "/metrics";
/// As what they are told.
pub(crate) const KIND: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// How long what was counted in the database is told again.
const KEPT: Duration = Duration::from_secs(5);

/// What cannot be counted within so long is left out: who asks has alarms that cannot wait for it.
const PATIENCE: Duration = Duration::from_secs(2);

/// The server's own counters.
pub(crate) struct Metrics {
    registry: Registry,
    /// What the cluster's gauges were, and when; whoever asks meanwhile waits for the same count.
    gauges: Mutex<Option<(Instant, String)>>,
    requests: Family<RequestLabels, Counter>,
    durations: Family<RouteLabels, Histogram, fn() -> Histogram>,
    /// Whether running jobs are told of one by one.
    of_jobs: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: String,
    route: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: String,
}

impl Metrics {
    pub(crate) fn new(of_jobs: bool) -> Self {
        let mut registry = Registry::with_prefix("berth");
        let requests = Family::default();
        registry.register("http_requests", "Requests answered", requests.clone());
        let durations: Family<_, _, fn() -> Histogram> =
            Family::new_with_constructor(|| Histogram::new(exponential_buckets(0.001, 2.0, 14)));
        registry.register(
            "http_request_duration_seconds",
            "Time from request to the answer's head",
            durations.clone(),
        );
        Self { registry, gauges: Mutex::default(), requests, durations, of_jobs }
    }

    /// Counts one request. `route` is the pattern, never the path: the number of series is bounded.
    pub(crate) fn request(&self, method: &Method, route: &str, status: u16, elapsed: Duration) {
        let labels = RequestLabels {
            method: known_method(method).to_owned(),
            route: route.to_owned(),
            status,
        };
        self.requests.get_or_create(&labels).inc();
        let labels = RouteLabels { route: route.to_owned() };
        self.durations.get_or_create(&labels).observe(elapsed.as_secs_f64());
    }

    /// Everything, in OpenMetrics text.
    pub(crate) async fn scrape(&self, backend: &Backend, probe: &dyn Probe) -> String {
        let mut text = self.gauges(backend).await;
        for measurement in probe.measurements().await {
            self::measurement(&mut text, &measurement);
        }
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }

    async fn gauges(&self, backend: &Backend) -> String {
        let mut gauges = self.gauges.lock().await;
        match &*gauges {
            Some((at, text)) if at.elapsed() < KEPT => text.clone(),
            _ => {
                let mut text = String::new();
                let counting = cluster(&mut text, backend, self.of_jobs);
                let counted = tokio::time::timeout(PATIENCE, counting).await;
                if counted.is_err() {
                    tracing::warn!("jobs and nodes take too long to be counted for the metrics");
                }
                *gauges = Some((Instant::now(), text.clone()));
                text
            }
        }
    }
}

fn known_method(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "DELETE" => "DELETE",
        "PATCH" => "PATCH",
        _ => "other",
    }
}

async fn cluster(text: &mut String, backend: &Backend, of_jobs: bool) {
    let actor = system_actor();
    match backend.jobs.counts(&actor, &JobQuery::default()).await {
        Ok(counts) => {
            gauge(text, "jobs", "Jobs by state");
            for state in State::ALL {
                let label = format!("state=\"{}\"", state.as_str().to_lowercase());
                line(text, "jobs", &label, counts.get(&state).copied().unwrap_or(0) as f64);
            }
        }
        Err(error) => tracing::warn!(%error, "jobs cannot be counted for the metrics"),
    }
    match backend.nodes.list(&actor).await {
        Ok(nodes) => {
            node_gauges(text, &nodes);
            series::of_nodes(text, &nodes);
            if of_jobs {
                series::of_jobs(text, &nodes);
            }
        }
        Err(error) => tracing::warn!(%error, "nodes cannot be counted for the metrics"),
    }
    match backend.virtual_clusters.list(&actor).await {
        Ok(clusters) => series::of_virtual_clusters(text, &clusters),
        Err(error) => tracing::warn!(%error, "virtual clusters cannot be told in the metrics"),
    }
}

fn node_gauges(text: &mut String, nodes: &[api::cluster::NodeView]) {
    gauge(text, "nodes", "Nodes by condition");
    for (condition, word) in [
        (NodeCondition::Ready, "ready"),
        (NodeCondition::Draining, "draining"),
        (NodeCondition::Unreachable, "unreachable"),
    ] {
        let count = nodes.iter().filter(|node| node.condition == condition).count();
        line(text, "nodes", &format!("condition=\"{word}\""), count as f64);
    }
    gauge(text, "nodes_closed", "Nodes that were closed since they failed to start containers");
    let closed = nodes.iter().filter(|node| node.closed.is_some()).count();
    line(text, "nodes_closed", "", closed as f64);
    gauge(text, "nodes_unhealthy", "Nodes of which something is wrong, by how bad it is");
    for (grade, word) in [(Grade::Warning, "warning"), (Grade::Failed, "failed")] {
        let is_so = |node: &&api::cluster::NodeView| {
            node.health.ailments.iter().any(|known| known.grade == grade)
        };
        let count = nodes.iter().filter(is_so).count();
        line(text, "nodes_unhealthy", &format!("grade=\"{word}\""), count as f64);
    }
    let gpus = || nodes.iter().flat_map(|node| &node.gpus);
    gauge(text, "gpus", "GPUs of all nodes");
    line(text, "gpus", "", gpus().count() as f64);
    gauge(text, "gpus_used", "GPUs that tasks hold, parts of them counted as parts");
    line(text, "gpus_used", "", gpus().map(|gpu| gpu.used).sum::<Amount>().to_f64());
}

fn measurement(text: &mut String, measurement: &Measurement) {
    let Measurement { name, help, value } = measurement;
    match value {
        Value::Gauge(value) => {
            gauge(text, name, help);
            line(text, name, "", *value);
        }
        Value::Gauges(several) => {
            gauge(text, name, help);
            several.iter().for_each(|(of, value)| line(text, name, &labels(of), *value));
        }
        Value::Counter(count) => {
            header(text, name, help, "counter");
            line(text, &format!("{name}_total"), "", *count as f64);
        }
        Value::Counters(several) => {
            header(text, name, help, "counter");
            let name = format!("{name}_total");
            several.iter().for_each(|(of, count)| line(text, &name, &labels(of), *count as f64));
        }
        Value::Summary { count, sum } => {
            header(text, name, help, "summary");
            line(text, &format!("{name}_count"), "", *count as f64);
            line(text, &format!("{name}_sum"), "", *sum);
        }
        Value::Histograms(several) => {
            header(text, name, help, "histogram");
            several.iter().for_each(|(of, counts)| histogram(text, name, &labels(of), counts));
        }
    }
}

fn histogram(text: &mut String, name: &str, of: &str, counts: &Counts) {
    let Counts { within, count, sum } = counts;
    let bounds = within.iter().map(|(bound, count)| (format!("{bound:?}"), *count));
    for (bound, count) in bounds.chain([("+Inf".to_owned(), *count)]) {
        let comma = if of.is_empty() { "" } else { "," };
        let of = format!("{of}{comma}le=\"{bound}\"");
        line(text, &format!("{name}_bucket"), &of, count as f64);
    }
    line(text, &format!("{name}_count"), of, *count as f64);
    line(text, &format!("{name}_sum"), of, *sum);
}

/// Labels as they are written: values may have anything in them.
fn labels(labels: &[(&'static str, String)]) -> String {
    let label = |(name, value): &(&'static str, String)| {
        let value = value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
        format!("{name}=\"{value}\"")
    };
    labels.iter().map(label).collect::<Vec<_>>().join(",")
}

fn gauge(text: &mut String, name: &str, help: &str) {
    header(text, name, help, "gauge");
}

fn header(text: &mut String, name: &str, help: &str, kind: &str) {
    // Writing to a string cannot fail.
    let _ = write!(text, "# HELP berth_{name} {help}.\n# TYPE berth_{name} {kind}\n");
}

fn line(text: &mut String, name: &str, labels: &str, value: f64) {
    // Writing to a string cannot fail.
    let _ = match labels {
        "" => writeln!(text, "berth_{name} {value}"),
        labels => writeln!(text, "berth_{name}{{{labels}}} {value}"),
    };
}
