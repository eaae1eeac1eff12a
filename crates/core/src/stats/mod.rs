//! The numbers beneath the metrics: exact sums, quantiles, resampling.
