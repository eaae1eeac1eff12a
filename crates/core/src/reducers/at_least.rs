//! `at_least_{k}`: whether at least k epochs succeed.

use std::sync::Arc;

use super::threshold::{PARAMS, Threshold, threshold_reducer};
use crate::reducer::{EpochReducer, EpochValues, ReducedValue};
use crate::registry::ReducerEntry;
use crate::value::{Conversion, Leaf};

/// 1 if at least `k` epochs succeed, else 0.
#[derive(Clone, Debug)]
pub struct AtLeast(Threshold);

/// 1 if at least `k` epochs succeed, else 0.
pub fn at_least(k: u64) -> AtLeast {
    AtLeast(Threshold::new(k))
}

pub(super) const ENTRY: ReducerEntry = ReducerEntry {
    name: "at_least",
    doc: "1 if at least k epochs succeed, else 0.",
    params: PARAMS,
    build: |args| Ok(Arc::new(AtLeast(Threshold::build(args)?))),
    replaces: false,
};

threshold_reducer!(AtLeast, "at_least");

impl EpochReducer for AtLeast {
    fn conversion(&self) -> Option<&Conversion> {
        Some(&self.0.conversion)
    }

    fn reduce_epochs(&self, epochs: &EpochValues<'_>) -> ReducedValue {
        let enough = self.0.successes(epochs.floats()) >= self.0.k;
        ReducedValue::Leaf(Leaf::Int(i64::from(enough)))
    }
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
