//! What is said of long lists: how jobs are found and chosen, and the map and table of nodes.

use api::job_filter::Key;

/// A word or a sentence.
type Word = &'static str;
/// A sentence with a number in it.
type Counted = fn(u64) -> String;
/// A sentence with a name in it.
type Named = fn(&str) -> String;

/// How jobs are found and chosen.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) words: Word,
    pub(crate) remove_word: Named,
    pub(crate) suggestions: Word,
    pub(crate) not_filtered: Word,
    pub(crate) bad_key: Named,
    /// A word of the filter, and what is allowed in its place.
    pub(crate) bad_value: fn(&str, &str) -> String,
    /// What may follow a key of the filter.
    pub(crate) allowed: fn(Key) -> String,
    pub(crate) elsewhere: Counted,
    pub(crate) unselect: Word,
    pub(crate) and_more: Counted,
}

/// What is done with many jobs.
#[derive(Debug)]
pub(crate) struct Many {
    pub(crate) again: Counted,
    pub(crate) again_text: Word,
    pub(crate) again_done: Counted,
    pub(crate) priority: Counted,
    pub(crate) priority_text: Word,
    pub(crate) tag: Counted,
    pub(crate) tag_text: Word,
    pub(crate) untag: Counted,
    pub(crate) untag_text: Word,
    pub(crate) which_tag: Word,
    pub(crate) changed: Counted,
    pub(crate) refused: Counted,
}

/// Named views of the list of jobs.
#[derive(Debug)]
pub(crate) struct Views {
    pub(crate) title: Word,
    pub(crate) save: Word,
    pub(crate) save_text: Word,
    pub(crate) name: Word,
    pub(crate) name_of: Named,
    pub(crate) rename: Named,
    pub(crate) rename_short: Word,
    pub(crate) remove: Named,
    pub(crate) removed: Word,
    pub(crate) close: Word,
}

/// Jobs beside each other.
#[derive(Debug)]
pub(crate) struct Compare {
    pub(crate) title: Word,
    /// What leads there from a job, and from so many.
    pub(crate) short: Word,
    pub(crate) many: Counted,
    /// So many can be compared at most.
    pub(crate) most: Counted,
    /// Heads those that were too many.
    pub(crate) left_out: Word,
    pub(crate) jobs: Word,
    pub(crate) remove: Named,
    pub(crate) add: Word,
    pub(crate) add_hint: Word,
    pub(crate) none: Word,
    pub(crate) none_hint: Word,
    pub(crate) second: Word,
    pub(crate) runs: Word,
    /// What a row is about.
    pub(crate) what: Word,
    pub(crate) differs: Word,
    pub(crate) attempts: Word,
    pub(crate) any_type: Word,
    pub(crate) peak_memory: Word,
    pub(crate) peak_gpu_memory: Word,
    /// What only a job's owner sees.
    pub(crate) hidden: Word,
    pub(crate) files: Word,
    pub(crate) no_differences: Word,
    pub(crate) not_set: Word,
    pub(crate) same: Word,
    pub(crate) much: Word,
    /// So many more settings are the same.
    pub(crate) show_all: Counted,
    pub(crate) show_differing: Word,
}

/// The map and the table of nodes.
#[derive(Debug)]
pub(crate) struct Map {
    pub(crate) none_match: Word,
    pub(crate) search: Word,
    pub(crate) search_hint: Word,
    pub(crate) face: Word,
    pub(crate) map: Word,
    pub(crate) table: Word,
    pub(crate) only: Word,
    pub(crate) only_all: Word,
    pub(crate) only_free: Word,
    pub(crate) only_faulty: Word,
    pub(crate) only_idle: Word,
    pub(crate) group: Word,
    pub(crate) group_none: Word,
    pub(crate) group_type: Word,
    pub(crate) no_group: Word,
    pub(crate) colour: Word,
    pub(crate) by_held: Word,
    pub(crate) by_job: Word,
    pub(crate) by_user: Word,
    pub(crate) by_load: Word,
    pub(crate) by_memory: Word,
    pub(crate) by_temperature: Word,
    /// How busy a GPU is, in percent.
    pub(crate) load_of: fn(u32) -> String,
    /// How full its memory is, in percent.
    pub(crate) memory_of: fn(u32) -> String,
    /// How hot it is, in degrees Celsius.
    pub(crate) degrees_of: fn(u32) -> String,
    /// A GPU that is held and has done nothing for long.
    pub(crate) idle: Word,
    pub(crate) not_measured: Word,
    pub(crate) legend: Word,
    /// In which order nodes stand.
    pub(crate) trouble_first: Word,
    pub(crate) held_part: Word,
    pub(crate) held_whole: Word,
    pub(crate) held_by: Word,
    pub(crate) others: Word,
    pub(crate) free_gpus: Word,
    /// How many are free, and of how many.
    pub(crate) free_of: fn(&str, &str) -> String,
}
