use api::groups::Membership;
use api::users::UserView;
use leptos::prelude::*;
use protocol::person::Source;

use crate::i18n::{told, tr};
use crate::pages::profile::password::Password;
use crate::parts::loaded::Loaded;
use crate::parts::table::DataTable;
use crate::reading::reading;
use crate::server_fns::users::list_users;
use crate::session::Session;

/// Where one's account comes from and the groups it is in; the password, where it is one of here.
#[component]
pub(crate) fn Account() -> impl IntoView {
    let users = reading(|| (), |()| list_users());
    let own = |users: Vec<UserView>| {
        let name = Session::get().user_name();
        users.into_iter().find(|user| user.name.as_str() == name)
    };
    view! {
        <Loaded resource=users lines=3 content=move |users| own(users).map(|user| view! { <Own user=user/> })/>
    }
    .into_any()
}

#[component]
fn Own(user: UserView) -> impl IntoView {
    let password = user.provider.is_none().then(|| view! { <Password/> });
    let provider = user.provider.map(|name| Session::get().title_of(name.as_str()));
    let from = told(move |t| match &provider {
        Some(title) => (t.accounts.of_provider)(title),
        None => t.accounts.of_here.to_owned(),
    });
    let mail = user.mail.map(|mail| {
        view! { <p>{tr(|t| t.accounts.mail)} {tr(|t| t.common.colon)} {mail}</p> }
    });
    view! {
        <section class="card stack" aria-labelledby="account">
            <h2 id="account" class="card__head">{tr(|t| t.accounts.account)}</h2>
            <p>{from}</p>
            {mail}
            <Groups groups=user.groups/>
        </section>
        {password}
    }
    .into_any()
}

#[component]
fn Groups(groups: Vec<Membership>) -> impl IntoView {
    if groups.is_empty() {
        return view! { <p class="hint">{tr(|t| t.accounts.no_groups)}</p> }.into_any();
    }
    let rows = groups.into_iter().map(|group| view! { <Group group=group/> }).collect_view();
    view! {
        <DataTable
            label=|t| t.accounts.groups
            heads=&[(|t| t.accounts.groups, None), (|t| t.accounts.source, None)]
        >
            {rows}
        </DataTable>
    }
    .into_any()
}

#[component]
fn Group(group: Membership) -> impl IntoView {
    let lapsed = (!group.counts)
        .then(|| view! { <span class="table__sub">{tr(|t| t.accounts.lapsed)}</span> });
    view! {
        <tr>
            <th scope="row">{group.group.to_string()} {lapsed}</th>
            <td><From source=group.source/></td>
        </tr>
    }
    .into_any()
}

/// Who vouches for an account or says that it is in a group.
#[component]
pub(crate) fn From(source: Source) -> impl IntoView {
    match source {
        Source::Local => tr(|t| t.accounts.here).into_any(),
        Source::Provider(name) => Session::get().title_of(name.as_str()).into_any(),
    }
}
