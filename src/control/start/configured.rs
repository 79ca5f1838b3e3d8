//! What the configuration file says.

use std::collections::HashMap;

use database::Database;
use protocol::cluster::{NodeSettings, VirtualClusterSettings};
use protocol::ids::VirtualClusterName;
use protocol::person::GroupSettings;
use protocol::storages::StorageSettings;

use crate::container::storages;
use crate::error::Error;
use crate::secrets::sealing::Seal;

/// Saves what the configuration file says; there is always a virtual cluster `default`.
pub(super) async fn save(
    database: &Database,
    (nodes, first_node): (&[NodeSettings], Option<&NodeSettings>),
    (virtual_clusters, groups): (&[VirtualClusterSettings], &[GroupSettings]),
) -> Result<(), Error> {
    let transaction = database.begin().await?;
    let known = database::nodes::list(&transaction).await?.into_iter();
    let known: HashMap<_, _> =
        known.map(|node| (node.settings.name.clone(), node.settings)).collect();
    if let Some(node) = first_node.filter(|_| known.is_empty()) {
        database::nodes::save(&transaction, node, false).await?;
    }
    database::nodes::leave_file(&transaction).await?;
    for node in nodes {
        database::nodes::save(&transaction, node, true).await?;
        if known.get(&node.name).is_some_and(|known| known.engine() != node.engine()) {
            database::nodes::forget_engine(&transaction, &node.name).await?;
        }
    }
    for settings in virtual_clusters {
        database::virtual_clusters::save(&transaction, settings).await?;
    }
    let default = VirtualClusterName::default();
    if database::virtual_clusters::get(&transaction, &default).await?.is_none() {
        let settings = VirtualClusterSettings::new(default);
        database::virtual_clusters::save(&transaction, &settings).await?;
    }
    let all = database::virtual_clusters::list(&transaction).await?;
    let mistakes = protocol::shares::mistakes(&all);
    if !mistakes.is_empty() {
        return Err(Error::VirtualClusters(mistakes.iter().map(ToString::to_string).collect()));
    }
    for group in groups {
        let before = database::group_settings::get(&transaction, &group.name).await?;
        database::group_settings::save(&transaction, &beside(group.clone(), before)).await?;
    }
    transaction.commit().await?;
    Ok(())
}

/// The same of storages, whose passwords are sealed.
pub(super) async fn save_storages(
    database: &Database,
    seal: &Seal,
    configured: &[StorageSettings],
) -> Result<(), Error> {
    let transaction = database.begin().await?;
    let known = database::storages::list(&transaction).await?;
    for settings in configured {
        let before = known.iter().find(|before| before.settings.name == settings.name);
        let storage = storages::sealed(seal, settings, before);
        database::storages::save(&transaction, &storage).await?;
    }
    let all = database::storages::list(&transaction).await?.into_iter();
    let all: Vec<_> = all.map(|storage| storage.settings).collect();
    let mistakes = protocol::storages::mistakes(&all);
    if !mistakes.is_empty() {
        return Err(Error::Storages(mistakes.iter().map(ToString::to_string).collect()));
    }
    transaction.commit().await?;
    Ok(())
}

/// What programs keep with a group stays, unless the file says something of it.
fn beside(mut group: GroupSettings, before: Option<GroupSettings>) -> GroupSettings {
    if let Some(before) = before
        && group.extension.is_empty()
    {
        group.extension = before.extension;
    }
    group
}
