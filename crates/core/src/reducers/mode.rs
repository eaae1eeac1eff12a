//! `mode`: the most common value.

use std::sync::Arc;

use super::reduces_by_epoch;
use crate::reducer::{EpochReducer, EpochValues, Reduced, Reducer};
use crate::registry::ReducerEntry;
use crate::spec::Spec;
use crate::value::{Conversion, LeafRef};

/// The most common value, in its original type; on a tie the one seen first.
#[derive(Clone, Debug, Default)]
pub struct Mode;

/// The most common of the epochs.
pub fn mode() -> Mode {
    Mode
}

pub(super) const ENTRY: ReducerEntry = ReducerEntry {
    name: "mode",
    doc: "The most common value; on a tie the one seen first.",
    params: &[],
    build: |_| Ok(Arc::new(Mode)),
    replaces: false,
};

impl Reducer for Mode {
    fn spec(&self) -> Spec {
        Spec::new("mode")
    }

    reduces_by_epoch!();
}

impl EpochReducer for Mode {
    fn conversion(&self) -> Option<&Conversion> {
        None
    }

    fn reduce_epochs(&self, epochs: &EpochValues<'_>) -> Reduced {
        let mut best = (0, 0);
        for (first, count) in tally(epochs) {
            if count > best.1 {
                best = (first, count);
            }
        }
        Reduced::Leaf(epochs.to_leaf(best.0))
    }
}

/// The distinct values by equality across number types: where each was first seen, and how often.
pub(super) fn tally(epochs: &EpochValues<'_>) -> Vec<(usize, usize)> {
    let mut distinct: Vec<(LeafRef<'_>, usize, usize)> = Vec::with_capacity(4);
    for at in 0..epochs.len() {
        let leaf = epochs.leaf(at);
        match distinct.iter_mut().find(|(seen, ..)| seen.equals(leaf)) {
            Some((.., count)) => *count += 1,
            None => distinct.push((leaf, at, 1)),
        }
    }
    distinct.into_iter().map(|(_, first, count)| (first, count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Score, Value};

    fn reduce(values: impl IntoIterator<Item = Value>) -> Value {
        let scores: Vec<Score> = values.into_iter().map(Score::new).collect();
        mode().reduce(&scores).unwrap().value
    }

    #[test]
    fn the_first_seen_wins_ties_and_represents_its_equals() {
        assert_eq!(reduce(["I".into(), "C".into(), "C".into()]), "C".into());
        assert_eq!(reduce(["I".into(), "C".into()]), "I".into());
        // true, 1 and 1.0 are one value: three votes against two.
        assert_eq!(reduce([0.into(), true.into(), 1.into(), 1.0.into(), 0.into()]), Value::Bool(true));
        assert_eq!(reduce(["1".into(), 1.into(), Value::Unscored, "1".into()]), "1".into());
    }

    #[test]
    fn lists_and_maps_by_leaf() {
        let map = |a: i64, b: Option<f64>| Value::map([("a", crate::Leaf::from(a)), ("b", b.into())]);
        let reduced = reduce([map(1, None), map(2, Some(f64::NAN)), map(2, None)]);
        assert_eq!(reduced, map(2, None), "null counts as a value, NaN does not");
    }
}
