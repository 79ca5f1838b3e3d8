//! What a form was given and has not sent yet. It is kept in this tab, over a reload and while another
//! page is looked at, until it is sent or dropped. Passwords are not kept.

use std::time::Duration;

use leptos::ev;
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{
    Element, HtmlDivElement, HtmlElement, HtmlFormElement, HtmlInputElement, Node, Storage,
};

use crate::given::{FIELDS, Given, default, elements, give, given};
use crate::i18n::tr;
use crate::json::from_json;
use crate::live::Alive;
use crate::session::Session;

/// All of it is found under names that begin so, whosever it is.
const ALL: &str = "berth:unsaved:";
/// So many rows are added to a form for what is kept of them.
const MOST_ROWS: usize = 50;
/// What a button has that adds a row to its form: how the names of the fields in such rows begin.
const ADDS: &str = "data-adds";

/// The name of a field, what the server had said of it, and what it was given.
type Kept = (String, Given, Given);

/// Keeps what the form around it is given, and says when that is in the form again.
#[component]
pub(crate) fn Unsaved(
    /// Tells forms apart.
    #[prop(into)]
    form: String,
    /// How often it was sent with success.
    #[prop(into)]
    sent: Signal<u32>,
) -> impl IntoView {
    let user = Session::get().user_name();
    let keeper = Keeper {
        name: StoredValue::new([ALL, user.as_str(), ":", form.as_str()].concat()),
        place: NodeRef::new(),
        begun: StoredValue::new(false),
        early: StoredValue::new(false),
        restored: RwSignal::new(None),
    };
    keeper.begin();
    keeper.listen();
    keeper.follow(sent);
    let said = move || {
        let outdated = keeper.restored.get()?;
        Some(view! { <Restored keeper=keeper outdated=outdated/> }.into_any())
    };
    view! { <div class="form-answer" aria-live="polite" node_ref=keeper.place>{move || said()}</div> }
        .into_any()
}

#[derive(Debug, Clone, Copy)]
struct Keeper {
    /// What it is kept under.
    name: StoredValue<String>,
    /// Where in the form this is said.
    place: NodeRef<Div>,
    /// Whether what was kept is in the form. Before, what the form says must not take its place.
    begun: StoredValue<bool>,
    /// Whether something was typed before.
    early: StoredValue<bool>,
    /// Whether the server says something else by now of a field that got back what it had, or there is none that
    /// could; nothing where no field did.
    restored: RwSignal<Option<bool>>,
}

impl Keeper {
    /// Restores once the page has been taken over: what was typed before is in its fields by then.
    fn begin(self) {
        let alive = use_context::<Alive>();
        Effect::new(move |_| {
            let is_alive = alive.as_ref().is_none_or(|alive| alive.0.get());
            if let Some(form) = self.place.get().and_then(|place| around(&place))
                && is_alive
                && !self.begun.get_value()
            {
                self.restore(form, 0);
            }
        });
    }

    fn listen(self) {
        Effect::new(move |_| {
            let heard = window_event_listener(ev::input, move |event| {
                let Some(form) = self.place.get_untracked().and_then(|place| around(&place)) else {
                    return;
                };
                let field = event.target().and_then(|target| target.dyn_into::<Node>().ok());
                if !form.contains(field.as_ref()) {
                    return;
                }
                if self.begun.get_value() {
                    self.keep(&form);
                } else {
                    self.early.set_value(true);
                }
            });
            on_cleanup(move || heard.remove());
        });
    }

    /// What was sent need not be kept.
    fn follow(self, sent: Signal<u32>) {
        Effect::new(move |before: Option<u32>| {
            let now = sent.get();
            if before.is_some_and(|before| before != now) {
                self.forget();
            }
            now
        });
    }

    fn restore(self, form: HtmlFormElement, rows: usize) {
        let Some(kept) = self.name.try_with_value(|name| read(name)) else { return };
        if rows < MOST_ROWS
            && let Some(more) = lacking(&form, &kept)
        {
            more.click();
            // The row is there by then.
            set_timeout(move || self.restore(form, rows + 1), Duration::ZERO);
            return;
        }
        self.begun.set_value(true);
        let fields = fields(&form);
        for field in &fields {
            if let Some(is_outdated) = give_back(field, &kept) {
                self.restored.update(|restored| {
                    *restored = Some(is_outdated || *restored == Some(true));
                });
            }
        }
        let there: Vec<String> = fields.iter().map(name_of).collect();
        if kept.iter().any(|(name, ..)| !there.contains(name)) {
            self.restored.set(Some(true));
        }
        // A form that was sent and is shown anew may still say what it was sent with.
        if self.early.get_value() {
            self.keep(&form);
        }
    }

