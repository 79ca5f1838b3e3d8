use leptos::prelude::*;

use crate::i18n::tr;
use crate::pages::job::log_all_part::{AllFound, job_logs_together_search};
use crate::pages::job::log_all_state::{AllSearch, Wanted};
use crate::pages::job::log_choice::choice;
use crate::part::opened;

/// The field to look for something in the logs of all tasks; below it what was found, the code for which is
/// fetched for the first search.
#[component]
pub(crate) fn LogAllSearch(search: AllSearch) -> impl IntoView {
    let asked = Signal::derive(move || search.wanted.get().map(|_| ()));
    let found = opened(asked, |()| job_logs_together_search());
    let fresh = RwSignal::new(true);
    let begin_anew = move || fresh.set(true);
    let submit = move || {
        let wanted = if fresh.get_untracked() { Wanted::First } else { Wanted::Next };
        fresh.set(false);
        search.wanted.set(Some(wanted));
    };
    view! {
        <form
            class="log__search"
            role="search"
            on:submit=move |event| {
                event.prevent_default();
                submit();
            }
        >
            <input
                class="input log__find"
                type="search"
                data-filter=""
                maxlength="300"
                aria-label=tr(|t| t.log.search_all)
                placeholder=tr(|t| t.log.search_all)
                prop:value=search.text
                on:input=move |event| {
                    search.text.set(event_target_value(&event));
                    begin_anew();
                }
            />
            {choice(search.pattern, |t| t.log.pattern, ".*", begin_anew)}
            {choice(search.case, |t| t.log.case, "Aa", begin_anew)}
            <button type="submit" class="button button--small">{tr(|t| t.log.find)}</button>
        </form>
        {move || found.get().map(|found: AllFound| found(search))}
    }
    .into_any()
}
