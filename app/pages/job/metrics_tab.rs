//! What the job's tasks use: charts on one axis of time, and the same as tables.

mod phases;

use api::metrics::{JobMetrics, MetricsAsk, TaskMetrics};
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use protocol::ids::JobKey;
use protocol::time::Timestamp;

use crate::address;
use crate::i18n::{text, told, tr};
use crate::live::Live;
use crate::pages::job::advice::Learnt;
use crate::pages::job::detail::Part;
use crate::pages::job::metrics_tab::phases::Phases;
use crate::parts::charts::{Axis, Chart, ChartView, Pointed, Span, Spans, ValueTable, charts};
use crate::parts::clock::Clock;
use crate::parts::empty_state::EmptyState;
use crate::parts::loaded::Loaded;
use crate::reading::reading;
use crate::server_fns::metrics::get_metrics;

#[lazy]
pub(super) fn job_metrics() -> Part {
    |key, _| view! { <MetricsTab key=key/> }.into_any()
}

/// While the job goes on it is read again so often, in milliseconds.
const AGAIN: i64 = 10_000;
/// How far back one may look.
const SPANS: [Span; 3] = [Span::Attempt, Span::Day, Span::Hour];

/// What the tasks of the current attempt use. How far back is in the address.
#[component]
pub(crate) fn MetricsTab(key: JobKey) -> impl IntoView {
    let (topic, clock, query) = (Live::get().job(&key), Clock::get(), use_query_map());
    let span = Memo::new(move |_| Span::read(query.read().get("span").as_deref(), SPANS));
    // What has ended is not read again.
    let goes_on = StoredValue::new(true);
    let turn = Memo::new(move |before: Option<&i64>| {
        let turn = clock.now().0 / AGAIN;
        before.copied().filter(|_| !goes_on.get_value()).unwrap_or(turn)
    });
    let base = address::job_tab(&key, "metrics");
    let metrics = reading(
        move || (topic.get(), turn.get(), span.get()),
        move |(_, turn, span)| {
            let from = span.begin(Timestamp(turn * AGAIN));
            get_metrics(MetricsAsk { from, ..MetricsAsk::new(key.clone()) })
        },
    );
    let pointed = Pointed::nowhere();
    let content = move |metrics: JobMetrics| {
        goes_on.set_value(metrics.completed_at.is_none());
        view! { <Measured metrics=metrics pointed=pointed/> }
    };
    view! {
        <Spans base=base among=SPANS.to_vec() span=span class="segments charts__spans"/>
        <Loaded resource=metrics lines=12 content=content/>
    }
    .into_any()
}

#[component]
fn Measured(metrics: JobMetrics, pointed: Pointed) -> impl IntoView {
    let JobMetrics { tasks, of_tasks, .. } = metrics;
    let axis = JobMetrics { tasks: Vec::new(), ..metrics };
    if tasks.iter().all(|task| task.series.is_empty()) {
        let (title, hint) = (text(|t| t.metrics.nothing), text(|t| t.metrics.nothing_hint));
        return view! { <EmptyState title=title hint=hint/> }.into_any();
    }
    let shown = tasks.len() as u64;
    let rest = (shown < u64::from(of_tasks)).then(|| {
        view! { <p class="hint">{told(move |t| (t.metrics.only_first)(shown))}</p> }
    });
    let tasks =
        tasks.into_iter().map(|task| view! { <Task task=task axis=axis.clone() pointed=pointed/> });
    let tasks = tasks.collect_view();
    view! { <div class="stack">{tasks} {rest}</div> }.into_any()
}

#[component]
fn Task(
    task: TaskMetrics,
    /// The answer without its tasks.
    axis: JobMetrics,
    pointed: Pointed,
) -> impl IntoView {
    let name = format!("{}-{}", task.role, task.index);
    let node = task.node.clone();
    let charts = charts(&task.series, &task.gpus);
    let drawn = charts.iter().cloned().map(|chart: Chart| {
        view! { <ChartView chart=chart pointed=pointed/> }
    });
    let drawn = drawn.collect_view();
    let (from, step_ms, points) = (axis.from, axis.step_ms, axis.points);
    let of = name.clone();
    view! {
        <section class="card">
            <h2 class="card__head">
                {name} " " <a class="hint" href=address::node(&node)>{node.to_string()}</a>
            </h2>
            <div class="charts">{drawn}</div>
            <Phases metrics=axis/>
            <Axis from=from step_ms=step_ms points=points pointed=pointed/>
            <Learnt task=task step_ms=step_ms/>
            <details class="fold">
                <summary>{tr(|t| t.metrics.table)}</summary>
                <ValueTable of=of charts=charts/>
            </details>
        </section>
    }
    .into_any()
}
