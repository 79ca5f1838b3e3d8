//! `cargo xtask`: sets up what Berth needs, builds, serves, tests and measures it.

mod base_image;
mod bench;
mod deb;
mod docker;
mod guest;
mod node;
mod packages;
mod process;
mod progress;
mod release;
mod rust_target;
mod serve;
mod setup;
mod test;
mod web;
mod workspace;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::workspace::Workspace;

/// Sets up what Berth needs, builds, serves, tests and measures it.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Installs what is missing; quick when nothing is.
    Setup(setup::Options),
    /// Makes the front end in the target folder.
    Web {
        /// Quickly, not small.
        #[arg(long)]
        dev: bool,
    },
    /// Sets up, builds and starts Berth.
    Serve(serve::Options),
    /// Leaves one self-contained `berth` in the target folder.
    Build {
        /// Optimised, with the front end embedded.
        #[arg(long)]
        release: bool,
    },
    /// Makes the Debian package of it.
    Deb,
    /// Checks everything that CI checks.
    Test(test::Options),
    /// Measures the release binary; prints `name value unit` lines.
    Bench(Box<bench::Options>),
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let workspace = Workspace::find()?;
    match arguments.task {
        Task::Setup(options) => setup::run(&workspace, &options),
        Task::Web { dev } => {
            web::ensure(&workspace, if dev { web::Form::Quick } else { web::Form::Small })
        }
        Task::Serve(options) => serve::run(&workspace, &options),
        Task::Build { release: true } => release::build(&workspace).map(drop),
        Task::Build { release: false } => release::build_quick(&workspace).map(drop),
        Task::Deb => deb::build(&workspace),
        Task::Test(options) => test::run(&workspace, &options),
        Task::Bench(options) => bench::run(&workspace, &options),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        super::Arguments::command().debug_assert();
    }
}
