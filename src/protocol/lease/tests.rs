//! Servers, nodes and what is between them, in virtual time: however they freeze, lag, restart and are
//! cut off from each other, no two attempts of a job run at the same time.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

/// The time between two looks at the world, in milliseconds.
const STEP: u64 = 500;
const LEASE: Duration = Duration::from_secs(60);
/// A guest that has little of its machine looks at its clock so much later, in steps.
const SLUGGISH: u64 = 6;

#[derive(Debug, Clone, Copy)]
enum Message {
    /// A container is started, by an engine that did not know that it need not.
    Start {
        attempt: usize,
    },
    Greeting {
        attempt: usize,
    },
    Question {
        attempt: usize,
        number: u64,
    },
    Answer {
        attempt: usize,
        number: u64,
    },
}

/// The container of an attempt.
#[derive(Debug)]
struct Container {
    attempt: usize,
    holding: Holding,
    /// When it asked what.
    asked: HashMap<u64, Duration>,
    runs: bool,
}

#[derive(Debug, Default)]
struct Node {
    /// Its clock: how fast it goes in percent, and what it said at the beginning.
    clock: (u64, u64),
    cut_off: bool,
    frozen_until: u64,
    sluggish: bool,
    containers: Vec<Container>,
}

#[derive(Debug)]
struct Server {
    granting: Granting,
    greets_at: Duration,
}

#[derive(Debug)]
struct World {
    /// Real time, in milliseconds.
    now: u64,
    nodes: [Node; 2],
    /// How fast the server's clock goes, in percent.
    rate: u64,
    /// `None`: it is down, until then.
    server: Option<Server>,
    down_until: u64,
    /// Stored: the attempt that the job is at. Attempts are on one node after the other.
    current: usize,
    wire: Vec<(u64, Message)>,
    /// How long messages take from now on, in milliseconds, and whether each comes twice.
    lag: (u64, bool),
    asked: u64,
}

#[derive(Debug, Clone, Copy)]
enum Event {
    Passes(u64),
    CutOff(usize, bool),
    Freezes(usize, u64),
    Sluggish(usize, bool),
    Restarts(u64),
    Lags(u64, bool),
}

fn clock((rate, offset): (u64, u64), now: u64) -> Duration {
    Duration::from_millis(offset + now * rate / 100)
}

impl World {
    fn new(rates: [u64; 3]) -> Self {
        let [rate, one, other] = rates;
        let node = |rate, offset| Node { clock: (rate, offset), ..Node::default() };
        let mut world = Self {
            now: 0,
            nodes: [node(one, 5), node(other, 9_000_000)],
            rate,
            server: None,
            down_until: 0,
            current: 0,
            wire: Vec::new(),
            lag: (0, false),
            asked: 0,
        };
        world.begin();
        world
    }

    fn server_clock(&self) -> Duration {
        clock((self.rate, 77), self.now)
    }

    /// A server begins. It starts what is stored, which may run already.
    fn begin(&mut self) {
        let now = self.server_clock();
        self.server = Some(Server { granting: Granting::new(LEASE, now), greets_at: now });
        self.send(Message::Start { attempt: self.current });
    }

    fn node_of(attempt: usize) -> usize {
        attempt % 2
    }

    /// What is sent while the node is cut off is lost.
    fn send(&mut self, message: Message) {
        let (Message::Start { attempt }
        | Message::Greeting { attempt }
        | Message::Question { attempt, .. }
        | Message::Answer { attempt, .. }) = message;
        if self.nodes[Self::node_of(attempt)].cut_off {
            return;
        }
        let (lag, twice) = self.lag;
        self.wire.push((self.now + lag, message));
        if twice {
            self.wire.push((self.now + 3 * lag, message));
        }
    }

    fn step(&mut self) {
        self.now += STEP;
        if self.server.is_none() && self.now >= self.down_until {
            self.begin();
        }
        self.deliver();
        self.serve();
        self.run();
    }

