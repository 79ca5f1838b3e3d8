//! Storages in containers: what administrators have set up and jobs ask for.
//!
//! A job names storages, never places of nodes. What an engine is told is what an administrator wrote,
//! and below it at most the name of the job's owner: no folder on that way can be exchanged by those
//! who use a storage, which [`protocol::storages::mistakes()`] sees to, and none lies where users have
//! their own files.

use std::path::Path;

use api::storages::MountView;
use api::{Actor, Error, ErrorCode, Result};
use database::storages::Storage;
use engine::{Folder, Share};
use protocol::ids::{StorageName, UserName};
use protocol::spec::JobSpec;
use protocol::storages::{
    Asked, AskedStorage, NfsExport, Password, SmbShare, StorageSettings, StorageSource, asked,
    is_within, variable,
};

use crate::accounts::people::People;
use crate::accounts::rights::Usable;
use crate::container::code::acting;
use crate::known::lacks::Part;
use crate::records::store::Store;
use crate::secrets::sealing::Seal;

/// A storage that a job's tasks have.
#[derive(Debug)]
pub(crate) struct Mounted {
    storage: Storage,
    /// Whose folder of it they have; `None`: all of it.
    own: Option<UserName>,
    /// Where they have it.
    target: String,
}

/// What a container is given of them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) folders: Vec<Folder>,
    pub(crate) shares: Vec<Share>,
    pub(crate) variables: Vec<(String, String)>,
}

/// Why a container is not given a storage.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotGiven {
    /// This server's key does not open its password.
    Sealed,
    /// Users have their own files there.
    Exposed(Part),
    /// It is not there, or the job's owner has no folder in it.
    Absent(Part),
}

/// What the password of a storage is bound to.
fn context(name: &StorageName) -> String {
    format!("storage {name}")
}

/// A storage as it is stored: with the password that it has, else the one that was given `before` for
/// the same account of the same server.
pub(crate) fn sealed(seal: &Seal, settings: &StorageSettings, before: Option<&Storage>) -> Storage {
    let given = settings.password();
    let given = given.map(|Password(text)| seal.seal(&context(&settings.name), text));
    let same = before.filter(|before| {
        account(settings).is_some() && account(settings) == account(&before.settings)
    });
    let password = given.or_else(|| same.and_then(|before| before.password.clone()));
    Storage { settings: settings.clone(), password }
}

/// What a password is for.
fn account(settings: &StorageSettings) -> Option<(&str, &str)> {
    match &settings.source {
        StorageSource::Smb(SmbShare { server, user, .. }) => {
            Some((server.as_str(), user.as_deref()?))
        }
        StorageSource::Path(_) | StorageSource::Nfs(_) => None,
    }
}

/// The storages that a job of this user's asks for, if he may have all of them.
pub(crate) async fn of_job(
    store: &Store,
    people: &People,
    actor: &Actor,
    spec: &JobSpec,
) -> Result<Vec<Mounted>> {
    let Some(asked) = asked(spec) else { return Ok(Vec::new()) };
    let stored = database::storages::list(store.database.read()).await?;
    let usable = Usable::by(store, people, actor).await?;
    let mounted: Vec<Mounted> = match asked {
        Asked::Defaults => {
            let own = stored.into_iter().filter(|storage| usable.has_by_default(&storage.settings));
            own.map(|storage| Mounted::of(storage, actor, None)).collect()
        }
        Asked::These(these) => {
            let mut stored = stored;
            stored.retain(|storage| usable.opens(&storage.settings));
            let find = |AskedStorage { name, target }: AskedStorage| {
                let found = stored.iter().find(|storage| storage.settings.name == name);
                let found = found.cloned().ok_or_else(|| missing(&name));
                found.map(|storage| Mounted::of(storage, actor, target))
            };
            these.into_iter().map(find).collect::<Result<_>>()?
        }
    };
    check(&mounted)?;
    Ok(mounted)
}

/// The same of a job that is there, with the rights that its owner has now.
pub(crate) async fn of_owner(
    store: &Store,
    people: &People,
    owner: &UserName,
    spec: &JobSpec,
) -> Result<Vec<Mounted>> {
    if asked(spec).is_none() {
        return Ok(Vec::new());
    }
    let owner = acting(store, people, owner).await?;
    of_job(store, people, &owner, spec).await
}

