//! Two one-sided tests: is a difference small enough not to matter?
//!
//! Schuirmann, "A comparison of the two one-sided tests procedure and the power approach for assessing the equivalence of
//! average bioavailability", 1987.

use crate::distributions::t_survival;

/// The p-value of the claim that the true difference lies within ± margin: the larger one of the two tests.
///
/// It is below α exactly where the t interval at level 1 − 2α lies within the margin. None if there is no error, or no margin.
///
/// ```
/// # use errorbar_stats::differences::tost_p_value;
/// // One standard error inside of the margin, with 10 degrees of freedom.
/// assert!((tost_p_value(0.01, 0.02, 10.0, 0.03).unwrap() - 0.170_446_566_151_029_98).abs() < 1e-12);
/// ```
pub fn tost_p_value(difference: f64, stderr: f64, df: f64, margin: f64) -> Option<f64> {
    if !(stderr > 0.0 && margin > 0.0) {
        return None;
    }
    let p_value = t_survival((margin - difference.abs()) / stderr, df);
    p_value.is_finite().then_some(p_value)
}
