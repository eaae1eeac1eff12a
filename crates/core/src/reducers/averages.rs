//! The middle of the epochs: `mean`, `median`.

use crate::reducer::{EpochReducer, EpochValues, ReducedValue};
use crate::registry::Params;
use crate::value::{Conversion, Leaf};
use errorbar_stats::exact::ExactSum;

/// The average of the epochs, correctly rounded.
///
/// Ten times 0.1 gives 0.1.
///
/// # Formula
/// ```text
/// Σx / K
/// ```
///
/// # When
/// The default: a sample's score is its share of success, and the error of the mean over samples contains that of
/// epochs.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,epoch,score a,1,1 a,2,0 a,3,1 b,1,0 b,2,0 b,3,1 c,1,1 c,2,1 c,3,1 > runs.csv
/// $ errorbar score runs.csv --reducer 'mean'
/// runs.csv · 9 rows
///
/// score · reduced by mean · 3 epochs · 3 scored
///                                       0                   1
///   accuracy  0.67 ± 0.19 [0.11, 0.97]    ├──────────●─────┤   only 3 scores ·
///                                                              ± 0.16 for the same samples again
///
/// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `median`, `mode`, `pass_at`, `variance_components`
///
/// # Source
/// As inspect_ai defines it.
#[derive(Clone, Debug, Params)]
#[params(crate = crate, name = "mean", reference)]
pub struct Mean {
    /// How values become numbers.
    #[param(default = Conversion::default())]
    value_to_float: Conversion,
}

impl EpochReducer for Mean {
    fn conversion(&self) -> Option<&Conversion> {
        Some(&self.value_to_float)
    }

    fn keeps_single(&self) -> bool {
        true
    }

    fn keeps_expectation(&self) -> bool {
        self.value_to_float == Conversion::default()
    }

    /// s²/K.
    fn variance_of_epochs(&self, epochs: &[f64]) -> Option<f64> {
        let k = epochs.len() as f64;
        let mean = epochs.iter().sum::<f64>() / k;
        let squares: f64 = epochs.iter().map(|x| (x - mean) * (x - mean)).sum();
        (epochs.len() > 1).then_some(squares / (k - 1.0) / k)
    }

    fn reduce_epochs(&self, epochs: &EpochValues<'_>) -> ReducedValue {
        ReducedValue::Leaf(Leaf::from(ExactSum::mean(epochs.floats())))
    }
}

/// The middle of the epochs; of an even number, the mean of the middle two.
///
/// # Formula
/// ```text
/// the middle of x₁ … x_K
/// ```
///
/// # When
/// Numbers with an odd extreme among the epochs of a sample.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,epoch,score a,1,1 a,2,0 a,3,1 b,1,0 b,2,0 b,3,1 c,1,1 c,2,1 c,3,1 > runs.csv
/// $ errorbar score runs.csv --reducer 'median'
/// runs.csv · 9 rows
///
/// score · reduced by median · 3 epochs · 3 scored
///                                       0                                       1
///   accuracy  0.67 ± 0.33 [0.21, 0.94]           ├─────────────────●──────────┤    only 3 scores
///
/// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `mean`, `mode`
///
/// # Source
/// As inspect_ai defines it.
#[derive(Clone, Debug, Params)]
#[params(crate = crate, name = "median", reference)]
pub struct Median {
    /// How values become numbers.
    #[param(default = Conversion::default())]
    value_to_float: Conversion,
}

impl EpochReducer for Median {
    fn conversion(&self) -> Option<&Conversion> {
        Some(&self.value_to_float)
    }

    fn depends_on_epochs(&self) -> bool {
        true
    }

    fn keeps_single(&self) -> bool {
        true
    }

    fn reduce_epochs(&self, epochs: &EpochValues<'_>) -> ReducedValue {
        // Epochs are few: a copy on the stack spares an allocation per sample.
        let mut few = [0.0; 16];
        let mut many;
        let floats = epochs.floats();
        let sorted: &mut [f64] = match few.get_mut(..floats.len()) {
            Some(few) => {
                few.copy_from_slice(floats);
                few
            }
            None => {
                many = floats.to_vec();
                &mut many
            }
        };
        sorted.sort_unstable_by(f64::total_cmp);
        let middle = sorted.get((sorted.len() - 1) / 2..=sorted.len() / 2).unwrap_or_default();
        ReducedValue::Leaf(Leaf::from(ExactSum::mean(middle)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;
    use crate::reducers::test_support::reduce;

    #[test]
    fn unscored_epochs_give_no_value() {
        assert_eq!(reduce(&mean(), vec!["C".into(), Value::Unscored, "I".into()]).value, Value::Float(0.5));
        assert_eq!(reduce(&mean(), vec![Value::Unscored]).value, Value::Unscored);
        assert_eq!(reduce(&mean(), vec![]).value, Value::Unscored);
        assert_eq!(reduce(&mean(), vec!["C".into()]).value, Value::Float(1.0), "even one epoch is converted");
    }

    #[test]
    fn middle_or_mean_of_the_middle_two() {
        let reduce = |values: &[f64]| reduce(&median(), values.iter().map(|value| Value::from(*value))).value;
        assert_eq!(reduce(&[3.0, 1.0, 2.0]), Value::Float(2.0));
        assert_eq!(reduce(&[4.0, 1.0, 2.0, 3.0]), Value::Float(2.5));
        assert_eq!(reduce(&[7.0]), Value::Float(7.0));
        let many: Vec<f64> = (0..31).rev().map(f64::from).collect();
        assert_eq!(reduce(&many), Value::Float(15.0));
    }
}
