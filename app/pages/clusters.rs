use std::collections::{BTreeMap, BTreeSet};

use api::cluster::{FreeGpus, GroupUse, Usage, UserUse, VirtualClusterView};
use leptos::prelude::*;
use protocol::amount::Amount;
use protocol::ids::GpuType;

use crate::address::encode;
use crate::i18n::{Reader, text, told, tr};
use crate::live::Live;
use crate::number::{self, places_text, shapes_text};
use crate::parts::empty_state::EmptyState;
use crate::parts::free_now::FreeNow;
use crate::parts::gpu_meter::GpuMeter;
use crate::parts::loaded::Loaded;
use crate::parts::meter::Meter;
use crate::parts::page_header::PageHeader;
use crate::parts::table::DataTable;
use crate::reading::reading;
use crate::server_fns::virtual_clusters::list_clusters;

/// The virtual clusters: their shares, what is used, who runs and who waits.
#[component]
pub(crate) fn ClustersPage() -> impl IntoView {
    let changes = Live::get().cluster();
    let clusters = reading(move || changes.get(), |_| list_clusters());
    view! {
        <PageHeader title=text(|t| t.cluster.clusters_title)/>
        <Loaded
            resource=clusters
            lines=8
            content=|clusters| {
                if clusters.is_empty() {
                    view! { <EmptyState title=text(|t| t.cluster.clusters_none) hint=text(|_| "")/> }
                        .into_any()
                } else {
                    let cards = families(clusters)
                        .into_iter()
                        .map(|(whole, parts)| view! { <Cluster cluster=whole parts=parts/> });
                    view! { <div class="cards">{cards.collect_view()}</div> }.into_any()
                }
            }
        />
    }
    .into_any()
}

/// Each virtual cluster that is part of none, with its parts and theirs.
fn families(
    clusters: Vec<VirtualClusterView>,
) -> Vec<(VirtualClusterView, Vec<VirtualClusterView>)> {
    let (parts, wholes): (Vec<_>, Vec<_>) =
        clusters.into_iter().partition(|cluster| cluster.settings.parent.is_some());
    let of = |whole: VirtualClusterView| {
        let parts = parts_of(&whole, &parts);
        (whole, parts)
    };
    wholes.into_iter().map(of).collect()
}

/// The parts of a virtual cluster, each followed by its own.
fn parts_of(whole: &VirtualClusterView, parts: &[VirtualClusterView]) -> Vec<VirtualClusterView> {
    let own =
        |part: &&VirtualClusterView| part.settings.parent.as_ref() == Some(&whole.settings.name);
    let mut found = Vec::new();
    for part in parts.iter().filter(own) {
        found.push(part.clone());
        found.extend(parts_of(part, parts));
    }
    found
}

#[component]
fn Cluster(cluster: VirtualClusterView, parts: Vec<VirtualClusterView>) -> impl IntoView {
    let name = cluster.settings.name.to_string();
    let (usable, stopped) = (cluster.usable, cluster.stopped);
    let part = |part: VirtualClusterView| {
        let name = part.settings.name.to_string();
        let (usable, stopped) = (part.usable, part.stopped);
        view! {
            <section class="cluster__part">
                <div class="card__head">
                    <h3>{name}</h3>
                    <Usable usable=usable stopped=stopped/>
                </div>
                <Facts cluster=part/>
            </section>
        }
    };
    let parts = parts.into_iter().map(part).collect_view();
    view! {
        <section class="card">
            <div class="card__head">
                <h2>{name}</h2>
                <Usable usable=usable stopped=stopped/>
            </div>
            <Facts cluster=cluster/>
            {parts}
        </section>
    }
    .into_any()
}

#[component]
fn Usable(usable: bool, stopped: bool) -> impl IntoView {
    view! {
        <span class="badge">
            {told(move |t| match (stopped, usable) {
                (true, _) => t.accounts.cluster_stopped,
                (false, true) => t.cluster.usable,
                (false, false) => t.cluster.not_usable,
            })}
        </span>
    }
}

