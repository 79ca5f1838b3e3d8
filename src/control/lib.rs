//! Operations and loops: what people ask for is stored as desired state by [`ops`]; the loops
//! compare it with what they observe and act.
//!
//! `ops/<noun>.rs` implement the traits of `api`; `loops/<name>.rs` are the only writers of
//! observed state and of transitions.

mod active;
mod audit;
mod cluster;
mod code;
mod entry;
mod error;
mod folders;
mod guest;
mod happened;
mod images;
mod keys;
mod log_end;
mod loops;
mod ops;
mod own_failures;
mod passwords;
mod portal;
mod promises;
mod public_keys;
mod queue;
mod registry;
mod rights;
mod rules;
mod runs;
mod sealing;
mod shared;
mod spools;
mod start;
mod terminals;
mod tunnels;
mod wake;

pub use error::Error;
pub use loops::passes::PassTimes;
pub use own_failures::OwnFailureCounts;
pub use portal::Portal;
pub use rights::{ProviderRights, SignInOptions};
pub use rules::{ContainerDisk, Rules, TokenRules};
pub use start::{Control, Founded, Options, Readiness, found, start};
