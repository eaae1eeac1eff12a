//! Runs that end before their end: rules about the confidence sequence of a mean, and what each sample contributes to it.

mod rule;

use std::cell::RefCell;
use std::sync::Arc;

use errorbar_core::engine::unique_names;
use errorbar_core::metrics::mean;
use errorbar_core::spec::nearest;
use errorbar_core::{Conversion, ErrorPlan, Plan, Reducers, Result, SampleValue, ScoreColumns, metrics};
use indexmap::IndexSet;

pub use rule::{RuleMeasure, StopRule};

/// A metric of a plan that is the mean of one number per sample.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MeanFigure {
    /// The metric.
    pub name: String,
    /// The scorer, by the name that results have for it.
    pub scorer: String,
    /// The position of the scorer in the plan.
    pub position: usize,
    /// The range of the numbers, if the plan or the reducer defines it.
    pub range: Option<(f64, f64)>,
    conversion: Conversion,
    /// The plan that gives one number per sample.
    plan: Plan,
}

/// Why a metric of a plan is no mean that a sequence can be about.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FigureProblem {
    /// There is no such metric, or several, or none that is a mean of one number per sample.
    #[error("{0}")]
    NoMean(String),
    /// The epochs of a sample are not reduced to one number.
    #[error("epochs are not reduced, so that a sample has no one number")]
    NotReduced,
}

/// Each reducer by itself, with the name that results have for it.
fn reducers_of(reducers: &Reducers) -> Vec<(Option<String>, Reducers)> {
    match reducers {
        Reducers::Explicit(list) => list
            .iter()
            .map(|reducer| (Some(reducer.log_name()), Reducers::Explicit(vec![Arc::clone(reducer)])))
            .collect(),
        other => vec![(None, other.clone())],
    }
}

impl MeanFigure {
    /// The mean that a name stands for: `metric`, `scorer/metric` or `scorer/metric/reducer`; without a name, the one that
    /// the headline wants, else the first. `epochs` is the number of times that each sample is run.
    ///
    /// # Errors
    /// There is none, or there are several.
    pub fn of_plan(
        plan: &Plan,
        name: Option<&str>,
        epochs: u32,
    ) -> std::result::Result<MeanFigure, FigureProblem> {
        let names = unique_names(plan.scorers.iter().map(|scorer| scorer.name.as_str()));
        let mut others = Vec::new();
        let mut means: Vec<([String; 3], MeanFigure)> = Vec::new();
        for (position, (scorer, planned)) in names.iter().zip(&plan.scorers).enumerate() {
            let metrics = plan.task_metrics.as_ref().unwrap_or(&planned.metrics);
            for metric in metrics.whole() {
                let own = metric.spec().log_name().into_owned();
                let of_scorer = format!("{scorer}/{own}");
                let Some(conversion) = metric.mean_of() else {
                    others.extend([own, of_scorer]);
                    continue;
                };
                for (reducer, reducers) in reducers_of(plan.reducers_of(scorer)) {
                    let full =
                        reducer.map_or_else(|| of_scorer.clone(), |name| format!("{of_scorer}/{name}"));
                    let figure =
                        Self::of_scorer(plan, &own, (scorer, position), conversion.clone(), reducers);
                    means.push(([own.clone(), of_scorer.clone(), full], figure));
                }
            }
        }
        let known = || -> Vec<&str> {
            let known: IndexSet<&str> =
                means.iter().map(|([_, of_scorer, _], _)| of_scorer.as_str()).collect();
            known.into_iter().collect()
        };
        let Some(metric) = name.map(str::to_owned).or_else(|| plan.headline.as_ref()?.metric.clone()) else {
            let none = "there is no metric `mean`; no metric is a mean over all samples";
            let first = means.into_iter().next().ok_or_else(|| FigureProblem::NoMean(none.to_owned()))?;
            return first.1.reduced(epochs);
        };
        let found: Vec<&([String; 3], MeanFigure)> =
            means.iter().filter(|(names, _)| names.contains(&metric)).collect();
        match found.as_slice() {
            [(_, figure)] => figure.clone().reduced(epochs),
            [] if others.contains(&metric) => Err(FigureProblem::NoMean(match known().as_slice() {
                [] => format!("`{metric}` is no mean over all samples; no metric of the task is"),
                known => format!("`{metric}` is no mean over all samples; means are: {}", known.join(", ")),
            })),
            [] => {
                let names = means.iter().flat_map(|(names, _)| names).chain(&others);
                let advice = match (nearest(&metric, names.map(String::as_str)), known().as_slice()) {
                    (Some(near), _) => format!("did you mean `{near}`?"),
                    (None, []) => "no metric is a mean over all samples".to_owned(),
                    (None, known) => format!("means over all samples are: {}", known.join(", ")),
                };
                Err(FigureProblem::NoMean(format!("there is no metric `{metric}`; {advice}")))
            }
            several => {
                let names =
                    several.iter().map(|([.., full], _)| full.as_str()).collect::<Vec<_>>().join(", ");
                let text = format!("there are {} metrics `{metric}`; name one of: {names}", several.len());
                Err(FigureProblem::NoMean(text))
            }
        }
    }

    fn of_scorer(
        planned: &Plan,
        metric: &str,
        (scorer, position): (&str, usize),
        conversion: Conversion,
        reducers: Reducers,
    ) -> MeanFigure {
        let is_probability = match &reducers {
            Reducers::Explicit(list) => {
                list.iter().any(|reducer| reducer.by_epoch().is_some_and(|reducer| reducer.is_probability()))
            }
            _ => false,
        };
        let mut errors = ErrorPlan::new();
        errors.range = planned.errors.range;
        let plan = Plan {
            only: vec![scorer.to_owned()],
            errors,
            headline: None,
            reducers,
            scorer_reducers: Default::default(),
            ..planned.clone()
        };
        MeanFigure {
            name: metric.to_owned(),
            scorer: scorer.to_owned(),
            position,
            conversion,
            plan,
            range: if is_probability { Some((0.0, 1.0)) } else { planned.errors.range },
        }
    }

    fn reduced(self, epochs: u32) -> std::result::Result<Self, FigureProblem> {
        match self.plan.reducers {
            Reducers::Disabled if epochs > 1 => Err(FigureProblem::NotReduced),
            _ => Ok(self),
        }
    }

    /// What each sample contributes, by its id: those without a score too.
    ///
    /// # Errors
    /// Scores that cannot be reduced.
    pub fn sample_values(&self, columns: &ScoreColumns) -> Result<Vec<(String, SampleValue)>> {
        let mut plan = self.plan.clone();
        plan.task_metrics = Some(metrics![mean()]);
        let values = RefCell::new(Vec::new());
        let has_gaps = self.conversion.keeps_numbers();
        plan.visit_scores(columns, &|block| {
            let (scores, mut values) = (block.scores, values.borrow_mut());
            scores.converted(&self.conversion, |numbers| {
                let value = |at: usize| SampleValue::at(at, scores, numbers, has_gaps);
                values.extend((0..scores.len()).map(|at| (scores.sample_id(at).to_owned(), value(at))));
            });
            let id = |row: &u32| scores.set().columns().id(*row as usize).to_owned();
            values.extend(scores.absent_rows().iter().map(|row| (id(row), SampleValue::default())));
        })?;
        Ok(values.into_inner())
    }
}

#[cfg(test)]
mod tests;
