use leptos::ev::MouseEvent;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use protocol::cluster::GpuRuntime;
use protocol::ids::NodeName;

use crate::forms::NodeForm;
use crate::i18n::{text, told, tr};
use crate::parts::ask::Asker;
use crate::parts::choice_field::{ChoiceField, Choices};
use crate::parts::field::Field;
use crate::parts::form_errors::FormAnswer;
use crate::parts::loaded::Loaded;
use crate::parts::send_form::SendForm;
use crate::parts::unsaved::Unsaved;
use crate::reading::reading;
use crate::sending::Sending;
use crate::server_fns::nodes::{SaveNode, form_of_node};
use crate::server_fns::queue::EffectOfNode;

/// Which networks its tasks may have.
const NETWORKS: Choices = &[
    ("", |t| t.admin.network_usual),
    ("host", |t| t.admin.network_host),
    ("bridge", |t| t.admin.network_bridge),
];

/// How its tasks may get GPUs.
const RUNTIMES: Choices = &[
    ("nvidia", |t| t.admin.runtime_nvidia),
    ("cdi", |t| t.admin.runtime_cdi),
    ("amd", |_| "AMD"),
    ("ascend", |t| t.admin.runtime_ascend),
    ("none", |t| t.admin.runtime_none),
];

/// The word of one of them.
fn runtime_word(runtime: GpuRuntime) -> &'static str {
    match runtime {
        GpuRuntime::Nvidia => "nvidia",
        GpuRuntime::Cdi => "cdi",
        GpuRuntime::Amd => "amd",
        GpuRuntime::Ascend => "ascend",
        GpuRuntime::None => "none",
    }
}

/// Adds a node, or changes the one that the address names.
#[component]
pub(crate) fn EditNode() -> impl IntoView {
    let save = Sending::to::<SaveNode>();
    let query = use_query_map();
    let edited = Memo::new(move |_| query.read().get("edit").and_then(|name| name.parse().ok()));
    let known = reading(
        move || edited.get(),
        async |edited: Option<NodeName>| match edited {
            Some(name) => form_of_node(name).await.map(Some),
            None => Ok(None),
        },
    );
    view! { <Loaded resource=known content=move |known| view! { <Fields save=save known=known/> }/> }
}

#[component]
fn Fields(save: Sending, known: Option<NodeForm>) -> impl IntoView {
    let name = known.as_ref().map(|known| known.name.clone());
    let kept = ["node:", name.as_deref().unwrap_or_default()].concat();
    let form = known.unwrap_or_default();
    // Saved after a question, which is no action.
    let saved = RwSignal::new(0_u32);
    let title = told(move |t| match &name {
        Some(name) => (t.admin.edit_node)(name),
        None => t.admin.add_node.to_owned(),
    });
    let asker = Asker::get();
    let ask = move |event: MouseEvent| {
        asker.ask_to_save::<EffectOfNode, SaveNode>(&event, "node[name]", saved);
    };
    view! {
        <section class="card" aria-labelledby="add-node">
            <h2 id="add-node" class="card__head">{title}</h2>
            <SendForm to=save attr:class="form">
                <Unsaved form=kept sent=saved/>
                <Where form=form.clone()/>
                <Has form=form/>
                <FormAnswer answer=save.value() done=text(|t| t.admin.node_saved)/>
                <div class="buttons">
                    <button class="button button--primary" type="submit" on:click=ask>
                        {tr(|t| t.common.save)}
                    </button>
                </div>
            </SendForm>
        </section>
    }
    .into_any()
}

/// Name and addresses.
#[component]
fn Where(form: NodeForm) -> impl IntoView {
    let NodeForm { name, address, endpoint, network, .. } = form;
    let is_known = !name.is_empty();
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
        <ChoiceField
            name="node[network]"
            label=text(|t| t.admin.network)
            hint=text(|t| t.admin.network_hint)
            choices=NETWORKS
            value=network
        />
    }
    .into_any()
}

/// What it has; what is left empty is asked of its engine.
#[component]
fn Has(form: NodeForm) -> impl IntoView {
    let NodeForm { cpus, memory_mb, disk_gb, gpus, ports, labels, links, metrics, .. } = form;
    let shares_gpus = form.shares_gpus;
    let runtime = runtime_word(form.gpu_runtime.unwrap_or_default());
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
            <ChoiceField
                name="node[gpu_runtime]"
                label=text(|t| t.admin.runtime)
                choices=RUNTIMES
                value=runtime
            />
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
        <Field
            name="node[metrics]"
            label=text(|t| t.admin.exporter)
            hint=text(|t| t.admin.exporter_hint)
            value=metrics
        />
        <label class="check">
            <input type="checkbox" name="node[shares_gpus]" value="true" checked=shares_gpus/>
            {tr(|t| t.admin.shares_gpus)}
        </label>
    }
    .into_any()
}
