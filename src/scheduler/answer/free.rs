//! What could start now. There is one definition of it for all who ask: a dry run fits.

use protocol::ids::GpuType;
use protocol::time::Timestamp;

use crate::answer::admit::never;
use crate::model::{FreeGpus, Request, Standing};
use crate::numbers::gpus::Bits;
use crate::numbers::request::Wanted;
use crate::pass::fit::{Look, place_within, undo};
use crate::state::State;

/// By what right so many would start.
type Right = Option<Standing>;

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
        let guaranteed = |right: Right| right == Some(Standing::Guaranteed);
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
        Some(self.at_once(request, now)?.standing)
    }

    /// How many tasks of a request find room on what is idle: a good guess of how many would start.
    fn reach(&mut self, request: &Request) -> u32 {
        let class = self.cluster.class(request);
        let wanted = Wanted { job: request.job, class: &class };
        match place_within(&mut self.cluster, wanted, Look::Lend, None) {
            Ok(claims) => {
                undo(&mut self.cluster, &claims);
                u32::try_from(claims.len()).unwrap_or(u32::MAX)
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
                    Answer::Fits(places, standing) => {
                        assert_eq!(places.len(), tasks as usize);
                        Some(standing)
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
            prop_assert!(own == 0 || fits(own, 1) == Some(Standing::Guaranteed));
            prop_assert!(borrowed == 0 || fits(own + 1, 1) != Some(Standing::Guaranteed));
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
