//! One open shell and its reader, who may go away and come back.

use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use api::terminals::{
    RETURN_SECONDS, Terminal, TerminalControls, TerminalEnd, TerminalEvent, TerminalId,
    TerminalSize,
};
use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, interval, sleep_until, timeout};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;

use super::replay::Replay;
use super::shell::{Hand, Said, Shell};
use crate::wake::now;

/// A shell waits so long for its reader.
const RETURN: Duration = Duration::from_secs(RETURN_SECONDS);
/// Nothing typed for so long ends it, in milliseconds.
const IDLE: i64 = 8 * 3_600_000;
/// How often that is looked at.
const LOOK: Duration = Duration::from_secs(60);
/// Bytes sent at once.
const PIECE: usize = 32 * 1024;
/// Pieces on their way to the reader; keys on their way to the shell; commands on their way to us.
const QUEUE: usize = 4;
/// A shell that is hung up on has so long to notice.
const FAREWELL: Duration = Duration::from_secs(2);

/// What a reader asks of the session.
#[derive(Debug)]
enum Command {
    Attach { received: u64, reply: oneshot::Sender<Attached> },
    Received(u64),
    Close,
}

/// What a reader asks of the shell.
#[derive(Debug)]
enum Typing {
    Keys(Bytes),
    Size(TerminalSize),
}

/// By what a session is held from outside.
#[derive(Debug, Clone)]
pub(super) struct SessionHandle {
    commands: mpsc::Sender<Command>,
    typing: mpsc::Sender<Typing>,
    /// When something was last typed.
    typed: Arc<AtomicI64>,
}

/// A reader's end.
#[derive(Debug)]
pub(super) struct Attached {
    offset: u64,
    events: mpsc::Receiver<TerminalEvent>,
}

impl Attached {
    pub(super) fn terminal(self, id: TerminalId, resumed: bool, handle: SessionHandle) -> Terminal {
        let output = ReceiverStream::new(self.events).boxed();
        Terminal { id, resumed, offset: self.offset, output, controls: Box::new(handle) }
    }
}

impl SessionHandle {
    /// A new reader, in place of the one that there may be. `None`: it has just ended.
    pub(super) async fn attach(&self, received: u64) -> Option<Attached> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(Command::Attach { received, reply }).await.ok()?;
        answer.await.ok()
    }
}

#[async_trait]
impl TerminalControls for SessionHandle {
    async fn write(&self, bytes: Bytes) -> bool {
        self.typed.store(now().0, Ordering::Relaxed);
        self.typing.send(Typing::Keys(bytes)).await.is_ok()
    }

    async fn resize(&self, size: TerminalSize) {
        let _it_has_ended = self.typing.send(Typing::Size(size)).await;
    }

    async fn received(&self, bytes: u64) {
        let _it_has_ended = self.commands.send(Command::Received(bytes)).await;
    }

    async fn close(&self) {
        let _it_has_ended = self.commands.send(Command::Close).await;
    }
}

/// A session that is ready to run.
pub(super) struct Session {
    shell: Shell,
    typing: mpsc::Receiver<Typing>,
    event_loop: EventLoop,
}

/// What listens to the shell and to the readers.
struct EventLoop {
    replay: Replay,
    commands: mpsc::Receiver<Command>,
    typed: Arc<AtomicI64>,
    reader: Option<mpsc::Sender<TerminalEvent>>,
    /// Without a reader: until when one is waited for.
    patience: Instant,
    /// The shell has ended so; the reader may still have to be told.
    over: Option<TerminalEnd>,
}

/// A session around a shell.
pub(super) fn begin(shell: Shell) -> (SessionHandle, Session) {
    let (commands, inbox) = mpsc::channel(QUEUE);
    let (typing, types) = mpsc::channel(QUEUE);
    let typed = Arc::new(AtomicI64::new(now().0));
    let event_loop = EventLoop {
        replay: Replay::default(),
        commands: inbox,
        typed: Arc::clone(&typed),
        reader: None,
        patience: Instant::now() + RETURN,
        over: None,
    };
    (SessionHandle { commands, typing, typed }, Session { shell, typing: types, event_loop })
}

