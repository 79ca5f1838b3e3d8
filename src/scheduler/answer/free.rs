//! What could start now. There is one definition of it for all who ask: a dry run fits.

use protocol::ids::GpuType;
use protocol::time::Timestamp;

use crate::answer::admit::never;
use crate::model::{FreeGpus, QosClass, Request, Turn};
use crate::numbers::gpus::Bits;
use crate::numbers::request::Wanted;
use crate::pass::fit::{Look, place_within, undo};
use crate::state::State;

/// So long is said again what follows what is expected of others, which changes with every moment.
const A_WHILE_MS: i64 = 1_000;

/// By what right so many would start.
type Right = Option<QosClass>;

impl State {
    /// How many GPUs of a type a job like this one could start on at once, were it submitted now.
    /// `like` has one role with the least that a task may ask for; its tasks and GPUs are set here.
    /// `None`: it could never have a single one. Ask after a pass, as for a dry run.
    pub fn free_gpus(
        &mut self,
        like: &Request,
        gpu_type: &GpuType,
        now: Timestamp,
    ) -> Option<FreeGpus> {
        self.behind_the_only_one(like, now, |state| state.free_of(like, gpu_type, now))
    }

    /// From when on [`State::free_gpus`] may say something else to whoever asks later, though nothing
    /// happens: then somebody's turn is before his that was not, or what is kept for one who waits alone
    /// may be elsewhere. `None`: never. `like` is submitted now, as all later ones are when they ask.
    #[must_use]
    pub fn free_until(&self, like: &Request, now: Timestamp) -> Option<Timestamp> {
        let turn = like.turn();
        let of = self.cluster.names.clusters.get(&like.virtual_cluster).copied();
        let outranks = self.cluster.ranks.outranked(of, turn).next().is_some();
        if outranks || self.only_one_ahead_of(like).is_some() {
            return Some(now.plus_millis(A_WHILE_MS));
        }
        // Of two with the same turn the one that borrows gives way to the other, and is not ahead of it yet.
        let borrows = self.cluster.ranks.first_borrower_from(turn);
        let borrows = borrows.map(|of| Turn { rank: of.rank.saturating_add(1), ..of });
        let waits = self.only_one().map(|waiter| waiter.key.turn).filter(|of| *of >= turn);
        let behind = borrows.into_iter().chain(waits).filter(|of| of.priority == turn.priority);
        let first = behind.map(|of| of.rank).min()?;
        Some(now.plus_millis(first.saturating_sub(turn.rank)))
    }

    fn free_of(&mut self, like: &Request, gpu_type: &GpuType, now: Timestamp) -> Option<FreeGpus> {
        let one = sized(like, gpu_type, 1, 1);
        let class = self.cluster.class(&one);
        if never(&self.cluster, &class).is_some() {
            return None;
        }
        let Idle { all, on_one_node } = self.idle(gpu_type);
        let single = |state: &mut Self, gpus| state.right(&sized(like, gpu_type, 1, gpus), now);
        let largest = (1..=on_one_node).rev().find(|gpus| single(self, *gpus).is_some());
        let gang = |state: &mut Self, tasks| state.right(&sized(like, gpu_type, tasks, 1), now);
        let guess = self.reach(&sized(like, gpu_type, all, 1));
        let gpus = most(all, guess, |tasks| gang(self, tasks).is_some());
        let guaranteed = |right: Right| right == Some(QosClass::Guaranteed);
        let own = match guaranteed(gang(self, gpus)) {
            true => gpus,
            false => most(gpus, guess, |tasks| guaranteed(gang(self, tasks))),
        };
        Some(FreeGpus { gpus, on_one_node: largest.unwrap_or(0), borrowed: gpus - own })
    }

