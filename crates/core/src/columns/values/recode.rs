//! Scores that are given another meaning: what a table calls `PASS` is a 1.

use std::sync::Arc;

use indexmap::IndexMap;

use super::{GAP, ValueColumn};
use crate::columns::tagged::{Tag, payload_float};
use crate::columns::{ScoreColumns, ScorerColumn};
use crate::value::{Conversion, Leaf, LeafRef, Value, ValueRef};

/// What becomes of a score.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Recoded {
    /// It stays as it is.
    Same,
    /// There is none: it is missing, or unscored within a list or a map.
    Missing,
    /// This.
    Value(Leaf),
}

/// Which scores are given another meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecodedKinds {
    /// Strings: each distinct one is looked at once, and a column of numbers is not touched.
    Strings,
    /// All scalars.
    All,
}

/// The distinct scalars of a scorer.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct DistinctScores {
    /// The scalars with their numbers, in order of first appearance; items of lists and maps are among them.
    pub values: Vec<(Leaf, usize)>,
    /// The number of further scores, beyond the values that were asked for.
    pub others: usize,
    /// The lowest and the highest number.
    pub range: Option<(f64, f64)>,
    /// The number of rows without a score.
    pub missing: usize,
    /// The number of unscored rows.
    pub unscored: usize,
    /// The number of lists and maps.
    pub nested: usize,
}

