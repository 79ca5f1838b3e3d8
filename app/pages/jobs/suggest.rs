use std::time::Duration;

use api::job_filter::Key;
use leptos::ev::KeyboardEvent;
use leptos::html::Input;
use leptos::prelude::*;
use leptos::task::spawn_local;
use protocol::spec::Priority;
use protocol::state::State;

use crate::i18n::{Reader, Texts, tr};
use crate::server_fns::names::filter_names;

/// Typing has stopped when nothing was typed for so long.
const PAUSE: Duration = Duration::from_millis(150);

/// A word that may stand in place of the last one, and what stands beside it.
type Offer = (String, Option<Hint>);

/// The field of words and tokens, with what may be written next below it while one is in it. What is
/// typed stays until the list is another one. The arrows choose, Enter takes what is chosen, Escape
/// closes the list.
#[component]
pub(crate) fn Field(
    /// What the list is filtered by.
    text: Memo<String>,
) -> impl IntoView {
    let offering = Offering::of(text);
    Effect::watch(move || text.get(), move |text, _, _| offering.begin(text.clone()), false);
    let Offering { field, items, at, .. } = offering;
    let is_in = RwSignal::new(false);
    view! {
        <div class="filter__field">
            <input
                class="input"
                type="text"
                name="q"
                role="combobox"
                autocomplete="off"
                enterkeyhint="search"
                aria-autocomplete="list"
                aria-controls="offers"
                aria-expanded=move || (is_in.get() && !items.with(Vec::is_empty)).to_string()
                aria-activedescendant=move || at.get().map(id)
                node_ref=field
                value=move || text.get()
                prop:value=move || text.get()
                placeholder=tr(|t| t.jobs.filter_placeholder)
                aria-label=tr(|t| t.jobs.filter)
                title=tr(|t| t.jobs.filter_hint)
                on:focus=move |_| is_in.set(true)
                on:blur=move |_| is_in.set(false)
                on:input=move |event| offering.look_for(event_target_value(&event))
                on:keydown=move |event| offering.press(&event)
                data-filter=""
            />
            <Suggestions offering=offering/>
        </div>
    }
    .into_any()
}

/// What was typed, and what may follow it.
#[derive(Clone, Copy)]
struct Offering {
    field: NodeRef<Input>,
    typed: RwSignal<String>,
    items: Memo<Vec<Offer>>,
    /// The one that Enter takes; none before an arrow was pressed.
    at: RwSignal<Option<usize>>,
    closed: RwSignal<bool>,
    /// The names that the server told of last, and of which key.
    known: RwSignal<Option<(Key, Vec<String>)>>,
    /// Names that come later than something else is typed are nobody's.
    number: StoredValue<u32>,
}

impl Offering {
    /// Of a filter that is in force nothing is said.
    fn of(text: Memo<String>) -> Self {
        let typed = RwSignal::new(text.get_untracked());
        let (closed, known) = (RwSignal::new(false), RwSignal::new(None::<(Key, Vec<String>)>));
        let items = Memo::new(move |_| {
            let typed = typed.get();
            let in_force = !typed.is_empty() && typed == text.get();
            if in_force || closed.get() {
                return Vec::new();
            }
            known.with(|known| offers(&typed, known.as_ref()))
        });
        Self {
            field: NodeRef::new(),
            typed,
            items,
            at: RwSignal::new(None),
            closed,
            known,
            number: StoredValue::new(0),
        }
    }

    fn begin(self, text: String) {
        self.typed.set(text);
        self.at.set(None);
        self.closed.set(false);
    }

    fn look_for(self, text: String) {
        self.begin(text);
        self.number.update_value(|number| *number += 1);
        let mine = self.number.get_value();
        let is_last = move || self.number.try_get_value() == Some(mine);
        let Some((key, begun)) = self.typed.with_untracked(|typed| named(typed)) else { return };
        let ask = async move {
            // Without an answer what is the same everywhere is offered.
            if let Ok(names) = filter_names(key.as_str().to_owned(), begun).await
                && is_last()
            {
                self.known.try_set(Some((key, names)));
            }
        };
        set_timeout(
            move || {
                if is_last() {
                    spawn_local(ask);
                }
            },
            PAUSE,
        );
    }

