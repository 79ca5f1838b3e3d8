//! Amounts that need not be whole.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};
use std::iter::Sum;
use std::ops::{Add, AddAssign};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Thousandths of a unit.
const UNIT: u64 = 1000;

/// An amount in thousandths of its unit. On the wire and in texts it is a number with at most three
/// decimals: `2`, `0.25`. What cannot be counted is as much as can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Amount(u64);

impl Amount {
    /// So many whole units.
    #[must_use]
    pub const fn whole(units: u64) -> Self {
        Self(units.saturating_mul(UNIT))
    }

    /// So many thousandths.
    #[must_use]
    pub const fn from_milli(milli: u64) -> Self {
        Self(milli)
    }

    /// In thousandths.
    #[must_use]
    pub const fn milli(self) -> u64 {
        self.0
    }

    /// Whole units, rounded up.
    #[must_use]
    pub const fn ceil(self) -> u64 {
        self.0.div_ceil(UNIT)
    }

    /// Whole units, rounded down.
    #[must_use]
    pub const fn floor(self) -> u64 {
        self.0 / UNIT
    }

    /// More than nothing and less than one unit.
    #[must_use]
    pub const fn is_part(self) -> bool {
        self.0 > 0 && self.0 < UNIT
    }

    /// So many times this.
    #[must_use]
    pub const fn times(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }

    /// What is left without `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// As a floating-point number.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        self.0 as f64 / UNIT as f64
    }
}

impl From<u64> for Amount {
    fn from(units: u64) -> Self {
        Self::whole(units)
    }
}

impl Add for Amount {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Amount {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::default(), Self::add)
    }
}

impl Display for Amount {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (units, milli) = (self.floor(), self.0 % UNIT);
        if milli == 0 {
            return write!(f, "{units}");
        }
        let decimals = format!("{milli:03}");
        write!(f, "{units}.{}", decimals.trim_end_matches('0'))
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 % UNIT {
            0 => serializer.serialize_u64(self.floor()),
            _ => serializer.serialize_f64(self.to_f64()),
        }
    }
}

impl JsonSchema for Amount {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Amount")
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0 })
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = serde_json::Number::deserialize(deserializer)?;
        if let Some(units) = number.as_u64() {
            return Ok(Self::whole(units));
        }
        let milli = number.as_f64().map(|value| (value * UNIT as f64).round());
        let milli = milli.filter(|milli| *milli >= 0.0);
        milli.map(|milli| Self(milli as u64)).ok_or_else(|| {
            serde::de::Error::custom(format!("{number} is not an amount: allowed is 0 or more"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_numbers_on_the_wire_and_in_texts() {
        for (milli, text) in
            [(0, "0"), (2000, "2"), (250, "0.25"), (1, "0.001"), (1500, "1.5"), (10_070, "10.07")]
        {
            let amount = Amount::from_milli(milli);
            assert_eq!(amount.to_string(), text);
            assert_eq!(serde_json::to_string(&amount).unwrap(), text);
            assert_eq!(serde_json::from_str::<Amount>(text).unwrap(), amount);
        }
        assert_eq!(serde_json::from_str::<Amount>("3.0").unwrap(), Amount::whole(3));
        for wrong in ["-1", "-0.5", "\"1\"", "null"] {
            assert!(serde_json::from_str::<Amount>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_thousandth_comes_back() {
        for milli in 0..=3000 {
            let amount = Amount::from_milli(milli);
            let text = serde_json::to_string(&amount).unwrap();
            assert_eq!(serde_json::from_str::<Amount>(&text).unwrap(), amount, "{text}");
        }
    }

    #[test]
    fn amounts_are_added_and_rounded() {
        let parts = [Amount::from_milli(250), Amount::whole(1)];
        let sum: Amount = parts.into_iter().sum();
        assert_eq!((sum.milli(), sum.ceil(), sum.floor()), (1250, 2, 1));
        assert_eq!(sum.without(Amount::whole(2)), Amount::default());
        assert_eq!(Amount::from_milli(250).times(3).to_string(), "0.75");
        assert!(parts[0].is_part() && !parts[1].is_part() && !Amount::default().is_part());
    }
}
