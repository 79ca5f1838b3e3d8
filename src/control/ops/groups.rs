//! `api::groups`.

use std::collections::BTreeMap;
use std::sync::Arc;

use api::audit::AuditAction;
use api::groups::{GroupView, Groups, Member};
use api::{Actor, Error, ErrorCode, Result};
use async_trait::async_trait;
use protocol::ids::{GroupName, UserName};
use protocol::person::Source;

use crate::accounts::rights::administrators_only;
use crate::error::database;
use crate::records::audit::Note;
use crate::shared::Shared;

/// The most groups that are written of one user.
const MOST: usize = 200;

#[derive(Debug)]
pub(crate) struct Ops(pub(crate) Arc<Shared>);

#[async_trait]
impl Groups for Ops {
    async fn list(&self, actor: &Actor) -> Result<Vec<GroupView>> {
        let stored = database::groups::list(self.0.database.read()).await.map_err(database)?;
        let mut members = BTreeMap::<GroupName, Vec<Member>>::new();
        let visible = stored.into_iter().filter(|one| actor.admin || one.user == actor.user);
        for database::groups::Membership { user, group, source } in visible {
            members.entry(group).or_default().push(Member { user, source });
        }
        let cluster = self.0.cluster();
        let storages = database::storages::list(self.0.database.read()).await.map_err(database)?;
        if actor.admin {
            let named = cluster.virtual_clusters.iter().flat_map(|settings| &settings.groups);
            let named = named.chain(storages.iter().flat_map(|storage| &storage.settings.groups));
            for group in named.chain(&self.0.sign_in.admin_groups) {
                members.entry(group.clone()).or_default();
            }
        }
        let view = |(name, members)| {
            let clusters = cluster.virtual_clusters.iter();
            let clusters = clusters.filter(|settings| settings.groups.contains(&name));
            let storages = storages.iter().map(|storage| &storage.settings);
            let storages = storages.filter(|settings| settings.groups.contains(&name));
            GroupView {
                virtual_clusters: clusters.map(|settings| settings.name.clone()).collect(),
                storages: storages.map(|settings| settings.name.clone()).collect(),
                admin: self.0.sign_in.admin_groups.contains(&name),
                members,
                name,
            }
        };
        Ok(members.into_iter().map(view).collect())
    }

    async fn set(&self, actor: &Actor, user: &UserName, groups: Vec<GroupName>) -> Result<()> {
        administrators_only(actor)?;
        if groups.len() > MOST {
            let message = format!("a user is in {MOST} groups at most");
            return Err(Error::new(ErrorCode::InvalidParametersError, message));
        }
        let names: Vec<_> = groups.iter().map(GroupName::as_str).collect();
        let note = Note {
            action: AuditAction::UserGroups,
            object: user.to_string(),
            detail: names.join(", "),
            address: None,
        };
        let set = self.0.write(async |t| {
            if database::users::get(t, user).await?.is_none() {
                return Ok(false);
            }
            database::groups::set(t, user, &Source::Local, &groups).await?;
            database::audit::insert(t, &note.by(actor)).await?;
            Ok(true)
        });
        if !set.await.map_err(database)? {
            let message = format!("there is no user {user}");
            return Err(Error::new(ErrorCode::NoUserError, message));
        }
        tracing::info!(by = %actor.user, %user, groups = names.join(", "), "groups set");
        Ok(())
    }
}
