//! A session: a process and the channel that it talks through.

use std::convert::Infallible;
use std::future::pending;
use std::mem::discriminant;
use std::sync::Arc;
use std::time::Duration;

use protocol::guest::GuestExit;
use russh::server::{Handle, Msg};
use russh::{Channel, ChannelWriteHalf, Sig};
use rustix::process::Signal;
use rustix::termios::{Winsize, tcsetwinsize};

use super::Server;
use super::process::{Order, Process, What, start};

use crate::children::{Child, Group};
use crate::descriptor::Descriptor;
use crate::launch::LaunchError;
use crate::pump::{Output, hand_on, read, receive_all, send, send_all};
use crate::spool::Spool;

/// How long a terminal may be silent after its first program has ended before the rest of its
/// output is taken to have come. What still runs in it may be silent for ever.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// What a client may do to a session beside talking to it.
#[derive(Debug, Default)]
pub(super) struct Control {
    terminal: Option<Descriptor>,
    group: Option<Group>,
}

impl Control {
    /// Changes the terminal's size; the kernel tells the program.
    pub(super) fn resize(&self, size: Winsize) {
        if let Some(terminal) = &self.terminal {
            let _ = tcsetwinsize(terminal.get(), size);
        }
    }

    /// Signals the session's processes.
    pub(super) fn signal(&self, signal: &Sig) {
        if let (Some(group), Some(signal)) = (&self.group, to_signal(signal)) {
            group.signal(signal);
        }
    }
}

/// Starts a session and carries it in the background.
pub(super) fn begin(
    server: &Arc<Server>,
    channel: Channel<Msg>,
    handle: Handle,
    order: Order,
    what: What,
) -> Control {
    match start(server, order, what) {
        Ok(process) => {
            let terminal = process.errors.is_none().then(|| process.output.clone());
            let control = Control { terminal, group: Some(process.child.group()) };
            let spool = Spool::new(server.folder.path());
            tokio::spawn(carry(process, channel, handle, spool));
            control
        }
        Err(error) => {
            tokio::spawn(refuse(error, channel));
            Control::default()
        }
    }
}

async fn refuse(error: LaunchError, channel: Channel<Msg>) {
    let text = format!("berth: {error}\n");
    let (_, outgoing) = channel.split();
    // If the client is gone there is nobody to tell.
    let _ = send(&outgoing, Output::Errors, text.as_bytes().into()).await;
    let _ = outgoing.exit_status(error.code().into()).await;
    let _ = outgoing.eof().await;
    let _ = outgoing.close().await;
}

async fn carry(process: Process, channel: Channel<Msg>, handle: Handle, spool: Spool) {
    let Process { mut child, input, output, errors } = process;
    let group = child.group();
    let (mut incoming, outgoing) = channel.split();
    let teller = Teller { handle, channel: outgoing };
    let talk = async {
        match errors {
            Some(errors) => through_pipes(&mut child, output, errors, &teller).await,
            None => through_terminal(&mut child, output, &teller).await,
        }
    };
    tokio::select! {
        () = talk => {}
        () = receive_all(&mut incoming, &spool) => group.signal(Signal::HUP),
        never = feed(&spool, input) => match never {},
    }
    // What a client still sends is of no use, and the connection must not wait for us to take it.
    drop(incoming);
    let _ = teller.channel.eof().await;
    let _ = teller.channel.close().await;
}

async fn feed(spool: &Spool, input: Descriptor) -> Infallible {
    hand_on(spool, input).await;
    pending().await
}

async fn through_pipes(child: &mut Child, output: Descriptor, errors: Descriptor, teller: &Teller) {
    let tell = async { teller.tell(child.exit().await).await };
    tokio::join!(
        send_all(output, &teller.channel, Output::Standard),
        send_all(errors, &teller.channel, Output::Errors),
        tell,
    );
}

async fn through_terminal(child: &mut Child, mut output: Descriptor, teller: &Teller) {
    let exit = loop {
        let data = tokio::select! {
            exit = child.exit() => break exit,
            data = read(&mut output) => data,
        };
        let Ok(Some(data)) = data else { break child.exit().await };
        if send(&teller.channel, Output::Standard, data).await.is_err() {
            break child.exit().await;
        }
    };
    while let Ok(Ok(Some(data))) = tokio::time::timeout(LAST_WORDS, read(&mut output)).await {
        if send(&teller.channel, Output::Standard, data).await.is_err() {
            break;
        }
    }
    teller.tell(exit).await;
}

/// Tells a client how its program ended.
struct Teller {
    handle: Handle,
    channel: ChannelWriteHalf<Msg>,
}

impl Teller {
    async fn tell(&self, exit: GuestExit) {
        let id = self.channel.id();
        let _ = match exit.signal {
            None => self.handle.exit_status_request(id, exit.code.unsigned_abs()).await,
            Some(signal) => {
                let name = to_name(signal);
                self.handle.exit_signal_request(id, name, false, String::new(), String::new()).await
            }
        };
    }
}

/// The signals that SSH has names for, as OpenSSH does.
const NAMES: [(Signal, Sig); 12] = [
    (Signal::ABORT, Sig::ABRT),
    (Signal::ALARM, Sig::ALRM),
    (Signal::FPE, Sig::FPE),
    (Signal::HUP, Sig::HUP),
    (Signal::ILL, Sig::ILL),
    (Signal::INT, Sig::INT),
    (Signal::KILL, Sig::KILL),
    (Signal::PIPE, Sig::PIPE),
    (Signal::QUIT, Sig::QUIT),
    (Signal::SEGV, Sig::SEGV),
    (Signal::TERM, Sig::TERM),
    (Signal::USR1, Sig::USR1),
];

fn to_name(signal: i32) -> Sig {
    let known = NAMES.iter().find(|(known, _)| known.as_raw() == signal);
    match known {
        Some((_, name)) => name.clone(),
        None if signal == Signal::USR2.as_raw() => Sig::Custom("USR2".into()),
        None => Sig::Custom("SIG@openssh.com".into()),
    }
}

fn to_signal(name: &Sig) -> Option<Signal> {
    match name {
        Sig::Custom(name) => (name == "USR2").then_some(Signal::USR2),
        known => NAMES
            .iter()
            .find(|(_, name)| discriminant(name) == discriminant(known))
            .map(|(signal, _)| *signal),
    }
}
