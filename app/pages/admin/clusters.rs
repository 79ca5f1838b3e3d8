use std::time::Duration;

use api::cluster::{Promise, VirtualClusterView};
use leptos::ev::MouseEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::hooks::use_query_map;
use protocol::cluster::VirtualClusterSettings;
use serde::{Deserialize, Serialize};
use server_fn::ServerFn;
use wasm_bindgen::JsCast;
use web_sys::{FormData, HtmlFormElement};

use super::remove::{Removal, Remove, RemoveDialog};
use crate::address::encode;
use crate::failed::Failed;
use crate::forms::preempts_word;
use crate::i18n::{Reader, text, told, tr};
use crate::live::Live;
use crate::number::{gpus_text, group_weights, places_text, shapes_text};
use crate::pages::admin::idle::IdleJobs;
use crate::pages::admin::idle_fields::IdleFields;
use crate::pages::admin::limit_fields::LimitFields;
use crate::parts::ask::Asker;
use crate::parts::choice_field::{ChoiceField, Choices};
use crate::parts::field::Field;
use crate::parts::form_errors::FormAnswer;
use crate::parts::loaded::Loaded;
use crate::parts::row_search::{RowSearch, TableBar};
use crate::parts::send_form::{SendForm, encoded};
use crate::parts::table::DataTable;
use crate::parts::unsaved::Unsaved;
use crate::reading::reading;
use crate::sending::{Sending, post, read};
use crate::server_fns::queue::EffectOfCluster;
use crate::server_fns::virtual_clusters::{
    PromisesAfter, RemoveCluster, SaveCluster, SetStopped, list_clusters, promises,
};

/// Of which classes its jobs may take the places of those of lower ones.
const PREEMPTS: Choices = &[
    ("true", |t| t.admin.preempts_all),
    ("crit", |t| t.admin.preempts_crit),
    ("", |t| t.admin.preempts_none),
];

/// Typing has stopped when nothing was typed for so long.
const PAUSE: Duration = Duration::from_millis(300);

/// All virtual clusters, and a form that adds one or changes the one that the address names.
#[component]
pub(crate) fn Clusters() -> impl IntoView {
    let save = Sending::to::<SaveCluster>();
    let remove = Removal::new(
        Sending::to::<RemoveCluster>(),
        |t| t.admin.remove_cluster,
        |t| t.admin.remove_cluster_text,
    );
    let stop = Sending::to::<SetStopped>();
    // Saved after a question, which is no action.
    let saved = RwSignal::new(0_u32);
    let changes = Live::get().cluster();
    let clusters = reading(
        move || {
            let done = (save.version().get(), remove.to.version().get(), stop.version().get());
            (done, saved.get(), changes.get())
        },
        |_| list_clusters(),
    );
    let search = RowSearch::new();
    view! {
        <div class="stack">
            <TableBar search=search add=|t| t.admin.add_cluster href="#add-cluster"/>
            <RemoveDialog removal=remove/>
            <FormAnswer answer=stop.value() done=text(|t| t.common.saved)/>
            <Loaded
                resource=clusters
                content=move |clusters| {
                    view! { <Table clusters=clusters remove=remove stop=stop search=search/> }
                }
            />
            <Edit save=save saved=saved/>
            <IdleJobs/>
        </div>
    }
    .into_any()
}

/// What the form begins with.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Opened {
    edited: Option<String>,
    clusters: Vec<VirtualClusterView>,
    promises: Vec<Promise>,
}

/// The form. It is filled when it is opened and when it was saved, and not while somebody writes,
/// whatever changes meanwhile.
#[component]
fn Edit(save: Sending, saved: RwSignal<u32>) -> impl IntoView {
    let query = use_query_map();
    let edited = Memo::new(move |_| query.read().get("edit"));
    let known = reading(
        move || (edited.get(), saved.get()),
        async |(edited, _): (Option<String>, u32)| {
            let promises = promises().await?;
            Ok::<_, Failed>(Opened { edited, clusters: list_clusters().await?, promises })
        },
    );
    let content = move |Opened { edited, clusters, promises }| {
        let settings: Vec<_> = clusters.into_iter().map(|cluster| cluster.settings).collect();
        let found = settings.iter().find(|each| Some(each.name.as_str()) == edited.as_deref());
        let parents = parents(&settings, edited.as_deref());
        let edited = found.cloned();
        view! { <SaveForm save=save saved=saved edited=edited parents=parents promises=promises/> }
    };
    view! { <Loaded resource=known content=content/> }
}

