//! The interval of Bonett and Price for the difference of two shares over the same samples.
//!
//! Wald's interval with one pair added to each of the wins and the losses: it keeps its level where most pairs agree, and
//! has a width where all of them do. Bonett & Price, "Adjusted Wald confidence interval for a difference of binomial
//! proportions based on paired data", 2012.
//!
//! At its level of 90 % the upper end is below 0 in at most 5.4 % of samples of 20 or more pairs without a difference, and at
//! least in 3.3 % if six or more pairs are expected to differ. Two kinds of tables are beyond these limits. If nearly all pairs
//! differ (more than 86 %), the number of wins is nearly all that varies and its steps are coarse: up to 7.6 % (24 pairs without
//! ties), where no test has a rate between 3.2 % and 7.6 %. And from 184 pairs on, four losses and no win are no longer enough:
//! 2.5 % with six differing pairs, 3 % with seven and a half.

use crate::distributions::normal_quantile;

/// The interval of (wins − losses)/n at a level such as 0.95, within [−1, 1]; of the n pairs the others are ties.
///
/// ```
/// # use errorbar_stats::differences::bonett_price;
/// let (lower, upper) = bonett_price(3, 0, 10, 0.95);
/// assert!((lower + 0.0867).abs() < 1e-4 && (upper - 0.5867).abs() < 1e-4);
/// ```
pub fn bonett_price(wins: u64, losses: u64, n: u64, level: f64) -> (f64, f64) {
    bonett_price_of(wins as f64, losses as f64, n as f64, normal_quantile(0.5 + level / 2.0))
}

/// The same of counts that need not be whole, such as those of an effective n, with the quantile of the ends.
pub fn bonett_price_of(wins: f64, losses: f64, n: f64, quantile: f64) -> (f64, f64) {
    let (difference, stderr) = bonett_price_centre(wins, losses, n);
    let margin = quantile * stderr;
    ((difference - margin).max(-1.0), (difference + margin).min(1.0))
}

/// The difference with one win and one loss more, and its standard error: the interval is symmetric around it.
pub fn bonett_price_centre(wins: f64, losses: f64, n: f64) -> (f64, f64) {
    let pairs = n + 2.0;
    let (won, lost) = ((wins + 1.0) / pairs, (losses + 1.0) / pairs);
    // From the counts, so that equal ones give 0.
    let difference = (wins - losses) / pairs;
    (difference, ((won + lost - difference * difference).max(0.0) / pairs).sqrt())
}
