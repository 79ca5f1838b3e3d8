//! What becomes of each thing that is there, decided before anything is done.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use protocol::ids::{GroupName, StorageName, UserName, VirtualClusterName};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::note::Note;
use super::part::Part;
use super::there::{Cluster, Detail, Group, Storage, There, User};
use crate::commands::client::Client;

/// One thing that is there.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) part: Part,
    pub(super) name: String,
    pub(super) fate: Fate,
    /// What is worth knowing of it.
    pub(super) notes: Vec<Note>,
}

#[derive(Debug, PartialEq)]
pub(super) enum Fate {
    Comes(Wanted),
    /// It is here already.
    Stays,
    /// It can be nothing here; the notes say why.
    Left,
}

/// What is asked for so that it comes.
#[derive(Debug, PartialEq)]
pub(super) enum Wanted {
    Group(Value),
    VirtualCluster(Value),
    Storage(Value),
    User {
        body: Map<String, Value>,
        groups: Vec<String>,
    },
    Template {
        name: String,
        body: Value,
    },
    /// A job file that is to be changed first.
    File {
        file: PathBuf,
        text: String,
    },
}

impl Step {
    pub(super) fn comes(part: Part, name: &str, wanted: Wanted, notes: Vec<Note>) -> Self {
        Self { part, name: name.to_owned(), fate: Fate::Comes(wanted), notes }
    }

    pub(super) fn stays(part: Part, name: &str, notes: Vec<Note>) -> Self {
        Self { part, name: name.to_owned(), fate: Fate::Stays, notes }
    }

    pub(super) fn left(part: Part, name: &str, why: Note) -> Self {
        Self { part, name: name.to_owned(), fate: Fate::Left, notes: vec![why] }
    }
}

/// What is here already.
#[derive(Debug, Default)]
pub(super) struct Here {
    /// Users by name, with their groups.
    users: BTreeMap<String, BTreeSet<String>>,
    groups: BTreeSet<String>,
    clusters: BTreeSet<String>,
    storages: BTreeSet<String>,
    pub(super) templates: BTreeSet<String>,
    gpu_types: BTreeSet<String>,
}

impl Here {
    pub(super) fn read(client: &Client) -> anyhow::Result<Self> {
        let users: Vec<OwnUser> = client.get("/api/v2/users")?;
        let groups: Vec<OwnGroup> = client.get("/api/v2/groups")?;
        let clusters: ByName = client.get("/api/v2/virtual-clusters")?;
        let OwnStorages { storages } = client.get("/api/v2/storages")?;
        let templates: Vec<Named> = client.get("/api/v2/templates")?;
        let gpu_types: ByName = client.get("/api/v2/cluster/sku-types")?;
        let user = |user: OwnUser| (user.username, user.grouplist);
        let names = |named: Vec<Named>| named.into_iter().map(|one| one.name).collect();
        Ok(Self {
            users: users.into_iter().map(user).collect(),
            groups: groups.into_iter().map(|group| group.groupname).collect(),
            clusters: clusters.into_keys().collect(),
            storages: names(storages),
            templates: names(templates),
            gpu_types: gpu_types.into_keys().collect(),
        })
    }

    /// The user of that name. Names that differ in capital letters alone are one.
    fn user(&self, name: &str) -> Option<(&String, &BTreeSet<String>)> {
        self.users.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))
    }
}

/// What is looked at of a user who is here.
#[derive(Deserialize)]
struct OwnUser {
    username: String,
    grouplist: BTreeSet<String>,
}

/// And of a group.
#[derive(Deserialize)]
struct OwnGroup {
    groupname: String,
}

#[derive(Deserialize)]
struct OwnStorages {
    storages: Vec<Named>,
}

/// And of what has a name.
#[derive(Deserialize)]
struct Named {
    name: String,
}

/// What is told by name, of which nothing else is looked at.
type ByName = BTreeMap<String, IgnoredAny>;

/// Who may use something.
struct Rights {
    groups: Vec<String>,
    users: Vec<String>,
}

