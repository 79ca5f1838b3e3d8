//! What was measured, all of it together.

/// What a column came to.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Sum {
    /// For how many milliseconds it is known.
    pub(crate) known_ms: i64,
    /// The highest value, as finely as it is still known.
    pub(crate) most: f32,
    /// Values times the milliseconds for which they stand.
    pub(crate) whole: f64,
}

impl Sum {
    pub(crate) fn add(&mut self, other: Self) {
        self.known_ms += other.known_ms;
        self.most = self.most.max(other.most);
        self.whole += other.whole;
    }

    /// None: nothing was measured.
    pub(crate) fn mean(self) -> Option<f32> {
        (self.known_ms > 0).then(|| (self.whole / self.known_ms as f64) as f32)
    }
}
