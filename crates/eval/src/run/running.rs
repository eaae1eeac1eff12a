//! The figures of a run that is going on.
//!
//! With one epoch and no reducer named, the mergeable state of a metric takes in the scores that came since it was
//! last asked. Otherwise, and for metrics without a state, the results over what is done are computed anew, but
//! only when that is a small part of the time since the last time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use errorbar_core::{
    ErrorPlan, Estimate, EstimateRow, Estimation, IntervalChoice, IntervalMethod, Metadata, Metric,
    MetricItem, MetricState, MetricValue, Metrics, Plan, Reducers, Results, Role, Score, ScoreColumns,
    ScoreSet, Whole,
};

/// A figure of a run that is going on.
#[derive(Clone, Debug, PartialEq)]
pub struct RunningFigure {
    /// The scorer.
    pub scorer: String,
    /// The metric.
    pub metric: String,
    /// Its value so far.
    pub value: f64,
    /// Its standard error, where there is one.
    pub error: Option<f64>,
}

/// The figures of a run that is going on.
#[derive(Debug)]
pub struct RunningFigures {
    plan: Plan,
    names: Vec<String>,
    how: FigureSource,
    /// Whether anybody will ask.
    wanted: bool,
}

#[derive(Debug)]
enum FigureSource {
    ByState { pending: ScoreColumns, shown: Vec<MetricProgress> },
    Anew { all: ScoreColumns, last: Vec<RunningFigure>, at: Option<Instant>, cost: Duration },
}

/// The metric of a scorer that is shown, by its state.
#[derive(Debug)]
struct MetricProgress {
    scorer: String,
    metric: String,
    state: Box<dyn MetricState>,
}

/// How many scores wait for the states at most.
const BATCH: usize = 1024;

/// The share of the time that computing anew may take is one in so many.
const SPARING: u32 = 20;

impl RunningFigures {
    pub(super) fn new(plan: &Plan, names: &[String], epochs: u32, wanted: bool) -> Self {
        let columns = || ScoreColumns::new(names.iter().map(String::as_str));
        let is_plain = epochs == 1 && matches!(plan.reducers, Reducers::Implicit | Reducers::Disabled);
        let mut plan = plan.clone();
        plan.errors = without_resampling(plan.errors);
        let shown = if is_plain { shown(&plan, names) } else { None };
        let how = match shown {
            Some(shown) => FigureSource::ByState { pending: columns(), shown },
            None => FigureSource::Anew { all: columns(), last: Vec::new(), at: None, cost: Duration::ZERO },
        };
        RunningFigures { plan, names: names.to_vec(), how, wanted }
    }

    /// Takes in the scores of one sample in one epoch.
    pub(super) fn add(&mut self, id: &str, epoch: u32, metadata: &Metadata, scores: &[(String, Score)]) {
        if !self.wanted {
            return;
        }
        let (FigureSource::ByState { pending: columns, .. } | FigureSource::Anew { all: columns, .. }) =
            &mut self.how;
        let mut row = columns.push(id, epoch);
        let keys = self.plan.metadata_keys();
        row = row.metadata_all(
            metadata.iter().filter(|(key, _)| keys.contains(key)).map(|(key, value)| (key.as_str(), value)),
        );
        for (scorer, score) in scores {
            // Only the value counts here. A scorer is declared and scores once, so nothing can be refused.
            match row.score(scorer, Score::new(score.value.clone())) {
                Ok(filled) => row = filled,
                Err(_) => return,
            }
        }
        if matches!(&self.how, FigureSource::ByState { pending, .. } if pending.len() >= BATCH) {
            self.take_in();
        }
    }

    /// Lets the states take in what has come since.
    fn take_in(&mut self) {
        if let FigureSource::ByState { pending, shown } = &mut self.how {
            for metric in &mut *shown {
                metric.update(pending);
            }
            *pending = ScoreColumns::new(self.names.iter().map(String::as_str));
        }
    }

    /// The first figure of each scorer over what is done.
    pub fn figures(&mut self) -> Vec<RunningFigure> {
        self.take_in();
        match &mut self.how {
            FigureSource::ByState { shown, .. } => shown.iter().filter_map(MetricProgress::figure).collect(),
            FigureSource::Anew { all, last, at, cost } => {
                if at.is_none_or(|at| at.elapsed() >= *cost * SPARING) {
                    let started = Instant::now();
                    *last = anew(all, &self.plan);
                    *cost = started.elapsed();
                    *at = Some(Instant::now());
                }
                last.clone()
            }
        }
    }
}

