//! What runs and what waits now. Each that waits does so for a reason that lasts: nothing can be
//! placed before something ends.

use std::collections::BTreeMap;

use protocol::jobs::Hold;
use protocol::placement::TaskPlacement;
use protocol::time::Timestamp;

use crate::cast::{self, RACKS, Rack};
use crate::desk::{self, Life, Run, Times};
use crate::job::{Draft, KINDS, Reader};

const MINUTE: i64 = 60_000;

/// What runs: virtual cluster, owner, kind, tasks, GPUs of each in thousandths, hours so far, limit,
/// whether it borrows.
type Runs = (&'static str, &'static str, usize, u32, u64, i64, Option<&'static str>, bool);

/// What runs on each rack, large before small.
const RUNNING: [&[Runs]; 7] = [
    &[
        ("nlp-pretraining", "demo-bo", 2, 3, 8000, 71, Some("7d"), false),
        ("nlp", "demo-chen", 1, 2, 8000, 26, Some("3d"), false),
        ("vision", "demo-ada", 0, 2, 8000, 15, Some("1d"), false),
        ("default", "demo-eli", 6, 1, 8000, 9, Some("2d"), false),
        ("vision", "demo-fang", 9, 1, 4000, 6, None, false),
        ("default", "demo-kim", 10, 1, 4000, 12, Some("1d"), false),
        ("vision", "demo-ivan", 3, 1, 2000, 4, Some("12h"), false),
        ("vision", "demo-gus", 4, 1, 2000, 2, None, false),
        ("default", "demo-hana", 11, 1, 2000, 1, Some("6h"), false),
        ("default", "demo-lin", 5, 1, 1000, 3, None, false),
        ("default", "demo-jun", 11, 1, 1000, 1, Some("4h"), false),
    ],
    &[
        ("vision", "demo-ada", 3, 2, 8000, 44, Some("4d"), false),
        ("nlp", "demo-dana", 10, 2, 8000, 30, Some("3d"), false),
        ("detection", "demo-gus", 9, 1, 8000, 21, Some("2d"), false),
        ("speech", "demo-jun", 5, 4, 4000, 19, Some("2d"), false),
        ("vision", "demo-eli", 4, 2, 4000, 8, None, false),
        ("vision", "demo-fang", 0, 1, 4000, 7, Some("1d"), false),
        ("vision", "demo-ivan", 6, 1, 4000, 5, None, false),
        ("nlp", "demo-hana", 1, 1, 4000, 13, Some("1d"), false),
        ("speech", "demo-kim", 7, 1, 4000, 16, Some("1d"), false),
        ("speech", "demo-lin", 7, 1, 4000, 3, None, false),
        ("detection", "demo-ada", 3, 1, 4000, 11, Some("1d"), false),
        ("detection", "demo-eli", 9, 1, 4000, 2, Some("8h"), false),
        ("default", "demo-chen", 8, 1, 3000, 6, Some("1d"), true),
        ("nlp", "demo-bo", 1, 1, 2000, 9, None, false),
        ("nlp", "demo-chen", 10, 1, 2000, 1, Some("3h"), false),
        ("default", "demo-dana", 11, 1, 1000, 2, None, true),
    ],
    &[
        ("speech", "demo-lin", 5, 2, 4000, 14, Some("1d"), false),
        ("speech", "demo-kim", 7, 1, 4000, 4, None, false),
        ("speech", "demo-jun", 7, 1, 4000, 6, Some("12h"), false),
        ("detection", "demo-gus", 3, 2, 4000, 18, Some("1d"), false),
        ("detection", "demo-ivan", 9, 1, 4000, 7, Some("1d"), false),
        ("detection", "demo-fang", 3, 1, 4000, 3, None, false),
        ("default", "demo-hana", 0, 1, 4000, 2, Some("8h"), true),
        ("detection", "demo-eli", 9, 1, 2000, 5, None, false),
        ("detection", "demo-ada", 3, 1, 2000, 1, Some("5h"), false),
        ("detection", "demo-gus", 11, 1, 1000, 2, None, false),
        ("detection", "demo-ivan", 11, 1, 1000, 2, None, false),
        ("detection", "demo-ada", 11, 1, 1000, 1, Some("2h"), false),
        ("detection", "demo-fang", 11, 1, 1000, 1, None, false),
        ("default", "demo-bo", 8, 1, 2000, 8, Some("1d"), true),
        ("default", "demo-kim", 11, 4, 250, 3, None, true),
        ("default", "demo-dana", 6, 1, 1000, 5, None, true),
    ],
    &[
        ("nlp", "demo-hana", 2, 2, 8000, 52, Some("5d"), false),
        ("nlp", "demo-dana", 10, 1, 8000, 20, Some("2d"), false),
        ("default", "demo-ivan", 6, 1, 8000, 18, Some("1d"), false),
        ("default", "demo-kim", 5, 1, 4000, 6, None, false),
        ("default", "demo-lin", 7, 1, 2000, 2, None, false),
        ("default", "demo-gus", 4, 1, 1000, 1, Some("4h"), false),
    ],
    &[
        ("vision", "demo-eli", 6, 2, 8000, 33, Some("3d"), false),
        ("vision", "demo-ivan", 3, 1, 4000, 9, None, false),
        ("default", "demo-jun", 5, 1, 8000, 14, Some("2d"), false),
        ("default", "demo-bo", 8, 1, 2000, 3, None, false),
    ],
    &[
        ("speech", "demo-lin", 7, 2, 8000, 27, Some("3d"), false),
        ("speech", "demo-jun", 5, 1, 4000, 5, None, false),
        ("default", "demo-chen", 10, 1, 8000, 11, Some("1d"), false),
        ("default", "demo-ada", 0, 1, 4000, 2, Some("8h"), false),
    ],
    &[
        ("default", "demo-dana", 11, 4, 1000, 3, None, false),
        ("default", "demo-eli", 11, 3, 1000, 2, None, false),
        ("default", "demo-fang", 6, 1, 2000, 5, Some("1d"), false),
        ("default", "demo-kim", 4, 1, 1000, 1, Some("6h"), false),
    ],
];

/// The job that is still on the node that is to be empty.
const ON_DRAINED: Runs = ("vision", "demo-hana", 4, 1, 2000, 10, Some("1d"), true);

/// What waits: virtual cluster, owner, kind, rack, tasks, GPUs of each, priority, limit, how many.
type Waits =
    (&'static str, &'static str, usize, usize, u32, u64, &'static str, Option<&'static str>, u32);

const WAITING: [Waits; 24] = [
    ("nlp", "demo-bo", 1, 0, 1, 8, "prod", Some("1d"), 2),
    ("nlp", "demo-chen", 10, 0, 2, 8, "test", None, 2),
    ("nlp", "demo-dana", 1, 0, 1, 2, "test", Some("6h"), 3),
    ("nlp-pretraining", "demo-hana", 2, 0, 4, 8, "test", Some("7d"), 1),
    ("vision", "demo-ada", 0, 0, 1, 8, "test", Some("1d"), 3),
    ("vision", "demo-eli", 6, 0, 1, 1, "test", Some("30m"), 4),
    ("vision", "demo-fang", 9, 0, 4, 4, "test", None, 2),
    ("vision", "demo-ivan", 3, 0, 1, 1, "oppo", None, 3),
    ("default", "demo-gus", 11, 0, 1, 1, "test", Some("20m"), 5),
    ("default", "demo-lin", 5, 0, 1, 4, "test", None, 3),
    ("default", "demo-jun", 10, 0, 1, 2, "oppo", Some("2h"), 2),
    ("default", "demo-kim", 8, 0, 2, 1, "test", None, 2),
    ("vision", "demo-gus", 4, 1, 1, 8, "test", None, 3),
    ("vision", "demo-ada", 3, 1, 2, 8, "test", Some("2d"), 1),
    ("speech", "demo-lin", 7, 1, 4, 4, "test", Some("1d"), 2),
    ("speech", "demo-kim", 5, 1, 1, 8, "test", None, 2),
    ("nlp", "demo-bo", 10, 1, 1, 8, "test", Some("12h"), 2),
    ("detection", "demo-eli", 9, 1, 1, 1, "test", None, 2),
    ("detection", "demo-ivan", 3, 1, 1, 4, "test", Some("8h"), 2),
    ("detection", "demo-fang", 3, 2, 1, 1, "test", None, 4),
    ("detection", "demo-gus", 9, 2, 2, 4, "test", Some("1d"), 2),
    ("detection", "demo-ada", 11, 2, 1, 2, "test", None, 2),
    ("default", "demo-dana", 0, 1, 8, 8, "test", None, 1),
    ("default", "demo-chen", 8, 1, 1, 8, "oppo", None, 1),
];

/// Waiting jobs that somebody holds, and whether that was an administrator.
const HELD: [(&str, &str, usize, bool); 4] = [
    ("default", "demo-ada", 11, false),
    ("default", "demo-bo", 8, true),
    ("vision", "demo-fang", 4, false),
    ("speech", "demo-jun", 5, true),
];

/// All of them: what runs before what waits. What borrows is of the lowest priority: it gives way.
pub(crate) fn lives(now: Timestamp, reader: &mut Reader) -> Vec<Life> {
    let mut lives = running(now, reader);
    lives.extend(waiting(now, reader));
    lives.extend(held(now, reader));
    lives
}

fn running(now: Timestamp, reader: &mut Reader) -> Vec<Life> {
    let mut lives = Vec::new();
    for ((rack, runs), number) in RACKS.iter().zip(RUNNING).zip(1..) {
        let taken = |name: &str| name != cast::CUT_OFF && name != cast::DRAINED;
        let mut room = Room::new(rack, number, taken);
        for runs in runs {
            lives.push(run(now, rack, runs, lives.len(), &mut room, reader));
        }
        let mut drained = Room::new(rack, number, |name| name == cast::DRAINED);
        if !drained.free.is_empty() {
            lives.push(run(now, rack, &ON_DRAINED, lives.len(), &mut drained, reader));
        }
    }
    lives
}

fn run(
    now: Timestamp,
    rack: &'static Rack,
    &(cluster, user, kind, tasks, gpu_milli, hours, limit, borrowed): &Runs,
    number: usize,
    room: &mut Room,
    reader: &mut Reader,
) -> Life {
    let name = format!("{}-run-{:02}", KINDS[kind].0, number + 1);
    // Production outranks what is for tests: what waits as such waits for its like.
    let priority = match borrowed {
        true => "oppo",
        false if hours > 24 => "prod",
        false => "test",
    };
    let draft = Draft { user, name, kind, cluster, rack, tasks, gpu_milli, priority, limit };
    // Nobody starts at the full hour.
    let minutes = i64::try_from(number * 17 % 50).unwrap_or(0);
    let placed = now.plus_millis(-(hours * 60 - minutes.min(hours * 30)) * MINUTE);
    let submitted = placed.plus_millis(-(minutes + 1) * MINUTE / 2);
    let times = Times { placed, started: placed.plus_millis(4_000), ended: None };
    let mut life = Life::waiting(reader.job(&draft, submitted));
    life.add(Run { places: room.places(&draft), times, exit: None, borrowed });
    life
}

fn waiting(now: Timestamp, reader: &mut Reader) -> Vec<Life> {
    let mut lives = Vec::new();
    for (cluster, user, kind, rack, tasks, gpus, priority, limit, count) in WAITING {
        for _ in 0..count {
            let number = lives.len();
            let name = format!("{}-next-{:02}", KINDS[kind].0, number + 1);
            let (rack, gpu_milli) = (&RACKS[rack], gpus * 1000);
            let draft =
                Draft { user, name, kind, cluster, rack, tasks, gpu_milli, priority, limit };
            // One after the other within the last three quarters of an hour.
            let minutes = i64::try_from(number * 37 % 45).unwrap_or(0) + 1;
            lives.push(Life::waiting(reader.job(&draft, now.plus_millis(-minutes * MINUTE))));
        }
    }
    lives
}

fn held(now: Timestamp, reader: &mut Reader) -> Vec<Life> {
    let lives = HELD.into_iter().zip(1..).map(|((cluster, user, kind, administrator), number)| {
        let draft = Draft {
            user,
            name: format!("{}-held-{number}", KINDS[kind].0),
            kind,
            cluster,
            rack: &RACKS[2],
            tasks: 1,
            gpu_milli: 1000,
            priority: "test",
            limit: None,
        };
        let mut life = Life::waiting(reader.job(&draft, now.plus_millis(-number * 50 * MINUTE)));
        let by = cast::user(if administrator { "admin" } else { user });
        let at = now.plus_millis(-number * 40 * MINUTE);
        life.tell(at, "held", format!("held by {by}"));
        life.hold = Some(Hold { by, at, administrator });
        life
    });
    lives.collect()
}

/// What is free on the nodes of a rack.
struct Room {
    number: u32,
    /// By node: the GPUs that are free, and the next port.
    free: BTreeMap<String, (Vec<u32>, u16)>,
}

impl Room {
    /// Of the nodes of these names, all of which are empty.
    fn new(rack: &Rack, number: u32, named: impl Fn(&str) -> bool) -> Self {
        let names = (1..=rack.nodes).map(|at| format!("{}-{at:02}", rack.prefix));
        let free = names.filter(|name| named(name));
        Self { number, free: free.map(|name| (name, ((0..rack.gpus).collect(), 10_000))).collect() }
    }

    /// Each task on the fullest node that has room; those that share a GPU share one.
    fn places(&mut self, draft: &Draft) -> Vec<TaskPlacement> {
        let each = usize::try_from(draft.gpu_milli.div_ceil(1000)).unwrap_or(1);
        let together = draft.gpu_milli < 1000;
        let mut last: Option<(String, Vec<u32>)> = None;
        let mut places = Vec::new();
        for index in 0..draft.tasks {
            let (node, gpus) = match &last {
                Some(place) if together => place.clone(),
                Some(_) | None => self.take(each),
            };
            let port = self.free.get_mut(&node).map_or(10_000, |(_, port)| {
                *port += 2;
                *port - 2
            });
            let at = node.rsplit('-').next().and_then(|at| at.parse().ok()).unwrap_or(0_u32);
            places.push(TaskPlacement {
                role: 0,
                index,
                node: cast::node(&node),
                address: format!("10.{}.0.{at}", self.number),
                gpus: gpus.clone(),
                ports: desk::ports(port),
            });
            last = Some((node, gpus));
        }
        places
    }

    fn take(&mut self, each: usize) -> (String, Vec<u32>) {
        let fits = self.free.iter_mut().filter(|(_, (free, _))| free.len() >= each);
        let (name, (free, _)) =
            fits.min_by_key(|(_, (free, _))| free.len()).expect("what runs has room");
        (name.clone(), free.drain(..each).collect())
    }
}
