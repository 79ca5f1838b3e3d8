use leptos::prelude::*;

use crate::i18n::tr;
use crate::pages::submit::bounded::Bounded;
use crate::pages::submit::role::RoleForm;
use crate::pages::submit::state::Editing;

/// All task roles.
#[component]
pub(crate) fn Roles() -> impl IntoView {
    let editing = Editing::get();
    let roles = Memo::new(move |_| editing.read(crate::document::Tree::roles));
    // A list item keeps its fields while its name is typed: the path alone is the key.
    let paths = Memo::new(move |_| {
        let roles = roles.read();
        roles.iter().map(|role| role.path.clone()).collect::<Vec<_>>()
    });
    let add = move |_| {
        if let Ok(tree) = editing.tree.get_untracked() {
            editing.edit(&tree.add_role());
        }
    };
    view! {
        <section class="card stack">
            <h2>{tr(|t| t.submit.fields.roles)}</h2>
            <Bounded keys=paths field=move |path| view! { <RoleForm path=path roles=roles/> }/>
            <div>
                <button type="button" class="button" on:click=add>{tr(|t| t.submit.fields.add_role)}</button>
            </div>
        </section>
    }
}
