//! `max`: the best of the epochs.

use crate::reducer::{EpochReducer, EpochValues, ReducedValue};
use crate::registry::Params;
use crate::value::Conversion;

/// The greatest value by its conversion, in its original type; the first on ties.
///
/// # Formula
/// ```text
/// max x
/// ```
///
/// # When
/// The best epoch counts, as with a verifier that always finds it. It rises with the number of epochs: for a fair
/// comparison use `best_of`.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,epoch,score a,1,1 a,2,0 a,3,1 b,1,0 b,2,0 b,3,1 c,1,1 c,2,1 c,3,1 > runs.csv
/// $ errorbar score runs.csv --reducer 'max'
/// runs.csv · 9 rows
///
/// score · reduced by max · 3 epochs · 3 scored
///                                0                                       1
///   accuracy  1.00 [0.44, 1.00]                    ├─────────────────────●  no spread in 3 scores
///
/// [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `best_of`, `pass_at`, `mean`
///
/// # Source
/// As inspect_ai defines it.
#[derive(Clone, Debug, Params)]
#[params(crate = crate, name = "max", reference)]
pub struct Max {
    /// How values become numbers.
    #[param(default = Conversion::default())]
    value_to_float: Conversion,
}

impl EpochReducer for Max {
    fn conversion(&self) -> Option<&Conversion> {
        Some(&self.value_to_float)
    }

    fn depends_on_epochs(&self) -> bool {
        true
    }

    fn reduce_epochs(&self, epochs: &EpochValues<'_>) -> ReducedValue {
        let mut best = (0, f64::NEG_INFINITY);
        for (at, &value) in epochs.floats().iter().enumerate() {
            if value > best.1 {
                best = (at, value);
            }
        }
        ReducedValue::Leaf(epochs.to_leaf(best.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;
    use crate::reducers::test_support::reduce;

    #[test]
    fn keeps_the_original_value() {
        assert_eq!(reduce(&max(), vec!["I".into(), "C".into(), 1.into()]).value, Value::from("C"));
        assert_eq!(reduce(&max(), vec![f64::NEG_INFINITY.into()]).value, Value::Float(f64::NEG_INFINITY));
        assert_eq!(reduce(&max(), vec![0.5.into(), Value::Unscored, 2.into()]).value, Value::Int(2));
    }
}