impl ScoreColumns {
    /// Gives scores of all scorers another meaning; the number of those that changed.
    ///
    /// ```
    /// use errorbar_core::{LeafRef, Score, ScoreColumns};
    /// use errorbar_core::engine::{Recoded, RecodedKinds};
    /// let mut columns = ScoreColumns::new(["tests"]);
    /// columns.push("q1", 1).score("tests", Score::new("PASS"))?;
    /// let recode = |leaf: LeafRef<'_>| match leaf {
    ///     LeafRef::Str("PASS") => Recoded::Value(1.into()),
    ///     _ => Recoded::Same,
    /// };
    /// assert_eq!(columns.recode_scores(RecodedKinds::Strings, recode), 1);
    /// assert_eq!(columns.score(0, "tests"), Some(Score::new(1)));
    /// # Ok::<(), errorbar_core::Error>(())
    /// ```
    pub fn recode_scores(&mut self, kinds: RecodedKinds, recode: impl Fn(LeafRef<'_>) -> Recoded) -> usize {
        let recode = |_: Option<&str>, leaf: LeafRef<'_>| recode(leaf);
        self.scorers.iter_mut().map(|scorer| scorer.values.recode(kinds, &recode)).sum()
    }

    /// The same for the scores of one scorer; of values of maps their key is passed, too.
    pub fn recode_scorer(
        &mut self,
        name: &str,
        kinds: RecodedKinds,
        recode: impl Fn(Option<&str>, LeafRef<'_>) -> Recoded,
    ) -> usize {
        self.values_mut(name).map_or(0, |values| values.recode(kinds, &recode))
    }

    /// Remembers the scores as they are now, for metrics that read labels
    /// ([`reads_labels`](crate::Metric::reads_labels)).
    pub fn keep_labels(&mut self) {
        self.labels = None;
        self.labels = Some(Arc::new(self.clone()));
    }

    /// The same rows with the scores that metrics of labels read.
    pub(crate) fn labels(&self) -> Option<&ScoreColumns> {
        self.labels.as_deref()
    }

    /// The distinct scalars of a scorer, up to a number of them.
    pub fn distinct_scores(&self, scorer: &str, most: usize) -> DistinctScores {
        self.distinct_scores_where(scorer, most, |_| true)
    }

    /// The same of those scalars for which a test holds; only they count towards the number.
    pub fn distinct_scores_where(
        &self,
        scorer: &str,
        most: usize,
        test: impl Fn(LeafRef<'_>) -> bool,
    ) -> DistinctScores {
        let values = self.scorer(scorer).map(ScorerColumn::values);
        let mut distinct = values.map(|values| values.distinct(most, test)).unwrap_or_default();
        distinct.missing += self.len() - values.map_or(0, ValueColumn::len);
        distinct
    }

    /// The distinct strings among the scores of a scorer, those within lists and maps aside. Some may have been replaced.
    pub fn distinct_strings(&self, scorer: &str) -> impl Iterator<Item = &str> {
        self.scorer(scorer).into_iter().flat_map(|scorer| scorer.values.texts.iter()).map(|text| &**text)
    }

    /// The lists and maps among the scores of a scorer. Some may have been replaced.
    pub fn nested_scores(&self, scorer: &str) -> impl Iterator<Item = &Value> {
        self.scorer(scorer).into_iter().flat_map(|scorer| scorer.values.nested.iter())
    }

    /// The first row of a scorer with a value for which a test holds; items of lists and maps are looked at too.
    pub fn find_score(&self, scorer: &str, test: impl Fn(LeafRef<'_>) -> bool) -> Option<usize> {
        let values = self.scorer(scorer)?.values();
        (0..values.len()).find(|row| values.get(*row).is_some_and(|value| value.leaves().any(&test)))
    }

    pub(super) fn values_mut(&mut self, scorer: &str) -> Option<&mut ValueColumn> {
        self.scorers.iter_mut().find(|found| found.name == scorer).map(|found| &mut found.values)
    }
}

/// A key for equal scalars of one type.
fn key(leaf: LeafRef<'_>) -> Option<(&'static str, u64, &str)> {
    let (number, text) = match leaf {
        LeafRef::Unscored => return None,
        LeafRef::Null => (0, ""),
        LeafRef::Bool(value) => (u64::from(value), ""),
        LeafRef::Int(int) => (int.cast_unsigned(), ""),
        LeafRef::Float(float) => (float.to_bits(), ""),
        LeafRef::Str(text) => (0, text),
    };
    Some((leaf.kind(), number, text))
}

impl ValueColumn {
    fn recode(
        &mut self,
        kinds: RecodedKinds,
        recode: &impl Fn(Option<&str>, LeafRef<'_>) -> Recoded,
    ) -> usize {
        let all = kinds == RecodedKinds::All;
        if !all && self.count(Tag::Text) + self.count(Tag::Nested) == 0 {
            return 0;
        }
        let texts: Vec<Recoded> = self.texts.iter().map(|text| recode(None, LeafRef::Str(text))).collect();
        let are_same = texts.iter().all(|recoded| *recoded == Recoded::Same);
        if are_same && !all && self.count(Tag::Nested) == 0 {
            return 0;
        }
        let mut changed = 0;
        for row in 0..self.len() {
            let (tag, payload) = self.cell(row);
            let recoded = match tag {
                Tag::Missing | Tag::Unscored | Tag::Null => Recoded::Same,
                Tag::Text => texts.get(payload as usize).cloned().unwrap_or(Recoded::Same),
                Tag::Nested => {
                    let items = self.nested.get_mut(payload as usize);
                    changed += items.map_or(0, |items| recode_items(items, all, recode));
                    Recoded::Same
                }
                Tag::Bool | Tag::Int | Tag::Float if !all => Recoded::Same,
                Tag::Bool => recode(None, LeafRef::Bool(payload != 0)),
                Tag::Int => recode(None, LeafRef::Int(payload.cast_signed())),
                Tag::Float => recode(None, LeafRef::Float(payload_float(payload))),
            };
            changed += usize::from(self.set(row, recoded));
        }
        changed
    }

    fn distinct(&self, most: usize, test: impl Fn(LeafRef<'_>) -> bool) -> DistinctScores {
        let mut distinct = DistinctScores::default();
        let mut counts = IndexMap::new();
        for row in 0..self.len() {
            let Some(value) = self.get(row) else {
                distinct.missing += 1;
                continue;
            };
            distinct.nested += usize::from(!matches!(value, ValueRef::Leaf(_)));
            for leaf in value.leaves() {
                let Some(key) = key(leaf) else {
                    distinct.unscored += 1;
                    continue;
                };
                if !test(leaf) {
                    continue;
                }
                if let (LeafRef::Int(_) | LeafRef::Float(_), Some(number)) = (leaf, leaf.number()) {
                    let (low, high) = distinct.range.unwrap_or((number, number));
                    distinct.range = Some((low.min(number), high.max(number)));
                }
                if counts.len() < most || counts.contains_key(&key) {
                    counts.entry(key).or_insert((leaf, 0)).1 += 1;
                } else {
                    distinct.others += 1;
                }
            }
        }
        distinct.values =
            counts.into_values().map(|(leaf, count): (LeafRef<'_>, usize)| (leaf.to_leaf(), count)).collect();
        distinct
    }
}

impl ValueColumn {
    /// Replaces the value of a row; whether it changed.
    fn set(&mut self, row: usize, recoded: Recoded) -> bool {
        let value = match recoded {
            Recoded::Same => return false,
            Recoded::Missing => None,
            Recoded::Value(leaf) => Some(Value::from(leaf)),
        };
        let cell = self.encode(value);
        self.replace(row, cell);
        true
    }
}

/// Gives the items of a list or map another meaning; the number of those that changed.
fn recode_items(
    value: &mut Value,
    all: bool,
    recode: &impl Fn(Option<&str>, LeafRef<'_>) -> Recoded,
) -> usize {
    let mut changed = 0;
    let mut item = |key: Option<&str>, leaf: &mut Leaf| {
        let is_looked_at = match leaf {
            Leaf::Str(_) => true,
            Leaf::Bool(_) | Leaf::Int(_) | Leaf::Float(_) => all,
            _ => false,
        };
        let recoded = if is_looked_at { recode(key, leaf.view()) } else { Recoded::Same };
        match recoded {
            Recoded::Same => return,
            Recoded::Missing => *leaf = Leaf::Unscored,
            Recoded::Value(value) => *leaf = value,
        }
        changed += 1;
    };
    match value {
        Value::List(items) => items.iter_mut().for_each(|leaf| item(None, leaf)),
        Value::Map(map) => map.iter_mut().for_each(|(key, leaf)| item(Some(&**key), leaf)),
        _ => {}
    }
    changed
}

// What scores there are, looked through as a whole, and scores taken out.

impl ScoreColumns {
    /// Whether some score is a number below `low` or above `high`. Strings are read by the default conversion; what is no
    /// number does not count.
    ///
    /// ```
    /// use errorbar_core::{Score, ScoreColumns};
    /// let mut columns = ScoreColumns::new(["judge"]);
    /// columns.push("q1", 1).score("judge", Score::new("C"))?;
    /// assert!(!columns.has_number_outside(0.0, 1.0));
    /// columns.push("q2", 1).score("judge", Score::new(7))?;
    /// assert!(columns.has_number_outside(0.0, 1.0));
    /// # Ok::<(), errorbar_core::Error>(())
    /// ```
    pub fn has_number_outside(&self, low: f64, high: f64) -> bool {
        let is_outside = |number: f64| number.is_finite() && (number < low || number > high);
        self.scorers.iter().any(|scorer| scorer.values.numbers().any(is_outside))
    }

    /// Whether some row has a score, one that is not unscored.
    ///
    /// ```
    /// use errorbar_core::{Score, ScoreColumns};
    /// let mut columns = ScoreColumns::new(["judge"]);
    /// columns.push("q1", 1).score("judge", Score::unscored("refusal"))?;
    /// assert!(!columns.has_scores());
    /// columns.push("q2", 1).score("judge", Score::new("I"))?;
    /// assert!(columns.has_scores());
    /// # Ok::<(), errorbar_core::Error>(())
    /// ```
    pub fn has_scores(&self) -> bool {
        self.scorers.iter().any(|scorer| {
            let (present, unscored) = scorer.values.count_present();
            present > unscored
        })
    }

    /// The highest finite number among the scores, but for those in lists and maps.
    pub fn highest_number(&self) -> Option<f64> {
        let numbers = self.scorers.iter().flat_map(|scorer| scorer.values.numbers());
        numbers.filter(|number| number.is_finite()).reduce(f64::max)
    }

    /// Makes scores of a scorer missing, and returns their number. Values that are unscored are not looked at.
    ///
    /// ```
    /// use errorbar_core::{Score, ScoreColumns};
    /// let mut columns = ScoreColumns::new(["judge"]);
    /// columns.push("q1", 1).score("judge", Score::new("n/a"))?;
    /// columns.push("q2", 1).score("judge", Score::new("C"))?;
    /// assert_eq!(columns.remove_scores("judge", |value| value.as_text().is_ok_and(|text| text == "n/a")), 1);
    /// assert!(columns.score(0, "judge").is_none() && columns.score(1, "judge").is_some());
    /// # Ok::<(), errorbar_core::Error>(())
    /// ```
    pub fn remove_scores(&mut self, scorer: &str, is_removed: impl Fn(ValueRef<'_>) -> bool) -> usize {
        self.values_mut(scorer).map_or(0, |values| values.remove(is_removed))
    }
}

impl ValueColumn {
    /// The scalars that are numbers; strings are read by the default conversion. Booleans, which are within any bounds that
    /// make sense, are not among them.
    fn numbers(&self) -> impl Iterator<Item = f64> {
        let conversion = Conversion::default();
        (0..self.len()).filter_map(move |row| match self.get(row)? {
            ValueRef::Leaf(LeafRef::Bool(_) | LeafRef::Unscored) | ValueRef::List(_) | ValueRef::Map(_) => {
                None
            }
            ValueRef::Leaf(leaf) => {
                let converted = conversion.convert_leaf(leaf);
                converted.convertible.then_some(converted.value)
            }
        })
    }

    /// Makes a gap of every value that a test holds for; the number of them.
    fn remove(&mut self, is_removed: impl Fn(ValueRef<'_>) -> bool) -> usize {
        let is_removed = |value: ValueRef<'_>| !value.is_unscored() && is_removed(value);
        let rows: Vec<usize> = (0..self.len()).filter(|row| self.get(*row).is_some_and(is_removed)).collect();
        if rows.is_empty() {
            return 0;
        }
        rows.iter().for_each(|row| self.replace(*row, GAP));
        if self.count(Tag::Nested) == 0 {
            self.nested.clear();
        }
        rows.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Score;
    use crate::metrics::{accuracy, frequency, krippendorff_alpha};
    use crate::{Plan, metrics};

    fn columns(values: &[Value]) -> ScoreColumns {
        let mut columns = ScoreColumns::new(["s"]);
        for (at, value) in values.iter().enumerate() {
            columns.push(at.to_string(), 1).score("s", Score::new(value.clone())).unwrap();
        }
        columns
    }

    fn words(leaf: LeafRef<'_>) -> Recoded {
        match leaf {
            LeafRef::Str("PASS") => Recoded::Value(1.into()),
            LeafRef::Str("FAIL") => Recoded::Value(0.into()),
            LeafRef::Str("NA") => Recoded::Missing,
            LeafRef::Int(7) => Recoded::Value(0.7.into()),
            _ => Recoded::Same,
        }
    }

    #[test]
    fn scores_get_another_meaning() {
        let values: [Value; 7] = [
            "PASS".into(),
            "NA".into(),
            "C".into(),
            7.into(),
            Value::list(["FAIL", "NA"]),
            "PASS".into(),
            f64::NAN.into(),
        ];
        let mut strings = columns(&values);
        assert_eq!(strings.recode_scores(RecodedKinds::Strings, words), 5);
        let found = |columns: &ScoreColumns| {
            (0..values.len()).map(|row| columns.score(row, "s").map(|score| score.value)).collect::<Vec<_>>()
        };
        let list = Value::List(vec![0.into(), Leaf::Unscored]);
        let expected = [
            Some(1.into()),
            None,
            Some("C".into()),
            Some(7.into()),
            Some(list.clone()),
            Some(1.into()),
            Some(Value::Unscored),
        ];
        assert_eq!(found(&strings), expected);
        assert_eq!(strings.scorer("s").unwrap().values.count_present(), (6, 1));
        let mut all = columns(&values);
        assert_eq!(all.recode_scores(RecodedKinds::All, words), 6);
        assert_eq!(found(&all)[3], Some(0.7.into()));
        // Nothing is left to change.
        assert_eq!(strings.recode_scores(RecodedKinds::Strings, words), 0);
    }

    #[test]
    fn distinct_scores_are_counted() {
        let mut columns =
            columns(&["a".into(), 2.into(), "a".into(), Value::list(["b"]), f64::NAN.into(), true.into()]);
        columns.push("gap", 1);
        let distinct = columns.distinct_scores("s", 3);
        assert_eq!(distinct.values, [("a".into(), 2), (2.into(), 1), ("b".into(), 1)]);
        assert_eq!((distinct.others, distinct.missing, distinct.unscored, distinct.nested), (1, 1, 1, 1));
        assert_eq!(distinct.range, Some((2.0, 2.0)));
        assert_eq!(columns.find_score("s", |leaf| leaf == LeafRef::Str("b")), Some(3));
        assert_eq!(columns.find_score("s", |leaf| leaf == LeafRef::Str("c")), None);
    }

    #[test]
    fn metrics_of_labels_see_what_was_written() {
        let mut columns = columns(&["PASS".into(), "NA".into(), "FAIL".into(), "PASS".into()]);
        columns.keep_labels();
        columns.recode_scores(RecodedKinds::Strings, words);
        let plan = Plan::new().metrics(metrics![accuracy(), frequency()]);
        let results = plan.evaluate(&columns).unwrap().results;
        let value = |name: &str| results.estimate(name).unwrap().number();
        assert_eq!(value("accuracy"), Some(2.0 / 3.0));
        let reducers: Vec<_> = results.scores.iter().map(|score| score.reducer.as_deref()).collect();
        assert_eq!(reducers, [Some("mean"), None]);
        let shares: Vec<_> = results.scores[1].metrics.iter().map(|metric| format!("{metric:?}")).collect();
        assert!(shares[0].contains("NA") && shares[0].contains("0.25"), "{shares:?}");
    }

    /// The mean of one epoch would make numbers of labels; α of these pairs of raters is 0.263.
    #[test]
    fn measures_of_agreement_see_labels_within_lists() {
        let mut columns = columns(&[["a", "a"], ["a", "b"], ["b", "b"], ["c", "b"]].map(Value::list));
        columns.keep_labels();
        let plan = Plan::new().metrics(metrics![krippendorff_alpha()]);
        let results = plan.evaluate(&columns).unwrap().results;
        let alpha = results.estimate("krippendorff_alpha").unwrap().number().unwrap();
        assert!((alpha - 0.263).abs() < 5e-4, "{alpha}");
        assert!(results.warnings.is_empty());
    }
}

#[cfg(test)]
mod survey_tests {
    use crate::{Score, ScoreColumns, Value};

    fn columns(values: &[Value]) -> ScoreColumns {
        let mut columns = ScoreColumns::new(["s"]);
        for (at, value) in values.iter().enumerate() {
            columns.push(at.to_string(), 1).score("s", Score::new(value.clone())).unwrap();
        }
        columns
    }

    #[test]
    fn numbers_outside() {
        let inside = [Value::from(1), 0.5.into(), "C".into(), "perhaps".into(), true.into(), f64::NAN.into()];
        assert!(!columns(&inside).has_number_outside(0.0, 1.0));
        assert!(!columns(&[f64::INFINITY.into()]).has_number_outside(0.0, 1.0));
        for outside in [Value::from(2), (-1).into(), 1.5.into(), "1e1".into(), 300.into()] {
            let alone = columns(std::slice::from_ref(&outside));
            assert!(alone.has_number_outside(0.0, 1.0), "{outside:?}");
            let all: Vec<Value> = inside.iter().cloned().chain([outside.clone()]).collect();
            assert!(columns(&all).has_number_outside(0.0, 1.0), "{outside:?}");
        }
    }

    #[test]
    fn what_is_removed_is_missing_and_counted_so() {
        let mut columns = columns(&["C".into(), "x".into(), f64::NAN.into(), Value::list([1]), 1.into()]);
        let is_odd = |value: crate::ValueRef<'_>| !crate::Conversion::default().convert(value).convertible;
        assert_eq!(columns.remove_scores("s", is_odd), 2);
        assert_eq!(columns.remove_scores("s", is_odd), 0);
        assert_eq!(columns.remove_scores("t", is_odd), 0);
        let there: Vec<bool> = (0..5).map(|row| columns.score(row, "s").is_some()).collect();
        assert_eq!(there, [true, false, true, false, true]);
        assert_eq!(columns.scorer("s").unwrap().values.count_present(), (3, 1));
        assert!(columns.scorer("s").unwrap().values.has_missing());
    }
}
