use leptos::prelude::*;
use protocol::fields::{JobField, Notation};
use protocol::spec::{GraceSignal, TopologyLevel};

use crate::i18n::{Reader, tr};
use crate::pages::submit::field::{Kind, TextField};
use crate::pages::submit::images;
use crate::pages::submit::select::{Choice, SelectField};
use crate::pages::submit::state::Editing;
use crate::pages::submit::storages::Storages;

/// Where a field of the job stands, in the notation of the moment.
fn path(field: JobField) -> Signal<String> {
    let editing = Editing::get();
    Signal::derive(move || editing.read(|tree| tree.job_path(field)))
}

/// Name, image, place.
#[component]
pub(crate) fn Basics() -> impl IntoView {
    let editing = Editing::get();
    let has_one_image = move || editing.read(|tree| tree.notation == Notation::V1);
    view! {
        <section class="card stack">
            <h2>{tr(|t| t.submit.fields.job)}</h2>
            <div class="form__row">
                <TextField path=path(JobField::Name) label=|f| f.name hint=|f| f.name_hint required=true/>
                <Show when=has_one_image>
                    <TextField path="image".to_owned() label=|f| f.image hint=|f| f.image_hint list=images::LIST required=true/>
                </Show>
            </div>
            <div class="form__row">
                <SelectField
                    path=path(JobField::VirtualCluster)
                    label=|f| f.cluster
                    none=|f| f.cluster_default
                    choices=Signal::derive(move || clusters(editing))
                />
                <SelectField
                    path=path(JobField::GpuType)
                    label=|f| f.gpu_type
                    none=|f| f.gpu_any
                    choices=Signal::derive(move || gpu_types(editing))
                />
            </div>
        </section>
    }
}

/// The virtual clusters that the reader may use, but for the one that stands for "not said".
fn clusters(editing: Editing) -> Vec<Choice> {
    let rooms = editing.rooms.read();
    let usable = rooms.iter().filter(|room| room.usable);
    let names = usable.map(|room| room.name.to_string());
    names
        .filter(|name| name != "default")
        .map(|name| Choice { value: name.clone(), label: name })
        .collect()
}

/// The GPU types there are.
fn gpu_types(editing: Editing) -> Vec<Choice> {
    let rooms = editing.rooms.read();
    let mut types = Vec::<String>::new();
    for name in rooms.iter().flat_map(|room| &room.gpu_types) {
        let name = name.to_string();
        if let Err(place) = types.binary_search(&name) {
            types.insert(place, name);
        }
    }
    types.into_iter().map(|name| Choice { value: name.clone(), label: name }).collect()
}

/// The signals that tasks may be sent before they have to go.
fn signals() -> Vec<Choice> {
    let names = GraceSignal::ALL.map(GraceSignal::name);
    names.map(|name| Choice { value: name.to_owned(), label: name.to_owned() }).to_vec()
}

/// The levels of topology, each in the reader's words.
fn levels(words: [&'static str; 4]) -> Vec<Choice> {
    let levels = TopologyLevel::ALL.into_iter().zip(words);
    let choice = |(level, word): (TopologyLevel, &str)| Choice {
        value: level.name().to_owned(),
        label: word.to_owned(),
    };
    levels.map(choice).collect()
}

/// What most jobs leave as it is.
#[component]
pub(crate) fn More() -> impl IntoView {
    let reader = Reader::get();
    let priorities = Signal::derive(move || {
        let named = reader.texts().submit.fields.priorities;
        named
            .map(|(value, label)| Choice { value: value.to_owned(), label: label.to_owned() })
            .to_vec()
    });
    let levels = Signal::derive(move || levels(reader.texts().submit.fields.levels));
    view! {
        <details class="card fold">
            <summary>{tr(|t| t.submit.fields.more)}</summary>
            <div class="stack">
                <div class="form__row">
                    <TextField path=path(JobField::Retries) label=|f| f.retries hint=|f| f.retries_hint kind=Kind::Number/>
                    <TextField path=path(JobField::KillAll) label=|f| f.kill_all hint=|f| f.kill_all_hint kind=Kind::Number/>
                </div>
                <div class="form__row">
                    <TextField path=path(JobField::TimeLimit) label=|f| f.time_limit hint=|f| f.time_limit_hint/>
                    <TextField path=path(JobField::Deadline) label=|f| f.deadline hint=|f| f.deadline_hint/>
                </div>
                <div class="form__row">
                    <SelectField path=path(JobField::GraceSignal) label=|f| f.grace_signal none=|f| f.grace_none choices=Signal::stored(signals())/>
                    <TextField path=path(JobField::GraceSeconds) label=|f| f.grace_seconds hint=|f| f.grace_hint kind=Kind::Number/>
                </div>
                <div class="form__row">
                    <TextField path=path(JobField::Nodes) label=|f| f.nodes hint=|f| f.nodes_hint/>
                    <TextField path=path(JobField::NodeLabels) label=|f| f.node_labels hint=|f| f.node_labels_hint/>
                </div>
                <div class="form__row">
                    <SelectField path=path(JobField::TopologyRequired) label=|f| f.level_required none=|f| f.level_any choices=levels/>
                    <SelectField path=path(JobField::TopologyPreferred) label=|f| f.level_preferred none=|f| f.level_narrowest choices=levels/>
                </div>
                <SelectField path=path(JobField::Priority) label=|f| f.priority none=|f| f.priority_default choices=priorities/>
                <TextField path=path(JobField::Description) label=|f| f.description/>
            </div>
        </details>
    }
}

/// Folders of the storage, and storages beside it.
#[component]
pub(crate) fn Storage() -> impl IntoView {
    view! {
        <details class="card fold">
            <summary>{tr(|t| t.submit.fields.storage)}</summary>
            <div class="stack">
                <p class="hint">{tr(|t| t.submit.fields.storage_hint)}</p>
                <TextField path=path(JobField::CodeDir) label=|f| f.code_dir hint=|f| f.code_dir_hint/>
                <TextField path=path(JobField::DataDir) label=|f| f.data_dir/>
                <TextField path=path(JobField::OutputDir) label=|f| f.output_dir hint=|f| f.output_dir_hint/>
                <TextField path=path(JobField::AuthFile) label=|f| f.auth_file hint=|f| f.auth_file_hint/>
                <Storages/>
            </div>
        </details>
    }
}
