//! Two samples: published figures, and properties.

mod published;
mod sign_flips;
mod tests_of_difference;

fn close(actual: f64, expected: f64, tolerance: f64) {
    let difference = (actual - expected).abs();
    assert!(difference <= tolerance * expected.abs().max(1e-300), "{actual:e}, expected {expected:e}");
}
