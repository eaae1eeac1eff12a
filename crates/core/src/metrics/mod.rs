//! The built-in metrics, one file each.

mod accuracy;
mod aggregate;
mod bootstrap_stderr;
mod ci;
mod ci_wilson;
mod frequency;
mod grouped;
mod krippendorff_alpha;
mod level;
mod mean;
mod perplexity;
mod perplexity_per_seq;
mod perplexity_per_token;
mod std_dev;
mod stderr;
mod summary;
mod var;

pub use accuracy::{Accuracy, accuracy};
pub use aggregate::{Aggregate, OnMissing, aggregate};
pub use bootstrap_stderr::{BootstrapStderr, bootstrap_stderr};
pub use ci::{Ci, CiMethod, ci};
pub use ci_wilson::{CiWilson, ci_wilson};
pub use frequency::{Frequency, frequency};
pub use grouped::{All, Grouped, grouped};
pub use krippendorff_alpha::{KrippendorffAlpha, Level, krippendorff_alpha};
pub use mean::{Mean, mean};
pub use perplexity_per_seq::{PerplexityPerSeq, perplexity_per_seq};
pub use perplexity_per_token::{PerplexityPerToken, perplexity_per_token};
pub use std_dev::{Std, std};
pub use stderr::{Stderr, stderr};
pub use var::{Var, var};

use crate::registry::MetricEntry;

/// Every built-in metric, in the order that `errorbar list` shows.
pub(crate) const ENTRIES: &[MetricEntry] = &[
    accuracy::ENTRY,
    mean::ENTRY,
    var::ENTRY,
    std_dev::ENTRY,
    stderr::ENTRY,
    bootstrap_stderr::ENTRY,
    ci::ENTRY,
    ci_wilson::ENTRY,
    grouped::ENTRY,
    aggregate::ENTRY,
    frequency::ENTRY,
    krippendorff_alpha::ENTRY,
    perplexity_per_token::ENTRY,
    perplexity_per_seq::ENTRY,
];

/// A builder method that sets the conversion of a metric with a field `to_float`.
macro_rules! takes_conversion {
    () => {
        /// Reads values by another conversion than the default.
        #[must_use]
        pub fn to_float(mut self, conversion: impl Into<$crate::Conversion>) -> Self {
            self.to_float = Some(conversion.into());
            self
        }

        fn conversion(&self) -> $crate::Conversion {
            self.to_float.clone().unwrap_or_default()
        }
    };
}
use takes_conversion;
