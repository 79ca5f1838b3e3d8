//! What the server needs, all of it ours and to be broken: two engines and a database, with lines to them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::thread;

use anyhow::{Context as _, Result};

use super::blow::{Blow, ENGINES, How, Strike, Thing};
use super::line::{Line, Target, Way};
use super::postgres::Postgres;
use crate::bench::berth::Berth;
use crate::docker::PrivateEngine;
use crate::process::output;

/// CPUs of each node: there is room for all that come.
const CPUS: u32 = 64;

/// The engines and the database.
#[derive(Debug)]
pub(in crate::bench) struct World {
    engines: Vec<PrivateEngine>,
    postgres: Option<Postgres>,
    /// Those of the server, if there is only one.
    ways: Ways,
    struck: BTreeMap<&'static str, u64>,
}

/// The lines of one server to all that it needs.
#[derive(Debug)]
pub(in crate::bench) struct Ways {
    engines: Vec<Line>,
    database: Option<Line>,
}

impl Ways {
    fn to(engines: &[PrivateEngine], postgres: Option<&Postgres>) -> Result<Self> {
        let to_engine = |engine: &PrivateEngine| Line::to(Target::Unix(engine.socket().to_owned()));
        let to_database = |postgres: &Postgres| Line::to(Target::Port(postgres.port()));
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
            let _written = write!(
                text,
                "\n[database]\nurl = \"postgres://postgres@127.0.0.1:{}/postgres\"\n",
                line.port()
            );
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
    /// Starts all of it; the engines get an image.
    pub(in crate::bench) fn start(image: &Path, of_postgres: bool) -> Result<Self> {
        let mut engines = Vec::new();
        for number in 0..ENGINES {
            let name = format!("berth-engine-{}-{number}", std::process::id());
            let private = PrivateEngine::start(&std::env::temp_dir().join(name))?;
            private.engine().load(image)?;
            engines.push(private);
        }
        let postgres = of_postgres.then(Postgres::start).transpose()?;
        let ways = Ways::to(&engines, postgres.as_ref())?;
        Ok(Self { engines, postgres, ways, struck: BTreeMap::new() })
    }

    /// The configuration of the only server.
    pub(super) fn settings(&self) -> String {
        self.ways.settings(CPUS)
    }

    /// Lines of one of several servers.
    pub(in crate::bench) fn ways(&self) -> Result<Ways> {
        Ways::to(&self.engines, self.postgres.as_ref())
    }

    /// Strikes, waits, and lets what was struck come again.
    pub(super) fn strike(&mut self, blow: &Blow, berth: &Berth, binary: &Path) -> Result<()> {
        thread::sleep(blow.pause);
        for strike in &blow.strikes {
            *self.struck.entry(strike.name()).or_default() += 1;
            self.hit(*strike, berth).with_context(|| format!("{strike:?}"))?;
        }
        thread::sleep(blow.absence);
        let mut strikes: Vec<&Strike> = blow.strikes.iter().collect();
        if blow.is_healed_backwards {
            strikes.reverse();
        }
        for strike in strikes {
            self.heal(*strike, berth, binary).with_context(|| format!("after {strike:?}"))?;
        }
        Ok(())
    }

    fn hit(&mut self, strike: Strike, berth: &Berth) -> Result<()> {
        let Strike { thing, how } = strike;
        let way = if how == How::Silent { Way::Silent } else { Way::Cut };
        match thing {
            Thing::Server => berth.kill()?,
            Thing::Engine(number) if how == How::Ended => self.engines[number].stop()?,
            Thing::Engine(number) => self.engines[number].kill()?,
            Thing::LineToEngine(number) => self.ways.engines[number].set(way),
            Thing::Postgres => self.postgres.as_mut().map_or(Ok(()), Postgres::kill)?,
            Thing::LineToDatabase => self.ways.set_database(way),
        }
        Ok(())
    }

    fn heal(&mut self, strike: Strike, berth: &Berth, binary: &Path) -> Result<()> {
        match strike.thing {
            Thing::Server => berth.revive(binary)?,
            Thing::Engine(number) => self.engines[number].resume()?,
            Thing::LineToEngine(number) => self.ways.engines[number].set(Way::Open),
            Thing::Postgres => self.postgres.as_mut().map_or(Ok(()), Postgres::resume)?,
            Thing::LineToDatabase => self.ways.set_database(Way::Open),
        }
        Ok(())
    }

    /// How often each strike came.
    pub(super) fn struck(&self) -> &BTreeMap<&'static str, u64> {
        &self.struck
    }

    /// Names of all containers of the engines, of whatever kind: fillers and probes are to go as well.
    pub(in crate::bench) fn containers(&self) -> Result<Vec<String>> {
        self.listed(&["ps", "--all", "--format", "{{.Names}}"])
    }

    /// Names of all volumes that were filled for attempts; the guest's stays.
    pub(in crate::bench) fn volumes(&self) -> Result<Vec<String>> {
        self.listed(&["volume", "ls", "--format", "{{.Name}}", "--filter", "label=berth.job"])
    }

    fn listed(&self, question: &[&str]) -> Result<Vec<String>> {
        let mut all = Vec::new();
        for private in &self.engines {
            let said = output(private.engine().client()?.args(question))?;
            all.extend(said.lines().map(str::to_owned));
        }
        Ok(all)
    }

    /// The first column of what a query of the server's database gives.
    pub(in crate::bench) fn ask(&self, berth: &Berth, query: &str) -> Result<Vec<String>> {
        match &self.postgres {
            Some(postgres) => postgres.ask(query),
            None => berth.ask(query),
        }
    }
}
