//! What a kind draws of the runs, or why the data do not support it.

use errorbar_analysis::Text;
use errorbar_core::{Confusion, Direction, Estimate, EstimateRow, IndexMap, Results, ScoreName, Undefined};
use errorbar_inference::{Comparison, ComparisonReport};
use errorbar_report::ChanceLevel;
use errorbar_report::plot::{
    self, CostAxis, CostPoint, Estimates, Forest, ForestGroup, NamedEstimate, Plot, RunMarks,
};
use errorbar_report::svg::Series;

use super::{Kind, PlotArgs, PlotData, Run, calibration_metric, prediction};
use crate::diagnostic::Diagnostic;
use crate::format::short;

/// The most panels of a plot.
const MOST_PANELS: usize = 30;

/// The most groups of a plot.
const MOST_GROUPS: usize = 300;

/// The plot and its title.
pub(super) fn draw(args: &PlotArgs, data: &PlotData) -> Result<(Plot, String), Diagnostic> {
    let drawing = Drawing { args, data, runs: &data.runs };
    let (plot, what) = match args.kind {
        Kind::Estimates => drawing.estimates(),
        Kind::Forest => drawing.forest(),
        Kind::Distribution => drawing.distribution(),
        Kind::Epochs => drawing.epochs(),
        Kind::Pass => drawing.pass(),
        Kind::Calibration => drawing.calibration(),
        Kind::Confusion => drawing.confusion(),
        Kind::Pairs => drawing.pairs(),
        Kind::Ranking => drawing.ranking(),
        Kind::Cost => drawing.cost(),
    }?;
    Ok((plot, drawing.title(&what)))
}

struct Drawing<'a> {
    args: &'a PlotArgs,
    data: &'a PlotData,
    runs: &'a [Run],
}

/// A plot and what it is of.
type Drawn = Result<(Plot, String), Diagnostic>;

