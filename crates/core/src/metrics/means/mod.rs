//! Means, their spread, and their errors and intervals as figures of their own.

mod ci;
mod mean;
mod resampling;
mod stderr;
mod summary;

pub use ci::*;
pub use mean::*;
pub use stderr::*;
