//! Version 2.

mod alerts;
mod attempts;
pub(crate) mod cluster;
mod events;
mod files;
mod groups;
mod images;
pub(crate) mod jobs;
pub(crate) mod kubernetes;
mod metrics;
mod nodes;
mod public_keys;
mod quarantine;
mod queue;
mod resources;
mod servers;
mod storages;
mod uploads;
pub(crate) mod users;
pub(crate) mod wire;

use api::groups::Granted;
use api::{Actor, ErrorCode};
use axum::http::HeaderValue;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, delete, get, post, put};
use axum::{Json, Router};
use protocol::ids::{JobKey, VirtualClusterName};
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
        .nest("/tokens", token::routes())
        .nest("/authn", authn())
        .route("/jobs", get(jobs::list).post(jobs::submit))
        .route("/jobs/{key}", get(jobs::get).delete(jobs::remove))
        .route("/jobs/{key}/config", get(jobs::config))
        .route("/jobs/{key}/executionType", put(jobs::execute))
        .route("/jobs/{key}/logs", get(jobs::logs))
        .route("/jobs/{key}/logs/lines", get(jobs::log_lines))
        .route("/jobs/{key}/logs/together", get(jobs::log_together))
        .route("/jobs/{key}/logs/search", get(jobs::log_search))
        .route("/jobs/{key}/metrics", get(metrics::of_job))
        .route("/jobs/{key}/queue", get(queue::explain).put(queue::change))
        .route("/jobs/{key}/tag", put(jobs::add_tag).delete(jobs::remove_tag))
        .route("/jobs/{key}/keep", put(jobs::keep))
        .route("/jobs/{key}/events", get(events::list))
        .route("/jobs/{key}/job-attempts", get(attempts::list))
        .route("/jobs/{key}/job-attempts/healthz", get(attempts::healthy))
        .route("/jobs/{key}/job-attempts/{attempt}", get(attempts::get))
        .route("/jobs/{key}/attempts/{attempt}", get(attempts::job))
        .nest("/jobs/{key}/attempts/{attempt}/taskRoles/{role}/taskIndex/{index}", of_task())
        .route("/jobs/{key}/ssh", get(ssh::of_key))
        .route("/jobs/{key}/ssh/key", get(ssh::key_of_key))
        .route("/jobs/{key}/terminal", get(terminal::of_key))
        .route("/jobs/{key}/tasks/{role}/{index}/image", get(images::size).post(images::save))
        .route("/idle-jobs", get(jobs::idle))
        .route("/images", get(images::list))
        .route("/images/{id}", delete(images::remove))
        .route("/audit", get(audit::list))
        .route("/usage", get(jobs::usage))
        .route("/usage.csv", get(jobs::usage_table))
        .route("/virtual-clusters", get(cluster::virtual_clusters))
        .route(
            "/virtual-clusters/{name}",
            get(cluster::virtual_cluster)
                .put(queue::save_virtual_cluster)
                .delete(cluster::remove_virtual_cluster),
        )
        .route("/virtual-clusters/{name}/status", put(cluster::set_status))
        .route("/virtual-clusters/{name}/sku-types", get(resources::sku_types_of))
        .route("/cluster/sku-types", get(resources::sku_types))
        .route("/alerts", get(alerts::list))
        .route("/kubernetes/nodes", get(kubernetes::nodes))
        .route("/kubernetes/pods", get(kubernetes::pods))
        .route("/storages", get(storages::list))
        .route("/storages/{name}", get(storages::get).put(storages::save).delete(storages::remove))
        .route("/nodes", get(nodes::list))
        .route("/nodes/{name}", get(nodes::get).put(nodes::save).delete(nodes::remove))
        .route("/nodes/{name}/settings", get(nodes::settings))
        .route("/nodes/{name}/metrics", get(metrics::of_node))
        .route("/nodes/{name}/drain", put(nodes::drain))
        .route("/nodes/{name}/gpus", post(nodes::probe))
        .route("/quarantine", get(quarantine::list))
        .route("/quarantine/{node}/{container}", put(quarantine::stop).delete(quarantine::remove))
        .route("/servers", get(servers::list))
        .route("/files", get(files::root))
        .route("/files/", get(files::root))
        .route("/files/{*path}", get(files::get).put(files::put).delete(files::remove))
        .route("/uploads/{*path}", get(uploads::get).patch(uploads::patch))
        .route("/public-keys", get(public_keys::list).post(public_keys::add))
        .route("/public-keys/{id}", delete(public_keys::remove))
        .nest("/users", people().route("/", put(users::changes::update)))
        .nest("/user", people().route("/", put(users::changes::update)))
        .nest("/groups", of_groups())
        .nest("/group", of_groups())
}

/// What a task did in one attempt of its job.
fn of_task() -> Router<AppState> {
    Router::new()
        .route("/attempts", get(attempts::task))
        .route("/attempts/{run}/logs", get(attempts::logs))
}

