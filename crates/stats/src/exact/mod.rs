//! Sums without rounding: in any order and any split the same bits, and what follows from them.

mod accumulator;
mod magnitude;
mod moments;
mod sum;
mod tally;

pub use moments::Moments;
pub use sum::{ExactSum, common_exponent, root_of_squares};
pub use tally::tally;
