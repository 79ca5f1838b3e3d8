//! Components that pages are composed of.
//!
//! What shows a closure is compiled once more for each, and the browser loads that code. Closures that are
//! written into a view, `{move || lines()}`, are of one type for all that give the same; one that is put
//! in by its name, `{lines}`, has a type of its own.

pub(crate) mod about;
pub(crate) mod alternatives;
pub(crate) mod ask;
pub(crate) mod changed_lines;
pub(crate) mod charts;
pub(crate) mod choice_field;
pub(crate) mod clipboard;
pub(crate) mod clock;
pub(crate) mod condition_chip;
pub(crate) mod confirm;
pub(crate) mod copy;
pub(crate) mod copy_button;
pub(crate) mod drain;
pub(crate) mod duration;
pub(crate) mod editor;
pub(crate) mod empty_state;
pub(crate) mod exit_line;
pub(crate) mod failure;
pub(crate) mod field;
pub(crate) mod finder;
pub(crate) mod form_errors;
pub(crate) mod frame;
pub(crate) mod free_list;
pub(crate) mod free_now;
pub(crate) mod glyph;
pub(crate) mod gpu_cells;
pub(crate) mod gpu_meter;
pub(crate) mod image_table;
pub(crate) mod job_row;
pub(crate) mod key_list;
pub(crate) mod keys;
pub(crate) mod loaded;
pub(crate) mod loading;
pub(crate) mod meter;
pub(crate) mod nav;
pub(crate) mod outage;
pub(crate) mod page_header;
pub(crate) mod pagination;
pub(crate) mod preferences;
pub(crate) mod quarantine;
pub(crate) mod relative_time;
pub(crate) mod request_id;
pub(crate) mod row_keys;
pub(crate) mod row_search;
pub(crate) mod script;
pub(crate) mod search_form;
pub(crate) mod selection;
pub(crate) mod send_form;
pub(crate) mod servers;
pub(crate) mod sign_in_again;
pub(crate) mod sign_in_words;
pub(crate) mod single_keys;
pub(crate) mod spark;
pub(crate) mod state_cell;
pub(crate) mod state_chip;
pub(crate) mod step_keys;
pub(crate) mod table;
pub(crate) mod tag_list;
pub(crate) mod terminal;
pub(crate) mod text_area;
pub(crate) mod wait_facts;
pub(crate) mod wait_line;