    fn deliver(&mut self) {
        let now = self.now;
        let (come, wait): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.wire).into_iter().partition(|(at, _)| *at <= now);
        self.wire = wait;
        for (at, message) in come {
            match message {
                Message::Question { attempt, number } => self.asks(attempt, number),
                Message::Start { attempt }
                | Message::Greeting { attempt }
                | Message::Answer { attempt, .. } => {
                    let node = Self::node_of(attempt);
                    // A machine that stands still finds it once it goes on.
                    if self.nodes[node].frozen_until > now {
                        self.wire.push((at, message));
                    } else {
                        self.reaches(node, message);
                    }
                }
            }
        }
    }

    fn reaches(&mut self, node: usize, message: Message) {
        let now = clock(self.nodes[node].clock, self.now);
        let containers = &mut self.nodes[node].containers;
        match message {
            // Names are taken once.
            Message::Start { attempt } => {
                if containers.iter().all(|container| container.attempt != attempt) {
                    let holding = Holding::new(LEASE);
                    let asked = HashMap::new();
                    containers.push(Container { attempt, holding, asked, runs: false });
                }
            }
            Message::Greeting { attempt } => {
                self.asked += 1;
                let number = self.asked;
                let of = |container: &&mut Container| container.attempt == attempt;
                if let Some(container) = containers.iter_mut().find(of) {
                    container.asked.insert(number, now);
                    self.send(Message::Question { attempt, number });
                }
            }
            Message::Answer { attempt, number } => {
                let of = |container: &&mut Container| container.attempt == attempt;
                let container = containers.iter_mut().find(of);
                if let Some(container) = container
                    && let Some(asked) = container.asked.remove(&number)
                {
                    container.holding.answered(asked, now);
                }
            }
            Message::Question { .. } => {}
        }
    }

    fn asks(&mut self, attempt: usize, number: u64) {
        let now = self.server_clock();
        let Some(server) = &mut self.server else { return };
        if attempt == self.current && server.granting.answers(now) {
            self.send(Message::Answer { attempt, number });
        }
    }

    fn serve(&mut self) {
        let now = self.server_clock();
        let Some(server) = &mut self.server else { return };
        if server.granting.wait(now).is_zero() {
            self.current += 1;
            self.begin();
        } else if now >= server.greets_at {
            server.greets_at = now + LEASE / 12;
            self.send(Message::Greeting { attempt: self.current });
        }
    }

    /// Whatever goes on looks at its clock first.
    fn run(&mut self) {
        let at = self.now;
        for node in self.nodes.iter_mut().filter(|node| node.frozen_until <= at) {
            let now = clock(node.clock, at);
            let thaws = at < node.frozen_until + STEP;
            if !node.sluggish || thaws || (at / STEP).is_multiple_of(SLUGGISH) {
                for container in &mut node.containers {
                    let standing = container.holding.standing(now);
                    container.runs = matches!(standing, Standing::Runs(_) | Standing::Ends(_));
                }
            }
        }
    }

    /// The attempts that do something at this moment.
    fn running(&self) -> Vec<usize> {
        let awake = self.nodes.iter().filter(|node| node.frozen_until <= self.now);
        let containers = awake.flat_map(|node| &node.containers);
        containers.filter(|container| container.runs).map(|container| container.attempt).collect()
    }

    fn happens(&mut self, event: Event) {
        match event {
            Event::Passes(_) => {}
            Event::CutOff(node, cut_off) => self.nodes[node].cut_off = cut_off,
            Event::Freezes(node, steps) => self.nodes[node].frozen_until = self.now + steps * STEP,
            Event::Sluggish(node, sluggish) => self.nodes[node].sluggish = sluggish,
            Event::Restarts(steps) => {
                self.server = None;
                self.down_until = self.now + steps * STEP;
            }
            Event::Lags(lag, twice) => self.lag = (lag, twice),
        }
    }

    /// So much time goes by; says which attempts ran in it.
    fn passes(&mut self, seconds: u64) -> Vec<usize> {
        let mut ran = Vec::new();
        for _ in 0..seconds * 1_000 / STEP {
            self.step();
            let running = self.running();
            assert!(running.iter().all(|attempt| *attempt == self.current), "{self:#?}");
            ran.extend(running);
        }
        ran.dedup();
        ran
    }
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => (1..180_u64).prop_map(Event::Passes),
        3 => (0..2_usize, any::<bool>()).prop_map(|(node, cut)| Event::CutOff(node, cut)),
        2 => (0..2_usize, 1..400_u64).prop_map(|(node, steps)| Event::Freezes(node, steps)),
        1 => (0..2_usize, any::<bool>()).prop_map(|(node, slow)| Event::Sluggish(node, slow)),
        1 => (0..200_u64).prop_map(Event::Restarts),
        2 => (0..200_000_u64, any::<bool>()).prop_map(|(lag, twice)| Event::Lags(lag, twice)),
        2 => Just(Event::Lags(100, false)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_two_attempts_run_at_once_whatever_freezes_lags_or_is_cut_off(
        rates in [95..=105_u64, 95..=105_u64, 95..=105_u64],
        events in prop::collection::vec(any_event(), 1..60),
    ) {
        let mut world = World::new(rates);
        for event in events {
            world.happens(event);
            let seconds = if let Event::Passes(seconds) = event { seconds } else { 1 };
            world.passes(seconds);
        }
    }
}

