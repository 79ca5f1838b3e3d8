use std::collections::BTreeSet;

use leptos::prelude::*;

use crate::i18n::{Reader, Texts, told, tr};
use crate::parts::confirm::{Confirm, Opener};
use crate::parts::form_errors::FormAnswer;
use crate::parts::send_form::SendForm;
use crate::sending::Sending;
use crate::server_fns::jobs::StopJobs;

/// The jobs that are ticked, each as `user~job`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Selection {
    chosen: RwSignal<BTreeSet<String>>,
    /// What can be ticked on the page that is shown, in its order.
    shown: RwSignal<Vec<String>>,
    /// What was ticked last, from which a range goes.
    last: StoredValue<Option<String>>,
}

impl Selection {
    pub(crate) fn new() -> Self {
        Self {
            chosen: RwSignal::new(BTreeSet::new()),
            shown: RwSignal::new(Vec::new()),
            last: StoredValue::new(None),
        }
    }

    /// Another page, or the same one anew.
    pub(crate) fn show(self, keys: Vec<String>) {
        self.shown.set(keys);
    }

    pub(crate) fn contains(self, key: &str) -> bool {
        self.chosen.with(|keys| keys.contains(key))
    }

    fn count(self) -> u64 {
        self.chosen.with(|keys| keys.len() as u64)
    }

    /// Those of the ticked jobs that are not on the page.
    fn hidden(self) -> Vec<String> {
        let shown = self.shown.read();
        self.chosen.read().iter().filter(|key| !shown.contains(key)).cloned().collect()
    }

    /// Ticks one job or takes that back, or all from the last one to this one.
    fn pick(self, key: &str, chosen: bool, range: bool) {
        let from = self.last.get_value().filter(|_| range);
        let keys = between(&self.shown.read_untracked(), from.as_deref(), key);
        self.set(&keys, chosen);
        self.last.set_value(Some(key.to_owned()));
    }

    fn set(self, keys: &[String], chosen: bool) {
        self.chosen.update(|all| {
            for key in keys {
                if chosen {
                    all.insert(key.clone());
                } else {
                    all.remove(key);
                }
            }
        });
    }

    fn clear(self) {
        self.chosen.set(BTreeSet::new());
        self.last.set_value(None);
    }
}

/// All keys from one to another, in whichever order; the other alone where the one is not there.
fn between(keys: &[String], from: Option<&str>, to: &str) -> Vec<String> {
    let place = |key: &str| keys.iter().position(|each| each == key);
    match (from.and_then(place), place(to)) {
        (Some(from), Some(to)) => keys[from.min(to)..=from.max(to)].to_vec(),
        (None, _) | (_, None) => vec![to.to_owned()],
    }
}

/// The form that all ticked rows belong to.
const FORM: &str = "stop-jobs";

/// Ticks a job.
#[component]
pub(crate) fn Pick(selection: Selection, key: String) -> impl IntoView {
    let label = {
        let key = key.clone();
        told(move |t| (t.jobs.select)(&key))
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
            on:click=move |event| {
                selection.pick(&changed, event_target_checked(&event), event.shift_key());
            }
        />
    }
}

/// Ticks all jobs of the page.
#[component]
pub(crate) fn SelectAll(selection: Selection, keys: Vec<String>) -> impl IntoView {
    let change = move |event| selection.set(&keys, event_target_checked(&event));
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
    let stop = Sending::to::<StopJobs>();
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
    let question = Signal::derive(move || question(reader.texts(), &selection.chosen.read()));
    let hidden = move || {
        let count = selection.hidden().len() as u64;
        (count > 0).then(|| format!(" · {}", (reader.texts().finding.elsewhere)(count)))
    };
    let others = move || {
        let input = |key| view! { <input type="hidden" name="keys[]" value=key/> };
        selection.hidden().into_iter().map(input).collect_view()
    };
    view! {
        <FormAnswer answer=stop.value() done=done/>
        <div class="bulk-bar" class:bulk-bar--shown=move || { selection.count() > 0 }>
            <span role="status">
                {move || (reader.texts().jobs.selected)(selection.count())} {move || hidden()}
            </span>
            <button type="button" class="button" on:click=move |_| selection.clear()>
                {tr(|t| t.finding.unselect)}
            </button>
            <button type="button" class="button button--danger" on:click=move |_| opener.open()>
                {move || words()}
            </button>
        </div>
        <Confirm opener=opener title=Signal::derive(words) text=question>
            <SendForm to=stop attr:id=FORM>
                {move || others()}
                <button type="submit" class="button button--danger">{move || words()}</button>
            </SendForm>
        </Confirm>
    }
}

/// How many jobs the question names.
const NAMED: usize = 10;

/// What the question says: what becomes of the jobs, and which they are.
fn question(texts: &'static Texts, keys: &BTreeSet<String>) -> String {
    let mut lines = vec![texts.jobs.stop_many_text.to_owned(), String::new()];
    lines.extend(keys.iter().take(NAMED).cloned());
    if keys.len() > NAMED {
        lines.push((texts.finding.and_more)((keys.len() - NAMED) as u64));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::i18n::Language;

    fn keys(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_range_goes_either_way_and_only_where_both_ends_are_shown() {
        let all = keys(&["a", "b", "c", "d"]);
        assert_eq!(between(&all, Some("b"), "d"), keys(&["b", "c", "d"]));
        assert_eq!(between(&all, Some("c"), "a"), keys(&["a", "b", "c"]));
        assert_eq!(between(&all, Some("elsewhere"), "a"), keys(&["a"]));
        assert_eq!(between(&all, None, "a"), keys(&["a"]));
    }

    #[test]
    fn the_question_names_the_jobs() {
        let texts = Language::English.texts();
        let few = keys(&["ada~x", "bo~y"]).into_iter().collect();
        assert!(question(texts, &few).ends_with("\n\nada~x\nbo~y"));
        let many: BTreeSet<String> = (0..12).map(|n| format!("ada~{n:02}")).collect();
        assert!(question(texts, &many).ends_with("ada~09\nand 2 more"));
    }
}
