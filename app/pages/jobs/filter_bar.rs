use std::collections::BTreeMap;

use api::job_filter::Misread;
use leptos::prelude::*;
use protocol::state::State;

use crate::i18n::{told, tr};
use crate::number::count;
use crate::pages::jobs::filter::Filter;
use crate::pages::jobs::suggest::Field;
use crate::parts::glyph::{Drawn, Glyph};
use crate::parts::search_form::SearchForm;
use crate::parts::state_chip::StateChip;

/// Whose jobs, with which words: all of it plain addresses and one GET form. It stands outside of the
/// list that is read again and again, which leaves alone what is being typed.
#[component]
pub(crate) fn FilterBar(
    filter: Memo<Filter>,
    /// What stands at the end of the field's row.
    children: Children,
) -> impl IntoView {
    view! {
        <div class="filter">
            <div class="filter__row">
                {move || view! { <Scope filter=filter.get()/> }}
                <Words filter=filter/>
                {children()}
            </div>
            {move || view! { <Tokens filter=filter.get()/> }}
        </div>
    }
    .into_any()
}

/// Mine, or everybody's.
#[component]
fn Scope(filter: Filter) -> impl IntoView {
    let current = |active: bool| active.then_some("true");
    view! {
        <nav class="segments" aria-label=tr(|t| t.jobs.user)>
            <a class="segment" href=filter.of_all(false).address() aria-current=current(!filter.all)>
                {tr(|t| t.jobs.mine)}
            </a>
            <a class="segment" href=filter.of_all(true).address() aria-current=current(filter.all)>
                {tr(|t| t.jobs.everybody)}
            </a>
        </nav>
    }
}

/// The field of words and tokens.
#[component]
fn Words(filter: Memo<Filter>) -> impl IntoView {
    let text = Memo::new(move |_| filter.read().text.clone());
    let all = move || {
        let all = filter.read().all;
        all.then(|| view! { <input type="hidden" name="all" value="1"/> })
    };
    let clear = move || {
        let filter = Filter { page: 1, ..filter.get() };
        (!filter.text.is_empty()).then(|| {
            let address = Filter { text: String::new(), ..filter }.address();
            view! { <a class="button button--quiet" href=address>{tr(|t| t.jobs.clear)}</a> }
        })
    };
    view! {
        <SearchForm action="/jobs">
            <Field text=text/>
            {move || all()}
            <input type="hidden" name="sort" value=move || filter.read().sort_word()/>
            <button class="button" type="submit">{tr(|t| t.jobs.apply)}</button>
            {move || clear()}
        </SearchForm>
    }
    .into_any()
}

/// The words of the filter, each with a way to take it back; one that cannot be read is marked and
/// says what would be.
#[component]
fn Tokens(filter: Filter) -> impl IntoView {
    let words = filter.words();
    if words.is_empty() {
        return ().into_any();
    }
    let wrong: Vec<Misread> = words.iter().filter_map(|(_, wrong)| wrong.clone()).collect();
    let chips = words.into_iter().enumerate().map(|(at, (word, wrong))| {
        let class = if wrong.is_some() { "token token--wrong" } else { "token" };
        let mark = wrong.is_some().then(|| view! { <Drawn glyph=Glyph::Warning/> });
        let removed = word.clone();
        let label = told(move |t| (t.finding.remove_word)(&removed));
        view! {
            <li class=class>
                {mark}
                <span>{word}</span>
                <a href=filter.without_word(at).address() aria-label=label>"×"</a>
            </li>
        }
    });
    let chips = chips.collect_view();
    let refusal = (!wrong.is_empty()).then(|| view! { <Refusal wrong=wrong/> });
    view! {
        <ul class="tokens" aria-label=tr(|t| t.finding.words)>{chips}</ul>
        {refusal}
    }
    .into_any()
}

#[component]
fn Refusal(wrong: Vec<Misread>) -> impl IntoView {
    let lines = wrong.into_iter().map(|Misread { word, key }| {
        let words = told(move |t| match key {
            None => (t.finding.bad_key)(&word),
            Some(key) => (t.finding.bad_value)(&word, &(t.finding.allowed)(key)),
        });
        view! { <li>{words}</li> }
    });
    view! {
        <div class="notice" role="alert">
            <p class="notice__title">{tr(|t| t.finding.not_filtered)}</p>
            <ul>{lines.collect_view()}</ul>
        </div>
    }
    .into_any()
}

/// How many jobs are in each state; a click filters by it, another takes that back.
#[component]
pub(crate) fn States(filter: Filter, counts: BTreeMap<State, u64>) -> impl IntoView {
    let states = State::ALL.into_iter().filter_map(|state| {
        let number = counts.get(&state).copied().unwrap_or(0);
        let chosen = filter.has_state(state);
        (number > 0 || chosen).then(|| {
            view! {
                <li>
                    <a
                        class="state-count"
                        href=filter.toggled(state).address()
                        aria-current=chosen.then_some("true")
                    >
                        <StateChip state=state/>
                        <b>{count(number)}</b>
                    </a>
                </li>
            }
        })
    });
    let states = states.collect_view();
    view! { <ul class="state-counts" aria-label=tr(|t| t.jobs.by_state)>{states}</ul> }
}
