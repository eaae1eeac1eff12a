//! `collect`: all epochs, as a list.

use crate::reducer::{EpochReducer, EpochValues, ReducedValue};
use crate::registry::Params;

/// The list of the epochs' values, for metrics over lists such as krippendorff_alpha.
///
/// # Formula
/// ```text
/// [x₁, …, x_K]
/// ```
///
/// # When
/// Epochs are ratings, and a metric over lists follows.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,epoch,score a,1,1 a,2,0 a,3,1 b,1,0 b,2,0 b,3,1 c,1,1 c,2,1 c,3,1 > runs.csv
/// $ errorbar score runs.csv --reducer collect --metric krippendorff_alpha
/// runs.csv · 9 rows
///
/// score · reduced by collect · 3 epochs · 3 scored
///                                                  -0.4              0.5
///   krippendorff_alpha  0.11 ± 0.22 [-0.33, 0.43]   ├─────────●──────┤
///       only 3 scores · 366 undefined resamples · 3 units
///
/// ± one standard error (bootstrap) · [95 % interval: bootstrap] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `krippendorff_alpha`, `fleiss_kappa`, `mode`
///
/// # Source
/// As inspect_ai defines it.
#[derive(Clone, Debug, Params)]
#[params(crate = crate, name = "collect", reference)]
pub struct Collect;

impl EpochReducer for Collect {
    fn lifts(&self) -> bool {
        false
    }

    fn reduce_epochs(&self, epochs: &EpochValues<'_>) -> ReducedValue {
        ReducedValue::List((0..epochs.len()).map(|at| epochs.to_leaf(at)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reducer::Reducer;
    use crate::{Error, Score, Value};

    #[test]
    fn scalars_only() {
        let scores: Vec<Score> = [Value::from("C"), Value::Unscored, 2.into()].map(Score::new).into();
        let list = collect().reduce(&scores).unwrap().value;
        assert_eq!(list, Value::List(vec!["C".into(), 2.into()]));
        let refused = collect().reduce(&[Score::new(Value::list([1, 2]))]);
        assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    }
}
