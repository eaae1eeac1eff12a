//! Eval logs, read into runs.

use std::path::Path;
use std::sync::Arc;

use errorbar_core::spec::nearest;
use errorbar_core::{
    MetadataKeys, Plan, Raters, Reducers, Registry, Results, ScoreColumns, ScoreParts, UnusedCluster,
};
use errorbar_log::eval::{
    EvalInfo, EvalLog, Header, LogError, LogScores, ReducerConversion, SampleFields, ScoreOptions, Status,
    StoppedEarly, plan_from_header, self_graded,
};
use errorbar_table::ScoreTable;

use super::cells::choose_metrics;
use super::{CONFIDENCE, RunRequest, cells};
use crate::diagnostic::{Diagnostic, DiagnosticKind, Diagnostics};
use crate::run::{Identity, LogSource, Provenance, Run, only_scorers};
use crate::run::{PartialRun, Report, StoppedRun};
use crate::text::{Opt, significant};
use crate::{Analysis, hints, text};

/// The number of skipped samples that are reported one by one.
const SKIPPED_SHOWN: usize = 10;

/// Reads the scores of a log for the plan that it records, with what is asked for; only what that plan needs is read.
///
/// # Errors
/// A log that cannot be read, and scorers that it does not have.
pub fn read_log(
    log: Arc<EvalLog>,
    request: &RunRequest<'_>,
    analysis: &Analysis<'_>,
) -> Result<Run, Diagnostics> {
    read_log_with(log, request, false, analysis)
}

/// The same, with all metadata of a small log, for hints.
pub(super) fn read_log_with(
    log: Arc<EvalLog>,
    request: &RunRequest<'_>,
    has_hints: bool,
    analysis: &Analysis<'_>,
) -> Result<Run, Diagnostics> {
    let changes = request.changes;
    let header = log.header()?;
    let (plan, mut left_out) =
        plan_from_header(&header, analysis.registry).map_err(|error| error.at(log.path()))?;
    let mut plan = only_scorers(changes.apply(plan), request.scorers_read());
    if changes.metrics.is_some() {
        // The metrics of the log are replaced, so it does not matter if they cannot be built.
        left_out.retain(|warning| warning.is_of_errors());
    }
    let parts = match request.all_parts {
        true => ScoreParts::All,
        false if request.confidence && has_scored_confidence(&log) => {
            plan.score_parts().max(ScoreParts::Metadata)
        }
        false => plan.score_parts(),
    };
    let raters = plan.raters();
    let more_keys = MetadataKeys::Only(request.keys(request.split));
    let keys = plan.metadata_keys().and(more_keys.clone());
    // If hints make it fail, there are none; and no sample is skipped for them.
    let with_metadata = (has_hints && !request.skip_bad_samples).then(|| {
        let keys = keys_of_log(log.path(), &plan).and(more_keys);
        read_log_scores(&log, &header, keys, parts, request, &raters, analysis).ok()
    });
    let scores = match with_metadata.flatten() {
        Some(scores) => scores,
        None => read_log_scores(&log, &header, keys, parts, request, &raters, analysis)?,
    };
    let LogScores { columns, skipped, limits, digests, choice_counts, .. } = scores;
    let conversions = ReducerConversion::find(&log, &header, &plan, &columns)?;
    left_out.extend(ReducerConversion::undefine(conversions, &header, &mut plan, &columns));
    let recorded = match columns.is_empty() && request.takes_recorded {
        true => Some(recorded_figures(&log, &header, request)?),
        false => None,
    };
    if recorded.is_some() {
        // What cannot be computed is no matter for figures that are recorded.
        left_out.clear();
    }
    let EvalInfo { task, model, eval_id, .. } = &header.eval;
    Ok(Run {
        identity: Identity {
            path: log.path().to_owned(),
            argument: log.path().display().to_string(),
            part: None,
            scorer: None,
            task: Some(task.clone()),
            model: Some(model.clone()),
            id: Some(eval_id.clone()).filter(|run| !run.is_empty()),
        },
        scores: columns,
        plan,
        provenance: Provenance::Log(Arc::new(LogSource {
            log,
            header,
            left_out,
            skipped,
            limits,
            digests,
            choice_counts,
            recorded,
        })),
    })
}

