//! What a catalogue must say about files.

type Word = &'static str;
type Counted = fn(u64) -> String;
type Named = fn(&str) -> String;

/// Users' files.
#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) title: Word,
    pub(crate) root: Word,
    pub(crate) way: Word,
    pub(crate) table: Word,
    pub(crate) name: Word,
    pub(crate) size: Word,
    pub(crate) modified: Word,
    pub(crate) owner: Word,
    pub(crate) actions: Word,
    pub(crate) everybody: Word,
    pub(crate) empty: Word,
    pub(crate) empty_hint: Word,
    pub(crate) read_only: Word,
    pub(crate) new_folder: Word,
    pub(crate) folder_name: Word,
    pub(crate) create: Word,
    pub(crate) made: Word,
    pub(crate) rename: Word,
    pub(crate) rename_title: Named,
    pub(crate) rename_text: Word,
    pub(crate) new_name: Word,
    pub(crate) renamed: Word,
    pub(crate) remove_title: Named,
    pub(crate) remove_file: Word,
    pub(crate) remove_folder: Word,
    pub(crate) removed: Word,
    pub(crate) drop: Word,
    pub(crate) drop_hint: Word,
    pub(crate) choose_files: Word,
    pub(crate) choose_folder: Word,
    pub(crate) replace: Word,
    pub(crate) sending: fn(u64, u64) -> String,
    pub(crate) sent: Counted,
    pub(crate) not_sent: Counted,
    pub(crate) progress: Word,
    pub(crate) exists: Word,
    pub(crate) broken: Word,
    pub(crate) as_code: Word,
    pub(crate) as_code_hint: Word,
    pub(crate) more: Word,
    pub(crate) preview: Named,
    pub(crate) no_preview: Word,
    pub(crate) used: Named,
    pub(crate) used_label: Word,
}
