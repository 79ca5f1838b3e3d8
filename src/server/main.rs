//! The `berth` binary: the server and the command-line client.

use clap::Parser;
use server::commands::{Cli, run};

fn main() -> std::process::ExitCode {
    run(Cli::parse())
}
