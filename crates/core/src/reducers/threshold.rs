//! What `pass_at`, `pass_k` and `at_least` share: k, and a threshold for success.

use crate::registry::Count;

/// What is wrong with a number of epochs: 0 requires nothing.
pub(super) fn check_k(k: &Count<u64>) -> Result<(), String> {
    if k.0 > 0 { Ok(()) } else { Err("must be 1 or more: it counts epochs".to_owned()) }
}

/// A reducer that makes a value of the number of epochs, the number of successes, and k. Of the properties that reducers
/// may have it has those that are named.
macro_rules! threshold_reducer {
    ($(#[$doc:meta])* $type:ident, $name:literal, [$($property:ident),*], $value:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, $crate::Params)]
        #[params(crate = $crate, name = $name, reference)]
        pub struct $type {
            /// The number of epochs.
            #[param(from = u64, map = $crate::registry::Count, check = super::threshold::check_k)]
            k: $crate::registry::Count<u64>,
            /// An epoch is a success from this value on.
            #[param(default = 1.0)]
            value: Option<f64>,
            /// How values become numbers.
            #[param(default = $crate::Conversion::default())]
            value_to_float: $crate::Conversion,
        }

        impl $crate::EpochReducer for $type {
            fn conversion(&self) -> Option<&$crate::Conversion> {
                Some(&self.value_to_float)
            }

            fn check(&self) -> $crate::Result<()> {
                $crate::Params::check(self)
            }

            fn needs_epochs(&self) -> Option<u64> {
                Some(self.k.0)
            }

            fn default_threshold(&self) -> Option<f64> {
                self.value.is_none().then(|| self.value_or_default())
            }

            $(
                fn $property(&self) -> bool {
                    true
                }
            )*

            fn reduce_epochs(&self, epochs: &$crate::EpochValues<'_>) -> $crate::ReducedValue {
                let least = self.value_or_default();
                let successes = epochs.floats().iter().filter(|float| **float >= least).count();
                let value: fn(u64, u64, u64) -> Leaf = $value;
                $crate::ReducedValue::Leaf(value(epochs.len() as u64, successes as u64, self.k.0))
            }
        }
    };
}
pub(super) use threshold_reducer;
