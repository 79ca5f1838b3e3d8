use std::fmt::Write;

use api::metrics::Lately;
use leptos::prelude::*;

use crate::i18n::Reader;

/// How high a load of 100 % is drawn.
const HEIGHT: u32 = 10;

/// How busy GPUs were in the last hour, small enough for a row of a list: steps from left to right, and the
/// latest in words.
#[component]
pub(crate) fn Spark(lately: Lately) -> impl IntoView {
    let reader = Reader::get();
    let Some(latest) = lately.latest() else { return ().into_any() };
    let words = move || {
        let texts = reader.texts();
        let load = (texts.queue.percent)(latest.into());
        format!("{}{}{load}", texts.metrics.gpu_load, texts.common.colon)
    };
    view! {
        <svg
            class="spark"
            viewBox="0 0 12 10"
            preserveAspectRatio="none"
            role="img"
            aria-label=words
        >
            <path d=path(&lately)></path>
        </svg>
    }
    .into_any()
}

/// A step for each span that was measured; a load of nothing is a thin one.
fn path(lately: &Lately) -> String {
    let (mut path, mut before) = (String::new(), None);
    // One more, which ends what was begun.
    for (at, load) in lately.0.iter().copied().chain([None]).enumerate() {
        let top = load.map(|load| {
            let high = (u32::from(load).min(100) * HEIGHT).div_ceil(100).max(1);
            HEIGHT - high
        });
        // Writing to a string cannot fail.
        let _ = match (before, top) {
            (None, None) => Ok(()),
            (Some(_), None) => write!(path, "V{HEIGHT}z"),
            (None, Some(top)) => write!(path, "M{at} {HEIGHT}V{top}h1"),
            (Some(before), Some(top)) if before == top => write!(path, "h1"),
            (Some(_), Some(top)) => write!(path, "V{top}h1"),
        };
        before = top;
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_span_that_was_measured_is_a_step() {
        let lately = Lately(vec![None, Some(0), Some(51), Some(55), None, Some(100)]);
        assert_eq!(path(&lately), "M1 10V9h1V4h1h1V10zM5 10V0h1V10z");
        assert_eq!(path(&Lately::default()), "");
    }

    #[test]
    fn a_row_costs_few_bytes() {
        let up_and_down = (0..Lately::SPANS).map(|at| Some(if at % 2 == 0 { 100 } else { 0 }));
        let drawn = path(&Lately(up_and_down.collect()));
        assert!(drawn.len() < 64, "{drawn}");
    }
}
