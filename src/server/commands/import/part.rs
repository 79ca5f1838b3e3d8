use clap::ValueEnum;
use serde::Serialize;

/// What can be brought.
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

impl Part {
    /// What one of it is called.
    pub(super) fn one(self) -> &'static str {
        match self {
            Self::Groups => "group",
            Self::VirtualClusters => "virtual cluster",
            Self::Storages => "storage",
            Self::Users => "user",
            Self::Templates => "template",
        }
    }
}
