//! `api::groups`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use api::audit::AuditAction;
use api::groups::{Granted, GroupChange, GroupView, Groups, Member};
use api::{Actor, Error, ErrorCode, Result};
use async_trait::async_trait;
use database::storages::Storage;
use database::{Transaction, group_settings};
use protocol::ids::{GroupName, StorageName, UserName, VirtualClusterName};
use protocol::person::{GroupSettings, Source};

use super::grants::{Grantee, Grants, is_everybodys, may_have, of_storages};
use super::limits;
use crate::accounts::rights::administrators_only;
use crate::records::audit::{Note, difference};
use crate::shared::Shared;

/// The most groups that are written of one user.
const MOST: usize = 200;

/// What a transaction did, or why it is refused.
type Tried<T> = std::result::Result<Result<T>, database::Error>;

#[derive(Debug)]
pub(crate) struct Ops(pub(crate) Arc<Shared>);

#[async_trait]
impl Groups for Ops {
    async fn list(&self, actor: &Actor) -> Result<Vec<GroupView>> {
        let reader = self.0.store.database.read();
        let stored = database::groups::list(reader).await?;
        let mut members = BTreeMap::<GroupName, Vec<Member>>::new();
        let visible = stored.into_iter().filter(|one| actor.admin || one.user == actor.user);
        for database::groups::Membership { user, group, source } in visible {
            members.entry(group).or_default().push(Member { user, source });
        }
        let written = group_settings::list(reader).await?;
        let written = written.into_iter().map(|settings| (settings.name.clone(), settings));
        let mut written: BTreeMap<GroupName, GroupSettings> = written.collect();
        let storages = database::storages::list(reader).await?;
        if actor.admin {
            let cluster = self.0.nodes.cluster();
            let named = cluster.virtual_clusters.iter().flat_map(|settings| &settings.groups);
            let named = named.chain(storages.iter().flat_map(|storage| &storage.settings.groups));
            let named = named.chain(&self.0.people.sign_in.admin_groups).chain(written.keys());
            for group in named {
                members.entry(group.clone()).or_default();
            }
        }
        let view = |(name, members): (GroupName, Vec<Member>)| {
            let settings = written.remove(&name).unwrap_or_else(|| GroupSettings::new(name));
            self.view(settings, members, &storages)
        };
        Ok(members.into_iter().map(view).collect())
    }

    async fn set(&self, actor: &Actor, user: &UserName, groups: Vec<GroupName>) -> Result<()> {
        self.put(actor, user, |_| groups.into_iter().collect()).await
    }

    async fn alter(
        &self,
        actor: &Actor,
        user: &UserName,
        into: Vec<GroupName>,
        out_of: Vec<GroupName>,
    ) -> Result<()> {
        let alter = |mut groups: BTreeSet<GroupName>| {
            groups.retain(|group| !out_of.contains(group));
            groups.extend(into);
            groups
        };
        self.put(actor, user, alter).await
    }

    async fn create(&self, actor: &Actor, name: &GroupName, said: GroupChange) -> Result<Granted> {
        administrators_only(actor)?;
        let done = self.0.store.change(async |t| match group_settings::get(t, name).await? {
            Some(_) => {
                let message = format!("there is a group {name} already");
                Ok(Err(Error::new(ErrorCode::ConflictGroupError, message)))
            }
            None => self.save(t, actor, (None, name), said).await,
        });
        self.saved(done.await??, name).await
    }

    async fn change(&self, actor: &Actor, name: &GroupName, said: GroupChange) -> Result<Granted> {
        administrators_only(actor)?;
        let known = self.list(actor).await?.iter().any(|group| group.name == *name);
        if !known {
            return Err(missing(name));
        }
        let done = self.0.store.change(async |t| {
            let before = group_settings::get(t, name).await?;
            self.save(t, actor, (before, name), said).await
        });
        self.saved(done.await??, name).await
    }

    async fn remove(&self, actor: &Actor, name: &GroupName) -> Result<()> {
        administrators_only(actor)?;
        let known = self.list(actor).await?.iter().any(|group| group.name == *name);
        if !known {
            return Err(missing(name));
        }
        self.keeps_administration(name, Some(false))?;
        let note = Note {
            action: AuditAction::GroupRemoved,
            object: name.to_string(),
            detail: String::new(),
            address: None,
        };
        let done = self.0.store.change(async |t| {
            let nothing = (Some(Vec::new()), Some(Vec::new()));
            let grants = match grants_of(t, name, nothing).await? {
                Ok(grants) => grants,
                Err(refused) => return Ok(Err(refused)),
            };
            store(t, &grants).await?;
            group_settings::remove(t, name).await?;
            database::groups::dissolve(t, name).await?;
            database::audit::insert(t, &note.by(actor)).await?;
            Ok(Ok(grants))
        });
        self.saved(done.await??, name).await?;
        Ok(())
    }
}

impl Ops {
    /// Puts a user into other groups than he is in, as far as they are written here.
    async fn put(
        &self,
        actor: &Actor,
        user: &UserName,
        change: impl FnOnce(BTreeSet<GroupName>) -> BTreeSet<GroupName> + Send,
    ) -> Result<()> {
        administrators_only(actor)?;
        let put = self.0.store.change(async |t| {
            if database::users::get(t, user).await?.is_none() {
                let message = format!("there is no user {user}");
                return Ok(Err(Error::new(ErrorCode::NoUserError, message)));
            }
            let known = database::groups::of_user(t, user).await?.into_iter();
            let written = known.filter(|one| one.source == Source::Local);
            let groups = change(written.map(|one| one.group).collect());
            if groups.len() > MOST {
                let message = format!("a user is in {MOST} groups at most");
                return Ok(Err(Error::new(ErrorCode::InvalidParametersError, message)));
            }
            let groups: Vec<GroupName> = groups.into_iter().collect();
            let names: Vec<_> = groups.iter().map(GroupName::as_str).collect();
            let names = names.join(", ");
            database::groups::set(t, user, &Source::Local, &groups).await?;
            let note = Note {
                action: AuditAction::UserGroups,
                object: user.to_string(),
                detail: names.clone(),
                address: None,
            };
            database::audit::insert(t, &note.by(actor)).await?;
            Ok(Ok(names))
        });
        let groups = put.await??;
        tracing::info!(by = %actor.user, %user, groups, "groups set");
        Ok(limits::follow(&self.0, user).await?)
    }

