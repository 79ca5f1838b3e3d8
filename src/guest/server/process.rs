//! The process of a session: what was ordered, and how it is started.

use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::termios::Winsize;

use super::Server;
use crate::children::Child;
use crate::descriptor::Descriptor;
use crate::environment::{self, Variables};
use crate::launch::{Launch, LaunchError, Shell};
use crate::terminal::{self, Terminal};

/// Both ends of a client's connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Client {
    pub(super) peer: SocketAddr,
    pub(super) local: SocketAddr,
}

/// What a client wants to run.
#[derive(Debug)]
pub(super) enum What {
    /// The user's shell.
    Shell,
    /// One command.
    Command(OsString),
    /// The file server.
    Files,
}

/// How a client wants it to be run.
#[derive(Debug)]
pub(super) struct Order {
    client: Client,
    /// The terminal's size, if there is to be one.
    pub(super) terminal: Option<Winsize>,
    /// Variables that the client sets.
    pub(super) variables: Vec<(OsString, OsString)>,
}

/// A process that runs.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) child: Child,
    pub(super) input: Descriptor,
    pub(super) output: Descriptor,
    /// `None`: the output is a terminal's, where everything goes one way.
    pub(super) errors: Option<Descriptor>,
}

impl Order {
    /// Without a terminal and variables.
    pub(super) fn new(client: Client) -> Self {
        Self { client, terminal: None, variables: Vec::new() }
    }
}

/// Starts it.
pub(super) fn start(server: &Server, order: Order, what: What) -> Result<Process, LaunchError> {
    let folder = match what {
        What::Shell if server.start_in.is_dir() => server.start_in.clone(),
        What::Shell | What::Command(_) | What::Files => home(),
    };
    let launch = match what {
        What::Shell => Launch::of_shell()?,
        What::Command(command) => Launch::of_command(&command)?,
        What::Files => Launch {
            program: server.folder.program(),
            name: "sftp-server".into(),
            arguments: Vec::new(),
        },
    };
    let variables = variables(server, &order);
    let started = match order.terminal {
        Some(size) => in_terminal(server, &launch, &folder, variables, size),
        None => with_pipes(server, &launch, &folder, variables),
    };
    started.map_err(|source| LaunchError::Refused { program: launch.program, source })
}

/// Where relative paths of commands and files begin, as everywhere.
fn home() -> PathBuf {
    let home = environment::home();
    if home.is_dir() { home } else { "/".into() }
}

fn variables(server: &Server, order: &Order) -> Variables {
    let shell = Shell::find();
    let shell = shell.as_ref().map(Shell::path);
    let mut variables = environment::of_session(&server.folder, &server.start_in, shell);
    let Client { peer, local } = order.client;
    let client = format!("{} {} {}", peer.ip(), peer.port(), local.port());
    let connection = format!("{} {} {} {}", peer.ip(), peer.port(), local.ip(), local.port());
    variables.insert("SSH_CLIENT".into(), client.into());
    variables.insert("SSH_CONNECTION".into(), connection.into());
    variables.extend(order.variables.iter().cloned());
    variables
}

fn with_pipes(
    server: &Server,
    launch: &Launch,
    folder: &Path,
    variables: Variables,
) -> io::Result<Process> {
    let [input, output, errors] = [
        pipe_with(PipeFlags::CLOEXEC)?,
        pipe_with(PipeFlags::CLOEXEC)?,
        pipe_with(PipeFlags::CLOEXEC)?,
    ];
    let mut command = Command::new(&launch.program);
    command.arg0(&launch.name).args(&launch.arguments).current_dir(folder);
    command.env_clear().envs(variables);
    command.stdin(input.0).stdout(output.1).stderr(errors.1);
    let child = server.children.start(&mut command)?;
    // The command holds the other ends until it is dropped, and only then their end is seen.
    drop(command);
    Ok(Process {
        child,
        input: Descriptor::new(input.1)?,
        output: Descriptor::new(output.0)?,
        errors: Some(Descriptor::new(errors.0)?),
    })
}

fn in_terminal(
    server: &Server,
    launch: &Launch,
    folder: &Path,
    mut variables: Variables,
    size: Winsize,
) -> io::Result<Process> {
    let Terminal { controller, device, name } = Terminal::open(size)?;
    variables.insert("SSH_TTY".into(), name.into());
    let end = || -> io::Result<Stdio> { Ok(OwnedFd::try_clone(&device)?.into()) };
    let mut command = Command::new(server.folder.program());
    command.arg0("berth-guest").args(terminal::arguments(launch)).current_dir(folder);
    command.env_clear().envs(variables);
    command.stdin(end()?).stdout(end()?).stderr(end()?);
    let child = server.children.start_leader(&mut command)?;
    drop((command, device));
    let controller = Descriptor::new(controller)?;
    Ok(Process { child, input: controller.clone(), output: controller, errors: None })
}
