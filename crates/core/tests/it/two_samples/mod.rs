//! Two samples: published figures, properties, and how often intervals and gates are wrong, by exact sums.

mod gates;
mod published;
mod sign_flips;
mod tests_of_difference;

use errorbar_core::stats::binomial_pmf;

/// P(wins, losses) of n pairs, of which a share differs, and a share of these are losses.
fn trinomial(n: u64, discordant: f64, lost: f64) -> impl Iterator<Item = (u64, u64, f64)> {
    (0..=n).flat_map(move |pairs| {
        let outer = binomial_pmf(pairs, n, discordant);
        (0..=pairs).map(move |losses| (pairs - losses, losses, outer * binomial_pmf(losses, pairs, lost)))
    })
}

fn close(actual: f64, expected: f64, tolerance: f64) {
    let difference = (actual - expected).abs();
    assert!(difference <= tolerance * expected.abs().max(1e-300), "{actual:e}, expected {expected:e}");
}
