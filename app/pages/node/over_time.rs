use api::metrics::{NodeMetrics, NodeMetricsAsk};
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use protocol::ids::NodeName;
use protocol::time::Timestamp;

use crate::address;
use crate::i18n::{text, tr};
use crate::parts::charts::{Chart, ChartView, Span, Spans, ValueTable, charts};
use crate::parts::clock::Clock;
use crate::parts::empty_state::EmptyState;
use crate::parts::loaded::Loaded;
use crate::parts::relative_time::RelativeTime;
use crate::reading::reading;
use crate::server_fns::metrics::get_node_metrics;

/// It is read again so often, in milliseconds.
const AGAIN: i64 = 10_000;
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
            get_node_metrics(NodeMetricsAsk { node, from, until: None, points: None })
        },
    );
    let base = address::node(&node);
    let of = node.to_string();
    view! {
        <section class="card stack" aria-labelledby="over-time">
            <h2 id="over-time">{tr(|t| t.metrics.tab)}</h2>
            <Spans base=base among=SPANS.to_vec() span=span class="segments"/>
            <Loaded
                resource=metrics
                lines=8
                content=move |metrics| view! { <Measured metrics=metrics of=of.clone()/> }
            />
        </section>
    }
    .into_any()
}

#[component]
fn Measured(metrics: NodeMetrics, of: String) -> impl IntoView {
    let charts = charts(&metrics.series, &metrics.gpus);
    if charts.is_empty() {
        let (title, hint) = (text(|t| t.metrics.nothing), text(|t| t.metrics.nothing_hint));
        return view! { <EmptyState title=title hint=hint/> }.into_any();
    }
    let drawn = charts.iter().cloned().map(|chart: Chart| view! { <ChartView chart=chart/> });
    let drawn = drawn.collect_view();
    let from = metrics.from;
    // The last point may not be over yet.
    let points = i64::from(metrics.points.saturating_sub(1));
    let until = from.plus_millis(metrics.step_ms * points);
    view! {
        <div class="charts">{drawn}</div>
        <p class="charts__axis">
            <RelativeTime at=from/>
            <RelativeTime at=until/>
        </p>
        <details class="fold">
            <summary>{tr(|t| t.metrics.table)}</summary>
            <ValueTable of=of charts=charts/>
        </details>
    }
    .into_any()
}
