//! What scores there are, looked through as a whole, and scores taken out.

use super::{Repr, ValueColumn};
use crate::columns::ScoreColumns;
use crate::columns::tagged::{Tag, payload_float};
use crate::value::{Conversion, LeafRef, ValueRef};

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
        self.scorers.iter().any(|scorer| scorer.values.any_number(is_outside))
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
        let mut highest = None;
        for scorer in &self.scorers {
            scorer.values.any_number(|number| {
                if number.is_finite() && highest.is_none_or(|known| number > known) {
                    highest = Some(number);
                }
                false
            });
        }
        highest
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
    /// Whether a test holds for some number. Each distinct string is read once.
    fn any_number(&self, mut test: impl FnMut(f64) -> bool) -> bool {
        let tagged = match &self.0 {
            Repr::Floats(floats, _) => return floats.iter().any(|float| test(*float)),
            Repr::Tagged(tagged) => tagged,
        };
        if let Some(bytes) = tagged.small_numbers(&[Tag::Int, Tag::Float]) {
            return bytes.iter().any(|byte| test(f64::from(*byte)));
        }
        let conversion = Conversion::default();
        let fits = |text: &std::sync::Arc<str>| {
            let converted = conversion.convert_leaf(LeafRef::Str(text));
            converted.convertible && test(converted.value)
        };
        let texts: Vec<bool> = tagged.texts.iter().map(fits).collect();
        let fits = |(row, tag): (usize, &Tag)| {
            let Some(payload) = tagged.payloads.get(row) else { return false };
            match tag {
                Tag::Int => test(payload.cast_signed() as f64),
                Tag::Float => test(payload_float(payload)),
                Tag::Text => texts.get(payload as usize).is_some_and(|fits| *fits),
                Tag::Missing | Tag::Unscored | Tag::Null | Tag::Bool | Tag::Nested => false,
            }
        };
        // Booleans are within any bounds that make sense, and strings are mostly all alike.
        let may_fit = texts.contains(&true) || tagged.count(Tag::Int) + tagged.count(Tag::Float) > 0;
        may_fit && tagged.tags.iter().enumerate().any(fits)
    }

    /// Makes a gap of every value that a test holds for; the number of them.
    fn remove(&mut self, is_removed: impl Fn(ValueRef<'_>) -> bool) -> usize {
        let is_removed = |value: ValueRef<'_>| !value.is_unscored() && is_removed(value);
        let rows: Vec<usize> = (0..self.len()).filter(|row| self.get(*row).is_some_and(is_removed)).collect();
        if rows.is_empty() {
            return 0;
        }
        let tagged = self.make_tagged();
        for row in &rows {
            tagged.replace(*row, (Tag::Missing, 0));
        }
        if tagged.count(Tag::Nested) == 0 {
            tagged.nested.clear();
        }
        rows.len()
    }
}

#[cfg(test)]
mod tests {
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
