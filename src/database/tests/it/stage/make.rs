//! Things to put into a database.

use std::collections::BTreeMap;

use database::attempts::Attempt;
use database::jobs::NewJob;
use database::tasks::Task;
use protocol::document::Syntax;
use protocol::epoch::Epoch;
use protocol::exit::{Cause, Exit};
use protocol::ids::{
    JobId, JobKey, JobName, NodeName, PortLabel, RoleName, TaskKey, UserName, VirtualClusterName,
};
use protocol::placement::{TaskPlacement, TaskPorts};
use protocol::resources::Resources;
use protocol::spec::{Completion, Dialect, JobSpec, PortRequest, Priority, RetryLimit, TaskRole};
use protocol::state::State;
use protocol::time::Timestamp;

pub(crate) fn user(name: &str) -> UserName {
    UserName::new(name).unwrap()
}

pub(crate) fn vc(name: &str) -> VirtualClusterName {
    VirtualClusterName::new(name).unwrap()
}

pub(crate) fn node(name: &str) -> NodeName {
    NodeName::new(name).unwrap()
}

pub(crate) fn job_name(name: &str) -> JobName {
    JobName::new(name).unwrap()
}

pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp(millis)
}

pub(crate) fn exit(code: i32) -> Exit {
    let cause = if code == 0 { Cause::Succeeded } else { Cause::CommandFailed };
    Exit { code: Some(code), cause, evidence: vec!["a “line” of its log".to_owned()] }
}

/// One role of two tasks with two GPUs each.
pub(crate) fn spec(name: &str) -> JobSpec {
    JobSpec {
        description: Some("what it is for".to_owned()),
        priority: Priority::PRODUCTION,
        gpu_types: vec!["A100".parse().unwrap()],
        retries: RetryLimit::Times(2),
        env: BTreeMap::from([("A".to_owned(), "1".to_owned())]),
        secrets: vec!["key".to_owned()],
        ..JobSpec::plain(job_name(name), Dialect::Pai, vec![worker()])
    }
}

fn worker() -> TaskRole {
    TaskRole {
        name: RoleName::new("worker").unwrap(),
        count: 2,
        resources: Resources { cpus: 4, memory_mb: 8192, gpus: 2.into(), disk_gb: 0 },
        gpu_types: vec!["A100".parse().unwrap(), "V100".parse().unwrap()],
        shm_mb: 64,
        image: "ubuntu".to_owned(),
        registry: None,
        ports: vec![PortRequest { label: PortLabel::new("web").unwrap(), begin_at: 0, count: 1 }],
        command: "echo 'it''s' \"fine\"".to_owned(),
        completion: Completion { min_failed: Some(1), min_succeeded: None },
        task_retries: RetryLimit::Times(0),
        infiniband: false,
    }
}

/// `who`'s job of that name, submitted at 1000.
pub(crate) fn a_job(who: &str, name: &str) -> NewJob {
    NewJob {
        key: JobKey { user: user(who), name: job_name(name) },
        spec: spec(name),
        text: format!("// as written\n{{\"jobName\": \"{name}\"}}"),
        syntax: Syntax::Json,
        submitted_at: at(1000),
    }
}

pub(crate) fn attempt_of(job: JobId, number: u32) -> Attempt {
    Attempt {
        job,
        number,
        state: State::Preparing,
        borrowed: number % 2 == 1,
        placed_at: at(2000),
        started_at: None,
        completed_at: None,
        exit: None,
        lease: (number % 2 == 1).then_some(600),
        weighed_milli: None,
    }
}

/// Task `index` of role 0 in `attempt`, preparing on `on`.
pub(crate) fn a_task(job: JobId, attempt: u32, index: u32, on: &str) -> Task {
    let ports = TaskPorts::from([
        (PortLabel::new("http").unwrap(), vec![20_000]),
        (PortLabel::new("web").unwrap(), vec![20_001, 20_002]),
    ]);
    Task {
        key: TaskKey { job, attempt, role: 0, index, retry: 0 },
        epoch: Epoch::default(),
        role_name: RoleName::new("worker").unwrap(),
        state: State::Preparing,
        placement: TaskPlacement {
            role: 0,
            index,
            node: node(on),
            address: "10.0.0.1".to_owned(),
            gpus: vec![1, 3],
            ports,
        },
        resources: Resources { cpus: 4, memory_mb: 8192, gpus: 2.into(), disk_gb: 1 },
        container: None,
        progress: None,
        intent: None,
        started_at: None,
        completed_at: None,
        exit: None,
    }
}
