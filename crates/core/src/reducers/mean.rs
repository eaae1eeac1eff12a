//! `mean`: the average of the epochs.

use std::sync::Arc;

use super::{conversion_arg, passed_conversion, reduces_by_epoch, takes_conversion};
use crate::args::spec_of;
use crate::reducer::{EpochReducer, EpochValues, ReducedValue, Reducer};
use crate::registry::{Param, ReducerEntry};
use crate::spec::Spec;
use crate::stats::ExactSum;
use crate::value::{Conversion, Leaf};

/// The average of the converted values, correctly rounded: ten times 0.1 gives 0.1.
#[derive(Clone, Debug, Default)]
pub struct Mean {
    conversion: Conversion,
}

/// The average of the epochs; the default reducer.
pub fn mean() -> Mean {
    Mean::default()
}

impl Mean {
    takes_conversion!();
}

pub(super) const ENTRY: ReducerEntry = ReducerEntry {
    name: "mean",
    doc: "The average of the epochs, correctly rounded.",
    params: &[Param::optional("value_to_float", "value_to_float()")],
    build: |args| Ok(Arc::new(Mean { conversion: conversion_arg(args)? })),
    replaces: false,
};

impl Reducer for Mean {
    fn spec(&self) -> Spec {
        spec_of("mean", [("value_to_float", passed_conversion(&self.conversion))])
    }

    reduces_by_epoch!();
}

impl EpochReducer for Mean {
    fn conversion(&self) -> Option<&Conversion> {
        Some(&self.conversion)
    }

    fn keeps_single(&self) -> bool {
        true
    }

    fn reduce_epochs(&self, epochs: &EpochValues<'_>) -> ReducedValue {
        ReducedValue::Leaf(Leaf::from(correctly_rounded_mean(epochs.floats())))
    }
}

/// The mean, rounded once; of infinite values what plain arithmetic makes of them.
pub(super) fn correctly_rounded_mean(values: &[f64]) -> f64 {
    let mut sum = ExactSum::new();
    sum.extend(values);
    let mean = sum.divide(values.len() as u64);
    if mean.is_nan() { values.iter().sum::<f64>() / values.len() as f64 } else { mean }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Score, Value};

    #[test]
    fn rounded_once() {
        assert_eq!(correctly_rounded_mean(&[0.1; 10]), 0.1);
        assert_eq!(correctly_rounded_mean(&[1.0, 0.0, 0.0]), 1.0 / 3.0);
        // The sum overflows, the mean does not.
        assert_eq!(correctly_rounded_mean(&[1e308; 4]), 1e308);
        assert_eq!(correctly_rounded_mean(&[f64::INFINITY, 1.0]), f64::INFINITY);
    }

    #[test]
    fn unscored_epochs_give_no_value() {
        let reduce = |values: Vec<Value>| {
            let scores: Vec<Score> = values.into_iter().map(Score::new).collect();
            mean().reduce(&scores).unwrap().value
        };
        assert_eq!(reduce(vec!["C".into(), Value::Unscored, "I".into()]), Value::Float(0.5));
        assert_eq!(reduce(vec![Value::Unscored]), Value::Unscored);
        assert_eq!(reduce(vec![]), Value::Unscored);
        assert_eq!(reduce(vec!["C".into()]), Value::Float(1.0), "even one epoch is converted");
    }
}
