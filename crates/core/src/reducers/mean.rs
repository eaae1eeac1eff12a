//! `mean`: the average of the epochs.

use crate::params::Params;
use crate::reducer::{EpochReducer, EpochValues, ReducedValue};
use crate::stats::ExactSum;
use crate::value::{Conversion, Leaf};

/// The average of the epochs, correctly rounded.
///
/// Ten times 0.1 gives 0.1.
#[derive(Clone, Debug, Params)]
#[params(crate = crate, name = "mean")]
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

    fn reduce_epochs(&self, epochs: &EpochValues<'_>) -> ReducedValue {
        ReducedValue::Leaf(Leaf::from(correctly_rounded_mean(epochs.floats())))
    }
}

/// The mean, rounded once. Grades and most numbers add up without error, and then one division is
/// already correct; only where an addition lost something is the exact sum needed.
pub(super) fn correctly_rounded_mean(values: &[f64]) -> f64 {
    let mut sum = 0.0;
    let mut lost = 0.0;
    for &value in values {
        // Knuth's two-sum: `error` is exactly what the addition rounded away.
        let next: f64 = sum + value;
        let back = next - sum;
        let error: f64 = (sum - (next - back)) + (value - back);
        lost += error.abs();
        sum = next;
    }
    if lost == 0.0 || !values.iter().all(|v| v.is_finite()) {
        return sum / values.len() as f64;
    }
    let mut exact = ExactSum::new();
    exact.extend(values);
    exact.divide(values.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;
    use crate::reducers::test_support::reduce;

    #[test]
    fn rounded_once() {
        assert_eq!(correctly_rounded_mean(&[0.1; 10]), 0.1);
        assert_eq!(correctly_rounded_mean(&[1.0, 0.0, 0.0]), 1.0 / 3.0);
        // The sum overflows, the mean does not.
        assert_eq!(correctly_rounded_mean(&[1e308; 4]), 1e308);
        assert_eq!(correctly_rounded_mean(&[f64::INFINITY, 1.0]), f64::INFINITY);
    }

    #[test]
    fn unscored_epochs_give_no_value() {
        assert_eq!(reduce(&mean(), vec!["C".into(), Value::Unscored, "I".into()]).value, Value::Float(0.5));
        assert_eq!(reduce(&mean(), vec![Value::Unscored]).value, Value::Unscored);
        assert_eq!(reduce(&mean(), vec![]).value, Value::Unscored);
        assert_eq!(reduce(&mean(), vec!["C".into()]).value, Value::Float(1.0), "even one epoch is converted");
    }
}
