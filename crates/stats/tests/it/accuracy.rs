//! The README's table of accuracy is what the tests measure.

const README: &str = include_str!("../../README.md");

/// The relative difference of two numbers, 0 if they are equal.
pub(crate) fn relative(actual: f64, expected: f64) -> f64 {
    if actual == expected { 0.0 } else { ((actual - expected) / expected).abs() }
}

/// Asserts that the README states the largest error of these functions, over this number of cases.
#[track_caller]
pub(crate) fn assert_stated(functions: &str, cases: usize, worst: f64) {
    let row = format!("| {functions} | {cases} | {worst:.0e} |");
    assert!(README.lines().any(|line| line == row), "README.md should have the row\n{row}");
}
