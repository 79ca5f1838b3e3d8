//! The `berth` binary: the server and the command-line client.

use clap::Parser;
use mimalloc::MiMalloc;
use server::commands::{Cli, run};

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> std::process::ExitCode {
    run(Cli::parse())
}
