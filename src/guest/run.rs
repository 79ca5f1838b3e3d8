//! Running a task: its command first, and beside it the way in.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener};
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use protocol::guest::{
    BEGUN_BEFORE, CANNOT_BEGIN, CODE, COMMAND_UNUSABLE, GuestConfig, GuestExit, NODE_HAD_MEMORY,
    NODE_MEMORY, PORT_TAKEN, UNUSABLE_CODE,
};
use protocol::lease::LEASE_OVER_CODE;
use rustix::process::{DumpableBehavior, Signal, set_dumpable_behavior};
use tokio::runtime::Builder;

use crate::children::{Child, Children};
use crate::folder::Folder;
use crate::launch::{Launch, LaunchError};
use crate::lease::{self, Lease};
use crate::note::{note, note_last};
use crate::server::{self, Server};
use crate::signals::{self, Signals};
use crate::{environment, limits, memory, peers};

/// Where a container has folders of the storage.
const BERTH: &str = "/berth";

/// So long a task with a lease waits for the first word of its server.
const FIRST_WORD: Duration = Duration::from_secs(600);

/// The exit code of a command that was killed, be it told by a shell or by the kernel.
const KILLED: i32 = 137;

/// Runs the task of a folder until its command has ended; the exit code is the command's.
pub(crate) fn run(folder: &Folder) -> ExitCode {
    // What this process is told, and what it says, is out of reach of those beside it, be they root's: none
    // traces it or reads its variables. Those that it starts are as ever.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let config = match folder.config() {
        Ok(config) => config,
        Err(error) => {
            note(format_args!("{CANNOT_BEGIN}: {error}"));
            return ExitCode::from(UNUSABLE_CODE);
        }
    };
    limits::raise();
    let runtime = match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            note(format_args!("{CANNOT_BEGIN}: {error}"));
            return ExitCode::from(UNUSABLE_CODE);
        }
    };
    let code = runtime.block_on(task(folder, config)).unwrap_or_else(|error| {
        note(format_args!("{CANNOT_BEGIN}: {error}"));
        UNUSABLE_CODE.into()
    });
    // What still runs beside the command ends with it and is not waited for.
    runtime.shutdown_background();
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}

async fn task(folder: &Folder, config: GuestConfig) -> io::Result<i32> {
    let mut signals = Signals::listen()?;
    let children = Children::listen()?;
    if config.run.as_deref().is_some_and(|run| !folder.begin(run)) {
        note_last(BEGUN_BEFORE);
        return Ok(UNUSABLE_CODE.into());
    }
    if let Some(name) = &config.code_name {
        name_code(name);
    }
    name_folders(Path::new(BERTH), |name| std::env::var_os(name).map(PathBuf::from));
    let start_in = start_folder(config.start_in.as_deref());
    if let Some(ssh) = &config.ssh {
        if let Err(error) = folder.admit(&ssh.authorized_keys) {
            note(format_args!("nobody can enter by SSH: {error}"));
        }
        let kept = folder.keep(ssh).map_err(Into::into);
        if let Err(error) = kept.and_then(|()| peers::announce(folder, ssh)) {
            note(format_args!("the other tasks cannot be reached by name: {error}"));
        }
    }
    // Taken before the command has a chance to.
    let listener = config.ssh.as_ref().map(|ssh| server::listen(ssh.port));
    if let Some(port) = taken(&config, listener.as_ref()) {
        note(format_args!("port {port} {PORT_TAKEN}"));
        return Ok(UNUSABLE_CODE.into());
    }
    let lease = config.lease.as_ref().map(|told| Lease::begin(told, &children)).transpose()?;
    if let Some((ssh, listener)) = config.ssh.zip(listener) {
        let (folder, children, start_in) = (folder.clone(), children.clone(), start_in.clone());
        let (own_network, lease) = (config.own_network, lease.clone());
        let server = Server { folder, children, start_in, own_network, lease };
        tokio::spawn(server::serve(server, ssh, listener));
    }
    let lease = lease.as_deref();
    if let Some(code) = unheard(lease, &mut signals).await {
        return Ok(code);
    }
    let command = start(&config.command, folder, &start_in, &children);
    let (exit, asked) = match command {
        Ok(mut command) => accompany(&mut command, &mut signals, lease).await,
        Err(error) => {
            note(&error);
            (GuestExit { code: error.code().into(), signal: None }, false)
        }
    };
    if asked && exit == lease::exit() {
        note("the server was not heard for as long as this task's lease: it was ended");
    }
    if let Err(error) = folder.write_exit(&exit) {
        note(format_args!("cannot tell how the command ended: {error}"));
    }
    let last_word = last_word(exit.code);
    if let Some(seconds) = config.keep_on_failure_secs
        && exit.code != 0
        && !asked
    {
        keep(exit.code, seconds, &mut signals, lease).await;
    }
    if let Some(word) = last_word {
        children.silence();
        note_last(word);
    }
    children.end_all();
    Ok(exit.code)
}

