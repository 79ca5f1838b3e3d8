//! What is kept with accounts, and which virtual clusters name their users.

use std::collections::BTreeMap;

use api::audit::AuditAction;
use api::groups::Granted;
use api::{Actor, Error, ErrorCode, Result};
use protocol::ids::{UserName, VirtualClusterName};
use protocol::person::Profile;

use super::{missing, note};
use crate::accounts::rights::{Standing, owner_only};
use crate::ops::grants::{Grantee, Grants};
use crate::ops::groups::store;
use crate::records::store::Store;
use crate::shared::Shared;

pub(super) async fn list(store: &Store, actor: &Actor) -> Result<BTreeMap<UserName, Profile>> {
    let reader = store.database.read();
    if actor.admin {
        return Ok(database::profiles::list(reader).await?);
    }
    let own = database::profiles::get(reader, &actor.user).await?;
    Ok([(actor.user.clone(), own)].into())
}

pub(super) async fn set(
    store: &Store,
    actor: &Actor,
    name: &UserName,
    profile: Profile,
) -> Result<()> {
    owner_only(actor, name, "change what is kept with the account")?;
    let mistakes = profile.mistakes();
    if !mistakes.is_empty() {
        return Err(Error::invalid_settings(mistakes));
    }
    let set = store.write(async |t| {
        let there = database::users::get(t, name).await?.is_some();
        if there {
            database::profiles::save(t, name, &profile).await?;
        }
        Ok(there)
    });
    if set.await? { Ok(()) } else { Err(missing(name)) }
}

pub(super) async fn set_virtual_clusters(
    shared: &Shared,
    actor: &Actor,
    standing: &Standing,
    clusters: Vec<VirtualClusterName>,
) -> Result<Granted> {
    let user = &standing.actor.user;
    if standing.actor.admin {
        let message = "administrators may use all virtual clusters: there is nothing to set";
        return Err(Error::new(ErrorCode::ForbiddenUserError, message));
    }
    let names: Vec<_> = clusters.iter().map(VirtualClusterName::as_str).collect();
    let entry = note(AuditAction::UserVirtualClusters, user, names.join(", ")).by(actor);
    let wanted = clusters.into_iter().collect();
    let set = shared.store.change(async |t| {
        let known = database::virtual_clusters::list(t).await?;
        let grants = Grants::new(known, Grantee::User(user, &standing.memberships), &wanted);
        if let Ok(grants) = &grants {
            store(t, grants).await?;
            database::audit::insert(t, &entry).await?;
        }
        Ok(grants)
    });
    let Grants { changed, granted, .. } = set.await??;
    if !changed.is_empty() {
        shared.nodes.cluster.read_virtual_clusters(&shared.store.database).await?;
        shared.live.tell(api::changes::Change::Cluster);
    }
    Ok(granted)
}
