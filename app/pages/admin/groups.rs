use leptos::prelude::*;

use super::remove::{Removal, Remove, RemoveDialog};
use crate::i18n::{text, text_of, told, tr};
use crate::parts::confirm::{Confirm, Opener};
use crate::parts::field::Field;
use crate::parts::form_errors::FormAnswer;
use crate::parts::loaded::Loaded;
use crate::parts::row_search::{RowSearch, TableBar};
use crate::parts::send_form::SendForm;
use crate::parts::table::DataTable;
use crate::parts::unsaved::Unsaved;
use crate::reading::reading;
use crate::sending::Sending;
use crate::server_fns::groups::{Group, RemoveGroup, SaveGroup, list_groups};

/// Where the forms of all groups are sent to, and of which group the last one was.
#[derive(Clone, Copy)]
struct Save {
    to: Sending,
    whose: StoredValue<String>,
}

impl Save {
    fn new() -> Self {
        Self { to: Sending::to::<SaveGroup>(), whose: StoredValue::new(String::new()) }
    }

    /// How often it was answered that all is done, as of the last time that it was of this group.
    fn sent_of(self, name: String) -> Memo<u32> {
        let (sent, whose) = (self.to.sent(), self.whose);
        Memo::new(move |before: Option<&u32>| {
            let sent = sent.get();
            of_own(before.copied(), sent, whose.with_value(|whose| *whose == name))
        })
    }
}

/// What others send is none of it.
fn of_own(before: Option<u32>, sent: u32, is_own: bool) -> u32 {
    before.filter(|_| !is_own).unwrap_or(sent)
}

/// All groups, and a form for one more.
#[component]
pub(crate) fn AllGroups() -> impl IntoView {
    let (add, save) = (Sending::to::<SaveGroup>(), Save::new());
    let remove = Removal::new(
        Sending::to::<RemoveGroup>(),
        |t| t.accounts.remove_group,
        |t| t.accounts.remove_group_text,
    );
    let changes = move || (add.version().get(), save.to.version().get(), remove.to.version().get());
    let groups = reading(changes, |_| list_groups());
    let search = RowSearch::new();
    view! {
        <div class="stack">
            <TableBar search=search add=|t| t.accounts.add_group href="#add-group"/>
            <FormAnswer answer=add.done() done=text(|t| t.common.saved)/>
            <FormAnswer answer=save.to.value() done=text(|t| t.common.saved)/>
            <RemoveDialog removal=remove/>
            <Loaded
                resource=groups
                content=move |groups| {
                    view! { <Table groups=groups save=save remove=remove search=search/> }
                }
            />
            <AddForm add=add/>
        </div>
    }
    .into_any()
}

#[component]
fn AddForm(add: Sending) -> impl IntoView {
    view! {
        <section class="card" aria-labelledby="add-group">
            <h2 id="add-group" class="card__head">{tr(|t| t.accounts.add_group)}</h2>
            <SendForm to=add attr:class="form">
                <Unsaved form="group:" sent=add.sent()/>
                <Fields group=None/>
                <FormAnswer answer=add.refused() done=text(|t| t.common.saved)/>
                <div class="buttons">
                    <button class="button button--primary" type="submit">
                        {tr(|t| t.accounts.add_group)}
                    </button>
                </div>
            </SendForm>
        </section>
    }
    .into_any()
}

#[component]
fn Table(groups: Vec<Group>, save: Save, remove: Removal, search: RowSearch) -> impl IntoView {
    if groups.is_empty() {
        return view! { <p class="hint">{tr(|t| t.accounts.none_yet)}</p> }.into_any();
    }
    let rows = groups
        .into_iter()
        .map(|group| view! { <Row group=group save=save remove=remove search=search/> });
    let rows = rows.collect_view();
    view! {
        <DataTable
            label=|t| t.accounts.groups
            heads=&[
                (|t| t.admin.name, None),
                (|t| t.accounts.description, Some("wide")),
                (|t| t.admin.administrator, None),
                (|t| t.accounts.members, Some("num")),
                (|t| t.admin.may_use, Some("wide")),
                (|t| t.admin.actions, None),
            ]
        >
            {rows}
        </DataTable>
    }
    .into_any()
}

