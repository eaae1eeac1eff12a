//! How scores vary, from options or from runs.

use errorbar_core::{ErrorPlan, Plan};
use errorbar_inference::{Flips, PilotScores, PilotSide, PowerDesign, PowerError, PowerPlan, ScoreSpread};

use super::{PilotRequest, PlannedGoal, PowerRequest, SpreadRequest};
use crate::compare::{MatchedRun, short_task};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::read::{Reader, RunRequest, unknown_scorer};
use crate::request::{ErrorRequest, PlanChanges};
use crate::run::Run;
use crate::source;
use crate::text::{Opt, counted, short};
use crate::{Analysis, hints, text};

/// What is planned with, and what of it is known.
#[derive(Debug)]
#[non_exhaustive]
pub struct PlannedDesign {
    /// The plan.
    pub plan: PowerPlan,
    /// How many models are run.
    pub models: u64,
    /// The number of epochs that the variance is of, if it is not known in its parts.
    pub only_epochs: Option<u32>,
    /// The epochs of the runs that the variance is from.
    pub run_epochs: Option<u32>,
    /// The variance of the samples' means in the runs, which the design effect is about.
    pub run_variance: Option<f64>,
    /// Whether the design effect is that of the runs' clusters.
    pub has_clusters: bool,
    /// What it is from, in a line.
    pub source: Option<String>,
}

/// The share that has the widest interval.
const WIDEST: f64 = 0.5;

impl PlannedDesign {
    pub(crate) fn of(
        args: &PowerRequest,
        goal: PlannedGoal,
        runs: Option<&PilotRuns>,
        diagnostics: &mut Diagnostics,
    ) -> Result<Self, Diagnostic> {
        let mut design = match runs {
            Some(runs) => of_runs(&args.spread, goal, runs, diagnostics)?,
            None => of_options(args, goal, diagnostics)?,
        };
        let plan = &mut design.plan;
        (plan.alpha, plan.method) = (args.alpha_or_default(), args.method);
        let of_clusters = runs.and_then(|runs| runs.pilot.design_effect);
        design.has_clusters = of_clusters.is_some() && args.spread.design_effect.is_none();
        design.run_variance = runs.map(|runs| runs.pilot.variance);
        plan.design_effect = args.spread.design_effect.or(of_clusters).unwrap_or(1.0);
        Ok(design)
    }

    /// The plan for a number of epochs.
    pub(crate) fn plan_of(&self, epochs: u32) -> PowerPlan {
        match self.run_variance.filter(|_| self.has_clusters) {
            Some(variance) => self.plan.with_epochs_of_runs(epochs, variance),
            None => self.plan,
        }
    }

    fn new(design: PowerDesign, models: u64) -> Self {
        let plan = PowerPlan::new(design);
        PlannedDesign {
            plan,
            models,
            only_epochs: None,
            run_epochs: None,
            run_variance: None,
            has_clusters: false,
            source: None,
        }
    }

    /// The variance in its parts, if both are known and epochs matter.
    pub(crate) fn spread(&self) -> Option<ScoreSpread> {
        self.plan.design.spread()
    }
}

