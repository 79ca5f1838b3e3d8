//! What GPU types cost whoever leaves the choice, by the part of all demand that insists on them.
//!
//! Demand changes from one day to the next, and after a start few tasks are known: so prices are looked at much
//! more often than the rest of the workload, and become others only where that is more than a little, since then all
//! scores are made anew. Who comes again is one of those who will need places next, and so is counted among them
//! again, but he wishes for no more than before.
//!
//! Whoever insists on a type needs its GPUs, and CPUs and memory beside them. Once those who insist have taken all
//! there is of one of these, what is left of the others is of no use to them: it was never scarce, and is free, as
//! in a linear programme what is left over has the shadow price zero. So only that of which they need the largest
//! part has a price, and who takes little of it pays little. Where a type has few cores for each GPU it is often the
//! cores, and GPUs that would be left without any go to tasks that need few.

use std::collections::BTreeMap;
use std::iter::Sum;

use crate::cluster::workload::{GUESS, Losses, MEMORY, UNIT, Workload, all_of};
use crate::model::WHOLE_GPU;
use crate::numbers::amounts::Amounts;
use crate::numbers::gpus::{Bits, positions};
use crate::numbers::kind::Kind;
use crate::numbers::request::TaskRequest;

/// No type is dearer: what nearly nobody has and somebody insists on.
const DEAREST: i64 = 16 * UNIT;
/// Until so many tasks came, the rest counts as tasks of one GPU that insist on nothing.
const ENOUGH: u64 = 4 * GUESS;
/// Prices are looked at again when one part in so many more has come,
const PART: u64 = 8;
/// or at least so many tasks.
const FEW: u64 = 8;
/// CPUs or memory have the price instead of GPUs only where the part that is needed of them, an estimate, is larger
/// by more than one part in so many.
const CLEARLY: i64 = 4;
/// A price that is another by less than one part in so many stays as it is.
const STEP: i64 = 16;

/// GPUs, CPUs (thousandths of both) and memory (MiB) of a type: what there is, what is asked for, or what each costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Goods {
    gpus: i64,
    cpus: i64,
    memory: i64,
}

impl Goods {
    /// What so many tasks ask for.
    pub(crate) fn asked(request: &TaskRequest, tasks: u32) -> Self {
        let (gpus, each) = (request.gpu_milli(), request.each);
        let (cpus, memory) = (each.cpus.min(1 << 30), each.memory.min(1 << 30));
        Self { gpus, cpus, memory }.map(|amount| amount.saturating_mul(tasks.into()))
    }

    fn map(self, of: impl Fn(i64) -> i64) -> Self {
        Self { gpus: of(self.gpus), cpus: of(self.cpus), memory: of(self.memory) }
    }

    fn with(self, other: Self, of: impl Fn(i64, i64) -> i64) -> Self {
        Self {
            gpus: of(self.gpus, other.gpus),
            cpus: of(self.cpus, other.cpus),
            memory: of(self.memory, other.memory),
        }
    }

    fn plus(self, other: Self) -> Self {
        self.with(other, i64::saturating_add)
    }
}

impl<'a> Sum<&'a Self> for Goods {
    fn sum<I: Iterator<Item = &'a Self>>(goods: I) -> Self {
        goods.fold(Self::default(), |sum, other| sum.plus(*other))
    }
}

/// What there is of each of so many types: `kinds` are nodes, and how many there are of them.
pub(crate) fn supply<'a>(
    kinds: impl Iterator<Item = (&'a Kind, &'a i64)>,
    types: usize,
) -> Vec<Goods> {
    let mut supply = vec![Goods::default(); types];
    for (kind, count) in kinds {
        for (number, bits) in &kind.types {
            let Amounts { cpus, memory, .. } = kind.total.part(bits.count_ones(), kind.size);
            let each = Goods { gpus: i64::from(bits.count_ones() * WHOLE_GPU), cpus, memory };
            let of_type = &mut supply[usize::from(*number)];
            *of_type = of_type.plus(each.map(|amount| amount.saturating_mul(*count)));
        }
    }
    supply
}

/// What those insist on who came.
#[derive(Debug, Clone, Default)]
pub(super) struct DemandCounts {
    /// By the types that will do.
    asked: BTreeMap<Bits, Goods>,
    tasks: u64,
    /// When so many have come they are looked at again.
    again_at: u64,
}

