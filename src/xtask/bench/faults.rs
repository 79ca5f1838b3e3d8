//! Random kill points, for hours: the server, the engines, PostgreSQL and the lines between them are killed,
//! ended, cut and silenced while small jobs come all the time. Whatever was struck, no job that was
//! acknowledged is lost or stuck, none is there twice, nothing of it is left, and none has an end that it
//! would not have had by itself.
//!
//! The engines are real ones, which go on when the server does not; the simulated one lives within it.

mod blow;
pub(super) mod count;
pub(super) mod jobs;
pub(super) mod line;
mod postgres;
pub(super) mod roll;
pub(super) mod world;

use std::fs;
use std::path::Path;
use std::slice;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use clap::{Args, ValueEnum};

use self::blow::Blow;
use self::count::Count;
use self::jobs::{CODE, Jobs, Load};
use self::roll::Roll;
use self::world::World;
use super::berth::Berth;
use super::figures::Course;
use super::random::Random;
use crate::progress::note;
use crate::setup;
use crate::workspace::Workspace;

/// All is counted after so many points, and at the end.
const BETWEEN_COUNTS: u64 = 200;

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
    write_code(&berth.folder().join("data/storage"))?;
    let roll = &Roll::open()?;
    let jobs = &Jobs::new(Load::SMALL, slice::from_ref(berth), roll);
    let begun = Instant::now();
    let limits = (time.map(|time| begun + time), options.points.unwrap_or(u64::MAX));
    let mut scene = Scene { binary, world, berth, roll, jobs, points: 0, restarts: 0 };
    let done = thread::scope(|scope| {
        let looking = scope.spawn(|| jobs.run());
        let done = scene.strike(of_postgres, &mut Random::new(seed), limits);
        jobs.end();
        let looked = looking.join().map_err(|_| anyhow!("whoever looks at the jobs ended early"));
        done.and(looked)
    });
    scene.print(begun.elapsed());
    if done.is_err() || !jobs.wrong().is_empty() {
        keep_log(workspace, berth, &format!("faults-{seed}"))?;
    }
    done?;
    jobs.judge().with_context(|| format!("--seed {seed} strikes alike"))
}

/// What jobs with code have, below the root of the storage.
pub(super) fn write_code(root: &Path) -> Result<()> {
    let folder = root.join("admin/code");
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
    /// How often the server had ended by itself.
    restarts: u64,
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
                self.restarts += 1;
                note("the server had ended by itself and was started again");
            }
            let blow = Blow::draw(random, of_postgres);
            self.world.strike(&blow, self.berth, self.binary)?;
            self.points += 1;
            if self.points.is_multiple_of(BETWEEN_COUNTS) {
                self.count()?;
                note(&format!("{} points: {}", self.points, self.jobs.told()));
                self.jobs.come(true);
            }
        }
        self.count()?;
        self.counting().volumes_go()
    }

    fn counting(&self) -> Count<'_> {
        Count { world: self.world, berth: self.berth, roll: self.roll, jobs: self.jobs }
    }

    /// Lets everything come to rest and counts what is wrong then. No further jobs come.
    fn count(&self) -> Result<()> {
        self.counting().take(&mut || {
            self.berth.keep(self.binary)?;
            Ok(self.berth.is_ready())
        })
    }

    fn print(&self, took: Duration) {
        println!("faults_points {} points", self.points);
        println!("faults_time {:.2} hours", took.as_secs_f64() / 3_600.0);
        for (name, times) in self.world.struck() {
            println!("faults_{name} {times} times");
        }
        println!("faults_server_ended_by_itself {} times", self.restarts);
        self.jobs.print("faults");
    }
}

/// The server's log goes with its folder; a copy of it stays under this name.
pub(super) fn keep_log(workspace: &Workspace, berth: &Berth, name: &str) -> Result<()> {
    let kept = workspace.target.join(format!("{name}.log"));
    fs::copy(berth.folder().join("berth.log"), &kept).context("the server's log cannot be kept")?;
    note(&format!("the server's log is {}", kept.display()));
    Ok(())
}