/// Reads the scores of a log with this metadata of its samples; beside the requested scorers those that metrics compare
/// them with.
///
/// # Errors
/// Samples that cannot be read, and scorers that the log does not have.
pub(crate) fn read_log_scores(
    log: &EvalLog,
    header: &Header,
    keys: MetadataKeys,
    parts: ScoreParts,
    request: &RunRequest<'_>,
    raters: &Raters,
    analysis: &Analysis<'_>,
) -> Result<LogScores, Diagnostics> {
    let progress = analysis.progress;
    progress.expect(log.sample_count());
    let tick = |_| progress.step();
    let mut scorers = request.scorers_read().to_vec();
    if !scorers.is_empty() {
        scorers.extend(raters.scorers().map(str::to_owned));
    }
    let mut options = ScoreOptions::new(keys)
        .score_parts(parts)
        .skip_bad_samples(request.skip_bad_samples)
        .digests(request.questions && request.split.is_none())
        .choices(request.choices)
        .only_scorers(&scorers);
    if progress.is_shown() {
        options = options.progress(&tick);
    }
    if let Some(edited) = request.edited {
        options = options.edited(edited);
    }
    let scores = log.scores(header, &options)?;
    if let Some(name) = request.scorers_read().iter().find(|name| !scores.scorers.contains(name)) {
        return Err(unknown_scorer(name, &scores.scorers).about(log.path().display()).into());
    }
    Ok(scores)
}

/// The error of a log without samples, where they are needed.
pub(super) fn no_samples(log: &EvalLog, header: &Header, takes_nothing: bool) -> Diagnostic {
    let has_figures = header.results.as_ref().is_some_and(|results| !results.scores.is_empty());
    let problem = match has_figures {
        true => Diagnostic::error("the log has no samples").hint(
            "`score`, `report` and `compare` show its recorded figures; what has to be computed from samples, such as \
             plots, parts and groups, cannot be",
        ),
        false if takes_nothing => {
            Diagnostic::failure("nothing could be scored: the log has neither samples nor results")
        }
        false => Diagnostic::error("the log has no samples").hint("it has no results, either"),
    };
    problem.of_kind(DiagnosticKind::Log).about(log.path().display())
}

/// The figures that a log without samples records, only of these scorers if there are any.
///
/// # Errors
/// A log without figures, and options that would compute other ones.
fn recorded_figures(log: &EvalLog, header: &Header, request: &RunRequest<'_>) -> Result<Results, Diagnostic> {
    let (scorers, changes) = (request.scorers_read(), request.changes);
    let about = |problem: Diagnostic| problem.about(log.path().display());
    let recorded = header.recorded_figures();
    let mut results = recorded.ok_or_else(|| no_samples(log, header, request.takes_nothing))?;
    if changes.metrics.is_some() || changes.reducers.is_some() || changes.errors.is_given() {
        let problem = "the log has no samples: there are its recorded figures, and no others";
        let hint = text!("leave out {Metric}, {Reducer} and the options for errors and intervals");
        return Err(about(Diagnostic::error(problem).of_kind(DiagnosticKind::Log).hint(hint)));
    }
    let known: Vec<String> = results.scores.iter().map(|score| score.scorer.clone()).collect();
    if let Some(name) = scorers.iter().find(|name| !known.contains(name)) {
        return Err(about(unknown_scorer(name, &known)));
    }
    results.scores.retain(|score| scorers.is_empty() || scorers.contains(&score.scorer));
    Ok(results)
}

