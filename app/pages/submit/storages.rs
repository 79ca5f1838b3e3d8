//! The storages that administrators have set up, to be ticked.

use leptos::prelude::*;
use serde_json::Value as Json;

use crate::document::{Edit, Tree};
use crate::i18n::{told, tr};
use crate::pages::submit::field::FieldProblems;
use crate::pages::submit::state::{Editing, field_id};
use crate::server_fns::submit::Offered;

/// Where a text names them, in either notation.
const PATH: &str = "extras.storages";

/// What a text asks of the storages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Asked {
    /// There is a list of them, which may be empty: then it asks for those by default.
    is_given: bool,
    /// Names, each with the path that it is to have in tasks; empty where nothing is said of that.
    named: Vec<(String, String)>,
}

impl Asked {
    fn of(tree: &Tree) -> Self {
        let item = |at: usize| {
            let of = |key: &str| tree.text(&format!("{PATH}[{at}].{key}"));
            (of("name"), of("mountPath"))
        };
        let named = (0..tree.len(PATH)).map(item).collect();
        Self { is_given: tree.is_list(PATH), named }
    }

    fn has(&self, name: &str) -> bool {
        self.named.iter().any(|(known, _)| known == name)
    }

    fn has_defaults(&self) -> bool {
        self.is_given && self.named.is_empty()
    }

    /// The change by which it asks for a storage, or does not any more.
    fn ticked(mut self, name: &str, ticked: bool) -> Edit {
        self.named.retain(|(known, _)| known != name);
        if ticked {
            self.named.push((name.to_owned(), String::new()));
        }
        // An empty list would ask for those by default.
        if self.named.is_empty() { Edit::Remove(PATH.to_owned()) } else { self.written() }
    }

    /// The change by which it asks for those by default, or for none.
    fn ticked_defaults(ticked: bool) -> Edit {
        if ticked { Self::default().written() } else { Edit::Remove(PATH.to_owned()) }
    }

    fn written(self) -> Edit {
        let one = |(name, path): (String, String)| {
            let path = (!path.is_empty()).then(|| ("mountPath".to_owned(), Json::String(path)));
            let name = ("name".to_owned(), Json::String(name));
            Json::Object(std::iter::once(name).chain(path).collect())
        };
        Edit::Set(PATH.to_owned(), Json::Array(self.named.into_iter().map(one).collect()))
    }
}

/// Those that the reader may use; nothing, where there are none.
#[component]
pub(crate) fn Storages() -> impl IntoView {
    let editing = Editing::get();
    let asked = Memo::new(move |_| editing.read(Asked::of));
    let offered = editing.storages.get_value();
    if offered.is_empty() {
        return view! { <FieldProblems path=PATH.to_owned()/> }.into_any();
    }
    let by_default = offered.iter().filter(|one| one.default).map(|one| one.name.clone());
    let by_default: Vec<_> = by_default.collect();
    let defaults =
        (!by_default.is_empty()).then(|| view! { <Defaults names=by_default asked=asked/> });
    let each = offered.into_iter().map(|one| view! { <Tick storage=one asked=asked/> });
    let each = each.collect_view();
    view! {
        <div class="field" id=field_id(PATH) role="group" tabindex="-1" aria-labelledby="job-storages">
            <span class="field__label" id="job-storages">{tr(|t| t.storages.title)}</span>
            {defaults}
            {each}
            <p class="field__hint">{tr(|t| t.storages.asked_hint)}</p>
            <FieldProblems path=PATH.to_owned()/>
        </div>
    }
    .into_any()
}

#[component]
fn Defaults(names: Vec<String>, asked: Memo<Asked>) -> impl IntoView {
    let editing = Editing::get();
    let tick = move |ticked| editing.edit(&[Asked::ticked_defaults(ticked)]);
    view! {
        <label class="check">
            <input
                type="checkbox"
                prop:checked=move || asked.read().has_defaults()
                on:change:target=move |event| tick(event.target().checked())
            />
            {told(move |t| (t.storages.defaults)(&names.join(t.common.comma)))}
        </label>
    }
    .into_any()
}

#[component]
fn Tick(storage: Offered, asked: Memo<Asked>) -> impl IntoView {
    let editing = Editing::get();
    let Offered { name, mount, read_only, .. } = storage;
    let (shown, of_tick) = (name.clone(), name.clone());
    let tick = move |ticked| {
        let asked = asked.get_untracked();
        editing.edit(&[asked.ticked(&of_tick, ticked)]);
    };
    let rights = read_only.then(|| {
        view! { <span class="field__optional">{tr(|t| t.storages.read_only)}</span> }
    });
    view! {
        <label class="check">
            <input
                type="checkbox"
                prop:checked=move || asked.read().has(&name)
                on:change:target=move |event| tick(event.target().checked())
            />
            {shown} " " <code>{mount}</code> " " {rights}
        </label>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = r#"{
  "jobName": "a"
}
"#;
    const V2: &str = "protocolVersion: 2\nname: a\n";

    fn asked(text: &str) -> Asked {
        Asked::of(&Tree::read(text).unwrap())
    }

    #[test]
    fn storages_are_ticked_in_either_notation() {
        for text in [V1, V2] {
            let none = asked(text);
            assert!(!none.has_defaults() && !none.has("data"));
            let text = Asked::ticked_defaults(true).apply(text).unwrap();
            assert!(asked(&text).has_defaults(), "{text}");
            let text = asked(&text).ticked("data", true).apply(&text).unwrap();
            let text = asked(&text).ticked("team", true).apply(&text).unwrap();
            let both = asked(&text);
            assert!(both.has("data") && both.has("team") && !both.has_defaults(), "{text}");
            let text = both.ticked("data", false).apply(&text).unwrap();
            assert!(!asked(&text).has("data") && asked(&text).has("team"), "{text}");
            let text = asked(&text).ticked("team", false).apply(&text).unwrap();
            assert_eq!(asked(&text), Asked::default(), "none, and not those by default: {text}");
        }
    }

    #[test]
    fn the_path_that_somebody_wrote_stays() {
        let text = "protocolVersion: 2\nextras:\n  storages:\n  - {name: data, mountPath: /d}\n";
        let text = asked(text).ticked("team", true).apply(text).unwrap();
        let named = |name: &str, path: &str| (name.to_owned(), path.to_owned());
        let expected = [named("data", "/d"), named("team", "")];
        assert_eq!(asked(&text).named, expected, "{text}");
    }
}