fn of_options(
    args: &PowerRequest,
    goal: PlannedGoal,
    diagnostics: &mut Diagnostics,
) -> Result<PlannedDesign, Diagnostic> {
    let spread = &args.spread;
    check_options(spread)?;
    let is_compared = spread.unpaired || spread.correlation.is_some();
    let is_one = goal.is_width() && !is_compared;
    if let Some(design) = of_flips(args)? {
        return Ok(PlannedDesign::new(design, 2));
    }
    if let Some(share) = spread.share {
        let design = match spread.correlation {
            Some(correlation) => PowerDesign::PairedShares { base: share, correlation },
            None if spread.unpaired => PowerDesign::TwoShares(share),
            None if is_one => PowerDesign::Share(share),
            None => {
                let problem = text!("{Share} is about one model, and a difference is between two");
                let hint =
                    text!("add {Correlation=R} or {Unpaired}, or give {P10} and {P01} in place of {Share}");
                return Err(Diagnostic::error(problem).hint(hint));
            }
        };
        return Ok(PlannedDesign::new(design, if is_one { 1 } else { 2 }));
    }
    let within = variance(Opt::SdWithin, spread.sd_within.unwrap_or(0.0))?;
    match spread.sd {
        Some(sd) => {
            let between = variance(Opt::Sd, sd)?;
            let design = match spread.correlation {
                Some(correlation) => PowerDesign::Mean(correlated(between, within, correlation)?),
                None if spread.unpaired => PowerDesign::TwoMeans(ScoreSpread::new(between, within)),
                None if is_one => PowerDesign::Mean(ScoreSpread::new(between, within)),
                // Epochs of both models add to the variance of their difference.
                None => PowerDesign::Mean(ScoreSpread::new(between, 2.0 * within)),
            };
            let mut planned = PlannedDesign::new(design, if is_one { 1 } else { 2 });
            // One number has no parts.
            planned.only_epochs = spread.sd_within.is_none().then_some(1);
            Ok(planned)
        }
        None if spread.sd_within.is_some() => {
            let problem = text!(
                "{SdWithin} is the part of the variance within samples, and the part between is missing"
            );
            Err(Diagnostic::error(problem).hint(text!("add {Sd=S}")))
        }
        None if is_one => {
            let text = "no standard deviation and no share is given; a share of 0.5 is assumed, which has the widest interval";
            diagnostics.push(Diagnostic::note(text));
            Ok(PlannedDesign::new(PowerDesign::Share(WIDEST), 1))
        }
        None => {
            let hint = text!(
                "add {Sd=S} (of the paired differences), {P10} and {P01} (shares of samples that one \
                 model alone has right), {Share=P} with {Correlation=R} or {Unpaired}, or {From=LOG \
                 LOG}"
            );
            Err(Diagnostic::error("nothing shows how scores vary").hint(hint))
        }
    }
}

/// Refuses options that exclude each other.
fn check_options(spread: &SpreadRequest) -> Result<(), Diagnostic> {
    let has_flips = spread.p10.is_some() || spread.p01.is_some();
    let flips = if spread.p10.is_some() { Opt::P10 } else { Opt::P01 };
    let pairs = [
        (Opt::Sd, spread.sd.is_some(), Opt::Share, spread.share.is_some()),
        (Opt::Sd, spread.sd.is_some(), flips, has_flips),
        (Opt::Share, spread.share.is_some(), flips, has_flips),
        (Opt::SdWithin, spread.sd_within.is_some(), Opt::Share, spread.share.is_some()),
        (Opt::SdWithin, spread.sd_within.is_some(), flips, has_flips),
        (Opt::Unpaired, spread.unpaired, flips, has_flips),
        (Opt::Correlation, spread.correlation.is_some(), flips, has_flips),
        (Opt::Unpaired, spread.unpaired, Opt::Correlation, spread.correlation.is_some()),
    ];
    match pairs.into_iter().find(|(_, one, _, other)| *one && *other) {
        Some((one, _, other, _)) => Err(Diagnostic::excluded(one, other)),
        None => Ok(()),
    }
}

/// Pairs of zeros and ones.
fn of_flips(args: &PowerRequest) -> Result<Option<PowerDesign>, Diagnostic> {
    let flips = match (args.spread.p10, args.spread.p01) {
        (None, None) => return Ok(None),
        (Some(p10), Some(p01)) => {
            let differences = args.difference.iter().flat_map(|values| &values.0);
            for difference in differences {
                if (difference - (p01 - p10)).abs() > 1e-9 {
                    let problem = text!(
                        "{P01} − {P10} is {}, and {}",
                        short(p01 - p10, 6),
                        Opt::Difference.number(*difference)
                    );
                    return Err(Diagnostic::error(problem).hint("omit one of the three"));
                }
            }
            Flips::Shares { p10, p01 }
        }
        (Some(p10), None) => Flips::P10(p10),
        (None, Some(p01)) => Flips::P01(p01),
    };
    Ok(Some(PowerDesign::Pairs(flips)))
}

