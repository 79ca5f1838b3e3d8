use std::collections::BTreeMap;

use leptos::prelude::*;

use crate::i18n::{Texts, told, tr};

/// A job, or something else of a list, that can be ticked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pickable {
    /// `user~job`, or a name.
    pub(crate) key: String,
    /// Whether it has ended.
    pub(crate) ended: bool,
}

/// The jobs that are ticked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Selection {
    /// Whether each of them has ended, by `user~job`.
    chosen: RwSignal<BTreeMap<String, bool>>,
    /// What can be ticked on the page that is shown, in its order.
    shown: RwSignal<Vec<Pickable>>,
    /// What was ticked last, from which a range goes.
    last: StoredValue<Option<String>>,
}

impl Selection {
    pub(crate) fn new() -> Self {
        Self {
            chosen: RwSignal::new(BTreeMap::new()),
            shown: RwSignal::new(Vec::new()),
            last: StoredValue::new(None),
        }
    }

    /// Another page, or the same one anew: what is ticked there may have ended meanwhile.
    pub(crate) fn show(self, jobs: Vec<Pickable>) {
        let news = self.chosen.with_untracked(|chosen| ended_meanwhile(chosen, &jobs));
        if !news.is_empty() {
            self.chosen.update(|chosen| chosen.extend(news));
        }
        self.shown.set(jobs);
    }

    pub(crate) fn contains(self, key: &str) -> bool {
        self.chosen.with(|chosen| chosen.contains_key(key))
    }

    pub(crate) fn count(self) -> u64 {
        self.chosen.with(|chosen| chosen.len() as u64)
    }

    /// The ticked jobs that have ended, or those that have not, or all.
    pub(crate) fn keys(self, ended: Option<bool>) -> Vec<String> {
        let chosen = self.chosen.read();
        let wanted = chosen.iter().filter(|(_, has)| ended.is_none_or(|ended| **has == ended));
        wanted.map(|(key, _)| key.clone()).collect()
    }

    /// How many of the ticked jobs are not on the page.
    pub(crate) fn hidden(self) -> u64 {
        let (shown, chosen) = (self.shown.read(), self.chosen.read());
        chosen.keys().filter(|key| shown.iter().all(|job| job.key != **key)).count() as u64
    }

    /// Ticks one job or takes that back, or all from the last one to this one.
    fn pick(self, job: &Pickable, chosen: bool, range: bool) {
        let from = self.last.get_value().filter(|_| range);
        let jobs = between(&self.shown.read_untracked(), from.as_deref(), job);
        self.set(&jobs, chosen);
        self.last.set_value(Some(job.key.clone()));
    }

    fn set(self, jobs: &[Pickable], chosen: bool) {
        self.chosen.update(|all| {
            for Pickable { key, ended } in jobs {
                if chosen {
                    all.insert(key.clone(), *ended);
                } else {
                    all.remove(key);
                }
            }
        });
    }

    pub(crate) fn clear(self) {
        self.chosen.set(BTreeMap::new());
        self.last.set_value(None);
    }

    /// Takes it back of some.
    pub(crate) fn untick<'a>(self, keys: impl Iterator<Item = &'a String>) {
        self.chosen.update(|chosen| {
            for key in keys {
                chosen.remove(key);
            }
        });
    }
}

/// The ticked jobs of which it is other than before whether they have ended.
fn ended_meanwhile(chosen: &BTreeMap<String, bool>, jobs: &[Pickable]) -> Vec<(String, bool)> {
    let differs = |job: &&Pickable| chosen.get(&job.key).is_some_and(|has| *has != job.ended);
    jobs.iter().filter(differs).map(|job| (job.key.clone(), job.ended)).collect()
}

/// All jobs from one to another, in whichever order; the other alone where the one is not there.
fn between(jobs: &[Pickable], from: Option<&str>, to: &Pickable) -> Vec<Pickable> {
    let place = |key: &str| jobs.iter().position(|each| each.key == key);
    match (from.and_then(place), place(&to.key)) {
        (Some(from), Some(to)) => jobs[from.min(to)..=from.max(to)].to_vec(),
        (None, _) | (_, None) => vec![to.clone()],
    }
}

/// Ticks a job.
#[component]
pub(crate) fn Pick(selection: Selection, job: Pickable) -> impl IntoView {
    let label = {
        let key = job.key.clone();
        told(move |t| (t.jobs.select)(&key))
    };
    // What a key looks for.
    let stoppable = (!job.ended).then_some("");
    let checked = {
        let key = job.key.clone();
        move || selection.contains(&key)
    };
    view! {
        <input
            type="checkbox"
            aria-label=label
            data-stoppable=stoppable
            prop:checked=checked
            on:click=move |event| {
                selection.pick(&job, event_target_checked(&event), event.shift_key());
            }
        />
    }
}

/// Ticks all of the page.
#[component]
pub(crate) fn SelectAll(
    selection: Selection,
    jobs: Vec<Pickable>,
    /// What that is called.
    label: fn(&'static Texts) -> &'static str,
) -> impl IntoView {
    let change = move |event| selection.set(&jobs, event_target_checked(&event));
    view! {
        <input
            type="checkbox"
            aria-label=tr(label)
            prop:checked=move || { selection.count() > 0 }
            on:change=change
        />
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs(names: &[&str]) -> Vec<Pickable> {
        let job = |name: &&str| Pickable { key: (*name).to_owned(), ended: *name > "b" };
        names.iter().map(job).collect()
    }

    #[test]
    fn a_range_goes_either_way_and_only_where_both_ends_are_shown() {
        let all = jobs(&["a", "b", "c", "d"]);
        assert_eq!(between(&all, Some("b"), &all[3]), jobs(&["b", "c", "d"]));
        assert_eq!(between(&all, Some("c"), &all[0]), jobs(&["a", "b", "c"]));
        assert_eq!(between(&all, Some("elsewhere"), &all[0]), jobs(&["a"]));
        assert_eq!(between(&all, None, &all[0]), jobs(&["a"]));
    }

    #[test]
    fn what_ends_while_it_is_ticked_is_no_more_to_be_stopped() {
        let chosen = [("a", false), ("c", false), ("d", true), ("elsewhere", false)];
        let chosen = chosen.map(|(key, ended)| (key.to_owned(), ended));
        let news = ended_meanwhile(&BTreeMap::from(chosen), &jobs(&["a", "b", "c", "d"]));
        assert_eq!(news, [("c".to_owned(), true)]);
    }
}
