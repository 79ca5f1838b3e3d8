//! What is said of one job: the page, its logs and its terminals.

use protocol::spec::Priority;

/// A word or a sentence.
type Word = &'static str;
/// A sentence with a number in it.
type Counted = fn(u64) -> String;
/// A sentence with a name in it.
type Named = fn(&str) -> String;

/// One job.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) clone: Word,
    pub(crate) stop: Word,
    pub(crate) stop_title: Named,
    pub(crate) stop_text: Word,
    pub(crate) stop_confirm: Word,
    pub(crate) stop_requested: Word,
    pub(crate) delete: Word,
    pub(crate) delete_title: Named,
    pub(crate) delete_text: Word,
    pub(crate) delete_confirm: Word,
    pub(crate) tabs: Word,
    pub(crate) overview: Word,
    pub(crate) tasks: Word,
    pub(crate) logs: Word,
    pub(crate) events: Word,
    pub(crate) config: Word,
    pub(crate) timeline: Word,
    pub(crate) submitted: Word,
    pub(crate) waited: Word,
    pub(crate) prepared: Word,
    pub(crate) ran: Word,
    pub(crate) ended: Word,
    pub(crate) why_waiting: Word,
    pub(crate) place: fn(u32, &str) -> String,
    pub(crate) expected_unknown: Word,
    pub(crate) why_ended: Word,
    /// Heads what befell an attempt, by its number from 0, of a job that goes on.
    pub(crate) attempt_ended: fn(u32) -> String,
    pub(crate) exit_code: Word,
    pub(crate) remedy: Word,
    pub(crate) evidence: Word,
    pub(crate) open_log: Word,
    pub(crate) terminal: Word,
    pub(crate) facts: Word,
    pub(crate) owner: Word,
    pub(crate) priority: Word,
    /// A class by what it is for and by its word in job files, else the number.
    pub(crate) priority_of: fn(Priority) -> String,
    pub(crate) dialect: Word,
    pub(crate) dialects: [Word; 4],
    pub(crate) description: Word,
    pub(crate) retries: Word,
    pub(crate) retries_of: fn(u32, u32, &str) -> String,
    pub(crate) nodes: Word,
    pub(crate) node_labels: Word,
    pub(crate) time_limit: Word,
    /// A limit, and how much of it is left.
    pub(crate) time_left: fn(&str, &str) -> String,
    /// When it ends at the latest, before the limits that it may have instead.
    pub(crate) ends_by: fn(&str) -> String,
    /// Another limit, and when it would end by that.
    pub(crate) ends_instead: fn(&str, &str) -> String,
    pub(crate) grace: Word,
    /// A signal, and so many seconds after it.
    pub(crate) grace_of: fn(&str, u32) -> String,
    /// By when it is to have ended.
    pub(crate) due: Word,
    /// That, and when it has to start at the latest.
    pub(crate) due_starts_by: fn(&str, &str) -> String,
    /// That, and when it is expected to end instead.
    pub(crate) due_ends_at: fn(&str, &str) -> String,
    /// That, where it was not met.
    pub(crate) due_missed: fn(&str) -> String,
    pub(crate) retry_always: Word,
    pub(crate) retry_every: Word,
    pub(crate) roles: Word,
    pub(crate) image: Word,
    pub(crate) command: Word,
    pub(crate) shared_memory: Word,
    pub(crate) each_task: Word,
    pub(crate) attempt: fn(u32) -> String,
    pub(crate) attempts: Word,
    pub(crate) attempt_number: Word,
    pub(crate) task: Word,
    pub(crate) node: Word,
    pub(crate) ports: Word,
    pub(crate) exit: Word,
    pub(crate) duration: Word,
    pub(crate) gpu_numbers: Word,
    pub(crate) no_attempt: Word,
    pub(crate) missing: fn(&str, &str) -> String,
    pub(crate) missing_hint: Word,
    pub(crate) no_events: Word,
    pub(crate) as_written: Word,
    pub(crate) notation: Word,
    pub(crate) restarted: Counted,
    pub(crate) when: Word,
    pub(crate) what: Word,
    pub(crate) tags: Word,
    pub(crate) new_tag: Word,
    pub(crate) add_tag: Word,
    pub(crate) remove_tag: Named,
}

