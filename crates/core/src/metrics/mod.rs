//! The built-in metrics, a module for each family.

mod aggregate;
mod agreement;
mod bootstrap;
mod calibration;
mod classification;
mod descriptive;
mod epochs;
mod filtered;
mod frequency;
mod grouped;
mod judged;
mod means;
mod prelude;
mod quantiles;
mod ratios;

pub use aggregate::*;
pub use agreement::*;
pub use bootstrap::*;
pub use calibration::*;
pub use classification::*;
pub(crate) use classification::{LabelCounts, WITHOUT_ANSWER, label_counts};
pub use descriptive::*;
pub use epochs::*;
pub use filtered::*;
pub use frequency::*;
pub use grouped::*;
pub use judged::*;
pub use means::*;
pub use quantiles::*;
pub use ratios::*;

use crate::registry::{MetricEntry, entries};

/// Every built-in metric, in the order that lists show.
pub(crate) const ENTRIES: &[MetricEntry] = entries![
    Accuracy,
    Mean,
    Var,
    Std,
    Stderr,
    BootstrapStderr,
    Ci,
    CiWilson,
    Grouped,
    Aggregate,
    Frequency,
    KrippendorffAlpha,
    PerplexityPerToken,
    PerplexityPerSeq,
    Bootstrap,
    Where,
    Median,
    Quantile,
    CountScores,
    Sum,
    Min,
    Max,
    GeometricMean,
    WeightedMean,
    Precision,
    Recall,
    F1Score,
    VarianceComponents,
    Consistency,
    CohenKappa,
    FleissKappa,
    GwetAc1,
    Ppi,
    RoganGladen,
    Brier,
    BrierDecomposition,
    LogLoss,
    Ece,
    EceDebiased,
    Auroc,
    Auprc,
];
