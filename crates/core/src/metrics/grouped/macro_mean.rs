//! The plain mean of groups, and its own error.

use indexmap::IndexMap;

use super::GroupValue;
use crate::estimate::{
    Draws, ErrorMethod, Estimate, Estimation, Interval, Maybe, ScoreKind, StdError, Undefined, estimate_from,
};
use crate::evaluation::{MetricValue, Role};
use crate::stats::{ExactSum, root_of_squares};
use crate::value::{Conversion, LeafRef};

/// The plain mean of the groups' values, part by part where there are several.
pub(super) fn macro_mean(
    groups: &[&GroupValue],
    role: Role,
    conversion: Option<&Conversion>,
    estimation: &Estimation,
    whole: Option<ScoreKind>,
) -> MetricValue {
    let n = groups.iter().map(|group| group.n).sum();
    let mean = Mean { role, conversion, estimation, whole, n };
    let mut by_key: IndexMap<Option<String>, Vec<&Estimate>> = IndexMap::new();
    for GroupValue { value, .. } in groups {
        collect(value, None, &mut by_key);
    }
    if by_key.len() == 1
        && let Some(estimates) = by_key.get(&None)
    {
        return mean.of(estimates).into();
    }
    let entry = |(key, estimates): (Option<String>, Vec<&Estimate>)| {
        (key.unwrap_or_default(), Some(mean.of(&estimates)))
    };
    MetricValue::Map(by_key.into_iter().map(entry).collect())
}

/// The parts of a value by the names that results have them under.
fn collect<'v>(
    value: &'v MetricValue,
    key: Option<String>,
    by_key: &mut IndexMap<Option<String>, Vec<&'v Estimate>>,
) {
    let under = |name: &str| Some(key.as_ref().map_or(name.to_owned(), |key| format!("{key}_{name}")));
    match value {
        MetricValue::One(estimate) => by_key.entry(key).or_default().push(estimate),
        MetricValue::Map(map) => {
            for (name, estimate) in map {
                by_key.entry(under(name)).or_default().extend(estimate);
            }
        }
        MetricValue::List(list) => {
            for (at, estimate) in list.iter().enumerate() {
                by_key.entry(under(&(at + 1).to_string())).or_default().extend(estimate);
            }
        }
        MetricValue::Groups(groups) => {
            for group in groups.groups.iter().filter(|group| group.n > 0) {
                collect(&group.value, under(&group.label), by_key);
            }
            if let Some(all) = &groups.all {
                collect(&all.value, under(&all.label), by_key);
            }
        }
    }
}

/// How a mean of groups is taken.
struct Mean<'a> {
    role: Role,
    conversion: Option<&'a Conversion>,
    estimation: &'a Estimation,
    whole: Option<ScoreKind>,
    /// The number of scores of all groups; a custom metric does not count them.
    n: u64,
}

