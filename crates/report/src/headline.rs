//! One figure of a block with its error, in a line of a list.

use errorbar_core::Block;

use crate::number;
use crate::pairs::Pairs;

/// A figure and its error, where the block has one that belongs to it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Figure {
    /// The figure; nothing if it is undefined.
    pub value: Option<f64>,
    /// Its standard error.
    pub error: Option<f64>,
}

impl Figure {
    /// The figure under a key of a block.
    ///
    /// ```
    /// use errorbar_core::{Plan, Score, ScoreColumns, results};
    /// use errorbar_report::Figure;
    ///
    /// let mut columns = ScoreColumns::new(["match"]);
    /// for (id, grade) in [("q1", "C"), ("q2", "I"), ("q3", "C"), ("q4", "C")] {
    ///     columns.push(id, 1).score("match", Score::new(grade))?;
    /// }
    /// let results = results(&columns, &Plan::new())?;
    /// let figure = Figure::of(&results.scores[0], "accuracy").unwrap();
    /// assert_eq!((figure.value, figure.error), (Some(0.75), Some(0.25)));
    /// assert_eq!(figure.to_string(), "0.75 ± 0.25");
    /// # Ok::<(), errorbar_core::Error>(())
    /// ```
    pub fn of(block: &Block, key: &str) -> Option<Self> {
        let entry = block.metrics.get(key)?;
        let is_defined = entry.undefined_reason().is_none() && !entry.value.is_nan();
        let error = Pairs::of(block).error_of(entry).map(|(_, error)| error);
        Some(Figure { value: is_defined.then_some(entry.value), error: error.filter(|_| is_defined) })
    }
}

/// As many digits as mean something: `0.742 ± 0.061`, `12.35`, `undefined`.
impl std::fmt::Display for Figure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.value, self.error) {
            (Some(value), Some(error)) => {
                let (value, error) = number::with_error(value, error);
                write!(f, "{value} ± {error}")
            }
            (Some(value), None) => f.write_str(&number::plain(value)),
            (None, _) => f.write_str("undefined"),
        }
    }
}
