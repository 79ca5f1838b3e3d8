//! What is struck, when and for how long: drawn by chance, and drawn again alike from the same seed.

use std::time::Duration;

use crate::bench::random::Random;

/// Engines there are.
pub(super) const ENGINES: usize = 2;

/// The longest pause before a blow: shorter ones hit starts and launches, longer ones what runs.
const LONGEST_PAUSE: Duration = Duration::from_millis(2_500);
/// The longest that something is gone.
const LONGEST_ABSENCE: Duration = Duration::from_millis(2_000);
/// The longest that a line is silent: longer than calls are waited for.
const LONGEST_SILENCE: Duration = Duration::from_secs(9);
/// One of so many blows strikes twice at the same time.
const DOUBLE: u64 = 5;

/// What can be struck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thing {
    Server,
    Engine(usize),
    Postgres,
    LineToEngine(usize),
    LineToDatabase,
}

/// How it is struck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// SIGKILL.
    Killed,
    /// SIGTERM, which takes an engine's containers along.
    Ended,
    /// The connections break.
    Cut,
    /// Nothing moves, and nobody is told.
    Silent,
}

/// One thing and what is done to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Strike {
    pub(super) thing: Thing,
    pub(super) how: How,
}

/// All strikes, each with how often it comes among the others. The server is killed in every second one.
const STRIKES: [(u64, Thing, How); 12] = [
    (22, Thing::Server, How::Killed),
    (2, Thing::Engine(0), How::Killed),
    (2, Thing::Engine(1), How::Killed),
    (1, Thing::Engine(0), How::Ended),
    (1, Thing::Engine(1), How::Ended),
    (4, Thing::Postgres, How::Killed),
    (2, Thing::LineToEngine(0), How::Cut),
    (2, Thing::LineToEngine(1), How::Cut),
    (1, Thing::LineToEngine(0), How::Silent),
    (1, Thing::LineToEngine(1), How::Silent),
    (3, Thing::LineToDatabase, How::Cut),
    (2, Thing::LineToDatabase, How::Silent),
];

impl Strike {
    fn draw(random: &mut Random, of_postgres: bool) -> Self {
        let possible = |(_, thing, _): &(u64, Thing, How)| {
            of_postgres || !matches!(thing, Thing::Postgres | Thing::LineToDatabase)
        };
        let strikes: Vec<_> = STRIKES.into_iter().filter(possible).collect();
        let mut number = random.below(strikes.iter().map(|(times, ..)| times).sum());
        for (times, thing, how) in strikes {
            match number.checked_sub(times) {
                Some(rest) => number = rest,
                None => return Self { thing, how },
            }
        }
        Self { thing: Thing::Server, how: How::Killed }
    }

    /// What it is called in the table.
    pub(super) fn name(self) -> &'static str {
        match (self.thing, self.how) {
            (Thing::Server, _) => "server_killed",
            (Thing::Engine(_), How::Ended) => "engine_ended",
            (Thing::Engine(_), _) => "engine_killed",
            (Thing::Postgres, _) => "postgres_killed",
            (Thing::LineToEngine(_), How::Silent) => "engine_line_silent",
            (Thing::LineToEngine(_), _) => "engine_line_cut",
            (Thing::LineToDatabase, How::Silent) => "database_line_silent",
            (Thing::LineToDatabase, _) => "database_line_cut",
        }
    }
}

/// One point at which something is struck.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Blow {
    /// After so long.
    pub(super) pause: Duration,
    /// One thing, or two at the same time, in this order.
    pub(super) strikes: Vec<Strike>,
    /// For so long.
    pub(super) absence: Duration,
    /// They come again in the other order.
    pub(super) is_healed_backwards: bool,
}

impl Blow {
    pub(super) fn draw(random: &mut Random, of_postgres: bool) -> Self {
        let mut strikes = vec![Strike::draw(random, of_postgres)];
        if random.is_one_in(DOUBLE) {
            let second = Strike::draw(random, of_postgres);
            strikes.extend((second.thing != strikes[0].thing).then_some(second));
        }
        let is_silent = strikes.iter().any(|strike| strike.how == How::Silent);
        let longest = if is_silent { LONGEST_SILENCE } else { LONGEST_ABSENCE };
        Self {
            pause: random.time(LONGEST_PAUSE),
            absence: random.time(longest),
            is_healed_backwards: random.is_one_in(2),
            strikes,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn blows(seed: u64, of_postgres: bool) -> Vec<Blow> {
        let mut random = Random::new(seed);
        (0..1_000).map(|_| Blow::draw(&mut random, of_postgres)).collect()
    }

    #[test]
    fn blows_come_again_with_their_seed_and_strike_everything() {
        assert_eq!(blows(7, true), blows(7, true));
        assert_ne!(blows(7, true), blows(8, true));
        let mut times = BTreeMap::<_, usize>::new();
        for strike in blows(7, true).iter().flat_map(|blow| &blow.strikes) {
            *times.entry(strike.name()).or_default() += 1;
        }
        assert_eq!(times.len(), 8, "{times:?}");
        assert!(times.values().all(|times| *times > 20), "{times:?}");
        let of_sqlite = blows(7, false);
        let mut names = of_sqlite.iter().flat_map(|blow| &blow.strikes).map(|strike| strike.name());
        assert!(names.all(|name| !name.contains("database") && !name.contains("postgres")));
    }
}
