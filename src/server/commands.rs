//! The command line.

mod backup;
mod client;
mod doctor;
mod enter;
mod import;
mod installation;
mod jobs;
mod logs;
mod migrate;
mod outcome;
mod reach;
mod restore;
mod serve;
mod table;
mod text;
mod users;
mod words;

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use outcome::CommandError;
use reach::Common;
pub use serve::Serve;

/// Runs deep-learning jobs on shared GPU machines.
#[derive(Debug, Parser)]
#[command(name = "berth", version, about)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serves pages and REST and runs the jobs
    Serve(Serve),
    /// Keeps database, key, configuration and a list of files in one file, also while it is served
    Backup(backup::Backup),
    /// Puts a backup into an empty place
    Restore(restore::Restore),
    /// Copies the SQLite database into an empty PostgreSQL database
    Migrate(migrate::Migrate),
    /// Signs in and remembers a token for the other commands
    Login(users::Login),
    /// Submits a job file (JSON or YAML; `-` reads standard input)
    Submit(jobs::Submit),
    /// Lists jobs
    Jobs(jobs::List),
    /// Shows one job
    Job(jobs::Show),
    /// Prints a task's log
    Logs(logs::Logs),
    /// Opens a shell in a task, or runs a command there
    Ssh(enter::Ssh),
    /// Copies files to or from a task
    Cp(enter::Copy),
    /// Makes ports of a task reachable here
    PortForward(enter::Forward),
    /// Stops jobs
    Stop(jobs::Stop),
    /// Deletes jobs that have ended, with their logs
    Delete(jobs::Delete),
    /// Lists nodes, or looks for the GPUs of one
    Nodes(table::Nodes),
    /// Looks at each node, tries it with a small job, and says what to mend
    Doctor(doctor::Doctor),
    /// Lists virtual clusters
    Vc(Plain),
    /// Lists or adds users
    Users(users::Users),
    /// Prints a fresh token for scripts
    Token(users::Token),
    /// Brings users, groups and more from another cluster manager
    Import(import::Import),
}

#[derive(Debug, Args)]
struct Plain {
    #[command(flatten)]
    common: Common,
}

/// Does what the command line says.
#[must_use]
pub fn run(cli: Cli) -> ExitCode {
    let outcome = match cli.command {
        Command::Serve(command) => command.run(),
        Command::Backup(command) => command.run(),
        Command::Restore(command) => command.run(),
        Command::Migrate(command) => command.run(),
        Command::Login(command) => command.run(),
        Command::Submit(command) => command.run(),
        Command::Jobs(command) => command.run(),
        Command::Job(command) => command.run(),
        Command::Logs(command) => command.run(),
        Command::Ssh(command) => command.run(),
        Command::Cp(command) => command.run(),
        Command::PortForward(command) => command.run(),
        Command::Stop(command) => command.run(),
        Command::Delete(command) => command.run(),
        Command::Nodes(command) => command.run(),
        Command::Doctor(command) => command.run(),
        Command::Vc(Plain { common }) => table::virtual_clusters(&common),
        Command::Users(command) => command.run(),
        Command::Token(command) => command.run(),
        Command::Import(command) => command.run(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error);
            ExitCode::FAILURE
        }
    }
}

/// One line, and the problems listed under it.
fn report(error: &anyhow::Error) {
    eprintln!("berth: {error:#}");
    if let Some(CommandError { problems, .. }) = error.downcast_ref() {
        for problem in problems {
            eprintln!("  {problem}");
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::Cli;
    use crate::config::{Config, Flags};

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_unit_of_the_package_starts_what_there_is() {
        let unit = include_str!("debian/berth.service");
        let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/")).unwrap();
        Cli::try_parse_from(start.split_whitespace()).unwrap();
        for wanted in [
            "Type=notify",
            "User=berth",
            "Restart=always",
            "LimitNOFILE=",
            "NoNewPrivileges=yes",
            "ProtectSystem=strict",
            "StateDirectory=berth",
        ] {
            assert!(unit.lines().any(|line| line.starts_with(wanted)), "{wanted}");
        }
    }

    #[test]
    fn the_configuration_of_the_package_is_one_with_all_its_examples() {
        let text = include_str!("debian/berth.toml");
        let is_example = |line: &str| line.starts_with('[') || line.contains(" = ");
        let lines = text.lines().map(|line| {
            line.strip_prefix("# ").filter(|example| is_example(example)).unwrap_or(line)
        });
        let all = lines.collect::<Vec<_>>().join("\n");
        let folder = tempfile::tempdir().unwrap();
        for text in [text, all.as_str()] {
            let file = folder.path().join("berth.toml");
            std::fs::write(&file, text).unwrap();
            let config = Config::load(Some(&file), [], &Flags::default()).unwrap();
            assert_eq!(config.data, std::path::Path::new("/var/lib/berth"));
            assert_eq!(config.nodes.len(), usize::from(text == all));
        }
    }
}