/// What is said last where the command itself could say in this program's place that the platform failed, and
/// be tried again for nothing.
fn last_word(code: i32) -> Option<&'static str> {
    match code {
        KILLED if memory::ran_out_on_node() => Some(NODE_MEMORY),
        KILLED => Some(NODE_HAD_MEMORY),
        code => (code == i32::from(UNUSABLE_CODE)).then_some(COMMAND_UNUSABLE),
    }
}

/// A port of the task's that somebody else has. In a network of its own there is nobody else.
fn taken(config: &GuestConfig, ssh: Option<&io::Result<TcpListener>>) -> Option<u16> {
    if config.own_network {
        return None;
    }
    let in_use = |error: &io::Error| error.kind() == io::ErrorKind::AddrInUse;
    let of_ssh = config.ssh.as_ref().map(|ssh| ssh.port);
    let ssh_taken = ssh.is_some_and(|listener| listener.as_ref().is_err_and(in_use));
    let is_taken = |port: &u16| {
        // One after the other: where both are one, the second would find the first.
        let all = [IpAddr::from(Ipv4Addr::UNSPECIFIED), Ipv6Addr::UNSPECIFIED.into()];
        let listened = |address| TcpListener::bind((address, *port)).map(drop);
        all.into_iter().any(|address| listened(address).is_err_and(|error| in_use(&error)))
    };
    let mut others = config.ports.iter().copied().filter(|port| Some(*port) != of_ssh);
    of_ssh.filter(|_| ssh_taken).or_else(|| others.find(is_taken))
}

/// Gives the folder of the job's code its own name as well, unless the image has something there.
fn name_code(name: &str) {
    match symlink(CODE, name) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => note(format_args!("the code is in {CODE}, not in {name} as well: {error}")),
        Ok(()) => {}
    }
}

/// Gives what lies deeper in a folder of the storage the place where it would be by itself. The
/// kernel follows the name within the container, so it may lead wherever it likes.
fn name_folders(berth: &Path, told: impl Fn(&str) -> Option<PathBuf>) {
    for (variable, name) in [("BERTH_OUTPUT", "output"), ("BERTH_DATA", "data")] {
        if let Some(place) = told(variable).filter(|place| place.starts_with(berth)) {
            // The variable says it also where the image's user may make no name there.
            let _named_or_told = symlink(place, berth.join(name));
        }
    }
}

/// The folder to start in, from the one that the image starts in.
fn start_folder(wanted: Option<&str>) -> PathBuf {
    let own = std::env::current_dir().unwrap_or_else(|_| "/".into());
    wanted.map_or_else(|| own.clone(), |wanted| own.join(wanted))
}

