//! What is wrong with storages, all of it at once, wherever they were written; and with the places at
//! which tasks are to have them.

use super::{NfsExport, SmbShare, StorageSettings, StorageSource};
use crate::document::shorten;
use crate::guest::FOLDER;
use crate::problem::Problem;

/// The longest path.
const LONGEST: usize = 1024;
/// What tasks have in their containers already; the second is where they have their users' files.
const TAKEN: [&str; 5] = [FOLDER, "/berth", "/proc", "/sys", "/dev"];

const FOLDER_PATH: &str = "a path such as /mnt/data, without . and ..";
const HOST: &str = "a host name or an IP address";
const SHARE: &str = "a name such as team or team/data";
const ONE_LINE: &str = "one line of text";
/// Where tasks may have a storage.
pub(crate) const TARGET: &str =
    "a path such as /mnt/data, without . and .., outside of /.berth, /berth, /proc, /sys and /dev";

impl StorageSettings {
    /// What is wrong with it by itself; beside others, see [`mistakes`].
    fn mistakes(&self) -> Vec<Problem> {
        let whole = format!("storages.{}", self.name);
        let mut mistakes = Vec::new();
        let mut wrong = |key: &str, message: String, allowed: &str| {
            mistakes.push(Problem::of_setting(format!("{whole}.{key}"), message, allowed));
        };
        match &self.source {
            StorageSource::Path(path) if !is_plain(path) => {
                wrong("source.path", no_path("path", path), FOLDER_PATH);
            }
            StorageSource::Path(_) => {}
            StorageSource::Nfs(NfsExport { server, path, options }) => {
                if !is_host(server) {
                    wrong("source.nfs.server", no_host(server), HOST);
                }
                if path != "/" && !is_plain(path) {
                    wrong("source.nfs.path", no_path("path", path), FOLDER_PATH);
                }
                if options.as_deref().is_some_and(is_broken) {
                    wrong("source.nfs.options", broken("options"), ONE_LINE);
                }
            }
            StorageSource::Smb(SmbShare { server, share, user, password, options }) => {
                if !is_host(server) {
                    wrong("source.smb.server", no_host(server), HOST);
                }
                if !is_plain(&format!("/{share}")) || share.contains('\\') {
                    let message = format!("share is {:?}, not the name of a share", shorten(share));
                    wrong("source.smb.share", message, SHARE);
                }
                let password = password.as_ref().map(|password| password.0.as_str());
                for (key, text) in [
                    ("user", user.as_deref()),
                    ("password", password),
                    ("options", options.as_deref()),
                ] {
                    if text.is_some_and(is_broken) {
                        wrong(&format!("source.smb.{key}"), broken(key), ONE_LINE);
                    }
                }
            }
        }
        if let Some(message) = target_mistake("mount", &self.target()) {
            wrong("mount", message, TARGET);
        }
        mistakes
    }

    /// Where it is among all places: on which server, if not on the nodes, and its path there.
    fn place(&self) -> (String, String) {
        let of = |kind: &str, server: &str| format!("{kind}:{}", server.to_ascii_lowercase());
        match &self.source {
            StorageSource::Path(path) => (String::new(), path.clone()),
            StorageSource::Nfs(export) => (of("nfs", &export.server), export.path.clone()),
            // Such servers do not tell capital letters from small ones.
            StorageSource::Smb(share) => {
                (of("smb", &share.server), format!("/{}", share.share.to_ascii_lowercase()))
            }
        }
    }

    /// Whether those who use another storage could exchange a folder on the way to what this one's
    /// users are given, so that an engine would follow them anywhere.
    fn is_exposed_by(&self, other: &Self) -> bool {
        let ((here, path), (there, above)) = (self.place(), other.place());
        let same = path.trim_end_matches('/') == above.trim_end_matches('/');
        let beneath = here == there && is_within(&path, &above) && !same;
        let beside = here == there && same && self.own_folders && !other.own_folders;
        !other.read_only && (beneath || beside)
    }
}

/// What is wrong with storages that are to go together.
#[must_use]
pub fn mistakes(storages: &[StorageSettings]) -> Vec<Problem> {
    let mut mistakes: Vec<_> = storages.iter().flat_map(StorageSettings::mistakes).collect();
    for (at, storage) in storages.iter().enumerate() {
        let others = storages.iter().enumerate().filter(|(other, _)| *other != at);
        for (_, other) in others.filter(|(_, other)| storage.is_exposed_by(other)) {
            let message = format!(
                "{} lies in {}, whose users can exchange its folders",
                storage.name, other.name
            );
            let place = format!("storages.{}.source", storage.name);
            mistakes.push(Problem::of_setting(place, message, "a place of its own"));
        }
    }
    mistakes
}

