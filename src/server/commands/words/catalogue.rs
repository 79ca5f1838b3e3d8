//! All that is said.

use protocol::cluster::NodeCondition;
use protocol::state::State;
use protocol::wait::WaitReason;

use super::doctor::Doctor;
use super::import::Import;
use super::word::{Counted, Named, Paired, Word};

/// One catalogue.
#[derive(Debug)]
pub(in crate::commands) struct Words {
    pub(in crate::commands) state: fn(State) -> Word,
    pub(in crate::commands) wait: fn(&WaitReason) -> String,
    pub(in crate::commands) condition: fn(NodeCondition) -> Word,
    /// How long ago something was, in milliseconds.
    pub(in crate::commands) ago: fn(i64) -> String,
    pub(in crate::commands) yes: Word,
    pub(in crate::commands) no: Word,

    pub(in crate::commands) jobs_heading: [Word; 8],
    pub(in crate::commands) tasks_heading: [Word; 6],
    pub(in crate::commands) nodes_heading: [Word; 8],
    pub(in crate::commands) clusters_heading: [Word; 7],
    pub(in crate::commands) users_heading: [Word; 3],

    /// Before what is said of a job.
    pub(in crate::commands) cluster: Word,
    pub(in crate::commands) waits: Word,
    pub(in crate::commands) place: Word,
    pub(in crate::commands) ended: Word,
    pub(in crate::commands) last_attempt: Word,
    pub(in crate::commands) stopping: Named,
    pub(in crate::commands) not_stopped: Counted,
    pub(in crate::commands) deleted: Named,
    pub(in crate::commands) not_deleted: Counted,

    /// After the condition of a node that is none.
    pub(in crate::commands) simulated: Word,
    pub(in crate::commands) probing: Named,

    /// Where, and who.
    pub(in crate::commands) signed_in: Paired,
    pub(in crate::commands) nobody_signed_in: Named,
    pub(in crate::commands) password_of: Named,
    pub(in crate::commands) new_password_of: Named,
    pub(in crate::commands) password_for: Named,
    pub(in crate::commands) added: Named,

    /// A server, and how it failed.
    pub(in crate::commands) silent: Paired,
    /// A server, the status of its answer, and what it should be.
    pub(in crate::commands) other_answer: fn(&str, &str, &str) -> String,
    /// A server, and what it should be.
    pub(in crate::commands) not_understood: Paired,
    /// What went wrong, and the request in which it did.
    pub(in crate::commands) in_request: Paired,

    pub(in crate::commands) no_such_task: Named,
    /// A job, the task that it lacks, and those that it has.
    pub(in crate::commands) task_absent: fn(&str, &str, &str) -> String,
    /// A port that a task lacks, and those that it has.
    pub(in crate::commands) port_absent: Paired,
    /// A port here, one there, and the task.
    pub(in crate::commands) forwards: fn(u16, &str, &str) -> String,
    pub(in crate::commands) no_path_in_task: Word,
    pub(in crate::commands) paths_in_tasks: Word,
    pub(in crate::commands) no_program: Named,

    pub(in crate::commands) doctor: Doctor,
    pub(in crate::commands) import: Import,
}
