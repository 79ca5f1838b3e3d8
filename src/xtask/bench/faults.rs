//! Random kill points, for hours: the server, the engines, PostgreSQL and the lines between them are killed,
//! ended, cut and silenced while small jobs come all the time. Whatever was struck, no job that was
//! acknowledged is lost or stuck, none is there twice, nothing of it is left, and none has an end that it
//! would not have had by itself.
//!
//! The engines are real ones, which go on when the server does not; the simulated one lives within it.

mod blow;
mod jobs;
mod line;
mod postgres;
mod roll;
mod world;

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};
use clap::{Args, ValueEnum};

use self::blow::Blow;
use self::jobs::{CODE, Jobs, Wrong};
use self::roll::Roll;
use self::world::World;
use super::Course;
use super::berth::Berth;
use super::random::Random;
use crate::progress::note;
use crate::setup;
use crate::workspace::Workspace;

/// All is counted after so many points, and at the end.
const BETWEEN_COUNTS: u64 = 200;
/// The server is ready by then when everything is there again, or something is wrong.
const READY: Duration = Duration::from_secs(120);
/// All jobs have ended by then, or they are stuck. What failed before is tried again after pauses of five
/// minutes at most.
const ENDED: Duration = Duration::from_secs(600);
/// What no job needs has gone by then: volumes are looked for once a minute, and after failures at most
/// every sixteen minutes.
const GONE: Duration = Duration::from_secs(1_200);
/// Between two looks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

/// The states after which nothing comes, as the database writes them.
const FINAL: &str = "('SUCCEEDED', 'FAILED', 'STOPPED')";

/// How often, and beside which database.
#[derive(Debug, Args)]
pub(crate) struct Points {
    /// `faults`: strike so many times.
    #[arg(long)]
    points: Option<u64>,
    /// `faults`: the server's database.
    #[arg(long, value_enum, default_value_t = Kind::Postgres)]
    database: Kind,
}

/// The kinds of database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A file, which nothing can strike but with the server.
    Sqlite,
    /// A server of its own, which is struck as well.
    Postgres,
}

/// Strikes, counts, prints the counts, and fails if one of them is not 0.
pub(super) fn run(
    workspace: &Workspace,
    binary: &Path,
    course: Course,
    options: &Points,
) -> Result<()> {
    let (seed, of_postgres) = (course.seed, options.database == Kind::Postgres);
    println!("faults_seed {seed}");
    let hours = course.hours.or(options.points.is_none().then_some(1.0));
    let time = hours.map(|hours| Duration::try_from_secs_f64(hours * 3_600.0)).transpose()?;
    let image = setup::for_testing(workspace)?;
    let world = &mut World::start(&image, of_postgres)?;
    let berth = &Berth::start(binary, &world.settings())?;
    write_code(berth)?;
    let roll = &Roll::open()?;
    let jobs = &Jobs::new(berth, roll);
    let begun = Instant::now();
    let limits = (time.map(|time| begun + time), options.points.unwrap_or(u64::MAX));
    let mut scene = Scene { binary, world, berth, roll, jobs, points: 0 };
    let done = thread::scope(|scope| {
        let looking = scope.spawn(|| jobs.run());
        let done = scene.strike(of_postgres, &mut Random::new(seed), limits);
        jobs.end();
        let looked = looking.join().map_err(|_| anyhow!("whoever looks at the jobs ended early"));
        done.and(looked)
    });
    scene.print(begun.elapsed());
    if done.is_err() || !jobs.wrong().is_empty() {
        keep_log(workspace, berth, seed)?;
    }
    done?;
    if !jobs.wrong().is_empty() {
        bail!("not all counts are 0; --seed {seed} strikes alike");
    }
    Ok(())
}

/// What jobs with code have.
fn write_code(berth: &Berth) -> Result<()> {
    let folder = berth.folder().join("data/storage/admin/code");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(CODE.0), CODE.1)?;
    Ok(())
}

/// All that takes part.
struct Scene<'a> {
    binary: &'a Path,
    world: &'a mut World,
    berth: &'a Berth,
    roll: &'a Roll,
    jobs: &'a Jobs<'a>,
    /// How often something was struck.
    points: u64,
}