/// Of which virtual clusters one may be a part.
fn parents(settings: &[VirtualClusterSettings], edited: Option<&str>) -> Vec<String> {
    let is_edited = |each: &VirtualClusterSettings| Some(each.name.as_str()) == edited;
    let below = |each: &VirtualClusterSettings| {
        protocol::shares::wholes(each, settings).into_iter().any(is_edited)
    };
    let others = settings.iter().filter(|each| !is_edited(each) && !below(each));
    others.map(|each| each.name.to_string()).collect()
}

#[component]
fn Table(
    clusters: Vec<VirtualClusterView>,
    remove: Removal,
    stop: Sending,
    search: RowSearch,
) -> impl IntoView {
    let row = |each: VirtualClusterView| {
        let VirtualClusterView { settings, stopped, .. } = each;
        view! { <Row settings=settings stopped=stopped remove=remove stop=stop search=search/> }
    };
    let rows = clusters.into_iter().map(row);
    let rows = rows.collect_view();
    view! {
        <DataTable
            label=|t| t.admin.clusters
            heads=&[
                (|t| t.admin.name, None),
                (|t| t.admin.share, None),
                (|t| t.admin.parent, None),
                (|t| t.admin.users, None),
                (|t| t.admin.actions, None),
            ]
        >
            {rows}
        </DataTable>
    }
    .into_any()
}

#[component]
fn Row(
    settings: VirtualClusterSettings,
    stopped: bool,
    remove: Removal,
    stop: Sending,
    search: RowSearch,
) -> impl IntoView {
    let reader = Reader::get();
    let name = settings.name.to_string();
    let gpus = gpus_text(settings.share.gpus.iter().map(|(kind, count)| (kind, *count)));
    let share = [gpus, shapes_text(&settings.shapes)];
    let share = share.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ");
    let parent = settings.parent.as_ref().map(ToString::to_string);
    let users = settings.users.iter().map(ToString::to_string);
    let groups = settings.groups.iter().map(ToString::to_string);
    let users = users.chain(groups).collect::<Vec<_>>();
    let within = parent.clone().unwrap_or_default();
    let hidden = search.hides(format!("{name} {share} {within} {}", users.join(" ")));
    let share = move || {
        if share.is_empty() {
            reader.texts().cluster.unguaranteed.to_owned()
        } else {
            share.clone()
        }
    };
    let users = told(move |t| match users.as_slice() {
        [] => t.admin.everybody.to_owned(),
        users => users.join(t.common.comma),
    });
    let edit = format!("/admin/clusters?edit={}", encode(&name));
    let removable = (settings.name != protocol::ids::VirtualClusterName::default()).then(|| {
        view! {
            <Stop name=name.clone() stopped=stopped stop=stop/>
            <Remove name=name.clone() removal=remove/>
        }
    });
    view! {
        <tr hidden=hidden>
            <th scope="row"><span class="table__name">{name}</span></th>
            <td>{move || share()}</td>
            <td>{parent}</td>
            <td>{users}</td>
            <td>
                <div class="buttons">
                    <a class="button button--small" href=edit>{tr(|t| t.common.edit)}</a>
                    {removable}
                </div>
            </td>
        </tr>
    }
    .into_any()
}

#[component]
fn Stop(name: String, stopped: bool, stop: Sending) -> impl IntoView {
    view! {
        <SendForm to=stop>
            <input type="hidden" name="name" value=name/>
            <input type="hidden" name="stopped" value=if stopped { "false" } else { "true" }/>
            <button class="button button--small" type="submit">
                {told(move |t| if stopped { t.accounts.resume_cluster } else { t.accounts.stop_cluster })}
            </button>
        </SendForm>
    }
    .into_any()
}

