//! The numbers beneath the metrics: exact sums, quantiles, resampling.

mod accumulator;
mod beta;
mod binomial;
mod bootstrap;
mod bootstrap_t;
mod draw_table;
mod exact;
mod fourier;
mod gamma;
mod ideal;
mod incomplete_beta;
mod magnitude;
mod moments;
mod noncentral_t;
mod normal;
mod philox;
mod population;
pub(crate) mod purpose;
mod student_t;
mod tally;
mod units;
mod wild;
mod xoshiro;

pub use beta::{beta_cdf, beta_quantile, beta_survival, beta_survival_quantile};
pub use binomial::{binomial_cdf, binomial_pmf, binomial_survival};
pub(crate) use bootstrap::resampled_means_of;
pub use bootstrap::{
    ClusterTotal, clustered_resampled_means, quantile_inverse, quantile_linear, resampled_means,
    standard_deviation,
};
pub(crate) use bootstrap_t::{studentised_cluster_means, studentised_means};
pub use exact::ExactSum;
pub use gamma::{ln_choose, ln_gamma};
pub(crate) use ideal::{IdealMeans, ResamplingUnit};
pub use moments::Moments;
pub use noncentral_t::noncentral_t_cdf;
pub use normal::{normal_cdf, normal_quantile, normal_survival};
pub use philox::{Stream, philox4x32_10};
pub use student_t::{t_cdf, t_quantile, t_survival};
pub(crate) use tally::tally;
pub(crate) use units::{
    acceleration, bca_shares, bca_shares_of, jackknife_error, left_out_rows, percentile_ends,
    resampled_figures, resampled_rows,
};
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