#[test]
fn a_job_begins_elsewhere_when_its_node_was_silent_for_longer_than_its_lease() {
    let mut world = World::new([100; 3]);
    assert_eq!(world.passes(1_000), [0], "nothing is over while they hear each other");
    world.happens(Event::CutOff(0, true));
    assert_eq!(world.passes(40), [0], "nor when they do not for a moment");
    world.happens(Event::CutOff(0, false));
    assert_eq!(world.passes(200), [0]);
    world.happens(Event::CutOff(0, true));
    assert_eq!(world.passes(100), [0, 1]);
    world.happens(Event::CutOff(0, false));
    assert_eq!(world.passes(1_000), [1], "what comes back does not go on");
}

#[test]
fn a_machine_that_stood_still_finds_its_lease_over() {
    let mut world = World::new([100; 3]);
    assert_eq!(world.passes(100), [0]);
    // All that the server says meanwhile waits for it.
    world.happens(Event::Freezes(0, 400));
    assert_eq!(world.passes(1_000), [1]);
}

#[test]
fn a_server_that_begins_anew_waits_anew() {
    let mut world = World::new([100; 3]);
    assert_eq!(world.passes(100), [0]);
    world.happens(Event::CutOff(0, true));
    assert_eq!(world.passes(60), [0], "its lease is over, but the server waits a little longer");
    world.happens(Event::Restarts(2));
    assert!(world.passes(70).is_empty(), "it cannot know when the one before answered last");
    assert_eq!(world.passes(30), [1]);
}

#[test]
fn an_answer_is_good_from_the_moment_of_its_question() {
    let seconds = Duration::from_secs;
    let mut holding = Holding::new(LEASE);
    assert_eq!(holding.standing(seconds(1_000)), Standing::Unheard, "however long it waits");
    assert!(!holding.answered(seconds(900), seconds(1_000)), "it comes too late");
    assert_eq!(holding.standing(seconds(1_000)), Standing::Unheard);
    assert!(holding.answered(seconds(990), seconds(1_000)));
    let farewell = LEASE / 8;
    assert_eq!(holding.standing(seconds(1_000)), Standing::Runs(seconds(50) - farewell));
    assert!(holding.answered(seconds(980), seconds(1_001)), "an older question changes nothing");
    assert_eq!(holding.standing(seconds(1_049)), Standing::Ends(seconds(1)));
    assert!(holding.answered(seconds(1_049), seconds(1_049)), "it may be heard at the last moment");
    assert_eq!(holding.standing(seconds(1_109)), Standing::Over);
    assert!(!holding.answered(seconds(1_109), seconds(1_109)), "and never again");
    assert_eq!(holding.standing(seconds(1_109)), Standing::Over);
}

#[test]
fn nothing_is_answered_once_a_lease_was_said_to_be_over() {
    let seconds = Duration::from_secs;
    let mut granting = Granting::new(LEASE, seconds(0));
    assert!(granting.answers(seconds(10)));
    assert_eq!(granting.wait(seconds(10)), seconds(75));
    assert_eq!(granting.wait(seconds(80)), seconds(5));
    assert!(granting.answers(seconds(84)), "nobody has said that it is over");
    assert_eq!(granting.wait(seconds(159)), Duration::ZERO);
    assert!(!granting.answers(seconds(159)));
    assert_eq!(granting.wait(seconds(0)), Duration::ZERO);
}

#[test]
fn neither_side_can_take_the_others_proof_for_its_own() {
    let (one, other) = ([1; NONCE_BYTES], [2; NONCE_BYTES]);
    assert_ne!(question(&one, &other), answer(&one, &other));
    assert_ne!(question(&one, &other), answer(&other, &one));
    assert_ne!(question(&one, &other), question(&other, &one));
}
