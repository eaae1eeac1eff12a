//! `g_pass(k, j)`: the chance that at least j of k epochs succeed.

use super::hypergeometric::at_least_of;
use super::threshold::check_k;
use crate::error::Result;
use crate::reducer::{EpochReducer, EpochValues, ReducedValue};
use crate::registry::{Count, Params};
use crate::value::{Conversion, Leaf};

/// Probability that at least j of k epochs succeed (G-Pass@k).
///
/// Estimated without bias from all epochs. With j = 1 it is pass_at, with j = k it is pass_k. A range, as in
/// `g_pass(8, 1..8)`, is a reducer for each number: a curve.
///
/// # Formula
/// ```text
/// Σ_{i≥j} C(c, i)·C(n−c, k−i) / C(n, k)
/// n epochs, c of them successes
/// ```
///
/// # When
/// Between `pass_at` and `pass_k`: some failures are fine.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,epoch,score a,1,1 a,2,0 a,3,1 b,1,0 b,2,0 b,3,1 c,1,1 c,2,1 c,3,1 > runs.csv
/// $ errorbar score runs.csv --reducer 'g_pass(3, 2)'
/// runs.csv · 9 rows
///
/// score · reduced by g_pass(k=3, j=2) · 3 epochs · 3 scored
///                                       0                                       1
///   accuracy  0.67 ± 0.33 [0.21, 0.94]           ├─────────────────●──────────┤    only 3 scores
///
/// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `pass_at`, `pass_k`, `at_least`
///
/// # Source
/// Liu et al. 2024, "Are your LLMs capable of stable reasoning?", arXiv 2412.13147.
#[derive(Clone, Debug, Params)]
#[params(crate = crate, name = "g_pass", check = Self::check_j)]
pub struct GPass {
    /// The number of epochs.
    #[param(from = u64, map = Count, check = check_k)]
    k: Count<u64>,
    /// How many of them have to succeed.
    #[param(from = u64, map = Count, check = check_k)]
    j: Count<u64>,
    /// An epoch is a success from this value on.
    #[param(default = 1.0)]
    value: Option<f64>,
    /// How values become numbers.
    #[param(default = Conversion::default())]
    value_to_float: Conversion,
}

impl GPass {
    fn check_j(&self) -> Result<()> {
        let (Count(k), Count(j)) = (self.k, self.j);
        match j > k {
            true => Err(Self::refuse("j", format!("must be at most k: {j} of {k} epochs cannot succeed"))),
            false => Ok(()),
        }
    }
}

impl EpochReducer for GPass {
    fn default_threshold(&self) -> Option<f64> {
        self.value.is_none().then(|| self.value_or_default())
    }

    fn conversion(&self) -> Option<&Conversion> {
        Some(&self.value_to_float)
    }

    fn check(&self) -> Result<()> {
        Params::check(self)
    }

    fn needs_epochs(&self) -> Option<u64> {
        Some(self.k.0)
    }

    fn is_probability(&self) -> bool {
        true
    }

    fn reduce_epochs(&self, epochs: &EpochValues<'_>) -> ReducedValue {
        let least = self.value_or_default();
        let successes = epochs.floats().iter().filter(|float| **float >= least).count();
        let chance = at_least_of(epochs.len() as u64, successes as u64, self.k.0, self.j.0);
        ReducedValue::Leaf(chance.map_or(Leaf::Unscored, Leaf::from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reducer::Reducer;
    use crate::reducers::test_support::reduce;
    use crate::reducers::{pass_at, pass_k};
    use crate::{Error, Value};

    #[test]
    fn one_and_all_are_the_other_two() {
        let epochs = || [1, 0, 1, 1, 0].map(Value::from);
        for k in 1..=5 {
            assert_eq!(reduce(&g_pass(k, 1), epochs()).value, reduce(&pass_at(k), epochs()).value);
            assert_eq!(reduce(&g_pass(k, k), epochs()).value, reduce(&pass_k(k), epochs()).value);
        }
        assert_eq!(reduce(&g_pass(6, 2), epochs()).value, Value::Unscored, "more than there are");
        assert_eq!(g_pass(4, 2).log_name(), "g_pass(k=4, j=2)");
    }

    #[test]
    fn more_successes_than_epochs_are_refused() {
        for (k, j) in [(2, 3), (0, 1), (2, 0)] {
            let refused = g_pass(k, j).reduce(&[]);
            assert!(matches!(refused, Err(Error::Argument { .. })), "{k} {j}: {refused:?}");
        }
    }
}
