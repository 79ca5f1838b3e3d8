use leptos::prelude::*;

use crate::i18n::{Reader, tr};
use crate::pages::submit::bounded::Bounded;
use crate::pages::submit::declared::row::{NameField, RemoveRow};
use crate::pages::submit::declared::{
    Prerequisite, add_prerequisite, prerequisites, rename_prerequisite,
};
use crate::pages::submit::field::TextField;
use crate::pages::submit::images;
use crate::pages::submit::select::{Choice, SelectField};
use crate::pages::submit::state::Editing;

/// Images, data, scripts and outputs that task roles name.
#[component]
pub(crate) fn Prerequisites() -> impl IntoView {
    let editing = Editing::get();
    let all = Memo::new(move |_| editing.read(prerequisites));
    let paths = Memo::new(move |_| {
        let all = all.read();
        all.iter().map(|one| one.path.clone()).collect::<Vec<_>>()
    });
    let add = move |_| {
        if let Ok(tree) = editing.tree.get_untracked() {
            editing.edit(&add_prerequisite(&tree));
        }
    };
    view! {
        <div class="stack" role="group" aria-labelledby="job-prerequisites">
            <span class="field__label" id="job-prerequisites">
                {tr(|t| t.submit.fields.declared.prerequisites)}
            </span>
            <p class="hint">{tr(|t| t.submit.fields.declared.prerequisites_hint)}</p>
            <Bounded keys=paths field=move |path| view! { <Item path=path all=all/> }/>
            <div>
                <button type="button" class="button button--small" on:click=add>
                    {tr(|t| t.submit.fields.declared.add_prerequisite)}
                </button>
            </div>
        </div>
    }
}

#[component]
fn Item(path: String, all: Memo<Vec<Prerequisite>>) -> impl IntoView {
    let (editing, reader) = (Editing::get(), Reader::get());
    let at = StoredValue::new(path.clone());
    let this = Memo::new(move |_| {
        let all = all.read();
        at.with_value(|at| all.iter().find(|one| one.path == *at).cloned())
    });
    let name = Signal::derive(move || this.get().map(|one| one.name).unwrap_or_default());
    let uris = Memo::new(move |_| this.get().map(|one| one.uris).unwrap_or_default());
    let is_image = Memo::new(move |_| this.read().as_ref().is_some_and(Prerequisite::is_image));
    let has_fields = move || this.read().as_ref().is_none_or(|one| !one.has_plugin);
    // Whoever takes the last word out goes on where he is.
    let has_auth = Memo::new(move |before: Option<&bool>| {
        before == Some(&true) || this.read().as_ref().is_some_and(|one| one.has_auth)
    });
    let rename = Callback::new(move |name: String| {
        editing.read(|tree| rename_prerequisite(tree, &at.get_value(), &name))
    });
    let types = Signal::derive(move || {
        let named = reader.texts().submit.fields.declared.types;
        let choice = |(value, label): (&str, &str)| (value.to_owned(), label.to_owned());
        named.map(choice).map(|(value, label)| Choice { value, label }).to_vec()
    });
    view! {
        <div class="role stack">
            <div class="row">
                <NameField name=name label=|f| f.declared.prerequisite_name rename=rename at=format!("{path}.name")/>
                <SelectField path=format!("{path}.type") label=|f| f.declared.type_name none=|f| f.declared.none choices=types/>
                <RemoveRow path=path name=name words=|f| f.declared.remove_prerequisite/>
            </div>
            <Show
                when=has_fields
                fallback=|| view! { <p class="hint">{tr(|t| t.submit.fields.declared.of_plugin)}</p> }
            >
                <Bounded keys=uris field=move |path| address(path, is_image.get())/>
            </Show>
            <Show when=move || is_image.get()>
                <Login at=at has_auth=has_auth/>
            </Show>
        </div>
    }
}

/// An image must say where it is; of the others only what something refers to.
fn address(path: String, is_image: bool) -> AnyView {
    match is_image {
        true => view! {
            <TextField path=path label=|f| f.declared.image_uri hint=|f| f.image_hint list=images::LIST required=true/>
        }
        .into_any(),
        false => view! { <TextField path=path label=|f| f.declared.uri/> }.into_any(),
    }
}

/// Credentials of an image's registry.
#[component]
fn Login(at: StoredValue<String>, has_auth: Memo<bool>) -> impl IntoView {
    let of = move |key: &str| at.with_value(|at| format!("{at}.auth.{key}"));
    view! {
        <details class="fold fold--inner" open=move || has_auth.get()>
            <summary>{tr(|t| t.submit.fields.declared.login)}</summary>
            <div class="stack">
                <TextField path=of("registryuri") label=|f| f.declared.registry hint=|f| f.declared.registry_hint/>
                <div class="form__row">
                    <TextField path=of("username") label=|f| f.declared.login_user/>
                    <TextField path=of("password") label=|f| f.declared.login_password hint=|f| f.declared.login_password_hint/>
                </div>
            </div>
        </details>
    }
}
