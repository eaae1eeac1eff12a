//! The numbers beneath the metrics: exact sums, quantiles, resampling.

mod accumulator;
mod adjust;
mod beta;
mod binomial;
mod bonett_price;
mod bootstrap;
mod bootstrap_t;
mod correlation;
mod draw_table;
mod exact;
mod fourier;
mod gamma;
mod ideal;
mod incomplete_beta;
mod magnitude;
mod mcnemar;
mod moments;
mod newcombe;
mod noncentral_t;
mod normal;
mod philox;
mod population;
pub(crate) mod purpose;
mod sign_flip;
mod student_t;
mod tally;
mod tost;
mod units;
mod welch;
mod wild;
mod xoshiro;

pub use adjust::{benjamini_hochberg, holm};
pub use beta::{beta_cdf, beta_quantile, beta_survival, beta_survival_quantile};
pub use binomial::{binomial_cdf, binomial_pmf, binomial_survival};
pub use bonett_price::bonett_price;
pub(crate) use bonett_price::{bonett_price_centre, bonett_price_of};
pub use bootstrap::{
    ClusterTotal, clustered_resampled_means, quantile_inverse, quantile_linear, resampled_means,
    standard_deviation,
};
pub(crate) use bootstrap::{ResampledMeans, clustered_standard_deviation, resampled_means_of};
pub(crate) use bootstrap_t::{studentised_cluster_means, studentised_means};
pub(crate) use correlation::correlation_of_variances;
pub use exact::ExactSum;
pub use gamma::{ln_choose, ln_gamma};
pub(crate) use ideal::{IdealMeans, ResamplingUnit};
pub use mcnemar::{mcnemar_exact, mcnemar_mid_p};
pub use moments::Moments;
pub(crate) use newcombe::{EffectiveShare, ShareDifference, WilsonReach};
pub use newcombe::{Share, newcombe, newcombe_p_value, newcombe_tost};
pub use noncentral_t::noncentral_t_cdf;
pub use normal::{normal_cdf, normal_quantile, normal_survival};
pub use philox::{Stream, philox4x32_10};
pub use sign_flip::sign_flip_exact;
pub use student_t::{t_cdf, t_quantile, t_survival};
pub(crate) use tally::tally;
pub use tost::tost_p_value;
pub(crate) use units::{
    acceleration, bca_shares, bca_shares_of, jackknife_error, left_out_rows, percentile_ends, resampled,
    resampled_figures, resampled_moments, resampled_rows,
};
pub(crate) use welch::satterthwaite;
pub use welch::{MeanError, Welch, two_sided};
pub(crate) use wild::{WeightPoints, WildBootstrap};

/// The exponent of the largest of some numbers: divided by two to that power none is above 1, so that
/// squares neither overflow nor vanish all together.
pub(crate) fn common_exponent(values: impl Iterator<Item = f64>) -> i32 {
    let largest = values.map(f64::abs).fold(0.0, f64::max);
    if largest == 0.0 { 0 } else { libm::frexp(largest).1 }
}

/// √(factor · Σ x²), finite wherever the result is.
pub(crate) fn root_of_squares(values: &[f64], factor: f64) -> f64 {
    let exponent = common_exponent(values.iter().copied());
    let mut squares = ExactSum::new();
    for value in values {
        let scaled = libm::scalbn(*value, -exponent);
        squares.add_product(scaled, scaled);
    }
    libm::scalbn((squares.to_f64() * factor).sqrt(), exponent)
}
