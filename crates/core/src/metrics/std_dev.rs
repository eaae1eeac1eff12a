//! `std`: the sample standard deviation. The file is not called `std.rs`, which Rust would take for its library.

use super::moments::{moments_metric, of_two_or_more};

moments_metric!(Std, std, "std", "Sample standard deviation of the scores, divisor n−1.", |m| {
    of_two_or_more(m.moments().std())
});
