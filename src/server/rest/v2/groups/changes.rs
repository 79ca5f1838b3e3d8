//! Groups that are written here, changed in the words of OpenPAI.

use api::ErrorCode;
use api::groups::{GroupChange, GroupView};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use protocol::ids::{StorageName, VirtualClusterName};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{GroupWire, find, group};
use crate::failure::Failure;
use crate::rest::body::Fields;
use crate::rest::message::{Message, message};
use crate::rest::person::Person;
use crate::rest::v2::answers::{beside, not_a_virtual_cluster};
use crate::state::AppState;

/// Where rights are among what programs keep with a group.
const ACLS: &str = "acls";
/// How deep a value may lie that is set by its path.
const DEPTH: usize = 16;

/// A group as it is sent.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Said {
    groupname: String,
    description: Option<String>,
    external_name: Option<String>,
    extension: Option<Map<String, Value>>,
}

/// What of a group's rights is sent.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Acls {
    admin: Option<bool>,
    virtual_clusters: Option<Vec<String>>,
    storage_configs: Option<Vec<String>>,
}

/// `POST /groups`.
pub(crate) async fn create(
    State(state): State<AppState>,
    Person(actor): Person,
    Fields(said): Fields<Said>,
) -> Result<Response, Failure> {
    let name = group(&said.groupname)?;
    let Said { groupname: _, description, external_name, extension } = said;
    let change = GroupChange { description, external_name, ..rights(extension, Map::new())? };
    let granted = state.backend.groups.create(&actor, &name, change).await?;
    Ok(beside(&granted, (StatusCode::CREATED, message("group is created successfully"))))
}

/// `{"patch": true, "data": {…}}`: without `patch`, what programs keep is what they say now.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Update {
    #[serde(default)]
    patch: bool,
    data: Said,
}

/// `PUT /groups`.
pub(crate) async fn update(
    State(state): State<AppState>,
    Person(actor): Person,
    Fields(Update { patch, data }): Fields<Update>,
) -> Result<Response, Failure> {
    let known = find(state.backend.groups.list(&actor).await?, &data.groupname)?;
    let Said { groupname: _, description, external_name, extension } = data;
    let before = if patch { known.extension } else { Map::new() };
    let change = GroupChange { description, external_name, ..rights(extension, before)? };
    let granted = state.backend.groups.change(&actor, &known.name, change).await?;
    Ok(beside(&granted, updated(known.name.as_str())))
}