#[component]
fn Row(group: Group, save: Save, remove: Removal, search: RowSearch) -> impl IntoView {
    let name = group.name.to_string();
    let (description, admin) = (group.description.clone(), group.admin);
    let members = group.members.to_string();
    let clusters = group.virtual_clusters.iter().map(ToString::to_string).collect::<Vec<_>>();
    let hidden = search.hides(format!("{name} {description} {}", clusters.join(" ")));
    view! {
        <tr hidden=hidden>
            <th scope="row"><span class="table__name">{name.clone()}</span></th>
            <td class="wide">{(!description.is_empty()).then_some(description)}</td>
            <td>{told(move |t| if admin { t.common.yes } else { t.common.no })}</td>
            <td class="num">{members}</td>
            <td class="wide">{told(move |t| clusters.join(t.common.comma))}</td>
            <td>
                <div class="buttons buttons--pair">
                    <Edit group=group save=save/>
                    <Remove name=name removal=remove/>
                </div>
            </td>
        </tr>
    }
    .into_any()
}

/// What is said of a group.
#[component]
fn Fields(group: Option<Group>) -> impl IntoView {
    let name = group.as_ref().map(|group| group.name.to_string());
    let scope = format!("group-{}", name.as_deref().unwrap_or_default());
    let admin = group.as_ref().is_some_and(|group| group.admin);
    let clusters = group.as_ref().map(|group| group.virtual_clusters.as_slice());
    let clusters = clusters.unwrap_or_default().iter().map(ToString::to_string);
    let clusters = clusters.collect::<Vec<_>>().join(", ");
    let is_edited = group.is_some();
    let description = group.map(|group| group.description).unwrap_or_default();
    // What somebody else has changed since stays.
    let was = is_edited.then(|| {
        let (description, clusters) = (description.clone(), clusters.clone());
        view! {
            <input type="hidden" name="group[was][description]" value=description/>
            <input type="hidden" name="group[was][admin]" value=admin.to_string()/>
            <input type="hidden" name="group[was][clusters]" value=clusters/>
        }
    });
    view! {
        {was}
        <Field
            name="group[name]"
            label=text(|t| t.admin.name)
            fixed=name.is_some()
            value=name.unwrap_or_default()
            required=true
            scope=scope.clone()
        />
        <Field
            name="group[description]"
            label=text(|t| t.accounts.description)
            value=description
            scope=scope.clone()
        />
        <Field
            name="group[clusters]"
            label=text(|t| t.admin.may_use)
            hint=text(|t| t.accounts.clusters_hint)
            value=clusters
            scope=scope
        />
        <label class="check">
            <input type="checkbox" name="group[admin]" value="true" checked=admin/>
            {tr(|t| t.accounts.of_administrators)}
        </label>
    }
    .into_any()
}

#[component]
fn Edit(group: Group, save: Save) -> impl IntoView {
    let opener = Opener::new();
    let name = group.name.to_string();
    let kept = ["group:", name.as_str()].concat();
    let (sent, own) = (save.sent_of(name.clone()), name.clone());
    let submit = move |_| {
        save.whose.set_value(own.clone());
        opener.close();
    };
    view! {
        <button type="button" class="button button--small" on:click=move |_| opener.open()>
            {tr(|t| t.common.edit)}
        </button>
        <Confirm
            opener=opener
            title=text_of(move |t| (t.accounts.edit_group)(&name))
            text=text(|t| t.accounts.edit_group_text)
        >
            <SendForm to=save.to attr:class="form" on:submit=submit>
                <Unsaved form=kept sent=sent/>
                <Fields group=Some(group)/>
                <button class="button button--primary" type="submit">{tr(|t| t.common.save)}</button>
            </SendForm>
        </Confirm>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_not_sent_when_another_one_is() {
        let first = of_own(None, 3, false);
        assert_eq!(first, 3, "what was sent before the form was there");
        assert_eq!(of_own(Some(first), 4, false), first, "another group's");
        assert_eq!(of_own(Some(first), 5, true), 5);
    }
}