    /// The GPUs of a type that nobody has any part of: no more could be given to anybody.
    fn idle(&self, gpu_type: &GpuType) -> Idle {
        let mut idle = Idle::default();
        let Some(number) = self.cluster.names.type_number(gpu_type) else { return idle };
        for state in &self.cluster.states {
            let kind = &self.cluster.kinds[state.kind];
            if kind.ready {
                let free: Bits = state.free_gpus & kind.of_type(number);
                idle.all = idle.all.saturating_add(free.count_ones());
                idle.on_one_node = idle.on_one_node.max(free.count_ones());
            }
        }
        idle
    }

    fn right(&mut self, request: &Request, now: Timestamp) -> Right {
        Some(self.at_once(request, now)?.qos_class)
    }

    /// How many tasks of a request find room on what is idle: a good guess of how many would start.
    fn reach(&mut self, request: &Request) -> u32 {
        let class = self.cluster.class(request);
        let wanted = Wanted { job: request.job, class: &class };
        match place_within(&mut self.cluster, wanted, Look::Lend, None) {
            Ok(allocations) => {
                undo(&mut self.cluster, &allocations);
                u32::try_from(allocations.len()).unwrap_or(u32::MAX)
            }
            Err(failure) => failure.fit,
        }
    }
}

/// GPUs of a type that nobody has any part of.
#[derive(Debug, Default)]
struct Idle {
    all: u32,
    on_one_node: u32,
}

/// A number for which `fits` says yes, and of the next one no: the most, wherever less fits where
/// more does. Nothing more than `bound` fits; `guess` is tried first.
fn most(bound: u32, guess: u32, mut fits: impl FnMut(u32) -> bool) -> u32 {
    let (mut fitting, mut beyond) = (0, bound.saturating_add(1));
    let tries = [bound, guess, guess.saturating_add(1)];
    let mut tries = tries.into_iter();
    while beyond - fitting > 1 {
        let halfway = fitting + (beyond - fitting) / 2;
        let next = tries.find(|next| *next > fitting && *next < beyond).unwrap_or(halfway);
        match fits(next) {
            true => fitting = next,
            false => beyond = next,
        }
    }
    fitting
}

