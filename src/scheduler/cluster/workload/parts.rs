//! What is left of a GPU, by what it is worth to the tasks that take parts of GPUs.
//!
//! How these are cut for such tasks so that the fewest are needed is the *cutting-stock problem*. Its linear
//! programme says what each size costs, the shadow price, and what is left is worth the dearest tasks that go
//! into it together. So half a GPU is worth half of one where many take halves, and what tasks of four fifths leave
//! is worth nothing until more small ones come than there are such fifths. It is solved by column generation
//! (Gilmore and Gomory, Operations Research 9, 1961): as long as some tasks that go into one GPU cost more than a
//! whole one, GPUs are cut for these, too.

use std::collections::BTreeMap;

use crate::model::WHOLE_GPU;

/// Of more sizes the most frequent ones are looked at.
const SIZES: usize = 32;
/// Better ways to cut GPUs are looked for so often. About two for each size are found.
const ROUNDS: usize = 4 * SIZES;
/// Less than this is nothing.
const LITTLE: f64 = 1e-6;

/// By the thousandths that are left of a GPU: how much more they are than what they are worth. `asked`: how often which
/// part of a GPU is asked for.
pub(super) fn useless(asked: &BTreeMap<u32, i64>) -> Vec<i64> {
    let (cuts, worth) = cut(asked);
    let whole = f64::from(WHOLE_GPU) / worth[cuts.whole].0.max(1.0);
    let worth =
        |left: u32| (worth[left as usize * cuts.whole / WHOLE_GPU as usize].0 * whole).round();
    (0..=WHOLE_GPU).map(|left| i64::from(left) - worth(left) as i64).collect()
}

/// How GPUs are cut best, and what each part of one is worth then.
fn cut(asked: &BTreeMap<u32, i64>) -> (Cuts, Vec<(f64, usize)>) {
    let mut cuts = Cuts::new(asked);
    let mut worth = cuts.worth();
    for _ in 0..ROUNDS {
        if worth[cuts.whole].0 <= 1.0 + LITTLE {
            break;
        }
        cuts.take(&cuts.dearest(&worth));
        worth = cuts.worth();
    }
    (cuts, worth)
}

/// How GPUs are cut.
#[derive(Debug)]
struct Cuts {
    /// A whole GPU, and what tasks take of it, rising, in the largest steps that divide all of them. The first is what
    /// nobody has.
    whole: usize,
    sizes: Vec<usize>,
    /// For each way in use what it adds to the price of each size (the inverse of the basis), and how many GPUs are cut so.
    ways: Vec<Vec<f64>>,
}

impl Cuts {
    /// Each GPU for tasks of one size.
    fn new(asked: &BTreeMap<u32, i64>) -> Self {
        let mut asked: Vec<_> = asked.iter().map(|(size, many)| (*many, *size)).collect();
        asked.sort_unstable_by(|one, other| other.cmp(one));
        asked.truncate(SIZES);
        asked.sort_unstable_by_key(|(_, size)| *size);
        let columns = asked.len() + 2;
        let way = |(at, (many, size)): (usize, &(i64, u32))| {
            let each = f64::from(WHOLE_GPU / size);
            let mut way = vec![0.0; columns];
            way[at] = 1.0 / each;
            way[columns - 1] = *many as f64 / each;
            way
        };
        let ways = (1..).zip(&asked).map(way).collect();
        let step = asked.iter().fold(WHOLE_GPU, |step, (_, size)| common(step, *size));
        let sizes = std::iter::once(step).chain(asked.iter().map(|(_, size)| *size));
        let steps = |size: u32| (size / step) as usize;
        Self { whole: steps(WHOLE_GPU), sizes: sizes.map(steps).collect(), ways }
    }

    /// What so many steps are worth as parts of a whole GPU, and the size to cut off first.
    fn worth(&self) -> Vec<(f64, usize)> {
        let price = |at: usize| self.ways.iter().map(|way| way[at]).sum::<f64>();
        let prices: Vec<_> = (0..self.sizes.len()).map(price).collect();
        let mut worth = vec![(0.0, 0)];
        for left in 1..=self.whole {
            let mut best = (0.0, 0);
            for (at, (size, price)) in self.sizes.iter().zip(&prices).enumerate() {
                if *size > left {
                    break;
                }
                let with = worth[left - size].0 + price;
                if with >= best.0 {
                    best = (with, at);
                }
            }
            worth.push(best);
        }
        worth
    }

