//! The bootstrap of means, of clusters and of any figure; the jackknife, BCa, the studentised and the wild bootstrap, and the
//! distribution that infinitely many resamples would have.
//!
//! A seed decides every resample: threads, the order of the data and the number of resamples do not.

mod ideal;
mod means;
mod population;
mod units;
mod wild;

pub use ideal::{IdealMeans, ResamplingUnit};
pub use means::{ClusterTotal, ResampledMeans, resampled_means};
pub use means::{StudentisedMeans, studentised_cluster_means, studentised_means};
pub use units::{
    acceleration, bca_shares, bca_shares_of, jackknife_error, left_out_rows, resampled, resampled_figures,
    resampled_moments, resampled_rows,
};
pub use wild::{WeightPoints, WildBootstrap};