impl DemandCounts {
    fn count(&mut self, request: &TaskRequest, tasks: u32) {
        if request.gpus > 0 {
            let asked = self.asked.entry(request.types).or_default();
            *asked = asked.plus(Goods::asked(request, tasks));
        }
        self.tasks += u64::from(tasks);
    }

    /// Looks at them again when some more have come.
    fn looked_at(&mut self) {
        if self.tasks >= MEMORY {
            self.asked.values_mut().for_each(|asked| *asked = asked.map(|amount| amount / 2));
            self.asked.retain(|_, asked| asked.gpus > 0);
            self.tasks /= 2;
        }
        self.again_at = self.tasks + (self.tasks / PART).max(FEW);
    }

    /// The types have other numbers; `None`: there is none any more.
    pub(super) fn renumber(&mut self, number: impl Fn(Bits) -> Bits) {
        for (types, asked) in std::mem::take(&mut self.asked) {
            let known = self.asked.entry(number(types)).or_default();
            *known = known.plus(asked);
        }
    }

    /// By type. What insists on one of several types does so on all of them together.
    fn prices(&self, supply: &[Goods]) -> Vec<Goods> {
        let missing = i64::try_from(ENOUGH.saturating_sub(self.tasks)).unwrap_or(0);
        let came = self.asked.values().sum::<Goods>().gpus;
        let demand = came.saturating_add(missing * i64::from(WHOLE_GPU)).max(1);
        let (all, gpus) = (all_of(supply.len()), supply.iter().sum::<Goods>().gpus);
        // Once the cluster is full, if all of it goes by demand.
        let part = |asked: i64, among: i64| match i128::from(demand) * i128::from(among) {
            needed_of @ 1.. => {
                let needed = i128::from(asked) * i128::from(gpus) * i128::from(UNIT);
                i64::try_from(needed / needed_of).unwrap_or(i64::MAX)
            }
            _ => 0,
        };
        let mut needed = vec![Goods::default(); supply.len()];
        for (wanted, asked) in self.asked.iter().filter(|(wanted, _)| **wanted != all) {
            let of_supply = || positions(*wanted).filter(|number| *number < supply.len());
            let among = of_supply().map(|number| &supply[number]).sum();
            let part = asked.with(among, part);
            of_supply().for_each(|number| needed[number] = needed[number].plus(part));
        }
        needed.into_iter().zip(supply).map(|(needed, supply)| price(needed, *supply)).collect()
    }
}

/// What a type's GPUs, or else its CPUs or memory, cost whoever leaves the choice: together as much in each case.
/// `needed`: which part of each those need who insist.
fn price(needed: Goods, supply: Goods) -> Goods {
    let price = needed.gpus.min(DEAREST);
    let instead = |amount: i64| price.saturating_mul(supply.gpus) / amount.max(1);
    if needed.cpus.max(needed.memory) <= needed.gpus.saturating_add(needed.gpus / CLEARLY) {
        Goods { gpus: price, ..Goods::default() }
    } else if needed.cpus >= needed.memory {
        Goods { cpus: instead(supply.cpus), ..Goods::default() }
    } else {
        Goods { memory: instead(supply.memory), ..Goods::default() }
    }
}

impl Workload {
    /// Counts tasks that came for the first time among those that wish for something.
    pub(crate) fn count_demand(&mut self, request: &TaskRequest, tasks: u32) {
        self.demand.count(request, tasks);
    }

    /// Whether so much came that the prices may be others.
    pub(crate) fn prices_are_due(&self) -> bool {
        self.demand.tasks >= self.demand.again_at
    }

    /// Learns the prices; says whether any is another. `supply`: what there is of each type.
    pub(crate) fn learn_prices(&mut self, supply: &[Goods]) -> bool {
        let prices = self.demand.prices(supply);
        self.demand.looked_at();
        let before = &self.losses.prices;
        let by = |one: i64, other: i64| i64::from((one - other).abs() > one.max(other) / STEP);
        let differ = |(one, other): (&Goods, &Goods)| one.with(*other, by) != Goods::default();
        let changed = before.len() != prices.len() || before.iter().zip(&prices).any(differ);
        if changed {
            self.losses.prices = prices;
        }
        changed
    }
}

