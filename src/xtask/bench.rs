//! `cargo xtask bench`: measures the release binary from outside, as its users meet it.

mod backlog;
mod berth;
mod faults;
mod figures;
mod first_page;
mod floor;
mod full;
mod generated;
mod idle_memory;
mod large_job;
mod leaders;
mod life;
mod list;
mod log;
mod measuring;
mod million;
mod nodes;
mod pages;
mod ports;
mod postgres;
mod random;
mod scheduler;
mod submit_to_start;
mod throughput;
mod watchers;

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use clap::{Args, ValueEnum};

use self::berth::Home;
use self::figures::{Course, Measured, Missed};
use self::postgres::Kind;
use crate::release;
use crate::workspace::Workspace;

/// Which measurements to take.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Which measurements; if not given all but those that take hours, gigabytes or a registry.
    #[arg(value_enum)]
    names: Vec<Name>,
    /// Measure this binary instead of building one.
    #[arg(long)]
    binary: Option<PathBuf>,
    #[command(flatten)]
    scheduler: scheduler::Replay,
    #[command(flatten)]
    faults: faults::Points,
    #[command(flatten)]
    leaders: leaders::Changes,
    #[command(flatten)]
    generated: generated::Requests,
    #[command(flatten)]
    life: life::Pace,
    /// `faults`, `large_job` and `throughput`: the server's database; if not given, `faults` strikes PostgreSQL as well,
    /// and the others measure SQLite.
    #[arg(long, value_enum)]
    database: Option<Kind>,
    /// `faults`: strike for so many hours (1, if there are no --points); `life`: live so many hours (24).
    #[arg(long)]
    hours: Option<f64>,
    /// `faults`, `leaders`, `generated` and `life`: what all chance follows from; each run prints its own.
    #[arg(long)]
    seed: Option<u64>,
}

impl Options {
    /// With a seed that nobody has had where none is given.
    fn course(&self) -> Result<Course> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
        let seed = self.seed.unwrap_or(u64::from(now.subsec_nanos()) ^ now.as_secs());
        Ok(Course { hours: self.hours, seed })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Name {
    /// From submission to the container's start, over a bare `docker run`.
    SubmitToStart,
    /// Jobs a second from submission to SUCCEEDED on simulated nodes: alone, beside 10 000 others, and those of
    /// a bare loop that writes the same rows.
    Throughput,
    /// How long a place stays free while 100 000 jobs wait.
    Backlog,
    /// Pages of the list of a million jobs.
    List,
    /// Memory of a server that has nothing to do.
    IdleMemory,
    /// Memory and others' answers while a job of 5 000 tasks, and then 5 000 jobs, are launched.
    LargeJob,
    /// What 1 000 and 10 000 simulated nodes cost: start, memory, idling, submissions, looks, drains.
    Nodes,
    /// What it costs to measure 8 000 tasks with a GPU each on 1 000 nodes, beside a server that measures nothing:
    /// processors, memory, jobs a second.
    Measuring,
    /// A database of a million jobs, whole: a start, its list, and how old ones are forgotten.
    Million,
    /// A log of a million lines: its end, any place of it, and searches.
    Log,
    /// Bytes that the first page transfers.
    FirstPage,
    /// What pages cost: requests, bytes and elements, cold and while things change.
    Pages,
    /// 10 000 nodes with a job on each while 100 000 jobs wait: memory, submissions, looks, and a restart.
    Full,
    /// A thousand who listen and two hundred browsers, on 10 000 GPUs: when they hear of a change, and what they cost.
    Watchers,
    /// Replays of traces and made-up loads through the scheduler.
    Scheduler,
    /// Random kill points of server, engines, PostgreSQL and network, for hours.
    Faults,
    /// Two and three servers of which one leads: it is killed, frozen, cut off or ended, a hundred times.
    Leaders,
    /// Thousands of requests made from the server's own document, right and wrong: each has an answer.
    Generated,
    /// A day in the life of a simulated cluster, in a part of the time: what grows.
    Life,
}

impl Name {
    /// Whether it takes hours, gigabytes or a registry, and is asked for by its name alone.
    fn takes_much(self) -> bool {
        matches!(
            self,
            Self::Faults
                | Self::Full
                | Self::Generated
                | Self::Leaders
                | Self::Life
                | Self::Million
        )
    }
}

/// Takes the measurements and prints one `name value unit` line for each value, with its limit where it has one. Fails
/// in the end where one is beyond it.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let mut names = options.names.clone();
    if names.is_empty() {
        names.extend(Name::value_variants().iter().filter(|name| !name.takes_much()));
    }
    let binary = match &options.binary {
        Some(binary) => binary.clone(),
        None if names == [Name::Scheduler] => PathBuf::new(),
        None => release::build(workspace)?,
    };
    let (mut missed, _home) = (Missed::default(), Home);
    let database = options.database.unwrap_or(Kind::Sqlite);
    for name in names {
        let measured = match name {
            Name::SubmitToStart => submit_to_start::measure(workspace, &binary)?,
            Name::Throughput => throughput::measure(&binary, database)?,
            Name::Backlog => backlog::measure(&binary)?,
            Name::IdleMemory => idle_memory::measure(&binary)?,
            Name::LargeJob => large_job::measure(&binary, database)?,
            Name::FirstPage => first_page::measure(&binary)?,
            Name::Full => full::measure(&binary)?,
            Name::List => list::run(&binary, &mut missed).map(printed)?,
            Name::Log => log::run(workspace, &binary, &mut missed).map(printed)?,
            Name::Measuring => measuring::run(&binary, &mut missed).map(printed)?,
            Name::Nodes => nodes::run(&binary).map(printed)?,
            Name::Million => million::run(&binary).map(printed)?,
            Name::Watchers => watchers::run(&binary, &mut missed).map(printed)?,
            Name::Pages => pages::run(workspace, &binary, &mut missed).map(printed)?,
            Name::Scheduler => scheduler::run(workspace, &options.scheduler).map(printed)?,
            Name::Faults => {
                let database = options.database.unwrap_or(Kind::Postgres);
                let how = (&options.faults, database);
                faults::run(workspace, &binary, options.course()?, how).map(printed)?
            }
            Name::Leaders => leaders::run(workspace, &binary, options.course()?, &options.leaders)
                .map(printed)?,
            Name::Generated => {
                generated::run(workspace, &binary, options.course()?, &options.generated)
                    .map(printed)?
            }
            Name::Life => life::run(&binary, options.course()?, &options.life).map(printed)?,
        };
        measured.iter().for_each(Measured::print);
    }
    missed.end()
}

/// What has printed its figures leaves none to be printed.
fn printed((): ()) -> Vec<Measured> {
    Vec::new()
}