impl Run {
    /// What people should know about a log before they read its figures.
    pub fn warnings(&self) -> Diagnostics {
        let Some(source) = self.log() else { return Diagnostics::default() };
        let path = source.log.path();
        let of_log = |text: String| Diagnostic::warning(text).about(path.display());
        let left_out = source
            .left_out
            .iter()
            .map(|warning| of_log(warning.to_string()).hint_if(hints::warning_hint(warning)));
        let ratings = self.plan.beyond_threshold(&self.scores).map(|(reducer, highest)| {
            cells::beyond_threshold_problem(reducer.as_ref(), highest, Diagnostic::warning)
                .about(path.display())
        });
        let below = cells::below_threshold_problem(&self.plan, &self.scores);
        let ratings = ratings.or_else(|| below.map(|problem| problem.about(path.display())));
        let recovered = source.log.was_recovered().then(|| recovered(path));
        let skipped = &source.skipped;
        let count = (!skipped.is_empty()).then(|| {
            let (skipped, all) = (skipped.len(), source.log.sample_count());
            of_log(format!("{skipped} of {all} samples could not be read and were skipped"))
        });
        let of_sample = |error: &LogError| Diagnostic::warning(format!("{error} (skipped)"));
        let samples = skipped.iter().take(SKIPPED_SHOWN).map(of_sample);
        left_out.chain(ratings).chain(recovered).chain(samples).chain(count).collect()
    }
}

/// The warning that a log was read without its directory, which is written last.
pub fn recovered(log: &Path) -> Diagnostic {
    Diagnostic::warning("the run is in progress or was interrupted; these are the samples that it has saved")
        .about(log.display())
}

impl Run {
    /// Its results, with what is known of it.
    pub fn report(&self, results: Results) -> Report {
        let mut report = match &self.provenance {
            Provenance::Log(source) => report_of_log(source, results),
            _ => Report::new(self.title(), results),
        };
        report.rows = self.table().map(|table| table.rows);
        report.task.clone_from(&self.identity.task);
        report.model.clone_from(&self.identity.model);
        report
    }
}

/// Results with what a log records of its run.
fn report_of_log(source: &LogSource, results: Results) -> Report {
    let LogSource { log, header, skipped, limits, recorded, .. } = source;
    Report {
        skipped: skipped.len(),
        limits: limits.clone(),
        recorded: recorded.is_some(),
        ..report_of_run(log.path().display().to_string(), header, results)
    }
}

/// Results with what the header of a log records of its run.
pub fn report_of_run(log: impl Into<String>, header: &Header, results: Results) -> Report {
    let eval = &header.eval;
    Report {
        partial_run: partial_run(header),
        early_stop: early_stop(eval),
        self_graded: self_graded(eval),
        ..Report::new(log, results).of_run(&eval.task, &eval.model)
    }
}

/// The status of a run, if it did not reach its end.
pub fn partial_run(header: &Header) -> Option<PartialRun> {
    let eval = &header.eval;
    let samples = eval.dataset.sample_ids.as_ref().map(Vec::len);
    let planned = samples.map(|samples| samples * eval.config.epochs.unwrap_or(1) as usize);
    status_of_unfinished(header.status).map(|status| PartialRun { status: status.to_owned(), planned })
}

/// The rule that stopped a run early; a record that is not valid is among the warnings.
fn early_stop(eval: &EvalInfo) -> Option<StoppedRun> {
    let StoppedEarly { rule, reason, samples, planned, .. } = StoppedEarly::recorded(eval).ok().flatten()?;
    Some(StoppedRun { rule, reason, samples, planned })
}

/// The status of a run, unless it reached its end.
pub fn status_of_unfinished(status: Status) -> Option<&'static str> {
    match status {
        Status::Success => None,
        Status::Cancelled => Some("cancelled"),
        Status::Error => Some("error"),
        Status::Started => Some("started"),
    }
}

/// The error of a scorer that does not exist.
pub fn unknown_scorer(name: &str, known: &[String]) -> Diagnostic {
    let hint = match nearest(name, known.iter().map(String::as_str)) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("the scorers are {}", known.join(", ")),
    };
    Diagnostic::error(format!("there is no scorer `{name}`")).hint(hint)
}