impl Losses {
    /// What it costs to take so much where the GPUs are of this type.
    pub(crate) fn price(&self, gpu_type: u8, taken: Goods) -> i64 {
        let Some(price) = self.prices.get(usize::from(gpu_type)) else { return 0 };
        let Goods { gpus, cpus, memory } = price.with(taken, i64::saturating_mul);
        gpus.saturating_add(cpus).saturating_add(memory)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use protocol::ids::JobId;

    use super::*;
    use crate::properties::events::cases;
    use crate::properties::with;
    use crate::state::State;
    use crate::story::{Job, NOW, Story, cluster, job, places};

    /// Four A100 on one node and 32 V100 on eight others.
    fn two_types() -> Story {
        let names = ["b", "c", "d", "e", "f", "g", "h", "i"];
        let story = cluster().node("a").gpus(4, "A100");
        names.iter().fold(story, |story, name| story.node(name).gpus(4, "V100"))
    }

    /// So many tasks of one GPU came and are gone.
    fn came(state: &mut State, tasks: u32, types: &[&str]) {
        came_as(state, tasks, &job(1).gpus(1, types));
    }

    fn came_as(state: &mut State, tasks: u32, job: &Job) {
        for _ in 0..tasks {
            state.submit(&job.request);
            state.cancel(job.request.job);
        }
    }

    /// In which more insist on V100 than on A100, of which there are far fewer.
    fn learned() -> State {
        let mut state = State::of(&two_types().snapshot);
        came(&mut state, 10, &["A100"]);
        came(&mut state, 16, &["V100"]);
        came(&mut state, 38, &[]);
        state
    }

    fn prices(state: &State) -> Vec<i64> {
        let types = 0..state.cluster.names.types.len();
        types.map(|number| state.cluster.workload.losses.prices[number].gpus).collect()
    }

    #[test]
    fn who_leaves_the_choice_leaves_what_others_insist_on() {
        let mut state = learned();
        let [scarce, plenty] = prices(&state)[..] else { panic!("there are two types") };
        let hundredths = |price: i64| price * 100 / UNIT;
        assert_eq!(
            (hundredths(scarce), hundredths(plenty)),
            (140, 28),
            "10/64 × 36/4, 16/64 × 36/32"
        );
        let steps: [(i64, &[&str], &str); 3] =
            [(2, &[], "b:0"), (3, &["A100"], "a:0"), (4, &[], "b:1")];
        for (id, types, place) in steps {
            state.submit(&job(id).gpus(1, types).request);
            assert_eq!(places(&state.pass(NOW).placements[0]), place, "{types:?}");
        }
    }

    #[test]
    fn who_takes_little_of_what_is_scarce_of_a_type_pays_little() {
        let story = cluster().node("a").gpus(4, "A100").cpus(16).memory(1 << 16);
        let names = ["b", "c", "d", "e", "f", "g", "h", "i"];
        let other = |story: Story, name| story.node(name).gpus(4, "V100").cpus(64).memory(1 << 18);
        let story = names.into_iter().fold(story, other);
        let little = |id| job(id).gpus(1, &[]).memory(1 << 10);
        let cases: [fn(Job) -> Job; 2] =
            [|job| job.cpus(8).memory(1 << 10), |job| job.memory(1 << 15)];
        for much in cases {
            let mut state = State::of(&story.snapshot);
            came_as(&mut state, 8, &much(job(1).gpus(1, &["A100"])));
            came_as(&mut state, 56, &much(job(1).gpus(1, &[])));
            for (id, job, place) in [(2, much(little(2)), "b:0"), (3, little(3), "a:0")] {
                state.submit(&job.request);
                assert_eq!(places(&state.pass(NOW).placements[0]), place, "{id}");
            }
        }
    }

    #[test]
    fn what_runs_and_waits_says_after_a_restart_what_types_cost() {
        let wishes: [(u32, &[&str]); 3] = [(10, &["A100"]), (16, &["V100"]), (38, &[])];
        let wishes = wishes.into_iter().flat_map(|(tasks, types)| (0..tasks).map(move |_| types));
        let story = (1..)
            .zip(wishes)
            .fold(two_types(), |story, (id, types)| story.waits(job(id).gpus(1, types)));
        let mut before = State::of(&story.snapshot);
        let plan = before.plan(NOW);
        assert_eq!(plan.placements.len(), 36, "all GPUs are in use");
        let after = State::of(&with(&story.snapshot, &plan));
        assert_eq!(prices(&after), prices(&before));
        assert!(prices(&after)[0] > UNIT);
    }

    #[test]
    fn after_few_tasks_something_is_known_of_prices() {
        let mut state = State::of(&two_types().snapshot);
        came(&mut state, 7, &["A100"]);
        assert_eq!(prices(&state), [0, 0], "too few");
        came(&mut state, 1, &["A100"]);
        let eighth = UNIT / 8 * 36 / 4;
        assert_eq!(
            prices(&state),
            [eighth, 0],
            "eight of 64, the others as if they wished for nothing"
        );
    }

    #[test]
    fn prices_follow_what_comes() {
        let mut state = State::of(&two_types().snapshot);
        came(&mut state, 1_024, &[]);
        came(&mut state, 512, &["A100"]);
        let third = UNIT / 3 * 36 / 4;
        let price = prices(&state)[0];
        assert!(
            (price - third).abs() < third / 8,
            "{price} instead of {third}, long before 2 048 came"
        );
    }

    #[test]
    fn who_comes_back_wants_no_more_than_before() {
        let story = two_types().waits(job(2).gpus(1, &["A100"]));
        let mut state = State::of(&story.snapshot);
        came(&mut state, 63, &[]);
        let before = prices(&state);
        assert!(before[0] > 0);
        for times in 1..=64 {
            assert_eq!(state.pass(NOW).placements.len(), 1);
            state.ended(JobId(2));
            state.submit(&job(2).gpus(1, &["A100"]).gave_way(times, NOW).request);
            state.submit(&job(2).gpus(1, &["A100"]).gave_way(times, NOW).priority(150).request);
        }
        came(&mut state, 64, &[]);
        assert_eq!(prices(&state)[0], before[0] / 2, "one of 128");
    }

    #[test]
    fn where_nobody_insists_nothing_has_a_price() {
        let mut state = State::of(&two_types().snapshot);
        came(&mut state, 64, &[]);
        assert_eq!(prices(&state), [0, 0]);
        came(&mut state, 64, &["A100", "V100"]);
        assert_eq!(prices(&state), [0, 0], "all types will do");
    }

    #[test]
    fn what_insists_on_one_of_several_types_makes_them_dearer_together() {
        let story = two_types().node("k").gpus(4, "K80");
        let mut state = State::of(&story.snapshot);
        came(&mut state, 32, &["A100", "K80"]);
        came(&mut state, 32, &[]);
        assert_eq!(
            prices(&state),
            [UNIT / 2 * 5, UNIT / 2 * 5, 0],
            "half of all on a third of all"
        );
    }

    #[test]
    fn what_was_learned_stays_true_when_types_come() {
        let mut state = State::of(&two_types().snapshot);
        came(&mut state, 32, &[]);
        came(&mut state, 32, &["V100"]);
        let story = two_types().node("k").gpus(4, "K80");
        state.set_nodes(&story.snapshot.nodes);
        assert_eq!(prices(&state), [0, 0, UNIT / 2 * 40 / 32], "K80 is no more wanted than A100");
        state.set_nodes(&two_types().snapshot.nodes);
        assert_eq!(prices(&state), [0, UNIT / 2 * 36 / 32]);
    }

    proptest! {
        #![proptest_config(cases(100))]

        /// As many come as there are GPUs, in any order: nobody who insists finds his type given to
        /// somebody who could have had the other.
        #[test]
        fn a_cluster_is_filled_whatever_the_order(
            order in Just([vec!["A100"; 4], vec!["V100"; 9], vec![""; 23]].concat()).prop_shuffle(),
        ) {
            let mut state = learned();
            for (id, wish) in (2..).zip(&order) {
                let types: Vec<&str> = Some(*wish).filter(|wish| !wish.is_empty()).into_iter().collect();
                state.submit(&job(id).gpus(1, &types).request);
                prop_assert_eq!(state.pass(NOW).placements.len(), 1, "{} at {}", wish, id);
            }
        }
    }
}
