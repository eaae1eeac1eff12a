//! Tests of specs, by what they are about.

mod errors;
mod log;
mod metrics;
mod round_trip;
mod text;

use super::Spec;

/// The spec that a text is known to be.
fn spec(text: &str) -> Spec {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}
