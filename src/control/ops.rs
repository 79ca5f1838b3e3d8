//! What people ask for. Each operation checks that the actor may, stores desired state, and rings
//! the loops' bells; none of them touches an engine.

pub(crate) mod audit;
pub(crate) mod changes;
pub(crate) mod files;
pub(crate) mod groups;
pub(crate) mod images;
pub(crate) mod jobs;
pub(crate) mod logs;
pub(crate) mod nodes;
pub(crate) mod proxy;
pub(crate) mod queue;
pub(crate) mod sign_ins;
pub(crate) mod ssh;
pub(crate) mod submit;
pub(crate) mod task_files;
pub(crate) mod terminals;
pub(crate) mod users;
pub(crate) mod virtual_clusters;

mod alternatives;
mod answers;
mod effects;
mod node_map;
mod tasks;
mod views;

use api::{Actor, Error, ErrorCode, Result};

/// Refuses everybody but administrators.
pub(crate) fn administrators_only(actor: &Actor) -> Result<()> {
    if actor.admin {
        return Ok(());
    }
    Err(Error::new(ErrorCode::ForbiddenUserError, "only administrators may do this"))
}

/// Refuses everybody but the owner and administrators.
pub(crate) fn owner_only(actor: &Actor, owner: &protocol::ids::UserName, what: &str) -> Result<()> {
    if actor.admin || actor.user == *owner {
        return Ok(());
    }
    let message = format!("only {owner} and administrators may {what}");
    Err(Error::new(ErrorCode::ForbiddenUserError, message))
}
