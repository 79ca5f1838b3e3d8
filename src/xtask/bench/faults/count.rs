//! Counts what is wrong once everything has come to rest.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::jobs::{Jobs, Wrong};
use super::roll::Roll;
use super::world::World;
use crate::bench::berth::Berth;

/// All servers are ready by then when everything is there again, or something is wrong.
pub(in crate::bench) const READY: Duration = Duration::from_secs(300);
/// All jobs have ended by then, or they are stuck. What failed before is tried again after pauses of five
/// minutes at most, and a node that was closed for it after sixteen.
const ENDED: Duration = Duration::from_secs(1_200);
/// What nobody needs has gone by then: volumes are looked for once a minute, and after failures at most
/// every sixteen minutes; what asked for something, every ten minutes, once it is ten minutes old.
const GONE: Duration = Duration::from_secs(1_300);
/// Between two looks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

/// The states after which nothing comes, as the database writes them.
const FINAL: &str = "('SUCCEEDED', 'FAILED', 'STOPPED')";

/// What is looked at.
#[derive(Debug, Clone, Copy)]
pub(in crate::bench) struct Count<'a> {
    pub(in crate::bench) world: &'a World,
    /// A server whose database is asked, if it has that for itself.
    pub(in crate::bench) berth: &'a Berth,
    pub(in crate::bench) roll: &'a Roll,
    pub(in crate::bench) jobs: &'a Jobs<'a>,
}

impl Count<'_> {
    /// Lets everything come to rest, once the servers are ready, and notes what is wrong then. No further
    /// jobs come.
    pub(in crate::bench) fn take(self, is_ready: &mut dyn FnMut() -> Result<bool>) -> Result<()> {
        let Self { world, berth, roll, jobs } = self;
        jobs.come(false);
        if !comes_true(READY, is_ready)? {
            bail!("all is there again, and the server is not ready after {} s", READY.as_secs());
        }
        self.all_end()?;
        jobs.compare(&world.ask(berth, "SELECT name FROM jobs")?);
        if !comes_true(GONE, &mut || Ok(world.containers()?.is_empty()))? {
            for container in world.containers()? {
                jobs.note(Wrong::Leaked, &format!("container {container}"));
            }
        }
        for _ in 0..roll.present() {
            jobs.note(Wrong::Leaked, "a process of a task without a container");
        }
        Ok(())
    }

    /// Waits until all jobs have ended, and looks whether all that is recorded of them says so.
    fn all_end(self) -> Result<()> {
        let Self { world, berth, jobs, .. } = self;
        let unfinished =
            |of: &str| world.ask(berth, &format!("SELECT {of} WHERE state NOT IN {FINAL}"));
        let have_ended = comes_true(ENDED, &mut || {
            let names = unfinished("name FROM jobs")?;
            jobs.find(&names);
            Ok(names.is_empty() && jobs.open() == 0)
        })?;
        if !have_ended {
            jobs.give_up();
            return Ok(());
        }
        for rows in ["job FROM attempts", "job FROM tasks"] {
            for job in unfinished(rows)? {
                let said = format!("job {job} has ended, and a row of it has not");
                jobs.note(Wrong::Stuck, &said);
            }
        }
        Ok(())
    }

    /// Notes what is left of volumes, and of what asked an engine something, once no job comes any more.
    pub(in crate::bench) fn all_goes(self) -> Result<()> {
        let Self { world, jobs, .. } = self;
        if !comes_true(GONE, &mut || Ok(world.all_containers()?.is_empty()))? {
            for container in world.all_containers()? {
                jobs.note(Wrong::Leaked, &format!("container {container}"));
            }
        }
        if !comes_true(GONE, &mut || Ok(world.volumes()?.is_empty()))? {
            for volume in world.volumes()? {
                jobs.note(Wrong::Leaked, &format!("volume {volume}"));
            }
        }
        Ok(())
    }
}

/// Asks until it is so; says whether it ever was.
pub(in crate::bench) fn comes_true(
    patience: Duration,
    ask: &mut dyn FnMut() -> Result<bool>,
) -> Result<bool> {
    let begun = Instant::now();
    while !ask()? {
        if begun.elapsed() > patience {
            return Ok(false);
        }
        thread::sleep(BETWEEN_LOOKS);
    }
    Ok(true)
}