/// Logs.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) choose: Word,
    pub(crate) show: Word,
    pub(crate) follow: Word,
    pub(crate) pause: Word,
    pub(crate) wrap: Word,
    pub(crate) times: Word,
    pub(crate) empty: Word,
    /// The log is lost.
    pub(crate) gone: Word,
    /// The logs of so many tasks are.
    pub(crate) some_gone: Counted,
    /// The end of the log is lost, though it was kept.
    pub(crate) torn: Word,
    /// The ends of the logs of so many tasks are.
    pub(crate) some_torn: Counted,
    pub(crate) complete: Word,
    pub(crate) following: Word,
    pub(crate) paused: Word,
    /// So many lines were read, and more are there.
    pub(crate) reading: Counted,
    pub(crate) lost: Word,
    pub(crate) label: Named,
    pub(crate) not_yours: Word,
    pub(crate) lines: Counted,
    /// A line, by its number.
    pub(crate) line: Counted,
    /// Its middle is left out.
    pub(crate) long: Word,
    /// Lines from one to another are left out.
    pub(crate) left_out: fn(u64, u64) -> String,
    pub(crate) all: Word,
    pub(crate) of_all: Word,
    pub(crate) places: Word,
    pub(crate) start: Word,
    pub(crate) earlier: Word,
    pub(crate) later: Word,
    pub(crate) end: Word,
    /// Of how many tasks there are only the first ones are shown.
    pub(crate) only_first: fn(u64, u64) -> String,
    /// The field for a moment to go to.
    pub(crate) moment: Word,
    /// So many lines were passed over.
    pub(crate) skipped: Counted,
    pub(crate) search: Word,
    pub(crate) pattern: Word,
    pub(crate) case: Word,
    pub(crate) next: Word,
    pub(crate) previous: Word,
    pub(crate) searching: Word,
    pub(crate) nothing: Word,
    /// Which of how many lines is looked at; 0: none.
    pub(crate) found: fn(u64, u64) -> String,
    /// Only so many lines were looked through.
    pub(crate) searched: Counted,
    pub(crate) search_all: Word,
    pub(crate) find: Word,
    /// Not all of all logs was looked through.
    pub(crate) not_all: Word,
    pub(crate) by_task: Word,
    pub(crate) matches: Word,
}

/// Terminals.
#[derive(Debug)]
pub(crate) struct Terminal {
    pub(crate) choose: Word,
    pub(crate) open: Word,
    pub(crate) begin_hint: Word,
    pub(crate) open_ones: Word,
    pub(crate) label: Named,
    pub(crate) not_yours: Word,
    pub(crate) none: Word,
    pub(crate) none_hint: Word,
    pub(crate) without_script: Word,
    pub(crate) missing: Word,
    pub(crate) opening: Word,
    pub(crate) is_open: Word,
    pub(crate) broken: Word,
    pub(crate) exited: Word,
    pub(crate) exited_with: Named,
    pub(crate) closed: Word,
    pub(crate) left: Word,
    pub(crate) idle: Word,
    pub(crate) taken_over: Word,
    pub(crate) lost: Word,
    pub(crate) revoked: Word,
    pub(crate) stopping: Word,
    pub(crate) again: Word,
    pub(crate) close: Word,
    pub(crate) large: Word,
    pub(crate) hint: Word,
    pub(crate) files: Word,
    pub(crate) path: Word,
    pub(crate) folder: Word,
    pub(crate) file: Word,
    pub(crate) sending: Named,
    pub(crate) sent: Named,
    pub(crate) not_sent: Word,
}
