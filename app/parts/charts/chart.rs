use std::fmt::Write as _;

use leptos::prelude::*;

use super::pointed::Pointed;
use super::quantity::{Chart, Line};
use crate::i18n::{Reader, told, tr};
use crate::parts::table::DataTable;

/// The size of a chart in its own units: it is stretched to the width there is.
const SIZE: (f32, f32) = (600.0, 100.0);
/// Colours of lines, of which there are so many in the style sheet.
const COLOURS: usize = 8;

/// A quantity over time, with its latest values, or those of the moment that somebody points at. The table beside
/// it says the same to who cannot see it.
#[component]
pub(crate) fn ChartView(chart: Chart, pointed: Pointed) -> impl IntoView {
    let highest = chart.lines.iter().map(Line::highest).fold(0.0, f32::max);
    let top = chart.unit.top(highest);
    let lines = chart.lines.iter().zip((1..=COLOURS).cycle()).map(|(line, colour)| {
        let class = format!("chart__line chart__line--{colour}");
        view! { <path class=class d=path(&line.values, top)></path> }
    });
    let lines = lines.collect_view();
    let points = chart.lines.iter().map(|line| line.values.len()).max().unwrap_or(0);
    let rule = move || {
        let x = middle(pointed.point(points)?, points);
        Some(view! { <path class="chart__moment" d=format!("M{x:.1} 0V{}", SIZE.1)></path> })
    };
    let (unit, title) = (chart.unit, chart.title);
    let keys = chart.lines.into_iter().zip((1..=COLOURS).cycle()).map(move |(line, colour)| {
        let class = format!("chart__key chart__key--{colour}");
        let reader = Reader::get();
        let name = line.name;
        let (latest, values) = (line.latest(), line.values);
        let value = move || match pointed.point(values.len()) {
            None => unit.write(latest, reader.texts()),
            // Nothing was measured then.
            Some(point) => match values[point] {
                Some(value) => unit.write(value, reader.texts()),
                None => "–".to_owned(),
            },
        };
        view! {
            <li class=class>{move || name.write(reader.texts())} " " <b>{move || value()}</b></li>
        }
    });
    let keys = keys.collect_view();
    view! {
        <figure class="chart">
            <figcaption class="chart__head">
                <span class="chart__title">{tr(title)}</span>
                <span class="chart__top">{told(move |t| unit.write_top(top, t))}</span>
            </figcaption>
            <svg
                class="chart__plot"
                viewBox="0 0 600 100"
                preserveAspectRatio="none"
                aria-hidden="true"
                focusable="false"
                on:pointermove=move |event| pointed.follow(&event)
                on:pointerleave=move |_| pointed.leave()
            >
                {lines}
                {move || rule()}
            </svg>
            <ul class="chart__keys">{keys}</ul>
        </figure>
    }
    .into_any()
}

/// A line through the values; where one is not known, there is none.
fn path(values: &[Option<f32>], top: f32) -> String {
    let height = SIZE.1;
    let (mut path, mut draws) = (String::new(), false);
    for (at, value) in values.iter().enumerate() {
        let Some(value) = value else {
            draws = false;
            continue;
        };
        let (x, y) = (middle(at, values.len()), height - (value / top).clamp(0.0, 1.0) * height);
        // A line of no length is drawn as a dot: a value may have none beside it.
        let written = match draws {
            true => write!(path, "L{x:.1} {y:.1}"),
            false => write!(path, "M{x:.1} {y:.1}h0"),
        };
        draws = written.is_ok();
    }
    path
}

/// Where the middle of one of so many points is.
fn middle(point: usize, points: usize) -> f32 {
    (point as f32 + 0.5) * SIZE.0 / points.max(1) as f32
}

/// The same in numbers.
#[component]
pub(crate) fn ValueTable(of: String, charts: Vec<Chart>) -> impl IntoView {
    let rows = charts.into_iter().flat_map(|chart| {
        let Chart { title, unit, lines } = chart;
        lines.into_iter().map(move |line| {
            let reader = Reader::get();
            let name = line.name;
            let [latest, mean, highest] = [line.latest(), line.mean(), line.highest()]
                .map(|value| told(move |t| unit.write(value, t)));
            view! {
                <tr>
                    <th scope="row">{tr(title)} " " {move || name.write(reader.texts())}</th>
                    <td class="num">{latest}</td>
                    <td class="num">{mean}</td>
                    <td class="num">{highest}</td>
                </tr>
            }
        })
    });
    let rows = rows.collect_view();
    view! {
        <DataTable
            label=|t| t.metrics.tab
            of=of
            heads=&[
                (|t| t.metrics.quantity, None),
                (|t| t.metrics.latest, Some("num")),
                (|t| t.metrics.mean, Some("num")),
                (|t| t.metrics.highest, Some("num")),
            ]
        >
            {rows}
        </DataTable>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn lines_have_gaps_where_nothing_was_measured() {
        let values = [Some(0.0), Some(1.0), None, Some(9.0)];
        let drawn = path(&values, 2.0);
        assert_eq!(drawn, "M75.0 100.0h0L225.0 50.0M525.0 0.0h0");
        assert_eq!(path(&[], 1.0), "");
    }
}
