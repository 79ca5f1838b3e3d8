use api::job_filter::{self, Key};

use crate::i18n::en::pages::plural;
use crate::i18n::words_lists::{Compare, Finding, Many, Map, Views};
use crate::number::count;

pub(super) const FINDING: Finding = Finding {
    words: "Words of the filter",
    remove_word: |word| format!("Take {word} out of the filter"),
    suggestions: "What may be written next",
    not_filtered: "Nothing is shown until the filter can be read",
    bad_key: |word| {
        let keys = Key::ALL.map(|key| format!("{}:", key.as_str())).join(" ");
        format!("“{word}” is no filter. Allowed are {keys} and words without a colon.")
    },
    bad_value: |word, allowed| format!("“{word}” cannot be read. Allowed: {allowed}."),
    allowed: job_filter::allowed,
    elsewhere: |n| format!("{} not on this page", count(n)),
    unselect: "Clear selection",
    and_more: |n| format!("and {} more", count(n)),
};

pub(super) const MANY: Many = Many {
    again: |n| format!("Run {} again", plural(n, "job", "jobs")),
    again_text: "Each is submitted once more as it was written, as a job of yours under a new name. The jobs themselves stay as they are.",
    again_done: |n| format!("{} submitted again", plural(n, "job was", "jobs were")),
    priority: |n| format!("Set the priority of {}", plural(n, "job", "jobs")),
    priority_text: "Those that wait go before others of a lower priority from now on, and after those of a higher one. Jobs that run stay as they are.",
    tag: |n| format!("Tag {}", plural(n, "job", "jobs")),
    tag_text: "Each gets the tag, beside those that it has.",
    untag: |n| format!("Take a tag off {}", plural(n, "job", "jobs")),
    untag_text: "Each loses the tag; its other tags stay.",
    which_tag: "Which tag",
    changed: |n| format!("{} changed", plural(n, "job was", "jobs were")),
    refused: |n| format!("{} left as before", plural(n, "job was", "jobs were")),
};

pub(super) const VIEWS: Views = Views {
    title: "Saved views",
    save: "Save this view…",
    save_text: "The filter, whose jobs and the order are kept under a name, for you alone. A name that is there already gets them instead of what it had.",
    name: "Name of the view",
    name_of: |name| format!("New name of {name}"),
    rename: |name| format!("Rename {name}"),
    rename_short: "Rename",
    remove: |name| format!("Remove {name}"),
    removed: "Removed.",
    close: "Close",
};

pub(super) const COMPARE: Compare = Compare {
    title: "Compare jobs",
    short: "Compare",
    many: |n| format!("Compare {}", plural(n, "job", "jobs")),
    most: |n| format!("At most {n} jobs can be compared."),
    left_out: "Take some away to see these:",
    jobs: "Jobs that are compared",
    remove: |job| format!("Take {job} out of the comparison"),
    add: "Add a job",
    add_hint: "USER~JOB, or the name of one of yours",
    none: "No jobs are chosen",
    none_hint: "Choose two to six jobs in the list, or add them here by their names.",
    second: "Add a second job to see in what the two differ.",
    runs: "How they went",
    what: "What",
    differs: "differs",
    attempts: "Attempts",
    any_type: "any type",
    peak_memory: "Memory of a task at most",
    peak_gpu_memory: "Memory of a GPU at most",
    hidden: "only its owner sees this",
    files: "What their files say",
    no_differences: "The job files differ in nothing but the names of the jobs.",
    not_set: "not set",
    same: "the same",
    much: "More differs than is compared line by line:",
    show_all: |n| format!("Show all settings ({} more)", count(n)),
    show_differing: "Show only what differs",
};

pub(super) const MAP: Map = Map {
    none_match: "No node matches",
    search: "Search nodes",
    search_hint: "Name, type, rack=3, user or job",
    face: "View",
    map: "Map",
    table: "Table",
    only: "Show",
    only_all: "All",
    only_free: "With free GPUs",
    only_faulty: "With faults",
    only_idle: "With idle GPUs that are held",
    group: "Group",
    group_none: "None",
    group_type: "GPU type",
    no_group: "Without a group",
    colour: "Colour",
    by_held: "Share allocated",
    by_job: "Job",
    by_user: "User",
    by_load: "Load",
    by_memory: "Memory",
    by_temperature: "Temperature",
    load_of: |percent| format!("load {percent}\u{202f}%"),
    memory_of: |percent| format!("memory {percent}\u{202f}%"),
    degrees_of: |degrees| format!("{degrees}\u{202f}°C"),
    idle: "Held but idle",
    not_measured: "Not measured",
    legend: "What the colours mean",
    trouble_first: "Nodes that do not answer, are closed, have faults or are drained come first",
    held_part: "Partly allocated",
    held_whole: "Allocated",
    held_by: "Held by",
    others: "Others",
    free_gpus: "Free GPUs",
    free_of: |free, total| format!("{free} of {total}"),
};