    /// How many tasks of each size a GPU holds that is cut for the dearest.
    fn dearest(&self, worth: &[(f64, usize)]) -> Vec<f64> {
        let mut times = vec![0.0; self.sizes.len()];
        let mut left = self.whole;
        while left > 0 {
            let (_, at) = worth[left];
            times[at] += 1.0;
            left -= self.sizes[at];
        }
        times
    }

    /// Cuts as many GPUs in another way as there can be, instead of the way of which then none is left.
    fn take(&mut self, times: &[f64]) {
        let replaces = |way: &Vec<f64>| way.iter().zip(times).map(|(of, times)| of * times).sum();
        let by: Vec<f64> = self.ways.iter().map(replaces).collect();
        let last = self.sizes.len();
        let most = |at: &usize| self.ways[*at][last] / by[*at];
        let some = (0..by.len()).filter(|at| by[*at] > LITTLE);
        let Some(out) = some.min_by(|one, other| most(one).total_cmp(&most(other))) else { return };
        let mut way = std::mem::take(&mut self.ways[out]);
        way.iter_mut().for_each(|of| *of /= by[out]);
        for (other, by) in self.ways.iter_mut().zip(&by) {
            other.iter_mut().zip(&way).for_each(|(of, new)| *of -= by * new);
        }
        self.ways[out] = way;
    }
}

/// The largest number that divides both.
fn common(one: u32, other: u32) -> u32 {
    if other == 0 { one } else { common(other, one % other) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use protocol::ids::JobId;

    use super::*;
    use crate::state::State;
    use crate::story::{NOW, cluster, job, places};

    /// What so many thousandths are worth, in thousandths of a GPU.
    fn worth(asked: &[(u32, i64)], left: usize) -> i64 {
        let useless = useless(&asked.iter().copied().collect());
        left as i64 - useless[left]
    }

    #[test]
    fn what_is_left_is_worth_what_goes_into_it() {
        let halves = [(500, 10)];
        assert_eq!([499, 500, 999, 1000].map(|left| worth(&halves, left)), [0, 500, 500, 1000]);
        assert_eq!(worth(&[], 999), 0, "nobody takes parts");
    }

    #[test]
    fn what_there_is_plenty_of_is_worth_nothing() {
        let with = |small| [(200, small), (800, 100)];
        assert_eq!([99, 101].map(|small| worth(&with(small), 200)), [0, 200]);
        assert_eq!([99, 101].map(|small| worth(&with(small), 800)), [1000, 800]);
    }

    #[test]
    fn a_task_goes_beside_who_leaves_as_much_as_it_needs() {
        let story = cluster().node("a").gpus(4, "A100").shares();
        let mut state = State::of(&story.snapshot);
        let mixed = [(470, 20), (650, 20), (320, 24)];
        for (milli, tasks) in mixed {
            for _ in 0..tasks {
                state.submit(&job(1).cpus(1).gpu_part(milli).request);
                state.cancel(JobId(1));
            }
        }
        let steps = [(1, 470, "a:0"), (2, 320, "a:1"), (3, 470, "a:0"), (4, 650, "a:1")];
        for (id, milli, place) in steps {
            state.submit(&job(id).cpus(1).gpu_part(milli).request);
            assert_eq!(places(&state.pass(NOW).placements[0]), place, "{milli}");
        }
    }

    proptest! {
        /// The prices are right if no GPU can be cut for tasks that cost more than a whole one, and all tasks cost
        /// as much together as the GPUs that they need.
        #[test]
        fn prices_are_those_of_the_linear_programme(
            asked in prop::collection::btree_map(1..WHOLE_GPU, 1..1000_i64, 1..24),
        ) {
            let (cuts, worth) = cut(&asked);
            prop_assert!(worth[cuts.whole].0 <= 1.0 + LITTLE);
            let last = cuts.sizes.len();
            let gpus: f64 = cuts.ways.iter().map(|way| way[last]).sum();
            let cost = |(size, many): (&u32, &i64)| worth[*size as usize * cuts.whole / 1000].0 * *many as f64;
            let cost: f64 = asked.iter().map(cost).sum();
            prop_assert!((gpus - cost).abs() < 0.01, "{gpus} GPUs, {cost}");
        }
    }
}
