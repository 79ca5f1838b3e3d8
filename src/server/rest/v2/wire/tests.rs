use protocol::wait::{Ground, WaitReason};

use super::*;

fn job(waiting: Option<Waiting>, expected: Option<Expected>) -> JobSummary {
    JobSummary {
        id: protocol::ids::JobId(1),
        key: "ada~waits".parse().unwrap(),
        state: State::Waiting,
        stop_requested: false,
        virtual_cluster: protocol::ids::VirtualClusterName::default(),
        priority: Priority::TEST,
        tasks: 1,
        roles: 1,
        gpus: Amount::whole(1),
        gpu_types: Vec::new(),
        retries: Retries::default(),
        submitted_at: Timestamp(1),
        started_at: None,
        completed_at: None,
        waiting,
        expected,
        held: None,
        tags: Vec::new(),
        ends_by: None,
        lately: Default::default(),
        exit: None,
    }
}

#[test]
fn a_row_says_the_place_of_a_waiting_job_and_when_it_may_start() {
    let reason = WaitReason::Behind { ahead: 2 };
    let waiting = Waiting { reason, position: 3, expected_start: None };
    let (earliest, latest) = (Timestamp(10), Some(Timestamp(20)));
    let expected = Expected { earliest, latest, ground: Ground::Limits };
    let row = |job: JobSummary| serde_json::to_value(JobItem::from(&job)).unwrap();
    let said = row(job(Some(waiting.clone()), Some(expected)));
    let wanted = serde_json::json!({
        "reason": { "code": "behind", "ahead": 2 },
        "position": 3,
        "expected_start": null,
        "expected": { "earliest": 10, "latest": 20, "ground": "limits" },
    });
    assert_eq!(said["waiting"], wanted);
    assert!(row(job(Some(waiting), None))["waiting"].get("expected").is_none());
    assert!(row(job(None, None)).get("waiting").is_none());
}

#[test]
fn a_task_that_shares_its_gpu_says_its_part() {
    let unplaced = unplaced(0, State::Running);
    assert!(serde_json::to_value(&unplaced).unwrap().get("gpuPart").is_none());
    let task = TaskWire { gpu_part: Some(Amount::from_milli(250)), ..unplaced };
    assert_eq!(serde_json::to_value(task).unwrap()["gpuPart"], 0.25);
}

#[test]
fn gpus_become_a_bit_mask() {
    assert_eq!(gpu_mask(&[]), 0);
    assert_eq!(gpu_mask(&[3]), 8);
    assert_eq!(gpu_mask(&[0, 1, 63]), 3 | 1 << 63);
}

#[test]
fn gpus_are_told_of_what_has_a_container() {
    for (container, gpus, told) in
        [(None, &[0, 3][..], None), (Some("c0ffee"), &[0, 3], Some(9)), (Some("c0ffee"), &[], None)]
    {
        assert_eq!(container_gpus(container, gpus), told);
    }
}

#[test]
fn priorities_have_their_class() {
    let cases = [
        (-1, Some(PriorityClass::Oppo)),
        (10, None),
        (50, Some(PriorityClass::Test)),
        (100, Some(PriorityClass::Prod)),
        (126, Some(PriorityClass::Crit)),
    ];
    for (number, class) in cases {
        assert_eq!(priority(Priority(number)), class, "{number}");
    }
}
