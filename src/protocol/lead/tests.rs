//! Servers, their database and what is between them, in virtual time: however they freeze, lag, are cut off
//! or lose their sessions, no two act at once, and soon after all is well one does.

use proptest::prelude::*;

use super::*;

/// The time between two looks at the world, in milliseconds.
const STEP: u64 = 50;
const SERVERS: usize = 3;

/// What a server says to the database, and what that answers.
#[derive(Debug, Clone, Copy)]
enum Message {
    /// It asks for the lead. Who had it before says in which term.
    Asks { server: usize, asked: Duration, had: Option<u64> },
    /// It has the lead in this term, and has asked for it then.
    Has { server: usize, asked: Duration, given: Given },
    /// Another one has it.
    HasNot { server: usize },
    /// It asks whether it still leads.
    Beats { server: usize, asked: Duration, session: u64 },
    /// It does.
    Leads { server: usize, asked: Duration },
    /// Its session is not there any more.
    BrokenOff { server: usize },
}

/// The lead as it is given.
#[derive(Debug, Clone, Copy)]
struct Given {
    term: u64,
    session: u64,
    before: Before,
}

#[derive(Debug)]
struct Server {
    /// How fast its clock goes in percent, and what it said at the beginning.
    clock: (u64, u64),
    cut_off: bool,
    frozen_until: u64,
    /// With the term and the session in which it has the lead.
    lease: Option<(LeadLease, Given)>,
    /// Its session broke off.
    doubts: bool,
    asks_at: Duration,
    /// It has asked and was not answered yet.
    waits: bool,
}

/// The database. Its clock is the world's.
#[derive(Debug, Default)]
struct Store {
    /// Who has the lead, since when in milliseconds nothing was heard of him, and the number of his session.
    holder: Option<(usize, u64)>,
    session: u64,
    term: u64,
    done: bool,
}

#[derive(Debug)]
struct World {
    /// Real time, in milliseconds.
    now: u64,
    servers: Vec<Server>,
    store: Store,
    wire: Vec<(u64, Message)>,
    lag: u64,
}

#[derive(Debug, Clone, Copy)]
enum Event {
    Passes(u64),
    CutOff(usize, bool),
    Freezes(usize, u64),
    Lags(u64),
    /// All sessions break off.
    Restarts,
    /// A server that leads is done.
    Resigns(usize),
}

fn clock((rate, offset): (u64, u64), now: u64) -> Duration {
    Duration::from_millis(offset + now * rate / 100)
}

impl World {
    fn new(rates: [u64; SERVERS]) -> Self {
        let server = |(number, rate): (u64, u64)| Server {
            clock: (rate, number * 5_000_000),
            cut_off: false,
            frozen_until: 0,
            lease: None,
            doubts: false,
            asks_at: Duration::ZERO,
            waits: false,
        };
        let servers = (0..).zip(rates).map(server).collect();
        Self { now: 0, servers, store: Store::default(), wire: Vec::new(), lag: 1 }
    }

    fn send(&mut self, message: Message) {
        self.wire.push((self.now + self.lag, message));
    }

    fn step(&mut self) {
        self.now += STEP;
        let silence = u64::try_from(SILENCE.as_millis()).unwrap();
        if self.store.holder.is_some_and(|(_, heard)| self.now - heard >= silence) {
            self.store.holder = None;
        }
        self.deliver();
        for server in 0..SERVERS {
            if self.servers[server].frozen_until <= self.now {
                self.serve(server);
            }
        }
    }

    /// What is under way to or from a server that is cut off waits, and so does what a frozen one is told.
    fn deliver(&mut self) {
        for (at, message) in std::mem::take(&mut self.wire) {
            let waits = match message {
                Message::Asks { server, .. } | Message::Beats { server, .. } => {
                    self.servers[server].cut_off
                }
                Message::Has { server, .. }
                | Message::HasNot { server }
                | Message::Leads { server, .. }
                | Message::BrokenOff { server } => {
                    let server = &self.servers[server];
                    server.cut_off || server.frozen_until > self.now
                }
            };
            if waits || at > self.now {
                self.wire.push((at, message));
            } else {
                self.arrives(message);
            }
        }
    }

