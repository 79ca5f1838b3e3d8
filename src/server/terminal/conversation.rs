//! A shell and a WebSocket talk, at the pace of the slower one.

use std::collections::VecDeque;
use std::time::Duration;

use api::terminals::{Terminal, TerminalControls, TerminalEnd, TerminalEvent, TerminalSize};
use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code};
use futures::stream::{BoxStream, SplitSink, SplitStream};
use futures::{SinkExt, StreamExt};
use tokio::time::{interval, timeout};
use tokio_util::sync::CancellationToken;

use super::{Asking, Telling};
use crate::auth::Still;

/// How often a quiet reader is asked whether he is there.
const PING: Duration = Duration::from_secs(10);
/// A reader of whom nothing was heard for so long is gone.
const SILENCE: Duration = Duration::from_secs(35);
/// A reader who takes nothing for so long is gone.
const SLOWNESS: Duration = Duration::from_secs(30);
/// Bytes that wait for a shell that takes nothing. Whoever types more is cut off.
const TYPED_AHEAD: usize = 1024 * 1024;

/// A WebSocket that is to show a shell.
pub(super) struct Conversation {
    sink: SplitSink<WebSocket, Message>,
    source: SplitStream<WebSocket>,
    stop: CancellationToken,
}

/// What waits for the shell.
enum Typed {
    Keys(Bytes),
    Size(TerminalSize),
}

impl Conversation {
    pub(super) fn new(socket: WebSocket, stop: CancellationToken) -> Self {
        let (sink, source) = socket.split();
        Self { sink, source, stop }
    }

    /// Says one thing and goes.
    pub(super) async fn only(mut self, telling: Telling) {
        farewell(&mut self.sink, telling).await;
    }

    /// Talks until either side ends. A shell whose reader just vanishes waits for him.
    pub(super) async fn run(self, terminal: Terminal, still: Still) {
        let Self { mut sink, mut source, stop } = self;
        let Terminal { id, resumed, offset, mut output, controls } = terminal;
        let opened = Telling::Opened { session: id, resumed, offset };
        if !send(&mut sink, text(&opened)).await {
            return;
        }
        let end = tokio::select! {
            end = show(&mut sink, &mut output) => end,
            end = listen(&mut source, controls.as_ref()) => end,
            () = still.revoked() => {
                controls.close().await;
                Some(TerminalEnd::Revoked)
            }
            () = stop.cancelled() => Some(TerminalEnd::Stopping),
        };
        if let Some(end) = end {
            farewell(&mut sink, Telling::Ended(end)).await;
        }
    }
}

type Sink = SplitSink<WebSocket, Message>;

/// Shows what the shell writes; `None`: nobody looks.
async fn show(
    sink: &mut Sink,
    output: &mut BoxStream<'static, TerminalEvent>,
) -> Option<TerminalEnd> {
    let mut ping = interval(PING);
    loop {
        let message = tokio::select! {
            event = output.next() => match event {
                Some(TerminalEvent::Output(bytes)) => Message::Binary(bytes),
                Some(TerminalEvent::Ended(end)) => return Some(end),
                None => return Some(TerminalEnd::TakenOver),
            },
            _ = ping.tick() => Message::Ping(Bytes::new()),
        };
        if !send(sink, message).await {
            return None;
        }
    }
}

/// Hands on what the reader types and says. What he says about himself never waits for the shell.
async fn listen(
    source: &mut SplitStream<WebSocket>,
    controls: &dyn TerminalControls,
) -> Option<TerminalEnd> {
    let mut typed = VecDeque::new();
    let mut waiting = 0;
    loop {
        let message = tokio::select! {
            message = timeout(SILENCE, source.next()) => message,
            length = hand_on(controls, typed.front()) => {
                typed.pop_front();
                waiting -= length;
                continue;
            }
        };
        match message {
            Ok(Some(Ok(Message::Binary(keys)))) => {
                waiting += keys.len();
                if waiting > TYPED_AHEAD {
                    return None;
                }
                typed.push_back(Typed::Keys(keys));
            }
            Ok(Some(Ok(Message::Text(text)))) => match serde_json::from_str(&text).ok()? {
                Asking::Resize(size) => resized(&mut typed, size),
                Asking::Received(bytes) => controls.received(bytes).await,
                Asking::Close => {
                    controls.close().await;
                    return Some(TerminalEnd::Closed);
                }
            },
            Ok(Some(Ok(Message::Ping(_) | Message::Pong(_)))) => {}
            Ok(Some(Ok(Message::Close(_)) | Err(_)) | None) | Err(_) => return None,
        }
    }
}

/// Of sizes that follow each other the last one counts.
fn resized(typed: &mut VecDeque<Typed>, size: TerminalSize) {
    match typed.back_mut() {
        Some(Typed::Size(last)) => *last = size,
        Some(Typed::Keys(_)) | None => typed.push_back(Typed::Size(size)),
    }
}

/// Waits until the shell takes the next of what was typed; gives its length.
async fn hand_on(controls: &dyn TerminalControls, next: Option<&Typed>) -> usize {
    match next {
        Some(Typed::Keys(keys)) => {
            // A shell that has ended says so itself.
            controls.write(keys.clone()).await;
            keys.len()
        }
        Some(Typed::Size(size)) => {
            controls.resize(*size).await;
            0
        }
        None => std::future::pending().await,
    }
}

async fn send(sink: &mut Sink, message: Message) -> bool {
    matches!(timeout(SLOWNESS, sink.send(message)).await, Ok(Ok(())))
}

async fn farewell(sink: &mut Sink, telling: Telling) {
    if send(sink, text(&telling)).await {
        let close = CloseFrame { code: close_code::NORMAL, reason: Utf8Bytes::from_static("") };
        send(sink, Message::Close(Some(close))).await;
    }
}

fn text(telling: &Telling) -> Message {
    let text = serde_json::to_string(telling).expect("words and numbers can always be written");
    Message::Text(text.into())
}
