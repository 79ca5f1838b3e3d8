//! What was measured over time, as charts and in numbers.

mod chart;
mod pointed;
mod quantity;
mod span;

pub(crate) use chart::{ChartView, ValueTable};
pub(crate) use pointed::{Axis, Pointed};
pub(crate) use quantity::{Chart, charts};
pub(crate) use span::{Span, Spans};
