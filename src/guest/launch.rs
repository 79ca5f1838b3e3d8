//! How a command is started in this image: by bash, by another shell, or directly.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::environment;
use crate::words::{self, NeedsShell};

/// The exit code of a command that is not there, as shells have it.
pub(crate) const NOT_FOUND: u8 = 127;

/// The exit code of a command that may not be executed, as shells have it.
pub(crate) const NOT_EXECUTABLE: u8 = 126;

/// Where programs are even if the `PATH` forgets.
const FOLDERS: [&str; 3] = ["/bin", "/usr/bin", "/usr/local/bin"];

/// Shells by other names than the first two, the likeliest first.
const OTHERS: [&str; 9] =
    ["dash", "ash", "busybox", "zsh", "mksh", "ksh", "ksh93", "yash", "toybox"];

/// What stands for a shell in a user's entry and is none.
const NO_SHELLS: [&str; 4] = ["nologin", "false", "true", "sync"];

/// A program with its arguments; `name` is what it sees as its own name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Launch {
    pub(crate) program: PathBuf,
    pub(crate) name: OsString,
    pub(crate) arguments: Vec<OsString>,
}

/// A shell of the image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shell {
    path: PathBuf,
    /// Where one program is many: the shell's name in it.
    applet: Option<&'static str>,
}

/// Why a command is not started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LaunchError {
    /// There is no shell and the command needs one.
    #[error("this image has no shell, and the command needs one: {0}")]
    NeedsShell(#[from] NeedsShell),
    /// There is no shell to talk to.
    #[error("this image has no shell")]
    NoShell,
    /// There is nothing to start.
    #[error("the command is empty")]
    Empty,
    /// There is no such program.
    #[error("{0}: not found in this image, which has no shell either")]
    NotFound(String),
    /// The program cannot be started.
    #[error("cannot start {program}: {source}", program = program.display())]
    Refused {
        /// The program.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl LaunchError {
    /// The exit code that a shell would give.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Refused { source, .. } if source.kind() != io::ErrorKind::NotFound => {
                NOT_EXECUTABLE
            }
            Self::Refused { .. }
            | Self::NeedsShell(_)
            | Self::NoShell
            | Self::Empty
            | Self::NotFound(_) => NOT_FOUND,
        }
    }
}

impl Launch {
    /// How to run a command in this image.
    pub(crate) fn of_command(command: &OsStr) -> Result<Self, LaunchError> {
        match Shell::find() {
            Some(shell) => Ok(shell.launch(["-c".into(), command.to_owned()])),
            None => Self::without_shell(command),
        }
    }

    /// How to let a user type commands in this image.
    pub(crate) fn of_shell() -> Result<Self, LaunchError> {
        Shell::find().map(|shell| shell.launch([])).ok_or(LaunchError::NoShell)
    }

    fn without_shell(command: &OsStr) -> Result<Self, LaunchError> {
        let words = words::split(&command.to_string_lossy())?;
        let (name, arguments) = words.split_first().ok_or(LaunchError::Empty)?;
        let program = if name.contains('/') { Some(name.into()) } else { on_path(name) };
        Ok(Self {
            program: program.ok_or_else(|| LaunchError::NotFound(name.clone()))?,
            name: name.into(),
            arguments: arguments.iter().map(Into::into).collect(),
        })
    }
}

impl Shell {
    /// The best shell of the image: bash, then `sh`, then what the image itself names, then any.
    pub(crate) fn find() -> Option<Self> {
        let named = std::env::var_os("SHELL").map(PathBuf::from).into_iter();
        let named = named.chain(environment::account().shell).chain(listed());
        let named = named.filter(|path| is_executable(path) && !is_no_shell(path));
        on_path("bash")
            .into_iter()
            .chain(on_path("sh"))
            .chain(named)
            .chain(OTHERS.iter().filter_map(|name| on_path(name)))
            .next()
            .map(Self::at)
    }

    fn at(path: PathBuf) -> Self {
        let name = path.file_name().and_then(OsStr::to_str);
        let applet = matches!(name, Some("busybox" | "toybox")).then_some("sh");
        Self { path, applet }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn launch<const N: usize>(self, arguments: [OsString; N]) -> Launch {
        let applet = self.applet.map(OsString::from);
        Launch {
            name: self.path.file_name().unwrap_or_default().to_owned(),
            arguments: applet.into_iter().chain(arguments).collect(),
            program: self.path,
        }
    }
}

/// The shells that the image lists.
fn listed() -> Vec<PathBuf> {
    let text = fs::read("/etc/shells").unwrap_or_default();
    let lines = text.split(|&byte| byte == b'\n');
    let paths = lines.filter(|line| line.starts_with(b"/"));
    paths.map(|line| PathBuf::from(OsStr::from_bytes(line))).collect()
}

fn is_no_shell(path: &Path) -> bool {
    path.file_name().and_then(OsStr::to_str).is_none_or(|name| NO_SHELLS.contains(&name))
}

/// Where a program is on the `PATH`.
fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(FOLDERS.map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|candidate| is_executable(candidate))
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_one_argument_of_the_shell() {
        let launch = Shell::at("/bin/bash".into()).launch(["-c".into(), "a | b".into()]);
        assert_eq!((launch.name, launch.arguments.len()), ("bash".into(), 2));
        let busybox = Shell::at("/opt/busybox".into()).launch(["-c".into(), "a | b".into()]);
        assert_eq!(busybox.arguments, ["sh", "-c", "a | b"]);
    }

    #[test]
    fn without_a_shell_the_program_is_found_or_not() {
        let launch = Launch::without_shell("env 'a b'".as_ref()).unwrap();
        assert_eq!((launch.name, launch.arguments), ("env".into(), vec!["a b".into()]));
        assert!(launch.program.is_absolute());
        for (command, code) in [("no-such-program", 127), ("a && b", 127), ("", 127)] {
            assert_eq!(Launch::without_shell(command.as_ref()).unwrap_err().code(), code);
        }
    }

    #[test]
    fn what_locks_users_out_is_no_shell() {
        assert!(is_no_shell(Path::new("/usr/sbin/nologin")) && is_no_shell(Path::new("/")));
        assert!(!is_no_shell(Path::new("/bin/sh")));
    }
}
