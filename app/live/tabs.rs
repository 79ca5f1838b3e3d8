//! The tabs of a browser share one stream: whoever holds a lock listens and tells the others. Only
//! tabs that somebody looks at ask for the lock, so that none is asleep that others wait for. Where
//! there are no locks (pages without encryption), each tab listens for itself.

use std::cell::RefCell;
use std::rc::Rc;

use api::changes::{Change, Mark};
use futures::channel::oneshot;
use futures::future::{AbortHandle, abortable};
use js_sys::{Function, Object, Promise, Reflect};
use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{AbortController, BroadcastChannel, MessageEvent};

use super::Live;
use super::stream::lead;
use crate::json::from_json;
use crate::looked::is_hidden;

/// The name of the lock and of the channel between the tabs.
const NAME: &str = "berth-live";

/// What tabs say to each other.
#[derive(Debug, Serialize, Deserialize)]
enum Said {
    /// Something has changed.
    Changed(Mark, Change),
    /// The server answers no more, or again.
    Lost(bool),
    /// Somebody new asks how far the others have heard.
    HowFar,
    /// The answer of who listens.
    Here(Mark, bool),
}

/// The way to the other tabs, if they are told anything.
#[derive(Debug, Clone)]
pub(super) struct Channel {
    to_others: Option<BroadcastChannel>,
    leads: Rc<RefCell<bool>>,
}

impl Channel {
    /// Hears a change and passes it on.
    pub(super) fn say(&self, live: Live, mark: Mark, change: Change) {
        if live.hear(mark, change.clone()) {
            self.post(&Said::Changed(mark, change));
        }
    }

    /// Notes whether the server answers, and passes it on.
    pub(super) fn say_lost(&self, live: Live, lost: bool) {
        if live.lost.get_untracked().is_some() != lost {
            live.set_lost(lost);
            self.post(&Said::Lost(lost));
        }
    }

    fn post(&self, said: &Said) {
        if let (Some(others), Ok(text)) = (&self.to_others, serde_json::to_string(said)) {
            // A tab that cannot be told reads everything when it hears of a gap.
            let _missed = others.post_message(&JsValue::from_str(&text));
        }
    }

    /// What another tab said.
    fn told(&self, live: Live, said: Said) {
        let leads = *self.leads.borrow();
        match said {
            Said::Changed(mark, change) if !leads => {
                live.hear(mark, change);
            }
            Said::Lost(lost) if !leads => live.set_lost(lost),
            Said::Here(mark, lost) if !leads => {
                live.set_lost(lost);
                live.compare(mark);
            }
            Said::HowFar if leads => {
                if let Some(mark) = live.mark() {
                    self.post(&Said::Here(mark, live.lost.get_untracked().is_some()));
                }
            }
            Said::Changed(..) | Said::Lost(_) | Said::Here(..) | Said::HowFar => {}
        }
    }
}

/// Follows what changes whenever somebody looks, for as long as the page lives.
pub(super) fn listen(live: Live) {
    let locks = locks();
    let to_others = locks.as_ref().and_then(|_| BroadcastChannel::new(NAME).ok());
    let channel = Channel { to_others, leads: Rc::default() };
    hear_others(live, &channel);
    let mut turn = None;
    let mut look = move || {
        if is_hidden() {
            turn = None;
        } else if turn.is_none() {
            channel.post(&Said::HowFar);
            turn = Some(Turn::wait(live, channel.clone(), locks.clone()));
            live.arrange();
        }
    };
    look();
    let looked = Closure::<dyn FnMut()>::new(look);
    let callback = looked.as_ref().unchecked_ref();
    // A browser without the event shows the page as it was when it was opened.
    let _without = document().add_event_listener_with_callback("visibilitychange", callback);
    looked.forget();
}

fn hear_others(live: Live, channel: &Channel) {
    let Some(others) = &channel.to_others else { return };
    let here = channel.clone();
    let told = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        let said = event.data().as_string().and_then(|text| from_json(&text).ok());
        if let Some(said) = said {
            here.told(live, said);
        }
    });
    others.set_onmessage(Some(told.as_ref().unchecked_ref()));
    told.forget();
}

/// This tab's turn to listen, or its place in the row; it is given up when this goes.
struct Turn(AbortHandle);

impl Turn {
    fn wait(live: Live, channel: Channel, locks: Option<JsValue>) -> Self {
        let (turn, abort) = abortable(async move {
            let _held = match locks {
                Some(locks) => Lock::wait(&locks).await,
                None => None,
            };
            let _leading = Leading::begin(&channel);
            lead(live, channel.clone()).await;
        });
        spawn_local(async move {
            let _given_up = turn.await;
        });
        Self(abort)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// That this tab is the one that listens.
struct Leading(Rc<RefCell<bool>>);

impl Leading {
    fn begin(channel: &Channel) -> Self {
        *channel.leads.borrow_mut() = true;
        Self(Rc::clone(&channel.leads))
    }
}

impl Drop for Leading {
    fn drop(&mut self) {
        *self.0.borrow_mut() = false;
    }
}

/// The browser's locks; pages that came without encryption have none.
fn locks() -> Option<JsValue> {
    let locks = Reflect::get(&window().navigator(), &"locks".into()).ok()?;
    locks.is_object().then_some(locks)
}

/// The lock, or a place in the row for it; either is given back when this goes.
struct Lock {
    waiting: AbortController,
    release: Function,
    _granted: Closure<dyn FnMut(JsValue) -> Promise>,
}

impl Lock {
    /// Waits for the lock; `None`: the browser does not give any.
    async fn wait(locks: &JsValue) -> Option<Self> {
        let request: Function = Reflect::get(locks, &"request".into()).ok()?.dyn_into().ok()?;
        let waiting = AbortController::new().ok()?;
        let options = Object::new();
        Reflect::set(&options, &"signal".into(), &waiting.signal()).ok()?;
        let mut release = None;
        let held = Promise::new(&mut |resolve, _| release = Some(resolve));
        let (sender, is_granted) = oneshot::channel();
        let mut sender = Some(sender);
        let granted = Closure::<dyn FnMut(JsValue) -> Promise>::new(move |_lock| {
            if let Some(sender) = sender.take() {
                // Nobody waits any more: the lock is given back at once.
                let _gone = sender.send(());
            }
            held.clone()
        });
        let asked = request.call3(locks, &NAME.into(), &options, granted.as_ref()).ok()?;
        let lock = Self { waiting, release: release?, _granted: granted };
        spawn_local(async move {
            // It fails when this tab gives up its place.
            let _over = JsFuture::from(Promise::from(asked)).await;
        });
        is_granted.await.ok()?;
        Some(lock)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.waiting.abort();
        let _released = self.release.call0(&JsValue::NULL);
    }
}