    fn view(
        &self,
        settings: GroupSettings,
        members: Vec<Member>,
        storages: &[Storage],
    ) -> GroupView {
        let GroupSettings { name, description, external_name, admin, extension } = settings;
        let cluster = self.0.nodes.cluster();
        let clusters = cluster.virtual_clusters.iter();
        let usable =
            clusters.filter(|settings| is_everybodys(settings) || settings.groups.contains(&name));
        let storages = storages.iter().map(|storage| &storage.settings);
        let storages = storages.filter(|settings| may_have(settings, &name));
        GroupView {
            virtual_clusters: usable.map(|settings| settings.name.clone()).collect(),
            storages: storages.map(|settings| settings.name.clone()).collect(),
            admin: admin || self.0.people.sign_in.admin_groups.contains(&name),
            members,
            name,
            description,
            external_name,
            extension,
        }
    }

    /// What the configuration file says of a group's members is not changed here.
    fn keeps_administration(&self, name: &GroupName, admin: Option<bool>) -> Result<()> {
        if admin != Some(false) || !self.0.people.sign_in.admin_groups.contains(name) {
            return Ok(());
        }
        let message = format!(
            "the configuration file makes the members of {name} administrators: change \
             sign_in.admin_groups there"
        );
        Err(Error::new(ErrorCode::ForbiddenUserError, message))
    }

    /// Stores what is said of a group beside what was said `before`.
    async fn save(
        &self,
        t: &Transaction,
        actor: &Actor,
        (before, name): (Option<GroupSettings>, &GroupName),
        said: GroupChange,
    ) -> Tried<Grants> {
        if let Err(refused) = self.keeps_administration(name, said.admin) {
            return Ok(Err(refused));
        }
        let wanted = (said.virtual_clusters.clone(), said.storages.clone());
        let settings =
            with(before.clone().unwrap_or_else(|| GroupSettings::new(name.clone())), said);
        let mistakes = settings.mistakes();
        if !mistakes.is_empty() {
            return Ok(Err(Error::invalid_settings(mistakes)));
        }
        let grants = match grants_of(t, name, wanted).await? {
            Ok(grants) => grants,
            Err(refused) => return Ok(Err(refused)),
        };
        store(t, &grants).await?;
        group_settings::save(t, &settings).await?;
        let note = Note {
            action: AuditAction::GroupSaved,
            object: name.to_string(),
            detail: difference(before.as_ref(), &settings),
            address: None,
        };
        database::audit::insert(t, &note.by(actor)).await?;
        Ok(Ok(grants))
    }

    /// Lets everybody know of what was stored.
    async fn saved(&self, grants: Grants, name: &GroupName) -> Result<Granted> {
        tracing::info!(group = %name, "group changed");
        let Grants { changed, granted, .. } = grants;
        if !changed.is_empty() {
            self.0.nodes.cluster.read_virtual_clusters(&self.0.store.database).await?;
            self.0.live.tell(api::changes::Change::Cluster);
        }
        Ok(granted)
    }
}

/// What is to be stored so that a group may use these virtual clusters and storages and no others,
/// as far as anything is said of them.
async fn grants_of(
    t: &Transaction,
    name: &GroupName,
    (clusters, storages): (Option<Vec<VirtualClusterName>>, Option<Vec<StorageName>>),
) -> Tried<Grants> {
    let mut grants = Grants::default();
    if let Some(wanted) = clusters {
        let known = database::virtual_clusters::list(t).await?;
        let wanted: BTreeSet<_> = wanted.into_iter().collect();
        match Grants::new(known, Grantee::Group(name), &wanted) {
            Ok(of_clusters) => grants = of_clusters,
            Err(refused) => return Ok(Err(refused)),
        }
    }
    if let Some(wanted) = storages {
        let known = database::storages::list(t).await?;
        let wanted: BTreeSet<_> = wanted.into_iter().collect();
        match of_storages(known, name, &wanted) {
            Ok(storages) => grants.storages = storages,
            Err(refused) => return Ok(Err(refused)),
        }
    }
    Ok(Ok(grants))
}

/// Stores the virtual clusters and storages that name others than before.
pub(super) async fn store(
    t: &Transaction,
    grants: &Grants,
) -> std::result::Result<(), database::Error> {
    for settings in &grants.changed {
        database::virtual_clusters::save(t, settings).await?;
    }
    for storage in &grants.storages {
        database::storages::save(t, storage).await?;
    }
    Ok(())
}

/// The settings with what is said.
fn with(settings: GroupSettings, said: GroupChange) -> GroupSettings {
    let GroupChange { description, external_name, admin, extension, .. } = said;
    GroupSettings {
        description: description.unwrap_or(settings.description),
        external_name: external_name.unwrap_or(settings.external_name),
        admin: admin.unwrap_or(settings.admin),
        extension: extension.unwrap_or(settings.extension),
        name: settings.name,
    }
}

fn missing(name: &GroupName) -> Error {
    Error::new(ErrorCode::NoGroupError, format!("there is no group {name}"))
}
