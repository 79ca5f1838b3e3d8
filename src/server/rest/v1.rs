//! Version 1, flat and by user.

mod jobs;
mod log_page;
mod virtual_clusters;
pub(crate) mod wire;

use crate::rest::doors::{Door, Doors, any, get, put};
use crate::rest::media::{BYTES, JSON, TEXT, YAML};
use crate::rest::message::Message;
use crate::rest::v2::users::changes;
use crate::rest::{ssh, task_files, token, v2};
use crate::terminal;

pub(super) fn routes() -> Doors {
    Doors::new()
        .route("/", any(v2::info))
        .nest("/token", token::routes())
        .nest("/authn", v2::authn())
        .route("/jobs", get(jobs::list).post(jobs::submit).gives::<Message>(202))
        .route("/jobs/{name}", of_job())
        .route(
            "/jobs/{name}/config",
            get(jobs::config).sends(200, YAML).sends(200, JSON).sends(200, TEXT),
        )
        .route("/jobs/{name}/executionType", put(jobs::execute).gives::<Message>(202))
        .route("/jobs/{name}/logs", get(jobs::logs).sends(200, TEXT))
        .route("/jobs/{name}/ssh", get(ssh::of_name))
        .route("/jobs/{name}/ssh/key", get(ssh::key_of_name).sends(200, BYTES))
        .route("/jobs/{name}/terminal", get(terminal::of_name).says(101))
        .nest("/user", v2::people().route("/", of_users()).route("/{user}/githubPAT", at_github()))
        .nest("/user/{user}/jobs", by_user())
        .route("/kubernetes/nodes", get(v2::kubernetes::nodes))
        .route("/kubernetes/pods", get(v2::kubernetes::pods))
        .route("/virtual-clusters", get(virtual_clusters::list))
        .route("/virtual-clusters/{name}", of_virtual_cluster())
        .route(
            "/virtual-clusters/{name}/status",
            put(v2::cluster::set_status).gives::<Message>(201),
        )
}

fn of_job() -> Door {
    let submit = get(jobs::get).put(jobs::submit_named).gives::<Message>(202);
    submit.delete(jobs::remove).gives::<Message>(202)
}

fn of_users() -> Door {
    put(changes::put).gives::<Message>(201).delete(changes::remove)
}

fn at_github() -> Door {
    put(changes::set_at_github).gives::<Message>(201)
}

fn of_virtual_cluster() -> Door {
    let save = get(virtual_clusters::get).put(virtual_clusters::save).gives::<Message>(201);
    save.delete(virtual_clusters::remove).gives::<Message>(201)
}

fn by_user() -> Doors {
    let submit = get(jobs::get_of_user).put(jobs::submit_named_of_user).gives::<Message>(202);
    Doors::new()
        .route("/", get(jobs::list_of_user).post(jobs::submit_of_user).gives::<Message>(202))
        .route("/{name}", submit.delete(jobs::remove_of_user).gives::<Message>(202))
        .route(
            "/{name}/config",
            get(jobs::config_of_user).sends(200, YAML).sends(200, JSON).sends(200, TEXT),
        )
        .route("/{name}/executionType", put(jobs::execute_of_user).gives::<Message>(202))
        .route("/{name}/logs", get(jobs::logs_of_user).sends(200, TEXT))
        .route("/{name}/logs/{role}/{index}", get(log_page::log))
        .route("/{name}/logs/{role}/{index}/{file}", get(log_page::file))
        .route("/{name}/ssh", get(ssh::of_user))
        .route("/{name}/ssh/key", get(ssh::key_of_user).sends(200, BYTES))
        .route("/{name}/terminal", get(terminal::of_user).says(101))
        .route("/{name}/files", get(task_files::read).sends(200, BYTES).put(task_files::write))
}
