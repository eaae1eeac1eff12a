//! `mean`: the average of the epochs.

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
}
