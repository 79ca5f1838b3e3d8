use std::collections::BTreeMap;

use leptos::prelude::*;
use leptos_router::components::Form;
use protocol::state::State;

use crate::i18n::tr;
use crate::number::count;
use crate::pages::jobs::filter::Filter;
use crate::parts::state_chip::StateChip;

/// Whose jobs, in which states, with which words: all of it plain addresses and one GET form.
#[component]
pub(crate) fn FilterBar(filter: Filter, counts: BTreeMap<State, u64>) -> impl IntoView {
    view! {
        <div class="filter">
            <div class="filter__row">
                <Scope filter=filter.clone()/>
                <Words filter=filter.clone()/>
            </div>
            <Unknown filter=filter.clone()/>
            <States filter=filter counts=counts/>
        </div>
    }
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
fn Words(filter: Filter) -> impl IntoView {
    let all = filter.all.then(|| view! { <input type="hidden" name="all" value="1"/> });
    let clear = (!filter.text.is_empty()).then(|| {
        let address = Filter { text: String::new(), page: 1, ..filter.clone() }.address();
        view! { <a class="button button--quiet" href=address>{tr(|t| t.jobs.clear)}</a> }
    });
    view! {
        <Form method="GET" action="/jobs" attr:class="filter__form" attr:role="search">
            <input
                class="input"
                type="search"
                name="q"
                value=filter.text.clone()
                prop:value=filter.text.clone()
                placeholder=tr(|t| t.jobs.filter_placeholder)
                aria-label=tr(|t| t.jobs.filter)
                title=tr(|t| t.jobs.filter_hint)
                data-filter=""
            />
            {all}
            <input type="hidden" name="sort" value=filter.sort_word()/>
            <button class="button" type="submit">{tr(|t| t.jobs.apply)}</button>
            {clear}
        </Form>
    }
}

#[component]
fn Unknown(filter: Filter) -> impl IntoView {
    let lines = filter.unknown_tokens().into_iter().map(|token| {
        view! { <p class="hint" role="status">{tr(move |t| (t.jobs.bad_token)(&token))}</p> }
    });
    lines.collect_view()
}

/// How many jobs are in each state; a click filters by it, another takes that back.
#[component]
fn States(filter: Filter, counts: BTreeMap<State, u64>) -> impl IntoView {
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
