use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use super::Finder;
use crate::address;
use crate::i18n::{Reader, Texts, tr};
use crate::parts::confirm::Opener;
use crate::reading::reading;
use crate::server_fns::names::{Names, find_names};
use crate::session::Session;

type Word = fn(&'static Texts) -> &'static str;

/// Pages, with the keys that go to them from anywhere.
const PAGES: [(&str, Word, &str); 9] = [
    ("/", |t| t.nav.home, "g h"),
    ("/jobs", |t| t.nav.jobs, "g j"),
    ("/submit", |t| t.nav.submit, "g s"),
    ("/files", |t| t.nav.files, ""),
    ("/clusters", |t| t.nav.clusters, "g v"),
    ("/nodes", |t| t.nav.nodes, "g n"),
    ("/usage", |t| t.usage.title, ""),
    ("/profile", |t| t.profile.title, "g p"),
    (ADMINISTRATION, |t| t.nav.admin, ""),
];
const ADMINISTRATION: &str = "/admin";

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Item {
    address: String,
    words: String,
    /// What it is, or the keys that go there.
    hint: String,
}

/// What is looked for, and what was found.
#[derive(Clone, Copy)]
struct Finding {
    opener: Opener,
    text: RwSignal<String>,
    items: Memo<Vec<Item>>,
    /// The one that Enter opens.
    at: RwSignal<usize>,
}

impl Finding {
    fn begin() -> Self {
        let text = RwSignal::new(String::new());
        let opener = Finder::get().opener;
        Self { opener, text, items: found(text), at: RwSignal::new(0) }
    }

    fn look_for(self, text: String) {
        self.text.set(text);
        self.at.set(0);
    }

    fn go_to(self, nth: usize, navigate: impl Fn(&str, NavigateOptions)) {
        let address = |items: &Vec<Item>| Some(items.get(nth)?.address.clone());
        if let Some(address) = self.items.with_untracked(address) {
            self.opener.close();
            navigate(&address, NavigateOptions::default());
        }
    }
}

/// A field and what is called as it says.
#[component]
pub(super) fn FinderDialog() -> impl IntoView {
    let finding = Finding::begin();
    let Finding { opener, items, .. } = finding;
    Effect::new(move |_| {
        if opener.0.get().is_some() {
            opener.open();
        }
    });
    let list = move || {
        let item = |(nth, item): (usize, Item)| {
            view! { <Choice finding=finding nth=nth item=item/> }
        };
        items.get().into_iter().enumerate().map(item).collect_view()
    };
    view! {
        <dialog
            class="dialog finder"
            node_ref=opener.0
            aria-label=tr(|t| t.nav.find_what)
            on:close=move |_| finding.look_for(String::new())
        >
            <Field finding=finding/>
            <ul
                class="finder__list"
                id="found"
                role="listbox"
                aria-label=tr(|t| t.nav.find_what)
                hidden=move || items.with(Vec::is_empty)
            >
                {move || list()}
            </ul>
            <p class="hint" role="status">
                {move || items.with(Vec::is_empty).then(|| tr(|t| t.nav.find_nothing))}
            </p>
        </dialog>
    }
    .into_any()
}

/// The arrows choose, Enter opens; the dialog itself closes with Escape.
#[component]
fn Field(finding: Finding) -> impl IntoView {
    let Finding { text, items, at, .. } = finding;
    let navigate = use_navigate();
    let press = move |event: KeyboardEvent| {
        if event.is_composing() {
            return;
        }
        let count = items.with_untracked(Vec::len);
        match event.key().as_str() {
            "ArrowDown" => at.update(|at| *at = beside(*at, count, 1)),
            "ArrowUp" => at.update(|at| *at = beside(*at, count, count.saturating_sub(1))),
            "Enter" => finding.go_to(at.get_untracked(), &navigate),
            _other => return,
        }
        event.prevent_default();
    };
    view! {
        <input
            class="input"
            type="text"
            role="combobox"
            autocomplete="off"
            aria-expanded="true"
            aria-autocomplete="list"
            aria-controls="found"
            aria-activedescendant=move || id(at.get())
            aria-label=tr(|t| t.nav.find_what)
            placeholder=tr(|t| t.nav.find_what)
            prop:value=text
            on:input=move |event| finding.look_for(event_target_value(&event))
            on:keydown=press
        />
    }
}

fn id(nth: usize) -> String {
    format!("found-{nth}")
}

/// Something that was found: a click opens it, and the field keeps the focus meanwhile.
#[component]
fn Choice(finding: Finding, nth: usize, item: Item) -> impl IntoView {
    let navigate = use_navigate();
    let at = finding.at;
    view! {
        <li
            class="finder__item"
            id=id(nth)
            role="option"
            aria-selected=move || (at.get() == nth).to_string()
            on:mousedown=|event| event.prevent_default()
            on:click=move |_| finding.go_to(nth, &navigate)
        >
            <span class="finder__name">{item.words}</span>
            <span class="hint">{item.hint}</span>
        </li>
    }
}

/// What is called as a text says, in the reader's language.
fn found(text: RwSignal<String>) -> Memo<Vec<Item>> {
    let (reader, admin) = (Reader::get(), Session::get().is_admin());
    let names = reading(move || text.get().trim().to_owned(), find_names);
    Memo::new(move |_| {
        let texts = reader.texts();
        let wanted = text.get().trim().to_ascii_lowercase();
        let mut items = pages(texts, admin, &wanted);
        if let Some(Ok(names)) = names.get() {
            items.extend(named(texts, names, &wanted));
        }
        items
    })
}

/// Pages by their words, and by their addresses, which are English in each language.
fn pages(texts: &'static Texts, admin: bool, wanted: &str) -> Vec<Item> {
    let may = |address: &str| admin || address != ADMINISTRATION;
    let item = |(address, word, keys): (&str, Word, &str)| Item {
        address: address.to_owned(),
        words: word(texts).to_owned(),
        hint: keys.to_owned(),
    };
    let is = |item: &Item| {
        item.words.to_ascii_lowercase().contains(wanted) || item.address.contains(wanted)
    };
    PAGES.into_iter().filter(|(address, ..)| may(address)).map(item).filter(is).collect()
}

/// Jobs and nodes. What was found for another text is left out.
fn named(texts: &'static Texts, names: Names, wanted: &str) -> Vec<Item> {
    let jobs = names.jobs.into_iter().map(|(key, state)| Item {
        address: address::job(&key),
        words: key.to_string(),
        hint: (texts.state)(state).to_owned(),
    });
    let nodes = names.nodes.into_iter().map(|name| Item {
        address: address::node(&name),
        words: name.to_string(),
        hint: texts.nav.nodes.to_owned(),
    });
    let is = |item: &Item| !wanted.is_empty() && item.words.to_ascii_lowercase().contains(wanted);
    jobs.chain(nodes).filter(is).collect()
}

/// The place so many further, from the last one to the first again.
fn beside(at: usize, count: usize, step: usize) -> usize {
    if count == 0 { 0 } else { (at + step) % count }
}

#[cfg(test)]
mod tests {
    use protocol::state::State;

    use super::*;
    use crate::i18n::Language;

    fn addresses(items: Vec<Item>) -> Vec<String> {
        items.into_iter().map(|item| item.address).collect()
    }

    #[test]
    fn pages_are_found_by_their_words_in_both_languages() {
        let [english, chinese] = Language::ALL.map(Language::texts);
        assert_eq!(addresses(pages(english, true, "")).len(), PAGES.len());
        assert_eq!(addresses(pages(english, true, "virt")), ["/clusters"]);
        assert_eq!(addresses(pages(chinese, true, "节点")), ["/nodes"]);
        assert_eq!(addresses(pages(chinese, true, "nodes")), ["/nodes"]);
        assert_eq!(addresses(pages(english, false, "admin")), Vec::<String>::new());
    }

    #[test]
    fn jobs_and_nodes_are_found_by_what_was_typed_last() {
        let texts = Language::English.texts();
        let names = || Names {
            jobs: vec![("ada~resnet".parse().unwrap(), State::Running)],
            nodes: vec!["res-1".parse().unwrap()],
        };
        let found = named(texts, names(), "res");
        assert_eq!((found[0].words.as_str(), found[0].hint.as_str()), ("ada~resnet", "Running"));
        assert_eq!(addresses(found), ["/jobs/ada/resnet", "/nodes/res-1"]);
        assert_eq!(addresses(named(texts, names(), "resnet")), ["/jobs/ada/resnet"]);
        assert_eq!(addresses(named(texts, names(), "")), Vec::<String>::new());
    }

    #[test]
    fn the_last_is_followed_by_the_first() {
        assert_eq!((beside(0, 3, 1), beside(2, 3, 1), beside(0, 3, 2)), (1, 0, 2));
        assert_eq!(beside(7, 3, 1), 2, "there were more before");
        assert_eq!(beside(0, 0, 1), 0);
    }
}
