//! How much GPUs count between users, by their type.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::names::fits;
use crate::amount::Amount;
use crate::ids::GpuType;

/// The most that a GPU counts as.
const MOST: Amount = Amount::whole(1_000);

/// As how many GPUs one of a type counts where users share by what they have had: by patterns of types'
/// names, of which the longest that fits counts. Where none does it counts as one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(try_from = "BTreeMap<String, Amount>")]
pub struct GpuWeights(Vec<(String, Amount)>);

/// Nothing would be said of who had what counts for nothing, and of others beside what counts for all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} cannot count as {1}; allowed is 0.001 to {MOST}")]
pub struct NoGpuWeight(String, Amount);

impl TryFrom<BTreeMap<String, Amount>> for GpuWeights {
    type Error = NoGpuWeight;

    fn try_from(weights: BTreeMap<String, Amount>) -> Result<Self, NoGpuWeight> {
        let wrong = weights.iter().find(|(_, weight)| weight.milli() == 0 || **weight > MOST);
        if let Some((pattern, weight)) = wrong {
            return Err(NoGpuWeight(pattern.clone(), *weight));
        }
        let patterns =
            weights.into_iter().map(|(pattern, weight)| (pattern.to_lowercase(), weight));
        let mut patterns: Vec<_> = patterns.collect();
        patterns.sort_by_key(|(pattern, _)| std::cmp::Reverse(pattern.len()));
        Ok(Self(patterns))
    }
}

impl GpuWeights {
    /// As how many GPUs one of a type counts.
    #[must_use]
    pub fn of(&self, gpu_type: &GpuType) -> Amount {
        let name = gpu_type.as_str().to_lowercase();
        let named = self.0.iter().find(|(pattern, _)| fits(pattern, &name));
        named.map_or(Amount::whole(1), |(_, weight)| *weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(of: &[(&str, u64)]) -> Result<GpuWeights, NoGpuWeight> {
        let milli =
            |(pattern, milli): &(&str, u64)| ((*pattern).to_owned(), Amount::from_milli(*milli));
        of.iter().map(milli).collect::<BTreeMap<_, _>>().try_into()
    }

    #[test]
    fn the_longest_pattern_that_fits_counts() {
        let weights = weights(&[("A100", 2_500), ("RTX*", 500), ("rtx4090", 1_200)]).unwrap();
        let of = |name: &str| weights.of(&name.parse().unwrap()).milli();
        assert_eq!(of("A100"), 2_500);
        assert_eq!(of("A100-1g.10gb"), 1_000, "a part of one has a name of its own");
        assert_eq!(of("RTX2080Ti"), 500);
        assert_eq!(of("RTX4090"), 1_200);
        assert_eq!(of("H100"), 1_000);
    }

    #[test]
    fn nothing_counts_for_nothing_or_all() {
        for milli in [0, 1_000_001, u64::MAX] {
            let error = weights(&[("A100", milli)]).unwrap_err().to_string();
            assert!(error.contains("A100") && error.contains("0.001 to 1000"), "{error}");
        }
        assert!(weights(&[("A100", 1), ("H100", 1_000_000)]).is_ok());
    }
}
