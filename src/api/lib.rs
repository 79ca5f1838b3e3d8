//! The contract of the product: what the pages and the REST doors can ask, and what they get.
//!
//! Views and requests are plain values that travel to the browser as they are; the operations are
//! small traits, gathered in [`Backend`], with the actor as the first argument of each.

mod actor;
pub mod audit;
mod backend;
pub mod changes;
pub mod cluster;
pub mod compare;
mod error;
pub mod files;
pub mod groups;
pub mod images;
pub mod job_filter;
pub mod jobs;
pub mod logs;
pub mod many;
pub mod metrics;
pub mod node_map;
pub mod notifications;
pub mod proxy;
pub mod quarantine;
pub mod queue;
pub mod saved_views;
pub mod servers;
pub mod sign_ins;
pub mod ssh;
pub mod storages;
pub mod task_files;
pub mod templates;
pub mod terminals;
pub mod usage;
pub mod users;

pub use actor::Actor;
pub use backend::Backend;
pub use error::{Error, ErrorCode, Result};