/// What people are told that a job's tasks have; nothing, where it could not have it any more.
pub(crate) async fn seen(
    store: &Store,
    people: &People,
    owner: &UserName,
    spec: &JobSpec,
) -> Result<Vec<MountView>> {
    let mounted = match of_owner(store, people, owner, spec).await {
        Err(error) if !error.is_ours() => return Ok(Vec::new()),
        mounted => mounted?,
    };
    Ok(mounted.iter().map(Mounted::view).collect())
}

/// What a container is given on a node that has the users' own files at `mount`, if it has them.
pub(crate) fn given(
    seal: &Seal,
    mount: Option<&str>,
    mounted: &[Mounted],
) -> std::result::Result<Given, NotGiven> {
    let mut given = Given::default();
    for one in mounted {
        let Storage { settings, password } = &one.storage;
        if mount.is_some_and(|mount| overlaps(settings, mount)) {
            return Err(NotGiven::Exposed(one.part()));
        }
        let password = match password {
            Some(sealed) => {
                let opened = seal.unseal(&context(&settings.name), sealed);
                Some(opened.ok_or(NotGiven::Sealed)?)
            }
            None => None,
        };
        one.give(password.as_deref(), &mut given);
    }
    Ok(given)
}

/// The storage that a node lacks, where an engine's words say that it is why there is no container.
pub(crate) fn absent(mounted: &[Mounted], words: &str) -> Option<NotGiven> {
    let is_absent = |one: &&Mounted| {
        let mut given = Given::default();
        one.give(None, &mut given);
        given.folders.iter().any(|folder| is_named(words, &folder.source))
            || given.shares.iter().any(|share| words.contains(&format!("mount {}:", share.device)))
    };
    mounted.iter().find(is_absent).map(|one| NotGiven::Absent(one.part()))
}

/// Whether words name a place, and not only one whose name begins like it.
fn is_named(words: &str, place: &str) -> bool {
    let goes_on = |next: char| next.is_alphanumeric() || "/._-".contains(next);
    words.match_indices(place).any(|(at, _)| !words[at + place.len()..].starts_with(goes_on))
}

/// A storage, or a user's own folder of it, as it is stored now, if this user may have it still.
pub(crate) async fn part(
    store: &Store,
    people: &People,
    part: &Part,
    user: &UserName,
) -> Result<Option<Mounted>> {
    let is_it = |storage: &Storage| {
        storage.settings.name == part.storage && storage.settings.own_folders == part.own.is_some()
    };
    let stored = database::storages::list(store.database.read()).await?;
    let Some(storage) = stored.into_iter().find(is_it) else { return Ok(None) };
    let user = acting(store, people, user).await?;
    if !Usable::by(store, people, &user).await?.opens(&storage.settings) {
        return Ok(None);
    }
    let target = storage.settings.target();
    Ok(Some(Mounted { storage, own: part.own.clone(), target }))
}

/// Whether a storage and the folder where nodes have the users' own files lie in each other.
pub(crate) fn overlaps(settings: &StorageSettings, mount: &str) -> bool {
    match &settings.source {
        StorageSource::Path(path) => is_within(path, mount) || is_within(mount, path),
        StorageSource::Nfs(_) | StorageSource::Smb(_) => false,
    }
}

pub(crate) fn missing(name: &StorageName) -> Error {
    Error::new(ErrorCode::NoStorageError, format!("Storage {name} is not found."))
}

/// Whether each has a place of its own, and its folder in it a name.
fn check(mounted: &[Mounted]) -> Result<()> {
    let refused = |message: String| Error::new(ErrorCode::InvalidParametersError, message);
    for (at, one) in mounted.iter().enumerate() {
        let Mounted { storage, own, target } = one;
        let name = &storage.settings.name;
        if own.as_ref().is_some_and(|own| Path::new(own.as_str()).file_name().is_none()) {
            return Err(refused(format!("there can be no folder of {name} for you")));
        }
        let nested =
            |other: &&Mounted| is_within(target, &other.target) || is_within(&other.target, target);
        if let Some(other) = mounted[..at].iter().find(nested) {
            let other = &other.storage.settings.name;
            return Err(refused(format!(
                "the storages {other} and {name} would be in each other's place: give one of them \
                 another mountPath"
            )));
        }
    }
    Ok(())
}

