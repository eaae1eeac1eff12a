//! The numbers that a log records of a metric, and which they are.

use errorbar_core::metrics::{mean, perplexity_per_seq, perplexity_per_token, stderr};
use errorbar_core::spec::{Spec, without_own_package};
use errorbar_core::{
    AggregateBasis, Estimate, Groups, IndexMap, MetricResult, MetricValue, Metrics, Role, Undefined, metrics,
};

use crate::recorded::RecordedMetric;

/// One number of a metric.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figure<'r> {
    /// The metric that it is of.
    pub(crate) result: &'r MetricResult,
    /// The estimate that it is a part of; none where there is no score.
    pub(crate) estimate: Option<&'r Estimate>,
    /// Which part.
    pub(crate) part: FigurePart,
    /// The number of scores of its group.
    pub(crate) group_n: Option<u64>,
    /// Whether it is the mean of groups.
    pub(crate) is_mean_of_groups: bool,
}

/// Which part of an estimate a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FigurePart {
    /// The value.
    Value,
    /// The value, where it is one of a map.
    Entry,
    /// The lower end of the interval.
    Lower,
    /// The upper end of the interval.
    Upper,
}

/// All numbers of a metric.
pub(super) enum Figures<'r> {
    /// One.
    Only(Figure<'r>),
    /// Several, by name.
    Named(Vec<(String, Figure<'r>)>),
    /// Several, by position from 0.
    Placed(Vec<(usize, Figure<'r>)>),
}

/// The numbers of a metric over this many scores.
pub(super) fn figures(result: &MetricResult, scored: usize) -> Figures<'_> {
    let of = MetricFigures(result);
    if scored > 0 {
        return of.figures(&result.value);
    }
    // Without a score only what has names all the same is reported by name.
    match &result.value {
        MetricValue::Map(map) if !map.is_empty() => of.figures(&result.value),
        MetricValue::One(estimate) if of.is_interval(estimate) => of.figures(&result.value),
        MetricValue::Groups(Groups { all: Some(all), .. }) => {
            Figures::Named(vec![(all.label.clone(), of.nothing())])
        }
        _ => Figures::Only(of.nothing()),
    }
}

/// The numbers of one metric as the reference's function of that name returns them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ReturnedNumbers {
    /// One.
    One(f64),
    /// Several, by name.
    Named(Vec<(String, f64)>),
    /// Several, in order.
    Listed(Vec<f64>),
}

/// The numbers of a metric over this many scores, with the zeros of the reference.
///
/// ```
/// use errorbar_core::{Estimate, MetricResult, MetricValue, Role, Spec};
/// use errorbar_log::inspect::{ReturnedNumbers, returned_numbers};
///
/// let mean = MetricValue::from(Estimate::new(0.8).with_n(60));
/// let result = MetricResult::new(Spec::new("mean"), Role::Location, mean);
/// assert_eq!(returned_numbers(&result, 60), ReturnedNumbers::One(0.8));
/// ```
pub fn returned_numbers(result: &MetricResult, scored: usize) -> ReturnedNumbers {
    match figures(result, scored) {
        Figures::Only(figure) => ReturnedNumbers::One(figure.number()),
        Figures::Named(all) => {
            ReturnedNumbers::Named(all.into_iter().map(|(name, figure)| (name, figure.number())).collect())
        }
        Figures::Placed(all) => {
            ReturnedNumbers::Listed(all.into_iter().map(|(_, figure)| figure.number()).collect())
        }
    }
}

struct MetricFigures<'r>(&'r MetricResult);

impl<'r> MetricFigures<'r> {
    fn nothing(&self) -> Figure<'r> {
        Figure {
            result: self.0,
            estimate: None,
            part: FigurePart::Value,
            group_n: None,
            is_mean_of_groups: false,
        }
    }

    fn figure(&self, estimate: &'r Estimate, part: FigurePart) -> Figure<'r> {
        Figure { estimate: Some(estimate), part, ..self.nothing() }
    }

    /// Whether an estimate is recorded as the two ends of its interval. An interval that was never computed, for instance because a
    /// field has no values, is recorded as one number that is none.
    fn is_interval(&self, estimate: &Estimate) -> bool {
        self.0.role == Role::IntervalOf
            && !matches!(estimate.interval, Err(Undefined::NotAvailable | Undefined::NoField))
    }

    /// The two ends of an interval, with the names that the reference has for them.
    fn ends(&self, estimate: &'r Estimate) -> [(&'static str, Figure<'r>); 2] {
        [("lower", FigurePart::Lower), ("upper", FigurePart::Upper)]
            .map(|(name, part)| (name, self.figure(estimate, part)))
    }

    fn figures(&self, value: &'r MetricValue) -> Figures<'r> {
        match value {
            MetricValue::One(estimate) if self.is_interval(estimate) => {
                Figures::Named(self.ends(estimate).map(|(name, figure)| (name.to_owned(), figure)).into())
            }
            MetricValue::One(estimate) => Figures::Only(self.figure(estimate, FigurePart::Value)),
            MetricValue::Map(map) => {
                let mut named = Vec::with_capacity(map.len());
                for (key, estimate) in map.iter().filter_map(|(key, e)| Some((key, e.as_ref()?))) {
                    if self.is_interval(estimate) {
                        named.extend(self.ends(estimate).map(|(end, f)| (format!("{key}_{end}"), f)));
                    } else {
                        named.push((key.clone(), self.figure(estimate, FigurePart::Entry)));
                    }
                }
                Figures::Named(named)
            }
            MetricValue::List(list) => {
                let found =
                    list.iter().enumerate().filter_map(|(at, estimate)| Some((at, estimate.as_ref()?)));
                Figures::Placed(
                    found.map(|(at, estimate)| (at, self.figure(estimate, FigurePart::Value))).collect(),
                )
            }
            MetricValue::Groups(groups) => Figures::Named(self.of_groups(groups)),
        }
    }

    /// The groups that have a score, then the aggregate.
    fn of_groups(&self, groups: &'r Groups) -> Vec<(String, Figure<'r>)> {
        let mut figures = Vec::with_capacity(groups.groups.len() + 1);
        for group in groups.groups.iter().filter(|group| group.n > 0) {
            let own = |figure: Figure<'r>| Figure { group_n: figure.group_n.or(Some(group.n)), ..figure };
            figures.extend(named(&group.label, self.figures(&group.value)).map(|(name, f)| (name, own(f))));
        }
        if let Some(all) = &groups.all {
            let own = |figure: Figure<'r>| Figure {
                is_mean_of_groups: figure.is_mean_of_groups || all.over == AggregateBasis::Groups,
                ..figure
            };
            figures.extend(named(&all.label, self.figures(&all.value)).map(|(name, f)| (name, own(f))));
        }
        figures
    }
}

/// The names of figures that are all of one group.
fn named<'r>(group: &str, figures: Figures<'r>) -> impl Iterator<Item = (String, Figure<'r>)> + use<'r> {
    let named: Vec<(String, Figure<'r>)> = match figures {
        Figures::Only(figure) => vec![(group.to_owned(), figure)],
        Figures::Named(all) => all.into_iter().map(|(key, f)| (format!("{group}_{key}"), f)).collect(),
        Figures::Placed(all) => all.into_iter().map(|(at, f)| (format!("{group}_{}", at + 1), f)).collect(),
    };
    named.into_iter()
}

impl Figure<'_> {
    /// The number that is recorded; a zero or not-a-number where there is none, as the reference has it.
    pub(crate) fn number(&self) -> f64 {
        let Some(estimate) = self.estimate else { return f64::NAN };
        let role = self.result.role;
        let value = match self.part {
            FigurePart::Value => &estimate.value,
            FigurePart::Entry if estimate.value == Err(Undefined::NoScores) && role == Role::Share => {
                return 0.0;
            }
            FigurePart::Entry => &estimate.value,
            FigurePart::Lower | FigurePart::Upper => match &estimate.interval {
                Ok(interval) if self.part == FigurePart::Lower => return interval.lower,
                Ok(interval) => return interval.upper,
                Err(Undefined::NoScores) => return 0.0,
                // Too few for an interval: the value twice.
                Err(Undefined::TooFewScores { .. } | Undefined::TooFewClusters { .. }) => {
                    return estimate.value.clone().unwrap_or(f64::NAN);
                }
                Err(Undefined::Overflow) if self.part == FigurePart::Lower => return f64::NEG_INFINITY,
                Err(Undefined::Overflow) => return f64::INFINITY,
                Err(_) => return f64::NAN,
            },
        };
        match value {
            Ok(value) => *value,
            Err(Undefined::NoScores) => f64::NAN,
            Err(_) => role.recorded(estimate),
        }
    }

    /// Why there is no number.
    pub(crate) fn undefined(&self) -> Option<&Undefined> {
        let Some(estimate) = self.estimate else { return Some(&Undefined::NoScores) };
        match self.part {
            FigurePart::Value | FigurePart::Entry => estimate.value.as_ref().err(),
            FigurePart::Lower | FigurePart::Upper => estimate.interval.as_ref().err(),
        }
    }

    /// Whether the number itself depends on a seed, and not only its error.
    pub(crate) fn is_random(&self) -> bool {
        let Some(estimate) = self.estimate.filter(|estimate| estimate.draws.is_some()) else { return false };
        match self.result.role {
            Role::ErrorOf | Role::IntervalOf => true,
            // The resamples are those of its error or of its interval, where it has one.
            Role::Other => estimate.error.is_err() && estimate.interval.is_err(),
            _ => false,
        }
    }
}

