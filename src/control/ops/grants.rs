//! Who may use virtual clusters and storages, changed from the side of a user or of a group: the virtual
//! clusters and storages name them.

use std::collections::BTreeSet;
use std::fmt::Display;

use api::groups::{Granted, Membership};
use api::{Error, ErrorCode};
use database::storages::Storage;
use protocol::cluster::VirtualClusterSettings;
use protocol::ids::{GroupName, StorageName, UserName, VirtualClusterName};
use protocol::storages::StorageSettings;

use super::virtual_clusters::missing;
use crate::container::storages;

/// Whose right it is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Grantee<'a> {
    User(&'a UserName, &'a [Membership]),
    Group(&'a GroupName),
}

/// What is to be stored so that somebody may use some virtual clusters and storages and no others.
#[derive(Debug, Default)]
pub(super) struct Grants {
    pub(super) changed: Vec<VirtualClusterSettings>,
    pub(super) granted: Granted,
    pub(super) storages: Vec<Storage>,
}

impl Grants {
    /// What differs from how the virtual clusters are. One that is everybody's stays everybody's: a
    /// right for some would take it from all others.
    ///
    /// # Errors
    /// One that is not there, or that would be everybody's without the one who has it.
    pub(super) fn new(
        clusters: Vec<VirtualClusterSettings>,
        grantee: Grantee<'_>,
        wanted: &BTreeSet<VirtualClusterName>,
    ) -> Result<Self, Error> {
        let known: BTreeSet<_> = clusters.iter().map(|settings| settings.name.clone()).collect();
        if let Some(unknown) = wanted.iter().find(|name| !known.contains(*name)) {
            return Err(missing(unknown));
        }
        let mut grants = Self::default();
        for mut settings in clusters {
            let (before, wants) = (settings.clone(), wanted.contains(&settings.name));
            if wants && !grantee.may_use(&settings) {
                grantee.put_into(&mut settings);
            } else if !wants && !is_everybodys(&settings) {
                grantee.take_from(&mut settings);
                if is_everybodys(&settings) {
                    return Err(last_of(&settings.name));
                }
            }
            if !wants && grantee.may_use(&settings) {
                grants.granted.beside.push(settings.name.clone());
            }
            if settings != before {
                grants.changed.push(settings);
            }
        }
        Ok(grants)
    }
}

impl Grantee<'_> {
    fn may_use(self, settings: &VirtualClusterSettings) -> bool {
        match self {
            Self::User(user, groups) => {
                let counting = groups.iter().filter(|group| group.counts);
                settings.admits(user, counting.map(|group| &group.group))
            }
            Self::Group(group) => is_everybodys(settings) || settings.groups.contains(group),
        }
    }

    fn put_into(self, settings: &mut VirtualClusterSettings) {
        match self {
            Self::User(user, _) => settings.users.push(user.clone()),
            Self::Group(group) => settings.groups.push(group.clone()),
        }
    }

    fn take_from(self, settings: &mut VirtualClusterSettings) {
        match self {
            Self::User(user, _) => settings.users.retain(|other| other != user),
            Self::Group(group) => settings.groups.retain(|other| other != group),
        }
    }
}

/// The storages that differ once a group may have these and no others, but for those that are
/// everybody's.
///
/// # Errors
/// As [`Grants::new`].
pub(super) fn of_storages(
    known: Vec<Storage>,
    group: &GroupName,
    wanted: &BTreeSet<StorageName>,
) -> Result<Vec<Storage>, Error> {
    let is_there = |name: &StorageName| known.iter().any(|one| one.settings.name == *name);
    if let Some(unknown) = wanted.iter().find(|name| !is_there(name)) {
        return Err(storages::missing(unknown));
    }
    let mut changed = Vec::new();
    for mut storage in known {
        let settings = &mut storage.settings;
        let wants = wanted.contains(&settings.name);
        if wants && !may_have(settings, group) {
            settings.groups.push(group.clone());
            changed.push(storage);
        } else if !wants && settings.groups.contains(group) {
            settings.groups.retain(|other| other != group);
            if may_have(settings, group) {
                return Err(last_of(&settings.name));
            }
            changed.push(storage);
        }
    }
    Ok(changed)
}

/// Whether the members of a group may have a storage: it names the group, or nobody.
pub(super) fn may_have(settings: &StorageSettings, group: &GroupName) -> bool {
    let everybodys = settings.users.is_empty() && settings.groups.is_empty();
    everybodys || settings.groups.contains(group)
}

/// Whether it names nobody who may use it.
pub(super) fn is_everybodys(settings: &VirtualClusterSettings) -> bool {
    settings.users.is_empty() && settings.groups.is_empty()
}

fn last_of(name: &impl Display) -> Error {
    let message = format!("nobody else is named who may use {name}: it would be everybody's");
    Error::new(ErrorCode::ConflictGroupError, message)
}

#[cfg(test)]
mod tests {
    use protocol::person::Source;

    use super::*;

