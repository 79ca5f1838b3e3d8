//! One leader goes after the other while fifty jobs are in flight: half of the times among two servers, and
//! then among three, on one PostgreSQL and two real engines. Another one takes over each time, within ten
//! seconds, and no job is lost, stuck or there twice, leaves anything behind, ends as it should not, or
//! begins anew.

mod change;
mod ring;

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;

use self::change::Change;
use self::ring::Ring;
use super::faults::count::{Count, READY, comes_true};
use super::faults::jobs::{Jobs, Load};
use super::faults::roll::Roll;
use super::faults::world::World;
use super::faults::{keep_log, write_code};
use super::figures::{Course, median};
use super::random::Random;
use crate::progress::note;
use crate::setup;
use crate::workspace::Workspace;

/// So many servers, each for an equal part of the changes.
const SERVERS: [usize; 2] = [2, 3];
/// All is counted after so many changes, and at the end.
const BETWEEN_COUNTS: u64 = 25;
/// Another one leads by then.
const LONGEST: Duration = Duration::from_secs(10);

/// So many jobs are in flight whenever the leader is struck.
const IN_FLIGHT: usize = 50;

/// How often.
#[derive(Debug, Args)]
pub(crate) struct Changes {
    /// `leaders`: another server takes over so many times.
    #[arg(long, default_value_t = 100)]
    changes: u64,
}

/// Changes the leader, counts, prints the counts, and fails if one of them is not 0 or somebody was late.
pub(super) fn run(
    workspace: &Workspace,
    binary: &Path,
    course: Course,
    options: &Changes,
) -> Result<()> {
    println!("leaders_seed {}", course.seed);
    let image = setup::for_testing(workspace)?;
    let mut random = Random::new(course.seed);
    for (servers, changes) in SERVERS.into_iter().zip(parts(options.changes)) {
        if changes > 0 {
            let stage = Stage { workspace, binary, image: &image, seed: course.seed };
            stage.change((servers, changes), &mut random)?;
        }
    }
    Ok(())
}

/// How often it changes among two, and among three.
fn parts(changes: u64) -> [u64; 2] {
    [changes.div_ceil(2), changes / 2]
}

/// What all of it takes place on.
struct Stage<'a> {
    workspace: &'a Workspace,
    binary: &'a Path,
    image: &'a Path,
    seed: u64,
}

impl Stage<'_> {
    /// Changes the leader of so many servers so often.
    fn change(&self, (servers, changes): (usize, u64), random: &mut Random) -> Result<()> {
        let Self { workspace, binary, image, seed } = *self;
        let world = &World::start(image, true)?;
        let ways = (0..servers).map(|_| world.ways()).collect::<Result<Vec<_>>>()?;
        let servers = &ring::start(binary, &ways)?;
        let first = servers.first().context("there are servers")?;
        write_code(&ring::files(first))?;
        let roll = &Roll::open()?;
        let jobs = &Jobs::new(Load::MANY, servers, roll);
        let ring = Ring { binary, servers, ways: &ways };
        let count = Count { world, berth: first, roll, jobs };
        let mut play = Play { ring, jobs, count, changes: Vec::new(), by_itself: 0, restarts: 0 };
        let done = thread::scope(|scope| {
            let looking = scope.spawn(|| jobs.run());
            let done = play.run(changes, random).and_then(|()| count.all_goes());
            jobs.end();
            let looked =
                looking.join().map_err(|_| anyhow!("whoever looks at the jobs ended early"));
            done.and(looked)
        });
        let of = format!("leaders_of_{}", servers.len());
        let (late, least) = (play.print(&of), play.least());
        let is_well = done.is_ok() && late == 0 && least >= IN_FLIGHT && jobs.judge().is_ok();
        if !is_well {
            for (number, server) in servers.iter().enumerate() {
                keep_log(workspace, server, &format!("leaders-{seed}-{number}"))?;
            }
        }
        done?;
        jobs.judge().with_context(|| format!("--seed {seed} changes alike"))?;
        if late > 0 {
            bail!("{late} times nobody led within {} s", LONGEST.as_secs());
        }
        if least < IN_FLIGHT {
            bail!("only {least} jobs were in flight when a leader was struck, not {IN_FLIGHT}");
        }
        Ok(())
    }
}