impl Drawing<'_> {
    /// An error of the kind, with the way out.
    fn unsupported(&self, problem: &str, hint: impl Into<Text>) -> Diagnostic {
        let problem = Diagnostic::error(format!("{}: {problem}", self.args.kind.name())).hint(hint);
        match self.runs.first().filter(|first| self.runs.iter().all(|run| run.path() == first.path())) {
            Some(only) => problem.about(only.path().display()),
            None => problem,
        }
    }

    /// The task, if all runs have the same, and what is drawn.
    fn title(&self, what: &str) -> String {
        let task = self.runs.first().and_then(|run| run.run.identity.task.as_deref());
        let task =
            task.filter(|task| self.runs.iter().all(|run| run.run.identity.task.as_deref() == Some(task)));
        match task {
            Some(task) => format!("{}: {what}", task.rsplit('/').next().unwrap_or(task)),
            None => what.to_owned(),
        }
    }

    /// The marks of the runs; hollow if one did not reach its end.
    fn marks(&self) -> RunMarks {
        let names: Vec<String> = self.runs.iter().map(|run| run.name.clone()).collect();
        self.marks_of(&names, |run| &run.name)
    }

    /// The marks of runs, or of the sides that they are, by what those are called.
    fn marks_of(&self, names: &[String], name: fn(&Run) -> &String) -> RunMarks {
        let mark = |(at, of): (usize, &String)| {
            let is_partial = self.runs.iter().any(|run| run.is_partial() && name(run) == of);
            (of.clone(), Series { is_partial, ..Series::of(at, names.len()) })
        };
        RunMarks::new(names.iter().enumerate().map(mark))
    }

    /// The level of guessing of the figure that is drawn, if all runs have the same.
    fn chance(&self) -> Option<ChanceLevel> {
        let of_run = |run: &Run| {
            let row = run.results.main_row().filter(ChanceLevel::is_of)?;
            // The mean of groups has another weight for each sample.
            if row.scopes.is_empty() { run.chance } else { run.chance.and_then(ChanceLevel::of_part) }
        };
        ChanceLevel::common(self.runs.iter().map(of_run))
    }

    /// The headline of each run, and what it is called.
    fn headlines(&self) -> Result<(Vec<Option<EstimateRow<'_>>>, String), Diagnostic> {
        self.figures_of_runs(|results| results.headline_row().ok())
    }

    /// A figure of each run, and what it is called.
    fn figures_of_runs(
        &self,
        figure: fn(&Results) -> Option<EstimateRow<'_>>,
    ) -> Result<(Vec<Option<EstimateRow<'_>>>, String), Diagnostic> {
        let rows: Vec<Option<EstimateRow<'_>>> = self.runs.iter().map(|run| figure(&run.results)).collect();
        let mut metrics: Vec<&str> = rows.iter().flatten().map(|row| row.metric).collect();
        metrics.dedup();
        match metrics.as_slice() {
            [] => {
                let failure = self.runs.iter().find_map(|run| {
                    let failure = run.results.scores.iter().flat_map(|score| &score.failures).next()?;
                    Some(Diagnostic::from(failure.error.clone()).about(run.path().display()))
                });
                Err(failure.unwrap_or_else(|| {
                    let none = self.runs.iter().find_map(|run| run.results.headline_row().err()?.in_words());
                    let problem = none.map_or_else(
                        || "there is no figure to draw".to_owned(),
                        |none| format!("there is no figure to draw: {none}"),
                    );
                    self.unsupported(&problem, "name a metric with --metric")
                }))
            }
            [metric] => {
                let metric = (*metric).to_owned();
                Ok((rows, metric))
            }
            several => Err(self.unsupported(
                &format!("the runs have different figures: {}", several.join(", ")),
                "name one that all have with --metric",
            )),
        }
    }

    /// The estimate of each run, undefined where it has none.
    fn estimates_of_runs(&self) -> Result<(Vec<NamedEstimate>, String, bool), Diagnostic> {
        let (rows, metric) = self.headlines()?;
        let is_lower = self.direction() == Direction::Lower;
        let none = || Estimate::undefined(Undefined::NoScores);
        let named = self.runs.iter().zip(rows).map(|(run, row)| NamedEstimate {
            name: run.name.clone(),
            estimate: row.map_or_else(none, |row| row.estimate.into_owned()),
        });
        Ok((named.collect(), metric, is_lower))
    }

    /// Which way the headline is better.
    fn direction(&self) -> Direction {
        let found = self.runs.iter().find_map(|run| {
            let row = run.results.main_row()?;
            let plan = &run.run.plan;
            let of_scorers = plan.scorers.iter().map(|scorer| &scorer.metrics);
            let all = plan.task_metrics.iter().chain(of_scorers).chain(plan.default_metrics.values());
            let mut metrics = all.flat_map(|metrics| metrics.iter());
            metrics.find(|metric| metric.spec() == row.result.spec).map(|metric| metric.direction())
        });
        found.unwrap_or(Direction::Higher)
    }

    fn estimates(&self) -> Drawn {
        let (named, metric, is_lower) = self.estimates_of_runs()?;
        let plot = Estimates {
            metric: metric.clone(),
            runs: named,
            marks: self.marks(),
            chance: self.chance(),
            lower_is_better: is_lower,
            are_differences: false,
        };
        Ok((plot.draw(), metric))
    }

    fn forest(&self) -> Drawn {
        let (_, metric) = self.figures_of_runs(Results::main_row)?;
        let mut key: Option<String> = self.args.group.clone();
        let mut groups: IndexMap<String, Vec<Option<Estimate>>> = IndexMap::new();
        let count = self.runs.len();
        let mut all = vec![None; count];
        for (at, run) in self.runs.iter().enumerate() {
            let rows = run.results.rows();
            let Some(main) = run.results.main_row() else { continue };
            let is_like = |row: &&EstimateRow<'_>| {
                let is_same = (row.scorer, row.reducer, row.field, row.metric)
                    == (main.scorer, main.reducer, main.field, main.metric);
                is_same && row.scopes.len() <= 1 && row.key.is_none() && row.index.is_none()
            };
            if main.group.is_none()
                && let Some(slot) = all.get_mut(at)
            {
                *slot = Some(main.estimate.clone().into_owned());
            }
            for row in rows.iter().filter(is_like) {
                let (Some(of_key), Some(group)) = (row.group_key, row.group) else { continue };
                if key.get_or_insert_with(|| of_key.to_owned()) != of_key {
                    continue;
                }
                let estimates = groups.entry(group.to_owned()).or_insert_with(|| vec![None; count]);
                if let Some(slot) = estimates.get_mut(at).filter(|slot| slot.is_none()) {
                    *slot = Some(row.estimate.clone().into_owned());
                }
            }
        }
        let (Some(key), false) = (key.clone(), groups.is_empty()) else {
            return Err(self.no_groups(key.as_deref()));
        };
        if groups.len() > MOST_GROUPS {
            let problem = format!("`{key}` has {} groups, and at most {MOST_GROUPS} are drawn", groups.len());
            return Err(self.unsupported(&problem, "name a key with fewer values with --group"));
        }
        let runs = self.runs.iter().map(|run| run.name.clone()).collect();
        let groups = groups.into_iter().map(|(name, estimates)| ForestGroup { name, estimates }).collect();
        let has_all = all.iter().any(Option::is_some);
        let what = format!("{metric} by {key}");
        let plot = Forest {
            metric,
            key,
            runs,
            groups,
            marks: self.marks(),
            chance: self.chance().and_then(ChanceLevel::of_part),
            all: has_all.then(|| ForestGroup { name: "all".to_owned(), estimates: all }),
            lower_is_better: self.direction() == Direction::Lower,
        };
        Ok((plot.draw(), what))
    }

    fn no_groups(&self, key: Option<&str>) -> Diagnostic {
        let failures = || {
            self.runs.iter().flat_map(|run| run.results.scores.iter().flat_map(move |score| &score.failures))
        };
        match (key, failures().next()) {
            (Some(_), Some(failure)) => {
                let about = self.runs.first().map(|run| run.path().display().to_string()).unwrap_or_default();
                Diagnostic::from(failure.error.clone()).about(about)
            }
            _ => self.unsupported(
                "these results have no groups",
                "name the metadata key of the groups with --group KEY",
            ),
        }
    }

    fn too_many(&self) -> Result<(), Diagnostic> {
        match self.runs.len() > MOST_PANELS {
            true => Err(self.unsupported(
                &format!("{} runs have a panel each, and at most {MOST_PANELS} are drawn", self.runs.len()),
                "give fewer files",
            )),
            false => Ok(()),
        }
    }

    /// The breakdown of each run that is of the scores of its headline, else the first.
    fn of_headlines<T>(
        &self,
        breakdowns: impl Fn(&Run) -> errorbar_core::Result<Vec<T>>,
        name: impl Fn(&T) -> &ScoreName,
    ) -> Result<Vec<(String, T)>, Diagnostic> {
        self.too_many()?;
        let mut found = Vec::new();
        for run in self.runs {
            let of_run =
                breakdowns(run).map_err(|error| Diagnostic::from(error).about(run.path().display()))?;
            let main = run.results.main_row();
            let is_main = |breakdown: &T| {
                let name = name(breakdown);
                main.as_ref().is_some_and(|row| {
                    let is_reducer = name.reducer.is_none() || name.reducer.as_deref() == row.reducer;
                    (row.scorer, row.field) == (&name.scorer, name.field.as_deref()) && is_reducer
                })
            };
            let mut of_run = of_run;
            if !of_run.is_empty() {
                let at = of_run.iter().position(is_main).unwrap_or(0);
                found.push((run.name.clone(), of_run.swap_remove(at)));
            }
        }
        Ok(found)
    }

    fn distribution(&self) -> Drawn {
        let found = self
            .of_headlines(|run| run.run.plan.distributions(&run.run.scores, &run.results), |one| &one.name)?;
        if found.iter().all(|(_, distribution)| distribution.counts.is_empty()) {
            return Err(self.unsupported(
                "no metric of these results is a mean of scores, or there are no scores",
                "name one with --metric mean",
            ));
        }
        Ok((plot::distribution(&found, &self.marks()), "distribution of scores".to_owned()))
    }

    /// The error of runs that have one epoch.
    fn one_epoch(&self) -> Diagnostic {
        let these =
            if self.runs.iter().all(|run| run.is_log()) { "these logs have" } else { "each sample has" };
        let hint = match self.runs.iter().all(|run| run.is_log()) {
            true => "run with --epochs 3",
            false => {
                "give each sample several rows, and name the column that numbers them with --epoch-column"
            }
        };
        self.unsupported(&format!("{these} one epoch"), hint)
    }

    fn epochs(&self) -> Drawn {
        let found = self.of_headlines(|run| run.run.plan.epoch_spreads(&run.run.scores), |one| &one.name)?;
        if found.iter().all(|(_, spread)| spread.epochs() < 2) {
            return Err(self.one_epoch());
        }
        Ok((plot::epochs(&found, &self.marks()), "samples by the mean of their epochs".to_owned()))
    }

    /// The highest score, if some score is a rating above 1.
    fn highest_rating(&self) -> Option<f64> {
        let highest = self.runs.iter().filter_map(|run| run.run.scores.highest_number());
        highest.filter(|highest| *highest > 1.0).max_by(f64::total_cmp)
    }

    fn pass(&self) -> Drawn {
        if let (None, Some(highest)) = (self.args.threshold, self.highest_rating()) {
            let text = format!(
                "every score from 1 on would be a success, and there are scores up to {}",
                short(highest, 6)
            );
            let hint = format!("say from which score on an epoch is a success: --threshold {highest}");
            return Err(self.unsupported(&text, &hint));
        }
        let threshold = self.args.threshold.unwrap_or(1.0);
        let found =
            self.of_headlines(|run| run.run.plan.pass_curves(&run.run.scores, threshold), |one| &one.name)?;
        if found.is_empty() {
            return Err(self.one_epoch());
        }
        let from = if threshold == 1.0 { String::new() } else { format!(" (success from {threshold} on)") };
        Ok((plot::pass(&found, &self.marks()), format!("pass@k and pass^k{from}")))
    }

    fn calibration(&self) -> Drawn {
        let metric = calibration_metric(self.args);
        let found =
            self.of_headlines(|run| run.run.plan.calibration(&run.run.scores, &metric), |one| &one.name)?;
        if found.iter().all(|(_, curve)| curve.bins.is_empty()) {
            return Err(self.unsupported("there are no scores", "give a log or a table with scores"));
        }
        Ok((plot::calibration(&found, &self.marks()), "accuracy by confidence".to_owned()))
    }

    fn confusion(&self) -> Drawn {
        let target = &self.args.target;
        let found = self.of_headlines(
            |run| run.run.plan.confusions(&run.run.scores, target, prediction(self.args, &run.run.scores)),
            |one| &one.name,
        )?;
        let is_default = self.args.prediction.is_none();
        let is_verdict = |(_, confusion): &(String, Confusion)| is_default && confusion.is_of_verdicts();
        if found.iter().any(is_verdict) && !self.runs.iter().any(|run| run.run.scores.has_answers()) {
            return Err(self.unsupported(
                "the scores say what is right, and nothing says which label was predicted",
                "name the column of the predicted labels `answer`; if the scores are the labels, give --prediction value",
            ));
        }
        let is_label = |(_, confusion): &(String, Confusion)| {
            confusion.labels.is_empty() || confusion.has_common_labels()
        };
        if !found.iter().any(is_label) {
            return Err(self.unsupported(
                &format!("no predicted label is one of `{target}`"),
                "name the metadata key with the true labels with --target KEY, and where the predicted ones are with \
                 --prediction",
            ));
        }
        if found.iter().all(|(_, confusion)| confusion.labels.is_empty()) {
            return Err(self.unsupported("there are no scores", "give a log or a table with scores"));
        }
        Ok((plot::confusion(&found, &self.marks()), "true and predicted labels".to_owned()))
    }

    /// All pairs of runs.
    fn compared(&self) -> Result<&ComparisonReport, Diagnostic> {
        self.data.comparison.as_ref().ok_or_else(|| {
            self.unsupported("no figure of these runs can be compared", "name a metric with --metric")
        })
    }

    fn pairs(&self) -> Drawn {
        let report = self.compared()?;
        let is_whole = |one: &Comparison| one.group_key.is_none() && one.task.is_none();
        type Figure = (String, Option<String>, Option<String>, String);
        let figure = |one: &Comparison| -> Figure {
            (one.scorer.clone(), one.reducer.clone(), one.field.clone(), one.metric.clone())
        };
        let main = self.runs.first().and_then(|run| run.results.headline_row().ok()).map(|row| -> Figure {
            let [reducer, field] = [row.reducer, row.field].map(|part| part.map(str::to_owned));
            (row.scorer.to_owned(), reducer, field, row.metric.to_owned())
        });
        let whole: Vec<Figure> = report.comparisons.iter().filter(|one| is_whole(one)).map(figure).collect();
        let wanted = main.filter(|main| whole.contains(main)).or_else(|| whole.first().cloned());
        let Some(wanted) = wanted else {
            return Err(
                self.unsupported("no figure of these runs can be compared", "name a metric with --metric")
            );
        };
        // What is drawn together is one family of tests.
        let report = report.clone().only(|one| is_whole(one) && figure(one) == wanted);
        let marks = self.marks_of(&report.sides, |run| &run.side);
        let plot = plot::pairs(&report.sides, &report.comparisons, &marks);
        Ok((plot, format!("differences of {}", wanted.3)))
    }

    fn ranking(&self) -> Drawn {
        let report = self.compared()?;
        let main = self.runs.first().and_then(|run| run.results.headline_row().ok());
        // Of several tasks the mean over them.
        let whole = || report.rankings.iter().filter(|ranking| ranking.task.is_none());
        let of_main = whole().find(|ranking| {
            main.as_ref().is_some_and(|row| {
                (row.scorer, row.metric) == (&ranking.scorer, ranking.metric.as_str())
                    && row.reducer == ranking.reducer.as_deref()
            })
        });
        let Some(ranking) = of_main.or_else(|| whole().next()) else {
            return Err(self.unsupported("these runs cannot be ranked", "name a metric with --metric"));
        };
        let marks = self.marks_of(&report.sides, |run| &run.side);
        Ok((plot::ranking(ranking, &report.sides, &marks), format!("ranking by {}", ranking.metric)))
    }

    fn cost(&self) -> Drawn {
        let (named, metric, _) = self.estimates_of_runs()?;
        let has_costs = self.runs.iter().all(|run| run.paid().1.is_some());
        let axis = if has_costs { CostAxis::Dollars } else { CostAxis::Tokens };
        let paid = |run: &Run| match axis {
            CostAxis::Dollars => run.paid().1,
            _ => run.paid().0.map(|tokens| tokens as f64),
        };
        if self.runs.iter().all(|run| paid(run).is_none()) {
            return Err(self.unsupported(
                "these runs record neither cost nor tokens",
                "give logs of models that count tokens; tables have none",
            ));
        }
        let points = self.runs.iter().zip(named);
        let points: Vec<CostPoint> = points
            .map(|(run, NamedEstimate { name, estimate })| CostPoint { name, cost: paid(run), estimate })
            .collect();
        let what = match axis {
            CostAxis::Dollars => format!("{metric} against cost"),
            _ => format!("{metric} against tokens"),
        };
        Ok((plot::cost(&metric, axis, &points, &self.marks()), what))
    }
}
