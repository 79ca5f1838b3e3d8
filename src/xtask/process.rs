//! Running other programs, with errors that say which one failed and what it printed last.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// How many of a failed program's last lines are shown.
const TAIL: usize = 30;

/// Runs a program whose output the user should see.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let shown = describe(command);
    let status = command.status().with_context(|| format!("cannot start `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` failed ({status})");
    }
    Ok(())
}

/// Runs a program and gives what it printed; its last lines are in the error when it fails.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let shown = describe(command);
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("cannot start `{shown}`"))?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("`{shown}` failed ({}):\n{}", output.status, tail(&format!("{stdout}{stderr}")));
    }
    Ok(stdout)
}

/// Whether a program can be started and ends well; nothing of it is shown.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// As [`succeeds`], but the program is killed when the time is over.
pub(crate) fn succeeds_within(command: &mut Command, limit: Duration) -> bool {
    let started = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = started else { return false };
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => thread::sleep(Duration::from_millis(50)),
            Err(_) => return false,
        }
    }
    // Nothing is left to do for a program that cannot be killed; the answer is no either way.
    let _ = child.kill();
    let _ = child.wait();
    false
}

/// Where a program is on the `PATH`, the folders for system programs included.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from))
        .map(|folder| folder.join(name))
        .find(|candidate| candidate.is_file())
}

/// A program that needs root: as it is for root, else through `sudo`.
pub(crate) fn as_root(program: &str) -> Result<Command> {
    let path = find_program(program).with_context(|| format!("there is no `{program}` here"))?;
    if is_root()? {
        return Ok(Command::new(path));
    }
    let sudo = find_program("sudo").with_context(|| {
        format!("`{program}` needs root and there is no `sudo`: run this command once as root")
    })?;
    let mut command = Command::new(sudo);
    command.arg(path);
    Ok(command)
}

/// Whether we are root.
pub(crate) fn is_root() -> Result<bool> {
    Ok(output(Command::new("id").arg("-u"))?.trim() == "0")
}

fn describe(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(TAIL)..].join("\n")
}
