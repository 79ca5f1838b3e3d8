//! Everything Berth remembers: named queries over SQLite or PostgreSQL.
//!
//! [`Database`] opens the one or the other. Queries are functions grouped by noun; they take any
//! [`ConnectionTrait`], so that a caller decides what belongs to one transaction: reads take
//! [`Database::read`], writes take the [`Transaction`] of [`Database::begin`]. Lists of jobs take the
//! [`Database`]: they look at columns in memory. Rows and entities stay in here; what goes in and
//! comes out are the records below and the words of `protocol`. [`copies`] are of all of it.

pub mod attempts;
pub mod audit;
pub mod bearers;
pub mod copies;
pub mod damage;
pub mod events;
pub mod group_settings;
pub mod groups;
pub mod images;
pub mod jobs;
pub mod kept_jobs;
pub mod lead;
pub mod nodes;
pub mod notifications;
pub mod place;
pub mod private_images;
pub mod profiles;
pub mod provider_accounts;
pub mod public_keys;
pub mod saved_views;
pub mod secrets;
pub mod sessions;
pub mod settings;
pub mod storages;
pub mod tags;
pub mod tasks;
pub mod templates;
pub mod tokens;
pub mod trials;
pub mod usage;
pub mod user_names;
pub mod users;
pub mod virtual_clusters;

mod address;
mod bounded;
mod convert;
mod error;
mod migrations;
mod open;
#[cfg(test)]
mod plan;
mod size;
mod states;
mod transaction;

pub use error::{Error, Result};
pub use open::{Database, Limits, looking};
pub use sea_orm::ConnectionTrait;
pub use transaction::Transaction;
