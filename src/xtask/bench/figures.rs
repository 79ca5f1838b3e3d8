//! What measurements are given, and what they say.

use crate::progress::note;

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

    /// The same beside its limit. What is beyond it is said.
    pub(super) fn print_at_most(&self, limit: f64) {
        let Self { name, value, unit } = self;
        println!("{name} {value:.1} {unit}, at most {limit}");
        if *value > limit {
            note(&format!("{name} is beyond {limit} {unit}"));
        }
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
