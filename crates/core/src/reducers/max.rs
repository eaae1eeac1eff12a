//! `max`: the best of the epochs.

use std::sync::Arc;

use super::{conversion_arg, passed_conversion, reduces_by_epoch, takes_conversion};
use crate::args::spec_of;
use crate::reducer::{EpochReducer, EpochValues, ReducedValue, Reducer};
use crate::registry::{Param, ReducerEntry};
use crate::spec::Spec;
use crate::value::Conversion;

/// The value whose conversion is greatest, in its original type; the first on ties.
#[derive(Clone, Debug, Default)]
pub struct Max {
    conversion: Conversion,
}

/// The best of the epochs.
pub fn max() -> Max {
    Max::default()
}

impl Max {
    takes_conversion!();
}

pub(super) const ENTRY: ReducerEntry = ReducerEntry {
    name: "max",
    doc: "The greatest value by its conversion, in its original type; the first on ties.",
    params: &[Param::optional("value_to_float", "value_to_float()")],
    build: |args| Ok(Arc::new(Max { conversion: conversion_arg(args)? })),
    replaces: false,
};

impl Reducer for Max {
    fn spec(&self) -> Spec {
        spec_of("max", [("value_to_float", passed_conversion(&self.conversion))])
    }

    reduces_by_epoch!();
}

impl EpochReducer for Max {
    fn conversion(&self) -> Option<&Conversion> {
        Some(&self.conversion)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Score, Value};

    #[test]
    fn keeps_the_original_value() {
        let reduce = |values: Vec<Value>| {
            let scores: Vec<Score> = values.into_iter().map(Score::new).collect();
            max().reduce(&scores).unwrap().value
        };
        assert_eq!(reduce(vec!["I".into(), "C".into(), 1.into()]), Value::from("C"));
        assert_eq!(reduce(vec![f64::NEG_INFINITY.into()]), Value::Float(f64::NEG_INFINITY));
        assert_eq!(reduce(vec![0.5.into(), Value::Unscored, 2.into()]), Value::Int(2));
    }
}
