//! What a catalogue must say.

use protocol::exit::Cause;
use protocol::state::State;
use protocol::wait::WaitReason;

use crate::time::Span;

/// A word or a sentence.
type Word = &'static str;
/// A sentence with a number in it.
type Counted = fn(u64) -> String;
/// A sentence with a name in it.
type Named = fn(&str) -> String;

/// One catalogue.
#[derive(Debug)]
pub(crate) struct Texts {
    pub(crate) common: Common,
    pub(crate) nav: Nav,
    pub(crate) sign_in: SignIn,
    pub(crate) home: Home,
    pub(crate) jobs: Jobs,
    pub(crate) job: Job,
    pub(crate) log: Log,
    pub(crate) terminal: Terminal,
    pub(crate) cluster: Cluster,
    pub(crate) admin: Admin,
    pub(crate) profile: Profile,
    pub(crate) submit: super::words_submit::Submit,
    pub(crate) connect: super::words_connect::Connect,
    pub(crate) public_keys: super::words_connect::PublicKeys,
    pub(crate) files: super::words_files::Files,
    /// The word of a state.
    pub(crate) state: fn(State) -> Word,
    /// A duration (`2h 13m`).
    pub(crate) span: fn(Span) -> String,
    /// How long ago.
    pub(crate) ago: fn(Span) -> String,
    /// In how long.
    pub(crate) ahead: fn(Span) -> String,
    /// Why a job waits, one sentence.
    pub(crate) wait: fn(&WaitReason) -> String,
    /// What would start it; empty where nothing can be said.
    pub(crate) wait_remedy: fn(&WaitReason) -> &'static str,
    /// Why it ended, one sentence.
    pub(crate) cause: fn(&Cause) -> String,
    /// What to do about it; empty where nothing need be done.
    pub(crate) remedy: fn(&Cause) -> &'static str,
}

/// What many pages say.
#[derive(Debug)]
pub(crate) struct Common {
    pub(crate) skip: Word,
    pub(crate) loading: Word,
    pub(crate) retry: Word,
    pub(crate) failed: Word,
    pub(crate) request_id: Word,
    pub(crate) copy: Word,
    pub(crate) copied: Word,
    pub(crate) download: Word,
    pub(crate) cancel: Word,
    pub(crate) save: Word,
    pub(crate) saved: Word,
    pub(crate) remove: Word,
    pub(crate) edit: Word,
    pub(crate) yes: Word,
    pub(crate) no: Word,
    pub(crate) optional: Word,
    pub(crate) previous: Word,
    pub(crate) next: Word,
    pub(crate) pages: Word,
    pub(crate) range: fn(u64, u64, u64) -> String,
    pub(crate) not_found: Word,
    pub(crate) not_found_hint: Word,
    pub(crate) go_home: Word,
    pub(crate) reconnecting: Word,
    pub(crate) problems: Word,
    pub(crate) simulated: Word,
    pub(crate) cpu: Word,
    pub(crate) memory: Word,
    pub(crate) disk: Word,
    pub(crate) used_of: fn(&str, &str) -> String,
    pub(crate) no_actor: Word,
}

/// The frame of every page.
#[derive(Debug)]
pub(crate) struct Nav {
    pub(crate) main: Word,
    pub(crate) home: Word,
    pub(crate) jobs: Word,
    pub(crate) submit: Word,
    pub(crate) files: Word,
    pub(crate) clusters: Word,
    pub(crate) nodes: Word,
    pub(crate) admin: Word,
    pub(crate) sign_out: Word,
    pub(crate) language: Word,
    pub(crate) theme: Word,
    pub(crate) theme_system: Word,
    pub(crate) theme_light: Word,
    pub(crate) theme_dark: Word,
}

/// Signing in.
#[derive(Debug)]
pub(crate) struct SignIn {
    pub(crate) title: Word,
    pub(crate) lead: Word,
    pub(crate) user: Word,
    pub(crate) password: Word,
    pub(crate) submit: Word,
    pub(crate) wrong: Word,
    pub(crate) limited: Word,
    pub(crate) unavailable: Word,
    pub(crate) ended: Word,
    pub(crate) already: Named,
}

