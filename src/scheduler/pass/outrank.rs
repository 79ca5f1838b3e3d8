//! Priorities inside a virtual cluster: its share is the higher classes', whoever came first. Who gives
//! up his right for them goes on where he is while there is room for them elsewhere: then he borrows.

use std::collections::BTreeSet;

use protocol::ids::JobId;
use protocol::time::Timestamp;

use crate::cluster::Cluster;
use crate::cluster::allocation::TaskAllocation;
use crate::cluster::placed::{Cost, PlacedJob};
use crate::model::{QosClass, Turn};
use crate::numbers::indices::{AccountIndex, ClusterIndex};
use crate::numbers::request::{Class, Wanted};
use crate::pass::preemption::Preempted;
use crate::state::State;

/// Each try takes the right from so many times as much as the one before.
const GROWS: i64 = 4;

/// Places of a job, taken, and what those had who gave up their right for it, be it that they stay.
#[derive(Debug)]
pub(crate) struct Outranked {
    pub(crate) preempted: Preempted,
    had: Vec<(JobId, PlacedJob)>,
}

impl State {
    /// Places by the right that work of lower classes of its virtual cluster has, taken. Rather idle
    /// ones than those of that work.
    pub(crate) fn outrank(
        &mut self,
        wanted: Wanted,
        accounts: &[AccountIndex],
        turn: Turn,
        now: Timestamp,
    ) -> Option<Outranked> {
        let mut lower = self.cluster.outranked(wanted.class, turn, now);
        if !lower.is_empty() {
            let awaited = self.awaited_by_others(wanted, turn);
            lower.retain(|job| !awaited.contains(job));
        }
        let borrows = self.cluster.may_stay(wanted.class.cluster);
        let preempts = self.cluster.may_send_away(wanted.class.cluster, turn);
        if lower.is_empty() || !borrows && !preempts {
            return None;
        }
        let gpus = wanted.class.gpu_milli();
        let idle = self.with_the_rights_of(&lower, gpus, |state| {
            let allocations = state.idle_cells(wanted, accounts, now)?;
            Some(Preempted { allocations, victims: Vec::new() })
        });
        let mut found = match idle {
            Some(found) => found,
            None if !preempts => return None,
            None => self.with_the_rights_of(&lower, gpus, |state| {
                state.cleared_cells(wanted, accounts, turn, now)
            })?,
        };
        self.leave_rights(&mut found);
        Some(found)
    }

    /// Whose end somebody waits for who was promised what they have, unless he is outranked as well.
    fn awaited_by_others(&self, Wanted { job, class }: Wanted, turn: Turn) -> BTreeSet<JobId> {
        let outranked = |other: JobId| {
            let waiter = self.queue.jobs.get(&other);
            waiter.is_some_and(|waiter| {
                let of = &self.queue.lines[&waiter.line].class.of;
                of.virtual_cluster == class.of.virtual_cluster && turn.outranks(&waiter.turn)
            })
        };
        let kept = self.reserved.values().map(|reserved| &reserved.reservation);
        let others = kept.filter(|kept| kept.job != job && !outranked(kept.job));
        others.flat_map(|kept| kept.awaits.iter().copied()).collect()
    }

    /// Takes their rights from the first of these, then from more of them, until something is found;
    /// else from nobody.
    fn with_the_rights_of(
        &mut self,
        lower: &[JobId],
        gpu_milli: i64,
        mut find: impl FnMut(&mut Self) -> Option<Preempted>,
    ) -> Option<Outranked> {
        let (mut had, mut enough) = (Vec::new(), gpu_milli);
        let mut rest = lower.iter().peekable();
        while rest.peek().is_some() {
            let mut taken = 0;
            while taken < enough
                && let Some(job) = rest.next()
            {
                let Some(placed) = self.cluster.give_up_right(*job) else { continue };
                taken += placed.gpu_milli();
                had.push((*job, placed));
            }
            if let Some(preempted) = find(self) {
                return Some(Outranked { preempted, had });
            }
            enough = enough.saturating_mul(GROWS);
        }
        self.cluster.give_rights_back(had);
        None
    }

    /// Who gave up more than was needed has his right again, whom it would cost most to send away
    /// first. Those who stay without it and may not borrow leave.
    fn leave_rights(&mut self, found: &mut Outranked) {
        for (job, had) in found.had.iter().rev() {
            if self.cluster.placed_jobs.contains_key(job)
                && !self.promote_one(*job)
                && !self.cluster.may_stay(had.cluster)
                && let Some(placed) = self.cluster.leave(*job)
            {
                found.preempted.victims.push((*job, placed));
            }
        }
    }

