//! Jobs: what was asked for, and how far each has come.

mod file;
mod given;
mod job;
mod limit;
mod list;
mod listing;
mod load;
mod order;
mod read;
mod remove;
mod row;
mod sums;
mod write;

pub use given::{give_beyond, given_last};
pub use job::{Job, JobRow, JobUpdate, NewJob, StopRequest};
pub use limit::set_time_limit;
pub use list::{counts, list, refresh_lists};
pub(crate) use listing::Listing;
pub use load::{Load, load};
pub use order::{hold, move_many, release, set_priority};
pub use read::{
    active, active_after, active_but, active_of, begun, by_id, by_ids, by_key, ended_last,
    first_images, placed, placed_but, readable_rows, rows, text,
};
pub(crate) use read::{examine, ids_of};
pub use remove::{ends, remove_many};
pub use sums::{Sums, active_in, part_of, sums};
pub use write::{insert, insert_many, request_stop, update, update_many};
