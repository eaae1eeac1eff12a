//! `var`: the sample variance.

use super::moments::{moments_metric, of_two_or_more};

moments_metric!(Var, var, "var", "Sample variance of the scores, divisor n−1.", |m| of_two_or_more(
    m.moments().variance()
));
