use api::metrics::{NodeMetrics, NodeMetricsAsk};
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use protocol::ids::NodeName;
use protocol::time::Timestamp;

use crate::address;
use crate::i18n::{Texts, text, tr};
use crate::parts::charts::{Chart, ChartView, ValueTable, charts};
use crate::parts::clock::Clock;
use crate::parts::empty_state::EmptyState;
use crate::parts::loaded::Loaded;
use crate::parts::relative_time::RelativeTime;
use crate::reading::reading;
use crate::server_fns::metrics::get_node_metrics;

/// It is read again so often, in milliseconds.
const AGAIN: i64 = 10_000;

/// How far back is looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Span {
    Hour,
    Day,
    Week,
}

impl Span {
    const ALL: [Span; 3] = [Span::Hour, Span::Day, Span::Week];

    fn read(word: Option<&str>) -> Self {
        Self::ALL.into_iter().find(|span| Some(span.as_str()) == word).unwrap_or(Span::Hour)
    }

    fn as_str(self) -> &'static str {
        match self {
            Span::Hour => "hour",
            Span::Day => "day",
            Span::Week => "week",
        }
    }

    fn word(self) -> fn(&'static Texts) -> &'static str {
        match self {
            Span::Hour => |t| t.metrics.hour,
            Span::Day => |t| t.metrics.day,
            Span::Week => |t| t.metrics.week,
        }
    }

    fn millis(self) -> i64 {
        match self {
            Span::Hour => 3_600_000,
            Span::Day => 86_400_000,
            Span::Week => 604_800_000,
        }
    }
}

/// What the node's tasks used together, and what its GPUs did. How far back is in the address.
#[component]
pub(super) fn OverTime(node: NodeName) -> impl IntoView {
    let (clock, query) = (Clock::get(), use_query_map());
    let span = Memo::new(move |_| Span::read(query.read().get("span").as_deref()));
    let turn = Memo::new(move |_| clock.now().0 / AGAIN);
    let asked = node.clone();
    let metrics = reading(
        move || (turn.get(), span.get()),
        move |(turn, span)| {
            let from = Some(Timestamp(turn * AGAIN - span.millis()));
            let node = asked.clone();
            get_node_metrics(NodeMetricsAsk { node, from, until: None, points: None })
        },
    );
    let base = address::node(&node);
    let of = node.to_string();
    let links = Span::ALL.map(|each| {
        let href = format!("{base}?span={}", each.as_str());
        view! {
            <a
                class="segment"
                href=href
                aria-current=move || (span.get() == each).then_some("true")
                data-noscroll="true"
            >
                {tr(each.word())}
            </a>
        }
    });
    view! {
        <section class="card stack" aria-labelledby="over-time">
            <h2 id="over-time" class="card__head">{tr(|t| t.metrics.tab)}</h2>
            <nav class="segments" aria-label=tr(|t| t.metrics.span)>{links}</nav>
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_from_addresses() {
        for span in Span::ALL {
            assert_eq!(Span::read(Some(span.as_str())), span);
        }
        assert_eq!(Span::read(Some("year")), Span::Hour);
    }
}
