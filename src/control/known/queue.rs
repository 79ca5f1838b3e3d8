//! Cluster and queue as the scheduler knows them: kept between passes by their one owner, told what
//! changed.

mod compared;
mod counted;
mod free;
mod had;
mod holdings;
mod owner;
mod published;
mod reader;
mod reasons;
mod said;
mod sane;
mod state;
#[cfg(test)]
pub(crate) mod tests;
mod told;

pub(crate) use compared::Essence;
pub(crate) use holdings::{Holding, Holdings, amount_of_each};
pub(crate) use owner::{SchedulerHandle, Unanswered};
pub(crate) use published::Published;
pub(crate) use reader::Reader;
pub(crate) use reasons::Reason;
pub(crate) use state::{Decided, Queue, held, waits_since};
pub(crate) use told::{News, request, wanted};
