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
mod restore;
mod serve;
mod table;
mod text;
mod users;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

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

/// What every command of the client understands.
#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    /// The server's address [default: the one of `berth login`, else http://127.0.0.1:8080]
    #[arg(long, env = "BERTH_SERVER", value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Prints JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
struct Plain {
    #[command(flatten)]
    common: Common,
}

/// Why a command did not do what it should: what is printed, without more.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct CommandError {
    message: String,
    /// What is wrong in a job file, one line each.
    problems: Vec<String>,
}

impl CommandError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), problems: Vec::new() }
    }
}

type Outcome = Result<(), anyhow::Error>;

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

/// The file in which `berth login` remembers where and who.
fn login_file() -> Option<PathBuf> {
    let home = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")))?;
    Some(home.join("berth").join("client.toml"))
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