impl Mounted {
    fn of(storage: Storage, actor: &Actor, target: Option<String>) -> Self {
        let own = storage.settings.own_folders.then(|| actor.user.clone());
        let target = target.unwrap_or_else(|| storage.settings.target());
        Self { storage, own, target }
    }

    fn part(&self) -> Part {
        Part { storage: self.storage.settings.name.clone(), own: self.own.clone() }
    }

    fn view(&self) -> MountView {
        let StorageSettings { name, read_only, .. } = &self.storage.settings;
        MountView {
            name: name.clone(),
            target: self.target.clone(),
            read_only: *read_only,
            variable: variable(name),
        }
    }

    /// A folder of the storage, or in it.
    fn place(&self, folder: &str) -> String {
        let folder = folder.trim_end_matches('/');
        self.own.as_ref().map_or_else(|| folder.to_owned(), |own| format!("{folder}/{own}"))
    }

    /// Adds it to what a container is given.
    fn give(&self, password: Option<&str>, given: &mut Given) {
        let target = self.target.clone();
        let StorageSettings { name, source, read_only, .. } = &self.storage.settings;
        let read_only = *read_only;
        given.variables.push((variable(name), target.clone()));
        match source {
            StorageSource::Path(path) => {
                given.folders.push(Folder { source: self.place(path), target, read_only });
            }
            StorageSource::Nfs(NfsExport { server, path, options }) => {
                let place = self.place(path);
                let device = format!(":{}", if place.is_empty() { "/" } else { place.as_str() });
                let options = nfs_options(server, options.as_deref());
                given.shares.push(Share { kind: "nfs", device, options, target, read_only });
            }
            StorageSource::Smb(share) => {
                let device = format!("//{}/{}", share.server, self.place(&share.share));
                let options = smb_options(share, password);
                given.shares.push(Share { kind: "cifs", device, options, target, read_only });
            }
        }
    }
}

/// What every mount of a server's folder says: nothing in it gives anybody rights on the node.
fn common(server: &str) -> String {
    format!("addr={server},nosuid,nodev")
}

fn nfs_options(server: &str, more: Option<&str>) -> String {
    let more = more.unwrap_or_default();
    let says_version =
        more.split(',').any(|one| one.starts_with("vers=") || one.starts_with("nfsvers="));
    let version = if says_version { "" } else { ",nfsvers=4" };
    let comma = if more.is_empty() { "" } else { "," };
    format!("{}{version}{comma}{more}", common(server))
}

