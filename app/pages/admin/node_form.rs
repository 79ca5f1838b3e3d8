use leptos::ev::MouseEvent;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use protocol::cluster::{GpuRuntime, NodeNetwork, NodeSettings};
use protocol::ids::NodeName;

use crate::i18n::{text, told, tr};
use crate::number::gpus_text;
use crate::parts::ask::{Asker, sent};
use crate::parts::field::Field;
use crate::parts::form_errors::FormAnswer;
use crate::parts::loaded::Loaded;
use crate::reading::reading;
use crate::server_fns::nodes::{SaveNode, save_node, settings_of_node};
use crate::server_fns::queue::effect_of_node;

/// Adds a node, or changes the one that the address names.
#[component]
pub(crate) fn EditNode() -> impl IntoView {
    let save = ServerAction::<SaveNode>::new();
    let query = use_query_map();
    let edited = Memo::new(move |_| query.read().get("edit").and_then(|name| name.parse().ok()));
    let known = reading(
        move || edited.get(),
        async |edited: Option<NodeName>| match edited {
            Some(name) => settings_of_node(name).await.map(Some),
            None => Ok(None),
        },
    );
    view! { <Loaded resource=known content=move |known| view! { <Fields save=save known=known/> }/> }
}

#[component]
fn Fields(save: ServerAction<SaveNode>, known: Option<NodeSettings>) -> impl IntoView {
    let name = known.as_ref().map(|known| known.name.to_string());
    let title = told(move |t| match &name {
        Some(name) => (t.admin.edit_node)(name),
        None => t.admin.add_node.to_owned(),
    });
    let asker = Asker::get();
    let ask = move |event: MouseEvent| {
        let Some(SaveNode { node }) = sent(&event) else { return };
        let (name, of_effect) = (node.name.clone(), node.clone());
        asker.ask(
            move |t| (t.queue.save_named)(&name),
            |t| t.admin.asked_hint,
            move || effect_of_node(of_effect.clone()),
            move || save_node(node.clone()),
        );
    };
    view! {
        <section class="card" aria-labelledby="add-node">
            <h2 id="add-node" class="card__head">{title}</h2>
            <ActionForm action=save attr:class="form">
                <Where known=known.clone()/>
                <Has known=known/>
                <FormAnswer answer=save.value() done=text(|t| t.admin.node_saved)/>
                <div class="buttons">
                    <button class="button button--primary" type="submit" on:click=ask>
                        {tr(|t| t.common.save)}
                    </button>
                </div>
            </ActionForm>
        </section>
    }
    .into_any()
}

/// Name and addresses.
#[component]
fn Where(known: Option<NodeSettings>) -> impl IntoView {
    let is_known = known.is_some();
    let network = known.as_ref().and_then(|known| known.network);
    let (name, address, endpoint) = known.map_or_else(Default::default, |known| {
        (known.name.to_string(), known.address, known.endpoint)
    });
    view! {
        <div class="form__row">
            <Field name="node[name]" label=text(|t| t.admin.name) value=name required=true fixed=is_known/>
            <Field
                name="node[address]"
                label=text(|t| t.cluster.address)
                hint=text(|t| t.admin.node_address_hint)
                value=address
                required=true
            />
        </div>
        <Field
            name="node[endpoint]"
            label=text(|t| t.cluster.endpoint)
            hint=text(|t| t.admin.node_endpoint_hint)
            value=endpoint
            required=true
        />
        <NetworkField network=network/>
    }
    .into_any()
}

/// Which network its tasks have.
#[component]
fn NetworkField(network: Option<NodeNetwork>) -> impl IntoView {
    let is = move |one| network == Some(one);
    view! {
        <div class="field">
            <label class="field__label" for="network">{tr(|t| t.admin.network)}</label>
            <select class="select" id="network" name="node[network]" aria-describedby="network-hint">
                <option value="">{tr(|t| t.admin.network_usual)}</option>
                <option value="host" selected=is(NodeNetwork::Host)>
                    {tr(|t| t.admin.network_host)}
                </option>
                <option value="bridge" selected=is(NodeNetwork::Bridge)>
                    {tr(|t| t.admin.network_bridge)}
                </option>
            </select>
            <p id="network-hint" class="hint">{tr(|t| t.admin.network_hint)}</p>
        </div>
    }
    .into_any()
}

/// What it has; what is left empty is asked of its engine.
#[component]
fn Has(known: Option<NodeSettings>) -> impl IntoView {
    let texts = known.map(|known| Texts::of(&known)).unwrap_or_default();
    let Texts { cpus, memory_mb, disk_gb, gpus, no_devices, ports, labels, links, shares_gpus } =
        texts;
    view! {
        <p class="hint">{tr(|t| t.admin.asked_hint)}</p>
        <div class="form__row">
            <Field name="node[cpus]" kind="number" label=text(|t| t.admin.cpus) value=cpus/>
            <Field name="node[memory_mb]" kind="number" label=text(|t| t.admin.memory_mb) value=memory_mb/>
            <Field name="node[disk_gb]" kind="number" label=text(|t| t.admin.disk_gb) value=disk_gb/>
        </div>
        <div class="form__row">
            <Field
                name="node[gpus]"
                label=text(|t| t.cluster.gpus)
                hint=text(|t| t.admin.gpus_hint)
                value=gpus
            />
            <div class="field">
                <label class="field__label" for="gpu-runtime">{tr(|t| t.admin.runtime)}</label>
                <select class="select" id="gpu-runtime" name="node[gpu_runtime]">
                    <option value="nvidia">{tr(|t| t.admin.runtime_nvidia)}</option>
                    <option value="none" selected=no_devices>{tr(|t| t.admin.runtime_none)}</option>
                </select>
            </div>
        </div>
        <div class="form__row">
            <Field
                name="node[ports]"
                label=text(|t| t.cluster.ports)
                hint=text(|t| t.admin.ports_hint)
                value=ports
            />
            <Field
                name="node[labels]"
                label=text(|t| t.cluster.labels)
                hint=text(|t| t.admin.labels_hint)
                value=labels
            />
        </div>
        <Field
            name="node[links]"
            label=text(|t| t.admin.links)
            hint=text(|t| t.admin.links_hint)
            value=links
        />
        <label class="check">
            <input type="checkbox" name="node[shares_gpus]" value="true" checked=shares_gpus/>
            {tr(|t| t.admin.shares_gpus)}
        </label>
    }
    .into_any()
}

/// Settings as the fields show them.
#[derive(Debug, Default)]
struct Texts {
    cpus: String,
    memory_mb: String,
    disk_gb: String,
    gpus: String,
    no_devices: bool,
    ports: String,
    labels: String,
    links: String,
    shares_gpus: bool,
}

impl Texts {
    fn of(known: &NodeSettings) -> Self {
        let number = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
        let gpus = known.gpus.iter().flatten();
        let labels = known.labels.iter().map(|(name, value)| format!("{name}={value}"));
        let indices =
            |link: &Vec<u32>| link.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        Self {
            cpus: number(known.cpus.map(u64::from)),
            memory_mb: number(known.memory_mb),
            disk_gb: number(known.disk_gb),
            gpus: gpus_text(gpus.map(|gpus| (&gpus.gpu_type, u64::from(gpus.count)))),
            no_devices: known.gpu_runtime == GpuRuntime::None,
            ports: format!("{}-{}", known.ports.first, known.ports.last),
            labels: labels.collect::<Vec<_>>().join(", "),
            links: known.links.iter().map(indices).collect::<Vec<_>>().join("; "),
            shares_gpus: known.shares_gpus,
        }
    }
}