#[component]
fn SaveForm(
    save: Sending,
    saved: RwSignal<u32>,
    edited: Option<VirtualClusterSettings>,
    parents: Vec<String>,
    promises: Vec<Promise>,
) -> impl IntoView {
    let promises = RwSignal::new(promises);
    let name = edited.as_ref().map(|settings| settings.name.to_string());
    let form = ["cluster:", name.as_deref().unwrap_or_default()].concat();
    let of_title = name.clone();
    let title = told(move |t| match &of_title {
        Some(name) => (t.admin.edit_cluster)(name),
        None => t.admin.add_cluster.to_owned(),
    });
    let (of_share, of_rules) = (edited.clone(), edited.clone());
    let limits = edited.as_ref().map(|settings| settings.limits.clone()).unwrap_or_default();
    let (users, groups) = edited.map(|edited| (edited.users, edited.groups)).unwrap_or_default();
    let users = users.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let groups = groups.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let asker = Asker::get();
    let ask = move |event: MouseEvent| {
        asker.ask_to_save::<EffectOfCluster, SaveCluster>(&event, "cluster[name]", saved);
    };
    view! {
        <section class="card" aria-labelledby="add-cluster">
            <h2 id="add-cluster" class="card__head">{title}</h2>
            <SendForm to=save attr:class="form" on:input=follow(promises)>
                <Unsaved form=form sent=saved/>
                <Field
                    name="cluster[name]"
                    label=text(|t| t.admin.name)
                    fixed=name.is_some()
                    value=name.unwrap_or_default()
                    required=true
                />
                <ShareFields edited=of_share parents=parents/>
                <Promises promises=promises/>
                <RuleFields edited=of_rules/>
                <Field
                    name="cluster[users]"
                    label=text(|t| t.admin.users)
                    hint=text(|t| t.admin.users_hint)
                    value=users
                />
                <Field
                    name="cluster[groups]"
                    label=text(|t| t.accounts.groups)
                    hint=text(|t| t.accounts.groups_hint)
                    value=groups
                />
                <LimitFields limits=limits/>
                <FormAnswer answer=save.value() done=text(|t| t.admin.cluster_saved)/>
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

/// What it is guaranteed, and of whose share that is a part.
#[component]
fn ShareFields(edited: Option<VirtualClusterSettings>, parents: Vec<String>) -> impl IntoView {
    let shapes = edited.as_ref().map(|settings| shapes_text(&settings.shapes)).unwrap_or_default();
    let nodes = edited.iter().flat_map(|settings| &settings.nodes).map(ToString::to_string);
    let nodes = nodes.collect::<Vec<_>>().join(" ");
    let within = edited.as_ref().map(|settings| places_text(&settings.within)).unwrap_or_default();
    let parent = edited.as_ref().and_then(|settings| settings.parent.as_ref());
    let parent = parent.map(ToString::to_string).unwrap_or_default();
    let share = edited.map(|settings| settings.share).unwrap_or_default();
    let number = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
    let gpus = gpus_text(share.gpus.iter().map(|(kind, count)| (kind, *count)));
    view! {
        <fieldset class="form__group stack">
            <legend class="field__label">{tr(|t| t.admin.share_title)}</legend>
            <p class="hint">{tr(|t| t.admin.share_hint)}</p>
            <Parent parent=parent parents=parents/>
            <div class="form__row">
                <Field name="cluster[cpus]" kind="number" label=text(|t| t.admin.cpus) value=number(share.cpus)/>
                <Field
                    name="cluster[memory_mb]"
                    kind="number"
                    label=text(|t| t.admin.memory_mb)
                    value=number(share.memory_mb)
                />
            </div>
            <Field
                name="cluster[gpus]"
                label=text(|t| t.cluster.gpus)
                hint=text(|t| t.admin.share_gpus_hint)
                value=gpus
            />
            <Field
                name="cluster[shapes]"
                label=text(|t| t.admin.shapes)
                hint=text(|t| t.admin.shapes_hint)
                value=shapes
            />
            <Field
                name="cluster[nodes]"
                label=text(|t| t.admin.share_nodes)
                hint=text(|t| t.admin.share_nodes_hint)
                value=nodes
            />
            <Field
                name="cluster[within]"
                label=text(|t| t.admin.share_places)
                hint=text(|t| t.admin.share_places_hint)
                value=within
            />
        </fieldset>
    }
    .into_any()
}

/// Whether it borrows, whether its classes preempt, whether deadlines come first, which groups share it, and
/// what becomes of tasks that hear nothing and of jobs that do nothing.
#[component]
fn RuleFields(edited: Option<VirtualClusterSettings>) -> impl IntoView {
    let borrows = edited.as_ref().is_none_or(|settings| settings.borrows);
    let preempts = edited.as_ref().map(|settings| settings.preempts).unwrap_or_default();
    let deadlines = edited.as_ref().is_some_and(|settings| settings.deadlines);
    let shares = edited.as_ref().map(|settings| &settings.group_shares);
    let shares = shares.map(group_weights).unwrap_or_default();
    let lease = edited.as_ref().and_then(|settings| settings.lease);
    let lease = lease.map(|minutes| minutes.to_string()).unwrap_or_default();
    let idle = edited.and_then(|settings| settings.idle);
    view! {
        <label class="check">
            <input type="checkbox" name="cluster[borrows]" value="true" checked=borrows/>
            {tr(|t| t.admin.borrows)}
        </label>
        <ChoiceField
            name="cluster[preempts]"
            label=text(|t| t.admin.preempts)
            hint=text(|t| t.admin.preempts_hint)
            choices=PREEMPTS
            value=preempts_word(preempts)
        />
        <label class="check">
            <input type="checkbox" name="cluster[deadlines]" value="true" checked=deadlines/>
            {tr(|t| t.admin.deadlines)}
        </label>
        <p class="hint">{tr(|t| t.admin.deadlines_hint)}</p>
        <Field
            name="cluster[group_shares]"
            label=text(|t| t.admin.group_shares)
            hint=text(|t| t.admin.group_shares_hint)
            value=shares
        />
        <Field
            name="cluster[lease]"
            kind="number"
            label=text(|t| t.admin.lease)
            hint=text(|t| t.admin.lease_hint)
            value=lease
        />
        <IdleFields rule=idle/>
    }
    .into_any()
}

#[component]
fn Parent(parent: String, parents: Vec<String>) -> impl IntoView {
    let option = |name: String| {
        let selected = name == parent;
        let label = name.clone();
        view! { <option value=name selected=selected>{label}</option> }
    };
    let options = parents.into_iter().map(option).collect_view();
    view! {
        <div class="field">
            <label class="field__label" for="cluster-parent">{tr(|t| t.admin.parent)}</label>
            <select
                class="select"
                id="cluster-parent"
                name="cluster[parent]"
                aria-describedby="cluster-parent-hint"
            >
                <option value="">{tr(|t| t.admin.no_parent)}</option>
                {options}
            </select>
            <p class="field__hint" id="cluster-parent-hint">{tr(|t| t.admin.parent_hint)}</p>
        </div>
    }
    .into_any()
}

/// How much is guaranteed of how much there is, with what stands in the form.
#[component]
fn Promises(promises: RwSignal<Vec<Promise>>) -> impl IntoView {
    let line = |promise: Promise| {
        let too_much = promise.is_too_much();
        let beyond = too_much.then(|| {
            view! { {tr(|t| t.queue.effect.comma)} <b>{tr(|t| t.admin.beyond)}</b> }
        });
        view! {
            <li class:promises__beyond=too_much>
                {told(move |t| (t.queue.effect.promise)(&promise))} {beyond}
            </li>
        }
    };
    let lines = move || promises.get().into_iter().map(line).collect_view();
    view! {
        <ul class="promises" aria-live="polite" aria-label=tr(|t| t.admin.promises)>{move || lines()}</ul>
    }
    .into_any()
}

/// Asks anew what is guaranteed when somebody has stopped typing for a moment.
fn follow(promised: RwSignal<Vec<Promise>>) -> impl Fn(web_sys::Event) + Copy {
    let number = StoredValue::new(0_u32);
    move |event| {
        let form = event.current_target();
        let form = form.and_then(|form| form.dyn_into::<HtmlFormElement>().ok());
        let sent = form.and_then(|form| FormData::new_with_form(&form).ok());
        let Some(sent) = sent.as_ref().and_then(encoded) else { return };
        number.update_value(|number| *number += 1);
        let mine = number.get_value();
        let is_last = move || number.try_get_value() == Some(mine);
        let ask = async move {
            // What cannot be read yet changes nothing; saving says what is wrong with it.
            if let Ok(found) = post(PromisesAfter::PATH, sent).await.and_then(read)
                && is_last()
            {
                promised.try_set(found);
            }
        };
        set_timeout(
            move || {
                if is_last() {
                    spawn_local(ask);
                }
            },
            PAUSE,
        );
    }
}
