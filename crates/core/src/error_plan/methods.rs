//! The methods of errors and of intervals: their names, and how plans write them.

use std::fmt;
use std::str::FromStr;

use crate::registry::ArgWord;
use crate::spec::{Arg, Spec};

/// How an interval was made. Its text is a spec: `wilson`, `beta(prior=[1, 1])`, `wild(weights="rademacher")`.
///
/// ```
/// use errorbar_core::{BetaPrior, IntervalMethod};
///
/// let method: IntervalMethod = "beta(prior=[0.5, 2])".parse()?;
/// assert_eq!(method, IntervalMethod::Beta(BetaPrior::new(0.5, 2.0)));
/// assert_eq!(method.to_string(), "beta(prior=[0.5, 2])");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum IntervalMethod {
    /// Wilson's score interval, on the effective n where scores are not independent zeros and ones.
    Wilson,
    /// Wilson's on the effective n of surveys, for clustered zeros and ones: Korn and Graubard's adjustment for few clusters.
    ModifiedWilson,
    /// Clopper and Pearson's: never covers less than its level, for zeros and ones.
    ClopperPearson,
    /// The credible interval of Jeffreys' prior, Beta(½, ½), for zeros and ones.
    Jeffreys,
    /// The credible interval of another beta prior, for zeros and ones.
    Beta(BetaPrior),
    /// x̄ ± t·se.
    T,
    /// Percentiles of resampled means.
    Bootstrap,
    /// Percentiles of resampled means, corrected for bias and for an error that changes with the mean.
    Bca,
    /// Percentiles of resampled t statistics.
    BootstrapT,
    /// Percentiles of all means that resampling can give, without drawing any.
    Exact,
    /// The wild cluster bootstrap.
    Wild(WildWeights),
    /// The ends of an interval of the logit, for a figure between 0 and 1 that is no mean.
    Logit,
    /// Two of the scores themselves, by rank: that of a quantile.
    OrderStatistics,
    /// The normal interval of a group that is shrunken toward the others; see `shrink` of
    /// [`grouped`](crate::metrics::grouped).
    EmpiricalBayes,
    /// A confidence sequence by betting: valid at every look at a run, so that it may decide when the run stops. See
    /// [`ConfidenceSequence`](errorbar_stats::sequential::ConfidenceSequence).
    Betting,
    /// That of Bonett and Price, for the difference of two shares over the same samples; with the design effect where samples
    /// are not independent.
    BonettPrice,
    /// Newcombe's (method 10), for the difference of two independent shares: Wilson's ends of both, combined.
    Newcombe,
    /// As a custom metric defines it.
    Custom,
}

/// The prior Beta(a, b) of a share; both are above 0.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct BetaPrior {
    /// As many successes less one that the prior is worth.
    pub a: f64,
    /// As many failures less one that the prior is worth.
    pub b: f64,
}

impl BetaPrior {
    /// Beta(a, b); both must be above 0.
    pub fn new(a: f64, b: f64) -> Self {
        BetaPrior { a, b }
    }

    /// All shares are equally likely.
    pub const UNIFORM: BetaPrior = BetaPrior { a: 1.0, b: 1.0 };
}

/// The random weights of the wild cluster bootstrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WildWeights {
    /// Webb's six points: ±√½, ±1, ±√1½.
    #[default]
    Webb,
    /// ±1.
    Rademacher,
}

impl WildWeights {
    const CHOICES: [WildWeights; 2] = [WildWeights::Webb, WildWeights::Rademacher];

    /// The name, as in specs.
    pub fn name(self) -> &'static str {
        match self {
            WildWeights::Webb => "webb",
            WildWeights::Rademacher => "rademacher",
        }
    }
}

impl IntervalMethod {
    /// The methods that a plan can name; those with arguments with their defaults.
    pub const CHOICES: [IntervalMethod; 11] = [
        IntervalMethod::Wilson,
        IntervalMethod::ModifiedWilson,
        IntervalMethod::ClopperPearson,
        IntervalMethod::Jeffreys,
        IntervalMethod::Beta(BetaPrior::UNIFORM),
        IntervalMethod::T,
        IntervalMethod::Bootstrap,
        IntervalMethod::Bca,
        IntervalMethod::BootstrapT,
        IntervalMethod::Exact,
        IntervalMethod::Wild(WildWeights::Webb),
    ];

    /// The methods that only metrics choose, or that runs do which were stopped early.
    pub const OF_METRICS: [IntervalMethod; 5] = [
        IntervalMethod::Logit,
        IntervalMethod::OrderStatistics,
        IntervalMethod::EmpiricalBayes,
        IntervalMethod::Betting,
        IntervalMethod::Custom,
    ];