// What is known of an entry by the name that a log records.

/// The reducer that is implied where none is named.
pub(crate) const IMPLIED_REDUCER: &str = "mean";
/// The metric by group.
const GROUPED: &str = "grouped";

/// Where the `metadata` of a scorer records that it [picks an option](picks_option), if its name does not say so.
pub const PICKS_OPTION: &str = "picks_option";

/// Whether a scorer of this name compares the option that was picked among several with the right one. The others of
/// the reference compare texts.
///
/// ```
/// assert!(errorbar_log::inspect::picks_option("choice") && !errorbar_log::inspect::picks_option("match"));
/// ```
pub fn picks_option(scorer: &str) -> bool {
    scorer == "choice"
}

/// The metrics that scorers of the reference bring, by the name of the scorer, where they are not accuracy and stderr:
/// for scores whose scorer is not recorded.
///
/// ```
/// assert_eq!(errorbar_log::inspect::scorer_metrics()["f1"].iter().count(), 2);
/// ```
pub fn scorer_metrics() -> IndexMap<String, Metrics> {
    let means = || metrics![mean(), stderr()];
    let perplexities = || metrics![perplexity_per_token(), perplexity_per_seq()];
    let of_scorers: [(&str, Metrics); 4] = [
        ("exact", means()),
        ("f1", means()),
        ("perplexity", perplexities()),
        ("target_perplexity", perplexities()),
    ];
    of_scorers.into_iter().map(|(scorer, metrics)| (scorer.to_owned(), metrics)).collect()
}

