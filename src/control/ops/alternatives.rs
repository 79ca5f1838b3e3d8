//! With which change a job that has to wait would start at once: found by trying.

use std::collections::BTreeSet;

use api::queue::{Alternative, Instead};
use protocol::ids::{GpuType, VirtualClusterName};
use protocol::spec::{JobSpec, TimeLimit};
use protocol::time::Timestamp;
use scheduler::model::{AtOnce, QosClass, Request};

use crate::known::queue::Reader;

/// Changes that are tried, other virtual clusters among them, and those that are told.
const TRIED: usize = 12;
const CLUSTERS: usize = 6;
const TOLD: usize = 4;
/// A job's tasks are halved so often.
const HALVINGS: u32 = 3;
/// Time limits that are tried, in hours, the longest first: of those that would do it is told.
const LIMITS: [u32; 5] = [24, 8, 4, 2, 1];

/// What would start now instead, what is not borrowed first.
pub(super) fn find(
    spec: &JobSpec,
    request: &Request,
    usable: &[VirtualClusterName],
    queue: &mut Reader<'_>,
    now: Timestamp,
) -> Vec<Alternative> {
    let candidates = candidates(spec, request, usable, queue.gpu_types());
    let mut starts = |instead: Instead| {
        let AtOnce { qos_class, before } = queue.starts_now(&changed(request, &instead), now)?;
        let before = before.and_then(|job| queue.key(job)).cloned();
        Some(Alternative { instead, borrowed: qos_class == QosClass::Borrowed, before })
    };
    let limited = limits(request).find_map(&mut starts);
    let others = candidates.into_iter().filter_map(starts);
    let mut found: Vec<_> = limited.into_iter().chain(others).collect();
    found.sort_by_key(|alternative| alternative.borrowed);
    found.truncate(TOLD);
    found
}

/// What is tried besides: another virtual cluster before another type, which not every program is made
/// for.
fn candidates(
    spec: &JobSpec,
    request: &Request,
    usable: &[VirtualClusterName],
    types: BTreeSet<GpuType>,
) -> Vec<Instead> {
    let others = usable.iter().filter(|name| **name != request.virtual_cluster).take(CLUSTERS);
    let others = others.map(|name| Instead::VirtualCluster { virtual_cluster: name.clone() });
    let any = wants_only_of_job(spec, request);
    let types = types.into_iter().filter(|gpu_type| any && !types_of(request).contains(gpu_type));
    let types = types.map(|gpu_type| Instead::GpuType { gpu_type });
    splits(request).into_iter().chain(others).chain(types).take(TRIED).collect()
}

/// Limits below the one that it has.
fn limits(request: &Request) -> impl Iterator<Item = Instead> + use<> {
    let present = request.limit_ms.unwrap_or(i64::MAX);
    let limits = LIMITS.into_iter().map(TimeLimit::of_hours);
    let shorter = limits.filter(move |limit| limit.millis() < present);
    shorter.map(|time_limit| Instead::TimeLimit { time_limit })
}

/// As many GPUs in tasks of half as many each, and so on, where one role alone asks for GPUs.
fn splits(request: &Request) -> Vec<Instead> {
    let mut with_gpus = request.roles.iter().filter(|role| role.demand.gpus > 0);
    let (Some(role), None) = (with_gpus.next(), with_gpus.next()) else { return Vec::new() };
    let (tasks, gpus) = (role.count, role.demand.gpus);
    let halved = |times: u32| {
        let parts = 1_u32 << times;
        let fits = gpus.is_multiple_of(parts) && gpus >= parts;
        fits.then(|| Instead::Split { tasks: tasks.saturating_mul(parts), gpus: gpus / parts })
    };
    (1..=HALVINGS).map_while(halved).collect()
}

/// Whether one type of the whole job could take the place of what its roles ask for.
fn wants_only_of_job(spec: &JobSpec, request: &Request) -> bool {
    spec.roles.iter().all(|role| role.gpu_types.is_empty()) && !types_of(request).is_empty()
}

fn types_of(request: &Request) -> &[GpuType] {
    let mut with_gpus = request.roles.iter().filter(|role| role.demand.gpus > 0);
    with_gpus.next().map_or(&[], |role| role.gpu_types.as_slice())
}

