//! Is one model better than another? Two sets of scores, matched by sample, and what their difference supports.
//!
//! Epochs are reduced first, so that a pair is a sample; pairing epoch with epoch would count each sample several times.

mod engine;
mod figures;
mod gate;
mod numbers;
mod pair;
mod paired;
mod pairing;
mod rankings;
mod side;
mod tasks;
mod unpaired;

use errorbar_core::{Defined, Direction, Estimate, Plan, Results, Role, ScoreColumns, Undefined};

use crate::error::{Error, Result};

pub use crate::comparison::pairing::CrossTable;
pub use gate::{Gate, GateOutcome, GateShortfall};

/// Compares sides: each other one with the first, or every one with every other.
///
/// Metrics, reducers and errors are those of the plans; groups, corrections and gates those of the options. The metadata
/// key to compare by is not among the keys of a plan: readers that fetch only those need it, too.
///
/// ```
/// use errorbar_core::metrics::accuracy;
/// use errorbar_core::{Plan, Score, ScoreColumns, metrics};
/// use errorbar_inference::{ComparedScores, ComparisonOptions, compare};
///
/// let plan = Plan::new().metrics(metrics![accuracy()]);
/// let mut sides = [ScoreColumns::new(["match"]), ScoreColumns::new(["match"])];
/// for id in 0..20 {
///     for (columns, right) in sides.iter_mut().zip([10, 16]) {
///         let grade = if id < right { "C" } else { "I" };
///         columns.push(id.to_string(), 1).score("match", Score::new(grade))?;
///     }
/// }
/// let [old, new] = &sides;
/// let sides = [ComparedScores::new("old", old, &plan), ComparedScores::new("new", new, &plan)];
/// let report = compare(&sides, &ComparisonOptions::default())?;
/// let accuracy = &report.comparisons[0];
/// assert_eq!((accuracy.wins, accuracy.losses), (Some(6), Some(0)));
/// let interval = accuracy.difference.interval.clone()?;
/// assert_eq!(format!("[{:.2}, {:.2}]", interval.lower, interval.upper), "[0.05, 0.50]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// What makes the scores of a side unusable, as in [`Plan::evaluate`]; sides that cannot be compared.
pub fn compare(sides: &[ComparedScores<'_>], options: &ComparisonOptions) -> Result<ComparisonReport> {
    engine::compare(sides, options)
}

/// The scores of one side of a comparison, with the plan that they are computed by.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ComparedScores<'a> {
    /// What the side is called: a model, a file, a scorer.
    pub name: &'a str,
    /// The task, if sides of several tasks are compared.
    pub task: Option<&'a str>,
    /// The scores.
    pub columns: &'a ScoreColumns,
    /// Metrics, reducers, errors, seed.
    pub plan: &'a Plan,
    /// The figures of a side whose scores are not known.
    pub recorded: Option<&'a Results>,
}

impl<'a> ComparedScores<'a> {
    /// The scores of a side, of the only task.
    pub fn new(name: &'a str, columns: &'a ScoreColumns, plan: &'a Plan) -> Self {
        ComparedScores { name, task: None, columns, plan, recorded: None }
    }

    /// The figures of a side, if its scores are not known. They are compared unpaired, from their errors.
    pub fn recorded(mut self, recorded: Option<&'a Results>) -> Self {
        self.recorded = recorded;
        self
    }

    /// The task, if sides of several tasks are compared.
    pub fn of_task(mut self, task: Option<&'a str>) -> Self {
        self.task = task;
        self
    }
}

/// All comparisons of several sides.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ComparisonReport {
    /// The names of the sides, the base first.
    pub sides: Vec<String>,
    /// One for each other side, scorer, metric, task and group; with the matrix, one for each pair of sides.
    pub comparisons: Vec<Comparison>,
    /// The sides by rank, one ranking for each scorer and metric; only with more than two sides.
    pub rankings: Vec<Ranking>,
    /// What a reader of the numbers should know.
    pub warnings: Vec<ComparisonWarning>,
    /// How they were compared: the correction and the gate are named beside the figures.
    pub options: ComparisonOptions,
}

impl ComparisonReport {
    /// Without comparisons.
    pub fn new<S: Into<String>>(sides: impl IntoIterator<Item = S>, options: ComparisonOptions) -> Self {
        let sides = sides.into_iter().map(Into::into).collect();
        ComparisonReport { sides, options, ..ComparisonReport::default() }
    }

    /// Only the comparisons that `keep` holds for, their p-values corrected among themselves: those that are shown
    /// together are one family of tests.
    #[must_use]
    pub fn only(mut self, keep: impl FnMut(&Comparison) -> bool) -> Self {
        self.comparisons.retain(keep);
        engine::correct(&mut self.comparisons, self.options.correction);
        self
    }
}