impl Scene<'_> {
    /// Strikes until it is over, and counts every so often and in the end.
    fn strike(
        &mut self,
        of_postgres: bool,
        random: &mut Random,
        (until, points): (Option<Instant>, u64),
    ) -> Result<()> {
        while self.points < points && until.is_none_or(|until| Instant::now() < until) {
            if self.berth.keep(self.binary)? {
                note("the server had ended by itself and was started again");
            }
            let blow = Blow::draw(random, of_postgres);
            self.world.strike(&blow, self.berth, self.binary)?;
            self.points += 1;
            if self.points.is_multiple_of(BETWEEN_COUNTS) {
                self.count()?;
                note(&format!("{} points: {}", self.points, told(self.jobs)));
                self.jobs.come(true);
            }
        }
        self.count()?;
        self.volumes_go()
    }

    /// Lets everything come to rest and counts what is wrong then. No further jobs come.
    fn count(&self) -> Result<()> {
        let Self { binary, world, berth, roll, jobs, .. } = self;
        jobs.come(false);
        let is_ready = comes_true(READY, &mut || {
            berth.keep(binary)?;
            Ok(berth.is_ready())
        })?;
        if !is_ready {
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
    fn all_end(&self) -> Result<()> {
        let unfinished = |of: &str| {
            self.world.ask(self.berth, &format!("SELECT {of} WHERE state NOT IN {FINAL}"))
        };
        let have_ended = comes_true(ENDED, &mut || {
            let names = unfinished("name FROM jobs")?;
            self.jobs.find(&names);
            Ok(names.is_empty() && self.jobs.open() == 0)
        })?;
        if !have_ended {
            self.jobs.give_up();
            return Ok(());
        }
        for rows in ["job FROM attempts", "job FROM tasks"] {
            for job in unfinished(rows)? {
                let said = format!("job {job} has ended, and a row of it has not");
                self.jobs.note(Wrong::Stuck, &said);
            }
        }
        Ok(())
    }

    /// Counts what is left of volumes once no job comes any more.
    fn volumes_go(&self) -> Result<()> {
        if !comes_true(GONE, &mut || Ok(self.world.volumes()?.is_empty()))? {
            for volume in self.world.volumes()? {
                self.jobs.note(Wrong::Leaked, &format!("volume {volume}"));
            }
        }
        Ok(())
    }

    fn print(&self, took: Duration) {
        let (submitted, acknowledged) = self.jobs.counts();
        println!("faults_points {} points", self.points);
        println!("faults_time {:.2} hours", took.as_secs_f64() / 3_600.0);
        for (name, times) in self.world.struck() {
            println!("faults_{name} {times} times");
        }
        println!("faults_submitted {submitted} jobs");
        println!("faults_acknowledged {acknowledged} jobs");
        let wrong = self.jobs.wrong();
        for (kind, name) in Wrong::ALL {
            println!("faults_{name} {} times", wrong.get(&kind).copied().unwrap_or(0));
        }
    }
}

/// Asks until it is so; says whether it ever was.
fn comes_true(patience: Duration, ask: &mut dyn FnMut() -> Result<bool>) -> Result<bool> {
    let begun = Instant::now();
    while !ask()? {
        if begun.elapsed() > patience {
            return Ok(false);
        }
        thread::sleep(BETWEEN_LOOKS);
    }
    Ok(true)
}

/// The counts of what is wrong, in a line.
fn told(jobs: &Jobs) -> String {
    let wrong = jobs.wrong();
    let counts =
        Wrong::ALL.map(|(kind, name)| format!("{name} {}", wrong.get(&kind).copied().unwrap_or(0)));
    format!("{} acknowledged, {}", jobs.counts().1, counts.join(", "))
}

/// The server's log goes with its folder.
fn keep_log(workspace: &Workspace, berth: &Berth, seed: u64) -> Result<()> {
    let kept = workspace.target.join(format!("faults-{seed}.log"));
    fs::copy(berth.folder().join("berth.log"), &kept).context("the server's log cannot be kept")?;
    note(&format!("the server's log is {}", kept.display()));
    Ok(())
}
