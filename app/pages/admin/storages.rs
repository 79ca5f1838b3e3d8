use api::storages::StorageView;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use super::remove::{Removal, Remove, RemoveDialog};
use crate::address::encode;
use crate::forms::{StorageForm, place};
use crate::i18n::{text, text_of, told, tr};
use crate::parts::empty_state::EmptyState;
use crate::parts::field::Field;
use crate::parts::form_errors::FormAnswer;
use crate::parts::loaded::Loaded;
use crate::parts::path::path;
use crate::parts::row_search::{RowSearch, TableBar};
use crate::parts::send_form::SendForm;
use crate::parts::table::DataTable;
use crate::parts::unsaved::Unsaved;
use crate::reading::reading;
use crate::sending::Sending;
use crate::server_fns::storages::{RemoveStorage, SaveStorage, list_storages};

/// All storages, and a form that adds one or changes the one that the address names.
#[component]
pub(crate) fn Storages() -> impl IntoView {
    let save = Sending::to::<SaveStorage>();
    let remove = Removal::new(
        Sending::to::<RemoveStorage>(),
        |t| t.storages.remove,
        |t| t.storages.remove_text,
    );
    let changes = move || (save.version().get(), remove.to.version().get());
    let storages = reading(changes, |_| list_storages());
    let search = RowSearch::new();
    view! {
        <div class="stack">
            <TableBar search=search add=|t| t.storages.add href="#add-storage"/>
            <RemoveDialog removal=remove/>
            <Loaded
                resource=storages
                content=move |storages| {
                    view! { <Table storages=storages remove=remove search=search/> }
                }
            />
            <Edit save=save/>
        </div>
    }
    .into_any()
}

/// The form. It is filled when it is opened, and not while somebody writes.
#[component]
fn Edit(save: Sending) -> impl IntoView {
    let query = use_query_map();
    let edited = Memo::new(move |_| query.read().get("edit"));
    let known = reading(
        move || edited.get(),
        async |edited: Option<String>| {
            let storages = list_storages().await?;
            let is_edited = |view: &StorageView| Some(view.name.as_str()) == edited.as_deref();
            Ok::<_, crate::failed::Failed>(storages.into_iter().find(is_edited))
        },
    );
    view! { <Loaded resource=known content=move |edited| view! { <SaveForm save=save edited=edited/> }/> }
}

#[component]
fn Table(storages: Vec<StorageView>, remove: Removal, search: RowSearch) -> impl IntoView {
    if storages.is_empty() {
        return view! {
            <EmptyState title=text(|t| t.storages.none) hint=text(|t| t.storages.none_hint)/>
        }
        .into_any();
    }
    let rows =
        storages.into_iter().map(|view| view! { <Row storage=view remove=remove search=search/> });
    let rows = rows.collect_view();
    view! {
        <DataTable
            label=|t| t.storages.title
            heads=&[
                (|t| t.admin.name, None),
                (|t| t.storages.place, None),
                (|t| t.storages.mount, None),
                (|t| t.storages.rights, None),
                (|t| t.admin.users, None),
                (|t| t.admin.actions, None),
            ]
        >
            {rows}
        </DataTable>
    }
    .into_any()
}

#[component]
fn Row(storage: StorageView, remove: Removal, search: RowSearch) -> impl IntoView {
    let name = storage.name.to_string();
    let edit = format!("/admin/storages?edit={}", encode(&name));
    let place = storage.source.as_ref().map(place).unwrap_or_default();
    let mount = storage.mount.clone();
    let users = storage.users.iter().map(ToString::to_string);
    let groups = storage.groups.iter().map(ToString::to_string);
    let users = users.chain(groups).collect::<Vec<_>>();
    let hidden = search.hides(format!("{name} {place} {mount} {}", users.join(" ")));
    let users = told(move |t| match users.as_slice() {
        [] => t.admin.everybody.to_owned(),
        users => users.join(t.common.comma),
    });
    let rights = told(move |t| {
        let StorageView { read_only, default, own_folders, .. } = &storage;
        let how = if *read_only { t.storages.read_only } else { t.storages.writable };
        let default = default.then_some(t.storages.default);
        let own = own_folders.then_some(t.storages.own_folders);
        let all: Vec<_> = std::iter::once(how).chain(default).chain(own).collect();
        all.join(t.common.comma)
    });
    view! {
        <tr hidden=hidden>
            <th scope="row"><span class="table__name">{name.clone()}</span></th>
            <td><code>{path(&place)}</code></td>
            <td><code>{path(&mount)}</code></td>
            <td>{rights}</td>
            <td>{users}</td>
            <td>
                <div class="buttons buttons--pair">
                    <a class="button button--small" href=edit>{tr(|t| t.common.edit)}</a>
                    <Remove name=name removal=remove/>
                </div>
            </td>
        </tr>
    }
    .into_any()
}

