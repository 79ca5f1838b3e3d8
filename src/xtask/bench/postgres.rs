//! A PostgreSQL of our own, which is killed and comes again.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use super::ports;
use crate::process::output;
use crate::progress::note;

/// How long it may take until it answers, also where others use the machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// A running server with its data in a folder, which goes with it.
#[derive(Debug)]
pub(super) struct Postgres {
    programs: PathBuf,
    folder: PathBuf,
    /// Whom it runs as, where we are root: it refuses to be root.
    user: Option<(u32, u32)>,
    port: u16,
    losses: Losses,
    process: Child,
}

/// Which database servers have that are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Kind {
    /// A file.
    Sqlite,
    /// A server of its own.
    Postgres,
}

impl Kind {
    /// The database for one server; `None`: it has that for itself.
    pub(super) fn start(self) -> Result<Option<Postgres>> {
        (self == Self::Postgres).then(|| Postgres::start(Losses::None)).transpose()
    }
}

/// What is lost when the machine's power is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Losses {
    /// Nothing, as where people's jobs are.
    None,
    /// What the kernel has not written: whoever only kills processes loses nothing.
    Unwritten,
}

impl Postgres {
    pub(super) fn start(losses: Losses) -> Result<Self> {
        let programs = programs()?;
        let folder = std::env::temp_dir().join(format!("berth-postgres-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        let is_roots = folder.metadata()?.uid() == 0;
        let user = is_roots.then(unprivileged).transpose()?;
        if let Some((user, group)) = user {
            chown(&folder, Some(user), Some(group))?;
        }
        let port = ports::quiet()?;
        let command = |program: &str| command(&programs.join(program), &folder, user);
        output(command("initdb").args([
            "-D",
            "data",
            "-A",
            "trust",
            "-U",
            "postgres",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
        ]))?;
        let process = serve(command("postgres"), &folder, (port, losses))?;
        let postgres = Self { programs, folder, user, port, losses, process };
        postgres.until_it_answers()
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// The lines of a server's configuration that name it.
    pub(super) fn settings(&self) -> String {
        settings(self.port)
    }

    /// Kills it as a crash would.
    pub(super) fn kill(&mut self) -> Result<()> {
        self.process.kill()?;
        self.process.wait()?;
        Ok(())
    }

    /// Starts it again with the data that it had, and waits until it answers.
    pub(super) fn resume(&mut self) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        self.spawn()?;
        while !self.answers() {
            if Instant::now() > deadline {
                bail!("PostgreSQL does not come again: {}", self.log());
            }
            thread::sleep(Duration::from_millis(50));
            // It does not start while a process of the one before is still ending.
            if self.process.try_wait()?.is_some() {
                self.spawn()?;
            }
        }
        Ok(())
    }

    /// The first column of what a query gives.
    pub(super) fn ask(&self, query: &str) -> Result<Vec<String>> {
        let psql = self.programs.join("psql");
        let mut psql = Command::new(if psql.is_file() { psql } else { "psql".into() });
        psql.args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", "postgres"]);
        let said = output(psql.args(["-X", "-A", "-t", "-c", query, "postgres"]))?;
        Ok(said.lines().map(str::to_owned).collect())
    }

    fn until_it_answers(self) -> Result<Self> {
        let deadline = Instant::now() + PATIENCE;
        while !self.answers() {
            if Instant::now() > deadline {
                bail!("PostgreSQL does not answer: {}", self.log());
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(self)
    }

    fn answers(&self) -> bool {
        self.ask("SELECT 1").is_ok()
    }

    fn spawn(&mut self) -> Result<()> {
        let command = command(&self.programs.join("postgres"), &self.folder, self.user);
        self.process = serve(command, &self.folder, (self.port, self.losses))?;
        Ok(())
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.join("postgres.log")).unwrap_or_default()
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Err(error) = self.kill() {
            note(&format!("PostgreSQL (process {}) did not end: {error:#}", self.process.id()));
        }
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            note(&format!("{} stays: {error}", self.folder.display()));
        }
    }
}

fn command(program: &Path, folder: &Path, user: Option<(u32, u32)>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).env_remove("PGDATA").stdin(Stdio::null());
    if let Some((user, group)) = user {
        command.uid(user).gid(group);
    }
    command
}

/// The lines of a server's configuration that name the database at this port.
pub(super) fn settings(port: u16) -> String {
    format!("\n[database]\nurl = \"postgres://postgres@127.0.0.1:{port}/postgres\"\n")
}

fn serve(mut command: Command, folder: &Path, (port, losses): (u16, Losses)) -> Result<Child> {
    let log = File::options().create(true).append(true).open(folder.join("postgres.log"))?;
    let fsync = if losses == Losses::None { "fsync=on" } else { "fsync=off" };
    command
        .args(["-D", "data", "-h", "127.0.0.1", "-p", &port.to_string(), "-k"])
        .arg(folder)
        .args(["-c", "max_connections=200", "-c", fsync])
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
        .context("PostgreSQL cannot be started")
}

/// The folder of the server's programs, which Debian keeps off the `PATH`.
fn programs() -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    if let Ok(versions) = fs::read_dir("/usr/lib/postgresql") {
        folders.extend(versions.flatten().map(|version| version.path().join("bin")));
    }
    let has_both = |folder: &PathBuf| {
        ["initdb", "postgres"].iter().all(|program| folder.join(program).is_file())
    };
    let found = folders.into_iter().find(has_both);
    found.context("there is no PostgreSQL here: apt-get install postgresql, or --database sqlite")
}

/// User and group of whoever has no rights.
fn unprivileged() -> Result<(u32, u32)> {
    let users = fs::read_to_string("/etc/passwd")?;
    let ids = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut numbers = line.split(':').skip(2).map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    };
    ids("postgres").or_else(|| ids("nobody")).context("there is no user to run PostgreSQL as")
}
