//! What was measured over time, as charts and in numbers.

mod chart;
mod quantity;

pub(crate) use chart::{ChartView, ValueTable};
pub(crate) use quantity::{Chart, charts};