/// Whether scores of a log have a confidence in their metadata: its first samples are looked at.
pub fn has_scored_confidence(log: &EvalLog) -> bool {
    const LOOKED_AT: usize = 20;
    let fields = SampleFields::scores(MetadataKeys::NONE).score_parts(ScoreParts::Metadata);
    let Ok(samples) = log.samples_with(fields) else { return false };
    let has = |score: &errorbar_core::Score| {
        score.metadata.as_ref().is_some_and(|metadata| metadata.contains_key(CONFIDENCE))
    };
    samples.take(LOOKED_AT).flatten().any(|sample| sample.scores.values().any(has))
}

/// The largest table whose other columns are read: some 40,000 rows, which took 30 to 70 ms.
const MAX_TABLE: u64 = 2 << 20;
/// The largest log whose metadata is read. It has transcripts too, which take longer.
const MAX_LOG: u64 = 32 << 20;
/// The largest log of a run that is read once more.
const MAX_RUN: u64 = 8 << 20;

/// Whether a table is so small that all of its columns may be read, if they are to be looked through.
pub(super) fn is_small_table(path: &Path) -> bool {
    is_small(path, MAX_TABLE)
}

/// Whether a file is so small that all of its metadata may be read.
fn is_small(path: &Path, most: u64) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.len() <= most)
}

/// The metadata to read of a log: all, if it is to be looked through.
fn keys_of_log(path: &Path, plan: &Plan) -> MetadataKeys {
    if is_small(path, MAX_LOG) { MetadataKeys::All } else { plan.metadata_keys() }
}

/// What is to be known about the metadata of a log that a run has just written: it is read once more.
pub fn of_run(path: &Path, registry: &Registry) -> Option<Diagnostic> {
    let log = is_small(path, MAX_RUN).then(|| EvalLog::open(path).ok()).flatten()?;
    let header = log.header().ok()?;
    let (plan, _) = plan_from_header(&header, registry).ok()?;
    let options = ScoreOptions::new(MetadataKeys::All).score_parts(plan.score_parts());
    let scores = log.scores(&header, &options).ok()?;
    of_columns(&plan, &scores.columns, path)
}

/// What is to be known about the metadata of a table, all of which was read. Only what was asked for is kept.
pub(super) fn of_tables(
    tables: &mut [ScoreTable],
    path: &Path,
    plan: &Plan,
    asked: &MetadataKeys,
) -> Option<Diagnostic> {
    let found = tables.iter().find_map(|table| {
        let mut plan = plan.clone();
        choose_metrics(&mut plan, &table.columns);
        of_columns(&plan, &table.columns, path)
    });
    tables.iter_mut().for_each(|table| table.columns.keep_metadata(asked));
    found
}

/// What a reader of the results should know about a key that nothing is clustered by.
pub(super) fn of_columns(plan: &Plan, columns: &ScoreColumns, path: &Path) -> Option<Diagnostic> {
    let found = plan.unused_cluster(columns)?;
    let UnusedCluster { key, clusters, design_effect, stderr, clustered_stderr, p_value, .. } = &found;
    let [without, with] = [stderr, clustered_stderr].map(|error| significant(*error, 2));
    let figure = figure(&found, plan, columns);
    let text = format!(
        "samples with the same `{key}` score alike: {figure} has the error {without}, and {with} with clusters"
    );
    let chance = match *p_value {
        p if p < 0.01 => String::new(),
        p => format!(", by chance in {:.0} % of cases", (p * 100.0).max(1.0)),
    };
    let effect = format!("{clusters} values, design effect {design_effect:.1}{chance}");
    let hint = text!("if they belong together, add {} ({})", Opt::Cluster.set(key), effect);
    Some(Diagnostic::note(text).about(path.display()).hint(hint))
}

/// The figure, with its scorer and its reducer where there are several.
fn figure(found: &UnusedCluster, plan: &Plan, columns: &ScoreColumns) -> String {
    let scorer = (columns.scorer_names().count() > 1).then_some(found.scorer.as_str());
    let reducer = match &plan.reducers {
        Reducers::Explicit(reducers) if reducers.len() > 1 => found.reducer.as_deref(),
        _ => None,
    };
    match [scorer, reducer].into_iter().flatten().collect::<Vec<_>>().join(", ") {
        of if of.is_empty() => found.metric.clone(),
        of => format!("{} ({of})", found.metric),
    }
}