    fn cluster(name: &str, users: &[&str], groups: &[&str]) -> VirtualClusterSettings {
        let mut settings = VirtualClusterSettings::new(name.parse().unwrap());
        settings.users = users.iter().map(|name| name.parse().unwrap()).collect();
        settings.groups = groups.iter().map(|name| name.parse().unwrap()).collect();
        settings
    }

    fn clusters() -> Vec<VirtualClusterSettings> {
        vec![
            cluster("default", &[], &[]),
            cluster("lab", &["ada"], &["vision"]),
            cluster("own", &["ada"], &[]),
            cluster("speech", &[], &["speech"]),
        ]
    }

    /// What changes, as `name users groups`, and what stays beside.
    fn set(grantee: Grantee<'_>, wanted: &[&str]) -> Result<(Vec<String>, Vec<String>), ErrorCode> {
        let wanted = wanted.iter().map(|name| name.parse().unwrap()).collect();
        let grants = Grants::new(clusters(), grantee, &wanted).map_err(|error| error.code)?;
        let told = |settings: VirtualClusterSettings| {
            let users: Vec<_> = settings.users.iter().map(UserName::as_str).collect();
            let groups: Vec<_> = settings.groups.iter().map(GroupName::as_str).collect();
            format!("{} {} {}", settings.name, users.join(","), groups.join(","))
        };
        let beside = grants.granted.beside.iter().map(ToString::to_string).collect();
        Ok((grants.changed.into_iter().map(told).collect(), beside))
    }

    fn done(changed: &[&str], beside: &[&str]) -> Result<(Vec<String>, Vec<String>), ErrorCode> {
        let own = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
        Ok((own(changed), own(beside)))
    }

    #[test]
    fn a_group_gets_what_it_is_to_have_and_takes_nothing_from_others() {
        let vision = "vision".parse().unwrap();
        let vision = Grantee::Group(&vision);
        assert_eq!(set(vision, &["default", "lab"]), done(&[], &[]));
        assert_eq!(set(vision, &["lab", "own"]), done(&["own ada vision"], &["default"]));
        assert_eq!(set(vision, &[]), done(&["lab ada "], &["default"]));
        assert_eq!(set(vision, &["none"]), Err(ErrorCode::NoVirtualClusterError));
        let speech = "speech".parse().unwrap();
        let alone = set(Grantee::Group(&speech), &[]);
        assert_eq!(alone, Err(ErrorCode::ConflictGroupError), "it would be everybody's");
    }

    #[test]
    fn a_group_gets_storages_and_takes_none_from_others() {
        let storage = |name: &str, users: &[&str], groups: &[&str]| {
            let source = protocol::storages::StorageSource::Path(format!("/mnt/{name}"));
            let mut settings = StorageSettings::new(name.parse().unwrap(), source);
            settings.users = users.iter().map(|name| name.parse().unwrap()).collect();
            settings.groups = groups.iter().map(|name| name.parse().unwrap()).collect();
            Storage { settings, password: None }
        };
        let known = vec![
            storage("all", &[], &[]),
            storage("lab", &["ada"], &["vision"]),
            storage("own", &["ada"], &[]),
        ];
        let set = |group: &str, wanted: &[&str]| {
            let wanted = wanted.iter().map(|name| name.parse().unwrap()).collect();
            let changed = of_storages(known.clone(), &group.parse().unwrap(), &wanted);
            let changed = changed.map_err(|error| error.code)?.into_iter();
            let told =
                changed.map(|one| (one.settings.name.to_string(), one.settings.groups.len()));
            Ok::<_, ErrorCode>(told.collect::<Vec<_>>())
        };
        assert_eq!(set("vision", &["all", "lab"]), Ok(vec![]));
        let both = vec![("lab".to_owned(), 0), ("own".to_owned(), 1)];
        assert_eq!(set("vision", &["own"]), Ok(both));
        assert_eq!(set("vision", &["none"]), Err(ErrorCode::NoStorageError));
        let alone = of_storages(
            vec![storage("team", &[], &["vision"])],
            &"vision".parse().unwrap(),
            &BTreeSet::new(),
        );
        let refused = alone.map_err(|error| error.code);
        assert_eq!(refused, Err(ErrorCode::ConflictGroupError), "it would be everybody's");
    }

    #[test]
    fn what_a_user_has_by_a_group_is_not_written_once_more() {
        let bob = "bob".parse().unwrap();
        let vision =
            Membership { group: "vision".parse().unwrap(), source: Source::Local, counts: true };
        let groups = [vision];
        let bob = Grantee::User(&bob, &groups);
        assert_eq!(set(bob, &["lab"]), done(&[], &["default"]));
        assert_eq!(set(bob, &["own"]), done(&["own ada,bob "], &["default", "lab"]));
        let ada = "ada".parse().unwrap();
        let ada = Grantee::User(&ada, &[]);
        assert_eq!(set(ada, &["own"]), done(&["lab  vision"], &["default"]));
        assert_eq!(set(ada, &["lab"]), Err(ErrorCode::ConflictGroupError));
    }
}