/// What is guaranteed, what is used, and the jobs.
#[component]
fn Facts(cluster: VirtualClusterView) -> impl IntoView {
    let reader = Reader::get();
    let name = cluster.settings.name.to_string();
    let guaranteed = is_guaranteed(&cluster);
    let (parent, borrows) = (cluster.settings.parent.clone(), cluster.settings.borrows);
    let kind = move || {
        let words = &reader.texts().cluster;
        let share = match &parent {
            Some(parent) => (words.part_of)(parent.as_str()),
            None if guaranteed => words.guaranteed.to_owned(),
            None => words.unguaranteed.to_owned(),
        };
        if borrows { share } else { format!("{share} · {}", words.borrows_nothing) }
    };
    let shapes = shapes_text(&cluster.settings.shapes);
    let shapes = (!shapes.is_empty()).then(|| {
        view! { <p class="hint card__head">{told(move |t| (t.cluster.shapes)(&shapes))}</p> }
    });
    let nodes = cluster.settings.nodes.iter().map(ToString::to_string).collect::<Vec<_>>();
    let nodes = (!nodes.is_empty()).then(|| {
        let named = told(move |t| {
            let listed = nodes.join(t.common.comma);
            format!("{}{}{listed}", t.admin.share_nodes, t.common.colon)
        });
        view! { <p class="hint card__head">{named}</p> }
    });
    let places = places_text(&cluster.settings.within);
    let places = (!places.is_empty()).then(|| {
        let named = told(move |t| format!("{}{}{places}", t.admin.share_places, t.common.colon));
        view! { <p class="hint card__head">{named}</p> }
    });
    let jobs =
        |state: &str| format!("/jobs?q={}&all=1", encode(&format!("vc:{name} state:{state}")));
    let (running, waiting) = (cluster.running_jobs, cluster.waiting_jobs);
    view! {
        <p class="hint card__head">{move || kind()}</p>
        {shapes}
        {nodes}
        {places}
        <Amounts cluster=cluster.clone()/>
        <Groups cluster=cluster.settings.name.to_string() groups=cluster.groups/>
        <Users cluster=cluster.settings.name.to_string() users=cluster.users weights=cluster.weights/>
        <p class="buttons cluster__jobs">
            <a href=jobs("running")>{told(move |t| (t.cluster.running)(running))}</a>
            <a href=jobs("waiting")>{told(move |t| (t.cluster.waiting)(waiting))}</a>
        </p>
    }
    .into_any()
}

/// What the groups that share it have had of it for their shares, by which their members go first or later.
#[component]
fn Groups(cluster: String, groups: Vec<GroupUse>) -> impl IntoView {
    if groups.is_empty() {
        return ().into_any();
    }
    let rows = groups.into_iter().map(|of| {
        let GroupUse { group, mean, percent, share } = of;
        view! {
            <tr>
                <th scope="row"><span class="table__name">{group.to_string()}</span></th>
                <td class="num">{number::hundredths(mean)}</td>
                <td class="num">{told(move |t| (t.queue.percent)(percent))}</td>
                <td class="num">{told(move |t| (t.queue.percent)(share))}</td>
            </tr>
        }
    });
    let rows = rows.collect_view();
    view! {
        <DataTable
            label=|t| t.queue.uses_of_groups
            of=cluster
            kind="table--plain table--narrow"
            heads=&[
                (|t| t.queue.group, None),
                (|t| t.queue.mean_gpus, Some("num")),
                (|t| t.queue.part_of_use, Some("num")),
                (|t| t.queue.group_share, Some("num")),
            ]
        >
            {rows}
        </DataTable>
        <p class="hint">{tr(|t| t.queue.uses_of_groups_text)}</p>
    }
    .into_any()
}

/// What users have had of it, by which they go first or later.
#[component]
fn Users(
    cluster: String,
    users: Vec<UserUse>,
    weights: BTreeMap<GpuType, Amount>,
) -> impl IntoView {
    if users.is_empty() {
        return ().into_any();
    }
    let rows = users.into_iter().map(|of| {
        let UserUse { user, mean, percent } = of;
        view! {
            <tr>
                <th scope="row"><span class="table__name">{user.to_string()}</span></th>
                <td class="num">{number::hundredths(mean)}</td>
                <td class="num">{told(move |t| (t.queue.percent)(percent))}</td>
            </tr>
        }
    });
    let rows = rows.collect_view();
    let weights = (!weights.is_empty()).then(|| {
        let named = told(move |t| {
            format!("{}{}{}", t.queue.weights, t.common.colon, number::weights(&weights))
        });
        view! { <p class="hint">{named}</p> }
    });
    view! {
        <DataTable
            label=|t| t.queue.uses
            of=cluster
            kind="table--plain table--narrow"
            heads=&[
                (|t| t.queue.user, None),
                (|t| t.queue.mean_gpus, Some("num")),
                (|t| t.queue.part_of_use, Some("num")),
            ]
        >
            {rows}
        </DataTable>
        <p class="hint">{tr(|t| t.queue.uses_text)}</p>
        {weights}
    }
    .into_any()
}

/// Whether it has a share of GPUs, and not of all GPUs what nobody else holds.
fn has_gpus_of_its_own(cluster: &VirtualClusterView) -> bool {
    !cluster.settings.share.gpus.is_empty() || !cluster.settings.shapes.is_empty()
}

fn is_guaranteed(cluster: &VirtualClusterView) -> bool {
    let share = &cluster.settings.share;
    share.cpus.is_some() || share.memory_mb.is_some() || has_gpus_of_its_own(cluster)
}

/// A GPU type: used, of how many, how many of those used are borrowed, and what is free now.
#[derive(Debug, PartialEq)]
struct GpuRow {
    kind: GpuType,
    used: Amount,
    total: Amount,
    borrowed: Amount,
    free: Option<FreeGpus>,
}

