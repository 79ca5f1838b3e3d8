//! What the server needs, all of it ours and to be broken: two engines and a database, with lines to them.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::Result;

use super::blow::{Blow, ENGINES, How, Thing};
use super::leftovers;
use super::line::{Line, Target, Way};
use crate::bench::berth::Berth;
use crate::bench::postgres::{self, Losses, Postgres};
use crate::docker::PrivateEngine;
use crate::process::output;
use crate::progress::note;

/// CPUs of each node: there is room for all that come.
const CPUS: u32 = 64;

/// An engine that was killed comes again within so many tries, or something is wrong with this machine.
const TRIES: u32 = 3;

/// The engines and the database, each of which is struck by itself.
#[derive(Debug)]
pub(in crate::bench) struct World {
    engines: Vec<Mutex<PrivateEngine>>,
    postgres: Option<Mutex<Postgres>>,
    /// Those of the server, if there is only one.
    ways: Ways,
}

/// The lines of one server to all that it needs.
#[derive(Debug)]
pub(in crate::bench) struct Ways {
    engines: Vec<Line>,
    database: Option<Line>,
}

impl Ways {
    fn to(engines: &[Mutex<PrivateEngine>], postgres: Option<&Mutex<Postgres>>) -> Result<Self> {
        let to_engine = |engine: &Mutex<PrivateEngine>| {
            Line::to(Target::Unix(held(engine).socket().to_owned()))
        };
        let to_database =
            |postgres: &Mutex<Postgres>| Line::to(Target::Port(held(postgres).port()));
        Ok(Self {
            engines: engines.iter().map(to_engine).collect::<Result<_>>()?,
            database: postgres.map(to_database).transpose()?,
        })
    }

    /// The server's configuration. Each node has an address of its own of this machine, and tasks have its
    /// network, so that they can call.
    pub(in crate::bench) fn settings(&self, cpus: u32) -> String {
        let mut text = "allow_tasks_at_portal = true\n".to_owned();
        for (number, line) in self.engines.iter().enumerate() {
            // Writing to a text never fails.
            let _written = write!(
                text,
                "\n[[nodes]]\nname = \"node-{number}\"\naddress = \"127.0.0.{}\"\n\
                 endpoint = \"tcp://127.0.0.1:{}\"\nnetwork = \"host\"\ngpu_runtime = \"none\"\n\
                 gpus = [{{ type = \"A100\", count = 4 }}]\ncpus = {cpus}\nmemory_mb = 65536\n\
                 ports = \"{}0000-{}9999\"\n",
                number + 2,
                line.port(),
                number + 1,
                number + 1,
            );
        }
        if let Some(line) = &self.database {
            text.push_str(&postgres::settings(line.port()));
        }
        text
    }

    /// Lets the line to the database be so.
    pub(in crate::bench) fn set_database(&self, way: Way) {
        if let Some(line) = &self.database {
            line.set(way);
        }
    }

    /// Lets all lines be so.
    pub(in crate::bench) fn set(&self, way: Way) {
        self.set_database(way);
        self.engines.iter().for_each(|line| line.set(way));
    }
}

impl World {
    /// Starts all of it, once what a run that was cut off has left is gone; the engines get an image.
    pub(in crate::bench) fn start(image: &Path, of_postgres: bool) -> Result<Self> {
        leftovers::clear()?;
        let mut engines = Vec::new();
        for number in 0..ENGINES {
            let name = format!("berth-engine-{}-{number}", std::process::id());
            let private = PrivateEngine::start(&std::env::temp_dir().join(name))?;
            private.engine().load(image)?;
            engines.push(Mutex::new(private));
        }
        let postgres =
            of_postgres.then(|| Postgres::start(Losses::Unwritten)).transpose()?.map(Mutex::new);
        let ways = Ways::to(&engines, postgres.as_ref())?;
        Ok(Self { engines, postgres, ways })
    }