/// The square of a standard deviation.
fn variance(option: Opt, sd: f64) -> Result<f64, Diagnostic> {
    match sd >= 0.0 {
        true => Ok(sd * sd),
        false => Err(Diagnostic::from(PowerError::Sd { what: "standard deviation", sd, zero: true })
            .about_option(option)),
    }
}

/// The difference of two models that vary alike.
fn correlated(between: f64, within: f64, correlation: f64) -> Result<ScoreSpread, PowerError> {
    match (-1.0..=1.0).contains(&correlation) {
        true => Ok(ScoreSpread::new(2.0 * between * (1.0 - correlation), 2.0 * within)),
        false => Err(PowerError::Correlation(correlation)),
    }
}

fn of_runs(
    spread: &SpreadRequest,
    goal: PlannedGoal,
    runs: &PilotRuns,
    diagnostics: &mut Diagnostics,
) -> Result<PlannedDesign, Diagnostic> {
    let pilot = &runs.pilot;
    // Without its parts the variance holds for as many epochs as there were.
    let known = pilot.spread().unwrap_or_else(|_| ScoreSpread::new(pilot.variance, 0.0));
    let is_in_parts = pilot.spread().is_ok();
    let is_one = runs.is_one();
    if pilot.between == Ok(0.0) && pilot.within.as_ref().is_ok_and(|within| *within > 0.0) {
        let text = "the variance between samples is estimated at 0 or below, so that epochs seem to do what samples do; \
                    these runs are too few to tell";
        diagnostics
            .push(Diagnostic::warning(text).about(runs.names.join(", ")).hint("prefer samples to epochs"));
    }
    if !is_one && spread.correlation.is_some() {
        let problem = text!("{Correlation} and two runs both give how the models are related");
        return Err(Diagnostic::error(problem).hint(text!("omit {Correlation}, or give one run")));
    }
    let (design, models) = match (is_one, spread.correlation) {
        (true, None) if goal.is_width() => {
            (pilot.share.map_or(PowerDesign::Mean(known), PowerDesign::Share), 1)
        }
        (true, Some(correlation)) => match pilot.share {
            Some(base) => (PowerDesign::PairedShares { base, correlation }, 2),
            None => (PowerDesign::Mean(correlated(known.between, known.within, correlation)?), 2),
        },
        (true, None) => {
            if !spread.unpaired {
                let text = "one run does not show how another model's scores are related to it; unpaired samples are \
                            assumed, which takes the most";
                let hint = text!("give the logs of both models, or {Correlation=R}");
                diagnostics.push(Diagnostic::warning(text).hint(hint));
            }
            (pilot.share.map_or(PowerDesign::TwoMeans(known), PowerDesign::TwoShares), 2)
        }
        (false, _) if spread.unpaired => {
            (pilot.share.map_or(PowerDesign::TwoMeans(known), PowerDesign::TwoShares), 2)
        }
        (false, _) => match pilot.flips {
            Some((p10, p01)) => (PowerDesign::Pairs(Flips::Discordant(p10 + p01)), 2),
            None => (PowerDesign::Mean(known), 2),
        },
    };
    let mut planned = PlannedDesign::new(design, models);
    planned.run_epochs = pilot.epochs;
    if !is_in_parts {
        planned.only_epochs = Some(pilot.epochs.unwrap_or(1));
    }
    planned.source = Some(shown_source(runs, spread.unpaired));
    Ok(planned)
}

