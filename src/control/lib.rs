//! Operations and loops: what people ask for is stored as desired state by [`ops`]; the loops
//! compare it with what they observe and act.
//!
//! `ops/<noun>.rs` implement the traits of `api`; `loops/<name>.rs` are the only writers of
//! observed state and of transitions. Neither knows the other: what both need lies in the rooms
//! beneath them. Which room may use which is a table in `xtask/tests/house.rs`.

mod accounts;
mod container;
mod error;
mod files;
mod known;
mod lock;
mod logs;
mod loops;
mod ops;
mod records;
mod secrets;
mod shared;
mod start;
mod terminals;
mod wake;

pub use accounts::sign_in_options::{ProviderRights, SignInOptions};
pub use error::Error;
pub use known::engine_calls::CallTimes;
pub use known::gpus::GpuOptions;
pub use known::half_life::{HalfLife, NoHalfLife};
pub use known::metrics::past::Past;
pub use known::own_failures::OwnFailureCounts;
pub use known::passes::PassTimes;
pub use known::portal::Portal;
pub use known::posted::{Notifying, PostCounts};
pub use known::retention::{Kept, NotKept, Retention};
pub use known::rules::{Clock, ClosedNodes, ContainerDisk, MeasuredEvery, Rules, TokenRules};
pub use known::swept::SweptCounts;
pub use loops::supervised::Steady;
pub use start::{
    Consent, Control, Figures, Founded, KeyFile, LoopPass, Options, Part, derive_key, found, start,
};
