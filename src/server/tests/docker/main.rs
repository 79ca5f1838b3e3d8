//! The `berth` binary over real Docker Engines, driven through REST as a client would.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../../../engine/tests/it/dockerd.rs"]
mod dockerd;
#[path = "../../../engine/tests/it/image.rs"]
mod image;
#[path = "../../../engine/tests/it/machine.rs"]
mod machine;

mod apart;
mod berth;
mod code;
mod crash;
mod doctor;
mod environment;
mod foreign;
mod gpus;
mod images;
mod lead;
mod moves;
mod plugins;
#[path = "../../../database/tests/it/stage/postgres.rs"]
mod postgres;
mod registry;
mod ssh;
mod starts;
mod terminal;
#[path = "../../../database/tests/it/stage/way.rs"]
mod way;