fn gpu_rows(cluster: &VirtualClusterView) -> Vec<GpuRow> {
    let VirtualClusterView { total, used, borrowed, free, .. } = cluster;
    let kinds = total.gpus.keys().chain(borrowed.gpus.keys()).chain(free.keys());
    let kinds: BTreeSet<&GpuType> = kinds.collect();
    let of = |usage: &Usage, kind: &GpuType| usage.gpus.get(kind).copied().unwrap_or_default();
    let row = |kind: &GpuType| GpuRow {
        kind: kind.clone(),
        used: of(used, kind),
        total: of(total, kind),
        borrowed: of(borrowed, kind),
        free: free.get(kind).copied(),
    };
    kinds.into_iter().map(row).collect()
}

/// Used and total of each resource.
#[component]
fn Amounts(cluster: VirtualClusterView) -> impl IntoView {
    let usable = cluster.usable;
    let bounded = has_gpus_of_its_own(&cluster);
    let gpus = gpu_rows(&cluster).into_iter().map(|row| {
        let GpuRow { kind, used, total, borrowed, free } = row;
        let free = match free {
            Some(free) => view! { <FreeNow free=free/> }.into_any(),
            None if usable => {
                view! { <span class="hint">{tr(|t| t.cluster.free_never)}</span> }.into_any()
            }
            None => ().into_any(),
        };
        // What others hold of all there is, a bar of its own jobs would show as free.
        let used = match bounded {
            true => view! { <GpuMeter kind=kind.clone() used=used total=total/> }.into_any(),
            false => view! { <span class="meter__text">{number::amount(used)}</span> }.into_any(),
        };
        view! {
            <tr data-gpu-type=kind.to_string()>
                <th scope="row">{kind.to_string()}</th>
                <td>{used}</td>
                <td class="num">{number::amount(borrowed)}</td>
                <td>{free}</td>
            </tr>
        }
    });
    let VirtualClusterView { settings, used, total, borrowed, .. } = cluster;
    let borrowed_memory = number::memory(borrowed.memory_mb);
    let gpus = gpus.collect_view();
    view! {
        <DataTable
            label=|t| t.cluster.resource
            of=settings.name.to_string()
            kind="table--plain table--amounts"
            heads=&[
                (|t| t.cluster.resource, None),
                (|t| t.cluster.used, None),
                (|t| t.cluster.borrowed, Some("num")),
                (|t| t.cluster.free, None),
            ]
        >
                {gpus}
                <tr>
                    <th scope="row">{tr(|t| t.common.cpu)}</th>
                    <td><Meter used=used.cpus total=total.cpus label="CPU"/></td>
                    <td class="num">{number::count(borrowed.cpus)}</td>
                    <td></td>
                </tr>
                <tr>
                    <th scope="row">{tr(|t| t.common.memory)}</th>
                    <td>
                        <Meter
                            used=used.memory_mb
                            total=total.memory_mb
                            amount=number::memory
                            label=text(|t| t.common.memory)
                        />
                    </td>
                    <td class="num">{borrowed_memory}</td>
                    <td></td>
                </tr>
        </DataTable>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use protocol::cluster::VirtualClusterSettings;

    use super::*;

    fn view(name: &str, parent: Option<&str>) -> VirtualClusterView {
        let settings = VirtualClusterSettings {
            parent: parent.map(|parent| parent.parse().unwrap()),
            ..VirtualClusterSettings::new(name.parse().unwrap())
        };
        let of = |kind: &str, count: u64| {
            let gpus = [(kind.parse().unwrap(), count.into())].into();
            Usage { gpus, ..Usage::default() }
        };
        VirtualClusterView {
            settings,
            usable: true,
            stopped: false,
            used: of("V100", 3),
            borrowed: of("V100", 2),
            total: of("A100", 8),
            free: BTreeMap::new(),
            users: Vec::new(),
            groups: Vec::new(),
            weights: BTreeMap::new(),
            running_jobs: 0,
            waiting_jobs: 0,
        }
    }

    #[test]
    fn parts_are_under_their_whole() {
        let parts = [view("a", Some("lab")), view("b", Some("lab")), view("c", Some("a"))];
        let all = [parts.to_vec(), vec![view("default", None), view("lab", None)]].concat();
        let found = families(all).into_iter().map(|(whole, parts)| {
            let parts: Vec<_> = parts.iter().map(|part| part.settings.name.to_string()).collect();
            (whole.settings.name.to_string(), parts)
        });
        let parts = ["a", "c", "b"].map(str::to_owned).to_vec();
        let expected = [("default".to_owned(), vec![]), ("lab".to_owned(), parts)];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn borrowed_types_beyond_the_share_have_a_row() {
        let rows = gpu_rows(&view("a", None));
        let (a100, v100) = ("A100".parse().unwrap(), "V100".parse().unwrap());
        let of = Amount::whole;
        let row = |kind, used: u64, total: u64, borrowed: u64| {
            let (used, total, borrowed) = (of(used), of(total), of(borrowed));
            GpuRow { kind, used, total, borrowed, free: None }
        };
        assert_eq!(rows, [row(a100, 0, 8, 0), row(v100, 3, 0, 2)]);
    }
}