/// Signing in and out.
pub(super) fn authn() -> Router<AppState> {
    Router::new()
        .route("/info", get(oidc::info))
        .route("/basic/login", post(token::create))
        .route("/basic/logout", delete(token::end))
        .route("/oidc/login", get(oidc::login))
}

/// Users, by either of the names that OpenPAI had for them.
pub(super) fn people() -> Router<AppState> {
    Router::new()
        .route("/", get(users::list).post(users::create))
        .route("/{user}", get(users::get).put(users::changes::update_own).delete(users::remove))
        .route("/{user}/password", put(users::set_password))
        .route("/{user}/admin", put(users::set_admin))
        .route("/{user}/email", put(users::changes::set_email))
        .route("/{user}/extension", put(users::changes::extend))
        .route("/{user}/virtualcluster", put(users::changes::set_virtual_clusters))
        .route("/{user}/virtualClusters", put(users::changes::set_listed))
        .route("/{user}/access", delete(users::end_access))
        .route("/{user}/grouplist", put(groups::set))
        .route("/{user}/group", put(groups::add).delete(groups::remove))
}

fn of_groups() -> Router<AppState> {
    let root = get(groups::list).post(groups::changes::create).put(groups::changes::update);
    Router::new()
        .route("/", root)
        .route("/{name}", get(groups::get).delete(groups::changes::remove))
        .route("/{name}/userlist", get(groups::members))
        .route("/{name}/extension", put(groups::changes::extend))
        .route("/{name}/extension/{*path}", put(groups::changes::set_attribute))
        .route("/{name}/description", put(groups::changes::describe))
        .route("/{name}/externalname", put(groups::changes::name_externally))
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Info {
    name: &'static str,
    version: &'static str,
    /// OpenPAI's word for servers that take version 2, which its clients look for.
    launcher_type: &'static str,
    authn_method: &'static str,
}

/// `GET /info`.
pub(crate) async fn info() -> Json<Info> {
    Json(Info {
        name: "Berth RESTful API",
        version: env!("CARGO_PKG_VERSION"),
        launcher_type: "k8s",
        authn_method: "basic",
    })
}

/// The words that jobs take.
const STOP: &str = "STOP";
const START: &str = "START";
/// Of a job that is to start again.
const NOT_STARTED: &str = "a stopped job is not started again: submit a clone";

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

    /// Stops a job, or leaves it as it is: one that was stopped is submitted again. Says what is
    /// worth knowing.
    pub(crate) async fn of(
        &self,
        state: &AppState,
        actor: &Actor,
        key: &JobKey,
    ) -> Result<Option<&'static str>, Failure> {
        match self.value.as_str() {
            STOP => {
                state.backend.jobs.stop(actor, key).await?;
                Ok(None)
            }
            START => {
                let detail = state.backend.jobs.get(actor, key).await?;
                if !detail.may_manage {
                    let user = &actor.user;
                    let message = format!("User {user} is not allowed to execute job {key}.");
                    return Err(Failure::new(ErrorCode::ForbiddenUserError, message));
                }
                let ends = detail.summary.stop_requested || detail.summary.state.is_final();
                Ok(ends.then_some(NOT_STARTED))
            }
            _ => Err(self.refused()),
        }
    }

    /// Stopping is all that can be asked for of a container.
    pub(crate) fn require_stop(&self) -> Result<(), Failure> {
        if self.value == STOP { Ok(()) } else { Err(self.refused()) }
    }

    fn refused(&self) -> Failure {
        let message = format!(
            "value: {:?} is not allowed here; allowed is STOP (a stopped job is not started \
             again: submit a clone)",
            self.value
        );
        Failure::new(ErrorCode::InvalidParametersError, message)
    }
}

/// An answer that says what somebody may use beside what he was given.
fn beside(granted: &Granted, answer: impl IntoResponse) -> Response {
    let names: Vec<_> = granted.beside.iter().map(VirtualClusterName::as_str).collect();
    if names.is_empty() {
        return answer.into_response();
    }
    let names = names.join(", ");
    let hint = "a virtual cluster that names nobody is everybody's, and one may name a group";
    warned(answer, &format!("may be used nevertheless: {names}; {hint}"))
}

/// An answer with something that is worth knowing.
pub(crate) fn warned(answer: impl IntoResponse, warning: &str) -> Response {
    let mut answer = answer.into_response();
    if let Ok(warning) = HeaderValue::from_bytes(warning.as_bytes()) {
        answer.headers_mut().append("x-warning", warning);
    }
    answer
}

/// There is no virtual cluster of that name, because there can be none.
pub(crate) fn not_a_virtual_cluster(name: &str) -> Failure {
    Failure::new(ErrorCode::NoVirtualClusterError, format!("Virtual cluster {name} is not found."))
}
