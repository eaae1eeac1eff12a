//! The figures of a run in progress.
//!
//! They are those of the results over the samples that are done, by the whole plan again: about 10 ms for 100,000
//! samples, over 100 ms with a bootstrap. So they are computed again only when that takes a small part of the time since
//! the last time, however often they are read.

use std::time::{Duration, Instant};

use errorbar_core::{
    Estimate, EstimateRow, IntervalChoice, IntervalMethod, Plan, Results, Role, ScoreColumns,
};

/// A figure of a run in progress.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunningFigure {
    /// The scorer.
    pub scorer: String,
    /// The metric.
    pub metric: String,
    /// Its value so far.
    pub value: f64,
    /// Its standard error, if there is one.
    pub error: Option<f64>,
}

/// The figures of a run in progress.
#[derive(Debug)]
pub struct RunningFigures {
    plan: Plan,
    /// The scores so far; none if no figures are wanted.
    pub(super) columns: ScoreColumns,
    figures: Vec<RunningFigure>,
    /// When the figures were computed, and how long it took.
    computed: Option<(Instant, Duration)>,
    /// The time that was spent on figures.
    spent: Duration,
    pub(super) is_wanted: bool,
}

/// The part of the time that computing figures may take is one in this many, after a first amount that is free: a short
/// run has figures after each sample.
const COST_SHARE: u32 = 20;
const FREE: Duration = Duration::from_millis(100);

impl RunningFigures {
    /// No scores yet. Unless `is_wanted`, none are held.
    pub(super) fn new(plan: &Plan, columns: ScoreColumns, is_wanted: bool) -> Self {
        let mut plan = plan.clone();
        // Only values and errors are shown, so nothing is resampled for an interval.
        plan.errors.interval = IntervalChoice::Method(IntervalMethod::T);
        let (figures, spent) = (Vec::new(), Duration::ZERO);
        RunningFigures { plan, columns, figures, computed: None, spent, is_wanted }
    }

    /// The first figure of each scorer and reducer over the samples that are done.
    pub fn figures(&mut self) -> Vec<RunningFigure> {
        if self.computed.is_none_or(|(at, cost)| self.spent < FREE || at.elapsed() >= cost * COST_SHARE) {
            let started = Instant::now();
            // A plan that fails on what is there so far has no figures for now; the results will report why.
            let evaluation = self.plan.evaluate(&self.columns).ok();
            let results = evaluation.as_ref().map(|evaluation| &evaluation.results);
            let figures = |results: &Results| {
                (0..results.scores.len()).filter_map(|score| first_figure(results, score)).collect()
            };
            self.figures = results.map(figures).unwrap_or_default();
            let cost = started.elapsed();
            self.spent += cost;
            self.computed = Some((Instant::now(), cost));
        }
        self.figures.clone()
    }
}

/// The roles of figures that are worth showing, with errors of their own, the best first.
const SHOWN: [&[Role]; 2] = [&[Role::Location, Role::Share], &[Role::Other]];

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

/// An estimate, if it is defined. An error of scores that are all equal is meaningless.
fn figure(scorer: &str, metric: String, estimate: &Estimate) -> Option<RunningFigure> {
    let error = estimate.error.as_ref().ok().filter(|error| !error.degenerate);
    let value = estimate.number()?;
    Some(RunningFigure { scorer: scorer.to_owned(), metric, value, error: error.map(|error| error.se) })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use errorbar_core::metrics::{accuracy, frequency, grouped, mean, std, stderr};
    use errorbar_core::{ErrorPlan, MetadataKeys, Metrics, Reducers, Score, Value, metrics, reducers};

    use super::*;

    /// The figures over scores, two to a passage.
    fn figures(plan: &Plan, values: &[Value]) -> Vec<RunningFigure> {
        let mut running = RunningFigures::new(plan, ScoreColumns::new(["s"]), true);
        for (at, value) in values.iter().enumerate() {
            let row = running.columns.push(at.to_string(), 1).metadata("passage", at / 2);
            let _ = row.score("s", Score::new(value.clone())).unwrap();
        }
        running.figures()
    }

    fn one(metrics: Metrics) -> Option<RunningFigure> {
        let values = [1, 0, 1, 1, 1, 0, 1, 1].map(Value::from);
        figures(&Plan::new().scorer("s", metrics), &values).pop()
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
        // A metric that does not declare its role is shown if there is no other.
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
        let by_plan = figures(&plan, &[1, 0, 1, 1, 1, 0, 1, 1].map(Value::from)).pop().unwrap();
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
        let reduced = figures(&plan, &[1.into(), 0.into()]).pop().unwrap();
        assert_eq!((reduced.metric.as_str(), reduced.value), ("accuracy [mode]", 0.5));
    }

    #[test]
    fn figures_that_cost_much_are_not_computed_again_at_once() {
        let plan = Plan::new().scorer("s", metrics![accuracy()]);
        let mut running = RunningFigures::new(&plan, ScoreColumns::new(["s"]), true);
        let next = |running: &mut RunningFigures, id: &str, value: i64| {
            let _ = running.columns.push(id, 1).score("s", Score::new(value)).unwrap();
            running.figures().pop().map(|figure| figure.value)
        };
        assert_eq!(next(&mut running, "a", 1), Some(1.0));
        assert_eq!(next(&mut running, "b", 0), Some(0.5), "the first are free");
        running.spent = FREE;
        running.computed = Some((Instant::now(), Duration::from_secs(3600)));
        assert_eq!(next(&mut running, "c", 0), Some(0.5), "as before");
        running.computed = Some((Instant::now(), Duration::ZERO));
        assert_eq!(next(&mut running, "d", 0), Some(0.25));
    }

    #[test]
    fn equal_scores_have_no_error_of_zero() {
        let plan = Plan::new().scorer("s", metrics![accuracy(), stderr()]);
        let equal = figures(&plan, &[1.into(), 1.into(), 1.into()]).pop().unwrap();
        assert_eq!((equal.value, equal.error), (1.0, None));
        assert_eq!(figures(&plan, &[]), []);
    }
}
