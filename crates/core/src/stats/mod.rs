//! The numbers beneath the metrics: exact sums, quantiles, resampling.

mod accumulator;
mod bootstrap;
mod draw_table;
mod exact;
mod magnitude;
mod moments;
mod normal;
mod philox;
mod population;
mod student_t;
mod tally;
mod xoshiro;

pub use bootstrap::{
    ClusterTotal, clustered_resampled_means, quantile_linear, resampled_means, standard_deviation,
};
pub use exact::ExactSum;
pub use moments::Moments;
pub use normal::{normal_cdf, normal_quantile, normal_survival};
pub use philox::{Stream, philox4x32_10};
pub use student_t::{t_cdf, t_quantile};
