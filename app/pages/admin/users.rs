use std::collections::BTreeSet;

use api::groups::Membership;
use api::users::UserView;
use leptos::prelude::*;
use protocol::person::Source;

use super::remove::{Removal, Remove, RemoveDialog};
use crate::i18n::{Told, text, text_of, told, tr};
use crate::pages::profile::account::From;
use crate::parts::confirm::{Confirm, Opener};
use crate::parts::field::Field;
use crate::parts::form_errors::FormAnswer;
use crate::parts::loaded::Loaded;
use crate::parts::relative_time::RelativeTime;
use crate::parts::row_search::{RowSearch, TableBar};
use crate::parts::send_form::SendForm;
use crate::parts::table::DataTable;
use crate::parts::unsaved::Unsaved;
use crate::reading::reading;
use crate::sending::Sending;
use crate::server_fns::groups::SetGroups;
use crate::server_fns::users::{AddUser, EndAccess, RemoveUser, SetAdmin, SetPassword, list_users};
use crate::session::Session;

/// What changes the list.
#[derive(Clone, Copy)]
struct Actions {
    password: Sending,
    groups: Sending,
    remove: Removal,
    admin: Sending,
    end: Sending,
}

/// All users, and a form for one more.
#[component]
pub(crate) fn Users() -> impl IntoView {
    let add = Sending::to::<AddUser>();
    let actions = Actions {
        password: Sending::to::<SetPassword>(),
        groups: Sending::to::<SetGroups>(),
        remove: Removal::new(
            Sending::to::<RemoveUser>(),
            |t| t.admin.remove_user,
            |t| t.admin.remove_user_text,
        )
        .typed(),
        admin: Sending::to::<SetAdmin>(),
        end: Sending::to::<EndAccess>(),
    };
    let users = reading(
        move || {
            (
                add.version().get(),
                actions.groups.version().get(),
                actions.remove.to.version().get(),
                actions.admin.version().get(),
            )
        },
        |_| list_users(),
    );
    let search = RowSearch::new();
    view! {
        <div class="stack">
            <TableBar search=search add=|t| t.admin.add_user href="#add-user"/>
            <FormAnswer answer=actions.password.value() done=text(|t| t.admin.password_set)/>
            <FormAnswer answer=actions.groups.value() done=text(|t| t.accounts.groups_set)/>
            <RemoveDialog removal=actions.remove/>
            <FormAnswer answer=actions.admin.value() done=text(|t| t.common.saved)/>
            <FormAnswer answer=actions.end.value() done=text(|t| t.admin.access_ended)/>
            <Loaded
                resource=users
                content=move |users| view! { <Table users=users actions=actions search=search/> }
            />
            <AddForm add=add/>
        </div>
    }
    .into_any()
}

#[component]
fn AddForm(add: Sending) -> impl IntoView {
    view! {
        <section class="card" aria-labelledby="add-user">
            <h2 id="add-user" class="card__head">{tr(|t| t.admin.add_user)}</h2>
            <SendForm to=add attr:class="form">
                <Unsaved form="user" sent=add.sent()/>
                <div class="form__row">
                    <Field
                        name="name"
                        label=text(|t| t.admin.name)
                        hint=text(|t| t.admin.name_hint)
                        pattern="[A-Za-z0-9_.\\-]{1,64}"
                        required=true
                    />
                    <Field
                        name="password"
                        kind="password"
                        label=text(|t| t.sign_in.password)
                        hint=text(|t| t.admin.password_hint)
                        min_length=8
                        required=true
                        autocomplete="new-password"
                    />
                </div>
                <Temporary/>
                <label class="check">
                    <input type="checkbox" name="admin" value="true"/>
                    {tr(|t| t.admin.administrator)}
                </label>
                <FormAnswer answer=add.value() done=text(|t| t.common.saved)/>
                <div class="buttons">
                    <button class="button button--primary" type="submit">
                        {tr(|t| t.admin.add_user)}
                    </button>
                </div>
            </SendForm>
        </section>
    }
    .into_any()
}

/// Names one after the other; nothing where there are none.
fn listed(names: Vec<String>) -> Option<Told> {
    (!names.is_empty()).then(|| told(move |t| names.join(t.common.comma)))
}

/// Whether a password is good for choosing another one alone.
#[component]
fn Temporary() -> impl IntoView {
    view! {
        <label class="check">
            <input type="checkbox" name="temporary" value="true" checked=true/>
            {tr(|t| t.admin.password_temporary)}
        </label>
    }
}

#[component]
fn Table(users: Vec<UserView>, actions: Actions, search: RowSearch) -> impl IntoView {
    let rows =
        users.into_iter().map(|user| view! { <Row user=user actions=actions search=search/> });
    let rows = rows.collect_view();
    view! {
        <DataTable
            label=|t| t.admin.users
            heads=&[
                (|t| t.admin.name, None),
                (|t| t.admin.administrator, None),
                (|t| t.accounts.source, Some("wide rare")),
                (|t| t.accounts.groups, Some("wide")),
                (|t| t.admin.may_use, Some("wide")),
                (|t| t.admin.since, Some("wide rare")),
                (|t| t.admin.actions, None),
            ]
        >
            {rows}
        </DataTable>
    }
    .into_any()
}