fn start(
    command: &str,
    folder: &Folder,
    start_in: &Path,
    children: &Children,
) -> Result<Child, LaunchError> {
    let launch = Launch::of_command(command.as_ref())?;
    let refused = |source| LaunchError::Refused { program: launch.program.clone(), source };
    if let Err(source) = fs::read_dir(start_in) {
        return Err(LaunchError::Refused { program: start_in.to_owned(), source });
    }
    let mut process = Command::new(&launch.program);
    process.arg0(&launch.name).args(&launch.arguments).current_dir(start_in);
    process.env_clear().envs(environment::of_command(folder, start_in));
    children.start(&mut process).map_err(refused)
}

/// Waits until the server was heard; else the code to end with. Without a lease nothing is waited for.
async fn unheard(lease: Option<&Lease>, signals: &mut Signals) -> Option<i32> {
    let lease = lease?;
    let patience = tokio::time::sleep(FIRST_WORD);
    tokio::pin!(patience);
    loop {
        tokio::select! {
            () = lease.heard() => return None,
            signal = signals.next() => {
                if signals::ends(signal) {
                    return Some(128 + signal.as_raw());
                }
            }
            () = &mut patience => {
                note("the server was not heard, without which this task's lease does not begin");
                return Some(LEASE_OVER_CODE.into());
            }
        }
    }
}

/// Passes signals on until the command has ended or its lease is over; also whether somebody asked for
/// the end.
async fn accompany(
    command: &mut Child,
    signals: &mut Signals,
    lease: Option<&Lease>,
) -> (GuestExit, bool) {
    let group = command.group();
    let (mut asked, mut ends) = (false, false);
    loop {
        tokio::select! {
            exit = command.exit() => {
                let by_lease = ends || lease.is_some_and(Lease::is_over);
                let exit = if by_lease && exit.code != 0 { lease::exit() } else { exit };
                return (exit, asked || by_lease);
            }
            signal = signals.next() => {
                asked |= signals::ends(signal);
                group.signal(signal);
            }
            // Nothing is said before all is over: a log that nobody takes would hold this up.
            () = ending(lease), if !ends => {
                ends = true;
                group.signal(Signal::TERM);
            }
            () = over(lease) => return (lease::exit(), true),
        }
    }
}

/// Waits until the command is to be asked to end, since its lease is nearly over.
async fn ending(lease: Option<&Lease>) {
    match lease {
        Some(lease) => lease.ends().await,
        None => std::future::pending().await,
    }
}

/// Waits until the lease is over.
async fn over(lease: Option<&Lease>) {
    match lease {
        Some(lease) => lease.over().await,
        None => std::future::pending().await,
    }
}

/// Waits for the end of the time that a failed command's container is kept.
async fn keep(code: i32, seconds: u64, signals: &mut Signals, lease: Option<&Lease>) {
    note(format_args!(
        "the command failed with exit code {code}; its container is kept for {seconds} s, so \
         that you can look into it, or until the job is stopped"
    ));
    let over = tokio::time::sleep(Duration::from_secs(seconds));
    tokio::pin!(over);
    loop {
        tokio::select! {
            () = &mut over => return note("the time to look into it is over"),
            signal = signals.next() => if signals::ends(signal) { return },
            () = self::over(lease) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_deeper_is_where_it_would_be_by_itself() {
        let folder = tempfile::tempdir().unwrap();
        let berth = folder.path().to_owned();
        fs::create_dir_all(berth.join("home/out")).unwrap();
        fs::create_dir(berth.join("data")).unwrap();
        name_folders(&berth, |name| {
            let below = if name == "BERTH_OUTPUT" { "home/out" } else { "data" };
            Some(berth.join(below))
        });
        assert_eq!(fs::read_link(berth.join("output")).unwrap(), berth.join("home/out"));
        assert!(fs::symlink_metadata(berth.join("data")).unwrap().is_dir(), "a mount stays");
        name_folders(&berth, |_| Some("/etc".into()));
        assert_eq!(fs::read_link(berth.join("output")).unwrap(), berth.join("home/out"));
    }
}
