//! The bootstrap of means, of clusters and of any figure; the jackknife, BCa, the studentised and the wild bootstrap, and the
//! distribution that infinitely many resamples would have.
//!
//! A seed decides every resample: threads, the order of the data and the number of resamples do not.

mod draw_table;
mod fourier;
mod ideal;
mod means;
mod population;
mod studentised;
mod units;
mod wild;

pub use ideal::{IdealMeans, NoIdealMeans, ResamplingUnit};
pub use means::{
    ClusterTotal, ResampledMeans, clustered_resampled_means, clustered_standard_deviation, resampled_means,
    resampled_means_of,
};
pub use studentised::{StudentisedMeans, studentised_cluster_means, studentised_means};
pub use units::{
    acceleration, bca_shares, bca_shares_of, jackknife_error, left_out_rows, percentile_ends, resampled,
    resampled_figures, resampled_moments, resampled_rows,
};
pub use wild::{WeightPoints, WildBootstrap};
