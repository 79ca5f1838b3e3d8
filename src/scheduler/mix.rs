//! What tasks typically ask for, learned from those that came, and how badly the free GPUs of a
//! node serve such tasks.
//!
//! Two losses are added up. *Fragmentation* (Weng et al., USENIX ATC '23): the expected amount of a
//! node's free GPUs that the next task could not use. *Stranding*: the free GPUs for which the node
//! has no CPU or memory left, if its next tasks are like the mean of those that came. A placement is
//! good when it makes the sum grow least.

use std::collections::{BTreeMap, HashMap};

use crate::gpus::Bits;
use crate::model::WHOLE_GPU;
use crate::want::Ask;

/// Losses are counted in thousandths of a GPU × this.
const UNIT: i64 = 1 << 16;
/// Until so many tasks came, the guess below counts for the rest.
const GUESS: u64 = 16;
/// So many tasks are remembered; with more the old ones fade.
const MEMORY: u64 = 8192;

/// A kind of task: CPUs, GPUs, thousandths of one, types.
type Typical = (i64, u32, u32, Bits);

/// Tasks that came, by kind.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mix {
    seen: BTreeMap<Typical, u64>,
    count: u64,
    /// Sums over tasks with GPUs: thousandths of GPUs, CPUs, memory.
    gpus: i64,
    cpus: i64,
    memory: i64,
    learn_at: u64,
    pub(crate) losses: Losses,
}

/// The mix as tables.
#[derive(Debug, Clone, Default)]
pub(crate) struct Losses {
    /// CPUs asked for, rising.
    cpus: Vec<i64>,
    /// By thousandths: how many of the asked-for parts of a GPU are not larger.
    parts: Vec<u16>,
    tables: HashMap<Bits, Table>,
    kinds: Vec<(Typical, i64)>,
    /// Free thousandths of GPUs for which so many CPUs and so much memory are needed.
    gpus: i64,
    per_cpus: i64,
    per_memory: i64,
}

/// For nodes of some GPU types: the share of tasks that need at most so many CPUs (row) and at most
/// such a part of a GPU, or so many whole ones (column).
#[derive(Debug, Clone, Default)]
struct Table {
    parts: Vec<Vec<i64>>,
    whole: Vec<Vec<i64>>,
}

impl Mix {
    /// Counts a task; true when the losses changed.
    pub(crate) fn count(&mut self, ask: &Ask, tasks: u32) -> bool {
        let tasks = u64::from(tasks);
        *self.seen.entry((ask.each.cpus, ask.gpus, ask.milli, ask.types)).or_default() += tasks;
        self.count += tasks;
        if ask.gpus > 0 {
            let times = i64::try_from(tasks).unwrap_or(0);
            let memory = ask.each.memory.min(1 << 30);
            self.gpus += times * ask.gpu_milli();
            self.cpus += times * ask.each.cpus.min(1 << 30);
            self.memory += times * memory;
        }
        self.count >= self.learn_at
    }

    /// Learns from what came; `guess`: tasks that may come, before any did.
    pub(crate) fn learn(&mut self, guess: &[Ask]) {
        self.losses = Losses::new(self, guess);
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
    }
}

impl Losses {
    fn new(mix: &Mix, guess: &[Ask]) -> Self {
        let mut kinds: BTreeMap<Typical, u64> = mix.seen.clone();
        kinds.values_mut().for_each(|count| *count *= guess.len().max(1) as u64);
        let mut this =
            Self { gpus: mix.gpus, per_cpus: mix.cpus, per_memory: mix.memory, ..Self::default() };
        if mix.count < MEMORY {
            for ask in guess {
                *kinds.entry((ask.each.cpus, ask.gpus, ask.milli, ask.types)).or_default() += GUESS;
                this.gpus += ask.gpu_milli();
                this.per_cpus += ask.each.cpus;
                this.per_memory += ask.each.memory;
            }
        }
        let all = kinds.values().sum::<u64>().max(1);
        let share = |count: u64| i64::try_from(count * (UNIT as u64) / all).unwrap_or(0);
        this.kinds = kinds.into_iter().map(|(kind, count)| (kind, share(count))).collect();
        this.cpus = this.kinds.iter().map(|((cpus, ..), _)| *cpus).collect();
        this.cpus.sort_unstable();
        this.cpus.dedup();
        let mut parts: Vec<u32> = this.kinds.iter().map(|(kind, _)| kind.2).collect();
        parts.retain(|part| *part < WHOLE_GPU);
        parts.sort_unstable();
        parts.dedup();
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

    /// What the free GPUs of a node of these types are worth less than they might be: `whole` GPUs
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
        self.fragmented(types, (milli, cpus), whole, parts)
            + self.stranded(milli, cpus, memory) * UNIT
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
        self.fragmented(types, (milli, cpus), whole, parts) / UNIT
    }

    fn fragmented(
        &self,
        types: Bits,
        (milli, cpus): (i64, i64),
        whole: u32,
        parts: impl Iterator<Item = u32> + Clone,
    ) -> i64 {
        let Some(table) = self.tables.get(&types) else { return 0 };
        let row = self.cpus.partition_point(|known| *known <= cpus);
        let (by_part, by_whole) = (&table.parts[row], &table.whole[row]);
        let largest = if whole > 0 { WHOLE_GPU } else { parts.clone().max().unwrap_or(0) };
        let column = |milli: u32| usize::from(self.parts[milli.min(WHOLE_GPU) as usize]);
        let some_part = by_part[column(largest)];
        let some_whole = by_whole[(whole as usize).min(by_whole.len() - 1)];
        let nothing = UNIT - some_part - some_whole;
        let too_small = |left: u32| {
            i64::from(left) * (some_part - by_part[column(left.min(largest))] + some_whole)
        };
        milli * nothing + parts.map(too_small).sum::<i64>()
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