    /// All is as it was: the places that a job would have, and who would have to leave.
    pub(crate) fn undo_outranking(
        &mut self,
        found: Outranked,
    ) -> (Vec<TaskAllocation>, Vec<JobId>) {
        let places = self.put_back(found.preempted);
        self.cluster.give_rights_back(found.had);
        places
    }
}

impl Cluster {
    /// Those of a class's virtual cluster who run by right and are of a lower class than a turn, whom
    /// it costs least to send away first.
    fn outranked(&self, class: &Class, turn: Turn, now: Timestamp) -> Vec<JobId> {
        let lower = self.ranks.outranked(class.cluster, turn);
        let lower = lower.filter_map(|job| Some((self.placed_jobs.get(&job)?, job)));
        let own = lower.filter(|(placed, _)| placed.name == class.of.virtual_cluster);
        let mut own: Vec<(Cost, JobId)> =
            own.map(|(placed, job)| (placed.cost(now), job)).collect();
        own.sort_unstable();
        own.into_iter().map(|(_, job)| job).collect()
    }

    /// Those of them who leave as soon as somebody with such a turn needs their places.
    pub(crate) fn leave_for(&self, class: &Class, turn: Turn, now: Timestamp) -> BTreeSet<JobId> {
        match self.may_send_away(class.cluster, turn) {
            true => self.outranked(class, turn, now).into_iter().collect(),
            false => BTreeSet::new(),
        }
    }

    /// Whether work of a virtual cluster may go on on what is lent when it is outranked.
    fn may_stay(&self, cluster: Option<ClusterIndex>) -> bool {
        cluster.and_then(|at| self.cells.borrows.get(at)).is_none_or(|borrows| *borrows)
    }

    /// Whether who has such a turn takes the places of lower classes of his virtual cluster.
    fn may_send_away(&self, cluster: Option<ClusterIndex>, turn: Turn) -> bool {
        let preempts = cluster.and_then(|at| self.cells.preempts.get(at));
        preempts.copied().unwrap_or_default().lets(turn.priority.0)
    }

    /// A job goes on where it is, on what is lent. What it had.
    fn give_up_right(&mut self, job: JobId) -> Option<PlacedJob> {
        let had = self.leave(job)?;
        let allocations: Vec<TaskAllocation> =
            had.allocations.iter().map(TaskAllocation::lent).collect();
        allocations.iter().for_each(|allocation| self.take(allocation));
        self.settle(job, PlacedJob { allocations, qos_class: QosClass::Borrowed, ..had.clone() });
        Some(had)
    }

