//! `bootstrap`: any metric with an error and an interval from resamples.

use std::collections::HashMap;

use crate::error_plan::DRAWS;
use crate::estimate::{MAX_FIGURES, ResampledFigures, planned_draws};
use crate::metrics::prelude::*;
use crate::random::resample_cost;
use crate::scores::Resampler;

/// Another metric, with an error and an interval from resampling: whole samples with all their epochs, or whole
/// clusters, are drawn with replacement, and the metric is computed over each resample.
///
/// A resample in which the metric is undefined is left out, and counted in a note; if more than one in twenty is, there is
/// no error. It needs all scores at once: shards cannot be merged.
///
/// ```
/// use errorbar_core::ToSpec;
/// use errorbar_core::metrics::{accuracy, bootstrap};
/// let by_passage = bootstrap(accuracy()).num_samples(2000_usize).cluster("passage");
/// assert_eq!(
///     by_passage.spec().to_string(),
///     r#"bootstrap(metric=accuracy(), num_samples=2000, cluster="passage")"#
/// );
/// ```
///
/// # Formula
/// ```text
/// SE = standard deviation of metric(resample b), b = 1 … B
/// ```
///
/// # When
/// A metric has no error of its own, such as `max` or a custom one; or the error of the plan is to be checked by
/// resampling.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,score 1,0.2 2,0.4 3,0.4 4,0.7 5,0.8 6,0.9 > marks.csv
/// $ errorbar score marks.csv --metric 'bootstrap(std(), 2000)'
/// marks.csv · 6 rows
///
/// score · 6 scored
///   std  0.273 ± 0.051 [0.122, 0.337]  only 6 scores
///
/// ± one standard error (bootstrap) · [95 % interval: bootstrap]
/// ```
///
/// # See also
/// `bootstrap_stderr`, `ci`, `stderr`
///
/// # Source
/// Efron & Tibshirani 1993, "An Introduction to the Bootstrap". Interval: Efron 1987.
#[derive(Clone, Debug, Params)]
#[params(crate = crate, name = "bootstrap")]
pub struct Bootstrap {
    /// The metric.
    #[param(check = check_metric)]
    metric: Arc<dyn Metric>,
    /// The number of resamples; that of the plan, 10,000, if unset.
    #[param(from = usize, map = Count, check = check_draws)]
    num_samples: Option<Count<usize>>,
    /// The metadata key of clusters, which are drawn whole; that of the plan if unset.
    cluster: Option<String>,
}

/// As many resamples as a plan may have.
fn check_draws(Count(count): &Count<usize>) -> Result<(), String> {
    match u32::try_from(*count).is_ok_and(|count| DRAWS.contains(&count)) {
        true => Ok(()),
        false => Err(format!("must lie between {} and {}, found {count}", DRAWS.start(), DRAWS.end())),
    }
}

/// What cannot be resampled.
fn check_metric(metric: &Arc<dyn Metric>) -> Result<(), String> {
    let spec = metric.spec();
    if spec.name == Bootstrap::NAME {
        return Err("is resampled already".to_owned());
    }
    if spec.kwargs.get("simultaneous") == Some(&Arg::Bool(true)) {
        return Err("has simultaneous intervals, which those of resamples of it would not be; resample the metric of \
                    each group: grouped(bootstrap(METRIC), KEY, simultaneous=true)"
            .to_owned());
    }
    match metric.role() {
        Role::IntervalOf => {
            Err(format!("{} is an interval already; give the metric that it is of", spec.name))
        }
        _ => Ok(()),
    }
}

/// The most figures of a metric that is resampled: every thread holds as many estimates with all that belongs to them.
const MAX_WIDTH: usize = 20_000;

impl Metric for Bootstrap {
    metric_flags! { self:
        wants = self.metric.wants(), depends_on_ids = true,
        metadata_keys = self.metric.metadata_keys().and(MetadataKeys::Only(self.cluster.iter().cloned().collect()))
    }

    fn params(&self) -> Metadata {
        params_with_inner(self, "metric", self.metric.as_ref())
    }

    fn inner(&self) -> Option<&dyn Metric> {
        Some(self.metric.as_ref())
    }

    /// That of the metric. The error of a location is a figure by itself once it is resampled.
    fn role(&self) -> Role {
        match self.metric.role() {
            Role::ErrorOf | Role::IntervalOf => Role::Other,
            role => role,
        }
    }

    /// Nothing that other errors and intervals are of: it has its own.
    fn subject(&self) -> Option<Subject> {
        None
    }

    fn cluster(&self) -> Option<&str> {
        self.cluster.as_deref().or_else(|| self.metric.cluster())
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        self.check()?;
        if scores.estimation().value_only {
            return self.metric.compute(scores);
        }
        let resampler = Resampler::new(scores);
        let value = resampler.whole(|whole| self.metric.compute(whole))?;
        if scores.is_empty() {
            return Ok(value);
        }
        let units = match &self.cluster {
            Some(key) => Ok(ScoreUnits::of(Self::NAME, scores, std::slice::from_ref(key))?),
            None => ScoreUnits::of_plan(Self::NAME, scores)?,
        };
        match units {
            Ok(units) => self.resample(scores, &resampler, &units, value),
            Err(reason) => Ok(value.map(|estimate| estimate.without_error(&reason))),
        }
    }
}

