//! Sending one file, with its progress: a small one at once, a large one in parts, so that after an
//! interruption it goes on where it was.

mod request;

use std::rc::Rc;
use std::time::Duration;

use api::files::FilePath;
use js_sys::Promise;
use leptos::prelude::set_timeout;
use wasm_bindgen_futures::JsFuture;

use super::collect::Chosen;
use crate::address;
use request::{Answer, request};

/// Bytes of one part.
const PART: f64 = 16.0 * 1024.0 * 1024.0;
/// So often a part is tried without anything arriving, with up to [`LONGEST`] seconds between two
/// tries: about ten minutes.
const TRIES: u32 = 24;
const LONGEST: u32 = 30;

/// Why a file was not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NotSent {
    /// There is one of that name.
    Exists,
    /// The connection failed, or the page was told to stop.
    Broken,
    /// The server's words.
    Refused(String),
}

/// Whoever wants to know how a file gets on.
#[derive(Clone)]
pub(super) struct Watcher {
    /// Whether to stop.
    pub(super) stopped: Rc<dyn Fn() -> bool>,
    /// Told how many bytes have been sent.
    pub(super) moved: Rc<dyn Fn(f64)>,
    /// Told that the connection is lost, and that it is back.
    pub(super) lost: Rc<dyn Fn(bool)>,
}

/// Sends a file into a folder.
pub(super) async fn send(
    chosen: &Chosen,
    folder: &FilePath,
    replace: bool,
    watcher: &Watcher,
) -> Result<(), NotSent> {
    let path = folder.child(&chosen.path);
    if chosen.file.size() > PART {
        return Parts { chosen, path, replace, watcher }.send().await;
    }
    let address = format!("{}?overwrite={replace}", address::content(&path));
    let moved = Rc::clone(&watcher.moved);
    let answer = request("PUT", &address, Some(&chosen.file), watcher, move |sent| moved(sent));
    outcome(&answer.await).map(drop)
}

/// A file that is sent in parts.
struct Parts<'a> {
    chosen: &'a Chosen,
    path: FilePath,
    replace: bool,
    watcher: &'a Watcher,
}

impl Parts<'_> {
    async fn send(&self) -> Result<(), NotSent> {
        let size = self.chosen.file.size();
        let (mut at, mut failures) = (None, 0);
        loop {
            let answer = match at {
                None => self.ask().await,
                Some(offset) => self.part(offset).await,
            };
            if (self.watcher.stopped)() {
                return Err(NotSent::Broken);
            }
            match outcome(&answer) {
                Ok(arrived) if arrived >= size && at.is_some() => return Ok(()),
                Ok(arrived) => {
                    at = Some(arrived);
                    failures = 0;
                    (self.watcher.lost)(false);
                    (self.watcher.moved)(arrived);
                }
                Err(NotSent::Broken) if failures < TRIES => {
                    at = None;
                    failures += 1;
                    (self.watcher.lost)(true);
                    self.rest(failures).await;
                }
                Err(reason) => {
                    (self.watcher.lost)(false);
                    return Err(reason);
                }
            }
        }
    }

    /// How much has arrived, maybe yesterday.
    async fn ask(&self) -> Answer {
        request("GET", &self.address(0.0), None, self.watcher, |_| {}).await
    }

    async fn part(&self, offset: f64) -> Answer {
        let file = &self.chosen.file;
        let end = (offset + PART).min(file.size());
        let Ok(part) = file.slice_with_f64_and_f64(offset, end) else { return Answer::nothing() };
        let moved = Rc::clone(&self.watcher.moved);
        let told = move |sent| moved(offset + sent);
        request("PATCH", &self.address(offset), Some(&part), self.watcher, told).await
    }

    /// Waits before another try, longer each time, unless told to stop.
    async fn rest(&self, failures: u32) {
        for _ in 0..LONGEST.min(1 << failures.min(8)) {
            if (self.watcher.stopped)() {
                return;
            }
            second().await;
        }
    }

    /// The same file, chosen again, has the same address.
    fn address(&self, offset: f64) -> String {
        let (file, replace) = (&self.chosen.file, self.replace);
        let (id, length) = (whole(file.last_modified()), whole(file.size()));
        let query = format!("id={id}&length={length}&offset={}", whole(offset));
        format!("{}?{query}&overwrite={replace}", address::upload(&self.path))
    }
}

/// Whole numbers are written by less code.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "browsers count in floating point; bytes and milliseconds are whole and not negative"
)]
pub(super) fn whole(number: f64) -> u64 {
    number as u64
}

/// What an answer means: how much has arrived, where that is said.
fn outcome(answer: &Answer) -> Result<f64, NotSent> {
    match answer.status {
        200..300 => Ok(answer.arrived().unwrap_or_default()),
        // Another try finds out what is true.
        0 | 500.. => Err(NotSent::Broken),
        409 if answer.goes_on_elsewhere() => Err(NotSent::Broken),
        409 => Err(NotSent::Exists),
        _ => Err(NotSent::Refused(answer.words())),
    }
}

async fn second() {
    let over = Promise::new(&mut |done, _| {
        set_timeout(
            move || {
                // Nobody waits any more: the page has gone.
                let _ = done.call0(&wasm_bindgen::JsValue::UNDEFINED);
            },
            Duration::from_secs(1),
        );
    });
    let _ = JsFuture::from(over).await;
}
