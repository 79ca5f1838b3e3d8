//! Components that pages are composed of.

pub(crate) mod clock;
pub(crate) mod confirm;
pub(crate) mod copy;
pub(crate) mod duration;
pub(crate) mod editor;
pub(crate) mod empty_state;
pub(crate) mod exit_line;
pub(crate) mod failure;
pub(crate) mod field;
pub(crate) mod form;
pub(crate) mod form_errors;
pub(crate) mod frame;
pub(crate) mod glyph;
pub(crate) mod gpu_cells;
pub(crate) mod loaded;
pub(crate) mod loading;
pub(crate) mod meter;
pub(crate) mod nav;
pub(crate) mod page_header;
pub(crate) mod pagination;
pub(crate) mod preferences;
pub(crate) mod relative_time;
pub(crate) mod state_chip;
pub(crate) mod wait_line;
