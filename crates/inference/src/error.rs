//! Why there is no comparison.

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
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ComparisonError {
    /// There is no second side.
    #[error("there is nothing to compare {side} with")]
    OneSide {
        /// The only side; what there is instead of one if there is none.
        side: String,
    },
    /// A side is compared with itself.
    #[error("{base} and {other} are the same scores")]
    SameScores {
        /// The base.
        base: String,
        /// The other side.
        other: String,
    },
    /// Two sides have one name.
    #[error("two sides are called {name}")]
    SameName {
        /// The name.
        name: String,
    },
    /// Every side is to be compared with every other, and there are too many.
    #[error("{sides} sides are too many to compare every one with every other; at most {most} are")]
    TooManySides {
        /// The number of sides.
        sides: usize,
        /// The most that there may be.
        most: usize,
    },
    /// No sample is in both sides.
    #[error(
        "{base} and {other} have no sample in common: {base} has {base_samples} samples such as {base_example:?}, \
         {other} {other_samples} such as {other_example:?}"
    )]
    NoCommonSample {
        /// The base.
        base: String,
        /// The other side.
        other: String,
        /// The samples of the base.
        base_samples: u64,
        /// Those of the other side.
        other_samples: u64,
        /// The id of a sample of the base.
        base_example: String,
        /// The id of one of the other side.
        other_example: String,
    },
    /// There are samples in common, and fewer than two of them have a score on both sides.
    #[error(
        "{base} and {other} have {} with a score on both sides; a comparison takes two",
        if *pairs == 0 { "no sample".to_owned() } else { "one sample".to_owned() }
    )]
    TooFewPairs {
        /// The base.
        base: String,
        /// The other side.
        other: String,
        /// The samples with a score on both sides.
        pairs: u64,
        /// The samples that both sides have.
        common: u64,
    },
    /// The sides have no scorer in common.
    #[error(
        "{base} and {other} have no scorer in common: {base} has scores by {}, {other} by {}",
        list(base_scorers),
        list(other_scorers)
    )]
    NoCommonScorer {
        /// The base.
        base: String,
        /// The other side.
        other: String,
        /// The scorers of the base.
        base_scorers: Vec<String>,
        /// Those of the other side.
        other_scorers: Vec<String>,
    },
    /// The sides have no metric in common.
    #[error(
        "{base} and {other} have no metric in common that can be compared: {base} has {}, {other} {}",
        list(base_metrics),
        list(other_metrics)
    )]
    NoCommonMetric {
        /// The base.
        base: String,
        /// The other side.
        other: String,
        /// The metrics of the base, each with the reducer that is named.
        base_metrics: Vec<String>,
        /// Those of the other side.
        other_metrics: Vec<String>,
        /// Whether they have the same metrics, but under other reducers.
        is_of_reducers: bool,
        /// Whether a side has recorded figures only, so that neither metrics nor reducers can be chosen.
        is_recorded: bool,
    },
    /// A sample has another value on each side under the key of clusters or groups.
    #[error(
        "`{key}` of sample {sample:?} is {} in {} and {} in {}: the sides disagree on which samples belong together",
        base.1, base.0, other.1, other.0
    )]
    OtherKey {
        /// The base, and its value.
        base: Box<(String, String)>,
        /// The other side, and its value.
        other: Box<(String, String)>,
        /// The metadata key.
        key: String,
        /// The first such sample.
        sample: String,
    },
    /// The sides have different numbers of epochs, under a reducer whose value depends on it.
    #[error(
        "the numbers of epochs differ ({base}: {base_epochs}, {other}: {other_epochs}), and what {reducer} gives depends on that number"
    )]
    UnequalEpochs {
        /// The base.
        base: String,
        /// The other side.
        other: String,
        /// The reducer.
        reducer: String,
        /// The epochs of the base.
        base_epochs: usize,
        /// Those of the other side.
        other_epochs: usize,
    },
    /// Samples have different numbers of scored epochs on the two sides, under a reducer whose value depends on it.
    #[error(
        "{unequal} of {pairs} samples{} have different numbers of scored epochs (sample {:?}: {base} {}, {other} {}), and what {reducer} gives depends on that number",
        with_key(group), example.0, example.1, example.2
    )]
    UnequalEpochsOfPairs {
        /// The base.
        base: String,
        /// The other side.
        other: String,
        /// The reducer.
        reducer: String,
        /// The key and the value of a group, if it is only of one.
        group: Option<Box<(String, String)>>,
        /// The number of such samples.
        unequal: u64,
        /// The number of samples with a score on both sides.
        pairs: u64,
        /// The sample that differs most, with its scored epochs in the base and in the other side.
        example: Box<(String, u32, u32)>,
    },
    /// The samples of two sides that are not paired have different numbers of scored epochs, under a reducer whose value
    /// depends on it.
    #[error(
        "samples{} have {base_epochs:.1} scored epochs in {base} and {other_epochs:.1} in {other} on average, and what {reducer} gives depends on that number",
        with_key(group)
    )]
    UnequalMeanEpochs {
        /// The base.
        base: String,
        /// The other side.
        other: String,
        /// The reducer.
        reducer: String,
        /// The key and the value of a group, if it is only of one.
        group: Option<Box<(String, String)>>,
        /// The mean number of scored epochs of the base.
        base_epochs: f64,
        /// That of the other side.
        other_epochs: f64,
    },
}

fn with_key(group: &Option<Box<(String, String)>>) -> String {
    group.as_ref().map_or_else(String::new, |group| format!(" with `{}` {}", group.0, group.1))
}

/// The name of a side, and its metrics with the reducers that are named.
pub(crate) type SideMetrics<'s> = (&'s str, Vec<(String, Option<&'s str>)>);

impl ComparisonError {
    /// The error of sides that have no metric in common, or none under the same reducer.
    pub(crate) fn no_common_metric(
        base: SideMetrics<'_>,
        other: SideMetrics<'_>,
        is_recorded: bool,
    ) -> ComparisonError {
        let is_of_other = |(metric, _): &(String, _)| other.1.iter().any(|(known, _)| known == metric);
        let is_of_reducers = base.1.iter().any(is_of_other);
        let names = |metrics: Vec<(String, Option<&str>)>| {
            let mut names: Vec<String> = Vec::new();
            for (metric, reducer) in metrics {
                let name = reducer.map(|reducer| format!("{metric} ({reducer})")).unwrap_or(metric);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            names
        };
        ComparisonError::NoCommonMetric {
            base: base.0.to_owned(),
            other: other.0.to_owned(),
            base_metrics: names(base.1),
            other_metrics: names(other.1),
            is_of_reducers,
            is_recorded,
        }
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
