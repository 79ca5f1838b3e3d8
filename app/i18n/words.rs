//! What a catalogue must say.

use api::cluster::FreeGpus;
use protocol::amount::Amount;
use protocol::exit::Cause;
use protocol::spec::TimeLimit;
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
    pub(crate) job: super::words_job::Job,
    pub(crate) log: super::words_job::Log,
    pub(crate) terminal: super::words_job::Terminal,
    pub(crate) cluster: Cluster,
    pub(crate) admin: Admin,
    pub(crate) profile: Profile,
    pub(crate) submit: super::words_submit::Submit,
    pub(crate) connect: super::words_connect::Connect,
    pub(crate) public_keys: super::words_connect::PublicKeys,
    pub(crate) reference: super::words_connect::Reference,
    pub(crate) files: super::words_files::Files,
    pub(crate) queue: super::words_queue::Queue,
    pub(crate) images: super::words_images::Images,
    pub(crate) audit: super::words_audit::AuditWords,
    pub(crate) accounts: super::words_accounts::Accounts,
    pub(crate) finding: super::words_lists::Finding,
    pub(crate) map: super::words_lists::Map,
    pub(crate) metrics: super::words_metrics::Metrics,
    pub(crate) usage: super::words_metrics::Usage,
    pub(crate) outage: super::words_outage::Outage,
    pub(crate) quarantine: super::words_quarantine::Quarantine,
    pub(crate) storages: super::words_storages::Storages,
    /// The word of a state.
    pub(crate) state: fn(State) -> Word,
    /// How long an attempt may run (`2h 30m`).
    pub(crate) limit: fn(TimeLimit) -> String,
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
    /// What the server says in English.
    pub(crate) said: Named,
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
    pub(crate) page: Counted,
    pub(crate) range: fn(u64, u64, u64) -> String,
    pub(crate) not_found: Word,
    pub(crate) not_found_hint: Word,
    pub(crate) go_home: Word,
    pub(crate) problems: Word,
    pub(crate) simulated: Word,
    pub(crate) cpu: Word,
    pub(crate) memory: Word,
    pub(crate) disk: Word,
    pub(crate) used_of: fn(&str, &str) -> String,
    pub(crate) no_actor: Word,
    /// Between a label and what it labels.
    pub(crate) colon: Word,
    /// Between names one after the other.
    pub(crate) comma: Word,
    /// At the end of a sentence.
    pub(crate) stop: Word,
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
    pub(crate) more: Word,
    pub(crate) sign_out: Word,
    pub(crate) language: Word,
    pub(crate) theme: Word,
    pub(crate) theme_system: Word,
    pub(crate) theme_light: Word,
    pub(crate) theme_dark: Word,
    pub(crate) find: Word,
    pub(crate) find_what: Word,
    pub(crate) find_nothing: Word,
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
    pub(crate) again: Word,
    pub(crate) go_on: Word,
    pub(crate) already: Named,
    /// Of a password that is good for choosing another one alone: where no other one is asked for, and
    /// where it is; and of another one that is not taken.
    pub(crate) temporary: Word,
    pub(crate) choose: Word,
    pub(crate) not_chosen: Word,
}

