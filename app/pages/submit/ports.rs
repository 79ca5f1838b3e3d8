use leptos::prelude::*;

use crate::document::{Edit, Port, Role};
use crate::i18n::{text_of, tr};
use crate::pages::submit::bounded::Bounded;
use crate::pages::submit::field::{FieldProblems, Kind, TextField};
use crate::pages::submit::state::Editing;

/// The ports that a role's tasks get, one group a row.
#[component]
pub(crate) fn Ports(role: Memo<Role>) -> impl IntoView {
    let editing = Editing::get();
    let ports = Memo::new(move |_| editing.read(|tree| tree.ports(&role.read())));
    let paths = Memo::new(move |_| {
        let ports = ports.read();
        ports.iter().map(|port| port.path.clone()).collect::<Vec<_>>()
    });
    let add = move |_| {
        let role = role.get_untracked();
        if let Ok(tree) = editing.tree.get_untracked() {
            editing.edit(&tree.add_port(&role));
        }
    };
    view! {
        <details class="fold fold--inner" open=move || !ports.read().is_empty()>
            <summary>{tr(|t| t.submit.fields.ports)}</summary>
            <div class="stack">
                <p class="hint">{tr(|t| t.submit.fields.ports_hint)}</p>
                <Bounded keys=paths field=move |path| view! { <PortRow path=path ports=ports/> }/>
                <div>
                    <button type="button" class="button button--small" on:click=add>
                        {tr(|t| t.submit.fields.add_port)}
                    </button>
                </div>
            </div>
        </details>
    }
}

#[component]
fn PortRow(path: String, ports: Memo<Vec<Port>>) -> impl IntoView {
    let editing = Editing::get();
    let Some(port) = ports.get_untracked().into_iter().find(|port| port.path == path) else {
        return ().into_any();
    };
    let remove = Edit::Remove(path.clone());
    let label = Memo::new(move |_| {
        let ports = ports.read();
        ports
            .iter()
            .find(|port| port.path == path)
            .map(|port| port.label.clone())
            .unwrap_or_default()
    });
    let renamed = port.clone();
    let rename = move |input: web_sys::HtmlInputElement| {
        let name = input.value();
        // What others are called stays their name.
        if ports.with_untracked(|ports| ports.iter().any(|port| port.label == name)) {
            input.set_value(&label.get_untracked());
        } else if let Ok(tree) = editing.tree.get_untracked() {
            editing.edit(&tree.rename_port(&renamed, &name));
        }
    };
    let begin = port.begin_path.clone().map(|path| {
        view! { <TextField path=path label=|f| f.port_begin kind=Kind::Number/> }
    });
    view! {
        <div class="row">
            <label class="field">
                <span class="field__label">{tr(|t| t.submit.fields.port_label)}</span>
                <input
                    class="input"
                    autocomplete="off"
                    spellcheck="false"
                    value=label.get_untracked()
                    prop:value=move || label.get()
                    on:change:target=move |event| rename(event.target())
                />
                <FieldProblems path=format!("{}.label", port.path) label=|f| f.port_label/>
            </label>
            {begin}
            <TextField path=port.count_path label=|f| f.port_count kind=Kind::Number/>
            <button
                type="button"
                class="button button--quiet row__remove"
                aria-label=text_of(move |t| (t.submit.fields.remove_port)(&label.read()))
                on:click=move |_| editing.edit(std::slice::from_ref(&remove))
            >
                "×"
            </button>
        </div>
    }
    .into_any()
}
