//! `at_least_{k}`: whether at least k epochs succeed.

use super::threshold::threshold_reducer;
use crate::value::Leaf;

threshold_reducer! {
    /// 1 if at least k epochs succeed, else 0.
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