/// What the runs show, in a line.
fn shown_source(runs: &PilotRuns, is_unpaired: bool) -> String {
    let pilot = &runs.pilot;
    let what = match (runs.is_one(), is_unpaired) {
        (false, false) => "pair",
        _ => "sample",
    };
    let mut parts = vec![format!("{} · {}", runs.names.join(" and "), runs.scorer)];
    let epochs = pilot.epochs.map(|epochs| format!(" with {}", counted(u64::from(epochs), "epoch")));
    parts.push(format!("{}{}", counted(pilot.samples, what), epochs.unwrap_or_default()));
    match (&pilot.between, &pilot.within) {
        // Of pairs it is the sum over both models; shown is what --sd-within takes.
        (Ok(between), Ok(within)) if what == "pair" => parts.push(format!(
            "sd {} between and {} within samples of one model",
            short(between.sqrt(), 3),
            short((0.5 * within).sqrt(), 3)
        )),
        (Ok(between), Ok(within)) => parts.push(format!(
            "sd {} between and {} within samples",
            short(between.sqrt(), 3),
            short(within.sqrt(), 3)
        )),
        _ => parts.push(format!("sd {}", short(pilot.variance.sqrt(), 3))),
    }
    if let Ok(correlation) = pilot.correlation {
        parts.push(format!("correlation {correlation:.2}"));
    }
    if let Some((p10, p01)) = pilot.flips {
        parts.push(format!("p10 {}, p01 {}", short(p10, 3), short(p01, 3)));
    }
    if let Some(effect) = pilot.design_effect {
        let clusters: Vec<String> = pilot.clusters.iter().map(|count| counted(*count, "cluster")).collect();
        parts.push(format!("design effect {} ({})", short(effect, 3), clusters.join(", ")));
    }
    parts.join(" · ")
}

/// How the scores of one run vary, or the difference of two.
#[derive(Debug)]
pub(crate) struct PilotRuns {
    /// What they are called.
    pub(crate) names: Vec<String>,
    pub(crate) scorer: String,
    pub(crate) pilot: PilotScores,
}

impl PilotRuns {
    /// Whether there is one run only.
    pub(crate) fn is_one(&self) -> bool {
        self.names.len() == 1
    }
}

