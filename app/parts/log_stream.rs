//! Following a log: one request whose answer goes on while the task runs.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use api::logs::TaskRef;
use leptos::prelude::*;
use send_wrapper::SendWrapper;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    AbortController, ReadableStreamDefaultReader, RequestInit, Response, TextDecodeOptions,
    TextDecoder,
};

use crate::address::encode;

/// How far a log is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// More may come.
    Following,
    /// Nothing more comes.
    Complete,
    /// The connection broke; another is tried.
    Lost,
}

/// A broken connection is made again after this.
const AGAIN: Duration = Duration::from_secs(2);

/// The address of a task's log from an offset on.
fn address(task: &TaskRef, rest: &str) -> String {
    let attempt = task.attempt.map(|number| format!("&attempt={number}")).unwrap_or_default();
    format!(
        "/api/v2/jobs/{}/logs?role={}&index={}{attempt}&{rest}",
        task.job,
        encode(task.role.as_str()),
        task.index
    )
}

/// The address that gives the whole log as a file.
pub(crate) fn download(task: &TaskRef) -> String {
    address(task, "download=true")
}

/// In the browser, reads what comes after `offset` and hands it on piece by piece, until the log
/// is complete or the page that asked is left.
pub(crate) fn follow(
    task: &TaskRef,
    offset: u64,
    progress: RwSignal<Progress>,
    receive: impl Fn(&str) + 'static,
) {
    let task = task.clone();
    let receive = SendWrapper::new(Rc::new(receive) as Rc<dyn Fn(&str)>);
    Effect::new(move |_| {
        let Ok(abort) = AbortController::new() else { return };
        let alive = Rc::new(Cell::new(true));
        let ended = SendWrapper::new((abort.clone(), Rc::clone(&alive)));
        on_cleanup(move || {
            ended.1.set(false);
            ended.0.abort();
        });
        let stream = Stream {
            task: task.clone(),
            offset: Cell::new(offset),
            progress,
            receive: Rc::clone(&receive),
            abort,
            alive,
        };
        open(Rc::new(stream));
    });
}

struct Stream {
    task: TaskRef,
    offset: Cell<u64>,
    progress: RwSignal<Progress>,
    receive: Rc<dyn Fn(&str)>,
    abort: AbortController,
    alive: Rc<Cell<bool>>,
}

fn open(stream: Rc<Stream>) {
    leptos::task::spawn_local(async move {
        let outcome = stream.read().await;
        if !stream.alive.get() {
            return;
        }
        match outcome {
            Ok(()) => stream.progress.set(Progress::Complete),
            Err(_) => {
                stream.progress.set(Progress::Lost);
                set_timeout(
                    move || {
                        if stream.alive.get() {
                            open(stream);
                        }
                    },
                    AGAIN,
                );
            }
        }
    });
}

impl Stream {
    /// Reads one answer to its end.
    async fn read(&self) -> Result<(), JsValue> {
        let options = RequestInit::new();
        options.set_signal(Some(&self.abort.signal()));
        let address = address(&self.task, &format!("offset={}&follow=true", self.offset.get()));
        let answer = window().fetch_with_str_and_init(&address, &options);
        let answer: Response = JsFuture::from(answer).await?.dyn_into()?;
        let body = answer.body().filter(|_| answer.ok()).ok_or(JsValue::NULL)?;
        let reader: ReadableStreamDefaultReader = body.get_reader().dyn_into()?;
        self.progress.set(Progress::Following);
        let decoder = TextDecoder::new()?;
        let more = TextDecodeOptions::new();
        more.set_stream(true);
        loop {
            let piece = JsFuture::from(reader.read()).await?;
            if js_sys::Reflect::get(&piece, &"done".into())?.is_truthy() || !self.alive.get() {
                return Ok(());
            }
            let bytes: js_sys::Uint8Array =
                js_sys::Reflect::get(&piece, &"value".into())?.dyn_into()?;
            self.offset.set(self.offset.get() + u64::from(bytes.length()));
            (self.receive)(&decoder.decode_with_js_u8_array_and_options(&bytes, &more)?);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_download_names_task_and_attempt() {
        let task = TaskRef {
            job: "ada~a".parse().unwrap(),
            attempt: Some(1),
            role: "worker".parse().unwrap(),
            index: 2,
        };
        assert_eq!(
            download(&task),
            "/api/v2/jobs/ada~a/logs?role=worker&index=2&attempt=1&download=true"
        );
    }
}
