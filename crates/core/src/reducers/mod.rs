//! The built-in reducers, a module for each family.

mod averages;
mod hypergeometric;
mod successes;
mod votes;

pub use averages::*;
pub use successes::*;
pub use votes::*;

use crate::registry::{ReducerEntry, entries};

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