    /// The methods of differences, which only comparisons choose.
    pub const OF_COMPARISONS: [IntervalMethod; 2] = [IntervalMethod::BonettPrice, IntervalMethod::Newcombe];

    /// Whether it draws resamples.
    pub fn is_drawn(self) -> bool {
        use IntervalMethod as M;
        matches!(self, M::Bootstrap | M::Bca | M::BootstrapT | M::Wild(_))
    }

    /// Whether it is about the means of resamples, drawn or not, so that it needs the distinct scores or the clusters.
    pub(crate) fn is_resampled(self) -> bool {
        self.is_drawn() || self == IntervalMethod::Exact
    }

    /// The name, without arguments.
    pub fn name(self) -> &'static str {
        match self {
            IntervalMethod::Wilson => "wilson",
            IntervalMethod::ModifiedWilson => "modified_wilson",
            IntervalMethod::ClopperPearson => "clopper_pearson",
            IntervalMethod::Jeffreys => "jeffreys",
            IntervalMethod::Beta(_) => "beta",
            IntervalMethod::T => "t",
            IntervalMethod::Bootstrap => "bootstrap",
            IntervalMethod::Bca => "bca",
            IntervalMethod::BootstrapT => "bootstrap_t",
            IntervalMethod::Exact => "exact",
            IntervalMethod::Wild(_) => "wild",
            IntervalMethod::Logit => "logit",
            IntervalMethod::OrderStatistics => "order_statistics",
            IntervalMethod::EmpiricalBayes => "empirical_bayes",
            IntervalMethod::Betting => "betting",
            IntervalMethod::BonettPrice => "bonett_price",
            IntervalMethod::Newcombe => "newcombe",
            IntervalMethod::Custom => "custom",
        }
    }

    /// From a spec.
    ///
    /// # Errors
    /// A sentence that names the methods, or the argument and what was expected.
    pub fn from_spec(spec: &Spec) -> Result<Self, String> {
        let named = |method: &IntervalMethod| method.name() == spec.name && spec.package.is_none();
        let Some(method) = IntervalMethod::CHOICES.iter().copied().find(named) else {
            return Err(unknown(&spec.qualified_name(), names()));
        };
        let parameters: &[&str] = match method {
            IntervalMethod::Beta(_) => &["prior"],
            IntervalMethod::Wild(_) => &["weights"],
            _ if spec.args.is_empty() && spec.kwargs.is_empty() => &[],
            _ => return Err(format!("{method} has no arguments")),
        };
        let args = spec.bind(parameters).map_err(|error| error.to_string())?;
        match (method, args.values().next()) {
            (IntervalMethod::Beta(_), Some(prior)) => beta_prior(prior).map(IntervalMethod::Beta),
            (IntervalMethod::Wild(_), Some(weights)) => wild_weights(weights).map(IntervalMethod::Wild),
            _ => Ok(method),
        }
    }
}

fn beta_prior(arg: &Arg) -> Result<BetaPrior, String> {
    let numbers = match arg {
        Arg::List(numbers) => numbers.iter().map(Arg::as_f64).collect::<Option<Vec<f64>>>(),
        _ => None,
    };
    match numbers.as_deref() {
        Some(&[a, b]) if a > 0.0 && b > 0.0 && (a + b).is_finite() => Ok(BetaPrior { a, b }),
        _ => Err(format!("the prior of beta must be two numbers above 0, such as [1, 1], found {arg}")),
    }
}

fn wild_weights(arg: &Arg) -> Result<WildWeights, String> {
    let named = |weights: &WildWeights| arg.as_str() == Some(weights.name());
    WildWeights::CHOICES
        .into_iter()
        .find(named)
        .ok_or_else(|| format!("the weights of wild must be \"webb\" or \"rademacher\", found {arg}"))
}

/// All names, `auto` first.
fn names() -> impl Iterator<Item = &'static str> {
    std::iter::once("auto").chain(IntervalMethod::CHOICES.iter().map(|method| method.name()))
}

impl fmt::Display for IntervalMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IntervalMethod::Beta(BetaPrior { a, b }) => write!(f, "beta(prior=[{a}, {b}])"),
            IntervalMethod::Wild(weights) if *weights != WildWeights::default() => {
                write!(f, "wild(weights=\"{}\")", weights.name())
            }
            method => f.write_str(method.name()),
        }
    }
}

impl FromStr for IntervalMethod {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse::<Spec>() {
            Ok(spec) => IntervalMethod::from_spec(&spec),
            // A string with arguments that is no spec has its own problem.
            Err(error) if text.contains('(') => Err(error.to_string()),
            Err(_) => Err(unknown(text, names())),
        }
    }
}

