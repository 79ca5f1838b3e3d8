use std::collections::BTreeMap;

use api::images::TaskOfJob;
use api::jobs::{AttemptView, TaskView};
use leptos::prelude::*;
use protocol::ids::{JobKey, PortLabel};
use protocol::state::State;

use crate::address;
use crate::i18n::{said, text, told, tr};
use crate::number;
use crate::pages::job::detail::{Detail, Part};
use crate::pages::job::log_wanted::log_address;
use crate::pages::job::save_image::{SaveButton, SavedImages, Saving};
use crate::pages::job::terminal_tab::terminal_address;
use crate::parts::copy::Copy;
use crate::parts::duration::Duration;
use crate::parts::empty_state::EmptyState;
use crate::parts::exit_line::ExitLine;
use crate::parts::loaded::Loaded;
use crate::parts::state_chip::StateChip;
use crate::parts::table::DataTable;
use crate::server_fns::jobs::JobSeen;

#[lazy]
pub(super) fn job_tasks() -> Part {
    |key, detail| view! { <Tasks key=key detail=detail/> }.into_any()
}

#[component]
fn Tasks(key: JobKey, detail: Detail) -> impl IntoView {
    let saving = Saving::provide();
    view! {
        <div class="stack">
            <Loaded resource=detail content=move |detail| view! { <TasksTab detail=detail/> }/>
            <SavedImages key=key saving=saving/>
        </div>
    }
}

/// The tasks of the current attempt, and under them those of the earlier ones.
#[component]
pub(crate) fn TasksTab(detail: JobSeen) -> impl IntoView {
    let key = detail.summary.key;
    let may_manage = detail.may_manage;
    let mut attempts = detail.attempts.into_iter().rev();
    let Some(current) = attempts.next() else {
        return view! { <EmptyState title=text(|t| t.job.no_attempt) hint=text(|_| "")/> }
            .into_any();
    };
    let of_current = key.clone();
    let earlier = attempts.map(|attempt| view! { <Earlier key=key.clone() attempt=attempt/> });
    let earlier = earlier.collect_view();
    let number = current.number;
    view! {
        <div class="stack">
            <h2>{told(move |t| (t.job.attempt)(number))}</h2>
            <TaskTable key=of_current attempt=current may_manage=may_manage/>
            {earlier}
        </div>
    }
    .into_any()
}

#[component]
fn Earlier(key: JobKey, attempt: AttemptView) -> impl IntoView {
    let number = attempt.number;
    let exit = attempt.exit.clone().map(|exit| view! { <ExitLine exit=exit/> });
    view! {
        <details class="fold">
            <summary>
                {told(move |t| (t.job.attempt)(number))} " " <StateChip state=attempt.state/> " " {exit}
            </summary>
            <TaskTable key=key attempt=attempt may_manage=false/>
        </details>
    }
    .into_any()
}

#[component]
fn TaskTable(key: JobKey, attempt: AttemptView, may_manage: bool) -> impl IntoView {
    let number = attempt.number;
    let rows = attempt.tasks.into_iter().map(
        |task| view! { <TaskRow key=key.clone() attempt=number task=task may_manage=may_manage/> },
    );
    let rows = rows.collect_view();
    view! {
        <DataTable
            label=|t| t.job.tasks
            kind="table--tasks"
            heads=&[
                (|t| t.job.task, None),
                (|t| t.jobs.state, None),
                (|t| t.job.node, None),
                (|t| t.job.gpu_numbers, None),
                (|t| t.job.ports, None),
                (|t| t.job.duration, None),
                (|t| t.job.exit, None),
                (|t| t.admin.actions, None),
            ]
        >
            {rows}
        </DataTable>
    }
    .into_any()
}

#[component]
fn TaskRow(key: JobKey, attempt: u32, task: TaskView, may_manage: bool) -> impl IntoView {
    let log = log_address(&key, attempt, &task.role, task.index);
    let enter = (task.state == State::Running).then(|| {
        let href = terminal_address(&key, &task.role, task.index);
        view! { " " <a href=href>{tr(|t| t.job.terminal)}</a> }
    });
    let save = (may_manage && task.state == State::Running).then(|| {
        let task = TaskOfJob { job: key.clone(), role: task.role.clone(), index: task.index };
        view! { " " <SaveButton task=task/> }
    });
    let gpus = number::held_gpus(&task.gpus, task.gpu_part);
    let ended = task.completed_at;
    let ran = task.started_at.map(|from| view! { <Duration from=from to=ended/> });
    let restarts = (task.retry > 0).then(|| {
        let count = u64::from(task.retry);
        view! { <span class="table__sub">{told(move |t| (t.job.restarted)(count))}</span> }
    });
    view! {
        <tr>
            <th scope="row">{task.role.to_string()} "-" {task.index} {restarts}</th>
            <td>
                <StateChip state=task.state/>
                {task.progress.map(|words| view! { <span class="table__sub">{said(words)}</span> })}
            </td>
            <td>
                <a class="table__name" href=address::node(&task.node)>{task.node.to_string()}</a>
                <span class="table__sub"><Copy text=task.address/></span>
            </td>
            <td>{gpus}</td>
            <td><Ports ports=task.ports/></td>
            <td>{ran}</td>
            <td>{task.exit.map(|exit| view! { <ExitLine exit=exit/> })}</td>
            <td><a href=log>{tr(|t| t.job.open_log)}</a> {enter} {save}</td>
        </tr>
    }
    .into_any()
}

#[component]
fn Ports(ports: BTreeMap<PortLabel, Vec<u16>>) -> impl IntoView {
    let lines = ports.into_iter().map(|(label, ports)| {
        let ports = ports.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
        view! { <li><span class="hint">{label.to_string()}</span> " " <code>{ports}</code></li> }
    });
    view! { <ul class="ports">{lines.collect_view()}</ul> }
}
