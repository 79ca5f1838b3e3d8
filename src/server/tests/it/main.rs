//! The doors of the server over real HTTP on a loopback port, with sessions in a real SQLite file.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

mod addresses;
mod audit;
mod clients;
mod command_line;
mod compression;
mod contract;
mod deletion;
mod door;
mod doors;
mod fakes;
mod files_door;
mod follow;
mod full_disk;
mod functions;
mod hall;
mod idle;
mod import;
mod languages;
mod lifecycle;
mod limits;
mod many;
mod measured;
mod metrics;
#[path = "../../../protocol/parse/tests/mistakes.rs"]
mod mistakes;
mod no_files;
mod nobody;
mod notifications;
mod openpai;
mod openpai_clients;
mod openpai_editor;
mod openpai_operations;
mod openpai_people;
mod operate;
mod pages;
#[path = "../../../directory/tests/it/provider.rs"]
mod provider;
mod proxy;
mod queue;
mod refusals;
mod revocation;
mod saved_views;
mod server;
mod shapes;
mod sign_in;
#[path = "../../../directory/tests/it/slapd.rs"]
mod slapd;
mod templates;
mod terminal;
mod way;
mod ways_in;
mod webhdfs;
mod webhdfs_abuse;
