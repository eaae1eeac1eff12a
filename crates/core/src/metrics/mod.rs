//! The built-in metrics, one file each.

mod agreement;
mod level;
mod perplexity;
mod resampled_value;
mod resampling;
mod sample_epochs;
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
    variance_components::VarianceComponents,
    consistency::Consistency,
    cohen_kappa::CohenKappa,
    fleiss_kappa::FleissKappa,
    gwet_ac1::GwetAc1,
}
