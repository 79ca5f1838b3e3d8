//! The loops on simulated nodes and a real database: jobs run, fail, are stopped, are tried again,
//! and survive whatever happens to server and nodes.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod accounts;
mod blame;
mod checks;
mod crash;
mod drains;
mod engines;
mod files;
mod gpus;
mod groups;
mod health;
mod house;
mod identity;
mod images;
mod large;
mod lead;
mod leases;
mod life;
mod limits;
mod logs;
mod metrics;
mod month;
mod mounts;
mod node_selectors;
mod nodes;
mod notifications;
mod own_failures;
mod parts;
#[path = "../../../database/tests/it/stage/postgres.rs"]
mod postgres;
mod preemption;
mod private_images;
mod queue;
mod races;
mod retention;
mod shares;
mod silence;
mod storages;
mod terminals;
mod unreadable;
mod user_limits;
mod volumes;
#[path = "../../../database/tests/it/stage/way.rs"]
mod way;
mod wholes;