/// One metric of two sides, and their difference.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Comparison {
    /// The side that the other is compared with.
    pub base: String,
    /// The other side.
    pub other: String,
    /// The task, if there are several.
    pub task: Option<String>,
    /// The scorer.
    pub scorer: String,
    /// The reducer, unless it is the implied mean or there is none.
    pub reducer: Option<String>,
    /// The key of map-valued scores.
    pub field: Option<String>,
    /// The metric.
    pub metric: String,
    /// What kind of figure the metric gives.
    pub role: Role,
    /// Which way it is better. Differences are other minus base, whatever it is.
    pub direction: Direction,
    /// The metadata key of the group; none for all samples.
    pub group_key: Option<String>,
    /// The group; none for all samples, or for the mean over groups or tasks.
    pub group: Option<String>,
    /// Whether samples are matched.
    pub is_paired: bool,
    /// What errors are clustered by; empty for independent samples.
    pub cluster: Vec<String>,
    /// The number of pairs; of all samples with a score, if unpaired.
    pub n: u64,
    /// Samples that only the base has.
    pub only_base: u64,
    /// Samples that only the other side has.
    pub only_other: u64,
    /// The figure of the base, over the samples of the comparison.
    pub base_estimate: Estimate,
    /// The figure of the other side.
    pub other_estimate: Estimate,
    /// Other minus base, with error, interval, and bounds where scores are absent.
    pub difference: Estimate,
    /// The test of no difference.
    pub test: Defined<ComparisonTest>,
    /// Its p-value after the correction for several comparisons.
    pub p_adjusted: Option<f64>,
    /// The flip table, and exact tests of it; only for pairs of zeros and ones.
    pub flips: Option<FlipTable>,
    /// Pairs by both scores; only if there are few different ones.
    pub cross_table: Option<CrossTable>,
    /// The p-value of the exact sign-flip permutation test, where it was computed.
    pub p_sign_flip: Option<f64>,
    /// The p-value of the test of equivalence, if a margin was given.
    pub p_tost: Option<f64>,
    /// Pairs in which the other side is better; none if unpaired.
    pub wins: Option<u64>,
    /// Pairs in which the other side is worse.
    pub losses: Option<u64>,
    /// Pairs without a difference.
    pub ties: Option<u64>,
    /// The correlation of the two sides over pairs.
    pub correlation: Defined<f64>,
    /// The share of the variance of an unpaired difference that pairing removed.
    pub variance_removed: Defined<f64>,
    /// The smallest difference that these samples detect with a power of 80 %.
    pub mde: Defined<f64>,
    /// The largest difference that there may be, if the range of the scores is known.
    pub largest_difference: Option<f64>,
    /// What the gate decides.
    pub gate: Option<GateOutcome>,
}

impl Comparison {
    /// A comparison of all samples of which no figure is known yet.
    pub fn new(base: &str, other: &str, scorer: &str, metric: &str) -> Self {
        let unknown = || Estimate::undefined(Undefined::NoScores);
        Comparison {
            base: base.to_owned(),
            other: other.to_owned(),
            task: None,
            scorer: scorer.to_owned(),
            reducer: None,
            field: None,
            metric: metric.to_owned(),
            role: Role::Location,
            direction: Direction::Higher,
            group_key: None,
            group: None,
            is_paired: true,
            cluster: Vec::new(),
            n: 0,
            only_base: 0,
            only_other: 0,
            base_estimate: unknown(),
            other_estimate: unknown(),
            difference: unknown(),
            test: Err(Undefined::NoScores),
            p_adjusted: None,
            flips: None,
            cross_table: None,
            p_sign_flip: None,
            p_tost: None,
            wins: None,
            losses: None,
            ties: None,
            correlation: Err(Undefined::NoScores),
            variance_removed: Err(Undefined::NoScores),
            mde: Err(Undefined::NoScores),
            largest_difference: None,
            gate: None,
        }
    }
}

/// A test of no difference.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ComparisonTest {
    /// The p-value, two-sided.
    pub p_value: f64,
    /// Which test.
    pub method: TestMethod,
}

impl ComparisonTest {
    /// A test with its p-value.
    pub fn new(method: TestMethod, p_value: f64) -> Self {
        ComparisonTest { p_value, method }
    }
}

/// A test of no difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TestMethod {
    /// The paired t test; with clusters, CR2 with its degrees of freedom.
    T,
    /// McNemar's test, mid-p.
    McNemarMid,
    /// McNemar's test, exact.
    McNemarExact,
    /// The exact sign-flip permutation test.
    SignFlip,
    /// The paired bootstrap.
    Bootstrap,
    /// Welch's t test, unpaired.
    Welch,
    /// Newcombe's interval of two unpaired shares, inverted.
    Newcombe,
}

impl TestMethod {
    /// Its name in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            TestMethod::T => "t",
            TestMethod::McNemarMid => "mcnemar_mid",
            TestMethod::McNemarExact => "mcnemar_exact",
            TestMethod::SignFlip => "sign_flip",
            TestMethod::Bootstrap => "bootstrap",
            TestMethod::Welch => "welch",
            TestMethod::Newcombe => "newcombe",
        }
    }
}

