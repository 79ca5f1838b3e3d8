use async_trait::async_trait;
use serde::Serialize;

/// Asks the parts below how they are.
#[async_trait]
pub trait Probe: Send + Sync {
    /// One answer for each part. It comes within two seconds, whatever hangs.
    async fn readiness(&self) -> Vec<Check>;
    /// Measurements of the loops, for Prometheus.
    async fn measurements(&self) -> Vec<Measurement>;
}

/// How one part is.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    /// `database`, `storage`, `loop jobs`, …
    pub name: String,
    /// Whether it is well.
    pub ready: bool,
    /// Whether no work can be taken without it.
    pub needed: bool,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Something that is measured.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// Name in the style of Prometheus, without the prefix `berth_`.
    pub name: &'static str,
    /// What it means.
    pub help: &'static str,
    /// How much.
    pub value: Value,
}

/// A measured value, as one of Prometheus' types.
#[derive(Debug, Clone)]
pub enum Value {
    /// As it is now.
    Gauge(f64),
    /// As it is now, of several.
    Gauges(Vec<(Labels, f64)>),
    /// How often something happened.
    Counter(u64),
    /// How often something happened to each of several.
    Counters(Vec<(Labels, u64)>),
    /// How often something happened, and all of it together.
    Summary {
        /// How often.
        count: u64,
        /// Together.
        sum: f64,
    },
    /// How much it was how often, of several.
    Histograms(Vec<(Labels, Histogram)>),
}

/// What tells one of several from the others.
pub type Labels = Vec<(&'static str, String)>;

/// How much something was how often.
#[derive(Debug, Clone)]
pub struct Histogram {
    /// Bounds, and how often it was no more than each.
    pub within: Vec<(f64, u64)>,
    /// How often it was measured.
    pub count: u64,
    /// All of it together.
    pub sum: f64,
}
