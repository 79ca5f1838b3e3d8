//! The words everyone speaks: ids, resources, job states, the five job-file dialects and the one
//! canonical [`spec::JobSpec`] they become.
//!
//! No I/O, no clock, no randomness: this crate runs in the browser as well as on the server.

pub mod again;
pub mod amount;
pub mod architecture;
pub mod calendar;
pub mod cluster;
mod deadline;
pub mod document;
pub mod edit;
pub mod environment;
pub mod epoch;
pub mod exit;
pub mod fields;
pub mod gpus;
mod grace;
pub mod guest;
pub mod health;
pub mod ids;
pub mod image;
pub mod jobs;
pub mod json;
pub mod lead;
pub mod lease;
mod limit;
pub mod limits;
mod node_selector;
pub mod notifications;
pub mod order;
pub mod parse;
pub mod person;
pub mod placement;
pub mod plugins;
pub mod problem;
mod references;
pub mod render;
pub mod resources;
pub mod schema;
pub mod secrets;
pub mod sensitive;
pub mod shares;
pub mod spec;
pub mod state;
pub mod storages;
pub mod tagged;
pub mod time;
mod topology;
pub mod trouble;
pub mod wait;
pub mod words;
