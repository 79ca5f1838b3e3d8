use leptos::prelude::*;
use protocol::fields::{Notation, RoleField};

use crate::document::{Edit, Role};
use crate::i18n::words_submit::RoleSummary;
use crate::i18n::{told, tr};
use crate::pages::submit::bounded::Bounded;
use crate::pages::submit::field::{Kind, TextField, Word};
use crate::pages::submit::images;
use crate::pages::submit::ports::Ports;
use crate::pages::submit::state::Editing;

/// One task role, folded or not.
#[component]
pub(crate) fn RoleForm(path: String, roles: Memo<Vec<Role>>) -> impl IntoView {
    let editing = Editing::get();
    let remove = Edit::Remove(path.clone());
    let role = Memo::new(move |_| {
        let roles = roles.read();
        let known = roles.iter().find(|role| role.path == path).cloned();
        known.unwrap_or_else(|| Role { path: path.clone(), name: String::new() })
    });
    let summary = move || {
        let role = role.get();
        let of =
            |field| editing.read(|tree| tree.role_path(&role, field).map(|path| tree.text(&path)));
        RoleSummary {
            tasks: of(RoleField::Tasks).unwrap_or_default(),
            cpus: of(RoleField::Cpus).unwrap_or_default(),
            memory_mb: of(RoleField::Memory).unwrap_or_default(),
            gpus: of(RoleField::Gpus).unwrap_or_default(),
        }
    };
    let can_remove = move || roles.read().len() > 1;
    view! {
        <details class="role fold" open>
            <summary>
                <span class="role__name">{move || role.get().name}</span>
                <span class="hint">{told(move |t| (t.submit.fields.role_summary)(&summary()))}</span>
            </summary>
            <div class="stack">
                <Numbers role=role/>
                <Commands role=role/>
                <Ports role=role/>
                <Completion role=role/>
                <Show when=can_remove>
                    <div>
                        <RemoveRole edit=remove.clone() role=role/>
                    </div>
                </Show>
            </div>
        </details>
    }
}

#[component]
fn RemoveRole(edit: Edit, role: Memo<Role>) -> impl IntoView {
    let editing = Editing::get();
    view! {
        <button type="button" class="button button--small" on:click=move |_| editing.edit(std::slice::from_ref(&edit))>
            {told(move |t| (t.submit.fields.remove_role)(&role.read().name))}
        </button>
    }
}

/// Where a field of the role stands.
fn path(role: Memo<Role>, field: RoleField) -> Signal<String> {
    let editing = Editing::get();
    Signal::derive(move || {
        editing.read(|tree| tree.role_path(&role.read(), field)).unwrap_or_default()
    })
}

/// How many tasks, and what each gets.
#[component]
fn Numbers(role: Memo<Role>) -> impl IntoView {
    let editing = Editing::get();
    let is_v1 = move || editing.read(|tree| tree.notation == Notation::V1);
    let image = Signal::derive(move || {
        editing.read(|tree| tree.image_path(&role.read())).unwrap_or_default()
    });
    let has_own_image = move || !is_v1() && !image.read().is_empty();
    let number = move |field, label: Word| {
        view! { <TextField path=path(role, field) label=label kind=Kind::Number/> }
    };
    view! {
        <Show when=is_v1>
            <TextField path=path(role, RoleField::Name) label=|f| f.role_name required=true/>
        </Show>
        <Show when=has_own_image>
            <TextField path=image label=|f| f.image hint=|f| f.image_hint list=images::LIST required=true/>
        </Show>
        <div class="role__numbers">
            {number(RoleField::Tasks, |f| f.tasks)}
            <TextField
                path=path(role, RoleField::Gpus)
                label=|f| f.gpus
                hint=|f| f.gpus_hint
                kind=Kind::Decimal
            />
            {number(RoleField::Cpus, |f| f.cpus)}
            {number(RoleField::Memory, |f| f.memory)}
            <TextField
                path=path(role, RoleField::SharedMemory)
                label=|f| f.shared_memory
                hint=|f| f.shared_memory_hint
                kind=Kind::Number
            />
            {number(RoleField::Disk, |f| f.disk)}
        </div>
    }
}

/// One command in version 1, any number in version 2.
#[component]
fn Commands(role: Memo<Role>) -> impl IntoView {
    let editing = Editing::get();
    let paths = Memo::new(move |_| editing.read(|tree| tree.command_paths(&role.read())));
    let has_many = move || editing.read(|tree| tree.notation == Notation::V2);
    let add = move |_| {
        let next = editing.read(|tree| tree.command_paths(&role.read_untracked()).len());
        let path = format!("{}.commands[{next}]", role.read_untracked().path);
        editing.edit(&[Edit::Set(path, "".into())]);
    };
    view! {
        <Bounded
            keys=paths
            field=|path| view! {
                <TextField path=path label=|f| f.command hint=|f| f.command_hint kind=Kind::Lines required=true/>
            }
        />
        <Show when=has_many>
            <div>
                <button type="button" class="button button--small" on:click=add>
                    {tr(|t| t.submit.fields.add_command)}
                </button>
            </div>
        </Show>
    }
}

/// When the role's tasks end the job.
#[component]
fn Completion(role: Memo<Role>) -> impl IntoView {
    view! {
        <details class="fold fold--inner">
            <summary>{tr(|t| t.submit.fields.completion)}</summary>
            <div class="stack">
                <div class="form__row">
                    <TextField
                        path=path(role, RoleField::MinFailed)
                        label=|f| f.min_failed
                        hint=|f| f.min_failed_hint
                        kind=Kind::Number
                    />
                    <TextField
                        path=path(role, RoleField::MinSucceeded)
                        label=|f| f.min_succeeded
                        hint=|f| f.min_succeeded_hint
                        kind=Kind::Number
                    />
                </div>
                <TextField
                    path=path(role, RoleField::Retries)
                    label=|f| f.task_retries
                    hint=|f| f.task_retries_hint
                    kind=Kind::Number
                />
            </div>
        </details>
    }
}
