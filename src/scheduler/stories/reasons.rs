//! What is said of a job that waits really binds it: with that lifted, something else does, or it
//! starts.

use proptest::prelude::*;
use protocol::cluster::NodeCondition;
use protocol::ids::JobId;
use protocol::spec::{NodeSelector, Topology};
use protocol::wait::{ResourceKind, WaitReason};

use crate::model::{RoleRequest, Snapshot};
use crate::properties::events::cases;
use crate::properties::{Case, alone, any_snapshot, request, starts, with};
use crate::story::{NOW, cluster, job};
use crate::{State, admit, plan};

/// Whether it starts, be it that others have to give way first.
fn would_start(snapshot: &Snapshot, job: JobId) -> bool {
    starts(snapshot, job) || plan(snapshot, NOW).preemptions.iter().any(|p| p.taken_by == job)
}

/// Why it waits where nobody else does; `None`: it would start.
fn another(alone: &Snapshot, job: JobId) -> Option<WaitReason> {
    let reason = plan(alone, NOW).waiting.get(&job).map(|waiting| waiting.reason.clone());
    reason.filter(|reason| !matches!(reason, WaitReason::Preempting { .. }))
}

fn ask_for_no(resource: ResourceKind, role: &mut RoleRequest) {
    match resource {
        ResourceKind::Gpu => role.demand.gpus = 0,
        ResourceKind::Cpu => role.demand.cpu_milli = 0,
        ResourceKind::Memory => role.demand.memory_mb = 0,
        ResourceKind::Disk => role.demand.disk_gb = 0,
        ResourceKind::Port => role.ports.clear(),
    }
}

/// `snapshot` is what the pass left. With nobody else waiting the job starts only if its reason is to
/// be behind somebody; with the constraint lifted, another binds or it starts.
fn the_reason_binds(snapshot: &Snapshot, job: JobId, reason: &WaitReason) {
    let asked = request(snapshot, job);
    let own = alone(snapshot, job);
    let never = admit(snapshot, asked).err();
    match reason {
        WaitReason::Behind { ahead } => {
            assert!(*ahead > 0);
            assert!(would_start(&own, job), "it would fit");
        }
        WaitReason::QuotaVc { needs, free, share, .. } => {
            assert!(free <= share && needs <= share);
            assert!(!starts(&own, job));
            let mut lifted = own;
            lifted.virtual_clusters.clear();
            let reason = plan(&lifted, NOW).waiting.get(&job).map(|w| w.reason.clone());
            assert!(!matches!(reason, Some(WaitReason::QuotaVc { .. })));
        }
        WaitReason::Impossible { .. }
        | WaitReason::LevelTooSmall { .. }
        | WaitReason::NodesAbsent { .. }
        | WaitReason::TypeAbsent { .. }
        | WaitReason::GpusNotShared { .. }
        | WaitReason::PortsOutside { .. } => {
            assert_eq!(never.as_ref(), Some(reason));
            let idle = Snapshot { running: Vec::new(), ..own };
            assert!(!starts(&idle, job));
            let mut lifted = idle;
            lifted.waiting[0].nodes = NodeSelector::default();
            let any = admit(&lifted, &lifted.waiting[0]).err();
            assert!(!matches!(any, Some(WaitReason::NodesAbsent { .. })));
        }
        WaitReason::ShareElsewhere { tasks, fit, .. } => {
            assert!(fit < tasks && never.is_none());
            let idle = Snapshot { running: Vec::new(), ..own };
            assert!(!starts(&idle, job), "nothing that runs is in its way");
            let mut lifted = idle;
            lifted.virtual_clusters.iter_mut().for_each(|cluster| cluster.borrows = true);
            let another = another(&lifted, job);
            assert!(!matches!(another, Some(WaitReason::ShareElsewhere { .. })), "{another:?}");
        }
        WaitReason::NodeDown { nodes } => {
            assert!(*nodes > 0);
            let idle = Snapshot { running: Vec::new(), ..own };
            assert!(!starts(&idle, job), "nothing that runs is in its way");
            let mut lifted = idle;
            for node in &mut lifted.nodes {
                node.condition = NodeCondition::Ready;
                node.capacity.gpus.iter_mut().for_each(|gpu| gpu.healthy = true);
            }
            let another = another(&lifted, job);
            assert!(!matches!(another, Some(WaitReason::NodeDown { .. })), "{another:?}");
        }
        WaitReason::Gang { tasks, fit } => {
            assert!(fit < tasks && !starts(&own, job));
            let mut lifted = own;
            let [role] = &mut lifted.waiting[0].roles[..] else { return };
            role.count = *fit;
            lifted.waiting[0].nodes.topology = Topology::default();
            assert_eq!(another(&lifted, job), None, "so many fit");
        }
        WaitReason::LevelFull { level, tasks, fit } => {
            assert!(fit < tasks && !starts(&own, job));
            let mut lifted = own;
            for node in &mut lifted.nodes {
                node.labels.insert(level.name().to_owned(), "the only one".to_owned());
            }
            lifted.waiting[0].nodes.labels.clear();
            let another = another(&lifted, job);
            assert!(!matches!(another, Some(WaitReason::LevelFull { .. })), "{another:?}");
        }
        WaitReason::Fragmented { gpu_types: _, needs, free, best_node } => {
            assert!(best_node < needs && free >= needs);
            assert!(!starts(&own, job));
            let mut lifted = own;
            let all = lifted.waiting[0].roles.iter_mut();
            let large = all.filter(|role| role.demand.gpus > *best_node);
            large.for_each(|role| role.demand.gpus = *best_node);
            assert_ne!(another(&lifted, job).as_ref(), Some(reason));
        }
        WaitReason::Short { resource, gpu_types, needs, best_node } => {
            assert!(best_node < needs, "{reason:?}");
            assert!(gpu_types.is_empty() || *resource == ResourceKind::Gpu, "{reason:?}");
            assert!(!starts(&own, job));
            let mut lifted = own;
            lifted.waiting[0].roles.iter_mut().for_each(|role| ask_for_no(*resource, role));
            let another = another(&lifted, job);
            let still = match &another {
                Some(WaitReason::Short { resource: short, .. }) => short == resource,
                Some(_) | None => false,
            };
            assert!(!still, "{reason:?}, then {another:?}");
        }
        WaitReason::Queued
        | WaitReason::Hold { .. }
        | WaitReason::Backoff { .. }
        | WaitReason::GaveWay { .. }
        | WaitReason::Preempting { .. }
        | WaitReason::UserLimit { .. }
        | WaitReason::StorageAbsent { .. }
        | WaitReason::NoNodes => {
            panic!("nothing of this queue waits for {reason:?}")
        }
    }
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn reasons_bind(Case(snapshot) in any_snapshot()) {
        let plan = plan(&snapshot, NOW);
        // What is about to be left counts as taken: another test looks at preemption.
        prop_assume!(plan.preemptions.is_empty());
        for (job, waiting) in &plan.waiting {
            the_reason_binds(&with(&snapshot, &plan), *job, &waiting.reason);
        }
    }
}

