use api::cluster::NodeView;
use leptos::ev::MouseEvent;
use leptos::prelude::*;
use protocol::ids::NodeName;

use super::node_form::EditNode;
use crate::address::{self, encode};
use crate::i18n::{text, tr};
use crate::live::Live;
use crate::parts::ask::Asker;
use crate::parts::condition_chip::ConditionChip;
use crate::parts::drain::Drain;
use crate::parts::form_errors::FormAnswer;
use crate::parts::loaded::Loaded;
use crate::parts::row_search::{RowSearch, TableBar};
use crate::parts::table::DataTable;
use crate::server_fns::nodes::{RemoveNode, list_nodes, remove_node};
use crate::server_fns::queue::effect_of_removal;

/// All nodes, and a form that adds one or changes the one that the address names.
#[component]
pub(crate) fn Nodes() -> impl IntoView {
    let remove = ServerAction::<RemoveNode>::new();
    let changes = Live::get().nodes();
    let nodes = Resource::new(move || (remove.version().get(), changes.get()), |_| list_nodes());
    let search = RowSearch::new();
    view! {
        <div class="stack">
            <TableBar search=search add=|t| t.admin.add_node href="#add-node"/>
            <FormAnswer answer=remove.value() done=text(|t| t.common.saved)/>
            <Loaded
                resource=nodes
                content=move |nodes| view! { <Table nodes=nodes remove=remove search=search/> }
            />
            <EditNode/>
        </div>
    }
    .into_any()
}

#[component]
fn Table(
    nodes: Vec<NodeView>,
    remove: ServerAction<RemoveNode>,
    search: RowSearch,
) -> impl IntoView {
    let rows = nodes.into_iter().map(|node| view! { <Row node=node remove=remove search=search/> });
    let rows = rows.collect_view();
    view! {
        <DataTable
            label=|t| t.admin.nodes
            heads=&[
                (|t| t.admin.name, None),
                (|t| t.cluster.condition, None),
                (|t| t.cluster.endpoint, Some("wide")),
                (|t| t.admin.actions, None),
            ]
        >
            {rows}
        </DataTable>
    }
    .into_any()
}

#[component]
fn Row(node: NodeView, remove: ServerAction<RemoveNode>, search: RowSearch) -> impl IntoView {
    let name = node.name.to_string();
    let edit = format!("/admin/nodes?edit={}", encode(&name));
    let exposed = node.at_portal.then(|| {
        view! { <p class="notice" role="alert">{tr(|t| t.admin.at_portal)}</p> }
    });
    let hidden = search.hides(format!("{name} {}", node.endpoint));
    view! {
        <tr hidden=hidden>
            <th scope="row">
                <a class="table__name" href=address::node(&node.name)>{name}</a>
                {exposed}
            </th>
            <td><ConditionChip condition=node.condition/></td>
            <td class="wide"><code>{node.endpoint.clone()}</code></td>
            <td>
                <div class="buttons">
                    <a class="button button--small" href=edit>{tr(|t| t.common.edit)}</a>
                    <Drain node=node.clone()/>
                    <Remove name=node.name remove=remove/>
                </div>
            </td>
        </tr>
    }
    .into_any()
}

/// Asks first, and says what it does. Without JavaScript it does it at once.
#[component]
fn Remove(name: NodeName, remove: ServerAction<RemoveNode>) -> impl IntoView {
    let asker = Asker::get();
    let asked = name.clone();
    let ask = move |event: MouseEvent| {
        event.prevent_default();
        let (of_title, of_effect, of_act) = (asked.to_string(), asked.clone(), asked.clone());
        asker.ask(
            move |t| (t.admin.remove_node)(&of_title),
            |t| t.admin.remove_node_text,
            move || effect_of_removal(of_effect.clone()),
            move || remove_node(of_act.clone()),
        );
    };
    view! {
        <ActionForm action=remove>
            <input type="hidden" name="name" value=name.to_string()/>
            <button class="button button--small" type="submit" on:click=ask>
                {tr(|t| t.common.remove)}
            </button>
        </ActionForm>
    }
    .into_any()
}
