//! Who may do what with which file.
//!
//! * **A user's own**: `/<user>`, and `<user>` below `/Output`, `/Container`, `/Users`, `/user` and
//!   `/path`, unless somebody had claimed that before. Only that user reads and writes there.
//! * **Claimed**: everywhere else a place two names deep (`/Output/train`, `/path/my-job`) belongs
//!   to whoever made it, by a job's `outputDir` or by uploading; only its owner reads and writes
//!   there. So the documents' examples work as written: `$PAI_DEFAULT_FS_URI/Output/$jobName`,
//!   `$PAI_DEFAULT_FS_URI/path/tensorflow-distributed-jobguid/output`. The folder that it is in is
//!   one of the documents' or is there: whoever made `/carol` would prepare the home of a user to
//!   come.
//! * **Common**: what nobody has claimed, since whoever runs the storage put it there (`/data`),
//!   everybody reads and only administrators change. The root and the folders right below it that
//!   are nobody's are common as well: everybody lists of them what he may read, only administrators
//!   make new ones by themselves.
//! * Administrators read and write everywhere. Nobody reaches `/.berth`.
//!
//! Who claimed what is kept in `/.berth/owners`, so that it goes wherever the files go. A user who
//! is removed leaves claims to what was his: nobody comes to see it by his leaving.

use protocol::ids::UserName;

use crate::path::StoragePath;

/// Folders of the documents below which each user has one of his own name. No user's own folder is
/// called so, whatever he is called.
pub const COMMON: [&str; 5] = ["Output", "Container", "Users", "user", "path"];

/// Whose a path is, as far as its names tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whose {
    /// Everybody's to list: the root, or right below it.
    Common,
    /// This user's, as all in this place is.
    User {
        /// Who.
        user: UserName,
        /// `/<user>`, or `<user>` below a folder of the documents.
        place: StoragePath,
    },
    /// Whoever's who claimed one of these places; the first that is claimed counts. A new place is
    /// claimed as the last one.
    Claim(Vec<StoragePath>),
}

/// Whose a path is. `is_user` is asked for names that could be a user's.
pub fn whose(path: &StoragePath, is_user: impl Fn(&UserName) -> bool) -> Whose {
    let mut parts = path.parts();
    let (first, second) = (parts.next(), parts.next());
    let user = |name: &str| UserName::new(name).ok().filter(|name| is_user(name));
    let Some(first) = first else { return Whose::Common };
    if COMMON.contains(&first) {
        return match second {
            None => Whose::Common,
            Some(second) => {
                let place = path.first(2);
                match user(second) {
                    Some(user) => Whose::User { user, place },
                    None => Whose::Claim(vec![place]),
                }
            }
        };
    }
    if let Some(user) = user(first) {
        return Whose::User { user, place: path.first(1) };
    }
    // The first name may be that of a user who is gone.
    match second {
        None => Whose::Claim(vec![path.first(1)]),
        Some(_) => Whose::Claim(vec![path.first(1), path.first(2)]),
    }
}

/// Whether it is one of the folders of the documents: they are there for whoever needs them.
#[must_use]
pub fn is_of_documents(path: &StoragePath) -> bool {
    path.parts().count() == 1 && path.name().is_some_and(|name| COMMON.contains(&name))
}

/// The name of a path that may be a user's: only this one needs to be looked up.
#[must_use]
pub fn name(path: &StoragePath) -> Option<UserName> {
    let mut parts = path.parts();
    let first = parts.next()?;
    let name = if COMMON.contains(&first) { parts.next()? } else { first };
    UserName::new(name).ok()
}

/// A user's home.
#[must_use]
pub fn home(user: &UserName) -> Option<StoragePath> {
    let name = user.as_str();
    let home = crate::path::resolve("", &format!("/{name}")).ok()?;
    (home.name() == Some(name) && !COMMON.contains(&name)).then_some(home)
}

/// In a user's home: where those of his jobs go on from that ask for a grace, each in a folder of its own.
#[must_use]
pub fn checkpoints(user: &UserName) -> Option<StoragePath> {
    home(user)?.child(".checkpoints")
}

/// All places that are a user's by their names.
pub fn own_places(user: &UserName) -> impl Iterator<Item = StoragePath> + '_ {
    let below = move |folder: &&str| crate::path::resolve("", &format!("/{folder}/{user}")).ok();
    home(user).into_iter().chain(COMMON.iter().filter_map(below))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str) -> String {
        let path = crate::path::resolve("", path).unwrap();
        match whose(&path, |user| ["alice", "Output"].contains(&user.as_str())) {
            Whose::Common => "common".to_owned(),
            Whose::User { user, place } => {
                assert!(path.is_within(&place) && place.name() == Some(user.as_str()), "{place}");
                format!("user {user}")
            }
            Whose::Claim(places) => {
                let places: Vec<_> = places.iter().map(StoragePath::as_str).collect();
                format!("claim {}", places.join(" "))
            }
        }
    }

    #[test]
    fn names_tell_whose_a_path_is() {
        for (path, whose) in [
            ("/", "common"),
            ("/alice", "user alice"),
            ("/alice/code/a.py", "user alice"),
            ("/Output", "common"),
            ("/Output/train", "claim /Output/train"),
            ("/Output/train/model/1", "claim /Output/train"),
            ("/Output/alice/train", "user alice"),
            ("/Output/Output", "user Output"),
            ("/Container/alice/train/ssh/1/.ssh/1", "user alice"),
            ("/Container/bob/train", "claim /Container/bob"),
            ("/Users/alice", "user alice"),
            ("/user/alice/x", "user alice"),
            ("/data", "claim /data"),
            ("/data/alice/x", "claim /data /data/alice"),
            (
                "/path/tensorflow-distributed-jobguid/output",
                "claim /path/tensorflow-distributed-jobguid",
            ),
        ] {
            assert_eq!(of(path), whose, "{path}");
            let name = name(&crate::path::resolve("", path).unwrap());
            let name = name.map(|name| name.to_string()).unwrap_or_default();
            assert!(whose.strip_prefix("user ").is_none_or(|user| user == name), "{path}");
        }
    }

    #[test]
    fn a_user_has_a_home_unless_his_name_is_a_common_one() {
        let home = |name: &str| home(&UserName::new(name).unwrap()).map(|home| home.to_string());
        assert_eq!(home("alice").as_deref(), Some("/alice"));
        for name in ["Output", "user", ".", "..", ".berth"] {
            assert_eq!(home(name), None, "{name}");
        }
        let alice = UserName::new("alice").unwrap();
        let places: Vec<_> = own_places(&alice).map(|place| place.to_string()).collect();
        assert_eq!(
            places,
            [
                "/alice",
                "/Output/alice",
                "/Container/alice",
                "/Users/alice",
                "/user/alice",
                "/path/alice"
            ]
        );
    }
}
