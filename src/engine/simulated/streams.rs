use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use protocol::image::canonical;
use protocol::spec::RegistryAuth;
use protocol::time::Timestamp;
use tokio::sync::watch;
use tokio_util::io::ReaderStream;

use super::faults::Call;
use super::node::Node;
use crate::model::{ContainerStatus, EngineError, Exec, LogChunk, LogRequest, Result, Stream};

/// Lines of progress in a pull.
const STEPS: u32 = 5;
/// The password of private images.
const PASSWORD: &str = "open sesame";
/// What a terminal may have typed ahead, in bytes.
const TYPED_AHEAD: usize = 64 * 1024;

/// Wakes at every change of the node; ends when it is cut off.
pub(super) fn changes(node: Arc<Node>) -> BoxStream<'static, Result<()>> {
    let watch = node.watch();
    stream::unfold(Some((node, watch)), |state| async move {
        let (node, mut watch) = state?;
        wait(&node, &mut watch).await;
        match node.reach(|_| Ok(())) {
            Ok(()) => Some((Ok(()), Some((node, watch)))),
            Err(error) => Some((Err(error), None)),
        }
    })
    .boxed()
}

/// Until something has changed, or a container's time is over.
async fn wait(node: &Node, watch: &mut watch::Receiver<u64>) {
    let ended = async {
        match node.next_end() {
            Some(at) => tokio::time::sleep_until(at).await,
            None => std::future::pending().await,
        }
    };
    // The sender lives in the node: `changed` cannot fail while we hold it.
    tokio::select! {
        _ = watch.changed() => {}
        () = ended => {}
    }
    // Looking settles what is due, which counts as a change; it is the one just told.
    node.look(|_| ());
    watch.mark_unchanged();
}

struct Log {
    node: Arc<Node>,
    watch: watch::Receiver<u64>,
    name: String,
    request: LogRequest,
    told: usize,
    ready: VecDeque<(Timestamp, String)>,
}

pub(super) fn logs(
    node: Arc<Node>,
    name: String,
    request: LogRequest,
) -> BoxStream<'static, Result<LogChunk>> {
    let watch = node.watch();
    let log = Log { node, watch, name, request, told: 0, ready: VecDeque::new() };
    stream::unfold(Some(log), |log| async move {
        let mut log = log?;
        match log.next().await {
            Some(Ok(chunk)) => Some((Ok(chunk), Some(log))),
            Some(Err(error)) => Some((Err(error), None)),
            None => None,
        }
    })
    .boxed()
}

impl Log {
    async fn next(&mut self) -> Option<Result<LogChunk>> {
        loop {
            self.node.until_answering(Call::Logs).await;
            if let Some((at, line)) = self.ready.pop_front() {
                let bytes = Bytes::from(line + "\n");
                self.node.look(|state| state.log_bytes += bytes.len() as u64);
                let at = self.request.stamped.then_some(at);
                return Some(Ok(LogChunk { stream: Stream::Out, bytes, at }));
            }
            // Marked before looking, so that what comes after wakes.
            self.watch.mark_unchanged();
            match self.read() {
                Err(error) => return Some(Err(error)),
                Ok(_) if !self.ready.is_empty() => {}
                Ok((ended, _)) if ended || !self.request.follow => return None,
                Ok((_, None)) => wait(&self.node, &mut self.watch).await,
                Ok((_, Some(every))) => {
                    let changed = wait(&self.node, &mut self.watch);
                    let _or_it_speaks = tokio::time::timeout(every, changed).await;
                }
            }
        }
    }

    /// Takes the new lines; tells whether there can be no more, and how often there are some.
    fn read(&mut self) -> Result<(bool, Option<Duration>)> {
        let node = Arc::clone(&self.node);
        let (lines, ended, every) = node.reach(|state| {
            let now = state.now();
            let Ok(found) = state.find_mut(&self.name) else {
                return Ok((Vec::new(), true, None));
            };
            found.speak(now);
            let ended = matches!(found.status(), ContainerStatus::Exited { .. });
            Ok((found.log(&node.name), ended, found.plan.speaks_every))
        })?;
        let count = lines.len();
        let tail = self.request.tail_lines.filter(|_| self.told == 0);
        let from = tail.map_or(0, |tail| count.saturating_sub(tail as usize)).max(self.told);
        let since = self.request.since;
        let new = lines.into_iter().skip(from);
        self.ready.extend(new.filter(|(at, _)| since.is_none_or(|since| *at >= since)));
        self.told = count.max(self.told);
        Ok((ended, every))
    }
}

/// A pull in some steps.
pub(super) fn pull(
    node: Arc<Node>,
    image: String,
    auth: Option<&RegistryAuth>,
) -> BoxStream<'static, Result<String>> {
    if let Some(error) = refusal(&image, auth) {
        return stream::iter([Err(error)]).boxed();
    }
    stream::unfold(Some((node, image, 0)), |state| async move {
        let (node, image, step) = state?;
        let time = match node.reach(|state| Ok(state.pull_time.unwrap_or(Duration::ZERO))) {
            Ok(time) => time,
            Err(error) => return Some((Err(error), None)),
        };
        if step == STEPS {
            node.change(|state| {
                state.pulled.insert(canonical(&image));
            });
            return None;
        }
        tokio::time::sleep(time / STEPS).await;
        let line = format!("simulated: {} of {STEPS} layers of {image}", step + 1);
        Some((Ok(line), Some((node, image, step + 1))))
    })
    .boxed()
}

/// What the registry answers to who asks for an image with these credentials, if it is no.
pub(super) fn refusal(image: &str, auth: Option<&RegistryAuth>) -> Option<EngineError> {
    let proved = auth.is_some_and(|auth| auth.password == PASSWORD);
    if image.contains("denied") || (image.contains("private") && !proved) {
        return Some(EngineError::Denied(image.to_owned()));
    }
    image.contains("missing").then(|| EngineError::NoImage {
        image: image.to_owned(),
        message: "manifest unknown".to_owned(),
    })
}

/// A command that tells itself and repeats what is typed until nothing more comes.
pub(super) fn exec(node: Arc<Node>, name: String, id: String, command: &[String]) -> Exec {
    let (input, typed) = tokio::io::duplex(TYPED_AHEAD);
    let told = Bytes::from(format!("simulated: {}\n", command.join(" ")));
    let chunk = |bytes| LogChunk { stream: Stream::Out, bytes, at: None };
    let echo = ReaderStream::new(typed).map(move |read| match read {
        Ok(bytes) => Ok(chunk(bytes)),
        Err(error) => Err(EngineError::Failed(error.to_string())),
    });
    let exec = id.clone();
    let end = stream::once(async move { node.look(|state| state.end_exec(&name, &exec)) })
        .filter_map(|()| async { None });
    let output = stream::iter([Ok(chunk(told))]).chain(echo).chain(end).boxed();
    Exec { input: Box::pin(input), output, id }
}
