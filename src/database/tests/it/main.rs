//! The queries on real databases: every test runs on SQLite and on PostgreSQL.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod stage;

mod accounts;
mod attempts;
mod cluster;
mod copies;
mod crash;
mod full_disk;
mod hanging;
mod identity;
mod jobs;
mod lead;
mod lists;
mod notes;
mod notifications;
mod opening;
mod races;
mod retention;
mod tasks;
mod torn;
mod transactions;
mod unreadable;
mod upgrades;
