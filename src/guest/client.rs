//! The small `ssh` for images that have none: enough for people, `rsync -e ssh`, `mpirun` and our
//! own `scp`.

mod arguments;
mod connect;
mod session;
mod standard;

use std::ffi::OsString;
use std::process::ExitCode;

use tokio::runtime::Builder;

use crate::folder::Folder;
use crate::note::note;
use arguments::{Arguments, Request};

/// The exit code of everything that goes wrong on our side.
const FAILED: u8 = 255;

const VERSION: &str = concat!("Berth ", env!("CARGO_PKG_VERSION"), ", a small SSH client");

/// Runs a command in another task; the exit code is the command's.
pub(crate) fn main(words: &[OsString]) -> ExitCode {
    let request = match arguments::parse(words) {
        Ok(Request::Version) => {
            note(VERSION);
            return ExitCode::SUCCESS;
        }
        Ok(Request::Run(request)) => *request,
        Err(error) => {
            note(format_args!("ssh: {error}"));
            return ExitCode::from(FAILED);
        }
    };
    let code = run(&request).unwrap_or_else(|error| {
        if !request.quiet {
            note(format_args!("ssh: {}: {error}", request.host));
        }
        FAILED
    });
    ExitCode::from(code)
}

fn run(request: &Arguments) -> Result<u8, connect::Failure> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let code = runtime.block_on(async {
        let connection = connect::connect(&Folder::of_program(), request).await?;
        session::run(&connection, request).await
    });
    // A thread may wait for standard input for ever.
    runtime.shutdown_background();
    code
}
