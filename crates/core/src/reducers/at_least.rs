//! `at_least_{k}`: whether at least k epochs succeed.

use super::threshold::threshold_reducer;
use crate::value::Leaf;

threshold_reducer! {
    /// 1 if at least k epochs succeed, else 0.
    ///
    /// # Formula
    /// ```text
    /// 1 if c ≥ k, else 0
    /// ```
    ///
    /// # When
    /// A fixed number of epochs, of which k must succeed. It depends on how many there are; `g_pass` does not.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,epoch,score a,1,1 a,2,0 a,3,1 b,1,0 b,2,0 b,3,1 c,1,1 c,2,1 c,3,1 > runs.csv
    /// $ errorbar score runs.csv --reducer 'at_least(2)'
    /// runs.csv · 9 rows
    ///
    /// score · reduced by at_least_2 · 3 epochs · 3 scored
    ///                                       0                                       1
    ///   accuracy  0.67 ± 0.33 [0.21, 0.94]           ├─────────────────●──────────┤    only 3 scores
    ///
    /// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
    /// ```
    ///
    /// # See also
    /// `g_pass`, `pass_at`, `majority`
    ///
    /// # Source
    /// As inspect_ai defines it.
    AtLeast, "at_least", [depends_on_epochs, is_probability], |_, successes, k| Leaf::Int(i64::from(successes >= k))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reducer::Reducer;
    use crate::{Score, Value};

    #[test]
    fn counts_successes_from_the_threshold_on() {
        let scores: Vec<Score> = [1.0, 0.5, 0.4].map(Score::new).into();
        assert_eq!(at_least(1).reduce(&scores).unwrap().value, Value::Int(1));
        assert_eq!(at_least(2).reduce(&scores).unwrap().value, Value::Int(0));
        assert_eq!(at_least(2).value(0.5).reduce(&scores).unwrap().value, Value::Int(1));
        assert_eq!(at_least(9).reduce(&scores).unwrap().value, Value::Int(0), "never unscored");
        assert_eq!(at_least(2).log_name(), "at_least_2");
        assert_eq!(at_least(2).value(0.5).log_name(), "at_least(k=2, value=0.5)");
    }
}