/// The first page.
#[derive(Debug)]
pub(crate) struct Home {
    pub(crate) my_jobs: Word,
    pub(crate) recent: Word,
    pub(crate) all_mine: Word,
    pub(crate) where_free: Word,
    pub(crate) where_free_hint: Word,
    pub(crate) free: Word,
    pub(crate) attention: Word,
    pub(crate) all_well: Word,
    pub(crate) failed_jobs: Counted,
    pub(crate) unreachable_nodes: Counted,
    pub(crate) no_jobs: Word,
    pub(crate) no_jobs_hint: Word,
    pub(crate) first_job: Word,
}

/// The list of jobs.
#[derive(Debug)]
pub(crate) struct Jobs {
    pub(crate) title: Word,
    pub(crate) mine: Word,
    pub(crate) everybody: Word,
    pub(crate) filter: Word,
    pub(crate) filter_placeholder: Word,
    pub(crate) filter_hint: Word,
    pub(crate) apply: Word,
    pub(crate) clear: Word,
    pub(crate) by_state: Word,
    pub(crate) name: Word,
    pub(crate) user: Word,
    pub(crate) cluster: Word,
    pub(crate) state: Word,
    pub(crate) gpus: Word,
    pub(crate) tasks: Word,
    pub(crate) retries: Word,
    pub(crate) submitted: Word,
    pub(crate) queued: Word,
    pub(crate) ran: Word,
    pub(crate) select_all: Word,
    pub(crate) select: Named,
    pub(crate) selected: Counted,
    pub(crate) stop_many: Counted,
    pub(crate) stop_many_text: Word,
    pub(crate) stopped_many: Counted,
    pub(crate) none: Word,
    pub(crate) none_hint: Word,
    pub(crate) none_match: Word,
    pub(crate) none_match_hint: Word,
    pub(crate) table: Word,
    pub(crate) bad_token: Named,
    pub(crate) position: fn(u32) -> String,
}

/// One job.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) clone: Word,
    pub(crate) stop: Word,
    pub(crate) stop_title: Named,
    pub(crate) stop_text: Word,
    pub(crate) stop_confirm: Word,
    pub(crate) stop_requested: Word,
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
    pub(crate) expected: Named,
    pub(crate) expected_unknown: Word,
    pub(crate) why_ended: Word,
    pub(crate) exit_code: Word,
    pub(crate) remedy: Word,
    pub(crate) evidence: Word,
    pub(crate) open_log: Word,
    pub(crate) terminal: Word,
    pub(crate) facts: Word,
    pub(crate) owner: Word,
    pub(crate) priority: Word,
    pub(crate) dialect: Word,
    pub(crate) dialects: [Word; 4],
    pub(crate) description: Word,
    pub(crate) retries: Word,
    pub(crate) retries_of: fn(u32, u32, &str) -> String,
    pub(crate) retry_always: Word,
    pub(crate) retry_every: Word,
    pub(crate) roles: Word,
    pub(crate) image: Word,
    pub(crate) command: Word,
    pub(crate) shared_memory: Word,
    pub(crate) each_task: Word,
    pub(crate) attempt: fn(u32) -> String,
    pub(crate) attempts: Word,
    pub(crate) task: Word,
    pub(crate) node: Word,
    pub(crate) ports: Word,
    pub(crate) exit: Word,
    pub(crate) duration: Word,
    pub(crate) log: Word,
    pub(crate) no_attempt: Word,
    pub(crate) no_events: Word,
    pub(crate) as_written: Word,
    pub(crate) notation: Word,
    pub(crate) restarted: Counted,
    pub(crate) when: Word,
    pub(crate) what: Word,
}

/// Logs.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) choose: Word,
    pub(crate) show: Word,
    pub(crate) follow: Word,
    pub(crate) wrap: Word,
    pub(crate) numbers: Word,
    pub(crate) empty: Word,
    pub(crate) complete: Word,
    pub(crate) following: Word,
    pub(crate) lost: Word,
    pub(crate) cut: Word,
    pub(crate) label: Named,
    pub(crate) not_yours: Word,
    pub(crate) lines: Counted,
}

/// Terminals.
#[derive(Debug)]
pub(crate) struct Terminal {
    pub(crate) choose: Word,
    pub(crate) open: Word,
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
}

