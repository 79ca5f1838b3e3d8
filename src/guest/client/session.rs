//! A command in another task: what it reads and writes is what we read and write.

use std::convert::Infallible;
use std::future::pending;
use std::io::IsTerminal;

use russh::client::Msg;
use russh::{Channel, ChannelMsg, ChannelReadHalf, ChannelWriteHalf};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use tokio::signal::unix::{SignalKind, signal};

use super::arguments::{Arguments, Terminal};
use super::connect::{Connection, Failure};
use super::standard::{self, write_all};
use crate::pump::{ERRORS, Output, send};
use crate::spool::Spool;

/// The exit code of a program that a signal ended, as OpenSSH's client has it.
const SIGNALLED: u8 = 255;

/// Runs it and gives its exit code.
pub(super) async fn run(connection: &Connection, arguments: &Arguments) -> Result<u8, Failure> {
    if arguments.idle {
        return pending().await;
    }
    let channel = connection.channel_open_session().await?;
    let raw = begin(&channel, arguments).await?;
    let (mut incoming, outgoing) = channel.split();
    let aside = std::env::temp_dir();
    let [output, errors] = [Spool::new(&aside), Spool::new(&aside)];
    let receive = async {
        let code = receive(&mut incoming, &output, &errors).await;
        output.end();
        errors.end();
        Ok(code)
    };
    let everything = async {
        // Where nobody reads what we write, there is no use in going on.
        tokio::try_join!(
            receive,
            write_all(Output::Standard, &output),
            write_all(Output::Errors, &errors)
        )
    };
    let ended = tokio::select! {
        ended = everything => ended,
        never = give(&outgoing, arguments.no_input) => match never {},
        never = follow_size(&outgoing, raw.is_some()) => match never {},
    };
    drop(raw);
    ended?.0.ok_or(Failure::Closed)
}

/// Asks for a terminal, if there is to be one, and for the command.
async fn begin(channel: &Channel<Msg>, arguments: &Arguments) -> Result<Option<Raw>, Failure> {
    let ours = std::io::stdin().is_terminal();
    let shell = arguments.command.is_empty();
    let wanted = match arguments.terminal {
        Terminal::Auto => ours && shell,
        Terminal::Wanted => ours,
        Terminal::Forced => true,
        Terminal::No => false,
    };
    if wanted {
        let name = std::env::var("TERM").unwrap_or_default();
        let (columns, rows) = size();
        channel.request_pty(false, &name, columns, rows, 0, 0, &[]).await?;
    }
    if arguments.subsystem {
        channel.request_subsystem(true, String::from_utf8_lossy(&arguments.command)).await?;
    } else if shell {
        channel.request_shell(true).await?;
    } else {
        channel.exec(true, arguments.command.clone()).await?;
    }
    Ok(if wanted && ours { Raw::set() } else { None })
}

/// Puts aside what comes; gives the exit code, if the other side tells one.
async fn receive(incoming: &mut ChannelReadHalf, output: &Spool, errors: &Spool) -> Option<u8> {
    let mut code = None;
    while let Some(message) = incoming.wait().await {
        match message {
            ChannelMsg::Data { data } => output.push(data).await,
            ChannelMsg::ExtendedData { data, ext: ERRORS } => errors.push(data).await,
            ChannelMsg::ExitStatus { exit_status } => {
                code = Some(u8::try_from(exit_status).unwrap_or(u8::MAX));
            }
            ChannelMsg::ExitSignal { .. } => code = Some(SIGNALLED),
            ChannelMsg::Failure | ChannelMsg::Close => break,
            _ => {}
        }
    }
    code
}

/// Sends what we read, then tells that there is no more.
async fn give(outgoing: &ChannelWriteHalf<Msg>, no_input: bool) -> Infallible {
    if !no_input {
        let mut input = standard::input();
        while let Some(data) = input.recv().await {
            if send(outgoing, Output::Standard, data).await.is_err() {
                break;
            }
        }
    }
    let _ = outgoing.eof().await;
    pending().await
}

/// Tells when our terminal's size changes.
async fn follow_size(outgoing: &ChannelWriteHalf<Msg>, has_terminal: bool) -> Infallible {
    let changed = signal(SignalKind::window_change());
    let (true, Ok(mut changed)) = (has_terminal, changed) else { return pending().await };
    while changed.recv().await.is_some() {
        let (columns, rows) = size();
        let _ = outgoing.window_change(columns, rows, 0, 0).await;
    }
    pending().await
}

fn size() -> (u32, u32) {
    let size = tcgetwinsize(rustix::stdio::stdin());
    size.map_or((80, 24), |size| (size.ws_col.into(), size.ws_row.into()))
}

/// Our terminal passing on every key, until it is dropped.
struct Raw(Termios);

impl Raw {
    fn set() -> Option<Self> {
        let before = tcgetattr(rustix::stdio::stdin()).ok()?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &raw).ok()?;
        Some(Self(before))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &self.0);
    }
}
