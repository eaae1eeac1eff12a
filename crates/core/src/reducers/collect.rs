//! `collect`: all epochs, as a list.

use std::sync::Arc;

use super::reduces_by_epoch;
use crate::reducer::{EpochReducer, EpochValues, ReducedValue, Reducer};
use crate::registry::ReducerEntry;
use crate::spec::Spec;
use crate::value::Conversion;

/// The list of the scored epochs' values, for metrics over lists such as `krippendorff_alpha`.
#[derive(Clone, Debug, Default)]
pub struct Collect;

/// The list of the scored epochs' values.
pub fn collect() -> Collect {
    Collect
}

pub(super) const ENTRY: ReducerEntry = ReducerEntry {
    name: "collect",
    doc: "The list of the epochs' values, for metrics over lists such as krippendorff_alpha.",
    params: &[],
    build: |_| Ok(Arc::new(Collect)),
    replaces: false,
};

impl Reducer for Collect {
    fn spec(&self) -> Spec {
        Spec::new("collect")
    }

    reduces_by_epoch!();
}

impl EpochReducer for Collect {
    fn conversion(&self) -> Option<&Conversion> {
        None
    }

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
    use crate::{Score, Value};

    #[test]
    fn scalars_only() {
        let scores: Vec<Score> = [Value::from("C"), Value::Unscored, 2.into()].map(Score::new).into();
        let list = collect().reduce(&scores).unwrap().value;
        assert_eq!(list, Value::List(vec!["C".into(), 2.into()]));
        let error = collect().reduce(&[Score::new(Value::list([1, 2]))]).unwrap_err();
        assert!(error.to_string().contains("scalars only"), "{error}");
    }
}
