use clap::ValueEnum;
use serde::Serialize;

/// What can be brought, in the order of its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Part {
    Groups,
    VirtualClusters,
    Storages,
    Users,
    #[value(skip)]
    Templates,
}