    /// The configuration of the only server.
    pub(super) fn settings(&self) -> String {
        self.ways.settings(CPUS)
    }

    /// Lines of one of several servers.
    pub(in crate::bench) fn ways(&self) -> Result<Ways> {
        Ways::to(&self.engines, self.postgres.as_ref())
    }

    /// Strikes one thing.
    pub(super) fn hit(&self, blow: &Blow, berth: &Berth) -> Result<()> {
        let way = if blow.how == How::Silent { Way::Silent } else { Way::Cut };
        match blow.thing {
            Thing::Server => berth.kill(),
            Thing::Engine(number) if blow.how == How::Ended => held(&self.engines[number]).stop(),
            Thing::Engine(number) => held(&self.engines[number]).kill(),
            Thing::LineToEngine(number) => {
                self.ways.engines[number].set(way);
                Ok(())
            }
            Thing::Postgres => {
                self.postgres.as_ref().map_or(Ok(()), |postgres| held(postgres).kill())
            }
            Thing::LineToDatabase => {
                self.ways.set_database(way);
                Ok(())
            }
        }
    }

    /// Lets it come again.
    pub(super) fn heal(&self, thing: Thing, berth: &Berth, binary: &Path) -> Result<()> {
        match thing {
            Thing::Server => berth.revive(binary),
            Thing::Engine(number) => come_again(&mut held(&self.engines[number])),
            Thing::LineToEngine(number) => {
                self.ways.engines[number].set(Way::Open);
                Ok(())
            }
            Thing::Postgres => {
                self.postgres.as_ref().map_or(Ok(()), |postgres| held(postgres).resume())
            }
            Thing::LineToDatabase => {
                self.ways.set_database(Way::Open);
                Ok(())
            }
        }
    }

    /// Names of all containers of the engines, of whatever kind: fillers and probes are to go as well.
    pub(in crate::bench) fn all_containers(&self) -> Result<Vec<String>> {
        self.listed(&["ps", "--all", "--format", "{{.Names}}"])
    }

    /// Those of them that did not just ask what their engine's machine has, or whether it starts any: what is left of
    /// these goes later.
    pub(in crate::bench) fn containers(&self) -> Result<Vec<String>> {
        let mut all = self.all_containers()?;
        all.retain(|name| !name.contains("-probe-"));
        let ask = ["ps", "--all", "--format", "{{.Names}}", "--filter", "label=berth.gpus"];
        let asked = self.listed(&ask)?;
        all.retain(|name| !asked.contains(name));
        Ok(all)
    }

    /// Names of all volumes that were filled for attempts; the guest's stays.
    pub(in crate::bench) fn volumes(&self) -> Result<Vec<String>> {
        self.listed(&["volume", "ls", "--format", "{{.Name}}", "--filter", "label=berth.job"])
    }

    fn listed(&self, question: &[&str]) -> Result<Vec<String>> {
        let mut all = Vec::new();
        for private in &self.engines {
            let said = output(held(private).engine().client()?.args(question))?;
            all.extend(said.lines().map(str::to_owned));
        }
        Ok(all)
    }

    /// The first column of what a query of the server's database gives.
    pub(in crate::bench) fn ask(&self, berth: &Berth, query: &str) -> Result<Vec<String>> {
        match &self.postgres {
            Some(postgres) => held(postgres).ask(query),
            None => berth.ask(query),
        }
    }
}

/// Starts an engine again. What is left of the one that was killed may keep it from starting for a moment.
fn come_again(engine: &mut PrivateEngine) -> Result<()> {
    for _ in 1..TRIES {
        match engine.resume() {
            Ok(()) => return Ok(()),
            Err(error) => note(&format!("an engine is started once more: {error:#}")),
        }
        engine.kill()?;
    }
    engine.resume()
}

fn held<T>(thing: &Mutex<T>) -> MutexGuard<'_, T> {
    thing.lock().unwrap_or_else(PoisonError::into_inner)
}