    /// Writes a word into the field, which keeps the focus meanwhile.
    fn take(self, token: &str) {
        if let Some(field) = self.field.get_untracked() {
            let whole = with_last(&self.typed.get_untracked(), token);
            field.set_value(&whole);
            // A field that cannot take the focus leaves it where it is.
            let _ = field.focus();
            self.look_for(whole);
        }
    }

    fn press(self, event: &KeyboardEvent) {
        if event.is_composing() {
            return;
        }
        let count = self.items.with_untracked(Vec::len);
        match event.key().as_str() {
            "ArrowDown" | "ArrowUp" if self.closed.get_untracked() => self.closed.set(false),
            "ArrowDown" => self.at.update(|at| *at = beside(*at, count, true)),
            "ArrowUp" => self.at.update(|at| *at = beside(*at, count, false)),
            "Escape" if count > 0 => {
                self.closed.set(true);
                self.at.set(None);
            }
            "Enter" => {
                let at = self.at.get_untracked();
                let chosen = |items: &Vec<Offer>| at.and_then(|at| items.get(at).cloned());
                let Some((token, _)) = self.items.with_untracked(chosen) else { return };
                self.take(&token);
            }
            _other => return,
        }
        event.prevent_default();
    }
}

fn id(nth: usize) -> String {
    format!("offer-{nth}")
}

/// The place below or above, from the last one to the first again; the first step goes to the first
/// or to the last.
fn beside(at: Option<usize>, count: usize, down: bool) -> Option<usize> {
    match (at, down) {
        _ if count == 0 => None,
        (None, true) => Some(0),
        (None, false) => Some(count - 1),
        (Some(at), true) => Some((at + 1) % count),
        (Some(at), false) => Some((at + count - 1) % count),
    }
}

/// What may follow; a click writes it into the field.
#[component]
fn Suggestions(offering: Offering) -> impl IntoView {
    let reader = Reader::get();
    let Offering { items, at, .. } = offering;
    let item = move |(nth, (token, hint)): (usize, Offer)| {
        let hint = hint.map(|hint| {
            let words = move || hint.words(reader.texts());
            view! { <span class="hint">{move || words()}</span> }
        });
        let shown = token.clone();
        view! {
            <li
                class="suggestion"
                id=id(nth)
                role="option"
                aria-selected=move || (at.get() == Some(nth)).to_string()
                on:mousedown=|event| event.prevent_default()
                on:click=move |_| offering.take(&token)
            >
                <code>{shown}</code>
                {hint}
            </li>
        }
    };
    let list = move || items.get().into_iter().enumerate().map(item).collect_view();
    view! {
        <ul
            class="suggestions"
            id="offers"
            role="listbox"
            aria-label=tr(|t| t.finding.suggestions)
            hidden=move || items.with(Vec::is_empty)
        >
            {move || list()}
        </ul>
    }
}

/// What stands beside something that is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
/// Behind a comma another value follows.
fn offers(text: &str, known: Option<&(Key, Vec<String>)>) -> Vec<Offer> {
    let word = last_word(text);
    let Some((key, value)) = word.split_once(':') else {
        let begun = Key::ALL.into_iter().filter(|key| key.as_str().starts_with(word));
        return begun.map(|key| (format!("{}:", key.as_str()), Some(Hint::After(key)))).collect();
    };
    let Some(kind) = Key::from_word(key) else { return Vec::new() };
    let (before, begun) = last_value(value);
    let part = bare(begun).to_lowercase();
    let same = values(kind).into_iter();
    let same = same.filter(|(value, _)| value.starts_with(begun) && value != begun);
    let names = known.filter(|(of, _)| *of == kind).map(|(_, names)| names.as_slice());
    let names = names.unwrap_or_default().iter().map(|name| quoted(name));
    // Quotes are understood behind the colon alone.
    let names = names.filter(|name| before.is_empty() || !name.starts_with('"'));
    let names = names.filter(|name| name.to_lowercase().contains(&part) && name != begun);
    let values = same.chain(names.map(|name| (name, None)));
    values.map(|(value, hint)| (format!("{key}:{before}{value}"), hint)).collect()
}

