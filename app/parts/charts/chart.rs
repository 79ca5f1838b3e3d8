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
        let x = decimal(tenths(middle(pointed.point(points)?, points)));
        Some(view! { <path class="chart__moment" d=format!("M{x} 0V{}", SIZE.1)></path> })
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
    let mut pen = Pen::default();
    for (at, value) in values.iter().enumerate() {
        match value {
            Some(value) => {
                let y = height - (value / top).clamp(0.0, 1.0) * height;
                pen.draw(tenths(middle(at, values.len())), tenths(y));
            }
            None => pen.lift(),
        }
    }
    pen.lift();
    pen.path
}

/// Draws in tenths, and writes no more than where a line goes from where it is: a page has thousands of points.
#[derive(Debug, Default)]
struct Pen {
    path: String,
    /// Where it has drawn to; nowhere while it is lifted.
    at: Option<(i32, i32)>,
    /// How far it goes on at the same height, which is written once that changes.
    level: i32,
}

impl Pen {
    fn draw(&mut self, x: i32, y: i32) {
        let Some((from, height)) = self.at else {
            // A line of no length is drawn as a dot: a value may have none beside it.
            self.write(&["M", &decimal(x), " ", &decimal(y), "h0"]);
            self.at = Some((x, y));
            return;
        };
        if y == height {
            self.level = x - from;
            return;
        }
        let from = from + self.end_level();
        let (right, down) = (decimal(x - from), decimal(y - height));
        let between = if down.starts_with('-') { "" } else { " " };
        self.write(&["l", &right, between, &down]);
        self.at = Some((x, y));
    }

    fn lift(&mut self) {
        self.end_level();
        self.at = None;
    }

    fn end_level(&mut self) -> i32 {
        let level = std::mem::take(&mut self.level);
        if level > 0 {
            self.write(&["h", &decimal(level)]);
        }
        level
    }

    fn write(&mut self, words: &[&str]) {
        self.path.extend(words.iter().copied());
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a chart has few units")]
fn tenths(of: f32) -> i32 {
    (of * 10.0).round() as i32
}

/// Tenths as a decimal number, without what is understood.
fn decimal(tenths: i32) -> String {
    let sign = if tenths < 0 { "-" } else { "" };
    let (whole, rest) = (tenths.unsigned_abs() / 10, tenths.unsigned_abs() % 10);
    match (whole, rest) {
        (whole, 0) => format!("{sign}{whole}"),
        (0, rest) => format!("{sign}.{rest}"),
        (whole, rest) => format!("{sign}{whole}.{rest}"),
    }
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
        assert_eq!(drawn, "M75 100h0l150-50M525 0h0");
        assert_eq!(path(&[], 1.0), "");
    }

    #[test]
    fn what_stays_the_same_is_one_line() {
        let values = [1.0, 1.0, 1.0, 0.25, 0.25, 2.0].map(Some);
        assert_eq!(path(&values, 2.0), "M50 50h0h200l100 37.5h100l100-87.5");
        assert_eq!(path(&[Some(1.0), Some(1.0), None, Some(1.0)], 2.0), "M75 50h0h150M525 50h0");
    }
}
