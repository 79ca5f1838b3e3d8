use leptos::prelude::*;
use protocol::document::join;

use crate::document::{Edit, Tree};
use crate::i18n::{text_of, tr};
use crate::pages::submit::bounded::Bounded;
use crate::pages::submit::field::TextField;
use crate::pages::submit::state::Editing;

/// Variables that every task gets, one a row.
#[component]
pub(crate) fn Environment() -> impl IntoView {
    let editing = Editing::get();
    let names = Memo::new(move |_| editing.read(|tree| tree.keys(&tree.env_path())));
    let add = move |_| {
        if let Ok(tree) = editing.tree.get_untracked() {
            editing.edit(&[add_variable(&tree)]);
        }
    };
    view! {
        <details class="card fold" open=move || !names.read().is_empty()>
            <summary>{tr(|t| t.submit.fields.environment)}</summary>
            <div class="stack">
                <p class="hint">{tr(|t| t.submit.fields.environment_hint)}</p>
                <Bounded keys=names field=|name| view! { <Variable name=name/> }/>
                <div>
                    <button type="button" class="button button--small" on:click=add>
                        {tr(|t| t.submit.fields.add_env)}
                    </button>
                </div>
            </div>
        </details>
    }
}

fn add_variable(tree: &Tree) -> Edit {
    let taken = tree.keys(&tree.env_path());
    let name = (1..)
        .map(|number| format!("VARIABLE_{number}"))
        .find(|name| !taken.contains(name))
        .unwrap_or_default();
    Edit::Set(join(&tree.env_path(), &name), "".into())
}

#[component]
fn Variable(name: String) -> impl IntoView {
    let editing = Editing::get();
    let name = StoredValue::new(name);
    let path = Signal::derive(move || {
        editing.read(|tree| name.with_value(|name| join(&tree.env_path(), name)))
    });
    let rename = move |input: web_sys::HtmlInputElement| {
        let new = input.value();
        // What another one is called stays its name.
        let taken = untrack(|| editing.read(|tree| tree.keys(&tree.env_path()).contains(&new)));
        if taken || new.is_empty() {
            input.set_value(&name.get_value());
        } else {
            editing.edit(&Tree::rename(&path.get_untracked(), &new));
        }
    };
    view! {
        <div class="row">
            <label class="field">
                <span class="field__label">{tr(|t| t.submit.fields.env_name)}</span>
                <input
                    class="input"
                    autocomplete="off"
                    spellcheck="false"
                    value=name.get_value()
                    prop:value=name.get_value()
                    on:change:target=move |event| rename(event.target())
                />
            </label>
            <TextField path=path label=|f| f.env_value required=true/>
            <button
                type="button"
                class="button button--quiet row__remove"
                aria-label=text_of(move |t| name.with_value(|name| (t.submit.fields.remove_env)(name)))
                on:click=move |_| editing.edit(&[Edit::Remove(path.get_untracked())])
            >
                "×"
            </button>
        </div>
    }
}