/// Whether a path is another one or lies beneath it.
#[must_use]
pub fn is_within(path: &str, above: &str) -> bool {
    let (path, above) = (path.trim_end_matches('/'), above.trim_end_matches('/'));
    path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What is wrong with a place at which tasks are to have a storage.
pub(crate) fn target_mistake(key: &str, path: &str) -> Option<String> {
    if !is_plain(path) {
        return Some(no_path(key, path));
    }
    let taken = TAKEN.iter().find(|taken| is_within(path, taken))?;
    Some(format!("{key} is {:?}, but {taken} is no place for a storage", shorten(path)))
}

/// Whether a path is whole and means what it says; the root is none.
fn is_plain(path: &str) -> bool {
    let mut parts = path.strip_prefix('/').unwrap_or_default().trim_end_matches('/').split('/');
    path.len() <= LONGEST && parts.all(|part| !is_broken(part) && part != "." && part != "..")
}

/// Whether a text is empty or more than one line.
fn is_broken(text: &str) -> bool {
    text.is_empty() || text.contains(char::is_control)
}

fn is_host(server: &str) -> bool {
    !server.is_empty() && server.chars().all(|c| c.is_ascii_alphanumeric() || ".:-_".contains(c))
}

fn no_path(key: &str, path: &str) -> String {
    format!("{key} is {:?}, not the path of a folder", shorten(path))
}

fn no_host(server: &str) -> String {
    format!("server is {:?}, not {HOST}", shorten(server))
}

fn broken(key: &str) -> String {
    format!("{key} is empty, or has a line break or control character in it")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn storage(name: &str, source: &str, more: &str) -> StorageSettings {
        let text = format!(r#"{{"name": "{name}", "source": {source}{more}}}"#);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn told(storages: &[StorageSettings]) -> Vec<String> {
        mistakes(storages).iter().map(|mistake| mistake.path.clone()).collect()
    }

    #[test]
    fn storages_as_people_write_them_are_sound() {
        let nfs = r#"{"nfs": {"server": "10.0.0.5", "path": "/", "options": "nfsvers=4.1"}}"#;
        let smb = r#"{"smb": {"server": "files.example.org", "share": "team/data", "user": "b"}}"#;
        let storages = [
            storage("data", r#"{"path": "/mnt/data/"}"#, r#", "mount": "/data""#),
            storage("other", r#"{"path": "/mnt/data2"}"#, ""),
            storage("models", nfs, ""),
            storage("team", smb, r#", "own_folders": true"#),
        ];
        assert_eq!(mistakes(&storages), []);
    }

    #[test]
    fn what_is_wrong_is_told_at_its_key() {
        for (source, key) in [
            (r#"{"path": "mnt"}"#, "source.path"),
            (r#"{"path": "/"}"#, "source.path"),
            (r#"{"path": "/a/../b"}"#, "source.path"),
            (r#"{"path": "/a//b"}"#, "source.path"),
            (r#"{"nfs": {"server": "a,b", "path": "/a"}}"#, "source.nfs.server"),
            (r#"{"nfs": {"server": "a", "path": "a"}}"#, "source.nfs.path"),
            (r#"{"nfs": {"server": "a", "path": "/a", "options": "a\nb"}}"#, "source.nfs.options"),
            (r#"{"smb": {"server": "", "share": "a"}}"#, "source.smb.server"),
            (r#"{"smb": {"server": "a", "share": "a\\b"}}"#, "source.smb.share"),
            (r#"{"smb": {"server": "a", "share": "a/.."}}"#, "source.smb.share"),
            (r#"{"smb": {"server": "a", "share": "a", "user": ""}}"#, "source.smb.user"),
        ] {
            assert_eq!(
                told(&[storage("s", source, "")]),
                [format!("storages.s.{key}")],
                "{source}"
            );
        }
        for mount in ["/", "data", "/a/./b", "/proc/1", "/.berth/bin", "/berth", "/dev/shm"] {
            let mount = format!(r#", "mount": "{mount}""#);
            let found = told(&[storage("s", r#"{"path": "/a"}"#, &mount)]);
            assert_eq!(found, ["storages.s.mount"], "{mount}");
        }
        assert_eq!(told(&[storage("..", r#"{"path": "/a"}"#, "")]), ["storages....mount"]);
    }

    /// An engine follows, as the node's administrator, whatever link it finds on the way.
    #[test]
    fn what_users_can_exchange_is_not_mounted() {
        let path = |name: &str, path: &str, more: &str| {
            storage(name, &format!(r#"{{"path": "{path}"}}"#), more)
        };
        let beneath = ["storages.b.source"];
        let all = path("a", "/mnt/all", "");
        assert_eq!(told(&[all.clone(), path("b", "/mnt/all/deep", "")]), beneath);
        assert_eq!(told(&[path("b", "/mnt/all/deep/", ""), all.clone()]), beneath);
        let own = r#", "own_folders": true"#;
        assert_eq!(told(&[all.clone(), path("b", "/mnt/all", own)]), beneath);
        assert_eq!(told(&[path("a", "/mnt/all", own), path("b", "/mnt/all/x", "")]), beneath);
        let nothing: [&str; 0] = [];
        assert_eq!(told(&[all.clone(), path("b", "/mnt/all", "")]), nothing, "by two names");
        assert_eq!(told(&[all, path("b", "/mnt/all2", own)]), nothing);
        let read_only = path("a", "/mnt/all", r#", "read_only": true"#);
        assert_eq!(told(&[read_only, path("b", "/mnt/all/deep", "")]), nothing);
        let nfs = |name: &str, server: &str, more: &str| {
            let source = format!(r#"{{"nfs": {{"server": "{server}", "path": "/export{more}"}}}}"#);
            storage(name, &source, "")
        };
        assert_eq!(told(&[nfs("a", "Files", ""), nfs("b", "files", "/deep")]), beneath);
        assert_eq!(told(&[nfs("a", "files", ""), nfs("b", "other", "/deep")]), nothing);
    }
}