#[test]
fn who_holds_what_is_asked_is_named_once_though_parts_run_in_the_cells_of_their_whole() {
    let story = cluster().node("a").gpus(4, "A100").cpus(8);
    let story = story.share("lab", &[("A100", 4)], Some(8)).borrows_nothing();
    let story = story.share("eyes", &[], Some(4)).part_of("lab").borrows_nothing();
    let story = story.running(7, "eyes", &[("a", &[0, 1, 2, 3], 4)]);
    let waits = |id| job(id).within("eyes").gpus(2, &[]);
    let mut state = State::of(&story.waits(waits(1)).waits(waits(2)).snapshot);
    state.pass(NOW);
    assert_eq!(state.explain(JobId(2), NOW).unwrap().holders, [JobId(7)]);
}

#[test]
fn who_holds_other_gpus_than_those_asked_for_is_not_named() {
    let story = cluster().node("a").gpus(4, "A100").node("b").gpus(4, "V100");
    let story = story.share("vision", &[("A100", 4), ("V100", 4)], None).borrows_nothing();
    let story = story.running(7, "vision", &[("a", &[0, 1, 2, 3], 4)]);
    let story = story.running(8, "vision", &[("b", &[0, 1, 2, 3], 4)]);
    let waits = |id, types| job(id).within("vision").gpus(2, types);
    let story = story.waits(waits(1, &["V100"])).waits(waits(2, &["V100"]));
    let mut state = State::of(&story.waits(waits(3, &["A100", "V100"])).snapshot);
    state.pass(NOW);
    let mut holders = |id| state.explain(JobId(id), NOW).unwrap().holders;
    assert_eq!(holders(2), [JobId(8)]);
    let mut of_either = holders(3);
    of_either.sort_unstable();
    assert_eq!(of_either, [JobId(7), JobId(8)]);
}
