//! The built-in metrics, one file each.

mod agreement;
mod calibration;
mod classification;
mod descriptive;
mod judged;
mod level;
mod order_statistics;
mod perplexity;
mod ratio;
mod resampled_value;
mod resampling;
mod sample_epochs;
mod summary;

pub(crate) use classification::{LabelCounts, WITHOUT_ANSWER, label_counts};
pub use sample_epochs::SampleEpochs;
pub use variance_components::Components;

crate::registry::entry_modules! {
    /// Every built-in metric, in the order that lists show.
    [crate::registry::MetricEntry]
    accuracy::Accuracy,
    mean::Mean,
    var::Var,
    std_dev::Std,
    stderr::Stderr,
    bootstrap_stderr::BootstrapStderr,
    ci::Ci,
    ci_wilson::CiWilson,
    grouped::Grouped,
    aggregate::Aggregate,
    frequency::Frequency,
    krippendorff_alpha::KrippendorffAlpha,
    perplexity_per_token::PerplexityPerToken,
    perplexity_per_seq::PerplexityPerSeq,
    bootstrap::Bootstrap,
    filtered::Where,
    median::Median,
    quantile::Quantile,
    count::CountScores,
    sum::Sum,
    min::Min,
    max::Max,
    geometric_mean::GeometricMean,
    weighted_mean::WeightedMean,
    precision::Precision,
    recall::Recall,
    f1_score::F1Score,
    variance_components::VarianceComponents,
    consistency::Consistency,
    cohen_kappa::CohenKappa,
    fleiss_kappa::FleissKappa,
    gwet_ac1::GwetAc1,
    ppi::Ppi,
    rogan_gladen::RoganGladen,
    brier::Brier,
    brier_decomposition::BrierDecomposition,
    log_loss::LogLoss,
    ece::Ece,
    ece_debiased::EceDebiased,
    auroc::Auroc,
    auprc::Auprc,
}