/// The runs that show how scores vary, if any are given.
pub(crate) fn read(
    request: &PilotRequest,
    spread: &SpreadRequest,
    analysis: &Analysis<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Option<PilotRuns>, Diagnostics> {
    if request.from.is_empty() {
        if let Some(option) = request.tables.first_given() {
            let problem = text!("{} is about a table, and there is none", option);
            return Err(Diagnostic::error(problem).hint(text!("name the table with {From}")).into());
        }
        return Ok(None);
    }
    check_runs(request, spread)?;
    let mut clusters = ErrorPlan::new();
    clusters.cluster.clone_from(&request.clusters);
    clusters.check().map_err(|problem| {
        let hint = text!("give {Cluster} once, or twice with two keys");
        Diagnostic::error(problem).about_option(Opt::Cluster).hint(hint)
    })?;
    if let [base, other] = request.from.as_slice()
        && source::resolve(base)? == source::resolve(other)?
    {
        let problem = "both runs are the same file, and a run does not differ from itself";
        return Err(Diagnostic::error(problem)
            .about_option(Opt::From)
            .hint("name the log of another model")
            .into());
    }
    let runs = read_runs(request, spread, analysis, diagnostics)?;
    let names: Vec<String> = runs.iter().map(Run::title).collect();
    let [base, others @ ..] = runs.as_slice() else {
        return Err(Diagnostic::error(text!("there is no run in {From}")).into());
    };
    let scorer = scorer(base, request.scorers.as_deref())?;
    let about = |error: PowerError| from_error(&error, base, request).about(names.join(", "));
    let side = |run: &Run| -> Result<(), Diagnostic> { self::scorer(run, Some(&scorer)).map(drop) };
    let base_side = PilotSide::new(&base.scores, &scorer);
    if !spread.unpaired
        && !others.is_empty()
        && let Some(run) = runs.iter().find(|run| run.has_synthetic_ids())
    {
        let problem = "no column identifies the samples, so those of the two runs cannot be paired";
        let hint = text!("name the column with {IdColumn}, or plan for different samples with {Unpaired}");
        return Err(Diagnostic::error(problem).about(run.title()).hint(hint).into());
    }
    if let [other] = others
        && !spread.unpaired
    {
        check_samples(base, other, request, diagnostics)?;
    }
    let pilot = match others {
        [] => PilotScores::of_one(base_side, &request.clusters).map_err(about)?,
        [other] => {
            side(other)?;
            let other_side = PilotSide::new(&other.scores, &scorer);
            let pilot = match spread.unpaired {
                true => PilotScores::of_two(base_side, other_side, &request.clusters),
                false => PilotScores::of_pairs(base_side, other_side, &request.clusters),
            };
            pilot.map_err(about)?
        }
        _ => {
            let problem = format!("these are {} runs, and a difference is of two", names.len());
            let listed = names.join(", ");
            let hint = match &request.by {
                Some(column) => text!(
                    "make a table with the rows of two of them, or `compare` all of them by {}: {}",
                    Opt::By.set(column),
                    listed
                ),
                None => text!("give two files, or one for each of two runs: {}", listed),
            };
            return Err(Diagnostic::error(problem).about_option(Opt::From).hint(hint).into());
        }
    };
    if pilot.only_base + pilot.only_other > 0 {
        let text = format!(
            "{} and {} samples are in one of the two only, and left out",
            pilot.only_base, pilot.only_other
        );
        diagnostics.push(Diagnostic::warning(text).about(names.join(", ")));
    }
    Ok(Some(PilotRuns { names: labels(&runs), scorer, pilot }))
}

/// The runs of the files; cells of tables are scores.
fn read_runs(
    request: &PilotRequest,
    spread: &SpreadRequest,
    analysis: &Analysis<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<Run>, Diagnostics> {
    let mut errors = ErrorRequest::default();
    errors.clusters.clone_from(&request.clusters);
    // Variances are those of scores, and nothing else is computed.
    let metrics = Some(errorbar_core::metrics![]);
    let changes = PlanChanges { metrics, errors, ..PlanChanges::default() };
    // The scorer of a table is one of its columns.
    let mut tables = request.tables.clone();
    tables.score_columns.extend(request.scorers.clone());
    let repeated =
        text!("if the rows are of several models, name the column that tells them apart with {By}");
    let scorers: Vec<String> = request.scorers.iter().cloned().collect();
    let mut runs = Vec::new();
    for named in &request.from {
        let path = match analysis.tables.contains(named) {
            true => named.clone(),
            false => source::resolve(named)?,
        };
        if path.is_dir() {
            let newest = format!("{}/@1", named.display().to_string().trim_end_matches('/'));
            let problem = "this is a folder, and the spread is that of one run or two";
            let hint = text!("name one or two of its logs with {From}, such as the newest: {}", newest);
            return Err(Diagnostic::error(problem).about(named.display()).hint(hint).into());
        }
        let of_log = analysis.is_log(&path);
        let run_request = RunRequest {
            scorers: if of_log { &scorers } else { &[] },
            split: request.by.as_deref().filter(|_| !of_log),
            // Whether the same id is the same sample; a table may have two runs.
            questions: !spread.unpaired
                && !request.trust_ids
                && (request.from.len() > 1 || request.by.is_some()),
            repeated_hint: Some(&repeated),
            ..RunRequest::new(&changes, &tables, &request.read)
        };
        let reader = Reader::new(analysis, &run_request, &path);
        for mut run in reader.runs(diagnostics)? {
            let checked = run.check_cells(Plan::new(), request.tables.unconvertible, analysis.registry);
            checked.map_err(|problem| problem.about(path.display()))?;
            runs.push(run);
        }
    }
    Ok(runs)
}

/// Two runs that are paired are of the same task and the same samples, as sides that are compared.
fn check_samples(
    base: &Run,
    other: &Run,
    request: &PilotRequest,
    diagnostics: &mut Diagnostics,
) -> Result<(), Diagnostic> {
    let task = |run: &Run| run.identity.task.as_deref().map(|task| short_task(task).to_owned());
    if let (Some(of_base), Some(of_other), false) = (task(base), task(other), request.ignore_tasks)
        && of_base != of_other
    {
        let problem = format!(
            "the runs are of different tasks: {} is of `{of_base}`, {} is of `{of_other}`",
            base.title(),
            other.title()
        );
        let hint = text!(
            "give runs of the same task; if the tasks have the same samples, add {IgnoreTasks}; \
             {Unpaired} plans for different samples"
        );
        return Err(Diagnostic::error(problem).about_option(Opt::From).hint(hint));
    }
    if request.trust_ids {
        return Ok(());
    }
    let (base_name, other_name) = (base.title(), other.title());
    let other = MatchedRun::new(&other_name, other);
    MatchedRun::new(&base_name, base).check_questions(&other, diagnostics)
}

/// What runs are called: their models, which are shorter than the names of logs, if those tell them apart.
fn labels(runs: &[Run]) -> Vec<String> {
    let models: Vec<String> = runs.iter().filter_map(|run| run.identity.model.clone()).collect();
    let are_distinct = models.len() == runs.len() && models.first() != models.get(1);
    if are_distinct { models } else { runs.iter().map(Run::title).collect() }
}

/// Refuses what runs have and options give, too.
fn check_runs(request: &PilotRequest, spread: &SpreadRequest) -> Result<(), Diagnostic> {
    let given = [
        (Opt::Sd, spread.sd.is_some()),
        (Opt::SdWithin, spread.sd_within.is_some()),
        (Opt::Share, spread.share.is_some()),
        (Opt::P10, spread.p10.is_some()),
        (Opt::P01, spread.p01.is_some()),
    ];
    if let Some((option, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
        let problem = text!("{} and {From} both give how scores vary", option);
        return Err(Diagnostic::error(problem).hint(text!("omit {} or {From}", option)));
    }
    if spread.design_effect.is_some() && !request.clusters.is_empty() {
        let problem = text!("{DesignEffect} and {Cluster} both give what clusters do");
        return Err(Diagnostic::error(problem).hint(text!("omit {DesignEffect} or {Cluster}")));
    }
    Ok(())
}

/// The scorer to take: the named one, or the only one.
fn scorer(run: &Run, named: Option<&str>) -> Result<String, Diagnostic> {
    let scorers: Vec<String> = run.scores.scorer_names().map(str::to_owned).collect();
    match (named, scorers.as_slice()) {
        (Some(name), _) if scorers.iter().any(|scorer| scorer == name) => Ok(name.to_owned()),
        (Some(name), _) => Err(unknown_scorer(name, &scorers).about(run.title())),
        (None, [only]) => Ok(only.clone()),
        (None, []) => Err(Diagnostic::error("there is no score").about(run.title())),
        (None, several) => {
            let problem = format!("there are scores by {}", several.join(", "));
            let first = several.first().map_or("", String::as_str);
            let hint = text!("choose one with {Scorer}, such as {}", Opt::Scorer.set(first));
            Err(Diagnostic::error(problem).about(run.title()).hint(hint))
        }
    }
}

/// What is wrong with the scores, with the metadata keys that a table has.
fn from_error(error: &PowerError, base: &Run, request: &PilotRequest) -> Diagnostic {
    let PowerError::Scores(error) = error else { return Diagnostic::from(error.clone()) };
    let mut error = error.clone();
    if let Some(table) = base.table() {
        error.name_metadata_keys(table.metadata_keys.iter().map(String::as_str));
    }
    let hint = hints::figure_hint(&error, &request.clusters);
    Diagnostic::error(error.to_string()).hint_if(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Variances of 0.04 between and 0.16 within samples, twice as much by clusters with two epochs: clusters add 0.12.
    #[test]
    fn the_noise_of_epochs_is_not_clustered() {
        let mut design = PlannedDesign::new(PowerDesign::Mean(ScoreSpread::new(0.04, 0.16)), 2);
        design.plan.design_effect = 2.0;
        let effect = |design: &PlannedDesign, epochs: u32| design.plan_of(epochs).design_effect;
        assert_eq!(effect(&design, 16), 2.0);
        (design.has_clusters, design.run_variance) = (true, Some(0.12));
        for (epochs, expected) in [(1, 1.6), (2, 2.0), (16, 3.4)] {
            assert!((effect(&design, epochs) - expected).abs() < 1e-12, "{epochs}");
        }
    }
}
