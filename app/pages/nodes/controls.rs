use api::node_map::{Colour, Face, Group, NodeMap, Only};
use leptos::prelude::*;

use crate::i18n::{Reader, Texts, told, tr};
use crate::number::count;
use crate::pages::nodes::filter::Filter;
use crate::parts::search_form::{SearchField, SearchForm};

type Words = fn(&'static Texts) -> &'static str;

/// What is looked for, and on which face it is shown. It stands outside of what is read again and
/// again, which leaves alone what is being typed.
#[component]
pub(super) fn FindBar(filter: Memo<Filter>) -> impl IntoView {
    view! {
        <div class="filter">
            <div class="filter__row">
                <Search filter=filter/>
                {move || view! { <Faces filter=filter.get()/> }}
            </div>
        </div>
    }
    .into_any()
}

/// Which of what is found is shown and how: all of it plain addresses.
#[component]
pub(super) fn Controls(map: NodeMap, filter: Filter) -> impl IntoView {
    let (used, gpus) = (map.used, map.gpus);
    view! {
        <div class="filter">
            <div class="filter__row">
                <Kinds map=map.clone() filter=filter.clone()/>
                <Groups labels=map.labels.into_iter().collect() filter=filter.clone()/>
                <Colours filter=filter/>
            </div>
            <p class="hint">{told(move |t| (t.cluster.gpus_summary)(used, gpus))}</p>
        </div>
    }
    .into_any()
}

#[component]
fn Search(filter: Memo<Filter>) -> impl IntoView {
    let words = Memo::new(move |_| filter.read().query.text.clone());
    // What the form leaves as it is; another search begins at its first page.
    let kept = move || {
        let kept = filter.get().with(|_| ()).pairs().into_iter().filter(|(name, _)| *name != "q");
        let kept = kept.map(|(name, value)| view! { <input type="hidden" name=name value=value/> });
        kept.collect_view()
    };
    let clear = move || {
        let filter = filter.get();
        (!filter.query.text.is_empty()).then(|| {
            let address = filter.with(|other| other.query.text.clear()).address();
            view! { <a class="button button--quiet" href=address>{tr(|t| t.jobs.clear)}</a> }
        })
    };
    view! {
        <SearchForm action="/nodes">
            <SearchField words=words label=|t| t.map.search hint=|t| t.map.search_hint/>
            {move || kept()}
            <button class="button" type="submit">{tr(|t| t.jobs.apply)}</button>
            {move || clear()}
        </SearchForm>
    }
    .into_any()
}

/// Addresses side by side of which one is where we are.
#[component]
fn Segments(
    label: Words,
    /// Words, address, and whether it is the present one.
    items: Vec<(Signal<String>, String, bool)>,
) -> impl IntoView {
    let items = items.into_iter().map(|(words, address, here)| {
        let here = here.then_some("true");
        view! {
            <a class="segment" href=address aria-current=here data-noscroll="true">
                {move || words.get()}
            </a>
        }
    });
    view! {
        <div class="labelled">
            <span class="hint" aria-hidden="true">{tr(label)}</span>
            <nav class="segments segments--wrap" aria-label=tr(label)>{items.collect_view()}</nav>
        </div>
    }
    .into_any()
}

fn words(pick: Words) -> Signal<String> {
    crate::i18n::text(pick)
}

#[component]
fn Faces(filter: Filter) -> impl IntoView {
    let item = |pick: Words, face: Face| {
        let address = filter.with(|other| other.query.face = face).address();
        (words(pick), address, filter.query.face == face)
    };
    let items = vec![item(|t| t.map.map, Face::Map), item(|t| t.map.table, Face::Table)];
    view! { <Segments label=|t| t.map.face items=items/> }.into_any()
}

/// All nodes, or those of a kind, with how many there are.
#[component]
fn Kinds(map: NodeMap, filter: Filter) -> impl IntoView {
    let reader = Reader::get();
    let item = |pick: Words, only: Option<Only>| {
        let number = only.map(|only| map.counts.get(&only).copied().unwrap_or(0));
        let words = Signal::derive(move || match number {
            Some(number) => format!("{} {}", pick(reader.texts()), count(number)),
            None => pick(reader.texts()).to_owned(),
        });
        let address = filter.with(|other| other.query.only = only).address();
        (words, address, filter.query.only == only)
    };
    let chosen = filter.query.only;
    let of_interest = |only: &Only| {
        let number = map.counts.get(only).copied().unwrap_or(0);
        number > 0 || *only == Only::Free || chosen == Some(*only)
    };
    let kinds = Only::ALL.into_iter().filter(of_interest).map(|only| {
        let pick: Words = match only {
            Only::Free => |t| t.map.only_free,
            Only::Draining => |t| t.cluster.draining,
            Only::Unreachable => |t| t.cluster.unreachable,
            Only::Faulty => |t| t.map.only_faulty,
            Only::Idle => |t| t.map.only_idle,
        };
        item(pick, Some(only))
    });
    let all = item(|t| t.map.only_all, None);
    let items = std::iter::once(all).chain(kinds).collect();
    view! { <Segments label=|t| t.map.only items=items/> }.into_any()
}

#[component]
fn Groups(labels: Vec<String>, filter: Filter) -> impl IntoView {
    let item = |words: Signal<String>, group: Option<Group>| {
        let here = filter.query.group == group;
        (words, filter.with(|other| other.query.group = group).address(), here)
    };
    let mut items = vec![
        item(words(|t| t.map.group_none), None),
        item(words(|t| t.map.group_type), Some(Group::Type)),
        item(words(|t| t.cluster.condition), Some(Group::Condition)),
    ];
    let labels = labels.into_iter().take(4);
    items.extend(labels.map(|key| item(Signal::stored(key.clone()), Some(Group::Label(key)))));
    view! { <Segments label=|t| t.map.group items=items/> }.into_any()
}

#[component]
fn Colours(filter: Filter) -> impl IntoView {
    if filter.query.face == Face::Table {
        return ().into_any();
    }
    let item = |pick: Words, colour: Colour| {
        let address = filter.with(|other| other.query.colour = colour).address();
        (words(pick), address, filter.query.colour == colour)
    };
    let items = vec![
        item(|t| t.map.by_held, Colour::Held),
        item(|t| t.map.by_job, Colour::Job),
        item(|t| t.map.by_user, Colour::User),
        item(|t| t.map.by_load, Colour::Load),
        item(|t| t.map.by_memory, Colour::Memory),
        item(|t| t.map.by_temperature, Colour::Temperature),
    ];
    view! { <Segments label=|t| t.map.colour items=items/> }.into_any()
}