impl There {
    /// Who may use something that groups and users say they may. Here what names nobody is everybody's:
    /// what only administrators may use there names them.
    fn rights(
        &self,
        of_group: impl Fn(&Group) -> bool,
        of_user: impl Fn(&User) -> bool,
    ) -> Option<Rights> {
        let groups = self.named_groups(of_group);
        let by_group = |user: &User| user.grouplist.iter().any(|name| groups.contains(name));
        let users = self.named_users(|user| !user.admin && of_user(user) && !by_group(user));
        if !groups.is_empty() || !users.is_empty() {
            return Some(Rights { groups, users });
        }
        let groups = self.named_groups(|group| group.extension.acls.admin);
        if !groups.is_empty() {
            return Some(Rights { groups, users });
        }
        let users = self.named_users(|user| user.admin);
        (!users.is_empty()).then_some(Rights { groups, users })
    }

    fn named_groups(&self, of: impl Fn(&Group) -> bool) -> Vec<String> {
        let groups = self.groups.iter().filter(|group| of(group));
        let names = groups.map(|group| group.groupname.clone());
        names.filter(|name| name.parse::<GroupName>().is_ok()).collect()
    }

    fn named_users(&self, of: impl Fn(&User) -> bool) -> Vec<String> {
        let users = self.users.iter().filter(|user| of(user));
        let names = users.map(|user| user.username.clone());
        names.filter(|name| name.parse::<UserName>().is_ok()).collect()
    }

    /// Whether one of a user's groups makes him an administrator.
    fn is_admin_by_group(&self, user: &User) -> bool {
        let admins = self.named_groups(|group| group.extension.acls.admin);
        user.grouplist.iter().any(|name| admins.contains(name))
    }
}

/// All steps, in the order in which they can be taken: who is in a group needs the group.
pub(super) fn plan(there: &There, here: &Here, without: &[Part]) -> Vec<Step> {
    let wanted = |part: Part| !without.contains(&part);
    let mut steps = Vec::new();
    if wanted(Part::Groups) {
        steps.extend(there.groups.iter().map(|of| group(of, here)));
    }
    if wanted(Part::VirtualClusters) {
        steps.extend(
            there.clusters.iter().map(|(name, of)| cluster((name.as_str(), of), there, here)),
        );
    }
    if wanted(Part::Storages) {
        steps.extend(there.storages.iter().map(|of| storage(of, there, here)));
    }
    if wanted(Part::Users) {
        let with_groups = wanted(Part::Groups);
        steps.extend(there.users.iter().map(|of| user((of, with_groups), there, here)));
    }
    steps
}

/// What its members may use, virtual clusters and storages say.
fn group(group: &Group, here: &Here) -> Step {
    let Group { groupname: name, description, external_name, extension } = group;
    if here.groups.contains(name) {
        return Step::stays(Part::Groups, name, Vec::new());
    }
    if let Err(error) = name.parse::<GroupName>() {
        return Step::left(Part::Groups, name, Note::told(error));
    }
    let mut kept = extension.others.clone();
    kept.insert("acls".to_owned(), json!({ "admin": extension.acls.admin }));
    let body = json!({
        "groupname": name, "description": description, "externalName": external_name,
        "extension": kept,
    });
    let admins = extension.acls.admin.then_some(Note::AdminMembers);
    Step::comes(Part::Groups, name, Wanted::Group(body), admins.into_iter().collect())
}

fn cluster((name, cluster): (&str, &Cluster), there: &There, here: &Here) -> Step {
    let part = Part::VirtualClusters;
    if here.clusters.contains(name) {
        return Step::stays(part, name, Vec::new());
    }
    if let Err(error) = name.parse::<VirtualClusterName>() {
        return Step::left(part, name, Note::told(error));
    }
    let has = |names: &[String]| names.iter().any(|one| one == name);
    let rights = there.rights(
        |group| has(&group.extension.acls.virtual_clusters),
        |user| has(&user.virtual_cluster),
    );
    let Some(Rights { groups, users }) = rights else {
        return Step::left(part, name, Note::NobodyMay);
    };
    let (share, note) = share(cluster, &here.gpu_types);
    let body = json!({ "share": share, "groups": groups, "users": users });
    Step::comes(part, name, Wanted::VirtualCluster(body), note.into_iter().collect())
}

