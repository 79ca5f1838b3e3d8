//! What was measured over time, as charts and in numbers.

mod chart;
mod quantity;
mod span;

pub(crate) use chart::{ChartView, ValueTable};
pub(crate) use quantity::{Chart, charts};
pub(crate) use span::{Span, Spans};
