//! Running other programs, with errors that say which one failed and what it printed last.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// How many of a failed program's last lines are shown.
const TAIL: usize = 30;

/// What is killed has ended by then.
const KILLED: Duration = Duration::from_secs(30);

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

/// Kills the processes of these programs whose command line has something in a folder, and waits until they
/// are gone.
pub(crate) fn kill_of(folder: &Path, programs: &[&str]) -> Result<()> {
    let deadline = Instant::now() + KILLED;
    loop {
        let ids = of(folder, programs)?;
        if ids.is_empty() {
            return Ok(());
        }
        if Instant::now() > deadline {
            bail!("processes {ids:?} of {} do not end", folder.display());
        }
        // One that has ended meanwhile is none that fails.
        let kill = r#"for id in "$@"; do kill -KILL "$id" 2>/dev/null || true; done"#;
        output(as_root("sh")?.args(["-c", kill, "sh"]).args(ids.iter().map(u32::to_string)))?;
        thread::sleep(Duration::from_millis(50));
    }
}

/// Processes of these programs whose command line has something in a folder. One that has ended has none.
fn of(folder: &Path, programs: &[&str]) -> Result<Vec<u32>> {
    let folder = folder.to_str().context("a folder whose name is no text")?;
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")?.flatten() {
        let id = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok());
        let Some(id) = id.filter(|id| *id != std::process::id()) else { continue };
        // It may have ended meanwhile.
        let Ok(line) = fs::read(entry.path().join("cmdline")) else { continue };
        if is_of(&String::from_utf8_lossy(&line), folder, programs) {
            found.push(id);
        }
    }
    Ok(found)
}

/// Whether a command line is that of one of these programs and has something in a folder.
fn is_of(line: &str, folder: &str, programs: &[&str]) -> bool {
    let mut words = line.split('\0');
    let program = words.next().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
    let is_in = |word: &str| {
        let rest = word.split_once(folder).map(|(_, rest)| rest);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    programs.contains(&program) && words.any(is_in)
}

fn describe(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(TAIL)..].join("\n")
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn processes_are_told_by_program_and_folder() {
        let line =
            "/usr/sbin/dockerd\0--data-root\0/tmp/one-12/data\0--host\0unix:///tmp/one-12/s\0";
        for (folder, programs, is_its) in [
            ("/tmp/one-12", &["dockerd"][..], true),
            ("/tmp/one-12", &["containerd"], false),
            ("/tmp/one-1", &["dockerd"], false),
            ("/tmp/one-12/data", &["containerd", "dockerd"], true),
        ] {
            assert_eq!(is_of(line, folder, programs), is_its, "{folder} {programs:?}");
        }
        let itself = "/tmp/one-12/berth\0serve\0";
        assert!(!is_of(itself, "/tmp/one-12", &["berth"]), "where it lies says nothing");
        assert!(!is_of("", "/tmp/one-12", &[""]), "it has ended");
    }

    #[test]
    fn what_is_killed_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", "echo; read line", "sh"]).arg(folder.path());
        let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // It is one of that name once it says something.
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        assert_eq!(of(folder.path(), &["sh"]).unwrap(), [child.id()]);
        kill_of(folder.path(), &["sh"]).unwrap();
        assert!(!child.wait().unwrap().success());
        assert_eq!(of(folder.path(), &["sh"]).unwrap(), [0_u32; 0]);
    }
}
