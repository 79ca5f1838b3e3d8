use std::collections::BTreeSet;

use leptos::prelude::*;

use crate::i18n::{Reader, text, tr};
use crate::parts::confirm::{Confirm, Opener};
use crate::parts::form_errors::FormAnswer;
use crate::server_fns::jobs::StopJobs;

/// The jobs that are ticked, each as `user~job`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Selection(RwSignal<BTreeSet<String>>);

impl Selection {
    pub(crate) fn new() -> Self {
        Self(RwSignal::new(BTreeSet::new()))
    }

    pub(crate) fn contains(self, key: &str) -> bool {
        self.0.with(|keys| keys.contains(key))
    }

    fn count(self) -> u64 {
        self.0.with(|keys| keys.len() as u64)
    }

    fn set(self, key: &str, chosen: bool) {
        self.0.update(|keys| {
            if chosen {
                keys.insert(key.to_owned());
            } else {
                keys.remove(key);
            }
        });
    }

    fn clear(self) {
        self.0.set(BTreeSet::new());
    }
}

/// The form that all ticked rows belong to.
const FORM: &str = "stop-jobs";

/// Ticks a job.
#[component]
pub(crate) fn Pick(selection: Selection, key: String) -> impl IntoView {
    let label = {
        let key = key.clone();
        move || tr(|t| (t.jobs.select)(&key))()
    };
    let checked = {
        let key = key.clone();
        move || selection.contains(&key)
    };
    let changed = key.clone();
    view! {
        <input
            type="checkbox"
            name="keys[]"
            form=FORM
            value=key
            aria-label=label
            prop:checked=checked
            on:change=move |event| selection.set(&changed, event_target_checked(&event))
        />
    }
}

/// Ticks all jobs of the page.
#[component]
pub(crate) fn SelectAll(selection: Selection, keys: Vec<String>) -> impl IntoView {
    let change = move |event| {
        let chosen = event_target_checked(&event);
        for key in &keys {
            selection.set(key, chosen);
        }
    };
    view! {
        <input
            type="checkbox"
            aria-label=tr(|t| t.jobs.select_all)
            prop:checked=move || { selection.count() > 0 }
            on:change=change
        />
    }
}

/// What can be done with the ticked jobs, and the question before it is done.
#[component]
pub(crate) fn StopMany(selection: Selection) -> impl IntoView {
    let stop = ServerAction::<StopJobs>::new();
    let opener = Opener::new();
    let reader = Reader::get();
    let words = move || (reader.texts().jobs.stop_many)(selection.count());
    Effect::new(move |_| {
        if stop.value().with(|answer| matches!(answer, Some(Ok(_)))) {
            opener.close();
            selection.clear();
        }
    });
    let done = Signal::derive(move || match stop.value().get() {
        Some(Ok(count)) => (reader.texts().jobs.stopped_many)(count),
        Some(Err(_)) | None => String::new(),
    });
    view! {
        <FormAnswer answer=stop.value() done=done/>
        <div class="bulk-bar" class:bulk-bar--shown=move || { selection.count() > 0 }>
            <span role="status">{move || (reader.texts().jobs.selected)(selection.count())}</span>
            <button type="button" class="button button--danger" on:click=move |_| opener.open()>
                {words}
            </button>
        </div>
        <Confirm opener=opener title=Signal::derive(words) text=text(|t| t.jobs.stop_many_text)>
            <ActionForm action=stop attr:id=FORM>
                <button type="submit" class="button button--danger">{words}</button>
            </ActionForm>
        </Confirm>
    }
}
