//! Version 2.

mod alerts;
pub(super) mod answers;
mod attempts;
pub(crate) mod cluster;
mod compare;
mod events;
pub(crate) mod execution;
mod files;
mod groups;
mod images;
pub(crate) mod jobs;
pub(crate) mod kubernetes;
mod many;
mod metrics;
mod nodes;
mod notifications;
mod old_storages;
mod public_keys;
mod quarantine;
mod queue;
mod resources;
mod saved_views;
mod servers;
mod storages;
mod templates;
mod uploads;
pub(crate) mod users;
pub(crate) mod wire;

use std::collections::BTreeMap;

use api::files::FolderPage;
use api::images::SavedImageView;
use api::logs::{LogMatches, LogWindow, Together};
use api::queue::Effect;
use api::ssh::PublicKeyView;
use axum::Json;
use protocol::cluster::NodeSettings;
use protocol::ids::NodeName;
use protocol::storages::StorageSettings;
use schemars::JsonSchema;
use serde::Serialize;

use crate::auth::oidc;
use crate::rest::doors::{Door, Doors, any, delete, get, post, put};
use crate::rest::media::{BYTES, CSV, JSON, TEXT, YAML};
use crate::rest::message::Message;
use crate::rest::{audit, ssh, token};
use crate::terminal;
use jobs::Accepted;

/// What answers a `Response` does not say by its type what is in it: it stands here beside it.
pub(super) fn routes() -> Doors {
    Doors::new()
        .route("/", any(info))
        .route("/info", get(info))
        .nest("/tokens", token::routes())
        .nest("/authn", authn())
        .route("/jobs", of_jobs())
        .nest("/jobs/{key}", of_job())
        .route("/idle-jobs", get(jobs::idle))
        .nest("/many-jobs", many::routes())
        .route("/compare", get(compare::jobs))
        .route("/images", get(images::list))
        .route("/images/{id}", delete(images::remove).says(202))
        .route("/audit", get(audit::list))
        .route("/usage", get(jobs::usage))
        .route("/usage.csv", get(jobs::usage_table).sends(200, CSV))
        .route("/virtual-clusters", list_of_virtual_clusters())
        .route("/virtual-clusters/{name}", of_virtual_cluster())
        .route("/virtual-clusters/{name}/status", put(cluster::set_status).gives::<Message>(201))
        .route("/virtual-clusters/{name}/sku-types", get(resources::sku_types_of))
        .route("/cluster/sku-types", get(resources::sku_types))
        .route("/alerts", get(alerts::list))
        .route("/kubernetes/nodes", get(kubernetes::nodes))
        .route("/kubernetes/pods", get(kubernetes::pods))
        .route("/storages", get(storages::list))
        .route("/storages/{name}", of_storage())
        .nest("/storage", of_old_storages())
        .route("/templates", get(templates::list))
        .route("/templates/{name}", of_template())
        .route("/nodes", get(nodes::list))
        .route("/nodes/{name}", of_node())
        .route("/nodes/{name}/settings", get(nodes::settings))
        .route("/nodes/{name}/metrics", get(metrics::of_node))
        .route("/nodes/{name}/drain", changing(put(nodes::drain)))
        .route("/nodes/{name}/gpus", post(nodes::probe).gives::<Accepted>(202))
        .route("/nodes/{name}/pull", post(nodes::try_pull).gives::<Accepted>(202))
        .route("/nodes/{name}/trial", post(nodes::try_with).gives::<Accepted>(202))
        .route("/quarantine", get(quarantine::list))
        .route("/quarantine/{node}/{container}", of_container())
        .nest("/saved-views", saved_views::routes())
        .route("/servers", get(servers::list))
        .route("/files", get(files::root).gives::<FolderPage>(200))
        .route("/files/", get(files::root).gives::<FolderPage>(200))
        .route("/files/{*path}", of_file())
        .route("/uploads/{*path}", of_upload())
        .route("/notifications", get(notifications::get).put(notifications::set))
        .route("/notifications/test", post(notifications::test))
        .route("/public-keys", of_public_keys())
        .route("/public-keys/{id}", delete(public_keys::remove).says(204))
        .nest("/users", people().route("/", update_user()))
        .nest("/user", people().route("/", update_user()))
        .nest("/groups", of_groups())
        .nest("/group", of_groups())
}

fn of_jobs() -> Door {
    let list = get(jobs::list).gives::<Vec<wire::JobItem>>(200).gives::<jobs::Page>(200);
    list.post(jobs::submit).gives::<Accepted>(202)
}

/// What there is of one job.
fn of_job() -> Doors {
    Doors::new()
        .route("/", get(jobs::get).delete(jobs::remove).gives::<Accepted>(202))
        .route("/config", get(jobs::config).sends(200, YAML).sends(200, JSON))
        .route("/executionType", put(jobs::execute).gives::<Accepted>(202))
        .route("/logs", get(jobs::logs).sends(200, TEXT))
        .route("/logs/lines", get(jobs::log_lines).gives::<LogWindow>(200))
        .route("/logs/together", together())
        .route("/logs/together/search", get(jobs::log_search_all))
        .route("/logs/search", get(jobs::log_search).gives::<LogMatches>(200))
        .route("/metrics", get(metrics::of_job))
        .route("/use", get(metrics::use_of_job))
        .route("/queue", changing(get(queue::explain).put(queue::change)))
        .route("/tag", put(jobs::add_tag).delete(jobs::remove_tag))
        .route("/keep", put(jobs::keep))
        .route("/time-limit", put(jobs::set_time_limit))
        .route("/events", get(events::list))
        .route("/job-attempts", get(attempts::list))
        .route("/job-attempts/healthz", get(attempts::healthy))
        .route("/job-attempts/{attempt}", get(attempts::get))
        .route("/attempts/{attempt}", get(attempts::job))
        .nest("/attempts/{attempt}/taskRoles/{role}/taskIndex/{index}", of_task())
        .route("/ssh", get(ssh::of_key))
        .route("/ssh/key", get(ssh::key_of_key).sends(200, BYTES))
        .route("/terminal", get(terminal::of_key).says(101))
        .route("/tasks/{role}/{index}/image", of_image())
}