impl Session {
    /// Runs it until the shell has ended, or nobody wants it any longer.
    pub(super) async fn run(self, stop: CancellationToken) -> TerminalEnd {
        let Self { shell: Shell { mut said, mut hand, .. }, mut typing, mut event_loop } = self;
        let end = tokio::select! {
            end = event_loop.listen(&mut said) => end,
            () = stop.cancelled() => TerminalEnd::Stopping,
            // Typing waits for a shell that takes nothing; listening never does.
            never = type_all(&mut hand, &mut typing) => match never {},
        };
        if let Some(reader) = &event_loop.reader {
            let _it_has_gone = timeout(FAREWELL, reader.send(TerminalEvent::Ended(end))).await;
        }
        let _it_hangs = timeout(FAREWELL, hand.hang_up()).await;
        end
    }
}

async fn type_all(hand: &mut Hand, typing: &mut mpsc::Receiver<Typing>) -> Infallible {
    while let Some(next) = typing.recv().await {
        let taken = match next {
            Typing::Keys(bytes) => hand.write(bytes).await,
            Typing::Size(size) => {
                hand.resize(size).await;
                true
            }
        };
        if !taken {
            break;
        }
    }
    // Why nothing is taken any more is heard.
    pending().await
}

/// The next thing that happens.
enum Next {
    Command(Option<Command>),
    Said(Option<Said>),
    /// The reader takes a piece, or has gone.
    Sent(bool),
    Look,
    Alone,
}

impl EventLoop {
    async fn listen(
        &mut self,
        said: &mut futures::stream::BoxStream<'static, Said>,
    ) -> TerminalEnd {
        let mut look = interval(LOOK);
        loop {
            let all_told = self.reader.is_some() && !self.replay.has_news();
            if let Some(end) = self.over.filter(|_| all_told) {
                return end;
            }
            let next = tokio::select! {
                biased;
                command = self.commands.recv() => Next::Command(command),
                sent = send(self.reader.as_ref(), &mut self.replay) => Next::Sent(sent),
                said = said.next(), if self.over.is_none() && self.replay.has_room() => Next::Said(said),
                () = sleep_until(self.patience), if self.reader.is_none() => Next::Alone,
                _ = look.tick() => Next::Look,
            };
            match next {
                Next::Command(None | Some(Command::Close)) => return TerminalEnd::Closed,
                Next::Command(Some(Command::Received(bytes))) => self.replay.acknowledge(bytes),
                Next::Command(Some(Command::Attach { received, reply })) => {
                    self.attach(received, reply);
                }
                Next::Said(Some(Said::Output(bytes))) => self.replay.push(&bytes),
                Next::Said(Some(Said::Exited(code))) => self.over = Some(TerminalEnd::Exited(code)),
                Next::Said(Some(Said::Lost) | None) => self.over = Some(TerminalEnd::Lost),
                Next::Sent(true) => {}
                Next::Sent(false) => {
                    self.reader = None;
                    self.patience = Instant::now() + RETURN;
                }
                Next::Alone => return self.over.unwrap_or(TerminalEnd::Left),
                Next::Look if self.is_idle() => return TerminalEnd::Idle,
                Next::Look => {}
            }
        }
    }

    fn attach(&mut self, received: u64, reply: oneshot::Sender<Attached>) {
        let (reader, events) = mpsc::channel(QUEUE);
        let offset = self.replay.rewind(received);
        if reply.send(Attached { offset, events }).is_ok()
            && let Some(before) = self.reader.replace(reader)
        {
            // If it does not take even this it learns it from the stream's end.
            let _ = before.try_send(TerminalEvent::Ended(TerminalEnd::TakenOver));
        }
    }

    fn is_idle(&self) -> bool {
        now().0 - self.typed.load(Ordering::Relaxed) > IDLE
    }
}

/// Hands the reader a piece as soon as it takes one; `false`: it has gone.
async fn send(reader: Option<&mpsc::Sender<TerminalEvent>>, replay: &mut Replay) -> bool {
    let Some(reader) = reader else { return pending().await };
    if !replay.has_news() {
        reader.closed().await;
        return false;
    }
    match reader.reserve().await {
        Ok(permit) => {
            permit.send(TerminalEvent::Output(replay.next(PIECE)));
            true
        }
        Err(_) => false,
    }
}
