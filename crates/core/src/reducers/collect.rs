//! `collect`: all epochs, as a list.

use crate::params::Params;
use crate::reducer::{EpochReducer, EpochValues, ReducedValue};

/// The list of the epochs' values, for metrics over lists such as krippendorff_alpha.
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
