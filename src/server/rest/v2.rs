//! Version 2.

pub(crate) mod cluster;
mod events;
mod files;
mod groups;
mod images;
pub(crate) mod jobs;
mod nodes;
mod public_keys;
mod quarantine;
mod queue;
mod uploads;
pub(crate) mod users;
pub(crate) mod wire;

use api::ErrorCode;
use axum::routing::{any, delete, get, post, put};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};

use crate::auth::oidc;
use crate::failure::Failure;
use crate::rest::{audit, ssh, token};
use crate::state::AppState;
use crate::terminal;

pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/", any(info))
        .route("/info", get(info))
        .route("/tokens", post(token::create))
        .route("/authn/basic/login", post(token::create))
        .route("/jobs", get(jobs::list).post(jobs::submit))
        .route("/jobs/{key}", get(jobs::get).delete(jobs::remove))
        .route("/jobs/{key}/config", get(jobs::config))
        .route("/jobs/{key}/executionType", put(jobs::execute))
        .route("/jobs/{key}/logs", get(jobs::logs))
        .route("/jobs/{key}/logs/lines", get(jobs::log_lines))
        .route("/jobs/{key}/logs/together", get(jobs::log_together))
        .route("/jobs/{key}/logs/search", get(jobs::log_search))
        .route("/jobs/{key}/queue", get(queue::explain).put(queue::change))
        .route("/jobs/{key}/events", get(events::list))
        .route("/jobs/{key}/ssh", get(ssh::of_key))
        .route("/jobs/{key}/ssh/key", get(ssh::key_of_key))
        .route("/jobs/{key}/terminal", get(terminal::of_key))
        .route("/jobs/{key}/tasks/{role}/{index}/image", get(images::size).post(images::save))
        .route("/images", get(images::list))
        .route("/images/{id}", delete(images::remove))
        .route("/audit", get(audit::list))
        .route("/usage", get(jobs::usage))
        .route("/virtual-clusters", get(cluster::virtual_clusters))
        .route(
            "/virtual-clusters/{name}",
            get(cluster::virtual_cluster).put(queue::save_virtual_cluster),
        )
        .route("/nodes", get(nodes::list))
        .route("/nodes/{name}", get(nodes::get).put(nodes::save).delete(nodes::remove))
        .route("/nodes/{name}/settings", get(nodes::settings))
        .route("/nodes/{name}/drain", put(nodes::drain))
        .route("/nodes/{name}/gpus", post(nodes::probe))
        .route("/quarantine", get(quarantine::list))
        .route("/quarantine/{node}/{container}", put(quarantine::stop).delete(quarantine::remove))
        .route("/files", get(files::root))
        .route("/files/", get(files::root))
        .route("/files/{*path}", get(files::get).put(files::put).delete(files::remove))
        .route("/uploads/{*path}", get(uploads::get).patch(uploads::patch))
        .route("/public-keys", get(public_keys::list).post(public_keys::add))
        .route("/public-keys/{id}", delete(public_keys::remove))
        .route("/users", get(users::list).post(users::create))
        .route("/users/{name}", get(users::get).delete(users::remove))
        .route("/users/{name}/password", put(users::set_password))
        .route("/users/{name}/admin", put(users::set_admin))
        .route("/users/{name}/access", delete(users::end_access))
        .route("/users/{name}/grouplist", put(groups::set))
        .route("/users/{name}/group", put(groups::add).delete(groups::remove))
        .route("/groups", get(groups::list))
        .route("/groups/{name}", get(groups::get))
        .route("/groups/{name}/userlist", get(groups::members))
        .route("/authn/info", get(oidc::info))
        .route("/authn/oidc/login", get(oidc::login))
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Info {
    name: &'static str,
    version: &'static str,
    launcher_type: &'static str,
    authn_method: &'static str,
}

/// `GET /info`.
pub(crate) async fn info() -> Json<Info> {
    Json(Info {
        name: "Berth RESTful API",
        version: env!("CARGO_PKG_VERSION"),
        launcher_type: "berth",
        authn_method: "basic",
    })
}

/// The one word that jobs take.
const STOP: &str = "STOP";

/// `{"value": "STOP"}`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Execution {
    value: String,
}

impl Execution {
    /// Asks to stop.
    pub(crate) fn stop() -> Self {
        Self { value: STOP.to_owned() }
    }

    /// Stopping is all that can be asked for: a job that has stopped is submitted again.
    pub(crate) fn require_stop(&self) -> Result<(), Failure> {
        if self.value == STOP {
            return Ok(());
        }
        let message = format!(
            "value: {:?} is not allowed here; allowed is STOP (a stopped job is not started \
             again: submit a clone)",
            self.value
        );
        Err(Failure::new(ErrorCode::InvalidParametersError, message))
    }
}

/// There is no virtual cluster of that name, because there can be none.
pub(crate) fn not_a_virtual_cluster(name: &str) -> Failure {
    Failure::new(ErrorCode::NoVirtualClusterError, format!("Virtual cluster {name} is not found."))
}