/// Which interval a plan wants.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum IntervalChoice {
    /// The one that fits the scores.
    #[default]
    Auto,
    /// This one.
    Method(IntervalMethod),
}

impl IntervalChoice {
    /// Whether it is a method that draws resamples.
    pub fn is_drawn(self) -> bool {
        matches!(self, IntervalChoice::Method(method) if method.is_drawn())
    }

    /// Whether it is a method that needs the distinct scores or the clusters.
    pub(crate) fn is_resampled(self) -> bool {
        matches!(self, IntervalChoice::Method(method) if method.is_resampled())
    }

    /// The names that a plan can have: `auto` and those of the methods.
    pub fn names() -> impl Iterator<Item = &'static str> {
        names()
    }
}

impl fmt::Display for IntervalChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IntervalChoice::Auto => f.write_str("auto"),
            IntervalChoice::Method(method) => method.fmt(f),
        }
    }
}

impl FromStr for IntervalChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" { Ok(IntervalChoice::Auto) } else { text.parse().map(IntervalChoice::Method) }
    }
}

/// Which ends an interval has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum IntervalSide {
    /// Both, each with half of what the level leaves.
    #[default]
    TwoSided,
    /// A lower bound; the interval is open upwards.
    Lower,
    /// An upper bound; the interval is open downwards.
    Upper,
}

impl IntervalSide {
    /// All of them.
    pub const CHOICES: [IntervalSide; 3] = [IntervalSide::TwoSided, IntervalSide::Lower, IntervalSide::Upper];

    /// The name, as in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            IntervalSide::TwoSided => "two-sided",
            IntervalSide::Lower => "lower",
            IntervalSide::Upper => "upper",
        }
    }

    /// Refuses a bound that the truth is beyond as often as not: at the level 0.5 it is the value itself, and below it lies on
    /// the wrong side of it.
    ///
    /// # Errors
    /// A sentence that names the level.
    pub(crate) fn check_level(self, level: f64) -> Result<(), String> {
        match self {
            IntervalSide::Lower | IntervalSide::Upper if level <= 0.5 => {
                Err(format!("the level of a bound must be above 0.5, found {level}"))
            }
            _ => Ok(()),
        }
    }

    /// The confidence of each end of an interval of this level.
    pub fn confidence_of_ends(self, level: f64) -> f64 {
        match self {
            IntervalSide::TwoSided => 0.5 + level / 2.0,
            IntervalSide::Lower | IntervalSide::Upper => level,
        }
    }
}

impl ArgWord for IntervalSide {
    const EXPECTED: &'static str = "\"two-sided\", \"lower\" or \"upper\"";
    const WORDS: &'static [(&'static str, Self)] = &[
        ("two-sided", IntervalSide::TwoSided),
        ("lower", IntervalSide::Lower),
        ("upper", IntervalSide::Upper),
    ];
}

impl fmt::Display for IntervalSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for IntervalSide {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = |side: &IntervalSide| side.name() == text;
        let names = IntervalSide::CHOICES.iter().map(|side| side.name());
        IntervalSide::CHOICES.iter().copied().find(named).ok_or_else(|| unknown(text, names))
    }
}

/// How a standard error was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorMethod {
    /// Scores are independent: s/√n.
    Iid,
    /// Scores of a cluster belong together.
    Cluster(ClusterVariance),
    /// The standard deviation of resampled figures: of samples, or of whole clusters.
    Bootstrap,
    /// Leaving out one sample or one cluster at a time.
    Jackknife,
    /// A smooth function of means.
    Delta,
    /// DeLong's, of an area under a ROC curve.
    DeLong,
    /// The mean of fixed groups: √(Σ SE²)/G.
    Macro,
    /// As a custom metric defines it.
    Custom,
}

/// The small-sample correction of a clustered error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClusterVariance {
    /// None.
    Cr0,
    /// G/(G−1).
    Cr1,
    /// By the size of each cluster, unbiased for independent scores; with the degrees of freedom of Bell and McCaffrey.
    Cr2,
    /// As the jackknife, without its factor (G−1)/G.
    Cr3,
}

impl ErrorMethod {
    /// The methods that a plan can name.
    pub const CHOICES: [ErrorMethod; 7] = [
        ErrorMethod::Iid,
        ErrorMethod::Cluster(ClusterVariance::Cr0),
        ErrorMethod::Cluster(ClusterVariance::Cr1),
        ErrorMethod::Cluster(ClusterVariance::Cr2),
        ErrorMethod::Cluster(ClusterVariance::Cr3),
        ErrorMethod::Jackknife,
        ErrorMethod::Bootstrap,
    ];

