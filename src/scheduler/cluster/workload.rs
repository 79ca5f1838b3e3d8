//! What tasks typically ask for, learned from those that came, and how badly the free GPUs of a
//! node serve such tasks.
//!
//! Two losses are added up. *Fragmentation*: the free GPUs on nodes where the next task finds no room, expected
//! (Weng et al., USENIX ATC '23), and elsewhere what of partly used GPUs is *useless*, since all tasks that will come
//! cannot make more of it together ([`parts`]); that it is too small for the next one counts less, as others come
//! after it. *Stranding*: the free GPUs for which the node has no CPU or memory left, if its next tasks are like the
//! mean of those that came. A placement is good when it makes the sum grow least.
//!
//! Whoever leaves the choice of a type pays for scarce ones: the *price* of a type is the part of all
//! demand that insists on it, over the part that it is of all GPUs. At 1, those who can use nothing
//! else would fill it by themselves once the cluster is full; a GPU of it given to anybody else is
//! then lost to them, and costs as much as a free one that nobody can use.
//!
//! On nodes without GPUs there is neither. There what is left is *uneven* by the cores for which there is no
//! memory, or the memory for which there are no cores, were the next tasks without GPU like the mean of those
//! that came: so much memory or so many cores as others will want are not spent on who needs little of it.

use std::collections::{BTreeMap, HashMap};

use protocol::ids::GpuType;

use crate::cluster::workload::prices::{DemandCounts, Goods};
use crate::model::WHOLE_GPU;
use crate::numbers::amounts::Amounts;
use crate::numbers::gpus::{Bits, lowest, positions};
use crate::numbers::kind::Kind;
use crate::numbers::quick::Quick;
use crate::numbers::request::TaskRequest;

mod parts;
pub(crate) mod prices;

/// Losses are counted in thousandths of a GPU × this.
const UNIT: i64 = 1 << 16;
/// Until so many tasks came, the guess below counts for the rest.
const GUESS: u64 = 16;
/// What is too small for the next task counts one part in so many.
const NEXT: i64 = 8;
/// So many tasks are remembered; with more the old ones fade.
const MEMORY: u64 = 8192;

/// A kind of task: CPUs, GPUs, thousandths of one, types.
type Typical = (i64, u32, u32, Bits);

/// Tasks that came, by kind.
#[derive(Debug, Clone, Default)]
pub(crate) struct Workload {
    /// The names of the types, whose numbers `seen` has.
    types: Vec<GpuType>,
    seen: BTreeMap<Typical, u64>,
    count: u64,
    /// Sums over tasks with GPUs: thousandths of GPUs, CPUs, memory.
    gpus: i64,
    cpus: i64,
    memory: i64,
    plain: Plain,
    learn_at: u64,
    demand: DemandCounts,
    pub(crate) losses: Losses,
}

/// Sums over tasks without GPU.
#[derive(Debug, Clone, Copy, Default)]
struct Plain {
    tasks: u64,
    cpus: i64,
    memory: i64,
}

impl Plain {
    fn count(&mut self, each: Amounts, tasks: u64) {
        let times = i64::try_from(tasks).unwrap_or(0);
        self.tasks += tasks;
        self.cpus = self.cpus.saturating_add(times.saturating_mul(each.cpus.min(1 << 30)));
        self.memory = self.memory.saturating_add(times.saturating_mul(each.memory.min(1 << 30)));
    }

    fn fade(&mut self) {
        *self = Self { tasks: self.tasks / 2, cpus: self.cpus / 2, memory: self.memory / 2 };
    }
}

/// The workload as tables.
#[derive(Debug, Clone, Default)]
pub(crate) struct Losses {
    /// CPUs asked for, rising.
    cpus: Vec<i64>,
    /// By thousandths: how many of the asked-for parts of a GPU are not larger.
    parts: Vec<u16>,
    /// By thousandths: so much is useless of what is left of a GPU.
    useless: Vec<i64>,
    tables: HashMap<Bits, Table, Quick>,
    kinds: Vec<(Typical, i64)>,
    /// Free thousandths of GPUs for which so many CPUs and so much memory are needed.
    gpus: i64,
    per_cpus: i64,
    per_memory: i64,
    plain: Plain,
    /// By type: what it costs whoever might have another.
    prices: Vec<Goods>,
}

