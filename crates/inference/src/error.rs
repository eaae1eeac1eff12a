//! Why there is no comparison.

use indexmap::IndexSet;

/// The result of anything in this crate that may fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there is no comparison.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Scores that cannot be evaluated.
    #[error(transparent)]
    Core(#[from] errorbar_core::Error),
    /// Sides that cannot be compared.
    #[error(transparent)]
    Comparison(#[from] ComparisonError),
}

/// For programs whose functions return the result of the engine.
impl From<Error> for errorbar_core::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Core(error) => error,
            Error::Comparison(error) => errorbar_core::Error::Custom(error.to_string()),
        }
    }
}

/// Why sides cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct ComparisonError {
    /// What can be done about it depends on this.
    pub kind: ComparisonErrorKind,
    text: String,
}

/// What kind of problem sides have that cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ComparisonErrorKind {
    /// There is no second side, or it is the same.
    OneSide,
    /// Two sides have one name.
    SameName,
    /// Every side is to be compared with every other, and there are too many.
    TooManySides,
    /// No sample is in both sides; the id of one of each.
    NoCommonSample([String; 2]),
    /// There are samples in common, and fewer than two of them have a score on both sides.
    TooFewPairs,
    /// The sides have no scorer in common.
    NoCommonScorer,
    /// The sides have no metric in common.
    NoCommonMetric {
        /// Whether they have the same metrics, but under other reducers.
        is_of_reducers: bool,
        /// Whether a side has recorded figures only, so that neither metrics nor reducers can be chosen.
        is_recorded: bool,
    },
    /// A sample has another value on each side under this key of clusters or groups.
    OtherKey(String),
    /// The sides, or samples of them, have different numbers of epochs, under a reducer whose value depends on it.
    UnequalEpochs,
}

/// The name of a side, and its metrics with the reducers that are named.
pub(crate) type SideMetrics<'s> = (&'s str, Vec<(String, Option<&'s str>)>);

impl ComparisonError {
    pub(crate) fn new(kind: ComparisonErrorKind, text: impl Into<String>) -> Self {
        ComparisonError { kind, text: text.into() }
    }

    /// The error of more sides than are compared each with each.
    pub fn too_many_sides(sides: usize, most: usize) -> Self {
        let text =
            format!("{sides} sides are too many to compare every one with every other; at most {most} are");
        ComparisonError::new(ComparisonErrorKind::TooManySides, text)
    }

    /// The error of sides that have no metric in common, or none under the same reducer.
    pub(crate) fn no_common_metric(
        base: SideMetrics<'_>,
        other: SideMetrics<'_>,
        is_recorded: bool,
    ) -> ComparisonError {
        let is_of_other = |(metric, _): &(String, _)| other.1.iter().any(|(known, _)| known == metric);
        let is_of_reducers = base.1.iter().any(is_of_other);
        let names = |metrics: Vec<(String, Option<&str>)>| {
            let name = |(metric, reducer): (String, Option<&str>)| match reducer {
                Some(reducer) => format!("{metric} ({reducer})"),
                None => metric,
            };
            let names: IndexSet<String> = metrics.into_iter().map(name).collect();
            list(&names.into_iter().collect::<Vec<_>>())
        };
        let ((base, of_base), (other, of_other)) = (base, other);
        let (of_base, of_other) = (names(of_base), names(of_other));
        ComparisonError::new(
            ComparisonErrorKind::NoCommonMetric { is_of_reducers, is_recorded },
            format!(
                "{base} and {other} have no metric in common that can be compared: {base} has {of_base}, {other} {of_other}"
            ),
        )
    }
}

/// Names, or that there are none.
pub(crate) fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
