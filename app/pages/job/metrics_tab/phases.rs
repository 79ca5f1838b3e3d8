use api::metrics::JobMetrics;
use leptos::prelude::*;
use protocol::state::State;
use protocol::time::Timestamp;

use crate::i18n::{Texts, tr};

/// Parts of a thousand of the axis.
const WHOLE: i64 = 1_000;

/// What the attempt did, and how much of the axis that takes, in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Phase {
    kind: Kind,
    share: i64,
    /// Whether it goes on.
    now: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Before it had its place, and after its end.
    Nothing,
    Prepared,
    Ran,
}

impl Kind {
    fn modifier(self) -> &'static str {
        match self {
            Kind::Nothing => "nothing",
            Kind::Prepared => "preparing",
            Kind::Ran => "running",
        }
    }

    /// `now`: it goes on.
    fn word(self, now: bool) -> Option<fn(&'static Texts) -> &'static str> {
        match (self, now) {
            (Kind::Nothing, _) => None,
            (Kind::Prepared, false) => Some(|t| t.job.prepared),
            (Kind::Prepared, true) => Some(|t| (t.state)(State::Preparing)),
            (Kind::Ran, false) => Some(|t| t.job.ran),
            (Kind::Ran, true) => Some(|t| (t.state)(State::Running)),
        }
    }
}

/// The phases on the axis of the charts.
fn phases(metrics: &JobMetrics) -> Vec<Phase> {
    let JobMetrics { from, step_ms, points, placed_at, started_at, completed_at, .. } = *metrics;
    let until = from.plus_millis(step_ms * i64::from(points));
    let end = completed_at.unwrap_or(until);
    let started = started_at.unwrap_or(end);
    let span = until.since(from).max(1);
    let place = |at: Timestamp| at.since(from).min(span) * WHOLE / span;
    let places = [0, place(placed_at), place(started), place(end), WHOLE];
    let goes_on = completed_at.is_none();
    let kinds = [
        (Kind::Nothing, false),
        (Kind::Prepared, goes_on && started_at.is_none()),
        (Kind::Ran, goes_on),
        (Kind::Nothing, false),
    ];
    let parts = kinds.into_iter().zip(places.windows(2));
    let parts = parts.map(|((kind, now), ends)| Phase { kind, share: ends[1] - ends[0], now });
    parts.filter(|phase| phase.share > 0).collect()
}

/// What the attempt did while the charts say what it used.
#[component]
pub(super) fn Phases(metrics: JobMetrics) -> impl IntoView {
    let parts = phases(&metrics).into_iter().map(|phase| {
        let class = format!("charts__phase charts__phase--{}", phase.kind.modifier());
        let word = phase.kind.word(phase.now).map(|word| view! { <span>{tr(word)}</span> });
        view! { <li class=class style=format!("flex-grow:{}", phase.share)>{word}</li> }
    });
    view! { <ol class="charts__phases">{parts.collect_view()}</ol> }.into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metrics(placed: i64, started: Option<i64>, completed: Option<i64>) -> JobMetrics {
        JobMetrics {
            from: Timestamp(10_000),
            step_ms: 10_000,
            points: 10,
            placed_at: Timestamp(placed),
            started_at: started.map(Timestamp),
            completed_at: completed.map(Timestamp),
            ..JobMetrics::default()
        }
    }

    fn shares(metrics: &JobMetrics) -> Vec<(Kind, i64)> {
        phases(metrics).iter().map(|phase| (phase.kind, phase.share)).collect()
    }

    #[test]
    fn phases_lie_under_the_charts() {
        let whole = metrics(20_000, Some(60_000), Some(90_000));
        let expected =
            [(Kind::Nothing, 100), (Kind::Prepared, 400), (Kind::Ran, 300), (Kind::Nothing, 200)];
        assert_eq!(shares(&whole), expected);
        assert_eq!(shares(&metrics(0, Some(5_000), None)), [(Kind::Ran, 1_000)]);
        assert_eq!(shares(&metrics(10_000, None, None)), [(Kind::Prepared, 1_000)]);
    }

    #[test]
    fn what_goes_on_has_the_word_of_the_state() {
        let words = |metrics: &JobMetrics| {
            let english = crate::i18n::Language::English.texts();
            let words = phases(metrics).into_iter();
            words.filter_map(|phase| phase.kind.word(phase.now)).map(|word| word(english)).collect()
        };
        let said: [Vec<_>; 3] = [
            words(&metrics(10_000, None, None)),
            words(&metrics(10_000, Some(60_000), None)),
            words(&metrics(10_000, Some(60_000), Some(90_000))),
        ];
        assert_eq!(said, [vec!["Preparing"], vec!["Prepared", "Running"], vec!["Prepared", "Ran"]]);
    }
}