/// Virtual clusters and nodes.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) clusters_title: Word,
    pub(crate) clusters_none: Word,
    pub(crate) nodes_title: Word,
    pub(crate) nodes_none: Word,
    pub(crate) nodes_none_hint: Word,
    pub(crate) usable: Word,
    pub(crate) not_usable: Word,
    pub(crate) running: Counted,
    pub(crate) waiting: Counted,
    pub(crate) unbounded: Word,
    pub(crate) bounded: Word,
    pub(crate) resource: Word,
    pub(crate) used: Word,
    pub(crate) free: Word,
    pub(crate) ready: Word,
    pub(crate) draining: Word,
    pub(crate) unreachable: Word,
    pub(crate) condition: Word,
    pub(crate) node: Word,
    pub(crate) address: Word,
    pub(crate) endpoint: Word,
    pub(crate) engine: Word,
    pub(crate) last_seen: Word,
    pub(crate) never_seen: Word,
    pub(crate) ports: Word,
    pub(crate) labels: Word,
    pub(crate) gpus: Word,
    pub(crate) no_gpus: Word,
    pub(crate) gpu_free: Word,
    pub(crate) gpu_unhealthy: Word,
    pub(crate) gpu_label: fn(u32, &str, &str) -> String,
    pub(crate) gpus_summary: fn(u64, u64) -> String,
    pub(crate) tasks: Word,
    pub(crate) no_tasks: Word,
    pub(crate) drain: Word,
    pub(crate) drain_text: Word,
    pub(crate) undrain: Word,
    pub(crate) all_nodes: Word,
}

/// Administration.
#[derive(Debug)]
pub(crate) struct Admin {
    pub(crate) title: Word,
    pub(crate) only: Word,
    pub(crate) users: Word,
    pub(crate) nodes: Word,
    pub(crate) clusters: Word,
    pub(crate) audit: Word,
    pub(crate) no_audit: Word,
    pub(crate) older: Word,
    pub(crate) terminal_opened: Word,
    pub(crate) terminal_resumed: Word,
    pub(crate) terminal_ended: Word,
    pub(crate) page_opened: Word,
    pub(crate) name: Word,
    pub(crate) administrator: Word,
    pub(crate) since: Word,
    pub(crate) may_use: Word,
    pub(crate) add_user: Word,
    pub(crate) password_hint: Word,
    pub(crate) name_hint: Word,
    pub(crate) set_password: Word,
    pub(crate) set_password_for: Named,
    pub(crate) password_set: Word,
    pub(crate) remove_user: Named,
    pub(crate) remove_user_text: Word,
    pub(crate) add_node: Word,
    pub(crate) node_saved: Word,
    pub(crate) remove_node: Named,
    pub(crate) remove_node_text: Word,
    pub(crate) node_address_hint: Word,
    pub(crate) node_endpoint_hint: Word,
    pub(crate) asked_hint: Word,
    pub(crate) cpus: Word,
    pub(crate) memory_mb: Word,
    pub(crate) disk_gb: Word,
    pub(crate) gpus_hint: Word,
    pub(crate) runtime: Word,
    pub(crate) runtime_nvidia: Word,
    pub(crate) runtime_none: Word,
    pub(crate) ports_hint: Word,
    pub(crate) labels_hint: Word,
    pub(crate) add_cluster: Word,
    pub(crate) edit_cluster: Named,
    pub(crate) cluster_saved: Word,
    pub(crate) remove_cluster: Named,
    pub(crate) remove_cluster_text: Word,
    pub(crate) share: Word,
    pub(crate) share_hint: Word,
    pub(crate) share_gpus_hint: Word,
    pub(crate) users_hint: Word,
    pub(crate) everybody: Word,
    pub(crate) actions: Word,
    pub(crate) sections: Word,
}

/// One's own account.
#[derive(Debug)]
pub(crate) struct Profile {
    pub(crate) title: Word,
    pub(crate) password: Word,
    pub(crate) old: Word,
    pub(crate) new: Word,
    pub(crate) new_hint: Word,
    pub(crate) change: Word,
    pub(crate) changed: Word,
    pub(crate) tokens: Word,
    pub(crate) tokens_hint: Word,
    pub(crate) token_label: Word,
    pub(crate) token_label_hint: Word,
    pub(crate) lifetime: Word,
    pub(crate) lifetimes: [Word; 4],
    pub(crate) create: Word,
    pub(crate) created: Word,
    pub(crate) once: Word,
    pub(crate) expires: Word,
    pub(crate) never: Word,
    pub(crate) revoke: Word,
    pub(crate) revoke_title: Named,
    pub(crate) revoke_text: Word,
    pub(crate) no_tokens: Word,
    pub(crate) looks: Word,
}