impl MetricProgress {
    /// A metric that fails on what is there so far says nothing for now; the results will say why.
    fn update(&mut self, pending: &ScoreColumns) {
        let Ok(set) = ScoreSet::unreduced(pending, &self.scorer) else { return };
        let _ = self.state.update(&set.scores());
    }

    fn figure(&self) -> Option<RunningFigure> {
        match self.state.finish(Whole::default()).ok()? {
            MetricValue::One(estimate) => figure(&self.scorer, self.metric.clone(), &estimate),
            MetricValue::Map(map) => {
                let (key, estimate) =
                    map.iter().find_map(|(key, estimate)| Some((key, estimate.as_ref()?)))?;
                figure(&self.scorer, format!("{} {key}", self.metric), estimate)
            }
            // No built-in metric with a state has several figures by position.
            _ => None,
        }
    }
}

/// An estimate, if it is defined. An error of scores that are all equal says nothing.
fn figure(scorer: &str, metric: String, estimate: &Estimate) -> Option<RunningFigure> {
    let error = estimate.error.as_ref().ok().filter(|error| !error.degenerate);
    let value = estimate.number()?;
    Some(RunningFigure { scorer: scorer.to_owned(), metric, value, error: error.map(|error| error.se) })
}

/// Only values and errors are shown, so nothing is resampled for an interval.
fn without_resampling(mut errors: ErrorPlan) -> ErrorPlan {
    errors.interval = IntervalChoice::Method(IntervalMethod::T);
    errors
}

/// The roles of figures that are worth showing, with errors of their own, the best first.
const SHOWN: [&[Role]; 2] = [&[Role::Location, Role::Share], &[Role::Other]];

/// The metric of each scorer that is shown; nothing if one of them has no state, or if its error is that of another
/// metric and is not what the plan computes.
fn shown(plan: &Plan, names: &[String]) -> Option<Vec<MetricProgress>> {
    let estimation = Estimation::new(plan.errors.clone(), plan.seed);
    let of_scorer = |(name, metrics): (&String, &Metrics)| {
        let Metrics::List(items) = metrics else { return None };
        let plain = |item: &MetricItem| match item {
            MetricItem::Metric(metric) => Some(Arc::clone(metric)),
            MetricItem::Map(_) => None,
        };
        let metrics: Vec<Arc<dyn Metric>> = items.iter().filter_map(plain).collect();
        let is_other_error = |metric: &Arc<dyn Metric>| {
            let is_drawn = metric.role() == Role::ErrorOf && metric.state(&estimation).is_none();
            is_drawn || metric.cluster().is_some()
        };
        if !plan.errors.sets_error() && metrics.iter().any(is_other_error) {
            return None;
        }
        let of = |roles: &&[Role]| metrics.iter().find(|metric| roles.contains(&metric.role()));
        let metric = SHOWN.iter().find_map(of)?;
        // What is grouped, or of several keys, has no single figure.
        let state = metric.state(&estimation).filter(|_| metric.inner().is_none())?;
        Some(MetricProgress { scorer: name.clone(), metric: metric.spec().name, state })
    };
    let of_plan = plan.scorers.iter().map(|scorer| plan.task_metrics.as_ref().unwrap_or(&scorer.metrics));
    names.iter().zip(of_plan).map(of_scorer).collect()
}

/// The first figure of each scorer and reducer over what is done.
fn anew(columns: &ScoreColumns, plan: &Plan) -> Vec<RunningFigure> {
    let Ok(evaluation) = plan.evaluate(columns) else { return Vec::new() };
    let results = &evaluation.results;
    (0..results.scores.len()).filter_map(|score| first_figure(results, score)).collect()
}

/// The first figure over all samples, else the first of a group or a key.
fn first_figure(results: &Results, score: usize) -> Option<RunningFigure> {
    let rows = results.rows_of(score);
    let of_all = |row: &&EstimateRow<'_>| row.group.is_none() && row.key.is_none() && row.index.is_none();
    let of = |roles: &&[Role]| {
        let is_shown = |row: &&EstimateRow<'_>| roles.contains(&row.role) && row.estimate.number().is_some();
        let mut shown = rows.iter().filter(is_shown);
        shown.clone().find(of_all).or_else(|| shown.next())
    };
    let row = SHOWN.iter().find_map(of)?;
    let mut metric = row.metric.to_owned();
    if let Some(part) = row.key.or(row.group) {
        metric = format!("{metric} {part}");
    }
    if let Some(reducer) = row.reducer {
        metric = format!("{metric} [{reducer}]");
    }
    figure(results.scores.get(score)?.name(), metric, &row.estimate)
}