/// Pairs of zeros and ones by both scores.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FlipTable {
    /// Right on both sides.
    pub both_right: u64,
    /// Right only on the base side: losses.
    pub only_base_right: u64,
    /// Right only on the other side: wins.
    pub only_other_right: u64,
    /// Wrong on both sides.
    pub both_wrong: u64,
    /// The p-value of McNemar's exact test.
    pub p_exact: f64,
    /// Its mid-p version.
    pub p_mid: f64,
}

impl FlipTable {
    /// The counts of pairs, right on both sides, only on the base's, only on the other, on none; and both p-values.
    pub fn new(counts: [u64; 4], p_exact: f64, p_mid: f64) -> Self {
        let [both_right, only_base_right, only_other_right, both_wrong] = counts;
        FlipTable { both_right, only_base_right, only_other_right, both_wrong, p_exact, p_mid }
    }
}

/// Several sides in the order of one metric.
#[derive(Clone, Debug)]
pub struct Ranking {
    /// The scorer.
    pub scorer: String,
    /// The reducer, unless it is the implied mean or there is none.
    pub reducer: Option<String>,
    /// The key of map-valued scores.
    pub field: Option<String>,
    /// The metric.
    pub metric: String,
    /// The task; none for the only one, or for the mean over tasks.
    pub task: Option<String>,
    /// The samples that all sides have.
    pub n: u64,
    /// The level at which the ranges of all ranks, and the tie groups, hold together.
    pub level: f64,
    /// The sides, the best one first.
    pub ranks: Vec<Rank>,
}

/// The place of one side.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rank {
    /// The side.
    pub side: String,
    /// Its figure.
    pub estimate: Estimate,
    /// The place, from 1; equal figures share one.
    pub rank: u32,
    /// The best and the worst place that tests of all pairs leave, corrected by Holm's method.
    pub interval: (u32, u32),
    /// The tie groups that it is in, as letters: the same tests do not distinguish two sides that share one. A letter may
    /// have a number, as in `a2`; [`tie_letters`](Rank::tie_letters) takes them apart.
    pub tie_groups: String,
}

impl Rank {
    /// The place of a side, the interval of places and the letters of its tie groups.
    pub fn new(side: &str, estimate: Estimate, rank: u32, interval: (u32, u32), tie_groups: &str) -> Self {
        Rank { side: side.to_owned(), estimate, rank, interval, tie_groups: tie_groups.to_owned() }
    }

    /// The letters of its tie groups, one by one: `a` and `b2` of `ab2`.
    pub fn tie_letters(&self) -> impl Iterator<Item = &str> {
        let text = self.tie_groups.as_str();
        let starts = text.char_indices().filter(|(_, c)| c.is_ascii_alphabetic()).map(|(at, _)| at);
        let ends = starts.clone().skip(1).chain(std::iter::once(text.len()));
        starts.zip(ends).filter_map(move |(start, end)| text.get(start..end))
    }

    /// The places that the data support, as people write them: `1–2`, `3`.
    pub fn range_text(&self) -> String {
        match self.interval {
            (best, worst) if best == worst => best.to_string(),
            (best, worst) => format!("{best}–{worst}"),
        }
    }
}

/// What a reader of a comparison should know.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{text}")]
#[non_exhaustive]
pub enum ComparisonWarning {
    /// Samples of one side have no partner.
    Unmatched {
        /// The base.
        base: String,
        /// The other side.
        other: String,
        /// How many.
        text: String,
    },
    /// A metric could not be computed.
    Failed {
        /// Which one, of which sides.
        text: String,
        /// Why.
        error: Box<Error>,
    },
    /// Anything else.
    Other {
        /// In words.
        text: String,
    },
}

impl ComparisonWarning {
    /// What cannot be told by its kind.
    pub fn other(text: impl Into<String>) -> Self {
        ComparisonWarning::Other { text: text.into() }
    }
}

/// How sides are compared. Level, clusters, draws and range are those of the plan's errors.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ComparisonOptions {
    /// The metadata key to compare by, group for group.
    pub by: Option<String>,
    /// Whether samples are not matched, even if they could be.
    pub unpaired: bool,
    /// Whether every side is compared with every other, not only with the base.
    pub all_pairs: bool,
    /// How p-values of several comparisons are corrected.
    pub correction: Option<Correction>,
    /// What must hold.
    pub gate: Option<Gate>,
}

impl ComparisonOptions {
    /// The most sides of which every pair is tested, for a ranking or a matrix: the work and the memory grow with the square.
    pub const MOST_PAIRED: usize = 200;
}

/// How p-values of several comparisons are corrected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Correction {
    /// Holm: the chance of any false alarm among all comparisons.
    Holm,
    /// Benjamini and Hochberg: the expected share of false alarms among those that are reported.
    Bh,
}

impl Correction {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Correction::Holm => "holm",
            Correction::Bh => "bh",
        }
    }
}

impl std::fmt::Display for Correction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Correction {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known =
            [Correction::Holm, Correction::Bh].into_iter().find(|correction| correction.name() == name);
        known.ok_or_else(|| format!("expected holm or bh, found {name:?}"))
    }
}