/// Some lines, or whole logs as a file.
fn together() -> Door {
    get(jobs::log_together).gives::<Together>(200).sends(200, TEXT)
}

/// What a task did in one attempt of its job.
fn of_task() -> Doors {
    Doors::new()
        .route("/attempts", get(attempts::task))
        .route("/attempts/{run}/logs", get(attempts::logs))
}

fn of_image() -> Door {
    get(images::size).post(images::save).gives::<SavedImageView>(202)
}

fn list_of_virtual_clusters() -> Door {
    get(cluster::virtual_clusters)
        .gives::<BTreeMap<String, cluster::VirtualClusterWire>>(200)
        .gives::<BTreeMap<NodeName, resources::NodeGpus>>(200)
}

fn of_virtual_cluster() -> Door {
    let save = changing(get(cluster::virtual_cluster).put(queue::save_virtual_cluster));
    save.delete(cluster::remove_virtual_cluster)
}

fn of_storage() -> Door {
    let save = get(storages::get).put(storages::save).takes_unnamed::<StorageSettings>();
    save.gives::<Accepted>(202).delete(storages::remove)
}

fn of_old_storages() -> Doors {
    Doors::new()
        .route("/config", get(old_storages::configs))
        .route("/config/{name}", get(old_storages::config))
        .route("/server", get(old_storages::servers))
        .route("/server/{name}", get(old_storages::server))
}

fn of_template() -> Door {
    let save = get(templates::get).put(templates::save);
    let save = save.gives::<Message>(200).gives::<Message>(201);
    save.delete(templates::remove)
}

fn of_node() -> Door {
    let save = get(nodes::get).put(nodes::save).takes_unnamed::<NodeSettings>();
    changing(changing(save).delete(nodes::remove))
}

/// What is done, or with `?dryRun` what it would do.
fn changing(door: Door) -> Door {
    door.gives::<Accepted>(202).gives::<Effect>(200)
}

fn of_container() -> Door {
    let stop = put(quarantine::stop).gives::<Accepted>(202);
    stop.delete(quarantine::remove).gives::<Accepted>(202)
}

fn of_file() -> Door {
    let read = get(files::get).gives::<FolderPage>(200).sends(200, BYTES).sends(206, BYTES);
    let write = read.put(files::put).gives::<Message>(201);
    write.delete(files::remove).gives::<Message>(200)
}

fn of_upload() -> Door {
    let arrived = get(uploads::get).patch(uploads::patch);
    arrived.gives::<uploads::Arrived>(200).gives::<uploads::Arrived>(201)
}

fn of_public_keys() -> Door {
    get(public_keys::list).post(public_keys::add).gives::<PublicKeyView>(201)
}

/// Signing in and out.
pub(super) fn authn() -> Doors {
    Doors::new()
        .route("/info", get(oidc::info))
        .route("/basic/login", post(token::create))
        .route("/basic/logout", delete(token::end))
        .route("/oidc/login", get(oidc::login))
        .route("/oidc/logout", get(oidc::logout))
        .route("/oidc/return", get(oidc::returned).post(oidc::returned))
}

/// Users, by either of the names that OpenPAI had for them.
pub(super) fn people() -> Doors {
    let update = get(users::get).put(users::changes::update_own).gives::<Message>(201);
    let set_group = put(groups::add).gives::<Message>(201);
    Doors::new()
        .route("/", get(users::list).post(users::create).gives::<Message>(201))
        .route("/{user}", update.delete(users::remove).gives::<Message>(200))
        .route("/{user}/password", put(users::set_password).gives::<Message>(201))
        .route("/{user}/admin", put(users::set_admin).gives::<Message>(201))
        .route("/{user}/email", put(users::changes::set_email).gives::<Message>(201))
        .route("/{user}/extension", put(users::changes::extend).gives::<Message>(201))
        .route(
            "/{user}/virtualcluster",
            put(users::changes::set_virtual_clusters).gives::<Message>(201),
        )
        .route("/{user}/virtualClusters", put(users::changes::set_listed).gives::<Message>(201))
        .route("/{user}/access", delete(users::end_access).gives::<Message>(200))
        .route("/{user}/grouplist", put(groups::set).gives::<Message>(201))
        .route("/{user}/group", set_group.delete(groups::remove).gives::<Message>(201))
}

fn update_user() -> Door {
    put(users::changes::update).gives::<Message>(201)
}

fn of_groups() -> Doors {
    let create = get(groups::list).post(groups::changes::create).gives::<Message>(201);
    Doors::new()
        .route("/", create.put(groups::changes::update).gives::<Message>(201))
        .route("/{name}", get(groups::get).delete(groups::changes::remove))
        .route("/{name}/userlist", get(groups::members))
        .route("/{name}/extension", put(groups::changes::extend).gives::<Message>(201))
        .route(
            "/{name}/extension/{*path}",
            put(groups::changes::set_attribute).gives::<Message>(201),
        )
        .route("/{name}/description", put(groups::changes::describe).gives::<Message>(201))
        .route("/{name}/externalname", put(groups::changes::name_externally).gives::<Message>(201))
}

#[derive(Debug, Serialize, JsonSchema)]
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