/// For nodes of some GPU types: the share of tasks that need at most so many CPUs (row) and at most
/// such a part of a GPU, or so many whole ones (column).
#[derive(Debug, Clone, Default)]
struct Table {
    parts: Vec<Vec<i64>>,
    whole: Vec<Vec<i64>>,
}

/// Which share of the tasks finds room on a node; the thousandths of its free GPUs that the next is expected not to
/// use, for want of room or where they are too small for it; and the thousandths of them that are useless.
#[derive(Debug, Clone, Copy, Default)]
struct Fragments {
    room: i64,
    no_room: i64,
    too_small: i64,
    useless: i64,
}

impl Workload {
    /// Counts tasks.
    pub(crate) fn count(&mut self, request: &TaskRequest, tasks: u32) {
        let tasks = u64::from(tasks);
        *self
            .seen
            .entry((request.each.cpus, request.gpus, request.milli, request.types))
            .or_default() += tasks;
        self.count += tasks;
        if request.gpus > 0 {
            let times = i64::try_from(tasks).unwrap_or(0);
            let memory = request.each.memory.min(1 << 30);
            self.gpus += times * request.gpu_milli();
            self.cpus += times * request.each.cpus.min(1 << 30);
            self.memory += times * memory;
        } else {
            self.plain.count(request.each, tasks);
        }
    }

    /// Whether so much came that it is to be learned from.
    pub(crate) fn is_due(&self) -> bool {
        self.count >= self.learn_at
    }

    /// The GPU types have other numbers from now on: `types` are all there are, in order.
    pub(crate) fn renumber(&mut self, types: &[GpuType]) {
        if self.types == types {
            return;
        }
        let known = std::mem::replace(&mut self.types, types.to_vec());
        let number = |old: usize| types.binary_search(known.get(old)?).ok();
        let mask = |wanted| match wanted == all_of(known.len()) {
            true => all_of(types.len()),
            false => positions(wanted).filter_map(number).fold(0, |bits: Bits, n| bits | 1 << n),
        };
        for ((cpus, gpus, milli, wanted), count) in std::mem::take(&mut self.seen) {
            let wanted = if gpus > 0 { mask(wanted) } else { 0 };
            *self.seen.entry((cpus, gpus, milli, wanted)).or_default() += count;
        }
        self.demand.renumber(mask);
    }

    /// Learns from what came; `guess`: tasks that may come, before any did; `supply`: what there is
    /// of each type.
    pub(crate) fn learn(&mut self, guess: &[TaskRequest], supply: &[Goods]) {
        let prices = std::mem::take(&mut self.losses.prices);
        self.losses = Losses { prices, ..Losses::new(self, guess) };
        self.learn_prices(supply);
        if self.count >= MEMORY {
            self.fade();
        }
        self.learn_at = (self.count * 2).max(GUESS * 4);
    }

    fn fade(&mut self) {
        self.seen.values_mut().for_each(|count| *count /= 2);
        self.seen.retain(|_, count| *count > 0);
        self.count = self.seen.values().sum();
        self.gpus /= 2;
        self.cpus /= 2;
        self.memory /= 2;
        self.plain.fade();
    }
}

/// Before any task came: tasks of 1, 2, 4, … GPUs, as large as a node, that take their part of it.
pub(crate) fn guess(kinds: &[Kind]) -> Vec<TaskRequest> {
    let mut guess = Vec::new();
    for kind in kinds.iter().filter(|kind| kind.size > 0) {
        let mut gpus = 1;
        while gpus <= kind.size {
            let each = Amounts { disk: 0, ..kind.total.part(gpus, kind.size) };
            let types = kind.type_mask();
            let labels = BTreeMap::new();
            guess.push(TaskRequest { each, gpus, milli: WHOLE_GPU, types, labels });
            gpus *= 2;
        }
    }
    guess.sort_by_key(|request| (request.types, request.gpus, request.each));
    guess.dedup_by_key(|request| (request.types, request.gpus));
    guess
}

