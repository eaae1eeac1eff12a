//! The built-in reducers, one file each.

mod at_least;
mod collect;
mod majority;
mod max;
mod mean;
mod median;
mod mode;
mod pass_at;
mod pass_k;
mod threshold;

pub use at_least::{AtLeast, at_least};
pub use collect::{Collect, collect};
pub use majority::{Majority, majority};
pub use max::{Max, max};
pub use mean::{Mean, mean};
pub use median::{Median, median};
pub use mode::{Mode, mode};
pub use pass_at::{PassAt, pass_at};
pub use pass_k::{PassK, pass_k};

use crate::registry::ReducerEntry;

/// Every built-in reducer, in the order that `errorbar list` shows.
pub(crate) const ENTRIES: &[ReducerEntry] = &[
    mean::ENTRY,
    median::ENTRY,
    mode::ENTRY,
    max::ENTRY,
    pass_at::ENTRY,
    pass_k::ENTRY,
    at_least::ENTRY,
    majority::ENTRY,
    collect::ENTRY,
];

/// The parts of a built-in reducer that are the same for all: whole scores are reduced by the
/// lifting of [`crate::reducer`], and the scalar reducer is this one.
macro_rules! reduces_by_epoch {
    () => {
        fn reduce(&self, scores: &[$crate::Score]) -> $crate::Result<$crate::Score> {
            $crate::reducer::reduce_by_epoch(self, scores)
        }

        fn by_epoch(&self) -> Option<&dyn $crate::reducer::EpochReducer> {
            Some(self)
        }
    };
}
use reduces_by_epoch;

/// A builder method that sets the conversion.
macro_rules! takes_conversion {
    () => {
        /// Reads values by another conversion than the default.
        #[must_use]
        pub fn value_to_float(mut self, conversion: impl Into<$crate::Conversion>) -> Self {
            self.conversion = conversion.into();
            self
        }
    };
}
use takes_conversion;

use crate::args::{ArgType, Args};
use crate::spec::Arg;
use crate::value::Conversion;

/// The conversion argument as it was passed.
fn passed_conversion(conversion: &Conversion) -> Option<Arg> {
    (*conversion != Conversion::default()).then(|| conversion.to_arg())
}

fn conversion_arg(args: &Args<'_>) -> crate::Result<Conversion> {
    Ok(args.get("value_to_float")?.unwrap_or_default())
}
