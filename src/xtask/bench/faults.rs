//! Random kill points, for hours: the server, the engines, PostgreSQL and the lines between them are killed,
//! ended, cut and silenced while small jobs come all the time, each by itself, so that several are away at once.
//! Whatever was struck, no job that was acknowledged is lost or stuck, none is there twice, nothing of it is left,
//! and none has an end that it would not have had by itself.
//!
//! The engines are real ones, which go on when the server does not; the simulated one lives within it.

mod blow;
pub(super) mod count;
pub(super) mod jobs;
mod leftovers;
pub(super) mod line;
pub(super) mod roll;
mod strikers;
mod tally;
pub(super) mod world;

use std::fs;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, ensure};
use clap::Args;

use self::count::Count;
use self::jobs::{CODE, Jobs, Load};
use self::roll::Roll;
use self::strikers::{Scene, Strikers, Struck, held};
use self::tally::Tally;
use self::world::World;
use super::berth::{Berth, Home};
use super::figures::Course;
use super::postgres::Kind;
use crate::progress::note;
use crate::setup;
use crate::workspace::Workspace;

/// All is counted after so many points, and at the end.
const BETWEEN_COUNTS: u64 = 400;
/// An answer is waited for for so long, while what it needs may be away.
const PATIENCE: Duration = Duration::from_secs(15);

/// How often.
#[derive(Debug, Args)]
pub(crate) struct Points {
    /// `faults`: strike so many times, those of the `--tally` included.
    #[arg(long)]
    points: Option<u64>,
    /// `faults`: add what is counted to this file, so that a run goes on where another one was cut off.
    #[arg(long)]
    tally: Option<PathBuf>,
    /// `faults`: strike so many times as often.
    #[arg(long, default_value_t = 1.0)]
    pace: f64,
}

/// Strikes, counts, prints the counts, and fails if one of them is not 0.
pub(super) fn run(
    workspace: &Workspace,
    binary: &Path,
    course: Course,
    (options, database): (&Points, Kind),
) -> Result<()> {
    ensure!((0.1..=10.0).contains(&options.pace), "--pace {}: 0.1 to 10", options.pace);
    let before = options.tally.as_deref().map_or_else(|| Ok(Tally::default()), Tally::read)?;
    let points = options.points.map_or(u64::MAX, |points| points.saturating_sub(before.points));
    if points == 0 {
        before.print();
        return before.judge();
    }
    // A run that goes on strikes otherwise than the one before it.
    let (seed, of_postgres) = (course.seed.wrapping_add(before.runs), database == Kind::Postgres);
    println!("faults_seed {seed}");
    let hours = course.hours.or(options.points.is_none().then_some(1.0));
    let time = hours.map(|hours| Duration::try_from_secs_f64(hours * 3_600.0)).transpose()?;
    let image = setup::for_testing(workspace)?;
    let world = &World::start(&image, of_postgres)?;
    let folder = Home::folder("faults");
    let berth = &Berth::start_in((folder, PATIENCE), binary, (&world.settings(), &[]))?;
    write_code(&berth.folder().join("data/storage"))?;
    let roll = &Roll::open()?;
    let jobs = &Jobs::new(Load::SMALL, slice::from_ref(berth), roll);
    let begun = Instant::now();
    let mut hours = Hours {
        scene: Scene { binary, world, berth, roll, jobs },
        strikers: Strikers::new(seed, of_postgres, options.pace),
        struck: Mutex::default(),
        begun,
        counted: Tally { runs: 1, ..Tally::default() },
        book: (before, options.tally.as_deref()),
    };
    let done = thread::scope(|scope| {
        let looking = scope.spawn(|| jobs.run());
        let done = hours.live((points, time.map(|time| begun + time)));
        jobs.end();
        let looked = looking.join().map_err(|_| anyhow!("whoever looks at the jobs ended early"));
        done.and(looked)
    });
    let sum = hours.close()?;
    sum.print();
    if done.is_err() || !jobs.wrong().is_empty() {
        keep_log(workspace, berth, &format!("faults-{seed}"))?;
    }
    done?;
    jobs.judge().with_context(|| format!("--seed {seed} strikes alike"))?;
    sum.judge()
}

/// What jobs with code have, below the root of the storage.
pub(super) fn write_code(root: &Path) -> Result<()> {
    let folder = root.join("admin/code");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(CODE.0), CODE.1)?;
    Ok(())
}

/// Hours of strikes, and what is counted.
struct Hours<'a> {
    scene: Scene<'a>,
    strikers: Strikers,
    struck: Mutex<Struck>,
    begun: Instant,
    /// As of the last count: what was struck since then is not known to have done no harm.
    counted: Tally,
    /// What earlier runs have counted, and where it is written.
    book: (Tally, Option<&'a Path>),
}

impl Hours<'_> {
    /// Strikes until it is over, and counts every so often and in the end.
    fn live(&mut self, (points, until): (u64, Option<Instant>)) -> Result<()> {
        loop {
            let struck = held(&self.struck).points();
            if struck >= points || until.is_some_and(|until| Instant::now() >= until) {
                return self.counting().all_goes();
            }
            let next = points.min(struck + BETWEEN_COUNTS);
            self.scene.jobs.come(true);
            self.strikers.strike(self.scene, &self.struck, (next, until))?;
            self.count()?;
        }
    }

    fn counting(&self) -> Count<'_> {
        let Scene { world, berth, roll, jobs, .. } = self.scene;
        Count { world, berth, roll, jobs }
    }

    /// Lets everything come to rest, counts what is wrong then, and writes it down. No further jobs come.
    fn count(&mut self) -> Result<()> {
        let Scene { binary, berth, jobs, .. } = self.scene;
        self.counting().take(&mut || {
            berth.keep(binary)?;
            Ok(berth.is_ready())
        })?;
        held(&self.struck).tell(&mut self.counted);
        self.counted.take(jobs);
        note(&self.close()?.told());
        Ok(())
    }

    /// Writes down what is known to be wrong, and what was counted; gives the sum over all runs.
    fn close(&mut self) -> Result<Tally> {
        self.counted.seconds = self.begun.elapsed().as_secs_f64();
        self.counted.find(self.scene.jobs);
        let (before, file) = &self.book;
        let sum = before.plus(&self.counted);
        if let Some(file) = file {
            sum.write(file)?;
        }
        Ok(sum)
    }
}

/// The server's log goes with its folder; a copy of it stays under this name.
pub(super) fn keep_log(workspace: &Workspace, berth: &Berth, name: &str) -> Result<()> {
    let kept = workspace.target.join(format!("{name}.log"));
    fs::copy(berth.folder().join("berth.log"), &kept).context("the server's log cannot be kept")?;
    note(&format!("the server's log is {}", kept.display()));
    Ok(())
}
