//! The connection that changes come by: a stream of events, opened again and again while somebody
//! looks; where streams are cut or held up on the way, the same asked for now and then.

use std::time::Duration;

use api::changes::{Change, Mark, News};
use futures::StreamExt;
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::future::{Either, select};
use js_sys::{Array, Function, Promise};
use leptos::prelude::*;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{EventSource, Headers, MessageEvent, RequestInit, Response};

use super::tabs::Channel;
use super::{Live, edge};
use crate::json::from_json;

/// Where the server tells what changes.
const EVENTS: &str = "/api/events";
/// A stream says at its begin that it is alive. One that says nothing for so long is held up.
const BEGIN: Duration = Duration::from_secs(6);
/// The server says every 15 s that a stream is alive. After so long it is dead.
const SILENCE: Duration = Duration::from_secs(40);
/// A stream that broke sooner is cut by something on the way, in milliseconds.
const CUT: i64 = 5_000;
/// So often streams are tried before it is asked instead.
const TRIES: u32 = 1;
/// How often it is then asked, and after how many times streams are tried again.
const ASKED_EVERY: Duration = Duration::from_secs(3);
const ASKED_TIMES: u32 = 40;
/// The longest waits before each new try while nothing answers, in milliseconds; the last one
/// repeats. They end within two seconds: whoever comes back is noticed.
const BACK_OFF: [f64; 4] = [250.0, 500.0, 1000.0, 1800.0];
/// After an answer that is a refusal.
const REFUSED: Duration = Duration::from_secs(10);
/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(5);

/// What comes by a stream.
enum Word {
    Alive,
    Change(Mark, Change),
    Broken,
}

/// What became of a question.
enum Asked {
    Told,
    Refused,
    Unanswered,
}

/// Listens for ever; ends by being dropped.
pub(super) async fn lead(live: Live, channel: Channel) {
    let (mut unanswered, mut cut) = (0, 0);
    loop {
        if listen(live, &channel).await {
            (unanswered, cut) = (0, 0);
        }
        match ask(live, &channel).await {
            Asked::Told if cut < TRIES => (unanswered, cut) = (0, cut + 1),
            Asked::Told => ask_often(live, &channel).await,
            Asked::Refused => sleep(REFUSED).await,
            Asked::Unanswered => {
                channel.say_lost(live, true);
                sleep(back_off(unanswered, js_sys::Math::random())).await;
                unanswered += 1;
            }
        }
    }
}

/// A wait between half of the longest one and all of it: pages that lost their server together do
/// not come back together.
fn back_off(tries: usize, random: f64) -> Duration {
    let longest = BACK_OFF[tries.min(BACK_OFF.len() - 1)];
    Duration::from_secs_f64(longest * (0.5 + random / 2.0) / 1000.0)
}

/// Takes in what a stream brings until it breaks or falls silent; whether it went well for a while.
async fn listen(live: Live, channel: &Channel) -> bool {
    let Some(mut source) = Source::open(live.mark()) else { return false };
    let (opened_at, mut heard_at) = (edge::now(), edge::now());
    let mut alive = false;
    let mut patience = Box::pin(sleep(BEGIN));
    loop {
        match select(source.words.next(), patience).await {
            Either::Left((Some(Word::Alive), rest)) => {
                (alive, patience) = (true, rest);
                channel.say_lost(live, false);
            }
            Either::Left((Some(Word::Change(mark, change)), rest)) => {
                (alive, patience) = (true, rest);
                channel.say(live, mark, change);
            }
            Either::Left((Some(Word::Broken) | None, _)) => break,
            Either::Right(_) if alive && !is_silent(heard_at) => {
                patience = Box::pin(sleep(SILENCE));
                continue;
            }
            Either::Right(_) => break,
        }
        heard_at = edge::now();
    }
    alive && edge::now().since(opened_at) > CUT
}

fn is_silent(heard_at: protocol::time::Timestamp) -> bool {
    let longest = i64::try_from(SILENCE.as_millis()).unwrap_or(i64::MAX);
    edge::now().since(heard_at) >= longest
}

async fn ask_often(live: Live, channel: &Channel) {
    for _ in 0..ASKED_TIMES {
        sleep(ASKED_EVERY).await;
        match ask(live, channel).await {
            Asked::Told => {}
            Asked::Refused | Asked::Unanswered => return,
        }
    }
}

