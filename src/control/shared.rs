//! What operations and loops share: a handle of each room, to whom it belongs.

use crate::accounts::people::People;
use crate::container::held::Held;
use crate::known::counts::Counts;
use crate::known::identity::Identity;
use crate::known::jobs::KnownJobs;
use crate::known::live::Live;
use crate::known::nodes::KnownNodes;
use crate::known::outbound::Outbound;
use crate::known::readings::Readings;
use crate::known::settings::Settings;
use crate::logs::spools::held::Spools;
use crate::records::store::Store;
use crate::secrets::sealing::Seal;

/// What operations and loops share. Who needs little of it is given that alone. Locks in it are held for
/// moments only, never over an await.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) identity: Identity,
    pub(crate) seal: Seal,
    pub(crate) settings: Settings,
    pub(crate) store: Store,
    /// Logs of containers as far as they were read.
    pub(crate) spools: Spools,
    pub(crate) people: People,
    pub(crate) outbound: Outbound,
    pub(crate) live: Live,
    pub(crate) jobs: KnownJobs,
    pub(crate) nodes: KnownNodes,
    pub(crate) containers: Held,
    pub(crate) readings: Readings,
    pub(crate) counts: Counts,
}