/// What it is guaranteed, where that can be said in types of GPUs that are here.
fn share(cluster: &Cluster, gpu_types: &BTreeSet<String>) -> (Value, Option<Note>) {
    match (cluster.gpus(), cluster.types.as_slice()) {
        (0, _) => (json!({}), None),
        (gpus, [one]) if gpu_types.contains(one) => {
            let note = Note::Guaranteed { gpus, gpu_type: one.clone() };
            (json!({ "gpus": { one: gpus } }), Some(note))
        }
        (gpus, _) => (json!({}), Some(Note::NoShare(gpus))),
    }
}

fn storage(storage: &Storage, there: &There, here: &Here) -> Step {
    let (part, name) = (Part::Storages, storage.name.as_str());
    if here.storages.contains(name) {
        return Step::stays(part, name, Vec::new());
    }
    if let Err(error) = name.parse::<StorageName>() {
        return Step::left(part, name, Note::told(error));
    }
    let detail = match &storage.detail {
        Ok(detail) => detail,
        Err(error) => return Step::left(part, name, Note::told(error)),
    };
    let source = match source(detail) {
        Ok(source) => source,
        Err(why) => return Step::left(part, name, why),
    };
    let has = |names: &[String]| names.iter().any(|one| one == name);
    let rights = there.rights(
        |group| has(&group.extension.acls.storage_configs),
        |user| has(&user.storage_config),
    );
    let Some(Rights { groups, users }) = rights else {
        return Step::left(part, name, Note::NobodyMay);
    };
    let no_password = source["smb"]["user"].is_string() && !source["smb"]["password"].is_string();
    let note = no_password.then_some(Note::NoPassword);
    let body = json!({
        "source": source, "read_only": detail.read_only, "default": storage.default,
        "own_folders": detail.share == Some(false), "groups": groups, "users": users,
    });
    Step::comes(part, name, Wanted::Storage(body), note.into_iter().collect())
}

/// Where a storage is, as settings say it.
fn source(detail: &Detail) -> Result<Value, Note> {
    let Detail { kind, data, mount_options, .. } = detail;
    let options = (!mount_options.is_empty()).then(|| mount_options.join(","));
    match kind.as_str() {
        "nfs" => Ok(json!({
            "nfs": { "server": data["server"], "path": data["path"], "options": options },
        })),
        "samba" => {
            let address = data["address"].as_str().unwrap_or_default();
            let (server, share) =
                address.trim_start_matches('/').split_once('/').unwrap_or_default();
            Ok(json!({ "smb": {
                "server": server, "share": share.trim_end_matches('/'), "user": data["username"],
                "password": data["password"], "options": options,
            } }))
        }
        kind => {
            let kind = if kind.is_empty() { "unknown" } else { kind };
            Err(Note::NotMounted(kind.to_owned()))
        }
    }
}

fn user((user, with_groups): (&User, bool), there: &There, here: &Here) -> Step {
    let (part, name) = (Part::Users, user.username.as_str());
    if let Some((known, groups)) = here.user(name) {
        let others = user.grouplist.iter().filter(|group| with_groups && !groups.contains(*group));
        let others: Vec<_> = others.cloned().collect();
        let mut notes = Vec::new();
        if known != name {
            notes.push(Note::KnownAs(known.clone()));
        }
        if !others.is_empty() {
            notes.push(Note::AlsoIn(others));
        }
        return Step::stays(part, name, notes);
    }
    if let Err(error) = name.parse::<UserName>() {
        return Step::left(part, name, Note::told(error));
    }
    let admin = user.admin && !(with_groups && there.is_admin_by_group(user));
    let named = user.grouplist.iter().filter(|name| name.parse::<GroupName>().is_ok());
    let groups: Vec<String> = named.filter(|_| with_groups).cloned().collect();
    let mut notes = Vec::new();
    if admin {
        notes.push(Note::Administrator);
    }
    if !groups.is_empty() {
        notes.push(Note::MemberOf(groups.clone()));
    }
    let mut body = Map::new();
    body.insert("username".to_owned(), name.into());
    body.insert("email".to_owned(), user.email.as_str().into());
    body.insert("admin".to_owned(), admin.into());
    body.insert("extension".to_owned(), user.extension.clone().into());
    Step::comes(part, name, Wanted::User { body, groups }, notes)
}

#[cfg(test)]
mod tests;
