use api::job_filter::Key;
use leptos::html::Input;
use leptos::prelude::*;
use protocol::spec::Priority;
use protocol::state::State;

use crate::i18n::{Reader, Texts, tr};

/// The field of words and tokens, with what may be written next below it while one is in it. What is
/// typed stays until the list is another one.
#[component]
pub(crate) fn Field(
    /// What the list is filtered by.
    text: Memo<String>,
) -> impl IntoView {
    let typed = RwSignal::new(text.get_untracked());
    Effect::watch(move || text.get(), move |text, _, _| typed.set(text.clone()), false);
    let field = NodeRef::<Input>::new();
    view! {
        <div class="filter__field">
            <input
                class="input"
                type="search"
                name="q"
                autocomplete="off"
                node_ref=field
                value=move || text.get()
                prop:value=move || text.get()
                placeholder=tr(|t| t.jobs.filter_placeholder)
                aria-label=tr(|t| t.jobs.filter)
                title=tr(|t| t.jobs.filter_hint)
                on:input=move |event| typed.set(event_target_value(&event))
                data-filter=""
            />
            <Suggestions text=text typed=typed field=field/>
        </div>
    }
    .into_any()
}

/// What may follow; a click writes it into the field, which keeps the focus meanwhile. Of a filter that
/// is in force nothing is said.
#[component]
fn Suggestions(
    text: Memo<String>,
    typed: RwSignal<String>,
    field: NodeRef<Input>,
) -> impl IntoView {
    let reader = Reader::get();
    let choose = move |whole: String| {
        if let Some(field) = field.get_untracked() {
            field.set_value(&whole);
            // A field that cannot take the focus leaves it where it is.
            let _ = field.focus();
            typed.set(whole);
        }
    };
    let item = move |(token, hint): (String, Option<Hint>)| {
        let hint = hint.map(|hint| {
            let words = move || hint.words(reader.texts());
            view! { <span class="hint">{move || words()}</span> }
        });
        let shown = token.clone();
        let chosen = move |_| choose(with_last(&typed.get_untracked(), &token));
        view! {
            <li>
                <button
                    type="button"
                    class="suggestion"
                    on:mousedown=|event| event.prevent_default()
                    on:click=chosen
                >
                    <code>{shown}</code>
                    {hint}
                </button>
            </li>
        }
    };
    let items = move || {
        let typed = typed.get();
        let in_force = !typed.is_empty() && typed == text.get();
        let offers = if in_force { Vec::new() } else { offers(&typed) };
        offers.into_iter().map(item).collect_view()
    };
    view! { <ul class="suggestions" aria-label=tr(|t| t.finding.suggestions)>{move || items()}</ul> }
}

/// What stands beside something that is offered.
#[derive(Debug, Clone, Copy)]
enum Hint {
    /// What may follow the key.
    After(Key),
    State(State),
    Priority(Priority),
}

impl Hint {
    fn words(self, texts: &'static Texts) -> String {
        match self {
            Hint::After(key) => (texts.finding.allowed)(key),
            Hint::State(state) => (texts.state)(state).to_owned(),
            Hint::Priority(priority) => (texts.job.priority_of)(priority),
        }
    }
}

/// What may stand in place of the last word: keys, with what may follow each, or values of its key.
fn offers(text: &str) -> Vec<(String, Option<Hint>)> {
    let word = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    let Some((key, value)) = word.split_once(':') else {
        let begun = Key::ALL.into_iter().filter(|key| key.as_str().starts_with(word));
        return begun.map(|key| (format!("{}:", key.as_str()), Some(Hint::After(key)))).collect();
    };
    let Some(known) = Key::from_word(key) else { return Vec::new() };
    let fits = |(known, _): &(String, Option<Hint>)| known.starts_with(value) && known != value;
    let values = values(known).into_iter().filter(fits);
    values.map(|(known, hint)| (format!("{key}:{known}"), hint)).collect()
}

/// The values of a key that are the same everywhere.
fn values(key: Key) -> Vec<(String, Option<Hint>)> {
    let words: &[&str] = match key {
        Key::State => {
            let state =
                |state: State| (state.as_str().to_ascii_lowercase(), Some(Hint::State(state)));
            return State::ALL.map(state).to_vec();
        }
        Key::Priority => {
            let class =
                |(word, class): (&str, Priority)| (word.to_owned(), Some(Hint::Priority(class)));
            return Priority::CLASSES.map(class).to_vec();
        }
        Key::User => &["me"],
        Key::Gpu => &["0", ">=1", ">=8"],
        Key::Since | Key::Until | Key::Ended => &["24h", "7d", "30d"],
        Key::VirtualCluster | Key::Type | Key::Node | Key::Tag | Key::Name => &[],
    };
    words.iter().map(|word| ((*word).to_owned(), None)).collect()
}

/// The text with another last word; after a whole token the next one may begin.
fn with_last(text: &str, token: &str) -> String {
    let kept = text.trim_end_matches(|letter: char| !letter.is_whitespace());
    let end = if token.ends_with(':') { "" } else { " " };
    format!("{kept}{token}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(text: &str) -> Vec<String> {
        offers(text).into_iter().map(|(token, _)| token).collect()
    }

    #[test]
    fn keys_are_offered_and_then_their_values() {
        assert_eq!(offered("").len(), Key::ALL.len());
        assert_eq!(offered("resnet st"), ["state:"]);
        assert_eq!(offered("state:f"), ["state:failed"]);
        assert_eq!(offered("state:failed"), Vec::<String>::new());
        assert_eq!(offered("nothing:"), Vec::<String>::new());
    }

    #[test]
    fn what_is_chosen_takes_the_place_of_the_last_word() {
        assert_eq!(with_last("resnet st", "state:"), "resnet state:");
        assert_eq!(with_last("state:f", "state:failed"), "state:failed ");
        assert_eq!(with_last("a\u{3000}st", "state:"), "a\u{3000}state:");
    }
}
