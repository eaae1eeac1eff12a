//! What came of checking a log.

use std::fmt;

use errorbar_core::Error;

use super::header::Status;
use super::plan::NamedConversion;

/// What came of checking a log, figure by figure.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Verification {
    /// Every figure, in the order of the log, and what is different about numbers of samples and whole blocks.
    pub checks: Vec<Check>,
    /// Why nothing in the log can be checked.
    pub reason: Option<NotCheckable>,
}

/// What came of checking a log as a whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VerifyOutcome<'v> {
    /// Every figure that could be checked agrees, and there is one.
    Agrees,
    /// Something differs.
    Differs,
    /// No figure could be checked.
    NotCheckable(&'v NotCheckable),
}

/// How many checks came to what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckCounts {
    /// Figures that agree.
    pub agree: usize,
    /// Figures, numbers of samples and blocks that differ.
    pub differ: usize,
    /// Figures that cannot be checked.
    pub not_checkable: usize,
}

impl Verification {
    /// A log in which nothing can be checked.
    pub(super) fn not_checkable(reason: NotCheckable) -> Self {
        Verification { checks: Vec::new(), reason: Some(reason) }
    }

    /// What came of the log as a whole.
    pub fn outcome(&self) -> VerifyOutcome<'_> {
        let first = || {
            self.checks.iter().find_map(|check| match &check.outcome {
                CheckOutcome::NotCheckable(reason) => Some(reason),
                _ => None,
            })
        };
        let counts = self.counts();
        match counts {
            CheckCounts { differ: 1.., .. } => VerifyOutcome::Differs,
            CheckCounts { agree: 1.., .. } => VerifyOutcome::Agrees,
            _ => VerifyOutcome::NotCheckable(
                self.reason.as_ref().or_else(first).unwrap_or(&NotCheckable::NoFigures),
            ),
        }
    }

    /// How many checks came to what.
    pub fn counts(&self) -> CheckCounts {
        let mut counts = CheckCounts::default();
        for check in &self.checks {
            match check.outcome {
                CheckOutcome::Agrees => counts.agree += 1,
                CheckOutcome::Differs(_) => counts.differ += 1,
                CheckOutcome::NotCheckable(_) => counts.not_checkable += 1,
            }
        }
        counts
    }

    /// The checks that found a difference. One about a whole block is there once, not for each of its figures.
    pub fn differences(&self) -> impl Iterator<Item = &Check> {
        let mut last: Option<&Check> = None;
        let differing = self.checks.iter().filter(|check| matches!(check.outcome, CheckOutcome::Differs(_)));
        differing.filter(move |check| {
            let is_same = |last: &Check| last.outcome == check.outcome && last.title() == check.title();
            let is_again = last.replace(check).is_some_and(is_same);
            !(is_again && check.outcome == CheckOutcome::Differs(DifferenceKind::BlockNotRecomputed))
        })
    }
}

/// What came of checking one figure, or a number of samples.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Check {
    /// The scorer; none for what concerns the whole log.
    pub scorer: Option<String>,
    /// The name of the block: the scorer, or the key of a map-valued score.
    pub score: Option<String>,
    /// The reducer, unless it is the implied mean or there is none.
    pub reducer: Option<String>,
    /// The key of the figure; none for what is no figure.
    pub metric: Option<String>,
    /// In the log.
    pub recorded: Option<f64>,
    /// Now.
    pub recomputed: Option<f64>,
    /// Whether the metric is known only by the name of the figure, because the header does not record it.
    pub is_by_name: bool,
    /// What came of it.
    pub outcome: CheckOutcome,
}

/// What came of one check.
#[derive(Clone, Debug, PartialEq)]
pub enum CheckOutcome {
    /// The recorded figure is the recomputed one.
    Agrees,
    /// It is another.
    Differs(DifferenceKind),
    /// It cannot be recomputed.
    NotCheckable(NotCheckable),
}

impl Check {
    /// A check of a whole block: scorer, name and reducer.
    pub(super) fn of_block(
        (scorer, score, reducer): (&str, &str, Option<&str>),
        outcome: CheckOutcome,
    ) -> Self {
        Check {
            scorer: Some(scorer.to_owned()),
            score: Some(score.to_owned()),
            reducer: reducer.map(str::to_owned),
            ..Check::of_log(outcome)
        }
    }

    /// A check of the whole log.
    pub(super) fn of_log(outcome: CheckOutcome) -> Self {
        let (scorer, score, reducer, metric) = (None, None, None, None);
        let (recorded, recomputed) = (None, None);
        Check { scorer, score, reducer, metric, recorded, recomputed, is_by_name: false, outcome }
    }

    /// The block, as people read it; none for what concerns the whole log.
    pub fn title(&self) -> Option<String> {
        let (score, scorer) = (self.score.as_ref()?, self.scorer.as_ref()?);
        let of = if score == scorer { String::new() } else { format!(" of {scorer}") };
        let reducer = self.reducer.as_ref().map(|reducer| format!(" ({reducer})")).unwrap_or_default();
        Some(format!("{score}{of}{reducer}"))
    }

