//! Scores by cluster, as metrics with a cluster key of their own take them in.

pub(super) use crate::estimate::Clusters;
