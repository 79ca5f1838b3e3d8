//! The doors of the server over real HTTP on a loopback port, with sessions in a real SQLite file.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

mod audit;
mod clients;
mod doors;
mod fakes;
mod files_door;
mod hall;
mod lifecycle;
#[path = "../../../protocol/parse/tests/mistakes.rs"]
mod mistakes;
mod no_files;
mod proxy;
mod queue;
mod refusals;
mod revocation;
mod server;
mod shapes;
mod sign_in;
mod terminal;
mod webhdfs;
mod webhdfs_abuse;