    fn arrives(&mut self, message: Message) {
        if let Message::Has { server, .. }
        | Message::HasNot { server }
        | Message::Leads { server, .. }
        | Message::BrokenOff { server } = message
        {
            self.servers[server].waits = false;
        }
        match message {
            Message::Asks { server, asked, had } => self.asked(server, asked, had),
            Message::Beats { server, asked, session } => {
                let holds =
                    |(holder, _): (usize, u64)| holder == server && session == self.store.session;
                let answer = if self.store.holder.is_some_and(holds) {
                    self.store.holder = Some((server, self.now));
                    Message::Leads { server, asked }
                } else {
                    Message::BrokenOff { server }
                };
                self.send(answer);
            }
            Message::Has { server, asked, given } => self.has(server, asked, given),
            Message::HasNot { server } => self.servers[server].lease = None,
            Message::Leads { server, asked } => {
                if let Some((lease, _)) = &mut self.servers[server].lease {
                    lease.confirmed(asked);
                }
            }
            Message::BrokenOff { server } => self.servers[server].doubts = true,
        }
    }

    /// A server asks the database for the lead.
    fn asked(&mut self, server: usize, asked: Duration, had: Option<u64>) {
        let Store { holder, session, term, done } = &mut self.store;
        let is_deposed = had.is_some_and(|had| had != *term);
        if holder.is_some() || is_deposed {
            return self.send(Message::HasNot { server });
        }
        *holder = Some((server, self.now));
        *session += 1;
        let before = if *done || *term == 0 { Before::Done } else { Before::Unknown };
        *done = false;
        if had.is_none() {
            *term += 1;
        }
        let given = Given { term: *term, session: *session, before };
        self.send(Message::Has { server, asked, given });
    }

    /// A server is told that it has the lead, perhaps still.
    fn has(&mut self, server: usize, asked: Duration, given: Given) {
        let Server { clock: own, lease, doubts, .. } = &mut self.servers[server];
        let now = clock(*own, self.now);
        let mut known = match lease {
            Some((lease, before)) if before.term == given.term => *lease,
            Some(_) | None => LeadLease::begun(asked, now, given.before),
        };
        known.confirmed(asked);
        (*lease, *doubts) = (Some((known, given)), false);
    }

    fn serve(&mut self, number: usize) {
        let server = &mut self.servers[number];
        let now = clock(server.clock, self.now);
        if server.waits || now < server.asks_at {
            return;
        }
        let had = server.lease.map(|(_, given)| given);
        let (pause, message) = match had.filter(|_| !server.doubts) {
            Some(Given { session, .. }) => {
                (BEAT, Message::Beats { server: number, asked: now, session })
            }
            None => {
                let had = had.map(|given| given.term);
                (LOOK, Message::Asks { server: number, asked: now, had })
            }
        };
        (server.asks_at, server.waits) = (now + pause, true);
        self.send(message);
    }

    fn acting(&self) -> Vec<usize> {
        let acts = |server: &Server| {
            let now = clock(server.clock, self.now);
            server.lease.is_some_and(|(lease, _)| lease.acts(now))
        };
        (0..SERVERS).filter(|number| acts(&self.servers[*number])).collect()
    }

    fn happens(&mut self, event: Event) {
        match event {
            Event::Passes(_) => {}
            Event::CutOff(server, cut_off) => self.servers[server].cut_off = cut_off,
            Event::Freezes(server, steps) => {
                self.servers[server].frozen_until = self.now + steps * STEP;
            }
            Event::Lags(lag) => self.lag = lag,
            Event::Restarts => {
                self.store.holder = None;
                self.store.session += 1;
            }
            Event::Resigns(server) => self.resigns(server),
        }
    }

