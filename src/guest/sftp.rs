//! SFTP, version 3: what all clients speak. The server is a process of its own on pipes, as
//! OpenSSH's is, so that no file however slow holds up the task's first process; names are bytes.

pub(crate) mod client;
mod listing;
mod server;
pub(crate) mod wire;

use std::io::{BufReader, BufWriter, stdin, stdout};
use std::process::ExitCode;

use crate::note::note;

/// Bytes read and written at once: what the largest usual packet takes.
const BUFFER: usize = 64 << 10;

/// Serves files on standard input and output.
pub(crate) fn serve() -> ExitCode {
    let input = BufReader::with_capacity(BUFFER, stdin().lock());
    let output = BufWriter::with_capacity(BUFFER, stdout().lock());
    match server::Server::default().run(input, output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            note(format_args!("files: {error}"));
            ExitCode::FAILURE
        }
    }
}
