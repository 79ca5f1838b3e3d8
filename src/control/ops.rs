//! What people ask for. Each operation checks that the actor may, stores desired state, and wakes
//! the loops; none of them touches an engine.

pub(crate) mod audit;
pub(crate) mod changes;
pub(crate) mod files;
pub(crate) mod groups;
pub(crate) mod images;
pub(crate) mod jobs;
pub(crate) mod logs;
pub(crate) mod metrics;
pub(crate) mod nodes;
pub(crate) mod notifications;
pub(crate) mod proxy;
pub(crate) mod quarantine;
pub(crate) mod queue;
pub(crate) mod saved_views;
pub(crate) mod servers;
pub(crate) mod sign_ins;
pub(crate) mod ssh;
pub(crate) mod storages;
pub(crate) mod submit;
pub(crate) mod task_files;
pub(crate) mod templates;
pub(crate) mod terminals;
pub(crate) mod trials;
pub(crate) mod users;
pub(crate) mod virtual_clusters;

mod alternatives;
mod answers;
mod effects;
mod grants;
mod limits;
mod node_map;
mod outlines;
mod tasks;
mod uses;
mod views;