/// The bits of so many types.
fn all_of(types: usize) -> Bits {
    lowest(Bits::MAX, u32::try_from(types).unwrap_or(u32::MAX))
}

impl Losses {
    /// The cores, in thousandths, that a node without GPUs has left without memory, or memory without them.
    /// Of few tasks nothing is learned.
    pub(crate) fn uneven(&self, free: Amounts) -> i64 {
        let Plain { tasks, cpus, memory } = self.plain;
        if tasks < GUESS || cpus <= 0 || memory <= 0 {
            return 0;
        }
        let served = i128::from(free.memory) * i128::from(cpus) / i128::from(memory);
        i64::try_from((i128::from(free.cpus) - served).abs()).unwrap_or(i64::MAX)
    }

    fn new(workload: &Workload, guess: &[TaskRequest]) -> Self {
        let mut kinds: BTreeMap<Typical, u64> = workload.seen.clone();
        kinds.values_mut().for_each(|count| *count *= guess.len().max(1) as u64);
        let mut this = Self {
            gpus: workload.gpus,
            per_cpus: workload.cpus,
            per_memory: workload.memory,
            plain: workload.plain,
            ..Self::default()
        };
        if workload.count < MEMORY {
            for request in guess {
                *kinds
                    .entry((request.each.cpus, request.gpus, request.milli, request.types))
                    .or_default() += GUESS;
                this.gpus += request.gpu_milli();
                this.per_cpus += request.each.cpus;
                this.per_memory += request.each.memory;
            }
        }
        let all = kinds.values().sum::<u64>().max(1);
        let share = |count: u64| i64::try_from(count * (UNIT as u64) / all).unwrap_or(0);
        this.kinds = kinds.into_iter().map(|(kind, count)| (kind, share(count))).collect();
        this.cpus = this.kinds.iter().map(|((cpus, ..), _)| *cpus).collect();
        this.cpus.sort_unstable();
        this.cpus.dedup();
        let mut asked: BTreeMap<u32, i64> = BTreeMap::new();
        let in_part = |kind: &Typical| kind.1 > 0 && kind.2 < WHOLE_GPU;
        for ((_, _, milli, _), share) in this.kinds.iter().filter(|(kind, _)| in_part(kind)) {
            *asked.entry(*milli).or_default() += share;
        }
        this.useless = parts::useless(&asked);
        let parts: Vec<u32> = asked.into_keys().collect();
        let below = |milli: u32| parts.partition_point(|part| *part <= milli) as u16;
        this.parts = (0..=WHOLE_GPU).map(below).collect();
        this
    }

    /// Prepares for nodes with these GPU types.
    pub(crate) fn prepare(&mut self, types: Bits) {
        let columns = self.parts.last().map_or(0, |last| usize::from(*last)) + 1;
        let most =
            self.kinds.iter().map(|((_, gpus, ..), _)| *gpus as usize).max().unwrap_or(0) + 1;
        let mut table = Table {
            parts: vec![vec![0; columns]; self.cpus.len() + 1],
            whole: vec![vec![0; most]; self.cpus.len() + 1],
        };
        for ((cpus, gpus, milli, wanted), share) in &self.kinds {
            if *gpus == 0 || wanted & types == 0 {
                continue;
            }
            let row = self.cpus.partition_point(|known| known < cpus) + 1;
            if *milli < WHOLE_GPU {
                table.parts[row][usize::from(self.parts[*milli as usize])] += share;
            } else {
                table.whole[row][*gpus as usize] += share;
            }
        }
        sum_up(&mut table.parts);
        sum_up(&mut table.whole);
        self.tables.insert(types, table);
    }

