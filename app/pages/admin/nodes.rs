use api::node_map::AdminRow;
use leptos::ev::MouseEvent;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use protocol::cluster::NodeCondition;
use protocol::ids::NodeName;

use super::node_form::EditNode;
use super::node_search::{Asked, PAGE, SearchBar};
use super::nodes_many::DrainMany;
use crate::address;
use crate::i18n::{text, tr};
use crate::live::Live;
use crate::parts::ask::Asker;
use crate::parts::condition_chip::ConditionChip;
use crate::parts::drain::Drain;
use crate::parts::empty_state::EmptyState;
use crate::parts::form_errors::FormAnswer;
use crate::parts::loaded::Loaded;
use crate::parts::pagination::{Pagination, Window};
use crate::parts::quarantine::Quarantine;
use crate::parts::selection::{Pick, Pickable, SelectAll, Selection};
use crate::parts::send_form::SendForm;
use crate::parts::servers::Servers;
use crate::parts::table::{Column, TableOf};
use crate::reading::reading;
use crate::sending::Sending;
use crate::server_fns::nodes::{Managed, RemoveNode, managed_nodes, remove_node};
use crate::server_fns::queue::effect_of_removal;

/// Nodes by pages, and a form that adds one or changes the one that the address names.
#[component]
pub(crate) fn Nodes() -> impl IntoView {
    let remove = Sending::to::<RemoveNode>();
    let changes = Live::get().nodes();
    let query = use_query_map();
    let asked = Memo::new(move |_| Asked::read(|key| query.read().get(key)));
    let nodes = reading(
        move || (asked.get(), remove.version().get(), changes.get()),
        |(asked, _, _)| managed_nodes(asked.text.clone(), asked.offset(), PAGE),
    );
    let selection = Selection::new();
    view! {
        <div class="stack">
            <SearchBar asked=asked/>
            <FormAnswer answer=remove.value() done=text(|t| t.common.saved)/>
            <Loaded
                resource=nodes
                content=move |nodes| {
                    let asked = asked.get_untracked();
                    view! { <Table nodes=nodes asked=asked remove=remove selection=selection/> }
                }
            />
            <DrainMany selection=selection/>
            <Quarantine/>
            <Servers/>
            <EditNode/>
        </div>
    }
    .into_any()
}

#[component]
fn Table(nodes: Managed, asked: Asked, remove: Sending, selection: Selection) -> impl IntoView {
    if nodes.total == 0 && nodes.all > 0 {
        return view! { <EmptyState title=text(|t| t.map.none_match) hint=text(|_| "")/> }
            .into_any();
    }
    let window = Window { page: asked.page, size: PAGE, total: nodes.total };
    let shown: Vec<Pickable> = nodes.rows.iter().filter_map(pickable).collect();
    selection.show(shown.clone());
    let columns = columns(selection, shown);
    let rows = nodes.rows.into_iter().map(|node| {
        let edit = asked.editing(&node.name);
        view! { <Row node=node edit=edit remove=remove selection=selection/> }
    });
    let rows = rows.collect_view();
    view! {
        <TableOf label=|t| t.admin.nodes kind="table--managed" columns=columns>{rows}</TableOf>
        <Pagination window=window address=move |page| asked.on_page(page)/>
    }
    .into_any()
}

fn columns(selection: Selection, nodes: Vec<Pickable>) -> Vec<Column> {
    let all = view! {
        <SelectAll selection=selection jobs=nodes label=|t| t.cluster.select_all_nodes/>
    };
    vec![
        Column::new(|_| "", "pick node-pick").showing(all),
        Column::new(|t| t.admin.name, ""),
        Column::new(|t| t.cluster.condition, ""),
        Column::new(|t| t.cluster.endpoint, "wide"),
        Column::new(|t| t.admin.actions, ""),
    ]
}

/// A node that can be drained, as one ticks it.
fn pickable(node: &AdminRow) -> Option<Pickable> {
    let drained = node.condition == NodeCondition::Draining || node.emptied;
    (!drained).then(|| Pickable { key: node.name.to_string(), ended: true })
}

#[component]
fn Row(node: AdminRow, edit: String, remove: Sending, selection: Selection) -> impl IntoView {
    let key = node.name.to_string();
    let chosen = move || selection.contains(&key).to_string();
    let pick = pickable(&node).map(|node| view! { <Pick selection=selection job=node/> });
    let exposed = node.at_portal.then(|| {
        view! { <p class="notice" role="alert">{tr(|t| t.admin.at_portal)}</p> }
    });
    view! {
        <tr aria-selected=chosen>
            <td class="pick node-pick">{pick}</td>
            <th scope="row">
                <a class="table__name" href=address::node(&node.name)>{node.name.to_string()}</a>
                {exposed}
            </th>
            <td><ConditionChip condition=node.condition/></td>
            <td class="wide"><code>{node.endpoint}</code></td>
            <td>
                <div class="buttons">
                    <a class="button button--small" href=edit>{tr(|t| t.common.edit)}</a>
                    <Drain
                        name=node.name.clone()
                        condition=node.condition
                        emptied=node.emptied
                    />
                    <Remove name=node.name remove=remove/>
                </div>
            </td>
        </tr>
    }
    .into_any()
}

/// Asks first, and says what it does. Without JavaScript it does it at once.
#[component]
fn Remove(name: NodeName, remove: Sending) -> impl IntoView {
    let asker = Asker::get();
    let asked = name.clone();
    let ask = move |event: MouseEvent| {
        event.prevent_default();
        let (of_title, of_effect, of_act) = (asked.to_string(), asked.clone(), asked.clone());
        asker.of_loss(true).ask(
            move |t| (t.admin.remove_node)(&of_title),
            |t| t.admin.remove_node_text,
            move || effect_of_removal(of_effect.clone()),
            move || remove_node(of_act.clone()),
        );
    };
    view! {
        <SendForm to=remove>
            <input type="hidden" name="name" value=name.to_string()/>
            <button class="button button--small" type="submit" on:click=ask>
                {tr(|t| t.common.remove)}
            </button>
        </SendForm>
    }
    .into_any()
}
