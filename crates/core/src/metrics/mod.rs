//! The built-in metrics, a module for each family.

mod agreement;
mod calibration;
mod epochs;
mod grouped;
mod judged;
mod labels;
mod means;
mod prelude;
mod quantiles;
mod ratios;
mod wrappers;

pub use agreement::*;
pub use calibration::*;
pub use epochs::*;
pub use grouped::*;
pub use judged::*;
pub use labels::*;
pub(crate) use labels::{LabelCounts, WITHOUT_ANSWER, label_counts};
pub use means::*;
pub use quantiles::*;
pub use ratios::*;
pub use wrappers::*;

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