    /// Keeps what the form says otherwise than the server.
    fn keep(self, form: &HtmlFormElement) {
        let changed: Vec<Kept> = fields(form).iter().filter_map(changed).collect();
        if changed.is_empty() {
            self.forget();
        } else if let (Some(storage), Ok(text)) = (storage(), serde_json::to_string(&changed)) {
            // A storage that is full or forbidden keeps nothing; the form works without.
            let _ = self.name.with_value(|name| storage.set_item(name, &text));
        }
    }

    fn forget(self) {
        if let Some(storage) = storage() {
            // What cannot be removed can be dropped when it is in the form again.
            let _ = self.name.with_value(|name| storage.remove_item(name));
        }
        self.restored.set(None);
    }

    /// Lets the form say again what the server says.
    fn drop_all(self) {
        let form = self.place.get_untracked().and_then(|place| around(&place));
        for field in form.iter().flat_map(fields) {
            if let Some((given, default)) = given(&field).zip(default(&field))
                && given != default
            {
                give(&field, &default);
            }
        }
        self.forget();
    }
}

#[component]
fn Restored(keeper: Keeper, outdated: bool) -> impl IntoView {
    let class = if outdated { "notice notice--warn" } else { "notice notice--good" };
    let hint = outdated.then(|| view! { <p>{tr(|t| t.common.restored_over)}</p> });
    view! {
        <div class=class>
            <p>{tr(|t| t.common.restored)}</p>
            {hint}
            <button type="button" class="button button--small" on:click=move |_| keeper.drop_all()>
                {tr(|t| t.common.discard)}
            </button>
        </div>
    }
}

fn around(place: &HtmlDivElement) -> Option<HtmlFormElement> {
    place.closest("form").ok().flatten()?.dyn_into().ok()
}

fn fields(form: &HtmlFormElement) -> Vec<Element> {
    elements(form.query_selector_all(FIELDS).ok())
}

fn name_of(field: &Element) -> String {
    field.get_attribute("name").unwrap_or_default()
}

/// What a field is to be kept as; nothing where it says what the server says, or is to be kept by nobody.
fn changed(field: &Element) -> Option<Kept> {
    let is_secret =
        field.dyn_ref::<HtmlInputElement>().is_some_and(|input| input.type_() == "password");
    let (name, was, now) = (name_of(field), default(field)?, given(field)?);
    let is_kept = !name.is_empty() && !is_secret && now != Given::Files;
    (is_kept && was != now).then_some((name, was, now))
}

/// Gives a field what was kept of it, unless somebody was faster. Whether the server says something
/// else of it by now, or what was chosen can no longer be; nothing where it stays as it is.
fn give_back(field: &Element, kept: &[Kept]) -> Option<bool> {
    let name = name_of(field);
    let (_, was, now) = kept.iter().find(|(kept, ..)| *kept == name)?;
    let default = default(field)?;
    if given(field)? != default || default == *now {
        return None;
    }
    give(field, now);
    let is_taken = given(field).as_ref() == Some(now);
    if !is_taken {
        // An option that is gone would leave nothing chosen.
        give(field, &default);
    }
    if let Some(fold) = field.closest("details").ok().flatten() {
        // A fold that stays closed can be opened.
        let _ = fold.set_attribute("open", "");
    }
    Some(!is_taken || default != *was)
}

/// What adds a row to the form, where something is kept of a row that is not there.
fn lacking(form: &HtmlFormElement, kept: &[Kept]) -> Option<HtmlElement> {
    let more = form.query_selector(&["[", ADDS, "]"].concat()).ok().flatten()?;
    let begins = more.get_attribute(ADDS)?;
    let there: Vec<String> = fields(form).iter().map(name_of).collect();
    let is_lacking = |(name, ..): &Kept| name.starts_with(&begins) && !there.contains(name);
    kept.iter().any(is_lacking).then_some(more)?.dyn_into().ok()
}

fn read(name: &str) -> Vec<Kept> {
    let text = storage().and_then(|storage| storage.get_item(name).ok().flatten());
    text.and_then(|text| from_json(&text).ok()).unwrap_or_default()
}

fn storage() -> Option<Storage> {
    window().session_storage().ok().flatten()
}
