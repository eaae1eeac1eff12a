//! Runs that end before their end: rules about the confidence sequence of a mean, and what each sample contributes to it.

mod figure;
mod rule;

pub use figure::{FigureProblem, MeanFigure};
pub use rule::{RuleMeasure, StopRule};

#[cfg(test)]
mod tests;
