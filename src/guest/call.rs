//! Which of its parts the program is called as.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::folder::Folder;
use crate::note::note;
use crate::{client, run, scp, sftp, terminal};

/// What Docker says as well when it cannot even begin.
const UNUSABLE: u8 = 125;

const USAGE: &str = "usage: berth-guest run [--config FILE] | ssh … | scp … | sftp-server";

/// Does what the name of the program and its arguments say.
#[must_use]
pub fn main() -> ExitCode {
    let mut words = std::env::args_os();
    let name = words.next().unwrap_or_default();
    let words: Vec<OsString> = words.collect();
    let name = Path::new(&name).file_name().unwrap_or_default().to_string_lossy().into_owned();
    match name.as_str() {
        "ssh" | "scp" | "sftp-server" => dispatch(&name, &words),
        _ => match words.split_first() {
            Some((part, rest)) => dispatch(&part.to_string_lossy(), rest),
            None => misused(),
        },
    }
}

fn dispatch(part: &str, rest: &[OsString]) -> ExitCode {
    match part {
        "run" => match folder_of(rest) {
            Some(folder) => run::run(&folder),
            None => misused(),
        },
        "ssh" => client::main(rest),
        "scp" => scp::main(rest),
        "sftp-server" => sftp::serve(),
        "terminal" => terminal::become_program(rest),
        _ => misused(),
    }
}

/// The folder of the configuration that the arguments of `run` name.
fn folder_of(words: &[OsString]) -> Option<Folder> {
    match words {
        [] => Some(Folder::usual()),
        [option, file] if option == "--config" => Some(Folder::of_config(PathBuf::from(file))),
        _ => None,
    }
}

fn misused() -> ExitCode {
    note(USAGE);
    ExitCode::from(UNUSABLE)
}
