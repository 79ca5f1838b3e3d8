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

/// The engines and the database.
#[derive(Debug)]
pub(super) struct World {
    engines: Vec<(PrivateEngine, Line)>,
    postgres: Option<(Postgres, Line)>,
    struck: BTreeMap<&'static str, u64>,
}

impl World {
    /// Starts all of it; the engines get an image.
    pub(super) fn start(image: &Path, of_postgres: bool) -> Result<Self> {
        let mut engines = Vec::new();
        for number in 0..ENGINES {
            let name = format!("berth-engine-{}-{number}", std::process::id());
            let private = PrivateEngine::start(&std::env::temp_dir().join(name))?;
            private.engine().load(image)?;
            let line = Line::to(Target::Unix(private.socket().to_owned()))?;
            engines.push((private, line));
        }
        let postgres = of_postgres.then(|| {
            let postgres = Postgres::start()?;
            let line = Line::to(Target::Port(postgres.port()))?;
            anyhow::Ok((postgres, line))
        });
        Ok(Self { engines, postgres: postgres.transpose()?, struck: BTreeMap::new() })
    }

    /// The server's configuration. Each node has an address of its own of this machine, and tasks have its
    /// network, so that they can call.
    pub(super) fn settings(&self) -> String {
        let mut text = "allow_tasks_at_portal = true\n".to_owned();
        for (number, (_, line)) in self.engines.iter().enumerate() {
            // Writing to a text never fails.
            let _written = write!(
                text,
                "\n[[nodes]]\nname = \"node-{number}\"\naddress = \"127.0.0.{}\"\n\
                 endpoint = \"tcp://127.0.0.1:{}\"\nnetwork = \"host\"\ngpu_runtime = \"none\"\n\
                 gpus = [{{ type = \"A100\", count = 4 }}]\ncpus = 64\nmemory_mb = 65536\n\
                 ports = \"{}0000-{}9999\"\n",
                number + 2,
                line.port(),
                number + 1,
                number + 1,
            );
        }
        if let Some((_, line)) = &self.postgres {
            let _written = write!(
                text,
                "\n[database]\nurl = \"postgres://postgres@127.0.0.1:{}/postgres\"\n",
                line.port()
            );
        }
        text
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
            Thing::Engine(number) if how == How::Ended => self.engines[number].0.stop()?,
            Thing::Engine(number) => self.engines[number].0.kill()?,
            Thing::LineToEngine(number) => self.engines[number].1.set(way),
            Thing::Postgres | Thing::LineToDatabase => {
                let Some((postgres, line)) = &mut self.postgres else { return Ok(()) };
                if thing == Thing::Postgres {
                    postgres.kill()?;
                } else {
                    line.set(way);
                }
            }
        }
        Ok(())
    }

    fn heal(&mut self, strike: Strike, berth: &Berth, binary: &Path) -> Result<()> {
        match strike.thing {
            Thing::Server => berth.revive(binary)?,
            Thing::Engine(number) => self.engines[number].0.resume()?,
            Thing::LineToEngine(number) => self.engines[number].1.set(Way::Open),
            Thing::Postgres | Thing::LineToDatabase => {
                let Some((postgres, line)) = &mut self.postgres else { return Ok(()) };
                if strike.thing == Thing::Postgres {
                    postgres.resume()?;
                } else {
                    line.set(Way::Open);
                }
            }
        }
        Ok(())
    }

    /// How often each strike came.
    pub(super) fn struck(&self) -> &BTreeMap<&'static str, u64> {
        &self.struck
    }

    /// Names of all containers of the engines, of whatever kind: fillers and probes are to go as well.
    pub(super) fn containers(&self) -> Result<Vec<String>> {
        self.listed(&["ps", "--all", "--format", "{{.Names}}"])
    }

    /// Names of all volumes that were filled for attempts; the guest's stays.
    pub(super) fn volumes(&self) -> Result<Vec<String>> {
        self.listed(&["volume", "ls", "--format", "{{.Name}}", "--filter", "label=berth.job"])
    }

    fn listed(&self, question: &[&str]) -> Result<Vec<String>> {
        let mut all = Vec::new();
        for (private, _) in &self.engines {
            let said = output(private.engine().client()?.args(question))?;
            all.extend(said.lines().map(str::to_owned));
        }
        Ok(all)
    }

    /// The first column of what a query of the server's database gives.
    pub(super) fn ask(&self, berth: &Berth, query: &str) -> Result<Vec<String>> {
        match &self.postgres {
            Some((postgres, _)) => postgres.ask(query),
            None => berth.ask(query),
        }
    }
}