#[component]
fn SaveForm(save: Sending, edited: Option<StorageView>) -> impl IntoView {
    let form = edited.as_ref().map(StorageForm::from).unwrap_or_default();
    let has_password = edited.as_ref().is_some_and(|view| view.has_password);
    let name = edited.map(|view| view.name.to_string());
    let kept = ["storage:", name.as_deref().unwrap_or_default()].concat();
    let title = told(move |t| match &name {
        Some(name) => (t.storages.edit)(name),
        None => t.storages.add.to_owned(),
    });
    view! {
        <section class="card" aria-labelledby="add-storage">
            <h2 id="add-storage" class="card__head">{title}</h2>
            <SendForm to=save attr:class="form">
                <Unsaved form=kept sent=save.sent()/>
                <Where form=form.clone() has_password=has_password/>
                <Rights form=form/>
                <FormAnswer answer=save.value() done=text(|t| t.storages.saved)/>
                <div class="buttons">
                    <button class="button button--primary" type="submit">
                        {tr(|t| t.common.save)}
                    </button>
                </div>
            </SendForm>
        </section>
    }
    .into_any()
}

/// Its name, where it is, and how its server is entered.
#[component]
fn Where(form: StorageForm, has_password: bool) -> impl IntoView {
    let StorageForm { name, place, mount, user, options, .. } = form;
    let is_known = !name.is_empty();
    let kept = text_of(move |t| if has_password { t.storages.password_kept } else { "" });
    view! {
        <div class="form__row">
            <Field name="storage[name]" label=text(|t| t.admin.name) value=name required=true fixed=is_known/>
            <Field
                name="storage[mount]"
                label=text(|t| t.storages.mount)
                hint=text(|t| t.storages.mount_hint)
                value=mount
            />
        </div>
        <Field
            name="storage[place]"
            label=text(|t| t.storages.place)
            hint=text(|t| t.storages.place_hint)
            value=place
            required=true
        />
        <div class="form__row">
            <Field
                name="storage[user]"
                label=text(|t| t.storages.user)
                hint=text(|t| t.storages.user_hint)
                value=user
            />
            <Field
                name="storage[password]"
                kind="password"
                label=text(|t| t.storages.password)
                hint=kept
                autocomplete="new-password"
            />
        </div>
        <Field
            name="storage[options]"
            label=text(|t| t.storages.options)
            hint=text(|t| t.storages.options_hint)
            value=options
        />
    }
    .into_any()
}

/// Who may do what with it.
#[component]
fn Rights(form: StorageForm) -> impl IntoView {
    let StorageForm { read_only, default, own_folders, users, groups, .. } = form;
    view! {
        <label class="check">
            <input type="checkbox" name="storage[read_only]" value="true" checked=read_only/>
            {tr(|t| t.storages.make_read_only)}
        </label>
        <label class="check">
            <input type="checkbox" name="storage[default]" value="true" checked=default/>
            {tr(|t| t.storages.make_default)}
        </label>
        <label class="check">
            <input type="checkbox" name="storage[own_folders]" value="true" checked=own_folders/>
            {tr(|t| t.storages.make_own_folders)}
        </label>
        <Field
            name="storage[users]"
            label=text(|t| t.admin.users)
            hint=text(|t| t.admin.users_hint)
            value=users
        />
        <Field
            name="storage[groups]"
            label=text(|t| t.accounts.groups)
            hint=text(|t| t.accounts.groups_hint)
            value=groups
        />
    }
    .into_any()
}
