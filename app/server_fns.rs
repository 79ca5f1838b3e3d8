//! What pages ask of the server: each function finds who asks and calls the contract.

pub(crate) mod audit;
pub(crate) mod checked;
pub(crate) mod compare;
pub(crate) mod files;
pub(crate) mod groups;
pub(crate) mod home;
pub(crate) mod images;
pub(crate) mod jobs;
pub(crate) mod logs;
pub(crate) mod metrics;
pub(crate) mod names;
pub(crate) mod nodes;
pub(crate) mod notifications;
pub(crate) mod preferences;
pub(crate) mod quarantine;
pub(crate) mod queue;
pub(crate) mod reads;
pub(crate) mod saved_views;
pub(crate) mod servers;
pub(crate) mod ssh;
pub(crate) mod storages;
pub(crate) mod submit;
pub(crate) mod templates;
pub(crate) mod usage;
pub(crate) mod users;
pub(crate) mod virtual_clusters;
