//! The variables that the command and the sessions find.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use protocol::guest::VARIABLE;

use crate::folder::Folder;

/// Where programs are looked for if the image does not say.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Variables by name.
pub(crate) type Variables = BTreeMap<OsString, OsString>;

/// What the image knows of the user whom we run as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) name: OsString,
    pub(crate) home: PathBuf,
    pub(crate) shell: Option<PathBuf>,
}

/// The user whom we run as; one whom the image does not know is told by its number.
pub(crate) fn account() -> Account {
    let user = rustix::process::getuid().as_raw();
    let text = fs::read("/etc/passwd").unwrap_or_default();
    find_account(&text, user).unwrap_or_else(|| Account {
        name: if user == 0 { "root".into() } else { user.to_string().into() },
        home: if user == 0 { "/root".into() } else { "/".into() },
        shell: None,
    })
}

fn find_account(text: &[u8], user: u32) -> Option<Account> {
    text.split(|&byte| byte == b'\n').find_map(|line| {
        let fields: Vec<&[u8]> = line.split(|&byte| byte == b':').collect();
        let [name, _, id, _, _, home, shell] = fields[..] else { return None };
        (id == user.to_string().as_bytes()).then(|| Account {
            name: OsStr::from_bytes(name).to_owned(),
            home: PathBuf::from(OsStr::from_bytes(home)),
            shell: (!shell.is_empty()).then(|| OsStr::from_bytes(shell).into()),
        })
    })
}

/// The home folder: what the environment says, else the user's own.
pub(crate) fn home() -> PathBuf {
    let told = std::env::var_os("HOME").filter(|home| !home.is_empty());
    told.map_or_else(|| account().home, PathBuf::from)
}

/// What the task's command finds: what the container was given, the folder it starts in, and our
/// clients behind all other programs.
pub(crate) fn of_command(folder: &Folder, start_in: &Path) -> Variables {
    let mut variables: Variables = std::env::vars_os().collect();
    // It has the job's keys in it.
    variables.remove(OsStr::new(VARIABLE));
    let path = variables.remove(OsStr::new("PATH")).filter(|path| !path.is_empty());
    variables.insert("PATH".into(), with_clients(path, &folder.programs()));
    for name in ["PAI_WORK_DIR", "QIZHI_WORK_DIR"] {
        variables.insert(name.into(), start_in.into());
    }
    variables
}

/// What a session finds: the same, and what every user's session has.
pub(crate) fn of_session(folder: &Folder, start_in: &Path, shell: Option<&Path>) -> Variables {
    let mut variables = of_command(folder, start_in);
    let account = account();
    let mut default = |name: &str, value: OsString| {
        variables.entry(name.into()).or_insert(value);
    };
    default("HOME", home().into());
    default("USER", account.name.clone());
    default("LOGNAME", account.name);
    if let Some(shell) = shell {
        default("SHELL", shell.into());
    }
    variables
}

fn with_clients(path: Option<OsString>, programs: &Path) -> OsString {
    let mut path = path.unwrap_or_else(|| PATH.into()).into_vec();
    let ours = programs.as_os_str().as_bytes();
    if !path.split(|&byte| byte == b':').any(|folder| folder == ours) {
        path.push(b':');
        path.extend_from_slice(ours);
    }
    OsString::from_vec(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clients_come_last_and_once() {
        let programs = Path::new("/.berth/bin");
        let path = with_clients(Some("/opt/conda/bin:/bin".into()), programs);
        assert_eq!(path, "/opt/conda/bin:/bin:/.berth/bin");
        assert_eq!(with_clients(Some(path.clone()), programs), path);
        assert_eq!(with_clients(None, programs), format!("{PATH}:/.berth/bin").as_str());
    }

    #[test]
    fn an_account_is_found_by_its_number() {
        let text = b"daemon:x:1:1:d:/usr/sbin:/usr/sbin/nologin\nbroken\nme:x:7:7::/home/me:\n";
        let found = find_account(text, 7).unwrap();
        assert_eq!((found.name, found.shell), ("me".into(), None));
        assert_eq!(find_account(text, 0), None);
    }
}