    /// What is different, if anything is.
    pub fn difference(&self) -> Option<String> {
        let CheckOutcome::Differs(kind) = &self.outcome else { return None };
        let name = match kind {
            DifferenceKind::Count(what) => what,
            _ => self.metric.as_deref().unwrap_or_default(),
        };
        Some(match (kind, self.recorded, self.recomputed) {
            (DifferenceKind::BlockNotRecomputed, ..) => "recorded, not recomputed".to_owned(),
            (DifferenceKind::BlockNotRecorded, ..) => "recomputed, not recorded".to_owned(),
            (_, Some(recorded), Some(recomputed)) => {
                format!("{name}: recorded {recorded}, recomputed {recomputed}")
            }
            (DifferenceKind::Failed(error), ..) => format!("{name}: recorded, not recomputed: {error}"),
            (_, Some(_), None) => format!("{name}: recorded, not recomputed"),
            (_, None, _) => format!("{name}: recomputed, not recorded"),
        })
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(block) = self.title() {
            write!(f, "{block} · ")?;
        }
        f.write_str(&self.difference().unwrap_or_default())
    }
}

/// Why a figure, or a whole log, cannot be checked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NotCheckable {
    /// The run has not ended, or not well, and records no results.
    #[error("the run {} and the log records no results", ended(*status))]
    NoResults {
        /// How it ended.
        status: Status,
    },
    /// Scores were not computed.
    #[error("the samples are not scored")]
    NotScored,
    /// The log has scores and no figures about them.
    #[error("the log records no figures")]
    NoFigures,
    /// The samples are not in the log.
    #[error("the log has no samples")]
    NoSamples,
    /// A metric that is not registered.
    #[error("the metric `{metric}` is custom")]
    CustomMetric {
        /// Its name.
        metric: String,
    },
    /// A metric that the header does not record and that is no built-in one by the name of the figure.
    #[error("the log does not record which metric `{figure}` is of")]
    MetricNotRecorded {
        /// The name of the figure.
        figure: String,
    },
    /// A metric that cannot be built as it is recorded.
    #[error("the metric `{metric}` cannot be built: {error}")]
    UnusableMetric {
        /// Its name.
        metric: String,
        /// Why.
        error: Error,
    },
    /// The metrics of a scorer cannot be read.
    #[error("the metrics cannot be read: {problem}")]
    UnreadableMetrics {
        /// Why.
        problem: String,
    },
    /// The metric converts values by a function that the log has only a name of.
    #[error(transparent)]
    UnknownConversion(#[from] NamedConversion),
    /// Unscored samples, which this version of the reference treated otherwise.
    #[error("inspect_ai {version} computed it otherwise where a sample has no score")]
    OldUnscored {
        /// The version.
        version: String,
    },
    /// A name that several groups have in the log, which records only one of their figures.
    #[error("{error}")]
    SharedGroupName {
        /// Which groups, and which name.
        error: Error,
    },
    /// A reducer that is not registered.
    #[error("the reducer `{reducer}` is custom")]
    CustomReducer {
        /// Its name.
        reducer: String,
    },
    /// The reducer converts values by a function that the log does not record.
    #[error("the log does not record the conversion of the reducer {reducer}")]
    ReducerConversion {
        /// Its name.
        reducer: String,
    },
}

fn ended(status: Status) -> &'static str {
    match status {
        Status::Started => "has not ended",
        Status::Success => "has ended",
        Status::Cancelled => "was cancelled",
        Status::Error => "failed",
    }
}

impl NotCheckable {
    /// The reason as a word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            NotCheckable::NoResults { .. } => "no_results",
            NotCheckable::NotScored => "not_scored",
            NotCheckable::NoFigures => "no_figures",
            NotCheckable::NoSamples => "no_samples",
            NotCheckable::CustomMetric { .. } => "custom_metric",
            NotCheckable::MetricNotRecorded { .. } => "metric_not_recorded",
            NotCheckable::UnusableMetric { .. } => "unusable_metric",
            NotCheckable::UnreadableMetrics { .. } => "unreadable_metrics",
            NotCheckable::UnknownConversion(_) => "unknown_conversion",
            NotCheckable::OldUnscored { .. } => "old_unscored",
            NotCheckable::SharedGroupName { .. } => "shared_group_name",
            NotCheckable::CustomReducer { .. } => "custom_reducer",
            NotCheckable::ReducerConversion { .. } => "reducer_conversion",
        }
    }
}

/// What is different.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DifferenceKind {
    /// A figure, or only one side has it.
    Figure,
    /// A figure that only the log has, because its metric fails now.
    Failed(String),
    /// A number of samples.
    Count(&'static str),
    /// A block that only the log has.
    BlockNotRecomputed,
    /// A block that the log has not.
    BlockNotRecorded,
}
