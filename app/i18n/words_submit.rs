//! What the submit page says.

use protocol::ids::NodeName;
use protocol::problem::Problem;

type Word = &'static str;
type Named = fn(&str) -> String;
type Counted = fn(u64) -> String;

/// Submitting a job.
#[derive(Debug)]
pub(crate) struct Submit {
    pub(crate) title: Word,
    pub(crate) submit: Word,
    pub(crate) submitting: Word,
    pub(crate) keys: Word,
    pub(crate) ways: Word,
    pub(crate) form: Word,
    pub(crate) editor: Word,
    pub(crate) file: Word,
    pub(crate) text_label: Word,
    pub(crate) editor_label: Word,
    pub(crate) editor_missing: Word,
    pub(crate) file_label: Word,
    pub(crate) file_drop: Word,
    pub(crate) file_hint: Word,
    pub(crate) file_read: Named,
    pub(crate) file_unreadable: Word,
    pub(crate) templates: Word,
    pub(crate) template_loaded: Word,
    pub(crate) undo: Word,
    pub(crate) cloned_from: Named,
    /// How many lines differ from a job's; `None`: more than are compared.
    pub(crate) differs: fn(Option<usize>, &str) -> String,
    pub(crate) line: fn(usize) -> String,
    /// Before a line that is there no more, for those who hear it.
    pub(crate) line_removed: Word,
    pub(crate) line_added: Word,
    pub(crate) lines_more: fn(usize) -> String,
    pub(crate) draft_restored: Word,
    pub(crate) discard: Word,
    pub(crate) draft_elsewhere: Named,
    pub(crate) draft_take: Word,
    pub(crate) draft_leave: Word,
    pub(crate) draft_taken: Word,
    pub(crate) more_in_editor: Counted,
    pub(crate) unreadable: fn(&Problem) -> String,
    pub(crate) open_editor: Word,
    pub(crate) fields: Fields,
    pub(crate) rail: Rail,
}

/// Labels and hints of the form.
#[derive(Debug)]
pub(crate) struct Fields {
    pub(crate) job: Word,
    pub(crate) name: Word,
    pub(crate) name_hint: Word,
    pub(crate) description: Word,
    pub(crate) image: Word,
    pub(crate) image_hint: Word,
    pub(crate) cluster: Word,
    pub(crate) cluster_default: Word,
    pub(crate) gpu_type: Word,
    pub(crate) gpu_any: Word,
    pub(crate) retries: Word,
    pub(crate) retries_hint: Word,
    pub(crate) priority: Word,
    pub(crate) priority_default: Word,
    pub(crate) priorities: [(Word, Word); 4],
    pub(crate) time_limit: Word,
    pub(crate) time_limit_hint: Word,
    pub(crate) deadline: Word,
    pub(crate) deadline_hint: Word,
    pub(crate) grace_signal: Word,
    pub(crate) grace_none: Word,
    pub(crate) grace_seconds: Word,
    pub(crate) grace_hint: Word,
    pub(crate) nodes: Word,
    pub(crate) nodes_hint: Word,
    pub(crate) node_labels: Word,
    pub(crate) node_labels_hint: Word,
    /// The levels of topology, the widest first.
    pub(crate) levels: [Word; 4],
    pub(crate) level_required: Word,
    pub(crate) level_any: Word,
    pub(crate) level_preferred: Word,
    pub(crate) level_narrowest: Word,
    pub(crate) kill_all: Word,
    pub(crate) kill_all_hint: Word,
    pub(crate) roles: Word,
    pub(crate) role_summary: fn(&RoleSummary) -> String,
    pub(crate) add_role: Word,
    pub(crate) remove_role: Named,
    pub(crate) role_name: Word,
    pub(crate) tasks: Word,
    pub(crate) cpus: Word,
    pub(crate) memory: Word,
    pub(crate) shared_memory: Word,
    pub(crate) shared_memory_hint: Word,
    pub(crate) gpus: Word,
    pub(crate) gpus_hint: Word,
    pub(crate) disk: Word,
    pub(crate) command: Word,
    pub(crate) command_hint: Word,
    pub(crate) add_command: Word,
    pub(crate) min_failed: Word,
    pub(crate) min_failed_hint: Word,
    pub(crate) min_succeeded: Word,
    pub(crate) min_succeeded_hint: Word,
    pub(crate) completion: Word,
    pub(crate) ports: Word,
    pub(crate) ports_hint: Word,
    pub(crate) port_label: Word,
    pub(crate) port_begin: Word,
    pub(crate) port_count: Word,
    pub(crate) add_port: Word,
    pub(crate) remove_port: Named,
    pub(crate) environment: Word,
    pub(crate) environment_hint: Word,
    pub(crate) env_name: Word,
    pub(crate) env_value: Word,
    pub(crate) add_env: Word,
    pub(crate) remove_env: Named,
    pub(crate) storage: Word,
    pub(crate) storage_hint: Word,
    pub(crate) code_dir: Word,
    pub(crate) code_dir_hint: Word,
    pub(crate) data_dir: Word,
    pub(crate) output_dir: Word,
    pub(crate) output_dir_hint: Word,
    pub(crate) auth_file: Word,
    pub(crate) auth_file_hint: Word,
    pub(crate) more: Word,
    pub(crate) task_retries: Word,
    pub(crate) task_retries_hint: Word,
    pub(crate) declared: super::words_declared::Declared,
}

/// What a folded task role says of itself, as it stands in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RoleSummary {
    pub(crate) tasks: String,
    pub(crate) cpus: String,
    pub(crate) memory_mb: String,
    pub(crate) gpus: String,
}

impl RoleSummary {
    /// What each task gets, as far as that stands in the text: of cores, memory and GPUs.
    pub(crate) fn each(&self, units: [&str; 3], comma: &str) -> String {
        let amounts = [&self.cpus, &self.memory_mb, &self.gpus].into_iter().zip(units);
        let known = amounts.filter(|(amount, _)| !amount.is_empty());
        known.map(|(amount, unit)| format!("{amount} {unit}")).collect::<Vec<_>>().join(comma)
    }
}

/// The column beside the form.
#[derive(Debug)]
pub(crate) struct Rail {
    pub(crate) title: Word,
    pub(crate) problems: Counted,
    pub(crate) place: fn(u32, u32) -> String,
    pub(crate) allowed: Named,
    pub(crate) warnings: Word,
    pub(crate) fits_now: fn(&[NodeName]) -> String,
    /// Where all nodes on which it fits are in one place.
    pub(crate) fits_at: Named,
    pub(crate) waits: Word,
    pub(crate) never: Word,
    /// Where it fits on what is lent.
    pub(crate) fits_lent: Word,
    pub(crate) position: fn(u32, &str) -> String,
    pub(crate) check_failed: Word,
    pub(crate) refused: Word,
    pub(crate) available: Word,
    pub(crate) running: Counted,
    pub(crate) waiting: Counted,
    pub(crate) no_cluster: Word,
    pub(crate) not_usable: Word,
    pub(crate) no_gpus: Word,
}