    /// By how much the free GPUs of a node of these types are worth less than they might be: `whole` GPUs
    /// are free, and parts of others.
    pub(crate) fn of(
        &self,
        types: Bits,
        (cpus, memory): (i64, i64),
        whole: u32,
        parts: impl Iterator<Item = u32> + Clone,
    ) -> i64 {
        let milli = i64::from(whole * WHOLE_GPU) + parts.clone().map(i64::from).sum::<i64>();
        if milli == 0 {
            return 0;
        }
        let Fragments { room, no_room, too_small, useless } =
            self.fragments(types, (milli, cpus), whole, parts);
        no_room + useless * room + too_small / NEXT + self.stranded(milli, cpus, memory) * UNIT
    }

    /// Thousandths of a node's free GPUs that the next task could not use, expected.
    pub(crate) fn fragmented_milli(
        &self,
        types: Bits,
        cpus: i64,
        whole: u32,
        parts: impl Iterator<Item = u32> + Clone,
    ) -> i64 {
        let milli = i64::from(whole * WHOLE_GPU) + parts.clone().map(i64::from).sum::<i64>();
        let fragments = self.fragments(types, (milli, cpus), whole, parts);
        (fragments.no_room + fragments.too_small) / UNIT
    }

    fn fragments(
        &self,
        types: Bits,
        (milli, cpus): (i64, i64),
        whole: u32,
        parts: impl Iterator<Item = u32> + Clone,
    ) -> Fragments {
        let Some(table) = self.tables.get(&types) else { return Fragments::default() };
        let row = self.cpus.partition_point(|known| *known <= cpus);
        let (by_part, by_whole) = (&table.parts[row], &table.whole[row]);
        let largest = if whole > 0 { WHOLE_GPU } else { parts.clone().max().unwrap_or(0) };
        let column = |milli: u32| usize::from(self.parts[milli.min(WHOLE_GPU) as usize]);
        let some_part = by_part[column(largest)];
        let some_whole = by_whole[(whole as usize).min(by_whole.len() - 1)];
        let room = some_part + some_whole;
        let too_small = |left: u32| i64::from(left) * (room - by_part[column(left.min(largest))]);
        let mut fragments =
            Fragments { room, no_room: milli * (UNIT - room), ..Default::default() };
        for left in parts {
            fragments.too_small += too_small(left);
            fragments.useless += self.useless[left as usize];
        }
        fragments
    }

    fn stranded(&self, milli: i64, cpus: i64, memory: i64) -> i64 {
        let usable = |amount: i64, per: i64| match per {
            1.. => amount.min(1 << 32).saturating_mul(self.gpus) / per,
            _ => i64::MAX,
        };
        let usable = usable(cpus, self.per_cpus).min(usable(memory, self.per_memory));
        (milli - usable.max(0)).max(0)
    }
}

/// Each cell becomes the sum of itself and all above and to the left of it.
fn sum_up(table: &mut [Vec<i64>]) {
    for row in 0..table.len() {
        let mut sum = 0;
        for column in 0..table[row].len() {
            sum += table[row][column];
            let above = if row > 0 { table[row - 1][column] } else { 0 };
            table[row][column] = sum + above;
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::ids::JobId;

    use crate::state::State;
    use crate::story::{NOW, cluster, job, places};

    #[test]
    fn memory_and_cores_are_left_to_who_needs_them() {
        let story = cluster().node("large").cpus(32).memory(1 << 20);
        let story = story.node("quick").cpus(64).memory(1 << 17);
        let place = |state: &mut State, cpus, memory| {
            state.submit(&job(2).cpus(cpus).memory(memory).request);
            let place = places(&state.pass(NOW).placements[0]);
            state.ended(JobId(2));
            place
        };
        let asked = [(1, 1 << 10), (1, 1 << 16), (16, 1 << 10)];
        let all = |state: &mut State| asked.map(|(cpus, memory)| place(state, cpus, memory));
        let mut state = State::of(&story.snapshot);
        assert_eq!(all(&mut state), ["large:"; 3], "where the fewest cores are left");
        for _ in 0..64 {
            state.submit(&job(1).memory(1 << 12).request);
            state.cancel(JobId(1));
        }
        assert_eq!(all(&mut state), ["quick:", "large:", "quick:"]);
    }
}
