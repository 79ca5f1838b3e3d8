//! What is struck, when and for how long: each thing by itself, so that several are away at the same time.
//! All of it is drawn by chance, and drawn again alike from the same seed.

use std::time::Duration;

use crate::bench::random::Random;

/// Engines there are.
pub(super) const ENGINES: usize = 2;

/// One of two pauses before the server is struck is so short, which hits its start, and what it finds and mends
/// then; longer ones hit launches and what runs.
const SHORT_PAUSE: Duration = Duration::from_secs(2);
/// The longest that something is gone.
const LONGEST_ABSENCE: Duration = Duration::from_secs(1);
/// The longest that a line is silent: longer than calls are waited for.
const LONGEST_SILENCE: Duration = Duration::from_secs(9);

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

use How::{Cut, Ended, Killed, Silent};

/// All things, with the longest pause before each strike, in seconds, and how it is struck, one way as often as
/// another. Together they make some 42 strikes a minute, 17 of them of the server: enough goes on in between.
const HABITS: [(Thing, u64, &[How]); 7] = [
    (Thing::Server, 10, &[Killed]),
    (Thing::Engine(0), 40, &[Killed, Killed, Ended]),
    (Thing::Engine(1), 40, &[Killed, Killed, Ended]),
    (Thing::Postgres, 24, &[Killed]),
    (Thing::LineToEngine(0), 20, &[Cut, Cut, Cut, Silent]),
    (Thing::LineToEngine(1), 20, &[Cut, Cut, Cut, Silent]),
    (Thing::LineToDatabase, 20, &[Cut, Cut, Cut, Silent]),
];

impl Thing {
    /// What there is to strike; a database in a file is struck with its server alone.
    pub(super) fn all(of_postgres: bool) -> impl Iterator<Item = Self> {
        let things = HABITS.into_iter().map(|(thing, ..)| thing);
        things.filter(move |thing| {
            of_postgres || !matches!(thing, Self::Postgres | Self::LineToDatabase)
        })
    }

    /// The longest pause before it is struck, and how.
    fn habits(self) -> (Duration, &'static [How]) {
        let found = HABITS.into_iter().find(|(thing, ..)| *thing == self);
        let (_, pause, hows) = found.unwrap_or(HABITS[0]);
        (Duration::from_secs(pause), hows)
    }
}

/// One strike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Blow {
    /// After so long.
    pub(super) pause: Duration,
    pub(super) thing: Thing,
    pub(super) how: How,
    /// It is gone for so long.
    pub(super) absence: Duration,
}

impl Blow {
    /// The next one that strikes a thing.
    pub(super) fn draw(thing: Thing, random: &mut Random) -> Self {
        let (longest_pause, hows) = thing.habits();
        let drawn = usize::try_from(random.below(hows.len() as u64)).unwrap_or(0);
        let how = hows[drawn];
        let longest_absence = if how == Silent { LONGEST_SILENCE } else { LONGEST_ABSENCE };
        let is_short = thing == Thing::Server && random.is_one_in(2);
        let pause = random.time(if is_short { SHORT_PAUSE } else { longest_pause });
        Self { pause, thing, how, absence: random.time(longest_absence) }
    }

    /// What it is called in the table.
    pub(super) fn name(self) -> &'static str {
        match (self.thing, self.how) {
            (Thing::Server, _) => "server_killed",
            (Thing::Engine(_), Ended) => "engine_ended",
            (Thing::Engine(_), _) => "engine_killed",
            (Thing::Postgres, _) => "postgres_killed",
            (Thing::LineToEngine(_), Silent) => "engine_line_silent",
            (Thing::LineToEngine(_), _) => "engine_line_cut",
            (Thing::LineToDatabase, Silent) => "database_line_silent",
            (Thing::LineToDatabase, _) => "database_line_cut",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn blows(thing: Thing, seed: u64) -> Vec<Blow> {
        let mut random = Random::new(seed);
        (0..1_000).map(|_| Blow::draw(thing, &mut random)).collect()
    }

    #[test]
    fn blows_come_again_with_their_seed_and_strike_everything() {
        assert_eq!(blows(Thing::Postgres, 7), blows(Thing::Postgres, 7));
        assert_ne!(blows(Thing::Postgres, 7), blows(Thing::Postgres, 8));
        let names = |of_postgres| {
            let all = Thing::all(of_postgres).flat_map(|thing| blows(thing, 7));
            all.map(Blow::name).collect::<BTreeSet<_>>()
        };
        assert_eq!((names(true).len(), Thing::all(true).count()), (8, 7));
        let of_sqlite = names(false);
        assert_eq!(of_sqlite.len(), 5, "{of_sqlite:?}");
        assert!(of_sqlite.iter().all(|name| !name.contains("database") && !name.contains("post")));
    }

    /// What strikes take by themselves; that an engine or PostgreSQL needs a while until it is there again comes on
    /// top of it.
    #[test]
    fn there_are_two_strikes_in_three_seconds_and_more_than_a_third_kill_the_server() {
        let rate = |thing: Thing| {
            let took = |blow: &Blow| (blow.pause + blow.absence).as_secs_f64();
            1_000.0 / blows(thing, 7).iter().map(took).sum::<f64>()
        };
        let (all, server) = (Thing::all(true).map(rate).sum::<f64>(), rate(Thing::Server));
        assert!(all > 0.66 && server / all > 0.33, "{all:.2} strikes a second, {server:.2} of it");
    }

    #[test]
    fn some_silences_are_longer_than_calls_are_waited_for() {
        let silent: Vec<_> = blows(Thing::LineToDatabase, 7)
            .into_iter()
            .filter(|blow| blow.how == Silent)
            .map(|blow| blow.absence)
            .collect();
        assert!((200..300).contains(&silent.len()), "{}", silent.len());
        assert!(silent.iter().any(|absence| *absence > Duration::from_secs(8)));
    }
}