#[cfg(test)]
mod tests {
    use errorbar_core::metrics::{accuracy, frequency, grouped, mean, std, stderr};
    use errorbar_core::{MetadataKeys, Value, metrics, reducers};

    use super::*;

    /// The figures over scores, two to a passage.
    fn figures(plan: &Plan, epochs: u32, values: &[Value]) -> Vec<RunningFigure> {
        let mut running = RunningFigures::new(plan, &["s".to_owned()], epochs, true);
        for (at, value) in values.iter().enumerate() {
            let passage = Metadata::from_iter([("passage".to_owned(), (at / 2).into())]);
            running.add(&at.to_string(), 1, &passage, &[("s".to_owned(), Score::new(value.clone()))]);
        }
        running.figures()
    }

    fn one(metrics: Metrics) -> Option<RunningFigure> {
        let values = [1, 0, 1, 1, 1, 0, 1, 1].map(Value::from);
        figures(&Plan::new().scorer("s", metrics), 1, &values).pop()
    }

    #[test]
    fn a_figure_has_the_error_of_its_own() {
        // 6 of 8: √(0.75·0.25/7).
        let plain = one(metrics![accuracy()]).unwrap();
        assert_eq!((plain.metric.as_str(), plain.value), ("accuracy", 0.75));
        assert!((plain.error.unwrap() - (0.1875_f64 / 7.0).sqrt()).abs() < 1e-12, "{plain:?}");
        assert_eq!(one(metrics![accuracy(), stderr()]).unwrap(), plain);
        // A spread and an error are no figure to show, whichever stands first.
        assert_eq!(one(metrics![std(), stderr(), accuracy()]).unwrap(), plain);
        assert_eq!(one(metrics![std(), stderr()]), None);
        // A metric that does not say what it gives is shown if there is no other.
        let best = || errorbar_core::metric_fn("best", |_: &errorbar_core::Scores<'_>| Ok(9.0));
        assert_eq!(one(metrics![best(), accuracy()]).unwrap().metric, "accuracy");
        let alone = one(metrics![std(), best()]).unwrap();
        assert_eq!((alone.metric.as_str(), alone.value, alone.error), ("best", 9.0, None));
    }

    #[test]
    fn an_explicit_error_is_the_one_that_results_will_have() {
        let metrics = || metrics![mean(), stderr().cluster("passage")];
        let plan = Plan::new().scorer("s", metrics());
        assert_eq!(plan.metadata_keys(), MetadataKeys::one("passage"));
        // Sums of the residuals by passage: −0.5, 0.5, −0.5, 0.5; √(1·4/3)/8.
        let clustered = one(metrics()).unwrap().error.unwrap();
        assert!((clustered - (4.0_f64 / 3.0).sqrt() / 8.0).abs() < 1e-12, "{clustered}");
        // A key of the plan, without such a metric, is clustered by too.
        let plan = Plan::new().scorer("s", metrics![mean()]).errors(ErrorPlan::new().cluster("passage"));
        let by_plan = figures(&plan, 1, &[1, 0, 1, 1, 1, 0, 1, 1].map(Value::from)).pop().unwrap();
        assert!(by_plan.error.is_some_and(|error| error < 0.16), "{by_plan:?}");
    }

    #[test]
    fn groups_and_shares_and_reducers_have_figures_too() {
        let by_group = one(metrics![grouped(accuracy(), "passage")]).unwrap();
        assert_eq!((by_group.metric.as_str(), by_group.value), ("accuracy", 0.75));
        let share = one(metrics![frequency()]).unwrap();
        assert_eq!((share.metric.as_str(), share.value), ("frequency 1", 0.75));
        let plan = Plan::new().scorer("s", metrics![accuracy()]);
        let plan = plan.reducers(Reducers::explicit(vec![Arc::new(reducers::mode())]));
        let reduced = figures(&plan, 2, &[1.into(), 0.into()]).pop().unwrap();
        assert_eq!((reduced.metric.as_str(), reduced.value), ("accuracy [mode]", 0.5));
    }

    #[test]
    fn equal_scores_have_no_error_of_zero() {
        let plan = Plan::new().scorer("s", metrics![accuracy(), stderr()]);
        for epochs in [1, 2] {
            let equal = figures(&plan, epochs, &[1.into(), 1.into(), 1.into()]).pop().unwrap();
            assert_eq!((equal.value, equal.error), (1.0, None), "{epochs}");
        }
        assert_eq!(figures(&plan, 1, &[]), []);
    }
}