    /// Undoes it: all leave before the first has again what he had.
    fn give_rights_back(&mut self, had: Vec<(JobId, PlacedJob)>) {
        for (job, _) in &had {
            self.leave(*job);
        }
        for (job, placed) in had {
            placed.allocations.iter().for_each(|allocation| self.take(allocation));
            self.settle(job, placed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use protocol::cluster::Preempts;
    use protocol::spec::Priority;
    use protocol::wait::WaitReason;

    use super::*;
    use crate::dry_run;
    use crate::model::{Answer, Request};
    use crate::properties::events::cases;
    use crate::story::{Job, NOW, Story, cluster, job, places};

    const ALL: &[u32] = &[0, 1, 2, 3, 4, 5, 6, 7];

    /// *vision* and *speech* have one of two nodes each; test work fills that of *vision*.
    fn full_of_test_work() -> Story {
        let story = cluster().node("a").gpus(8, "A100").node("b").gpus(8, "A100");
        let story = story.share("vision", &[("A100", 8)], None);
        let story = story.share("speech", &[("A100", 8)], None);
        story.running(9, "vision", &[("a", ALL, 8)])
    }

    fn lent_nothing() -> Story {
        full_of_test_work().running(8, "speech", &[("b", ALL, 8)])
    }

    fn production(id: i64, gpus: u32) -> Job {
        job(id).within("vision").priority(100).gpus(gpus, &[])
    }

    fn victims(state: &mut State) -> Vec<(i64, i64, bool)> {
        let preemptions = state.pass(NOW).preemptions;
        preemptions.iter().map(|p| (p.job.0, p.taken_by.0, p.outranked)).collect()
    }

    #[test]
    fn who_gives_up_his_right_stays_while_there_is_room_and_goes_first_when_there_is_none() {
        let mut state = State::of(&full_of_test_work().waits(production(1, 8)).snapshot);
        let pass = state.pass(NOW);
        assert_eq!(places(&pass.placements[0]), "b:0,1,2,3,4,5,6,7");
        assert_eq!(pass.placements[0].qos_class, QosClass::Guaranteed);
        assert_eq!(pass.preemptions, []);
        assert_eq!(state.qos_class(JobId(9)), Some(QosClass::Borrowed));
        state.submit(&job(2).within("speech").gpus(8, &[]).request);
        assert_eq!(victims(&mut state), [(9, 2, false)], "of vision the lowest class goes");
    }

    #[test]
    fn where_there_is_no_room_a_higher_class_takes_the_place_itself() {
        let story = lent_nothing();
        let asked = production(1, 8);
        let answer = dry_run(&story.snapshot, &asked.request, NOW);
        assert_eq!(answer, Answer::Preempts(vec![JobId(9)]));
        let mut state = State::of(&story.waits(asked).snapshot);
        assert_eq!(victims(&mut state), [(9, 1, true)]);
        let waiting = state.waiting(NOW);
        assert_eq!(waiting[&JobId(1)].reason, WaitReason::Preempting { jobs: 1 });
        state.ended(JobId(9));
        assert_eq!(places(&state.pass(NOW).placements[0]), "a:0,1,2,3,4,5,6,7");
    }

    #[test]
    fn nobody_outranks_his_own_class_or_others_virtual_clusters() {
        let waits = |story: &Story, asked: Job| {
            let answer = dry_run(&story.snapshot, &asked.request, NOW);
            assert!(matches!(answer, Answer::Waits(_)), "{answer:?}");
        };
        waits(&lent_nothing(), production(1, 8).priority(50));
        waits(&lent_nothing().waits(production(2, 8)), production(3, 8));
        let production_runs =
            full_of_test_work().ranked(100).running(8, "speech", &[("b", ALL, 8)]).ranked(100);
        waits(&production_runs, production(1, 8));
        waits(&production_runs, production(1, 8).within("speech"));
    }

    #[test]
    fn of_a_class_the_least_lost_work_goes_and_a_gang_as_a_whole() {
        let story = cluster().node("a").gpus(8, "A100");
        let story = story.running(6, "default", &[("a", &[0, 1], 2), ("a", &[2, 3], 2)]);
        let story = story.running(7, "default", &[("a", &[4, 5], 2)]);
        let story = story.running(5, "default", &[("a", &[6, 7], 2)]);
        let preempts = |gpus: u32| {
            let asked = production(1, gpus).within("default");
            match dry_run(&story.snapshot, &asked.request, NOW) {
                Answer::Preempts(jobs) => jobs.iter().map(|job| job.0).collect::<Vec<_>>(),
                answer => panic!("{answer:?}"),
            }
        };
        assert_eq!(preempts(2), [7], "it began last");
        let mut four = preempts(4);
        four.sort_unstable();
        assert_eq!(four, [5, 7], "less is lost than with the gang");
        assert_eq!(preempts(8).len(), 3);
    }

    #[test]
    fn who_may_not_borrow_leaves_when_he_gives_up_his_right() {
        let mut story = full_of_test_work();
        story.snapshot.virtual_clusters[0].borrows = false;
        let mut state = State::of(&story.waits(production(1, 8)).snapshot);
        assert_eq!(victims(&mut state), [(9, 1, true)]);
    }

    #[test]
    fn where_nobody_preempts_the_right_is_taken_but_no_place() {
        let calm = |mut story: Story| {
            story.snapshot.virtual_clusters[0].preempts = Preempts::Nobody;
            State::of(&story.waits(production(1, 8)).snapshot)
        };
        let mut full = calm(lent_nothing());
        assert_eq!(victims(&mut full), []);
        assert!(matches!(full.waiting(NOW)[&JobId(1)].reason, WaitReason::QuotaVc { .. }));
        let mut lent = calm(full_of_test_work());
        assert_eq!(places(&lent.pass(NOW).placements[0]), "b:0,1,2,3,4,5,6,7");
        assert_eq!(lent.qos_class(JobId(9)), Some(QosClass::Borrowed));
        let mut neither = full_of_test_work();
        let vision = &mut neither.snapshot.virtual_clusters[0];
        (vision.borrows, vision.preempts) = (false, Preempts::Nobody);
        let mut neither = State::of(&neither.waits(production(1, 8)).snapshot);
        assert_eq!(neither.pass(NOW), crate::Pass::default());
    }

    #[test]
    fn where_only_the_highest_class_preempts_the_others_wait_for_places() {
        let mut story = lent_nothing();
        story.snapshot.virtual_clusters[0].preempts = Preempts::Critical;
        let mut state = State::of(&story.waits(production(1, 8)).snapshot);
        assert_eq!(victims(&mut state), []);
        assert!(matches!(state.waiting(NOW)[&JobId(1)].reason, WaitReason::QuotaVc { .. }));
        state.submit(&production(2, 8).priority(120).request);
        assert_eq!(victims(&mut state), [(9, 2, true)], "though prod came first");
    }

    #[test]
    fn a_higher_class_is_tried_though_a_lower_one_found_no_room_just_before() {
        let story = lent_nothing().waits(production(2, 8).priority(10));
        let story = story.waits(production(3, 8).priority(10));
        let mut state = State::of(&story.snapshot);
        assert_eq!(victims(&mut state), []);
        state.submit(&production(4, 8).request);
        assert_eq!(victims(&mut state), [(9, 4, true)]);
    }

    #[test]
    fn what_was_promised_to_who_is_ahead_is_not_taken_from_him() {
        let nodes = ["a", "b", "c"];
        let story = nodes.iter().fold(cluster(), |story, name| story.node(name).gpus(8, "A100"));
        let story = story.share("vision", &[("A100", 24)], None);
        let story = story.running(7, "vision", &[("a", ALL, 8)]).ranked(100);
        let story = story.running(8, "vision", &[("b", ALL, 8)]);
        let story = story.running(9, "vision", &[("c", ALL, 8)]);
        let story = story.waits(production(10, 8).tasks(3)).waits(production(11, 8));
        let mut state = State::of(&story.snapshot);
        assert_eq!(victims(&mut state), [], "job 10 would start later");
        let waiting = state.waiting(NOW);
        assert_eq!(waiting[&JobId(11)].reason, WaitReason::Behind { ahead: 1 });
        let reason = state.explain(JobId(11), NOW).unwrap().waiting.reason;
        assert_eq!(reason, WaitReason::Behind { ahead: 1 });
        state.ended(JobId(7));
        let mut leave = victims(&mut state);
        leave.sort_unstable();
        assert_eq!(leave, [(8, 10, true), (9, 10, true)]);
    }

    #[test]
    fn after_a_restart_the_right_is_the_higher_classes() {
        let story = full_of_test_work().running(10, "vision", &[("b", ALL, 8)]).ranked(100);
        let state = State::of(&story.snapshot);
        let qos_class = |job| state.qos_class(JobId(job));
        assert_eq!(qos_class(10), Some(QosClass::Guaranteed));
        assert_eq!(qos_class(9), Some(QosClass::Borrowed));
    }

    /// Jobs that each take a whole node, of two virtual clusters and three classes.
    struct World {
        preempts: Preempts,
        state: State,
        running: BTreeMap<JobId, Request>,
        waiting: BTreeMap<JobId, Request>,
    }

    const NAMES: [&str; 2] = ["vision", "speech"];
    const PREEMPTS: &[Preempts] = &[Preempts::Nobody, Preempts::Critical, Preempts::Everybody];
    const CLASSES: [Priority; 3] = [Priority::TEST, Priority::PRODUCTION, Priority::CRITICAL];

    impl World {
        fn new((vision, speech): (u64, u64), preempts: Preempts) -> Self {
            let nodes = vision + speech;
            let story = (0..nodes)
                .fold(cluster(), |story, node| story.node(&format!("n{node}")).gpus(8, "A100"));
            let story = story.share("vision", &[("A100", 8 * vision)], None);
            let mut story = story.share("speech", &[("A100", 8 * speech)], None);
            story.snapshot.virtual_clusters.iter_mut().for_each(|of| of.preempts = preempts);
            let state = State::of(&story.snapshot);
            Self { preempts, state, running: BTreeMap::new(), waiting: BTreeMap::new() }
        }

        fn comes(&mut self, id: i64, within: usize, class: usize) {
            let comes = job(id).within(NAMES[within]).priority(CLASSES[class].0);
            let comes = comes.gpus(8, &[]).request;
            self.state.submit(&comes);
            self.waiting.insert(comes.job, comes);
        }

        fn ends(&mut self, number: usize) {
            let job = self.running.keys().nth(number % self.running.len().max(1)).copied();
            if let Some(job) = job {
                self.running.remove(&job);
                self.state.ended(job);
            }
        }

        /// Passes until nothing changes any more.
        fn settles(&mut self, now: Timestamp) {
            for round in 0.. {
                assert!(round < 100, "jobs drive each other away for ever");
                let by_right =
                    |job: &JobId| self.state.qos_class(*job) == Some(QosClass::Guaranteed);
                let rights: BTreeSet<JobId> =
                    self.running.keys().copied().filter(by_right).collect();
                let pass = self.state.pass(now);
                for placement in &pass.placements {
                    let request = self.waiting.remove(&placement.job).unwrap();
                    self.running.insert(placement.job, request);
                }
                for preemption in &pass.preemptions {
                    let leaves = self.running[&preemption.job].clone();
                    let lower = self.has_right_below(&leaves);
                    assert_eq!(lower, None, "{} leaves before it", leaves.job);
                    let takes = &self.waiting[&preemption.taken_by];
                    let own = takes.virtual_cluster == leaves.virtual_cluster;
                    let may = !own || self.preempts.lets(takes.priority);
                    assert!(may || !rights.contains(&leaves.job), "{} had the right", leaves.job);
                }
                if pass.preemptions.is_empty() {
                    return;
                }
                for preemption in &pass.preemptions {
                    let leaves = self.running.remove(&preemption.job).unwrap();
                    self.state.ended(leaves.job);
                    self.state.submit(&leaves);
                    self.waiting.insert(leaves.job, leaves);
                }
            }
        }

        /// Who of a request's virtual cluster runs by right though of a lower class.
        fn has_right_below(&self, request: &Request) -> Option<JobId> {
            let right = |job: &JobId| self.state.qos_class(*job) == Some(QosClass::Guaranteed);
            let mut lower = self.running.iter().filter(|(_, other)| {
                other.virtual_cluster == request.virtual_cluster
                    && request.turn().outranks(&other.turn())
            });
            lower.find(|(job, _)| right(job)).map(|(job, _)| *job)
        }
    }

    proptest! {
        #![proptest_config(cases(200))]

        /// Whatever comes and ends: nobody whose class preempts waits for the share of his virtual cluster,
        /// and nobody leaves for who takes back what he lent, while there is work of a lower class that has
        /// the right to it; nor does anybody who has it leave for a class that does not preempt.
        #[test]
        fn a_share_is_its_higher_classes(
            nodes in (1..4_u64, 1..4_u64),
            preempts in prop::sample::select(PREEMPTS),
            events in prop::collection::vec((0..4_u8, 0..2_usize, 0..3_usize, 0..16_usize), 1..60),
        ) {
            let mut world = World::new(nodes, preempts);
            for (id, (kind, within, class, number)) in (1..).zip(events) {
                match kind {
                    0 => world.ends(number),
                    _ => world.comes(id, within, class),
                }
                world.settles(Timestamp(id * 60_000));
                let waits: Vec<_> = world.waiting.values().cloned().collect();
                for request in waits.into_iter().filter(|of| preempts.lets(of.priority)) {
                    let lower = world.has_right_below(&request);
                    prop_assert_eq!(lower, None, "{} waits", request.job);
                }
            }
        }

        /// To ask takes nothing, whoever would have to go.
        #[test]
        fn to_ask_leaves_all_as_it_was(
            runs in prop::collection::vec((1..=3_u32, any::<bool>()), 1..8),
            gpus in 1..=8_u32,
        ) {
            let story = lent_nothing();
            let mut state = State::of(&cluster().node("a").gpus(8, "A100").snapshot);
            for (id, (gpus, production)) in (1..).zip(runs) {
                let priority = if production { 100 } else { 10 };
                state.submit(&job(id).priority(priority).gpus(gpus, &[]).request);
            }
            state.pass(NOW);
            let standings = |state: &State| {
                let jobs: BTreeSet<_> = state.cluster.placed_jobs.keys().copied().collect();
                jobs.into_iter().map(|job| (job, state.qos_class(job))).collect::<Vec<_>>()
            };
            let (free, before) = (state.free(), standings(&state));
            state.dry_run(&production(100, gpus).within("default").request, NOW);
            prop_assert_eq!(state.free(), free);
            prop_assert_eq!(standings(&state), before);
            let mut halves = State::of(&story.snapshot);
            let free = halves.free();
            halves.dry_run(&production(100, gpus).request, NOW);
            prop_assert_eq!(halves.free(), free);
            halves.cluster.sanity_check();
        }
    }
}
