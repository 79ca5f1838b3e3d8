use api::cluster::NodeView;
use leptos::prelude::*;

use crate::address;
use crate::i18n::{text, tr};
use crate::live::Live;
use crate::parts::condition_chip::ConditionChip;
use crate::parts::confirm::{Confirm, Opener};
use crate::parts::drain::Drain;
use crate::parts::field::Field;
use crate::parts::form_errors::FormAnswer;
use crate::parts::loaded::Loaded;
use crate::parts::table::DataTable;
use crate::server_fns::nodes::{RemoveNode, SaveNode, list_nodes};

/// All nodes, and a form that adds one or changes the one of its name.
#[component]
pub(crate) fn Nodes() -> impl IntoView {
    let save = ServerAction::<SaveNode>::new();
    let remove = ServerAction::<RemoveNode>::new();
    let changes = Live::get().nodes();
    let nodes = Resource::new(
        move || (save.version().get(), remove.version().get(), changes.get()),
        |_| list_nodes(),
    );
    view! {
        <div class="stack">
            <FormAnswer answer=remove.value() done=text(|t| t.common.saved)/>
            <Loaded resource=nodes content=move |nodes| view! { <Table nodes=nodes remove=remove/> }/>
            <SaveForm save=save/>
        </div>
    }
    .into_any()
}

#[component]
fn Table(nodes: Vec<NodeView>, remove: ServerAction<RemoveNode>) -> impl IntoView {
    let rows = nodes.into_iter().map(|node| view! { <Row node=node remove=remove/> });
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
fn Row(node: NodeView, remove: ServerAction<RemoveNode>) -> impl IntoView {
    let name = node.name.to_string();
    view! {
        <tr>
            <th scope="row"><a href=address::node(&node.name)>{name.clone()}</a></th>
            <td><ConditionChip condition=node.condition/></td>
            <td class="wide"><code>{node.endpoint.clone()}</code></td>
            <td>
                <div class="buttons">
                    <Drain node=node.clone()/>
                    <Remove name=name remove=remove/>
                </div>
            </td>
        </tr>
    }
    .into_any()
}

#[component]
fn Remove(name: String, remove: ServerAction<RemoveNode>) -> impl IntoView {
    let opener = Opener::new();
    let (of_title, of_button) = (name.clone(), name.clone());
    view! {
        <button type="button" class="button button--small" on:click=move |_| opener.open()>
            {tr(|t| t.common.remove)}
        </button>
        <Confirm
            opener=opener
            title=text(move |t| (t.admin.remove_node)(&of_title))
            text=text(|t| t.admin.remove_node_text)
        >
            <ActionForm action=remove on:submit=move |_| opener.close()>
                <input type="hidden" name="name" value=name/>
                <button class="button button--danger" type="submit">
                    {tr(move |t| (t.admin.remove_node)(&of_button))}
                </button>
            </ActionForm>
        </Confirm>
    }
    .into_any()
}

#[component]
fn SaveForm(save: ServerAction<SaveNode>) -> impl IntoView {
    view! {
        <section class="card" aria-labelledby="add-node">
            <h2 id="add-node" class="card__head">{tr(|t| t.admin.add_node)}</h2>
            <ActionForm action=save attr:class="form">
                <Where/>
                <Has/>
                <FormAnswer answer=save.value() done=text(|t| t.admin.node_saved)/>
                <div class="buttons">
                    <button class="button button--primary" type="submit">{tr(|t| t.common.save)}</button>
                </div>
            </ActionForm>
        </section>
    }
    .into_any()
}

/// Name and addresses.
#[component]
fn Where() -> impl IntoView {
    view! {
        <div class="form__row">
            <Field name="node[name]" label=text(|t| t.admin.name) required=true/>
            <Field
                name="node[address]"
                label=text(|t| t.cluster.address)
                hint=text(|t| t.admin.node_address_hint)
                required=true
            />
        </div>
        <Field
            name="node[endpoint]"
            label=text(|t| t.cluster.endpoint)
            hint=text(|t| t.admin.node_endpoint_hint)
            required=true
        />
    }
    .into_any()
}

/// What it has; what is left empty is asked of its engine.
#[component]
fn Has() -> impl IntoView {
    view! {
        <p class="hint">{tr(|t| t.admin.asked_hint)}</p>
        <div class="form__row">
            <Field name="node[cpus]" kind="number" label=text(|t| t.admin.cpus)/>
            <Field name="node[memory_mb]" kind="number" label=text(|t| t.admin.memory_mb)/>
            <Field name="node[disk_gb]" kind="number" label=text(|t| t.admin.disk_gb)/>
        </div>
        <div class="form__row">
            <Field name="node[gpus]" label=text(|t| t.cluster.gpus) hint=text(|t| t.admin.gpus_hint)/>
            <div class="field">
                <label class="field__label" for="gpu-runtime">{tr(|t| t.admin.runtime)}</label>
                <select class="select" id="gpu-runtime" name="node[gpu_runtime]">
                    <option value="nvidia">{tr(|t| t.admin.runtime_nvidia)}</option>
                    <option value="none">{tr(|t| t.admin.runtime_none)}</option>
                </select>
            </div>
        </div>
        <div class="form__row">
            <Field name="node[ports]" label=text(|t| t.cluster.ports) hint=text(|t| t.admin.ports_hint)/>
            <Field name="node[labels]" label=text(|t| t.cluster.labels) hint=text(|t| t.admin.labels_hint)/>
        </div>
        <Field name="node[links]" label=text(|t| t.admin.links) hint=text(|t| t.admin.links_hint)/>
        <label class="check">
            <input type="checkbox" name="node[shares_gpus]" value="true"/>
            {tr(|t| t.admin.shares_gpus)}
        </label>
    }
    .into_any()
}
