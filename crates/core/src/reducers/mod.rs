//! The built-in reducers, a module for each family.

mod successes;

pub use successes::*;

use self::successes::check_k;
use crate::error::Result;
use crate::reducer::{EpochReducer, EpochValues, ReducedValue};
use crate::registry::{Count, Params, ReducerEntry, entries};
use crate::value::{Conversion, Leaf};
use errorbar_stats::exact::ExactSum;

/// Every built-in reducer, in the order that lists show.
pub(crate) const ENTRIES: &[ReducerEntry] =
    entries![Mean, Median, Mode, Max, PassAt, PassK, AtLeast, Majority, Collect, GPass, BestOf,];

#[cfg(test)]
mod test_support {
    use crate::{Reducer, Score, Value};

    /// What a reducer makes of the values of a sample's epochs.
    pub(super) fn reduce(reducer: &dyn Reducer, values: impl IntoIterator<Item = Value>) -> Score {
        let scores: Vec<Score> = values.into_iter().map(Score::new).collect();
        reducer.reduce(&scores).unwrap()
    }

    /// Whether a published figure is met.
    pub(super) fn assert_close(got: Option<f64>, want: f64) {
        let got = got.unwrap();
        assert!((got - want).abs() <= 1e-14 * want.abs(), "{got} {want}");
    }
}

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

/// The value that the best of k epochs has on average.
///
/// Estimated without bias from all epochs: the mean of the greatest value over all ways to choose k of them. Unlike
/// that of max, it does not grow with the number of epochs. A range of k, `best_of(1..4)`, is a reducer for each k.
///
/// # Formula
/// ```text
/// Σ_{j≥k} C(j−1, k−1) / C(n, k) · x₍ⱼ₎ over ascending scores
/// ```
///
/// # When
/// Scores are numbers, and the best of k attempts is kept.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,epoch,score a,1,1 a,2,0 a,3,1 b,1,0 b,2,0 b,3,1 c,1,1 c,2,1 c,3,1 > runs.csv
/// $ errorbar score runs.csv --reducer 'best_of(2)'
/// runs.csv · 9 rows
///
/// score · reduced by best_of_2 · 3 epochs · 3 scored
///                                       0                                       1
///   accuracy  0.89 ± 0.11 [0.24, 1.00]            ├─────────────────────────●───┤  only 3 scores
///
/// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `max`, `pass_at`
///
/// # Source
/// Tang et al. 2020, "Showing your work doesn't always work".
#[derive(Clone, Debug, Params)]
#[params(crate = crate, name = "best_of")]
pub struct BestOf {
    /// The number of epochs.
    #[param(from = u64, map = Count, check = check_k)]
    k: Count<u64>,
    /// How values become numbers.
    #[param(default = Conversion::default())]
    value_to_float: Conversion,
}

impl EpochReducer for BestOf {
    fn conversion(&self) -> Option<&Conversion> {
        Some(&self.value_to_float)
    }

    fn check(&self) -> Result<()> {
        Params::check(self)
    }

    fn needs_epochs(&self) -> Option<u64> {
        Some(self.k.0)
    }

    fn reduce_epochs(&self, epochs: &EpochValues<'_>) -> ReducedValue {
        let mut sorted = epochs.floats().to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        ReducedValue::Leaf(best_of_k(&sorted, self.k.0).map_or(Leaf::Unscored, Leaf::from))
    }
}

