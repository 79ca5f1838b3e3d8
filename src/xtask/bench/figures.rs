//! What measurements are given, and what they say.

use anyhow::{Result, bail};

/// For how long something goes on, and what all chance in it follows from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Course {
    pub(super) hours: Option<f64>,
    pub(super) seed: u64,
}

/// One measured value.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) name: &'static str,
    pub(super) value: f64,
    pub(super) unit: &'static str,
}

impl Measured {
    /// Prints it as one `name value unit` line.
    pub(super) fn print(&self) {
        let Self { name, value, unit } = self;
        println!("{name} {value:.1} {unit}");
    }
}

/// What is beyond its limit, of all that was measured.
#[derive(Debug, Default)]
pub(super) struct Missed(Vec<String>);

impl Missed {
    /// Prints a figure beside its limit.
    pub(super) fn at_most(&mut self, figure: &Measured, limit: f64) {
        let Measured { name, value, unit } = figure;
        self.named(name, (*value, *unit), limit);
    }

    /// The same of a figure whose name is made up.
    pub(super) fn named(&mut self, name: &str, (value, unit): (f64, &str), limit: f64) {
        println!("{name} {value:.2} {unit}, at most {limit}");
        if value.is_nan() || value > limit {
            self.0.push(format!("{name}: {value:.2} {unit}, at most {limit}"));
        }
    }

    /// Prints a figure, beside its limit if it has one.
    pub(super) fn print(&mut self, figure: &Measured, limit: Option<f64>) {
        match limit {
            Some(limit) => self.at_most(figure, limit),
            None => figure.print(),
        }
    }

    /// After all is printed.
    ///
    /// # Errors
    /// Something is beyond its limit.
    pub(super) fn end(self) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        bail!("beyond their limits are\n{}", self.0.join("\n"))
    }
}

/// The middle value; of an even number of values the mean of the middle two.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        even if even % 2 == 0 => f64::midpoint(values[middle - 1], values[middle]),
        _odd => values[middle],
    }
}

/// The value below which so many of a hundred are.
pub(super) fn part(values: &mut [f64], percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = values.len() * percent / 100;
    values.get(at).or(values.last()).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_fails_where_a_figure_is_beyond_its_limit() {
        let figure = |name, value| Measured { name, value, unit: "ms" };
        let mut missed = Missed::default();
        missed.at_most(&figure("at_it", 20.0), 20.0);
        missed.print(&figure("without", 9e9), None);
        assert!(Missed::default().end().is_ok());
        assert!(missed.0.is_empty(), "{missed:?}");
        missed.at_most(&figure("slow", 20.5), 20.0);
        missed.print(&figure("unknown", f64::NAN), Some(20.0));
        missed.named("large", (1.04, "1/s"), 1.0);
        let said = missed.end().unwrap_err().to_string();
        for line in ["slow: 20.50 ms, at most 20", "unknown: NaN ms", "large: 1.04 1/s, at most 1"]
        {
            assert!(said.contains(line), "{said}");
        }
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert!((median(vec![9.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!((median(vec![4.0, 1.0, 2.0, 9.0]) - 3.0).abs() < f64::EPSILON);
    }

    #[test]
    fn parts_of_a_hundred_are_counted_from_the_smallest() {
        let mut values: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        for (percent, value) in [(0, 1.0), (50, 101.0), (99, 199.0), (100, 200.0)] {
            assert!((part(&mut values, percent) - value).abs() < f64::EPSILON, "{percent}");
        }
    }
}