/// The key that names stand behind, and what is written behind it already.
fn named(text: &str) -> Option<(Key, String)> {
    let (key, value) = last_word(text).split_once(':')?;
    let key = Key::from_word(key)?;
    let is_named = match key {
        Key::User | Key::VirtualCluster | Key::Type | Key::Node | Key::Tag | Key::Name => true,
        Key::State | Key::Gpu | Key::Priority | Key::Since | Key::Until | Key::Ended => false,
    };
    is_named.then(|| (key, bare(last_value(value).1).to_owned()))
}

/// The word that is being written. White space in a quote that nothing has closed yet is part of it.
fn last_word(text: &str) -> &str {
    let begins = |text: &str| {
        let blank = text.char_indices().rev().find(|(_, letter)| letter.is_whitespace());
        blank.map_or(0, |(at, letter)| at + letter.len_utf8())
    };
    match text.rfind(":\"") {
        Some(at) if !text[at + 2..].contains('"') => &text[begins(&text[..at])..],
        Some(_) | None => &text[begins(text)..],
    }
}

/// The value that is being written, and those before it with their commas.
fn last_value(value: &str) -> (&str, &str) {
    value.split_at(value.rfind(',').map_or(0, |at| at + 1))
}

/// What is written of a name without its quotes.
fn bare(value: &str) -> &str {
    value.trim_matches('"')
}

/// A name as a filter says it.
fn quoted(name: &str) -> String {
    let quotes = if name.contains(char::is_whitespace) { "\"" } else { "" };
    [quotes, name, quotes].concat()
}

/// The values of a key that are the same everywhere.
fn values(key: Key) -> Vec<Offer> {
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
    let kept = &text[..text.len() - last_word(text).len()];
    let end = if token.ends_with(':') { "" } else { " " };
    format!("{kept}{token}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(text: &str) -> Vec<String> {
        offers(text, None).into_iter().map(|(token, _)| token).collect()
    }

    #[test]
    fn keys_are_offered_and_then_their_values() {
        assert_eq!(offered("").len(), Key::ALL.len());
        assert_eq!(offered("resnet st"), ["state:"]);
        assert_eq!(offered("state:f"), ["state:failed"]);
        assert_eq!(offered("state:failed"), Vec::<String>::new());
        assert_eq!(offered("state:failed,stoppe"), ["state:failed,stopped"]);
        assert_eq!(offered("nothing:"), Vec::<String>::new());
    }

    #[test]
    fn names_are_offered_behind_their_key() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let known = (Key::Tag, names(&["best run", "baseline"]));
        let offered = |text: &str| {
            let offers = offers(text, Some(&known)).into_iter();
            offers.map(|(token, _)| token).collect::<Vec<_>>()
        };
        assert_eq!(offered("a tag:"), ["tag:\"best run\"", "tag:baseline"]);
        assert_eq!(offered("a tag:LINE"), ["tag:baseline"]);
        assert_eq!(offered("a tag:\"best r"), ["tag:\"best run\""]);
        assert_eq!(offered("tag:x,base"), ["tag:x,baseline"]);
        assert_eq!(offered("tag:x,best"), Vec::<String>::new(), "no filter can say that");
        assert_eq!(offered("tag:baseline"), Vec::<String>::new());
        assert_eq!(offered("vc:"), Vec::<String>::new(), "these are tags");
        assert_eq!(named("a vc:vi"), Some((Key::VirtualCluster, "vi".to_owned())));
        assert_eq!(named("tag:\"best r"), Some((Key::Tag, "best r".to_owned())));
        assert_eq!((named("state:fa"), named("vc")), (None, None));
    }

    #[test]
    fn what_is_chosen_takes_the_place_of_the_last_word() {
        assert_eq!(with_last("resnet st", "state:"), "resnet state:");
        assert_eq!(with_last("state:f", "state:failed"), "state:failed ");
        assert_eq!(with_last("a\u{3000}st", "state:"), "a\u{3000}state:");
        assert_eq!(with_last("a tag:\"best r", "tag:\"best run\""), "a tag:\"best run\" ");
    }

    #[test]
    fn the_arrows_begin_at_either_end() {
        assert_eq!((beside(None, 3, true), beside(None, 3, false)), (Some(0), Some(2)));
        assert_eq!((beside(Some(2), 3, true), beside(Some(0), 3, false)), (Some(0), Some(2)));
        assert_eq!((beside(None, 0, true), beside(Some(1), 0, false)), (None, None));
    }
}
