//! p-values of several tests, corrected for their number.
//!
//! Undefined p-values (none, or not a number) are no tests: they stay undefined and do not count.

/// Holm's adjusted p-values: rejecting those at most α keeps the chance of any false alarm at α. Holm, "A simple
/// sequentially rejective multiple test procedure", 1979.
///
/// ```
/// # use errorbar_stats::multiple::holm;
/// assert_eq!(holm(&[Some(0.03), None, Some(0.01)]), [Some(0.03), None, Some(0.02)]);
/// ```
pub fn holm(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let order = ascending(p_values);
    let tests = order.len();
    let mut adjusted = vec![None; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, (index, p)) in order.into_iter().enumerate() {
        largest = largest.max((tests - rank) as f64 * p).min(1.0);
        set(&mut adjusted, index, largest);
    }
    adjusted
}

/// Benjamini and Hochberg's adjusted p-values: reporting those at most q keeps the expected share of false alarms among the
/// reported at q, for independent or positively dependent tests. "Controlling the false discovery rate", 1995.
///
/// ```
/// # use errorbar_stats::multiple::benjamini_hochberg;
/// assert_eq!(benjamini_hochberg(&[Some(0.03), None, Some(0.01)]), [Some(0.03), None, Some(0.02)]);
/// ```
pub fn benjamini_hochberg(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let order = ascending(p_values);
    let tests = order.len() as f64;
    let mut adjusted = vec![None; p_values.len()];
    let mut smallest = 1.0_f64;
    for (rank, (index, p)) in order.into_iter().enumerate().rev() {
        smallest = smallest.min(tests * p / (rank + 1) as f64);
        set(&mut adjusted, index, smallest);
    }
    adjusted
}

/// The defined p-values with their indices, the smallest first; equal ones keep their order.
fn ascending(p_values: &[Option<f64>]) -> Vec<(usize, f64)> {
    let mut defined: Vec<(usize, f64)> = p_values
        .iter()
        .enumerate()
        .filter_map(|(index, p)| p.filter(|p| !p.is_nan()).map(|p| (index, p)))
        .collect();
    defined.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    defined
}

fn set(adjusted: &mut [Option<f64>], index: usize, p: f64) {
    if let Some(place) = adjusted.get_mut(index) {
        *place = Some(p);
    }
}
