use protocol::cluster::NodeCondition;
use protocol::state::State;
use protocol::words::counted;

use super::catalogue::Words;
use super::{doctor, import};
use crate::commands::text::span;

pub(super) static WORDS: Words = Words {
    state: State::as_str,
    wait: ToString::to_string,
    condition: |condition| match condition {
        NodeCondition::Ready => "ready",
        NodeCondition::Draining => "draining",
        NodeCondition::Unreachable => "unreachable",
    },
    ago: |millis| format!("{} ago", span(millis)),
    yes: "yes",
    no: "no",

    jobs_heading: ["NAME", "USER", "STATE", "VC", "TASKS", "GPUS", "SUBMITTED", "EXIT"],
    tasks_heading: ["TASK", "STATE", "NODE", "ADDRESS", "PORTS", "EXIT"],
    nodes_heading: ["NODE", "ADDRESS", "CONDITION", "ARCH", "CPUS", "MEMORY", "GPUS", "TASKS"],
    clusters_heading: ["NAME", "GPUS", "CPUS", "MEMORY", "RUNNING", "WAITING", "MAY USE"],
    users_heading: ["USER", "ADMINISTRATOR", "VIRTUAL CLUSTERS"],

    cluster: "virtual cluster",
    waits: "waits",
    place: "place in queue",
    ended: "ended",
    last_attempt: "last attempt",
    stopping: |name| format!("{name}: stopping"),
    not_stopped: |count| format!("{} could not be stopped", counted(count as u64, "job")),
    deleted: |name| format!("{name}: deleted"),
    not_deleted: |count| format!("{} could not be deleted", counted(count as u64, "job")),

    simulated: " (simulated)",
    probing: |node| format!("GPUs of {node} are being looked for"),

    signed_in: |server, user| format!("signed in at {server} as {user}"),
    nobody_signed_in: |server| {
        format!("nobody is signed in at {server}: use `berth login` or BERTH_TOKEN")
    },
    password_of: |user| format!("Password of {user}: "),
    new_password_of: |user| format!("New password of {user}: "),
    password_for: |user| format!("Password for {user}: "),
    added: |user| format!("added {user}"),

    silent: |server, error| format!("{server} does not answer: {error}"),
    other_answer: |server, status, kind| format!("{server} answered {status}: is it {kind}?"),
    not_understood: |server, kind| {
        format!("the answer of {server} is not understood: is it {kind}?")
    },
    in_request: |message, request| format!("{message} (request {request})"),

    no_such_task: |task| format!("{task:?} is not a task: allowed is ROLE-INDEX, as worker-0"),
    task_absent: |job, task, known| format!("{job} has no task {task:?}; it has {known}"),
    port_absent: |port, known| format!("the task has no port {port:?}; it has {known}"),
    forwards: |here, there, task| format!("127.0.0.1:{here} -> {there} of {task}"),
    no_path_in_task: "one of the paths must be in a task: JOB[/ROLE-INDEX]:PATH",
    paths_in_tasks: "files are copied to or from one task at a time; between tasks of a job, use scp \
                     inside them",
    no_program: |program| format!("`{program}` cannot be started; is OpenSSH installed?"),

    doctor: doctor::ENGLISH,
    import: import::ENGLISH,
};
