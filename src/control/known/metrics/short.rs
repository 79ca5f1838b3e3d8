//! A number in two bytes.

/// A number from 0 on, or that there is none: the first 16 bits of a 32-bit one without its sign. It is
/// right to one part in 500, and whole numbers up to 512 are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Short(pub(super) u16);

impl Short {
    pub(super) const NONE: Self = Self(u16::MAX);
    /// Larger than all that are finite.
    const INFINITE: u32 = 0xff00;

    pub(super) fn new(value: Option<f32>) -> Self {
        let Some(value) = value.filter(|value| value.is_finite()) else { return Self::NONE };
        let rounded = (value.max(0.0).to_bits() + (1 << 14)) >> 15;
        Self(rounded.min(Self::INFINITE - 1) as u16)
    }

    pub(super) fn value(self) -> Option<f32> {
        let bits = u32::from(self.0);
        (bits < Self::INFINITE).then(|| f32::from_bits(bits << 15))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn whole_numbers_are_exact_and_what_is_not_one_is_none() {
        for number in 0..=512_u16 {
            assert_eq!(Short::new(Some(number.into())).value(), Some(number.into()));
        }
        assert_eq!(Short::new(None).value(), None);
        assert_eq!(Short::new(Some(f32::NAN)).value(), None);
        assert_eq!(Short::new(Some(-1.0)).value(), Some(0.0));
        assert!(Short::new(Some(f32::MAX)).value().unwrap() > 3.0e38);
    }

    proptest! {
        #[test]
        fn numbers_are_nearly_right(value in 1.0e-3_f32..1.0e15) {
            let kept = Short::new(Some(value)).value().unwrap();
            prop_assert!((kept - value).abs() <= value / 500.0, "{value} is kept as {kept}");
        }
    }
}
