//! Terminals: making one, and becoming a program that has one as its own.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use rustix::fs::{Mode, OFlags, open};
use rustix::process::{ioctl_tiocsctty, setsid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{InputModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

use crate::launch::{Launch, LaunchError};
use crate::note::note;

/// Both ends of a new terminal and its name.
#[derive(Debug)]
pub(crate) struct Terminal {
    /// Our end.
    pub(crate) controller: OwnedFd,
    /// The program's end.
    pub(crate) device: OwnedFd,
    /// The name of the program's end.
    pub(crate) name: String,
}

impl Terminal {
    /// Makes one of this size.
    pub(crate) fn open(size: Winsize) -> io::Result<Self> {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&controller)?;
        unlockpt(&controller)?;
        let name = ptsname(&controller, Vec::new())?.to_string_lossy().into_owned();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let device = open(name.as_str(), flags, Mode::empty())?;
        tcsetwinsize(&device, size)?;
        // Erasing a letter erases all of its bytes.
        let mut modes = tcgetattr(&device)?;
        modes.input_modes |= InputModes::IUTF8;
        tcsetattr(&device, OptionalActions::Now, &modes)?;
        Ok(Self { controller, device, name })
    }
}

/// The arguments that make this program become another one with a terminal.
pub(crate) fn arguments(launch: &Launch) -> Vec<OsString> {
    let first = ["terminal".into(), launch.program.clone().into(), launch.name.clone()];
    first.into_iter().chain(launch.arguments.iter().cloned()).collect()
}

/// Makes the terminal on standard input our own and becomes the program that the arguments name.
/// Done here and not between fork and exec, where next to nothing is allowed.
pub(crate) fn become_program(words: &[OsString]) -> ExitCode {
    let [program, name, arguments @ ..] = words else {
        note("usage: berth-guest terminal PROGRAM NAME [ARGUMENT…]");
        return ExitCode::FAILURE;
    };
    if let Err(error) = own_terminal() {
        note(format_args!("no terminal of its own: {error}"));
    }
    let source = Command::new(program).arg0(name).args(arguments).exec();
    let error = LaunchError::Refused { program: program.into(), source };
    note(&error);
    ExitCode::from(error.code())
}

fn own_terminal() -> io::Result<()> {
    setsid()?;
    Ok(ioctl_tiocsctty(rustix::stdio::stdin())?)
}
