use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::Context;

use crate::commands::outcome::Outcome;
use crate::commands::words::Words;

/// Goes on as another program, which gets the terminal and gives the exit code.
pub(super) fn replace(command: &mut Command, words: &Words) -> Outcome {
    let error = command.exec();
    let program = command.get_program().to_string_lossy().into_owned();
    Err(error).with_context(|| (words.no_program)(&program))
}