    /// The methods that only metrics choose.
    pub const OF_METRICS: [ErrorMethod; 4] =
        [ErrorMethod::Delta, ErrorMethod::DeLong, ErrorMethod::Macro, ErrorMethod::Custom];

    /// Whether it may draw resamples.
    pub fn is_drawn(self) -> bool {
        self == ErrorMethod::Bootstrap
    }

    /// The name, as in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ErrorMethod::Iid => "iid",
            ErrorMethod::Cluster(ClusterVariance::Cr0) => "CR0",
            ErrorMethod::Cluster(ClusterVariance::Cr1) => "CR1",
            ErrorMethod::Cluster(ClusterVariance::Cr2) => "CR2",
            ErrorMethod::Cluster(ClusterVariance::Cr3) => "CR3",
            ErrorMethod::Bootstrap => "bootstrap",
            ErrorMethod::Jackknife => "jackknife",
            ErrorMethod::Delta => "delta",
            ErrorMethod::DeLong => "delong",
            ErrorMethod::Macro => "macro",
            ErrorMethod::Custom => "custom",
        }
    }
}

impl fmt::Display for ErrorMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is none of those that there are.
pub(super) fn unknown<'n>(found: &str, names: impl Iterator<Item = &'n str>) -> String {
    format!("expected one of {}, found {found:?}", names.collect::<Vec<_>>().join(", "))
}

impl FromStr for ErrorMethod {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = |method: &ErrorMethod| method.name().eq_ignore_ascii_case(text);
        let names = ErrorMethod::CHOICES.iter().map(|method| method.name());
        ErrorMethod::CHOICES.iter().copied().find(named).ok_or_else(|| unknown(text, names))
    }
}

#[cfg(test)]
mod tests {
    use super::IntervalMethod as M;
    use super::*;

    /// The next variant: a new one does not compile until it is here, and fails until a list has it.
    fn next(method: M) -> Option<M> {
        Some(match method {
            M::Wilson => M::ModifiedWilson,
            M::ModifiedWilson => M::ClopperPearson,
            M::ClopperPearson => M::Jeffreys,
            M::Jeffreys => M::Beta(BetaPrior::UNIFORM),
            M::Beta(_) => M::T,
            M::T => M::Bootstrap,
            M::Bootstrap => M::Bca,
            M::Bca => M::BootstrapT,
            M::BootstrapT => M::Exact,
            M::Exact => M::Wild(WildWeights::Webb),
            M::Wild(_) => M::Logit,
            M::Logit => M::OrderStatistics,
            M::OrderStatistics => M::EmpiricalBayes,
            M::EmpiricalBayes => M::Betting,
            M::Betting => M::Custom,
            M::Custom => M::BonettPrice,
            M::BonettPrice => M::Newcombe,
            M::Newcombe => return None,
        })
    }

    #[test]
    fn every_method_is_listed_once() {
        let walked: Vec<M> = std::iter::successors(Some(M::Wilson), |method| next(*method)).collect();
        let listed: Vec<M> = M::CHOICES.into_iter().chain(M::OF_METRICS).chain(M::OF_COMPARISONS).collect();
        assert_eq!(walked, listed);
    }
}

#[cfg(test)]
mod method_tests {
    use super::ErrorMethod as M;
    use super::*;

    /// The next variant: a new one does not compile until it is here, and fails until a list has it.
    fn next(method: M) -> Option<M> {
        Some(match method {
            M::Iid => M::Cluster(ClusterVariance::Cr0),
            M::Cluster(ClusterVariance::Cr0) => M::Cluster(ClusterVariance::Cr1),
            M::Cluster(ClusterVariance::Cr1) => M::Cluster(ClusterVariance::Cr2),
            M::Cluster(ClusterVariance::Cr2) => M::Cluster(ClusterVariance::Cr3),
            M::Cluster(ClusterVariance::Cr3) => M::Jackknife,
            M::Jackknife => M::Bootstrap,
            M::Bootstrap => M::Delta,
            M::Delta => M::DeLong,
            M::DeLong => M::Macro,
            M::Macro => M::Custom,
            M::Custom => return None,
        })
    }

    #[test]
    fn every_method_is_listed_once() {
        let walked: Vec<M> = std::iter::successors(Some(M::Iid), |method| next(*method)).collect();
        let listed: Vec<M> = M::CHOICES.into_iter().chain(M::OF_METRICS).collect();
        assert_eq!(walked, listed);
    }
}
