//! What the pages say of saved images.

use protocol::image::ImageState;

type Word = &'static str;
type Named = fn(&str) -> String;

/// Images saved from containers.
#[derive(Debug)]
pub(crate) struct Images {
    pub(crate) title: Word,
    pub(crate) hint: Word,
    pub(crate) none: Word,
    /// The button of a task.
    pub(crate) save: Word,
    pub(crate) dialog_title: Named,
    pub(crate) dialog_text: Word,
    pub(crate) size: fn(&str, &str) -> String,
    pub(crate) measuring: Word,
    pub(crate) name: Word,
    pub(crate) name_hint: Word,
    pub(crate) tag: Word,
    pub(crate) tag_hint: Word,
    pub(crate) registry: Word,
    pub(crate) registry_hint: Word,
    pub(crate) auth_file: Word,
    pub(crate) auth_file_hint: Word,
    pub(crate) begin: Word,
    pub(crate) begun: Word,
    pub(crate) image: Word,
    pub(crate) from: Word,
    pub(crate) remove_title: Named,
    pub(crate) remove_text: Word,
    pub(crate) removed: Word,
    /// The word of a state.
    pub(crate) state: fn(ImageState) -> Word,
}