/// The job with the change.
fn changed(request: &Request, instead: &Instead) -> Request {
    let mut request = request.clone();
    match instead {
        Instead::VirtualCluster { virtual_cluster } => {
            request.virtual_cluster = virtual_cluster.clone();
        }
        Instead::TimeLimit { time_limit } => {
            let limit = time_limit.millis();
            request.limit_ms = Some(limit);
            request.expected_ms = request.expected_ms.map(|expected| expected.min(limit));
        }
        Instead::Split { .. } | Instead::GpuType { .. } => {}
    }
    for role in request.roles.iter_mut().filter(|role| role.demand.gpus > 0) {
        match instead {
            Instead::Split { tasks, gpus } => {
                role.count = *tasks;
                role.demand.gpus = *gpus;
            }
            Instead::GpuType { gpu_type } => role.gpu_types = vec![gpu_type.clone()],
            Instead::VirtualCluster { .. } | Instead::TimeLimit { .. } => {}
        }
    }
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_clusters_are_tried_before_types_and_leave_room_for_some() {
        let text = r#"{"jobName": "job", "image": "berth/base", "gpuType": "V100", "taskRoles":
            [{"name": "worker", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100, "gpuNumber": 4,
            "command": "true"}]}"#;
        let spec = protocol::parse::parse(text).unwrap().spec;
        let request = crate::known::queue::request(&spec, &"ada".parse().unwrap());
        let types: BTreeSet<GpuType> =
            (0..12).map(|at| format!("T{at}").parse().unwrap()).collect();
        let tried = |clusters: &[VirtualClusterName]| {
            let tried = candidates(&spec, &request, clusters, types.clone());
            tried.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let few: [VirtualClusterName; 2] = ["default", "vision"].map(|name| name.parse().unwrap());
        let tried_of_few = tried(&few);
        assert_eq!(tried_of_few[..4], ["split:2x2", "split:4x1", "vc:vision", "type:T0"]);
        assert_eq!(tried_of_few.len(), TRIED);
        let many: Vec<VirtualClusterName> =
            (10..30).map(|at| format!("vc-{at}").parse().unwrap()).collect();
        let tried_of_many = tried(&many);
        assert_eq!(tried_of_many[7..9], ["vc:vc-15", "type:T0"]);
    }

    #[test]
    fn shorter_limits_are_tried_the_longest_first() {
        let text = |limit: &str| {
            format!(
                r#"{{"jobName": "job", "image": "berth/base", {limit} "taskRoles": [{{"name":
                "worker", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100, "gpuNumber": 1,
                "command": "true"}}]}}"#
            )
        };
        let limits_of = |limit: &str| {
            let spec = protocol::parse::parse(&text(limit)).unwrap().spec;
            let request = crate::known::queue::request(&spec, &"ada".parse().unwrap());
            limits(&request).map(|limit| limit.to_string()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(limits_of(""), "limit:1d limit:8h limit:4h limit:2h limit:1h");
        let limit = r#""extras": {"berth": {"timeLimit": "4h"}},"#;
        assert_eq!(limits_of(limit), "limit:2h limit:1h");
    }

    #[test]
    fn tasks_are_halved_as_long_as_that_comes_out_even() {
        let text = |tasks: u32, gpus: &str| {
            format!(
                r#"{{"jobName": "job", "image": "berth/base", "taskRoles": [{{"name": "worker",
                "taskNumber": {tasks}, "cpuNumber": 1, "memoryMB": 100, "gpuNumber": {gpus},
                "command": "true"}}]}}"#
            )
        };
        let splits_of = |tasks, gpus| {
            let spec = protocol::parse::parse(&text(tasks, gpus)).unwrap().spec;
            splits(&crate::known::queue::request(&spec, &"ada".parse().unwrap()))
        };
        let split = |tasks, gpus| Instead::Split { tasks, gpus };
        assert_eq!(splits_of(1, "8"), [split(2, 4), split(4, 2), split(8, 1)]);
        assert_eq!(splits_of(3, "6"), [split(6, 3)]);
        assert_eq!(splits_of(2, "1"), []);
        assert_eq!(splits_of(2, "0"), []);
        assert_eq!(splits_of(2, "0.5"), []);
    }
}
