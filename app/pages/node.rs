mod ailments;
mod closed;
mod found;
mod now;
mod over_time;
mod past;

use api::cluster::NodeView;
use api::node_map::{Colour, MapGpu, holders};
use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use protocol::ids::NodeName;

use crate::address;
use crate::i18n::{said, text, text_of, told, tr};
use crate::live::Live;
use crate::number;
use crate::pages::node::ailments::Ailments;
use crate::pages::node::closed::ClosedNotice;
use crate::pages::node::found::Found;
use crate::pages::node::now::Now;
use crate::pages::node::over_time::OverTime;
use crate::pages::node::past::Past;
use crate::pages::not_found::{Existing, NotFoundPage, NothingHere};
use crate::parts::clock::Clock;
use crate::parts::condition_chip::ConditionChip;
use crate::parts::drain::Drain;
use crate::parts::empty_state::EmptyState;
use crate::parts::gpu_cells::{GpuCells, Palette};
use crate::parts::loaded::Loaded;
use crate::parts::meter::Meter;
use crate::parts::page_header::PageHeader;
use crate::parts::quarantine::Quarantine;
use crate::parts::relative_time::RelativeTime;
use crate::parts::table::DataTable;
use crate::reading::reading_first;
use crate::server_fns::nodes::get_node;
use crate::session::Session;

/// It is asked so often when a node was last seen, in milliseconds.
const LOOK_AGAIN: i64 = 30_000;

/// One node: what it has, who holds it, the tasks on it.
#[component]
pub(crate) fn NodePage() -> impl IntoView {
    let params = use_params_map();
    let name = Memo::new(move |_| params.read().get("name")?.parse::<NodeName>().ok());
    move || match name.get() {
        Some(name) => view! { <Node name=name/> }.into_any(),
        None => view! { <NotFoundPage/> }.into_any(),
    }
}

#[component]
fn Node(name: NodeName) -> impl IntoView {
    let live = Live::get();
    let (nodes, cluster) = (live.nodes(), live.cluster());
    let (title, of_missing) = (name.to_string(), name.to_string());
    let (there, measured) = (name.clone(), name.clone());
    let quarantine = Session::get().is_admin().then(|| view! { <Quarantine node=there/> });
    // That a node is still there is told to nobody: whoever looks at one asks for it.
    let clock = Clock::get();
    let again = Memo::new(move |_| clock.now().0 / LOOK_AGAIN);
    let node = reading_first(
        move || (nodes.get(), cluster.get(), again.get()),
        move |_| get_node(name.clone()),
    );
    let nothing = move || {
        let name = of_missing.clone();
        view! {
            <NothingHere
                title=text_of(move |t| (t.cluster.node_missing)(&name))
                hint=text(|t| t.common.not_found_hint)
            >
                <a class="button button--primary" href="/nodes">{tr(|t| t.cluster.all_nodes)}</a>
            </NothingHere>
        }
    };
    view! {
        <Existing found=node nothing=nothing>
            <p class="hint"><a href="/nodes">{tr(|t| t.cluster.all_nodes)}</a></p>
            <PageHeader title=title/>
            <div class="stack">
                <Loaded resource=node content=|node| view! { <Detail node=node/> }/>
                <OverTime node=measured/>
                {quarantine}
            </div>
        </Existing>
    }
    .into_any()
}

/// With a capital letter, as what stands alone begins.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    first + letters.as_str()
}

#[component]
fn Detail(node: NodeView) -> impl IntoView {
    let drain = Session::get().is_admin().then(|| {
        view! {
            <Drain name=node.name.clone() condition=node.condition emptied=node.emptied/>
        }
    });
    let found = node.gpu_report.clone().map(|report| {
        view! { <Found node=node.clone() report=report/> }
    });
    let problem = node.problem.clone().map(|words| {
        let words = told(move |t| sentence(&(t.said)(&words)));
        view! { <p class="notice" role="alert">{words}</p> }
    });
    let closed = node.closed.clone().map(|closed| view! { <ClosedNotice closed=closed/> });
    let ailments = (!node.health.ailments.is_empty()).then(|| {
        view! { <Ailments name=node.name.clone() ailments=node.health.ailments.clone()/> }
    });
    let past = (!node.health.history.is_empty())
        .then(|| view! { <Past episodes=node.health.history.clone()/> });
    view! {
        <div class="stack">
            <div class="buttons"><ConditionChip condition=node.condition/> {drain}</div>
            {problem}
            {closed}
            {ailments}
            <Facts node=node.clone()/>
            <Now gpus=node.gpus.clone()/>
            {found}
            <section class="card card--flush" aria-labelledby="tasks">
                <h2 id="tasks" class="card__title">{tr(|t| t.cluster.tasks)}</h2>
                <Tasks node=node/>
            </section>
            {past}
        </div>
    }
    .into_any()
}