/// Asks what has changed since.
async fn ask(live: Live, channel: &Channel) -> Asked {
    let answer = Box::pin(fetch(live.mark()));
    let response = match select(answer, Box::pin(sleep(ANSWER))).await {
        Either::Left((Ok(response), _)) => response,
        Either::Left((Err(_), _)) | Either::Right(_) => return Asked::Unanswered,
    };
    if !response.ok() {
        return if response.status() < 500 { Asked::Refused } else { Asked::Unanswered };
    }
    let Some(news) = read(&response).await else { return Asked::Refused };
    channel.say_lost(live, false);
    let first = news.mark.number.saturating_sub(news.changes.len() as u64);
    for (number, change) in (first + 1..).zip(news.changes) {
        let number = if change == Change::Missed { news.mark.number } else { number };
        channel.say(live, Mark { number, ..news.mark }, change);
    }
    Asked::Told
}

async fn fetch(mark: Option<Mark>) -> Result<Response, JsValue> {
    let headers = Headers::new()?;
    headers.set("accept", "application/json")?;
    let init = RequestInit::new();
    init.set_headers(&headers);
    let answer = window().fetch_with_str_and_init(&address(mark), &init);
    JsFuture::from(answer).await?.dyn_into()
}

async fn read(response: &Response) -> Option<News> {
    let text = JsFuture::from(response.text().ok()?).await.ok()?.as_string()?;
    from_json(&text).ok()
}

fn address(mark: Option<Mark>) -> String {
    mark.map_or_else(|| EVENTS.to_owned(), |mark| format!("{EVENTS}?after={mark}"))
}

/// Waits.
async fn sleep(time: Duration) {
    let mut wait = |resolve: Function, _: Function| {
        let millis = i32::try_from(time.as_millis()).unwrap_or(i32::MAX);
        let set = window().set_timeout_with_callback_and_timeout_and_arguments(
            &resolve,
            millis,
            &Array::new(),
        );
        // Without a timer nobody waits.
        if set.is_err() {
            let _done = resolve.call0(&JsValue::NULL);
        }
    };
    let _never_fails = JsFuture::from(Promise::new(&mut wait)).await;
}

/// An open stream; it is closed when this goes.
struct Source {
    source: EventSource,
    words: UnboundedReceiver<Word>,
    _handlers: [Closure<dyn FnMut(MessageEvent)>; 3],
}

impl Source {
    fn open(mark: Option<Mark>) -> Option<Self> {
        let source = EventSource::new(&address(mark)).ok()?;
        let (sender, words) = unbounded();
        let alive = handler(&sender, |_| Some(Word::Alive));
        let change = handler(&sender, |event| {
            let mark = event.last_event_id().parse().ok()?;
            let change = from_json(&event.data().as_string()?).ok()?;
            Some(Word::Change(mark, change))
        });
        let broken = handler(&sender, |_| Some(Word::Broken));
        let listener = alive.as_ref().unchecked_ref();
        source.add_event_listener_with_callback("alive", listener).ok()?;
        source.set_onmessage(Some(change.as_ref().unchecked_ref()));
        source.set_onerror(Some(broken.as_ref().unchecked_ref()));
        Some(Self { source, words, _handlers: [alive, change, broken] })
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.source.set_onmessage(None);
        self.source.set_onerror(None);
        self.source.close();
    }
}

fn handler(
    sender: &UnboundedSender<Word>,
    word: impl Fn(MessageEvent) -> Option<Word> + 'static,
) -> Closure<dyn FnMut(MessageEvent)> {
    let sender = sender.clone();
    Closure::new(move |event| {
        if let Some(word) = word(event) {
            // Nobody listens any more: the stream is being closed.
            let _gone = sender.unbounded_send(word);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_comes_back_is_noticed_within_two_seconds() {
        for tries in 0..100 {
            for random in [0.0, 0.5, 1.0] {
                let wait = back_off(tries, random);
                assert!(wait <= Duration::from_millis(1800), "{wait:?}");
                assert!(wait >= Duration::from_millis(125), "{wait:?}");
            }
        }
        assert!(back_off(0, 1.0) < back_off(3, 0.0));
        assert_ne!(back_off(3, 0.1), back_off(3, 0.9), "not all at once");
    }
}
