use api::metrics::{NodeMetrics, NodeMetricsAsk};
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use protocol::ids::NodeName;
use protocol::time::Timestamp;

use crate::address;
use crate::i18n::{text, tr};
use crate::parts::charts::{Axis, Chart, ChartView, Pointed, Span, Spans, ValueTable, charts};
use crate::parts::clock::Clock;
use crate::parts::empty_state::EmptyState;
use crate::parts::loaded::Loaded;
use crate::reading::reading;
use crate::server_fns::metrics::get_node_metrics;

/// It is read again so often, in milliseconds.
const AGAIN: i64 = 10_000;
/// A node has some fifty lines, and a page of them is not to be larger than others.
const POINTS: u32 = 90;
/// How far back one may look.
const SPANS: [Span; 3] = [Span::Hour, Span::Day, Span::Week];

/// What the node's tasks used together, and what its GPUs did. How far back is in the address.
#[component]
pub(super) fn OverTime(node: NodeName) -> impl IntoView {
    let (clock, query) = (Clock::get(), use_query_map());
    let span = Memo::new(move |_| Span::read(query.read().get("span").as_deref(), SPANS));
    let turn = Memo::new(move |_| clock.now().0 / AGAIN);
    let asked = node.clone();
    let metrics = reading(
        move || (turn.get(), span.get()),
        move |(turn, span)| {
            let from = span.begin(Timestamp(turn * AGAIN));
            let node = asked.clone();
            get_node_metrics(NodeMetricsAsk { node, from, until: None, points: Some(POINTS) })
        },
    );
    let base = address::node(&node);
    let of = node.to_string();
    let pointed = Pointed::nowhere();
    view! {
        <section class="card stack" aria-labelledby="over-time">
            <h2 id="over-time">{tr(|t| t.metrics.tab)}</h2>
            <Spans base=base among=SPANS.to_vec() span=span class="segments"/>
            <Loaded
                resource=metrics
                lines=8
                content=move |metrics| {
                    view! { <Measured metrics=metrics of=of.clone() pointed=pointed/> }
                }
            />
        </section>
    }
    .into_any()
}

#[component]
fn Measured(metrics: NodeMetrics, of: String, pointed: Pointed) -> impl IntoView {
    let charts = charts(&metrics.series, &metrics.gpus);
    if charts.is_empty() {
        let (title, hint) = (text(|t| t.metrics.nothing), text(|t| t.metrics.nothing_hint));
        return view! { <EmptyState title=title hint=hint/> }.into_any();
    }
    let drawn = charts.iter().cloned().map(|chart: Chart| {
        view! { <ChartView chart=chart pointed=pointed/> }
    });
    let drawn = drawn.collect_view();
    let NodeMetrics { from, step_ms, points, .. } = metrics;
    view! {
        <div class="charts">{drawn}</div>
        <Axis from=from step_ms=step_ms points=points pointed=pointed/>
        <details class="fold">
            <summary>{tr(|t| t.metrics.table)}</summary>
            <ValueTable of=of charts=charts/>
        </details>
    }
    .into_any()
}