#[component]
fn Facts(node: NodeView) -> impl IntoView {
    let seen = match node.last_seen {
        Some(at) => view! { <RelativeTime at=at/> }.into_any(),
        None => tr(|t| t.cluster.never_seen).into_any(),
    };
    // Only administrators are told.
    let endpoint = (!node.endpoint.is_empty()).then(|| {
        view! {
            <dt>{tr(|t| t.cluster.endpoint)}</dt>
            <dd><code>{node.endpoint.clone()}</code></dd>
        }
    });
    let labels = node.labels.iter().map(|(key, value)| {
        view! { <span class="badge">{format!("{key}={value}")}</span> }
    });
    let labels = labels.collect_view();
    let cpus = u64::from(node.capacity.cpus);
    let gpus: Vec<MapGpu> = node.gpus.iter().map(MapGpu::from).collect();
    let palette = Palette::new(Colour::Job, &holders(gpus.iter(), Colour::Job));
    let shares =
        node.shares_gpus.then(|| view! { <p class="hint">{tr(|t| t.cluster.shares_gpus)}</p> });
    let of_tasks = node.tasks_address.map(|address| {
        view! {
            <dt>{tr(|t| t.cluster.tasks_address)}</dt>
            <dd><code>{address.to_string()}</code></dd>
        }
    });
    let architecture = node.capacity.architecture.clone().map(|architecture| {
        view! {
            <dt>{tr(|t| t.cluster.architecture)}</dt>
            <dd>{architecture.to_string()}</dd>
        }
    });
    view! {
        <section class="card">
            <dl class="facts">
                <dt>{tr(|t| t.cluster.gpus)}</dt>
                <dd>
                    <GpuCells node=node.name gpus=gpus condition=node.condition palette=palette/>
                    {shares}
                </dd>
                <dt>{tr(|t| t.common.cpu)}</dt>
                <dd><Meter used=node.used.cpus total=cpus label="CPU"/></dd>
                <dt>{tr(|t| t.common.memory)}</dt>
                <dd>
                    <Meter
                        used=node.used.memory_mb
                        total=node.capacity.memory_mb
                        amount=number::memory
                        label=text(|t| t.common.memory)
                    />
                </dd>
                <dt>{tr(|t| t.cluster.address)}</dt>
                <dd><code>{node.address}</code></dd>
                {endpoint}
                {of_tasks}
                {architecture}
                <Engine words=node.engine/>
                <dt>{tr(|t| t.cluster.ports)}</dt>
                <dd>{format!("{}–{}", node.ports.first, node.ports.last)}</dd>
                <dt>{tr(|t| t.cluster.last_seen)}</dt>
                <dd>{seen}</dd>
                <dt>{tr(|t| t.cluster.labels)}</dt>
                <dd class="buttons">{labels}</dd>
            </dl>
        </section>
    }
    .into_any()
}

/// What runs its containers; one that has never answered has not said what it is.
#[component]
fn Engine(words: Option<String>) -> impl IntoView {
    words.map(|words| {
        view! {
            <dt>{tr(|t| t.cluster.engine)}</dt>
            <dd>{said(words)}</dd>
        }
    })
}

#[component]
fn Tasks(node: NodeView) -> impl IntoView {
    if node.tasks.is_empty() {
        return view! { <EmptyState title=text(|t| t.cluster.no_tasks) hint=text(|_| "")/> }
            .into_any();
    }
    let rows = node.tasks.into_iter().map(|task| {
        let gpus = number::held_gpus(&task.gpus, task.gpu_part);
        view! {
            <tr>
                <th scope="row">
                    <a class="table__name" href=address::job(&task.job)>{task.job.to_string()}</a>
                </th>
                <td>{task.task}</td>
                <td>{gpus}</td>
            </tr>
        }
    });
    let rows = rows.collect_view();
    view! {
        <DataTable
            label=|t| t.cluster.tasks
            heads=&[
                (|t| t.jobs.name, None),
                (|t| t.job.task, None),
                (|t| t.cluster.gpus, None),
            ]
        >
            {rows}
        </DataTable>
    }
    .into_any()
}
