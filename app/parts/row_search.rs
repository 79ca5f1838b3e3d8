use leptos::prelude::*;

use crate::i18n::{Texts, tr};

/// What is looked for in a table all of whose rows are on the page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowSearch(RwSignal<String>);

impl RowSearch {
    pub(crate) fn new() -> Self {
        Self(RwSignal::new(String::new()))
    }

    /// Whether a row that says this is left out.
    pub(crate) fn hides(self, text: impl Into<String>) -> impl Fn() -> bool + Send + Sync {
        let text = text.into().to_lowercase();
        move || !says(&text, &self.0.read())
    }
}

/// Whether all words are in a text in lower case.
fn says(text: &str, words: &str) -> bool {
    words.to_lowercase().split_whitespace().all(|word| text.contains(word))
}

/// Above a table of the administration: the field that searches it, and the way to add to it.
#[component]
pub(crate) fn TableBar(
    search: RowSearch,
    /// What is added, and where.
    add: fn(&'static Texts) -> &'static str,
    href: &'static str,
) -> impl IntoView {
    view! {
        <div class="table-bar">
            <input
                class="input"
                type="search"
                placeholder=tr(|t| t.admin.search)
                aria-label=tr(|t| t.admin.search)
                on:input=move |event| search.0.set(event_target_value(&event))
                data-filter=""
            />
            <a class="button button--primary" href=href>{tr(add)}</a>
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::says;

    #[test]
    fn every_word_is_to_be_found() {
        assert!(says("ada vision, nlp", ""));
        assert!(says("ada vision, nlp", "NLP ad"));
        assert!(!says("ada vision, nlp", "ada speech"));
    }
}