/// Σ_{j≥k} C(j−1, k−1)/C(n, k)·s_(j) over ascending scores: the j-th is the greatest of C(j−1, k−1) of the choices. None if
/// k > n.
///
/// Each weight follows from the one after it: k/n for the greatest, then times (j−k)/(j−1).
fn best_of_k(ascending: &[f64], k: u64) -> Option<f64> {
    let n = ascending.len() as u64;
    let (first, last) = (*ascending.first()?, *ascending.last()?);
    if k > n {
        return None;
    }
    // Also where they are infinite, which no sum can hold.
    if first == last || last.is_infinite() {
        return Some(last);
    }
    let (mut sum, mut weights) = (ExactSum::new(), ExactSum::new());
    let mut weight = k as f64 / n as f64;
    for (j, score) in (k..=n).rev().zip(ascending.iter().rev()) {
        if score.is_infinite() {
            return Some(*score);
        }
        sum.add_product(weight, *score);
        weights.add(weight);
        weight *= (j - k) as f64 / (j - 1).max(1) as f64;
    }
    Some(sum.to_f64() / weights.to_f64())
}

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

#[cfg(test)]
mod best_tests {
    use super::*;
    use crate::reducer::Reducer;
    use crate::reducers::test_support::{assert_close, reduce};
    use crate::reducers::{max, mean, pass_at};
    use crate::{Error, Value};

    #[test]
    fn keeps_the_original_value() {
        assert_eq!(reduce(&max(), vec!["I".into(), "C".into(), 1.into()]).value, Value::from("C"));
        assert_eq!(reduce(&max(), vec![f64::NEG_INFINITY.into()]).value, Value::Float(f64::NEG_INFINITY));
        assert_eq!(reduce(&max(), vec![0.5.into(), Value::Unscored, 2.into()]).value, Value::Int(2));
    }

    /// The mean of the greatest value over all choices of k.
    fn by_enumeration(scores: &[f64], k: usize) -> f64 {
        let choices = (0_u32..1 << scores.len()).filter(|choice| choice.count_ones() as usize == k);
        let greatest = |choice: u32| {
            let chosen = scores.iter().enumerate().filter(|(at, _)| choice >> at & 1 == 1);
            chosen.map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max)
        };
        let all: Vec<f64> = choices.map(greatest).collect();
        all.iter().sum::<f64>() / all.len() as f64
    }

    #[test]
    fn the_mean_over_all_choices() {
        let scores = [-2.5, 0.0, 0.25, 0.25, 1.0, 3.5, 7.0];
        for k in 1..=scores.len() {
            let (got, want) = (best_of_k(&scores, k as u64), by_enumeration(&scores, k));
            assert!((got.unwrap() - want).abs() < 1e-14, "{k}: {got:?} {want}");
        }
        // By hand: 1, 2, 3 in pairs have the greatest 2, 3, 3.
        assert_close(best_of_k(&[1.0, 2.0, 3.0], 2), 8.0 / 3.0);
        assert_eq!(best_of_k(&[0.1; 7], 3), Some(0.1), "equal scores are their own best");
    }

    #[test]
    fn one_is_the_mean_and_all_is_the_greatest() {
        let epochs = || [0.5, 0.25, 0.0, 1.0].map(Value::from);
        assert_eq!(reduce(&best_of(1), epochs()).value, reduce(&mean(), epochs()).value);
        assert_eq!(reduce(&best_of(4), epochs()).value, reduce(&max(), epochs()).value);
        assert_eq!(reduce(&best_of(5), epochs()).value, Value::Unscored, "more than there are");
        let grades = || ["C", "I", "I"].map(Value::from);
        assert_eq!(reduce(&best_of(2), grades()).value, reduce(&pass_at(2), grades()).value);
        assert_eq!(best_of(2).log_name(), "best_of_2");
        assert!(matches!(best_of(0).reduce(&[]), Err(Error::Argument { .. })));
    }

    #[test]
    fn infinite_scores() {
        assert_eq!(best_of_k(&[0.0, f64::INFINITY], 1), Some(f64::INFINITY));
        assert_eq!(best_of_k(&[f64::NEG_INFINITY, 1.0], 2), Some(1.0));
        assert_eq!(best_of_k(&[f64::NEG_INFINITY, 1.0], 1), Some(f64::NEG_INFINITY));
    }
}

#[cfg(test)]
mod votes_tests {
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
