//! Several servers of one PostgreSQL, each with a data folder and lines of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use super::change::How;
use crate::bench::berth::{Berth, Home};
use crate::bench::faults::count::{READY, comes_true};
use crate::bench::faults::line::Way;
use crate::bench::faults::world::Ways;

/// CPUs of each node: some of the jobs run, and some wait.
const CPUS: u32 = 12;
/// A server answers by then, also while the lead changes, or another one is asked.
const PATIENCE: Duration = Duration::from_secs(15);
/// Somebody leads by then, or nobody will.
const NOBODY: Duration = Duration::from_secs(60);
/// A server says how it is within so long, or is asked again.
const SAYS: Duration = Duration::from_secs(2);
/// Between two looks at who leads.
const LOOK: Duration = Duration::from_millis(50);

/// Starts as many servers as there are lines for; all have the files and the key of the first one.
pub(super) fn start(binary: &Path, ways: &[Ways]) -> Result<Vec<Berth>> {
    let home = |number: usize| Home::folder(&format!("leaders-{}-{number}", ways.len()));
    let key = |number: usize| home(number).join("data/secret.key");
    let mut servers = Vec::new();
    for (number, ways) in ways.iter().enumerate() {
        fs::create_dir_all(home(number).join("data"))?;
        if number > 0 {
            fs::copy(key(0), key(number)).context("the key of the first server")?;
        }
        let settings = format!(
            "{}\n[storage]\nroot = \"{}\"\n\n[servers]\nlisten = \"127.0.0.1:0\"\n",
            ways.settings(CPUS),
            files_in(&home(0)).display()
        );
        servers.push(Berth::start_in((home(number), PATIENCE), binary, (&settings, &[]))?);
    }
    Ok(servers)
}

/// Where users' files are, which the first server keeps for all.
pub(super) fn files(first: &Berth) -> PathBuf {
    files_in(first.folder())
}

fn files_in(home: &Path) -> PathBuf {
    home.join("files")
}

/// The servers, each with its lines.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ring<'a> {
    pub(super) binary: &'a Path,
    pub(super) servers: &'a [Berth],
    pub(super) ways: &'a [Ways],
}

impl Ring<'_> {
    /// Starts those again that have ended; says how many.
    pub(super) fn keep(self) -> Result<u64> {
        let mut ended = 0;
        for server in self.servers {
            ended += u64::from(server.keep(self.binary)?);
        }
        Ok(ended)
    }

    /// Which one leads, where all are ready and no other one does.
    pub(super) fn settled(self) -> Option<usize> {
        let said = self.servers.iter().map(|server| server.readiness(SAYS));
        let said = said.collect::<Option<Vec<_>>>()?;
        let leaders = said.iter().filter(|[_, leads]| *leads).count();
        let is_settled = leaders == 1 && said.iter().all(|[ready, _]| *ready);
        is_settled.then(|| said.iter().position(|[_, leads]| *leads)).flatten()
    }

    /// Whether this one leads.
    pub(super) fn leads(self, number: usize) -> bool {
        leads(&self.servers[number])
    }

    /// Does this to one of them.
    pub(super) fn strike(self, number: usize, how: How) -> Result<()> {
        let server = &self.servers[number];
        match how {
            How::Killed => server.kill()?,
            How::Frozen => server.signal("STOP")?,
            How::Ended => server.signal("TERM")?,
            How::CutOff(way) => self.ways[number].set(way),
            How::CutFromDatabase(way) => self.ways[number].set_database(way),
        }
        Ok(())
    }

    /// Lets it come again.
    pub(super) fn heal(self, number: usize, how: How) -> Result<()> {
        let server = &self.servers[number];
        match how {
            How::Killed => server.revive(self.binary)?,
            How::Frozen => server.signal("CONT")?,
            How::Ended => {
                if !comes_true(READY, &mut || server.has_ended())? {
                    bail!("server {number} does not end within {} s", READY.as_secs());
                }
                server.revive(self.binary)?;
            }
            How::CutOff(_) | How::CutFromDatabase(_) => self.ways[number].set(Way::Open),
        }
        Ok(())
    }

    /// Waits until another one than `gone` leads; which, and how long after that moment.
    pub(super) fn next(self, gone: usize, since: Instant) -> Result<(usize, Duration)> {
        let (found, is_found) = (Mutex::new(None), AtomicBool::new(false));
        let look = |number: usize, server: &Berth| {
            while !is_found.load(Ordering::Relaxed) && since.elapsed() < NOBODY {
                if leads(server) {
                    let took = since.elapsed();
                    is_found.store(true, Ordering::Relaxed);
                    if let Ok(mut found) = found.lock() {
                        found.get_or_insert((number, took));
                    }
                }
                thread::sleep(LOOK);
            }
        };
        // Each by itself: one that changes its role may answer late.
        thread::scope(|scope| {
            let others = self.servers.iter().enumerate().filter(|(number, _)| *number != gone);
            for (number, server) in others {
                let look = &look;
                scope.spawn(move || look(number, server));
            }
        });
        let found = found.into_inner().ok().flatten();
        found.with_context(|| format!("nobody leads within {} s", NOBODY.as_secs()))
    }
}

/// Whether it says that it leads, and that it is ready to.
fn leads(server: &Berth) -> bool {
    server.readiness(SAYS) == Some([true, true])
}