impl Bootstrap {
    fn draws(&self, scores: &Scores<'_>, figures: usize) -> Result<Result<Draws, Undefined>> {
        let n = scores.len() as u64;
        let cost = resample_cost(self.metric.as_ref(), n, figures as u64);
        let draws = match self.num_samples {
            Some(Count(count)) => Draws::new(scores.seed(), count as u64),
            None => {
                let estimation = scores.estimation();
                match planned_draws(&estimation.errors, &estimation.random, n, cost) {
                    Ok(draws) => draws,
                    Err(reason) => return Ok(Err(reason)),
                }
            }
        };
        if figures > MAX_WIDTH {
            let problem =
                format!("has {figures} figures, and at most {MAX_WIDTH} are resampled; have fewer groups");
            return Err(Self::refuse("metric", problem));
        }
        let count = draws.count as usize;
        if count.saturating_mul(figures) > MAX_FIGURES {
            let problem = format!(
                "gives {count} resamples of {figures} figures, and at most {MAX_FIGURES} are held; lower it, or have \
                 fewer groups"
            );
            return Err(Self::refuse("num_samples", problem));
        }
        scores.take_draws(self, count, cost)?;
        Ok(Ok(draws))
    }

    fn resample(
        &self,
        scores: &Scores<'_>,
        resampler: &Resampler<'_>,
        units: &ScoreUnits,
        value: MetricValue,
    ) -> Result<MetricValue> {
        let wanted = figures(&value, &value).len();
        let draws = match self.draws(scores, wanted)? {
            Ok(draws) => draws,
            Err(reason) => return Ok(value.map(|estimate| estimate.without_error(&reason))),
        };
        let plan = &scores.estimation().errors;
        let rows = resampler.rows_of(units.iter());
        // A metric that fails over some resample is undefined there: over all scores it did not fail.
        let compute =
            |counts: &[u32]| match resampler.resample(&rows, counts, |part| self.metric.compute(part)) {
                Ok(part) => figures(&value, &part),
                Err(_) => vec![f64::NAN; wanted],
            };
        let cost = resample_cost(self.metric.as_ref(), scores.len() as u64, wanted as u64);
        let resamples = ResampledFigures::draw(scores, units, draws, (wanted, cost), &compute);
        let mut at = 0;
        Ok(value.clone().map(|estimate| {
            at += 1;
            let Ok(number) = estimate.value else { return estimate };
            // A group has fewer units than all scores.
            let n = if estimate.n > 0 { estimate.n as usize } else { scores.len() };
            resamples.estimate(at - 1, number, units.len().min(n), plan).instead_of(estimate)
        }))
    }
}

/// One number for each estimate of `whole`, in its order; not a number where `part` has none.
pub(super) fn figures(whole: &MetricValue, part: &MetricValue) -> Vec<f64> {
    let mut figures = Vec::new();
    collect(whole, Some(part), &mut figures);
    figures
}

fn number(estimate: Option<&Estimate>) -> f64 {
    estimate.and_then(Estimate::number).unwrap_or(f64::NAN)
}

fn collect(whole: &MetricValue, part: Option<&MetricValue>, figures: &mut Vec<f64>) {
    match whole {
        MetricValue::One(_) => figures.push(number(part.and_then(MetricValue::estimate))),
        MetricValue::Map(map) => {
            let part = match part {
                Some(MetricValue::Map(part)) => Some(part),
                _ => None,
            };
            for (key, _) in map.iter().filter(|(_, estimate)| estimate.is_some()) {
                figures.push(number(part.and_then(|part| part.get(key)?.as_ref())));
            }
        }
        MetricValue::List(list) => {
            let part = match part {
                Some(MetricValue::List(part)) => Some(part),
                _ => None,
            };
            for (at, _) in list.iter().enumerate().filter(|(_, estimate)| estimate.is_some()) {
                figures.push(number(part.and_then(|part| part.get(at)?.as_ref())));
            }
        }
        MetricValue::Groups(groups) => {
            let part = match part {
                Some(MetricValue::Groups(part)) => Some(part),
                _ => None,
            };
            // The order of groups is that of their first scores, which a resample changes.
            let by_name: HashMap<&str, &MetricValue> = part
                .map(|part| part.groups.iter().map(|group| (group.name.as_str(), &group.value)).collect())
                .unwrap_or_default();
            for group in &groups.groups {
                collect(&group.value, by_name.get(group.name.as_str()).copied(), figures);
            }
            if let Some(all) = &groups.all {
                let part = part.and_then(|part| part.all.as_ref()).map(|all| all.value.as_ref());
                collect(&all.value, part, figures);
            }
        }
    }
}
