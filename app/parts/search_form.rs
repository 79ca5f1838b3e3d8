use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;
use wasm_bindgen::JsCast;
use web_sys::{FormData, HtmlFormElement};

use crate::i18n::{Texts, tr};
use crate::parts::send_form::encoded;

/// A search whose fields go into the address of a page: only those that have a name and something in
/// them. Where no script runs the browser sends it by itself.
#[component]
pub(crate) fn SearchForm(
    /// The page.
    action: &'static str,
    children: Children,
) -> impl IntoView {
    let navigate = use_navigate();
    let go = move |event: SubmitEvent| {
        let Some(words) = event.target().and_then(|form| words_of(form.unchecked_ref())) else {
            return;
        };
        event.prevent_default();
        navigate(&address(action, &words), NavigateOptions::default());
    };
    view! {
        <form method="get" action=action class="filter__form" role="search" on:submit=go>
            {children()}
        </form>
    }
    .into_any()
}

/// The field of a search: the words that were searched for, to be changed.
#[component]
pub(crate) fn SearchField(
    words: Memo<String>,
    label: fn(&'static Texts) -> &'static str,
    /// What can be written.
    hint: fn(&'static Texts) -> &'static str,
) -> impl IntoView {
    view! {
        <input
            class="input"
            type="search"
            name="q"
            value=move || words.get()
            prop:value=move || words.get()
            placeholder=tr(hint)
            aria-label=tr(label)
            data-filter=""
        />
    }
}

/// What is written in a form, as an address has it.
fn words_of(form: &HtmlFormElement) -> Option<String> {
    FormData::new_with_form(form).ok().and_then(|data| encoded(&data))
}

fn address(action: &str, words: &str) -> String {
    let mut address = action.to_owned();
    let named = words.split('&').filter(|pair| !pair.is_empty() && !pair.ends_with('='));
    for (at, pair) in named.enumerate() {
        address.push(if at == 0 { '?' } else { '&' });
        address.push_str(pair);
    }
    address
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn what_is_empty_is_not_in_the_address() {
        assert_eq!(address("/jobs", "q=a%3Db&all=&sort=-name"), "/jobs?q=a%3Db&sort=-name");
        assert_eq!(address("/jobs", "q="), "/jobs");
        assert_eq!(address("/jobs", ""), "/jobs");
    }
}
