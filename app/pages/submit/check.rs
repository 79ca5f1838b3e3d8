//! Asks the server what it thinks of the text: when somebody has stopped typing for a moment, and
//! when the cluster or who waits in it has changed.

use std::time::Duration;

use leptos::leptos_dom::helpers::debounce;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::live::Live;
use crate::pages::submit::state::Editing;
use crate::server_fns::jobs::check_job;
use crate::server_fns::virtual_clusters::list_rooms;

/// Typing has stopped when nothing was typed for so long.
const PAUSE: Duration = Duration::from_millis(300);
/// The cluster is looked at no more often than this.
const GLANCE: Duration = Duration::from_secs(2);

/// Checks the text whenever it, the cluster or the queue has changed.
pub(crate) fn while_typing(editing: Editing) {
    let number = StoredValue::new(0_u32);
    let mut paused = debounce(PAUSE, move |text: String| {
        spawn_local(check(editing, text, number));
    });
    Effect::new(move |begun: Option<()>| {
        let text = editing.text.get();
        // The server has checked what the page began with; a draft may have taken its place.
        if begun.is_some() || editing.opened.with_value(|opened| *opened != text) {
            paused(text);
        }
    });
    let live = Live::get();
    let (cluster, queue) = (live.cluster(), live.queue());
    let waiting = StoredValue::new(false);
    Effect::new(move |begun: Option<()>| {
        cluster.track();
        queue.track();
        if begun.is_some() && !waiting.get_value() {
            waiting.set_value(true);
            set_timeout(move || spawn_local(glance(editing, number, waiting)), GLANCE);
        }
    });
}

/// Checks one text; an answer that a newer question has overtaken is dropped.
async fn check(editing: Editing, text: String, number: StoredValue<u32>) {
    let Some(mine) = number.try_update_value(|number| {
        *number += 1;
        *number
    }) else {
        return;
    };
    editing.checking.try_set(true);
    let report = check_job(text).await;
    if number.try_get_value() == Some(mine) {
        editing.report.try_set(report);
        editing.checking.try_set(false);
    }
}

async fn glance(editing: Editing, number: StoredValue<u32>, waiting: StoredValue<bool>) {
    waiting.try_set_value(false);
    if let Ok(rooms) = list_rooms().await {
        editing.rooms.try_set(rooms);
    }
    if let Some(text) = editing.text.try_get_untracked() {
        check(editing, text, number).await;
    }
}
