//! How the jobs went and what they came to.

use api::compare::Run;
use api::metrics::{Extent, JobUse, RoleUse};
use leptos::prelude::*;
use protocol::amount::Amount;
use protocol::exit::Cause;

use crate::i18n::{Texts, told, tr};
use crate::number;
use crate::pages::compare::table::{Beside, row};
use crate::parts::duration::Duration;
use crate::parts::exit_line::ExitLine;
use crate::parts::relative_time::RelativeTime;
use crate::parts::state_chip::StateChip;

/// Something that is told of every job.
struct Fact {
    of: fn(&'static Texts) -> &'static str,
    /// What has to be the same for the fact to be; of what is another each time, nothing.
    key: fn(&Run) -> Option<String>,
    cell: fn(&Run) -> AnyView,
}

static FACTS: [Fact; 8] = [
    Fact { of: |t| t.jobs.state, key: |run| Some(ended(run)), cell: state },
    Fact { of: |t| t.jobs.submitted, key: |_| None, cell: submitted },
    Fact { of: |t| t.jobs.queued, key: |_| None, cell: queued },
    Fact { of: |t| t.jobs.ran, key: |_| None, cell: ran },
    Fact {
        of: |t| t.jobs.cluster,
        key: |run| Some(run.virtual_cluster.to_string()),
        cell: |run| run.virtual_cluster.to_string().into_any(),
    },
    Fact { of: |t| t.jobs.gpus, key: |run| Some(gpus(run)), cell: gpu_cell },
    Fact {
        of: |t| t.compare.attempts,
        key: |run| Some(run.attempts.to_string()),
        cell: |run| number::count(u64::from(run.attempts)).into_any(),
    },
    Fact { of: |t| t.metrics.held_hours, key: |_| None, cell: |run| used(run, held) },
];

/// What was measured, where anything was.
static MEASURED: [Fact; 4] = [
    Fact { of: |t| t.metrics.busy_hours, key: |_| None, cell: |run| used(run, busy) },
    Fact { of: |t| t.metrics.gpu_load, key: |_| None, cell: load_cell },
    Fact { of: |t| t.compare.peak_memory, key: |_| None, cell: |run| used(run, memory) },
    Fact { of: |t| t.compare.peak_gpu_memory, key: |_| None, cell: |run| used(run, gpu_memory) },
];

/// A column a job.
#[component]
pub(super) fn Facts(runs: Vec<Run>) -> impl IntoView {
    let mut used = runs.iter().filter_map(|run| run.used.as_ref());
    let some = used.any(|used| !used.roles.is_empty());
    let further = if some { MEASURED.as_slice() } else { &[] };
    let rows = FACTS.iter().chain(further).map(|fact| {
        let mut keys = runs.iter().map(fact.key);
        let first = keys.next().flatten();
        let differs = keys.any(|key| key != first);
        row(tr(fact.of).into_any(), differs, runs.iter().map(fact.cell).collect())
    });
    let rows = rows.collect_view();
    view! {
        <section class="stack" aria-labelledby="runs">
            <h2 id="runs">{tr(|t| t.compare.runs)}</h2>
            <Beside label=|t| t.compare.runs runs=runs>{rows}</Beside>
        </section>
    }
    .into_any()
}

/// State and cause: what somebody did to end it and which node was lost does not make it another end.
fn ended(run: &Run) -> String {
    let code = run.exit.as_ref().and_then(|exit| exit.code);
    let cause = run.exit.as_ref().map(|exit| std::mem::discriminant(&exit.cause));
    format!("{} {code:?} {cause:?}", run.state.as_str())
}

fn state(run: &Run) -> AnyView {
    let exit = run.exit.clone().filter(|exit| exit.cause != Cause::Succeeded);
    let exit = exit.map(|exit| view! { <span class="table__sub"><ExitLine exit=exit/></span> });
    view! { <div><StateChip state=run.state/> {exit}</div> }.into_any()
}

fn submitted(run: &Run) -> AnyView {
    view! { <RelativeTime at=run.submitted_at/> }.into_any()
}

fn queued(run: &Run) -> AnyView {
    view! { <Duration from=run.submitted_at to=run.started_at.or(run.completed_at)/> }.into_any()
}

fn ran(run: &Run) -> AnyView {
    let to = run.completed_at;
    run.started_at.map(|from| view! { <Duration from=from to=to/> }).into_any()
}

fn gpus(run: &Run) -> String {
    let types: Vec<_> = run.gpu_types.iter().map(ToString::to_string).collect();
    format!("{} {}", run.gpus, types.join(" "))
}

fn gpu_cell(run: &Run) -> AnyView {
    let types = run.gpu_types.iter();
    let types = types.map(|kind| view! { " " <span class="badge">{kind.to_string()}</span> });
    let types = types.collect_view();
    let any = run.gpu_types.is_empty() && run.gpus > Amount::default();
    let any = any.then(|| view! { " " <span class="hint">{tr(|t| t.compare.any_type)}</span> });
    view! { <div>{number::amount(run.gpus)} {types} {any}</div> }.into_any()
}

/// Some of what it came to, where the reader may see that.
fn used(run: &Run, tell: fn(&JobUse) -> Option<String>) -> AnyView {
    match &run.used {
        Some(used) => tell(used).unwrap_or_else(|| "–".to_owned()).into_any(),
        None => view! { <span class="hint">{tr(|t| t.compare.hidden)}</span> }.into_any(),
    }
}

fn held(used: &JobUse) -> Option<String> {
    Some(number::gpu_hours(used.held_gpu_seconds))
}

fn busy(used: &JobUse) -> Option<String> {
    (used.measured_gpu_seconds > 0).then(|| number::gpu_hours(used.busy_gpu_seconds))
}

fn load_cell(run: &Run) -> AnyView {
    match run.used.as_ref().and_then(load) {
        Some(percent) => view! { {told(move |t| (t.queue.percent)(percent))} }.into_any(),
        None => used(run, |_| None),
    }
}

/// In percent.
fn load(used: &JobUse) -> Option<u32> {
    let percent = || number::percent(used.busy_gpu_seconds, used.measured_gpu_seconds);
    (used.measured_gpu_seconds > 0).then(|| u32::try_from(percent()).unwrap_or(100))
}

fn memory(used: &JobUse) -> Option<String> {
    most(used, |role| role.memory)
}

fn gpu_memory(used: &JobUse) -> Option<String> {
    most(used, |role| role.gpu_memory)
}

/// The most bytes of all roles.
fn most(used: &JobUse, of: fn(&RoleUse) -> Option<Extent>) -> Option<String> {
    let most = used.roles.iter().filter_map(of).map(|extent| extent.most);
    most.reduce(f32::max).map(|bytes| number::bytes(bytes as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_all_roles_the_most_is_told_and_nothing_where_nothing_was_measured() {
        let extent = |most| Some(Extent { mean: 0.0, most });
        let role = |name: &str, memory| RoleUse {
            role: name.parse().unwrap(),
            asked: protocol::resources::Resources::default(),
            longest: 0,
            cpus: None,
            memory,
            gpu_load: None,
            gpu_memory: None,
            gpus: 0,
            idle_gpus: 0,
        };
        let roles =
            vec![role("ps", extent(1024.0)), role("worker", extent(4096.0)), role("x", None)];
        let used = JobUse {
            roles,
            measured_gpu_seconds: 7_200,
            busy_gpu_seconds: 3_600,
            ..JobUse::default()
        };
        let said =
            |tell: fn(&JobUse) -> Option<String>| tell(&used).map(|s| s.replace('\u{202f}', " "));
        assert_eq!(said(memory).as_deref(), Some("4 KiB"));
        assert_eq!((said(busy).as_deref(), load(&used)), (Some("1.00 h"), Some(50)));
        assert_eq!(said(gpu_memory), None);
        assert_eq!(load(&JobUse::default()), None);
    }
}
