//! Version 1, flat and by user.

mod jobs;
mod virtual_clusters;
pub(crate) mod wire;

use axum::Router;
use axum::routing::{any, get, put};

use crate::rest::v2::users::changes;
use crate::rest::{ssh, task_files, token, v2};
use crate::state::AppState;
use crate::terminal;

pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/", any(v2::info))
        .nest("/token", token::routes())
        .nest("/authn", v2::authn())
        .route("/jobs", get(jobs::list).post(jobs::submit))
        .route("/jobs/{name}", get(jobs::get).put(jobs::submit_named).delete(jobs::remove))
        .route("/jobs/{name}/config", get(jobs::config))
        .route("/jobs/{name}/executionType", put(jobs::execute))
        .route("/jobs/{name}/logs", get(jobs::logs))
        .route("/jobs/{name}/ssh", get(ssh::of_name))
        .route("/jobs/{name}/ssh/key", get(ssh::key_of_name))
        .route("/jobs/{name}/terminal", get(terminal::of_name))
        .nest("/user", v2::people().route("/", put(changes::put).delete(changes::remove)))
        .nest("/user/{user}/jobs", by_user())
        .route("/kubernetes/nodes", get(v2::kubernetes::nodes))
        .route("/kubernetes/pods", get(v2::kubernetes::pods))
        .route("/virtual-clusters", get(virtual_clusters::list))
        .route(
            "/virtual-clusters/{name}",
            get(virtual_clusters::get)
                .put(virtual_clusters::save)
                .delete(v2::cluster::remove_virtual_cluster),
        )
        .route("/virtual-clusters/{name}/status", put(v2::cluster::set_status))
}

fn by_user() -> Router<AppState> {
    Router::new()
        .route("/", get(jobs::list_of_user).post(jobs::submit_of_user))
        .route(
            "/{name}",
            get(jobs::get_of_user).put(jobs::submit_named_of_user).delete(jobs::remove_of_user),
        )
        .route("/{name}/config", get(jobs::config_of_user))
        .route("/{name}/executionType", put(jobs::execute_of_user))
        .route("/{name}/logs", get(jobs::logs_of_user))
        .route("/{name}/ssh", get(ssh::of_user))
        .route("/{name}/ssh/key", get(ssh::key_of_user))
        .route("/{name}/terminal", get(terminal::of_user))
        .route("/{name}/files", get(task_files::read).put(task_files::write))
}