/// One leader after the other.
struct Play<'a> {
    ring: Ring<'a>,
    jobs: &'a Jobs<'a>,
    count: Count<'a>,
    /// What was done to each, how long it took until another one led, and how many jobs were in flight.
    changes: Vec<(&'static str, Duration, usize)>,
    /// How often the lead changed though nothing was done.
    by_itself: u64,
    /// How often a server had ended by itself.
    restarts: u64,
}

impl Play<'_> {
    fn run(&mut self, changes: u64, random: &mut Random) -> Result<()> {
        for number in 1..=changes {
            self.jobs.come(true);
            let change = Change::draw(random);
            let (leader, in_flight) = self.until_struck(change)?;
            let begun = Instant::now();
            self.ring.strike(leader, change.how)?;
            let next = self.ring.next(leader, begun);
            if next.is_ok() {
                thread::sleep(change.absence);
            }
            self.ring.heal(leader, change.how)?;
            let ((next, took), name) = (next?, change.how.name());
            note(&format!(
                "{number} of {changes}: {leader} was {name}, {next} leads after {:.1} s; \
                 {in_flight} jobs in flight; {}",
                took.as_secs_f64(),
                self.jobs.told()
            ));
            self.changes.push((name, took, in_flight));
            if number == changes || number.is_multiple_of(BETWEEN_COUNTS) {
                self.rest()?;
            }
        }
        Ok(())
    }

    /// Lets everything come to rest, and counts what is wrong then.
    fn rest(&mut self) -> Result<()> {
        let count = self.count;
        count.take(&mut || Ok(self.settled()?.is_some()))?;
        note(&format!("all is at rest: {}", self.jobs.told()));
        Ok(())
    }

    /// Waits until all is well and the change is due; which server leads then, amid how many jobs.
    fn until_struck(&mut self, change: Change) -> Result<(usize, usize)> {
        loop {
            let mut leader = None;
            let is_settled = comes_true(READY, &mut || {
                leader = self.settled()?;
                Ok(leader.is_some())
            })?;
            let Some(leader) = leader.filter(|_| is_settled) else {
                bail!("after {} s not all are ready, and one of them leads", READY.as_secs());
            };
            if !comes_true(READY, &mut || Ok(self.jobs.open() >= IN_FLIGHT))? {
                bail!("no {IN_FLIGHT} jobs are in flight any more");
            }
            thread::sleep(change.pause);
            if !self.ring.leads(leader) {
                self.by_itself += 1;
                note("the lead has changed by itself");
                continue;
            }
            // Some may have ended meanwhile.
            let in_flight = self.jobs.open();
            if in_flight >= IN_FLIGHT {
                return Ok((leader, in_flight));
            }
        }
    }

    /// Which server leads, where all are ready. Those that have ended are started again.
    fn settled(&mut self) -> Result<Option<usize>> {
        self.restarts += self.ring.keep()?;
        Ok(self.ring.settled())
    }

    /// Amid how few jobs the leader was struck.
    fn least(&self) -> usize {
        self.changes.iter().map(|(.., in_flight)| *in_flight).min().unwrap_or(0)
    }

    /// Prints the counts, and gives how often it took too long.
    fn print(&self, of: &str) -> usize {
        println!("{of}_changes {} times", self.changes.len());
        for name in change::NAMES {
            let times = self.changes.iter().filter(|(was, ..)| *was == name).count();
            println!("{of}_{name} {times} times");
        }
        let seconds = |(_, took, _): &(_, Duration, _)| took.as_secs_f64();
        let took: Vec<f64> = self.changes.iter().map(seconds).collect();
        println!("{of}_takeover_max {:.1} s", took.iter().copied().fold(0.0, f64::max));
        println!("{of}_takeover_p50 {:.1} s", median(took));
        let late = self.changes.iter().filter(|(_, took, _)| *took > LONGEST).count();
        println!("{of}_late {late} times");
        println!("{of}_in_flight_least {} jobs", self.least());
        println!("{of}_changed_by_itself {} times", self.by_itself);
        println!("{of}_ended_by_themselves {} times", self.restarts);
        self.jobs.print(of);
        late
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_of_servers_has_its_part_of_the_changes() {
        for (changes, of_each) in [(100, [50, 50]), (3, [2, 1]), (1, [1, 0]), (0, [0, 0])] {
            assert_eq!(parts(changes), of_each);
        }
    }
}