/// The request with so many tasks of so many GPUs of a type.
fn sized(like: &Request, gpu_type: &GpuType, tasks: u32, gpus: u32) -> Request {
    let mut request = like.clone();
    for role in &mut request.roles {
        role.count = tasks;
        role.demand.gpus = gpus;
        role.gpu_types = vec![gpu_type.clone()];
    }
    request
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use protocol::cluster::NodeCondition;

    use super::*;
    use crate::model::{Answer, Snapshot};
    use crate::properties::events::cases;
    use crate::properties::{Case, any_snapshot};
    use crate::story::{NOW, Story, cluster, gpu_type, job};

    fn free_in(story: &Story, within: &str, kind: &str) -> Option<FreeGpus> {
        free(&story.snapshot, within, kind)
    }

    fn free(snapshot: &Snapshot, within: &str, kind: &str) -> Option<FreeGpus> {
        let mut state = State::of(snapshot);
        state.pass(NOW);
        state.free_gpus(&job(1_000).within(within).request, &gpu_type(kind), NOW)
    }

    fn said(gpus: u32, on_one_node: u32, borrowed: u32) -> Option<FreeGpus> {
        Some(FreeGpus { gpus, on_one_node, borrowed })
    }

    /// Two nodes of eight A100 and one of four V100; `vision` is guaranteed eight A100.
    fn three_nodes() -> Story {
        let story = cluster().node("a").gpus(8, "A100").node("b").gpus(8, "A100");
        story.node("c").gpus(4, "V100").share("vision", &[("A100", 8)], None)
    }

    #[test]
    fn what_runs_is_not_free_whoever_runs_it() {
        let story = three_nodes().running(1, "vision", &[("a", &[0, 1, 2], 4)]);
        let story = story.running(2, "default", &[("b", &[0, 1, 2, 3, 4, 5, 6], 4)]);
        assert_eq!(free_in(&story, "vision", "A100"), said(6, 5, 1));
        assert_eq!(free_in(&story, "default", "A100"), said(6, 5, 5));
        assert_eq!(free_in(&story, "default", "V100"), said(4, 4, 0));
    }

    #[test]
    fn a_type_beyond_the_share_is_none_of_its() {
        assert_eq!(free_in(&three_nodes(), "vision", "V100"), None);
        assert_eq!(free_in(&three_nodes(), "vision", "H100"), None);
    }

    #[test]
    fn who_borrows_nothing_has_its_share_and_no_more() {
        let story = three_nodes().borrows_nothing();
        assert_eq!(free_in(&story, "vision", "A100"), said(8, 8, 0));
        let busy = story.running(1, "vision", &[("a", &[0, 1, 2, 3, 4, 5, 6, 7], 8)]);
        assert_eq!(free_in(&busy, "vision", "A100"), said(0, 0, 0));
    }

    #[test]
    fn a_full_share_borrows() {
        let story = three_nodes().running(1, "vision", &[("a", &[0, 1, 2, 3, 4, 5, 6, 7], 8)]);
        assert_eq!(free_in(&story, "vision", "A100"), said(8, 8, 8));
    }

    #[test]
    fn a_part_has_its_own_or_what_is_left_of_its_parents() {
        let story = three_nodes().share("eyes", &[("A100", 2)], None).part_of("vision");
        let story = story.borrows_nothing();
        assert_eq!(free_in(&story, "eyes", "A100"), said(6, 4, 0), "a job is in one of the two");
    }

    #[test]
    fn nodes_that_take_nothing_and_shared_gpus_are_not_free() {
        let story = cluster().node("a").gpus(8, "A100").condition(NodeCondition::Draining);
        let story = story.node("b").gpus(8, "A100").broken_gpu(3).shares();
        let story = story.running(1, "default", &[("b", &[0], 1)]).of_gpu(250);
        assert_eq!(free_in(&story, "default", "A100"), said(6, 6, 0));
    }

    proptest! {
        #![proptest_config(cases(300))]

        /// The card says n if and only if a dry run of n fits, and of one more does not.
        #[test]
        fn what_is_said_to_be_free_is_what_a_dry_run_finds(
            Case(snapshot) in any_snapshot(),
            within in 0..3_usize,
            kind in 0..3_usize,
        ) {
            let within = ["default", "vision", "speech"][within];
            let kind = ["A100", "K80", "V100"][kind];
            let like = job(1_000).within(within).request;
            let mut state = State::of(&snapshot);
            state.pass(NOW);
            let gpu_type = gpu_type(kind);
            let said = state.free_gpus(&like, &gpu_type, NOW);
            let mut fits = |tasks: u32, gpus: u32| {
                let asked = sized(&like, &gpu_type, tasks, gpus);
                match state.dry_run(&asked, NOW) {
                    Answer::Fits(places, qos_class) => {
                        assert_eq!(places.len(), tasks as usize);
                        Some(qos_class)
                    }
                    Answer::Preempts(_) | Answer::Waits(_) | Answer::Never(_) => None,
                }
            };
            let Some(FreeGpus { gpus, on_one_node, borrowed }) = said else {
                prop_assert_eq!(fits(1, 1), None);
                return Ok(());
            };
            prop_assert!(gpus == 0 || fits(gpus, 1).is_some(), "{} do not fit", gpus);
            prop_assert_eq!(fits(gpus + 1, 1), None);
            prop_assert!(on_one_node == 0 || fits(1, on_one_node).is_some());
            for more in on_one_node + 1..=9 {
                prop_assert_eq!(fits(1, more), None, "{} on one node", more);
            }
            let own = gpus - borrowed;
            prop_assert!(own == 0 || fits(own, 1) == Some(QosClass::Guaranteed));
            prop_assert!(borrowed == 0 || fits(own + 1, 1) != Some(QosClass::Guaranteed));
        }
    }

    /// *vision* is guaranteed one of two nodes. All of that a job of its own borrows that somebody put
    /// behind whoever comes in the next five seconds; of the other one two GPUs are idle.
    fn put_back() -> Story {
        let story = cluster().node("a").gpus(4, "A100").node("b").gpus(4, "A100");
        let story = story.share("vision", &[("A100", 4)], None);
        let story = story.running(2, "default", &[("b", &[0, 1], 2)]);
        let mut story = story.running(1, "vision", &[("a", &[0, 1, 2, 3], 4)]).borrowed();
        let own = job(1_000).request.priority;
        story.snapshot.running[1].turn = Turn::new(own, NOW, 5_000, None);
        story
    }

    #[test]
    fn who_gives_way_to_whoever_asks_now_does_not_to_whoever_asks_later() {
        let mut state = State::of(&put_back().snapshot);
        state.pass(NOW);
        let at = |after: i64| {
            let now = NOW.plus_millis(after);
            (Request { submitted_at: now, ..job(1_000).within("vision").request }, now)
        };
        let (like, now) = at(0);
        let until = state.free_until(&like, now);
        assert_eq!(until, Some(NOW.plus_millis(5_001)));
        let mut free_at = |after| {
            let (like, now) = at(after);
            state.free_gpus(&like, &gpu_type("A100"), now)
        };
        for after in [0, 5_000] {
            assert_eq!(free_at(after), said(0, 0, 0), "job 1 would have to leave");
        }
        assert_eq!(free_at(5_001), said(2, 2, 2));
        let (like, now) = at(5_001);
        assert_eq!(state.free_until(&like, now), None, "it stays so");
    }

    proptest! {
        #![proptest_config(cases(300))]

        /// So that it may be said again until then.
        #[test]
        fn what_is_free_changes_with_time_only_when_it_is_told(
            Case(mut snapshot) in any_snapshot(),
            (within, waits) in (0..3_usize, 0..2_usize),
            moved in prop::collection::vec(-2_000..6_000_i64, 8),
            later in prop::collection::vec(0..8_000_i64, 6),
        ) {
            let within = ["default", "vision", "speech"][within];
            let asked = job(1_000).within(within).request;
            snapshot.waiting.truncate(waits);
            for (running, by) in snapshot.running.iter_mut().zip(moved.iter().cycle()) {
                running.turn = Turn::new(asked.priority, NOW, *by, None);
            }
            for (request, by) in snapshot.waiting.iter_mut().zip(&moved) {
                (request.submitted_at, request.moved_ms) = (NOW, *by);
            }
            let mut state = State::of(&snapshot);
            state.pass(NOW);
            let kinds = ["A100", "K80", "V100"].map(gpu_type);
            let at = |now| Request { submitted_at: now, ..asked.clone() };
            let mut said = |now| kinds.clone().map(|kind| state.free_gpus(&at(now), &kind, now));
            let first = said(NOW);
            let then: Vec<_> = later.iter().map(|by| NOW.plus_millis(*by)).collect();
            let told: Vec<_> = then.iter().map(|now| (*now, said(*now))).collect();
            // What is expected of others is looked at anew after a while.
            if state.only_one_ahead_of(&at(NOW)).is_some() {
                return Ok(());
            }
            let until = state.free_until(&at(NOW), NOW);
            for (now, told) in told.into_iter().filter(|(now, _)| until.is_none_or(|at| *now < at)) {
                prop_assert_eq!(&told, &first, "at {:?}, until {:?}", now, until);
            }
        }
    }

    #[test]
    fn the_most_is_found_from_any_guess() {
        for bound in 0..20 {
            for limit in 0..=bound {
                for guess in 0..=bound + 1 {
                    assert_eq!(most(bound, guess, |tried| tried <= limit), limit);
                }
            }
        }
    }
}