/// Whether two names mean the same reducer; none is the implied one.
pub(crate) fn is_same_reducer(a: Option<&str>, b: Option<&str>) -> bool {
    a.unwrap_or(IMPLIED_REDUCER) == b.unwrap_or(IMPLIED_REDUCER)
}

/// Whether a recorded metric is one by group.
pub(crate) fn is_grouped(metric: &Spec) -> bool {
    metric.name == GROUPED
}

/// The metric that a figure is of. Figures of groups have no other sign of it than their arguments in older logs.
pub(crate) fn metric_name(figure: &RecordedMetric) -> &str {
    match &figure.group {
        Some(group) => group,
        None if has_groups(figure) => GROUPED,
        None => &figure.name,
    }
}

/// Whether a figure is of a metric by group.
pub(crate) fn has_groups(figure: &RecordedMetric) -> bool {
    figure.params.contains_key("group_key") && figure.params.contains_key("metric")
}

/// Whether a metric is a mean of scores.
pub(super) fn is_mean(metric: &str) -> bool {
    matches!(without_package(metric), "accuracy" | "mean")
}

/// Whether a metric is a share of the scores.
pub(super) fn is_share(metric: &str) -> bool {
    without_package(metric) == "frequency"
}

/// Whether a metric is the standard error of a mean.
pub(super) fn is_error(metric: &str) -> bool {
    matches!(without_package(metric), "stderr" | "bootstrap_stderr")
}

/// The name of a metric of the reference or of ours, without the package.
pub(super) fn without_package(metric: &str) -> &str {
    without_own_package(metric.strip_prefix("inspect_ai/").unwrap_or(metric))
}
