//! Reducers that count equal values, or keep all of them: `mode`, `majority`, `collect`.

use crate::reducer::{EpochReducer, EpochValues, ReducedValue};
use crate::registry::Params;
use crate::value::Leaf;

/// The most common value; on a tie the one seen first.
///
/// # Formula
/// ```text
/// the value with the most epochs
/// ```
///
/// # When
/// The answer of most epochs counts (self-consistency). Values stay as they are; see `majority` where more than half
/// must agree.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,epoch,score a,1,1 a,2,0 a,3,1 b,1,0 b,2,0 b,3,1 c,1,1 c,2,1 c,3,1 > runs.csv
/// $ errorbar score runs.csv --reducer 'mode'
/// runs.csv · 9 rows
///
/// score · reduced by mode · 3 epochs · 3 scored
///                                       0                                       1
///   accuracy  0.67 ± 0.33 [0.21, 0.94]           ├─────────────────●──────────┤    only 3 scores
///
/// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `majority`, `mean`, `collect`
///
/// # Source
/// As inspect_ai defines it.
#[derive(Clone, Debug, Params)]
#[params(crate = crate, name = "mode", reference)]
pub struct Mode;

impl EpochReducer for Mode {
    fn depends_on_epochs(&self) -> bool {
        true
    }

    fn reduce_epochs(&self, epochs: &EpochValues<'_>) -> ReducedValue {
        ReducedValue::Leaf(epochs.to_leaf(epochs.most_common().0))
    }
}

/// The value that more than half of all epochs hold, unscored ones counted; else unscored.
///
/// # Formula
/// ```text
/// v with #(x = v) > K/2
/// ```
///
/// # When
/// A vote that counts only with more than half of all epochs; without one the sample is unscored, and reported as
/// such.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,epoch,score a,1,1 a,2,0 a,3,1 b,1,0 b,2,0 b,3,1 c,1,1 c,2,1 c,3,1 > runs.csv
/// $ errorbar score runs.csv --reducer 'majority'
/// runs.csv · 9 rows
///
/// score · reduced by majority · 3 epochs · 3 scored
///                                       0                                       1
///   accuracy  0.67 ± 0.33 [0.21, 0.94]           ├─────────────────●──────────┤    only 3 scores
///
/// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `mode`, `at_least`, `collect`
///
/// # Source
/// As inspect_ai defines it.
#[derive(Clone, Debug, Params)]
#[params(crate = crate, name = "majority", reference)]
pub struct Majority;

impl EpochReducer for Majority {
    fn depends_on_epochs(&self) -> bool {
        true
    }

    fn is_vote(&self) -> bool {
        true
    }

    fn reduce_epochs(&self, epochs: &EpochValues<'_>) -> ReducedValue {
        let (first, count) = epochs.most_common();
        let won = 2 * count > epochs.total();
        ReducedValue::Leaf(if won { epochs.to_leaf(first) } else { Leaf::Unscored })
    }
}

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
    use crate::Value;
    use crate::reducers::test_support::reduce;

    fn most_common(values: impl IntoIterator<Item = Value>) -> Value {
        reduce(&mode(), values).value
    }

    #[test]
    fn the_first_seen_wins_ties_and_represents_its_equals() {
        assert_eq!(most_common(["I".into(), "C".into(), "C".into()]), "C".into());
        assert_eq!(most_common(["I".into(), "C".into()]), "I".into());
        // true, 1 and 1.0 are one value: three votes against two.
        assert_eq!(most_common([0.into(), true.into(), 1.into(), 1.0.into(), 0.into()]), Value::Bool(true));
        assert_eq!(most_common(["1".into(), 1.into(), Value::Unscored, "1".into()]), "1".into());
    }

    #[test]
    fn many_epochs_are_tallied_alike() {
        let many = |most: i64| (0..200).map(move |at| Value::from(if at % 3 == 0 { at } else { most }));
        assert_eq!(most_common(many(7)), Value::Int(7));
        let numbers = (0..100).flat_map(|at| [Value::from(at), Value::from(true), Value::from(1.0)]);
        assert_eq!(most_common(numbers), Value::Bool(true));
    }

    #[test]
    fn lists_and_maps_by_leaf() {
        let map = |a: i64, b: Option<f64>| Value::map([("a", crate::Leaf::from(a)), ("b", b.into())]);
        let reduced = most_common([map(1, None), map(2, Some(f64::NAN)), map(2, None)]);
        assert_eq!(reduced, map(2, None), "null counts as a value, NaN does not");
    }

    #[test]
    fn more_than_half_of_all() {
        assert_eq!(reduce(&majority(), vec!["C".into(), "C".into(), "I".into()]).value, "C".into());
        assert_eq!(reduce(&majority(), vec!["C".into(), "I".into()]).value, Value::Unscored);
        let short = reduce(&majority(), vec!["C".into(), "C".into(), Value::Unscored, Value::Unscored]);
        assert_eq!(short.value, Value::Unscored, "two of four are no majority");
        let panel = short.metadata.unwrap()["panel"].clone();
        let failure = |index| serde_json::json!({"index": index, "reason": null, "explanation": null});
        assert_eq!(panel["votes"], serde_json::json!(["C", "C", null, null]));
        assert_eq!(panel["size"], 4);
        assert_eq!(panel["failures"], serde_json::json!([failure(2), failure(3)]));
    }
}

#[cfg(test)]
mod collect_tests {
    use super::*;
    use crate::reducer::Reducer;
    use crate::{Score, Value};

    #[test]
    fn scalars_only() {
        let scores: Vec<Score> = [Value::from("C"), Value::Unscored, 2.into()].map(Score::new).into();
        let list = collect().reduce(&scores).unwrap().value;
        assert_eq!(list, Value::List(vec!["C".into(), 2.into()]));
        let refused = collect().reduce(&[Score::new(Value::list([1, 2]))]);
        assert!(refused.as_ref().is_err_and(|e| e.to_string().contains("the score is")), "{refused:?}");
    }
}