/// The first page.
#[derive(Debug)]
pub(crate) struct Home {
    pub(crate) my_jobs: Word,
    pub(crate) recent: Word,
    pub(crate) all_mine: Word,
    pub(crate) where_free: Word,
    pub(crate) where_free_hint: Word,
    pub(crate) attention: Word,
    pub(crate) all_well: Word,
    /// So many failed in a week; or so many more since somebody dismissed those before.
    pub(crate) failed_jobs: fn(u64, bool) -> String,
    pub(crate) dismiss: Word,
    pub(crate) unreachable_nodes: Counted,
    pub(crate) closed_nodes: Counted,
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
    pub(crate) delete_many: Counted,
    pub(crate) delete_many_text: Word,
    pub(crate) deleted_many: Counted,
    pub(crate) none: Word,
    pub(crate) none_hint: Word,
    pub(crate) none_match: Word,
    pub(crate) none_match_hint: Word,
    pub(crate) table: Word,
    pub(crate) position: fn(u32, &str) -> String,
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
    pub(crate) unguaranteed: Word,
    pub(crate) guaranteed: Word,
    pub(crate) part_of: Named,
    pub(crate) borrows_nothing: Word,
    pub(crate) shapes: Named,
    pub(crate) borrowed: Word,
    pub(crate) resource: Word,
    pub(crate) used: Word,
    /// So many GPUs could be used at once.
    pub(crate) free_now: fn(u32) -> String,
    /// The most of them on one node, and how many would be borrowed.
    pub(crate) free_more: fn(&FreeGpus) -> String,
    /// Heads a column of what is free.
    pub(crate) free: Word,
    /// A type of which nothing may be had.
    pub(crate) free_never: Word,
    pub(crate) ready: Word,
    pub(crate) draining: Word,
    pub(crate) unreachable: Word,
    pub(crate) condition: Word,
    pub(crate) node: Word,
    pub(crate) address: Word,
    pub(crate) tasks_address: Word,
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
    pub(crate) gpu_part: fn(&str, Amount) -> String,
    pub(crate) gpus_summary: fn(Amount, u64) -> String,
    pub(crate) shares_gpus: Word,
    pub(crate) gpus_found: Word,
    /// What is set by hand, and what was found.
    pub(crate) gpus_differ: fn(&str, &str) -> String,
    pub(crate) gpu_driver: Named,
    pub(crate) gpu_index: Word,
    pub(crate) gpu_type: Word,
    pub(crate) gpu_model: Word,
    pub(crate) gpu_well: Word,
    pub(crate) gpu_gone: Word,
    pub(crate) gpu_silent: Word,
    pub(crate) gpu_memory_errors: Word,
    pub(crate) probe: Word,
    pub(crate) probe_asked: Word,
    pub(crate) tasks: Word,
    pub(crate) no_tasks: Word,
    /// A node was closed by itself, and what becomes of it.
    pub(crate) closed: Word,
    pub(crate) closed_text: Word,
    /// Something is wrong with a node, how bad that is, and what becomes of it.
    pub(crate) node_failed: Word,
    pub(crate) node_doubtful: Word,
    pub(crate) ailments_text: Word,
    pub(crate) is_well: Word,
    /// Heads what was wrong before: what, from when until when, and who said that it is over.
    pub(crate) was_wrong: Word,
    pub(crate) ailment: Word,
    pub(crate) ailed_from: Word,
    pub(crate) ailed_until: Word,
    pub(crate) ended_by: Word,
    pub(crate) drain: Word,
    pub(crate) drain_text: Word,
    pub(crate) undrain: Word,
    pub(crate) empty_now: Word,
    pub(crate) empty_text: Word,
    pub(crate) give_up_text: Word,
    pub(crate) all_nodes: Word,
    pub(crate) node_missing: Named,
}

/// Administration.
#[derive(Debug)]
pub(crate) struct Admin {
    pub(crate) title: Word,
    pub(crate) only: Word,
    pub(crate) search: Word,
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
    pub(crate) file_read: Word,
    pub(crate) file_written: Word,
    pub(crate) image_saved: Word,
    pub(crate) image_removed: Word,
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
    pub(crate) password_temporary: Word,
    pub(crate) remove_user: Named,
    pub(crate) remove_user_text: Word,
    pub(crate) promote: Word,
    pub(crate) demote: Word,
    pub(crate) end_access: Word,
    pub(crate) end_access_of: Named,
    pub(crate) end_access_text: Word,
    pub(crate) access_ended: Word,
    pub(crate) add_node: Word,
    pub(crate) edit_node: Named,
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
    pub(crate) network: Word,
    pub(crate) network_usual: Word,
    pub(crate) network_host: Word,
    pub(crate) network_bridge: Word,
    pub(crate) network_hint: Word,
    pub(crate) at_portal: Word,
    /// Of several servers of one database.
    pub(crate) servers: Word,
    pub(crate) servers_what: Word,
    pub(crate) server_address: Word,
    pub(crate) server_heard: Word,
    /// In which term.
    pub(crate) server_leads: fn(i64) -> String,
    pub(crate) server_follows: Word,
    pub(crate) server_silent: Word,
    pub(crate) runtime_nvidia: Word,
    pub(crate) runtime_cdi: Word,
    pub(crate) runtime_ascend: Word,
    pub(crate) runtime_none: Word,
    pub(crate) ports_hint: Word,
    pub(crate) labels_hint: Word,
    pub(crate) links: Word,
    pub(crate) links_hint: Word,
    pub(crate) exporter: Word,
    pub(crate) exporter_hint: Word,
    pub(crate) shares_gpus: Word,
    pub(crate) add_cluster: Word,
    pub(crate) edit_cluster: Named,
    pub(crate) cluster_saved: Word,
    pub(crate) remove_cluster: Named,
    pub(crate) remove_cluster_text: Word,
    pub(crate) share: Word,
    pub(crate) share_hint: Word,
    pub(crate) promises: Word,
    pub(crate) beyond: Word,
    pub(crate) share_gpus_hint: Word,
    pub(crate) parent: Word,
    pub(crate) no_parent: Word,
    pub(crate) parent_hint: Word,
    pub(crate) shapes: Word,
    pub(crate) shapes_hint: Word,
    pub(crate) share_nodes: Word,
    pub(crate) share_nodes_hint: Word,
    pub(crate) borrows: Word,
    pub(crate) preempts: Word,
    pub(crate) lease: Word,
    pub(crate) lease_hint: Word,
    pub(crate) idle_hint: Word,
    pub(crate) idle_minutes: Word,
    pub(crate) idle_load: Word,
    pub(crate) idle_grace: Word,
    pub(crate) idle_stop: Word,
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
    pub(crate) keep: Word,
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
