use leptos::prelude::*;

use crate::document::{Role, Tree};
use crate::i18n::text_of;
use crate::pages::submit::bounded::Bounded;
use crate::pages::submit::declared::{TYPES, names_of};
use crate::pages::submit::field::Word;
use crate::pages::submit::select::{Choice, SelectField};
use crate::pages::submit::state::Editing;

/// What selects among the prerequisites of each type are called, in the order of [`TYPES`].
const LABELS: [Word; TYPES.len()] = [
    |f| f.declared.use_image,
    |f| f.declared.use_data,
    |f| f.declared.use_script,
    |f| f.declared.use_output,
];

/// Which of the prerequisites each task role uses.
#[component]
pub(crate) fn Uses() -> impl IntoView {
    let editing = Editing::get();
    let roles = Memo::new(move |_| editing.read(Tree::roles));
    let paths = Memo::new(move |_| {
        let roles = roles.read();
        roles.iter().map(|role| role.path.clone()).collect::<Vec<_>>()
    });
    view! { <Bounded keys=paths field=move |path| view! { <OfRole path=path roles=roles/> }/> }
}

#[component]
fn OfRole(path: String, roles: Memo<Vec<Role>>) -> impl IntoView {
    let of_name = path.clone();
    let label = text_of(move |t| {
        let roles = roles.read();
        let role = roles.iter().find(|role| role.path == of_name);
        (t.submit.fields.declared.uses)(role.map_or("", |role| role.name.as_str()))
    });
    let select = |((type_name, key), label): ((&'static str, &'static str), Word)| {
        let path = format!("{path}.{key}");
        view! { <SelectField path=path label=label none=|f| f.declared.none choices=choices(type_name)/> }
    };
    let selects = TYPES.into_iter().zip(LABELS).map(select).collect_view();
    view! {
        <div class="role stack" role="group" aria-label=label>
            <span class="field__label" aria-hidden="true">{move || label.get()}</span>
            <div class="role__numbers">{selects}</div>
        </div>
    }
}

/// The prerequisites of a type.
fn choices(type_name: &'static str) -> Signal<Vec<Choice>> {
    let editing = Editing::get();
    Signal::derive(move || {
        let names = editing.read(|tree| names_of(tree, type_name)).into_iter();
        names.map(|name| Choice { value: name.clone(), label: name }).collect()
    })
}
