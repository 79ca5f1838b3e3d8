//! Who strikes: one by himself for each thing, so that a strike waits for no other one to be over.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};

use super::blow::{Blow, Thing};
use super::jobs::Jobs;
use super::roll::Roll;
use super::tally::Tally;
use super::world::World;
use crate::bench::berth::Berth;
use crate::bench::random::Random;
use crate::progress::note;

/// Between two looks whether it is over, and whether the server has ended by itself.
const LOOK: Duration = Duration::from_millis(100);

/// All that takes part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) binary: &'a Path,
    pub(super) world: &'a World,
    pub(super) berth: &'a Berth,
    pub(super) roll: &'a Roll,
    pub(super) jobs: &'a Jobs<'a>,
}

/// The strikers, each with what he strikes and the chances that he has.
#[derive(Debug)]
pub(super) struct Strikers {
    all: Vec<(Thing, Random)>,
    /// So many times as quick as by their habits.
    pace: f64,
}

impl Strikers {
    pub(super) fn new(seed: u64, of_postgres: bool, pace: f64) -> Self {
        let mut seeds = Random::new(seed);
        let chances = |thing| (thing, Random::new(seeds.number()));
        Self { all: Thing::all(of_postgres).map(chances).collect(), pace }
    }

    /// Lets all strike until there are so many points, or until that moment, and everything is there again.
    pub(super) fn strike(
        &mut self,
        scene: Scene<'_>,
        struck: &Mutex<Struck>,
        (points, until): (u64, Option<Instant>),
    ) -> Result<()> {
        let is_over = AtomicBool::new(false);
        let round = Round { scene, struck, points, until, is_over: &is_over, pace: self.pace };
        thread::scope(|scope| {
            let strikers = self.all.iter_mut().map(|(thing, random)| {
                scope.spawn(move || {
                    let struck = round.strike(*thing, random);
                    if struck.is_err() {
                        round.is_over.store(true, Ordering::Relaxed);
                    }
                    struck
                })
            });
            let strikers: Vec<_> = strikers.collect();
            strikers.into_iter().try_for_each(|striker| {
                striker.join().map_err(|_| anyhow!("one who strikes ended early"))?
            })
        })
    }
}

/// How often something was struck, and what there was to be hit.
#[derive(Debug, Default)]
pub(super) struct Struck {
    points: u64,
    tasks: u64,
    idle: u64,
    restarts: u64,
    of: BTreeMap<&'static str, u64>,
}

impl Struck {
    pub(super) fn points(&self) -> u64 {
        self.points
    }

    /// Takes note of a strike beside so many tasks.
    fn add(&mut self, name: &'static str, tasks: usize) {
        self.points += 1;
        self.tasks += tasks as u64;
        self.idle += u64::from(tasks == 0);
        *self.of.entry(name).or_default() += 1;
    }

    /// Says the same as a tally.
    pub(super) fn tell(&self, tally: &mut Tally) {
        (tally.points, tally.tasks, tally.idle) = (self.points, self.tasks, self.idle);
        tally.restarts = self.restarts;
        tally.struck = self.of.iter().map(|(name, times)| ((*name).to_owned(), *times)).collect();
    }
}

/// What the strikers have in common until all is counted.
#[derive(Debug, Clone, Copy)]
struct Round<'a> {
    scene: Scene<'a>,
    struck: &'a Mutex<Struck>,
    points: u64,
    until: Option<Instant>,
    /// One of them has failed.
    is_over: &'a AtomicBool,
    pace: f64,
}

impl Round<'_> {
    /// Strikes one thing until it is over.
    fn strike(self, thing: Thing, random: &mut Random) -> Result<()> {
        let Scene { binary, world, berth, roll, .. } = self.scene;
        loop {
            let blow = Blow::draw(thing, random);
            if !self.waits(&blow)? {
                return Ok(());
            }
            let tasks = roll.present();
            world.hit(&blow, berth).with_context(|| format!("{blow:?}"))?;
            held(self.struck).add(blow.name(), tasks);
            thread::sleep(blow.absence);
            world.heal(thing, berth, binary).with_context(|| format!("after {blow:?}"))?;
        }
    }

    /// Waits for as long as a blow does; whether it comes at all. Who strikes the server starts it again meanwhile
    /// where it has ended by itself.
    fn waits(self, blow: &Blow) -> Result<bool> {
        let Scene { binary, berth, .. } = self.scene;
        let due = Instant::now() + blow.pause.div_f64(self.pace);
        loop {
            if blow.thing == Thing::Server && berth.keep(binary)? {
                held(self.struck).restarts += 1;
                note("the server had ended by itself and was started again");
            }
            if self.ends() {
                return Ok(false);
            }
            let rest = due.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return Ok(true);
            }
            thread::sleep(rest.min(LOOK));
        }
    }

    fn ends(self) -> bool {
        self.is_over.load(Ordering::Relaxed)
            || self.until.is_some_and(|until| Instant::now() >= until)
            || held(self.struck).points >= self.points
    }
}

pub(super) fn held<T>(thing: &Mutex<T>) -> MutexGuard<'_, T> {
    thing.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_has_chances_of_its_own_which_come_again_with_the_seed() {
        let blows = |seed| {
            let mut strikers = Strikers::new(seed, true, 1.0);
            let draw = |(thing, random): &mut (Thing, Random)| {
                (0..20).map(|_| Blow::draw(*thing, random).pause).collect::<Vec<_>>()
            };
            strikers.all.iter_mut().map(draw).collect::<Vec<_>>()
        };
        assert_eq!(blows(7), blows(7));
        let all = blows(7);
        assert_ne!(all[1], all[2], "the two engines are struck at other moments");
        assert_ne!(all, blows(8));
    }

    #[test]
    fn what_was_struck_is_told() {
        let mut struck = Struck::default();
        for (name, tasks) in [("server_killed", 3), ("engine_ended", 0), ("server_killed", 2)] {
            struck.add(name, tasks);
        }
        let mut tally = Tally::default();
        struck.tell(&mut tally);
        assert_eq!((tally.points, tally.tasks, tally.idle), (3, 5, 1));
        assert_eq!((tally.struck["server_killed"], tally.struck["engine_ended"]), (2, 1));
    }
}