#[component]
fn Row(user: UserView, actions: Actions, search: RowSearch) -> impl IntoView {
    let name = user.name.to_string();
    let own = name == Session::get().user_name();
    let admin = user.admin;
    let clusters = user.virtual_clusters.iter().map(ToString::to_string).collect::<Vec<_>>();
    let others = (!own).then(|| {
        view! {
            <Rank name=name.clone() admin=admin actions=actions/>
            <EndsAccess name=name.clone() actions=actions/>
            <Remove name=name.clone() removal=actions.remove/>
        }
    });
    let local = |group: &&Membership| group.source == Source::Local;
    let names = |groups: Vec<&Membership>| {
        let names: BTreeSet<_> = groups.into_iter().map(|group| group.group.to_string()).collect();
        names.into_iter().collect::<Vec<_>>()
    };
    let written = names(user.groups.iter().filter(local).collect()).join(", ");
    let groups = names(user.groups.iter().filter(|group| group.counts).collect());
    let password = user.provider.is_none();
    let password = password.then(|| view! { <Password name=name.clone() actions=actions/> });
    let source = user.provider.map_or(Source::Local, Source::Provider);
    let hidden = search.hides(format!("{name} {} {}", groups.join(" "), clusters.join(" ")));
    view! {
        <tr hidden=hidden>
            <th scope="row"><span class="table__name">{name.clone()}</span></th>
            <td>{told(move |t| if admin { t.common.yes } else { t.common.no })}</td>
            <td class="wide rare phrase"><From source=source/></td>
            <td class="wide">{listed(groups)}</td>
            <td class="wide">{listed(clusters)}</td>
            <td class="wide rare"><RelativeTime at=user.created_at/></td>
            <td>
                <div class="buttons buttons--row">
                    <Groups name=name groups=written actions=actions/>
                    {password}
                    {others}
                </div>
            </td>
        </tr>
    }
    .into_any()
}

#[component]
fn Password(name: String, actions: Actions) -> impl IntoView {
    let opener = Opener::new();
    let (of_title, of_field) = (name.clone(), name.clone());
    view! {
        <button type="button" class="button button--small" on:click=move |_| opener.open()>
            {tr(|t| t.admin.set_password)}
        </button>
        <Confirm
            opener=opener
            title=text_of(move |t| (t.admin.set_password_for)(&of_title))
            text=text(|t| t.admin.password_hint)
        >
            <SendForm to=actions.password attr:class="form" on:submit=move |_| opener.close()>
                <input type="hidden" name="user" value=name/>
                <Field
                    name="new"
                    kind="password"
                    label=text(|t| t.profile.new)
                    min_length=8
                    required=true
                    autocomplete="new-password"
                    scope=of_field
                />
                <Temporary/>
                <button class="button button--primary" type="submit">
                    {tr(|t| t.admin.set_password)}
                </button>
            </SendForm>
        </Confirm>
    }
    .into_any()
}

/// The groups that are written here.
#[component]
fn Groups(name: String, groups: String, actions: Actions) -> impl IntoView {
    let opener = Opener::new();
    let (of_title, of_field) = (name.clone(), name.clone());
    view! {
        <button type="button" class="button button--small" on:click=move |_| opener.open()>
            {tr(|t| t.accounts.groups)}
        </button>
        <Confirm
            opener=opener
            title=text_of(move |t| (t.accounts.groups_of)(&of_title))
            text=text(|t| t.accounts.groups_of_hint)
        >
            <SendForm to=actions.groups attr:class="form" on:submit=move |_| opener.close()>
                <input type="hidden" name="user" value=name/>
                <input type="hidden" name="before" value=groups.clone()/>
                <Field name="groups" label=text(|t| t.accounts.groups) value=groups scope=of_field/>
                <button class="button button--primary" type="submit">{tr(|t| t.common.save)}</button>
            </SendForm>
        </Confirm>
    }
    .into_any()
}

#[component]
fn Rank(name: String, admin: bool, actions: Actions) -> impl IntoView {
    view! {
        <SendForm to=actions.admin>
            <input type="hidden" name="name" value=name/>
            <input type="hidden" name="admin" value=if admin { "false" } else { "true" }/>
            <button class="button button--small" type="submit">
                {told(move |t| if admin { t.admin.demote } else { t.admin.promote })}
            </button>
        </SendForm>
    }
    .into_any()
}

#[component]
fn EndsAccess(name: String, actions: Actions) -> impl IntoView {
    let opener = Opener::new();
    let of_title = name.clone();
    view! {
        <button type="button" class="button button--small" on:click=move |_| opener.open()>
            {tr(|t| t.admin.end_access)}
        </button>
        <Confirm
            opener=opener
            title=text_of(move |t| (t.admin.end_access_of)(&of_title))
            text=text(|t| t.admin.end_access_text)
        >
            <SendForm to=actions.end on:submit=move |_| opener.close()>
                <input type="hidden" name="name" value=name/>
                <button class="button button--danger" type="submit">
                    {tr(|t| t.admin.end_access)}
                </button>
            </SendForm>
        </Confirm>
    }
    .into_any()
}
