//! `scp`: copying from and to another task over SFTP, and the server's half of the older protocol,
//! with which clients before OpenSSH 9 call us.

mod arguments;
mod copy;
mod legacy;

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};

use crate::folder::Folder;
use crate::note::note;
use crate::sftp::client::Client;
use arguments::{Arguments, Copy, Request};

/// A server of another task.
type Server = Client<ChildStdout, ChildStdin>;

/// Copies; the exit code is 1 if anything could not be copied.
pub(crate) fn main(words: &[OsString]) -> ExitCode {
    let done = match arguments::parse(words) {
        Ok(Request::Receive(options)) => legacy::receive(&options),
        Ok(Request::Send(options)) => legacy::send(&options),
        Ok(Request::Copy(arguments)) => copy(&arguments),
        Err(error) => {
            note(format_args!("scp: {error}"));
            return ExitCode::FAILURE;
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            note(format_args!("scp: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Whether everything was copied.
fn copy(arguments: &Arguments) -> io::Result<bool> {
    let mut whole = true;
    match &arguments.copy {
        Copy::To { sources, host, target } => {
            let (mut child, mut server) = connect(arguments, host)?;
            let into = copy::is_folder_there(&mut server, target)?;
            if sources.len() > 1 && !into {
                return Err(no_folder(target));
            }
            for source in sources {
                let target = copy::within(target, source, into);
                let copied = copy::up(&mut server, source, &target, &arguments.options);
                whole &= told(source, copied);
            }
            end(server, &mut child);
        }
        Copy::From { sources, target } => {
            let into = target.is_dir();
            if sources.len() > 1 && !into {
                return Err(no_folder(target));
            }
            for (host, source) in sources {
                let (mut child, mut server) = connect(arguments, host)?;
                let target = copy::within(target, source, into);
                let copied = copy::down(&mut server, source, &target, &arguments.options);
                whole &= told(source, copied);
                end(server, &mut child);
            }
        }
    }
    Ok(whole)
}

fn told(source: &Path, copied: io::Result<bool>) -> bool {
    copied.unwrap_or_else(|error| {
        note(format_args!("scp: {}: {error}", source.display()));
        false
    })
}

fn no_folder(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::NotADirectory, format!("{} is not a folder", path.display()))
}

/// Talks to a host's file server through our own `ssh`.
fn connect(arguments: &Arguments, host: &OsString) -> io::Result<(Child, Server)> {
    let mut command = Command::new(Folder::of_program().program());
    command.arg0("ssh").args(&arguments.ssh).arg("-s").arg("--").arg(host).arg("sftp");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (Some(input), Some(output)) = (child.stdout.take(), child.stdin.take()) else {
        return Err(io::Error::other("no pipes"));
    };
    match Client::new(input, output) {
        Ok(server) => Ok((child, server)),
        Err(_) => {
            // Why it ended, `ssh` has said itself.
            child.wait()?;
            Err(io::Error::from(io::ErrorKind::ConnectionAborted))
        }
    }
}

fn end(server: Server, child: &mut Child) {
    drop(server);
    // All has been confirmed already.
    let _ = child.wait();
}
