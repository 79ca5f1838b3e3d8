//! The moment that somebody points at, which is the same one in all charts of an axis.

use leptos::ev::MouseEvent;
use leptos::prelude::*;
use protocol::time::Timestamp;
use wasm_bindgen::JsCast;
use web_sys::Element;

use crate::parts::clock::Clock;
use crate::parts::relative_time::RelativeTime;

/// Where on the axis it is, from 0 to 1; nowhere while nobody points at a chart. It stays while these are
/// drawn anew.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pointed(RwSignal<Option<f32>>);

impl Pointed {
    pub(crate) fn nowhere() -> Self {
        Self(RwSignal::new(None))
    }

    /// Goes where the pointer is over a plot.
    pub(super) fn follow(self, event: &MouseEvent) {
        self.0.set(place(event));
    }

    pub(super) fn leave(self) {
        self.0.set(None);
    }

    /// Which of so many points of an axis that is.
    pub(super) fn point(self, count: usize) -> Option<usize> {
        self.0.get().and_then(|at| point(at, count))
    }
}

fn place(event: &MouseEvent) -> Option<f32> {
    let plot = event.current_target()?.dyn_into::<Element>().ok()?.get_bounding_client_rect();
    Some(((f64::from(event.client_x()) - plot.left()) / plot.width().max(1.0)) as f32)
}

fn point(at: f32, count: usize) -> Option<usize> {
    let last = count.checked_sub(1)?;
    Some(((at * count as f32).max(0.0) as usize).min(last))
}

/// When the charts above begin and end, and between the two the moment that somebody points at.
#[component]
pub(crate) fn Axis(from: Timestamp, step_ms: i64, points: u32, pointed: Pointed) -> impl IntoView {
    // The last point may not be over yet.
    let until = from.plus_millis(step_ms * i64::from(points.saturating_sub(1)));
    let clock = Clock::get();
    let moment = move || {
        let point = pointed.point(points as usize)?;
        Some(clock.moment(from.plus_millis(step_ms * i64::try_from(point).ok()?)))
    };
    view! {
        <p class="charts__axis">
            <RelativeTime at=from/>
            <b class="charts__moment">{move || moment()}</b>
            <RelativeTime at=until/>
        </p>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::point;

    #[test]
    fn each_point_has_its_part_of_the_axis() {
        for (at, expected) in [(-0.1, 0), (0.0, 0), (0.24, 0), (0.26, 1), (0.99, 3), (1.2, 3)] {
            assert_eq!(point(at, 4), Some(expected), "{at}");
        }
        assert_eq!(point(0.5, 0), None, "there is none");
    }
}
