use api::jobs::TaskView;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use protocol::ids::{JobKey, RoleName};
use protocol::state::State;

use crate::address;
use crate::i18n::{text, tr};
use crate::pages::job::detail::{Detail, Part};
use crate::pages::job::log_wanted::task_from_word;
use crate::parts::copy::Copy;
use crate::parts::empty_state::EmptyState;
use crate::parts::loaded::Loaded;
use crate::parts::terminal::{Shell, TerminalView};
use crate::server_fns::jobs::JobSeen;

#[lazy]
pub(super) fn job_terminal() -> Part {
    |_, detail| view! { <TerminalTab detail=detail/> }.into_any()
}

/// The address of a task's terminal.
pub(crate) fn terminal_address(key: &JobKey, role: &RoleName, index: u32) -> String {
    let base = address::job_tab(key, "terminal");
    format!("{base}?task={}", address::encode(&format!("{role}-{index}")))
}

/// The terminals that are open in this page, and which of them is in sight.
#[derive(Debug, Clone, Copy)]
struct Open {
    shells: RwSignal<Vec<Shell>>,
    current: RwSignal<Option<Shell>>,
}

impl Open {
    fn add(self, job: &JobKey, (role, index): (RoleName, u32)) {
        let of_task = |shell: &&Shell| shell.role == role && shell.index == index;
        let number = self.shells.with_untracked(|shells| {
            shells.iter().filter(of_task).map(|shell| shell.number + 1).max().unwrap_or(0)
        });
        let shell = Shell { job: job.clone(), role, index, number };
        self.shells.update(|shells| shells.push(shell.clone()));
        self.current.set(Some(shell));
    }

    fn remove(self, gone: &Shell) {
        self.shells.update(|shells| shells.retain(|shell| shell != gone));
        if self.current.with_untracked(|current| current.as_ref() == Some(gone)) {
            self.current.set(self.shells.with_untracked(|shells| shells.last().cloned()));
        }
    }
}

/// Terminals in the job's tasks, as many as are opened. The address names the task that is offered
/// first; no shell begins before somebody asks for one, since a link may come from anybody.
#[component]
pub(crate) fn TerminalTab(detail: Detail) -> impl IntoView {
    let open = Open { shells: RwSignal::new(Vec::new()), current: RwSignal::new(None) };
    let query = use_query_map();
    let named = Memo::new(move |_| query.read().get("task").as_deref().and_then(task_from_word));
    let chosen = RwSignal::new(None::<(RoleName, u32)>);
    let choice = move |detail: JobSeen| {
        // Who chose keeps the choice while the job is read again.
        let wanted = chosen.get_untracked().or_else(|| named.get_untracked());
        view! { <Choice detail=detail wanted=wanted chosen=chosen open=open/> }
    };
    view! {
        <Loaded resource=detail lines=1 content=choice/>
        <Strip open=open/>
        <For each=move || open.shells.get() key=Shell::name let:shell>
            {
                let (this, gone) = (shell.clone(), shell.clone());
                let shown = Signal::derive(move || open.current.read().as_ref() == Some(&this));
                let on_close = Callback::new(move |()| open.remove(&gone));
                view! { <TerminalView shell=shell shown=shown on_close=on_close/> }
            }
        </For>
    }
}

/// The tasks that can be entered now.
fn entrances(detail: &JobSeen) -> Vec<&TaskView> {
    let tasks = detail.attempts.last().map(|attempt| attempt.tasks.as_slice());
    let running = |task: &&TaskView| task.state == State::Running;
    tasks.unwrap_or_default().iter().filter(running).collect()
}

/// Which task to enter.
#[component]
fn Choice(
    detail: JobSeen,
    /// What is offered first, if it can be entered.
    wanted: Option<(RoleName, u32)>,
    chosen: RwSignal<Option<(RoleName, u32)>>,
    open: Open,
) -> impl IntoView {
    if !detail.may_manage {
        return view! { <p class="notice notice--warn">{tr(|t| t.terminal.not_yours)}</p> }
            .into_any();
    }
    let job = detail.summary.key.clone();
    let tasks: Vec<_> = entrances(&detail).into_iter().cloned().collect();
    if tasks.is_empty() {
        let (title, hint) = (text(|t| t.terminal.none), text(|t| t.terminal.none_hint));
        return view! { <EmptyState title=title hint=hint/> }.into_any();
    }
    let offered: Vec<_> = tasks.iter().map(|task| (task.role.clone(), task.index)).collect();
    let wanted = wanted.filter(|task| offered.contains(task));
    let first = wanted.unwrap_or_else(|| offered[0].clone());
    let options = offered.iter().map(|task| {
        let (name, selected) = (format!("{}-{}", task.0, task.1), *task == first);
        view! { <option value=name.clone() selected=selected>{name.clone()}</option> }
    });
    let options = options.collect_view();
    let choose = move |word: String| chosen.set(task_from_word(&word));
    let add = move |_| {
        let task = chosen.get_untracked().filter(|task| offered.contains(task));
        open.add(&job, task.unwrap_or_else(|| first.clone()));
    };
    view! {
        <div class="log-choice">
            <label class="visually-hidden" for="terminal-task">{tr(|t| t.terminal.choose)}</label>
            <select
                class="select"
                id="terminal-task"
                data-tasks=""
                on:change:target=move |event| choose(event.target().value())
            >
                {options}
            </select>
            <button type="button" class="button button--primary" on:click=add>
                {tr(|t| t.terminal.open)}
            </button>
        </div>
        <Show when=move || open.shells.with(Vec::is_empty)>
            <p class="hint">{tr(|t| t.terminal.begin_hint)}</p>
        </Show>
        <noscript>
            <BySsh key=detail.summary.key tasks=tasks/>
        </noscript>
    }
    .into_any()
}

/// What to type elsewhere where this page can do nothing.
#[component]
fn BySsh(key: JobKey, tasks: Vec<TaskView>) -> impl IntoView {
    let commands = tasks.into_iter().filter_map(|task| {
        let (_, ports) = task.ports.iter().find(|(label, _)| label.as_str() == "ssh")?;
        let command = format!("ssh -i {key} -p {} root@{}", ports.first()?, task.address);
        let name = format!("{}-{}", task.role, task.index);
        Some(view! { <li>{name} {tr(|t| t.common.colon)} <Copy text=command/></li> })
    });
    view! {
        <p class="notice">{tr(|t| t.terminal.without_script)}</p>
        <ul>{commands.collect_view()}</ul>
    }
}

/// The open terminals, to choose the one in sight.
#[component]
fn Strip(open: Open) -> impl IntoView {
    let several = move || open.shells.read().len() > 1;
    view! {
        <Show when=several>
            <div class="segments shell-strip" role="group" aria-label=tr(|t| t.terminal.open_ones)>
                <For each=move || open.shells.get() key=Shell::name let:shell>
                    {
                        let (name, this) = (shell.name(), shell.clone());
                        let pressed = move || (open.current.read().as_ref() == Some(&this)).to_string();
                        view! {
                            <button
                                type="button"
                                class="segment"
                                aria-pressed=move || pressed()
                                on:click=move |_| open.current.set(Some(shell.clone()))
                            >
                                {name}
                            </button>
                        }
                    }
                </For>
            </div>
        </Show>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_has_an_address() {
        let key = "ada~a".parse().unwrap();
        let address = terminal_address(&key, &"worker".parse().unwrap(), 1);
        assert_eq!(address, "/jobs/ada/a/terminal?task=worker-1");
    }
}
