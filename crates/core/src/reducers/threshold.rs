//! What `pass_at`, `pass_k` and `at_least` share: k, and a threshold for success.

use super::{conversion_arg, passed_conversion};
use crate::args::{ArgType, Args, spec_of};
use crate::error::{Error, Result};
use crate::registry::Param;
use crate::spec::{Arg, Spec};
use crate::value::Conversion;

/// How many epochs must succeed, and from which value on an epoch is a success.
#[derive(Clone, Debug)]
pub(super) struct Threshold {
    pub(super) k: u64,
    pub(super) value: Option<f64>,
    pub(super) conversion: Conversion,
}

pub(super) const PARAMS: &[Param] = &[
    Param::required("k"),
    Param::optional("value", "1.0"),
    Param::optional("value_to_float", "value_to_float()"),
];

impl Threshold {
    pub(super) fn new(k: u64) -> Self {
        Threshold { k, value: None, conversion: Conversion::default() }
    }

    /// A `k` of 0 asks for nothing. Specs refuse it when they are built, builders when they are used.
    pub(super) fn check(&self, name: &str) -> Result<()> {
        if self.k > 0 {
            return Ok(());
        }
        let (target, argument) = (name.to_owned(), "k".to_owned());
        Err(Error::Argument { target, argument, problem: K_PROBLEM.to_owned() })
    }

    pub(super) fn build(args: &Args<'_>) -> Result<Self> {
        let k: i64 = args.required("k")?;
        let k = u64::try_from(k).ok().filter(|k| *k > 0);
        let k = k.ok_or_else(|| args.error("k", K_PROBLEM))?;
        let value: Option<f64> = args.get("value")?;
        Ok(Threshold { k, value, conversion: conversion_arg(args)? })
    }

    /// The number of successes.
    pub(super) fn successes(&self, floats: &[f64]) -> u64 {
        let value = self.value.unwrap_or(1.0);
        floats.iter().filter(|f| **f >= value).count() as u64
    }

    /// The shorthand `name_k`, or the whole spec where more than k was said: two thresholds must not
    /// share a name.
    pub(super) fn log_name(&self, name: &str) -> String {
        if self.value.is_none() && passed_conversion(&self.conversion).is_none() {
            format!("{name}_{}", self.k)
        } else {
            self.spec(name).to_string()
        }
    }

    pub(super) fn spec(&self, name: &str) -> Spec {
        spec_of(
            name,
            [
                ("k", Some(Arg::Int(i64::try_from(self.k).unwrap_or(i64::MAX)))),
                ("value", self.value.as_ref().map(ArgType::to_arg)),
                ("value_to_float", passed_conversion(&self.conversion)),
            ],
        )
    }
}

const K_PROBLEM: &str = "must be 1 or more: it counts epochs";

/// Builder methods over a `Threshold` in the first field, and what all three do the same.
macro_rules! threshold_reducer {
    ($type:ident, $name:literal) => {
        impl $type {
            /// An epoch is a success from this value on; 1 if not said.
            #[must_use]
            pub fn value(mut self, value: f64) -> Self {
                self.0.value = Some(value);
                self
            }

            /// Reads values by another conversion than the default.
            #[must_use]
            pub fn value_to_float(mut self, conversion: impl Into<crate::Conversion>) -> Self {
                self.0.conversion = conversion.into();
                self
            }
        }

        impl crate::reducer::Reducer for $type {
            fn spec(&self) -> crate::spec::Spec {
                self.0.spec($name)
            }

            fn log_name(&self) -> String {
                self.0.log_name($name)
            }

            fn check(&self) -> crate::Result<()> {
                self.0.check($name)
            }

            fn needs_epochs(&self) -> Option<u64> {
                Some(self.0.k)
            }

            super::reduces_by_epoch!();
        }
    };
}
pub(super) use threshold_reducer;