/// `DELETE /groups/:group`.
pub(crate) async fn remove(
    State(state): State<AppState>,
    Person(actor): Person,
    Path(name): Path<String>,
) -> Result<Json<Message>, Failure> {
    let known = find(state.backend.groups.list(&actor).await?, &name)?;
    state.backend.groups.remove(&actor, &known.name).await?;
    Ok(message("group is removed successfully"))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Extended {
    extension: Map<String, Value>,
}

/// `PUT /groups/:group/extension`: these beside what is kept.
pub(crate) async fn extend(
    State(state): State<AppState>,
    Person(actor): Person,
    Path(name): Path<String>,
    Fields(Extended { extension }): Fields<Extended>,
) -> Result<Response, Failure> {
    let known = find(state.backend.groups.list(&actor).await?, &name)?;
    let change = rights(Some(extension), known.extension)?;
    let granted = state.backend.groups.change(&actor, &known.name, change).await?;
    Ok(beside(&granted, updated(&name)))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Attribute {
    data: Value,
}

/// `PUT /groups/:group/extension/:path`: one value inside of what is kept.
pub(crate) async fn set_attribute(
    State(state): State<AppState>,
    Person(actor): Person,
    Path((name, path)): Path<(String, String)>,
    Fields(Attribute { data }): Fields<Attribute>,
) -> Result<Response, Failure> {
    let known = find(state.backend.groups.list(&actor).await?, &name)?;
    let before = known.extension.clone();
    let change = rights(Some(with_value(known.clone(), &path, data)?), before)?;
    let granted = state.backend.groups.change(&actor, &known.name, change).await?;
    Ok(beside(&granted, updated(&name)))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Described {
    description: String,
}

/// `PUT /groups/:group/description`.
pub(crate) async fn describe(
    State(state): State<AppState>,
    Person(actor): Person,
    Path(name): Path<String>,
    Fields(Described { description }): Fields<Described>,
) -> Result<Response, Failure> {
    let known = find(state.backend.groups.list(&actor).await?, &name)?;
    let change = GroupChange { description: Some(description), ..GroupChange::default() };
    state.backend.groups.change(&actor, &known.name, change).await?;
    Ok(updated(&name).into_response())
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Named {
    external_name: String,
}

/// `PUT /groups/:group/externalname`.
pub(crate) async fn name_externally(
    State(state): State<AppState>,
    Person(actor): Person,
    Path(name): Path<String>,
    Fields(Named { external_name }): Fields<Named>,
) -> Result<Response, Failure> {
    let known = find(state.backend.groups.list(&actor).await?, &name)?;
    let change = GroupChange { external_name: Some(external_name), ..GroupChange::default() };
    state.backend.groups.change(&actor, &known.name, change).await?;
    Ok(updated(&name).into_response())
}

/// What is said of rights and of what programs keep, the latter beside what they kept `before`.
fn rights(
    said: Option<Map<String, Value>>,
    before: Map<String, Value>,
) -> Result<GroupChange, Failure> {
    let Some(mut said) = said else { return Ok(GroupChange::default()) };
    let acls = said.remove(ACLS).unwrap_or_else(|| Value::Object(Map::new()));
    let acls: Acls = serde_json::from_value(acls)
        .map_err(|error| invalid(format!("extension.acls: {error}")))?;
    let cluster =
        |name: String| name.parse::<VirtualClusterName>().map_err(|_| not_a_virtual_cluster(&name));
    let clusters: Option<Result<Vec<_>, Failure>> =
        acls.virtual_clusters.map(|names| names.into_iter().map(cluster).collect());
    let virtual_clusters = clusters.transpose()?;
    let storage = |name: String| name.parse::<StorageName>().map_err(|_| not_a_storage(&name));
    let storages: Option<Result<Vec<_>, Failure>> =
        acls.storage_configs.map(|names| names.into_iter().map(storage).collect());
    let storages = storages.transpose()?;
    let mut extension = before;
    extension.extend(said);
    Ok(GroupChange {
        admin: acls.admin,
        virtual_clusters,
        storages,
        extension: Some(extension),
        ..GroupChange::default()
    })
}

/// What is kept at the top of a path, with another value at its end.
fn with_value(known: GroupView, path: &str, data: Value) -> Result<Map<String, Value>, Failure> {
    if path.split('/').count() > DEPTH {
        return Err(invalid(format!("a path has at most {DEPTH} parts")));
    }
    let kept = serde_json::to_value(GroupWire::from(known).extension);
    let mut kept = kept.map_err(|error| invalid(error.to_string()))?;
    let mut place = &mut kept;
    for part in path.split('/') {
        let fields = place.as_object_mut();
        let fields =
            fields.ok_or_else(|| invalid(format!("{path:?}: {part:?} is in no object")))?;
        place = fields.entry(part).or_insert_with(|| Value::Object(Map::new()));
    }
    *place = data;
    let top = path.split('/').next().unwrap_or(path);
    let value = kept.get_mut(top).map(Value::take).unwrap_or_default();
    Ok(Map::from_iter([(top.to_owned(), value)]))
}

fn updated(name: &str) -> (StatusCode, Json<Message>) {
    (StatusCode::CREATED, message(format!("update group {name} successfully.")))
}

fn not_a_storage(name: &str) -> Failure {
    Failure::new(ErrorCode::NoStorageError, format!("Storage {name} is not found."))
}

fn invalid(message: String) -> Failure {
    Failure::new(ErrorCode::InvalidParametersError, message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn rights_are_apart_from_what_programs_keep() {
        let said = json!({ "acls": { "virtualClusters": ["lab"], "admin": true }, "b": 2 });
        let change = rights(Some(map(said)), map(json!({ "a": 1, "b": 1 }))).unwrap();
        assert_eq!(change.admin, Some(true));
        assert_eq!(change.virtual_clusters, Some(vec!["lab".parse().unwrap()]));
        assert_eq!((change.storages, change.description), (None, None));
        assert_eq!(change.extension, Some(map(json!({ "a": 1, "b": 2 }))));
        assert_eq!(rights(None, Map::new()).unwrap(), GroupChange::default());
        for bad in [json!({ "acls": { "root": true } }), json!({ "acls": { "admin": "yes" } })] {
            let failure = rights(Some(map(bad)), Map::new()).unwrap_err();
            assert_eq!(failure.error.code, ErrorCode::InvalidParametersError);
        }
    }

    #[test]
    fn one_value_is_set_where_it_belongs() {
        let group = GroupView {
            name: "vision".parse().unwrap(),
            members: Vec::new(),
            admin: false,
            virtual_clusters: vec!["lab".parse().unwrap()],
            description: String::new(),
            external_name: String::new(),
            storages: Vec::new(),
            extension: map(json!({ "a": { "b": 1 }, "c": 2 })),
        };
        let set = |path: &str| with_value(group.clone(), path, json!(true)).map(Value::Object);
        let acls =
            json!({ "acls": { "admin": true, "virtualClusters": ["lab"], "storageConfigs": [] } });
        assert_eq!(set("acls/admin").unwrap(), acls);
        assert_eq!(set("a/d/e").unwrap(), json!({ "a": { "b": 1, "d": { "e": true } } }));
        assert_eq!(set("new").unwrap(), json!({ "new": true }));
        assert!(set("c/d").is_err(), "a number has no parts");
    }
}