impl Mean<'_> {
    fn of(&self, groups: &[&Estimate]) -> Estimate {
        let unknown = groups.iter().filter(|group| !self.is_defined(group)).count();
        let value = self.mean(groups.iter().map(|group| self.role.recorded(group)));
        let n = groups.iter().map(|group| group.n).sum::<u64>().max(self.n);
        let mut estimate = match (&value, self.role) {
            (Ok(value), Role::Location) => {
                let whole = self.whole.unwrap_or(ScoreKind::Unbounded);
                let error = self.error(groups);
                let mut estimate = estimate_from(*value, error, n, &self.estimation.errors, whole);
                estimate.notes.iid_stderr = self.iid_stderr(groups);
                estimate.draws = estimate.draws.or_else(|| drawn_errors(groups));
                estimate
            }
            _ => Estimate::of(value),
        };
        if self.role == Role::IntervalOf {
            estimate.interval = self.interval(groups);
        }
        estimate.n = n;
        estimate.absent = groups.iter().map(|group| group.absent).sum();
        estimate.note_some("undefined_groups", (unknown > 0).then_some(unknown))
    }

    fn is_defined(&self, group: &Estimate) -> bool {
        match self.role {
            Role::IntervalOf => group.interval.is_ok(),
            _ => group.value.is_ok(),
        }
    }

    fn mean(&self, values: impl Iterator<Item = f64>) -> Maybe<f64> {
        let float = |value: f64| match self.conversion {
            Some(conversion) if !value.is_nan() => conversion.convert_leaf(LeafRef::Float(value)).value,
            _ => value,
        };
        let floats: Vec<f64> = values.map(float).collect();
        if floats.iter().all(|f| f.is_finite()) {
            let mut sum = ExactSum::new();
            sum.extend(&floats);
            return Ok(sum.divide((floats.len() as u64).max(1)));
        }
        let mean = floats.iter().sum::<f64>() / floats.len() as f64;
        if mean.is_nan() { Err(Undefined::Other("a group is undefined".to_owned())) } else { Ok(mean) }
    }

    /// The means of the lower and of the upper ends.
    fn interval(&self, groups: &[&Estimate]) -> Maybe<Interval> {
        let ends: Vec<(f64, f64)> = groups.iter().map(|group| recorded_ends(group)).collect();
        let lower = self.mean(ends.iter().map(|ends| ends.0))?;
        let upper = self.mean(ends.iter().map(|ends| ends.1))?;
        let Some(Ok(first)) = groups.iter().map(|group| &group.interval).find(|interval| interval.is_ok())
        else {
            // As of one group: why the first has none.
            return Err(groups
                .iter()
                .find_map(|group| group.interval.clone().err())
                .unwrap_or(Undefined::NoScores));
        };
        Ok(Interval { lower, upper, df: None, ..first.clone() })
    }

    /// What the error would be if scores were independent.
    fn iid_stderr(&self, groups: &[&Estimate]) -> Option<f64> {
        let of_group = |group: &&Estimate| group.notes.iid_stderr.or(group.stderr());
        let of_groups: Option<Vec<f64>> = groups.iter().map(of_group).collect();
        let of_groups = of_groups.filter(|_| self.conversion.is_none())?;
        Some(root_of_squares(&of_groups, 1.0) / of_groups.len() as f64)
    }

    /// The standard error of the mean of fixed groups, √(Σ SE²)/G, with the degrees of freedom of Welch and Satterthwaite.
    fn error(&self, groups: &[&Estimate]) -> Maybe<StdError> {
        if self.conversion.is_some() {
            return Err(Undefined::NotAvailable);
        }
        let mut errors = Vec::with_capacity(groups.len());
        for group in groups {
            errors.push(group.error.as_ref().map_err(|reason| match reason {
                Undefined::TooFewScores { .. } => Undefined::Other("a group has only one score".to_owned()),
                Undefined::TooFewClusters { .. } => {
                    Undefined::Other("a group has only one cluster".to_owned())
                }
                reason => reason.clone(),
            })?);
        }
        let of_groups: Vec<f64> = errors.iter().map(|error| error.se).collect();
        let se = root_of_squares(&of_groups, 1.0) / of_groups.len() as f64;
        // In units of the largest, whose fourth power neither vanishes nor overflows.
        let largest = of_groups.iter().copied().fold(0.0, f64::max);
        // Exact sums: the order of the groups is that in which they were seen.
        let sum = |power: &dyn Fn(f64, f64) -> f64| {
            let mut sum = ExactSum::new();
            errors.iter().for_each(|error| sum.add(power((error.se / largest).powi(2), error.df)));
            sum.to_f64()
        };
        let df = if largest > 0.0 {
            sum(&|square, _| square).powi(2) / sum(&|square, df| square * square / df)
        } else {
            sum(&|_, df| df)
        };
        Ok(StdError::new(se, ErrorMethod::Macro).with_df(df))
    }
}

/// What makes the errors of groups random.
fn drawn_errors(groups: &[&Estimate]) -> Option<Draws> {
    let is_drawn = |group: &&&Estimate| group.error.as_ref().is_ok_and(|error| error.method.is_drawn());
    groups.iter().filter(is_drawn).find_map(|group| group.draws)
}

/// The ends of an interval as logs record them: the point twice where there is none.
fn recorded_ends(estimate: &Estimate) -> (f64, f64) {
    match (&estimate.interval, &estimate.value) {
        (Ok(interval), _) => (interval.lower, interval.upper),
        (Err(_), Ok(value)) => (*value, *value),
        (Err(_), Err(_)) => (0.0, 0.0),
    }
}
