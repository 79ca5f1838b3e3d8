//! What GPU types cost whoever leaves the choice, by the part of all demand that insists on them.
//!
//! Wishes change from one day to the next, and after a start few tasks are known: so prices are looked at much
//! more often than the rest of the mix, and become others only where that is more than a little, since then all
//! scores are made anew. Who comes again is one of those who will need places next, and so is counted among them
//! again, but he wishes for no more than before.

use std::collections::BTreeMap;

use crate::cluster::workload::{GUESS, Losses, MEMORY, UNIT, Workload, all_of};
use crate::model::WHOLE_GPU;
use crate::numbers::gpus::{Bits, positions};
use crate::numbers::request::Ask;

/// No type is dearer: what nearly nobody has and somebody insists on.
const DEAREST: i64 = 16 * UNIT;
/// Until so many tasks came, the rest counts as tasks of one GPU that insist on nothing.
const ENOUGH: u64 = 4 * GUESS;
/// Prices are looked at again when one part in so many more has come,
const PART: u64 = 8;
/// or at least so many tasks.
const FEW: u64 = 8;
/// A price that is another by less than one part in so many stays as it is.
const STEP: i64 = 16;

/// What those insist on who came.
#[derive(Debug, Clone, Default)]
pub(super) struct Wishes {
    /// By the types that will do: thousandths of GPUs that were asked for.
    asked: BTreeMap<Bits, i64>,
    tasks: u64,
    /// When so many have come they are looked at again.
    again_at: u64,
}

impl Wishes {
    fn count(&mut self, ask: &Ask, tasks: u32) {
        if ask.gpus > 0 {
            let milli = i64::from(tasks).saturating_mul(ask.gpu_milli());
            let asked = self.asked.entry(ask.types).or_default();
            *asked = asked.saturating_add(milli);
        }
        self.tasks += u64::from(tasks);
    }

    /// Looks at them again when some more have come.
    fn looked_at(&mut self) {
        if self.tasks >= MEMORY {
            self.asked.values_mut().for_each(|milli| *milli /= 2);
            self.asked.retain(|_, milli| *milli > 0);
            self.tasks /= 2;
        }
        self.again_at = self.tasks + (self.tasks / PART).max(FEW);
    }

    /// The types have other numbers; `None`: there is none any more.
    pub(super) fn renumber(&mut self, number: impl Fn(Bits) -> Bits) {
        for (types, milli) in std::mem::take(&mut self.asked) {
            *self.asked.entry(number(types)).or_default() += milli;
        }
    }

    /// By type. What insists on one of several types does so on all of them together.
    fn prices(&self, supply: &[i64]) -> Vec<i64> {
        let missing = i64::try_from(ENOUGH.saturating_sub(self.tasks)).unwrap_or(0);
        let came = self.asked.values().fold(0, |sum: i64, milli| sum.saturating_add(*milli));
        let demand = came.saturating_add(missing * i64::from(WHOLE_GPU)).max(1);
        let (all, gpus) = (all_of(supply.len()), supply.iter().sum::<i64>());
        let mut prices = vec![0; supply.len()];
        for (wanted, milli) in &self.asked {
            let among: i64 = positions(*wanted).filter_map(|number| supply.get(number)).sum();
            if *wanted == all || among == 0 {
                continue;
            }
            let part = i128::from(*milli) * i128::from(UNIT) / i128::from(demand);
            let price = i64::try_from(part).unwrap_or(UNIT) * gpus / among;
            for number in positions(*wanted) {
                prices[number] = (prices[number] + price).min(DEAREST);
            }
        }
        prices
    }
}

impl Workload {
    /// Counts tasks that came for the first time among those that wish for something.
    pub(crate) fn count_wishes(&mut self, ask: &Ask, tasks: u32) {
        self.wishes.count(ask, tasks);
    }

    /// Whether so much came that the prices may be others.
    pub(crate) fn prices_are_due(&self) -> bool {
        self.wishes.tasks >= self.wishes.again_at
    }

    /// Learns the prices; says whether any is another. `supply`: how many GPUs there are of each type.
    pub(crate) fn learn_prices(&mut self, supply: &[i64]) -> bool {
        let prices = self.wishes.prices(supply);
        self.wishes.looked_at();
        let before = &self.losses.prices;
        let differ = |(one, other): (&i64, &i64)| (one - other).abs() > one.max(other) / STEP;
        let changed = before.len() != prices.len() || before.iter().zip(&prices).any(differ);
        if changed {
            self.losses.prices = prices;
        }
        changed
    }
}

impl Losses {
    /// What a thousandth of a GPU of a type costs.
    pub(crate) fn price(&self, gpu_type: Option<u8>) -> i64 {
        let price = gpu_type.and_then(|number| self.prices.get(usize::from(number)));
        price.copied().unwrap_or(0)
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
    use crate::story::{NOW, Story, cluster, job, places};

    /// Four A100 on one node and 32 V100 on eight others.
    fn two_types() -> Story {
        let names = ["b", "c", "d", "e", "f", "g", "h", "i"];
        let story = cluster().node("a").gpus(4, "A100");
        names.iter().fold(story, |story, name| story.node(name).gpus(4, "V100"))
    }

    /// So many tasks of one GPU came and are gone.
    fn came(state: &mut State, tasks: u32, types: &[&str]) {
        for _ in 0..tasks {
            state.submit(&job(1).gpus(1, types).request);
            state.cancel(JobId(1));
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
        types.map(|number| state.cluster.mix.losses.price(u8::try_from(number).ok())).collect()
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
