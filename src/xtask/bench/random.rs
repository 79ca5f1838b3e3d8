//! Numbers that look random and come again with their seed, in every later version as well.

use std::time::Duration;

/// SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
#[derive(Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub(super) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`; 0 where there is none.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.number().checked_rem(limit).unwrap_or(0)
    }

    /// A time of whole milliseconds below `limit`.
    pub(super) fn time(&mut self, limit: Duration) -> Duration {
        let millis = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        Duration::from_millis(self.below(millis))
    }

    /// Whether it is one of so many times.
    pub(super) fn is_one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_again_with_their_seed() {
        let mut random = Random::new(0);
        let first = [random.number(), random.number(), random.number()];
        assert_eq!(first, [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F]);
        assert!((0..1_000).all(|_| random.below(7) < 7));
        assert_eq!(random.below(0), 0);
    }
}