    fn resigns(&mut self, number: usize) {
        let server = &mut self.servers[number];
        let now = clock(server.clock, self.now);
        let Some((mut lease, given)) = server.lease.take() else { return };
        let has = self.store.holder.is_some_and(|(holder, _)| holder == number);
        if has && given.term == self.store.term {
            self.store.holder = None;
            self.store.done = lease.end(now) == Before::Done;
        }
    }

    /// So much time goes by; says who acts at its end.
    fn passes(&mut self, millis: u64) -> Vec<usize> {
        for _ in 0..millis / STEP {
            self.step();
            assert!(self.acting().len() < 2, "{self:#?}");
        }
        self.acting()
    }
}

fn any_event() -> impl Strategy<Value = Event> {
    let server = 0..SERVERS;
    prop_oneof![
        6 => (50..20_000_u64).prop_map(Event::Passes),
        3 => (server.clone(), any::<bool>()).prop_map(|(server, cut)| Event::CutOff(server, cut)),
        3 => (server.clone(), 1..400_u64).prop_map(|(server, steps)| Event::Freezes(server, steps)),
        2 => (0..6_000_u64).prop_map(Event::Lags),
        2 => Just(Event::Lags(1)),
        2 => Just(Event::Restarts),
        1 => server.prop_map(Event::Resigns),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_two_servers_act_at_once_and_one_does_soon_after_all_is_well(
        rates in [95..=105_u64, 95..=105_u64, 95..=105_u64],
        events in prop::collection::vec(any_event(), 1..60),
    ) {
        let mut world = World::new(rates);
        for event in events {
            world.happens(event);
            world.passes(if let Event::Passes(millis) = event { millis } else { 300 });
        }
        world.lag = 1;
        for server in &mut world.servers {
            (server.cut_off, server.frozen_until) = (false, 0);
        }
        // What is still under way comes first.
        world.passes(7_000);
        prop_assert_eq!(world.passes(10_000).len(), 1);
    }
}

#[test]
fn another_server_acts_within_ten_seconds_whatever_becomes_of_the_leader() {
    for event in [Event::Freezes(0, 10_000), Event::CutOff(0, true), Event::Restarts] {
        for later in 0..20 {
            let mut world = World::new([100; SERVERS]);
            assert_eq!(world.passes(5_000 + later * STEP), [0], "the first one that asks");
            world.happens(event);
            let acting = world.passes(10_000);
            assert_eq!(acting.len(), 1, "{event:?}");
            assert!(acting != [0] || matches!(event, Event::Restarts), "{event:?}");
        }
    }
}

#[test]
fn whoever_is_done_leaves_at_once() {
    let mut world = World::new([100; SERVERS]);
    assert_eq!(world.passes(5_000), [0]);
    world.happens(Event::Freezes(0, 1_000));
    world.happens(Event::Resigns(0));
    let acting = world.passes(1_000);
    assert!(acting == [1] || acting == [2], "{acting:?}");
}

#[test]
fn a_leader_acts_for_as_long_as_it_is_sure() {
    let seconds = Duration::from_secs;
    let mut lease = LeadLease::begun(seconds(10), seconds(11), Before::Unknown);
    assert_eq!(lease.waits(seconds(11)), QUIET);
    assert!(!lease.acts(seconds(12)), "the one before may not know yet");
    assert!(!lease.acts(seconds(14)), "nothing was answered since");
    lease.confirmed(seconds(14));
    assert!(lease.acts(seconds(14)));
    lease.confirmed(seconds(13));
    assert!(lease.acts(seconds(16)), "an older question changes nothing");
    assert!(!lease.acts(seconds(17)));
    lease.confirmed(seconds(18));
    assert!(lease.acts(seconds(18)), "it was the leader all the time");
    assert_eq!(lease.end(seconds(18)), Before::Done);
    assert!(!lease.acts(seconds(18)));
    let mut early = LeadLease::begun(seconds(1), seconds(1), Before::Unknown);
    assert_eq!(early.end(seconds(2)), Before::Unknown, "the one before may still act");
    assert!(LeadLease::begun(seconds(1), seconds(1), Before::Done).acts(seconds(1)));
}
