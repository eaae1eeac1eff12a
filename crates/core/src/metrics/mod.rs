//! The built-in metrics, one file each.

mod descriptive;
mod level;
mod perplexity;
mod ratio;
mod resampled_value;
mod resampling;
mod summary;

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
    count::CountScores,
    sum::Sum,
    min::Min,
    max::Max,
    geometric_mean::GeometricMean,
    weighted_mean::WeightedMean,
}