/// A comma within a value is written twice.
fn smb_options(share: &SmbShare, password: Option<&str>) -> String {
    let SmbShare { server, user, options, .. } = share;
    let mut all = common(server);
    match user {
        Some(user) => {
            all.push_str(&format!(",username={}", user.replace(',', ",,")));
            let password = password.unwrap_or_default().replace(',', ",,");
            all.push_str(&format!(",password={password}"));
        }
        None => all.push_str(",guest"),
    }
    if let Some(options) = options {
        all.push(',');
        all.push_str(options);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mounted(source: &str, more: &str) -> Mounted {
        let text = format!(r#"{{"name": "data", "source": {source}{more}}}"#);
        let settings =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let alice = Actor { user: "alice".parse().unwrap(), admin: false };
        Mounted::of(Storage { settings, password: None }, &alice, None)
    }

    fn given_of(mounted: &Mounted) -> Given {
        let mut given = Given::default();
        mounted.give(Some("x,y"), &mut given);
        given
    }

    #[test]
    fn a_folder_of_the_nodes_is_told_as_its_administrator_wrote_it() {
        let all = mounted(r#"{"path": "/mnt/ceph/"}"#, "");
        let own =
            mounted(r#"{"path": "/mnt/ceph"}"#, r#", "own_folders": true, "read_only": true"#);
        let folder = |source: &str, read_only| Folder {
            source: source.to_owned(),
            target: "/mnt/data".to_owned(),
            read_only,
        };
        assert_eq!(given_of(&all).folders, [folder("/mnt/ceph", false)]);
        assert_eq!(given_of(&own).folders, [folder("/mnt/ceph/alice", true)]);
        let told = ("BERTH_MOUNT_DATA".to_owned(), "/mnt/data".to_owned());
        assert_eq!(given_of(&all).variables, [told]);
    }

    #[test]
    fn servers_are_mounted_by_the_engine() {
        for (source, more, device, options) in [
            (
                r#"{"nfs": {"server": "10.0.0.5", "path": "/"}}"#,
                "",
                ":/",
                "addr=10.0.0.5,nosuid,nodev,nfsvers=4",
            ),
            (
                r#"{"nfs": {"server": "files", "path": "/export", "options": "soft,vers=3"}}"#,
                r#", "own_folders": true, "read_only": true"#,
                ":/export/alice",
                "addr=files,nosuid,nodev,soft,vers=3",
            ),
            (
                r#"{"smb": {"server": "files", "share": "team/data", "user": "a,b"}}"#,
                "",
                "//files/team/data",
                "addr=files,nosuid,nodev,username=a,,b,password=x,,y",
            ),
            (
                r#"{"smb": {"server": "files", "share": "team", "options": "vers=3.1.1"}}"#,
                r#", "own_folders": true"#,
                "//files/team/alice",
                "addr=files,nosuid,nodev,guest,vers=3.1.1",
            ),
        ] {
            let Given { folders, shares, .. } = given_of(&mounted(source, more));
            assert_eq!(folders, []);
            let [share] = shares.as_slice() else { panic!("{shares:?}") };
            assert_eq!((share.device.as_str(), share.options.as_str()), (device, options));
            assert_eq!(share.target, "/mnt/data");
            assert!(!format!("{share:?}").contains("x,,y"), "no log has a password");
        }
    }

    #[test]
    fn no_two_are_in_each_others_place() {
        let at = |target: &str| Mounted {
            target: target.to_owned(),
            ..mounted(r#"{"path": "/mnt/ceph"}"#, "")
        };
        check(&[at("/mnt/a"), at("/mnt/ab")]).unwrap();
        for (one, other) in [("/mnt/a", "/mnt/a"), ("/mnt/a", "/mnt/a/b"), ("/a/b/c", "/a/b/")] {
            let error = check(&[at(one), at(other)]).unwrap_err();
            assert_eq!(error.code, ErrorCode::InvalidParametersError, "{one} {other}");
        }
    }

    #[test]
    fn a_name_that_is_no_folder_has_none() {
        let dots = Actor { user: "..".parse().unwrap(), admin: false };
        let own = mounted(r#"{"path": "/mnt/ceph"}"#, r#", "own_folders": true"#);
        let own = Mounted::of(own.storage, &dots, None);
        check(&[own]).unwrap_err();
    }

    #[test]
    fn which_storage_a_node_lacks_is_told_from_what_else_goes_wrong() {
        let lacks = |mounted: Mounted, words: &str| {
            let part = mounted.part();
            absent(&[mounted], words) == Some(NotGiven::Absent(part))
        };
        let source = r#"{"path": "/mnt/ceph"}"#;
        let no_folder = |path: &str| {
            format!(
                "invalid mount config for type \"bind\": bind source path does not exist: {path}"
            )
        };
        let own = || mounted(source, r#", "own_folders": true"#);
        assert!(lacks(own(), &no_folder("/mnt/ceph/alice")));
        assert!(!lacks(own(), &no_folder("/mnt/ceph/alice2")), "another one's");
        assert!(lacks(mounted(source, ""), &no_folder("/mnt/ceph")));
        assert!(!lacks(mounted(source, ""), &no_folder("/mnt/ceph2")));
        let nfs = || mounted(r#"{"nfs": {"server": "10.0.0.5", "path": "/export"}}"#, "");
        let volume = "/var/lib/docker/volumes/x/_data";
        let no_server = format!(
            "error while mounting volume '{volume}': failed to mount local volume: mount \
             :/export:{volume}, data: addr=10.0.0.5: connection refused"
        );
        assert!(lacks(nfs(), &no_server));
        assert!(!lacks(nfs(), "no space left on device"));
    }

    #[test]
    fn where_users_have_their_files_is_no_storage() {
        let settings =
            |path: &str| mounted(&format!(r#"{{"path": "{path}"}}"#), "").storage.settings;
        for path in ["/mnt/berth", "/mnt/berth/alice", "/mnt"] {
            assert!(overlaps(&settings(path), "/mnt/berth/"), "{path}");
        }
        assert!(!overlaps(&settings("/mnt/berth2"), "/mnt/berth"));
    }
}
