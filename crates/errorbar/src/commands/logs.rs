//! Eval logs, opened for the commands that recompute their results.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Once;
use std::time::Duration;

use clap::Args;
use errorbar_core::spec::nearest;
use errorbar_core::{MetadataKeys, Plan, Raters, Results, ScoreParts, unique_names};
use errorbar_eval::self_graded;
use errorbar_files::{FileAccess, WrittenFile, write_file};
use errorbar_log::eval::{
    EditedScore, EvalInfo, EvalLog, Header, LogError, LogLimits, LogScores, LogWarning, ReducerConversion,
    ScoreOptions, Status, StoppedEarly, plan_from_header,
};
pub(super) use errorbar_log::eval::{has_log_name, is_log_file as is_log};
use errorbar_log::inspect::recover;
use errorbar_report::html::RunFacts;
use errorbar_report::{PartialRun, Report, StoppedRun};
use jiff::Timestamp;
use serde_json::Value as Json;

use super::Context;
use super::common::parse_bytes;
use super::error_args::ErrorArgs;
use super::specs::PlanOverrides;
use super::{handles, table_scores, unused_clusters};
use crate::diagnostic::{Diagnostic, DiagnosticKind, Diagnostics};
use crate::hints;
use crate::output::ProgressLine;

/// The number of skipped samples that are reported one by one.
const SKIPPED_SHOWN: usize = 10;

/// Checks that the name of a new file ends in none of another format than those that can be written. A name without an
/// extension may hold any of them.
pub(super) fn check_extension(path: &Path, known: &[&str]) -> Result<(), Diagnostic> {
    let Some(found) = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase())
    else {
        return Ok(());
    };
    if known.contains(&found.as_str()) || path.metadata().is_ok_and(|there| !there.is_file()) {
        return Ok(());
    }
    let known: Vec<String> = known.iter().map(|known| format!(".{known}")).collect();
    Err(Diagnostic::error(format!(".{found} is no format that this is written in"))
        .about(path.display())
        .hint(format!("give a name that ends in {}", known.join(", "))))
}

/// Checks that no file is replaced unless `--force` is given. What is no file (`/dev/null`, a pipe) is not replaced.
pub(super) fn check_new(path: &Path, force: bool) -> Result<(), Diagnostic> {
    let error = |text: &str, hint: &str| Err(Diagnostic::error(text).about(path.display()).hint(hint));
    match path.metadata() {
        // Whether it is there or not, it is no name of a file.
        _ if path.as_os_str().as_encoded_bytes().ends_with(b"/") => {
            error("this is the name of a folder", "give the name of a file in it")
        }
        Ok(there) if there.is_dir() => error("this is a folder", "give the name of a file in it"),
        Ok(there) if there.is_file() && !force => error("the file exists already", "replace it with --force"),
        _ => Ok(()),
    }
}

/// Writes a file, which appears when it is whole.
pub(super) fn save(
    path: &Path,
    content: impl AsRef<[u8]>,
    access: FileAccess,
) -> Result<Option<Diagnostic>, Diagnostic> {
    let written = write_file(path, content.as_ref(), access).map_err(|error| {
        Diagnostic::error(format!("cannot write: {error}"))
            .about(path.display())
            .hint("choose a location that you may write to")
    })?;
    Ok(owner_warning(written, path))
}

/// The warning that a file has another owner than the one that it replaces.
pub(super) fn owner_warning(written: WrittenFile, path: &Path) -> Option<Diagnostic> {
    written.has_new_owner.then(|| {
        let text = "written, but with a new owner or group: this user may not give the file to the old one";
        Diagnostic::warning(text).about(path.display()).hint("see who should read and write it (ls -l)")
    })
}

/// How logs are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading logs")]
pub(super) struct ReadArgs {
    /// Check all of a log: all checksums, that local headers of entries agree with the central
    /// directory, and that all of it is JSON. By default that is checked for what is computed with;
    /// messages and events are skipped by their quotes and brackets
    #[arg(long)]
    pub(super) strict: bool,
    #[command(flatten)]
    limits: LimitArgs,
}

/// Limits for logs, which may be hostile.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits for logs")]
pub(crate) struct LimitArgs {
    /// The maximum decompressed size of one entry of a log
    #[arg(long, alias = "max-unpacked", value_name = "SIZE", default_value = "16G", value_parser = parse_bytes)]
    max_decompressed: u64,
    /// Entries of a log that decompress to more than N times their size count as dense; a log may
    /// have 192 MiB of them, decompressed
    #[arg(long, value_name = "N", default_value_t = LogLimits::default().max_ratio)]
    max_ratio: u64,
    /// The maximum size of a header, and of what is read of one sample (scores and metadata)
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = parse_bytes)]
    max_record: u64,
    /// The maximum memory for what is held of a log or a table [default: 256M or four times the size
    /// of the file, whichever is more; for rows of a table a quarter of the memory of the machine, at
    /// least 1G, but 256 times the size of the file at most]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    max_memory: Option<u64>,
}

impl LimitArgs {
    pub(crate) fn limits(&self) -> LogLimits {
        let &LimitArgs { max_decompressed, max_ratio, max_record, max_memory } = self;
        LogLimits { max_decompressed, max_ratio, max_record, max_memory }
    }
}

impl ReadArgs {
    /// Opens a log, and checks all of it with `--strict`.
    pub(super) fn open(&self, path: &Path) -> errorbar_log::eval::Result<EvalLog> {
        let log = EvalLog::open_with(path, self.limits())?;
        if self.strict {
            log.check()?;
        }
        Ok(log)
    }

    /// Opens the log that a path or a handle names.
    pub(super) fn open_named(&self, named: &Path) -> Result<EvalLog, Diagnostics> {
        let path = handles::resolve(named)?;
        if path.is_dir() {
            let hint = format!("name a log in it: {} is the newest", path.join("latest").display());
            let problem = Diagnostic::error("this is a folder, and one log is needed").about(path.display());
            return Err(problem.hint(hint).into());
        }
        Ok(self.open(&path)?)
    }

    pub(super) fn limits(&self) -> LogLimits {
        self.limits.limits()
    }
}

/// A line on a terminal that shows the progress of reading.
pub(super) struct ReadProgress {
    bar: ProgressLine,
    /// Tables have no samples to count: the line is shown from the first log on.
    first_log: Once,
}

impl ReadProgress {
    pub(super) fn new(quiet: bool) -> Self {
        let bar = match quiet {
            true => ProgressLine::hidden(),
            false => ProgressLine::new(0, "{bar:30} {pos}/{len} samples read"),
        };
        ReadProgress { bar, first_log: Once::new() }
    }

    /// More samples are to be read.
    fn expect(&self, samples: usize) {
        self.bar.add_length(samples as u64);
        if !self.bar.is_hidden() {
            self.first_log.call_once(|| self.bar.tick_every(Duration::from_millis(100)));
        }
    }
}

impl Drop for ReadProgress {
    fn drop(&mut self) {
        self.bar.clear();
    }
}

/// What to read of a log, besides what its plan needs.
#[derive(Default)]
pub(super) struct ScoreRequest<'a> {
    /// Only these scorers; all if empty.
    pub(super) scorers: &'a [String],
    pub(super) skip_bad_samples: bool,
    /// Whether reduced scores are to be recorded, which have all parts of a score.
    pub(super) records_scores: bool,
    pub(super) edited: Option<&'a EditedScore>,
    /// Whether all metadata of a small log is read, for hints.
    pub(super) reads_metadata: bool,
    /// Keys of metadata to read, besides those that the plan needs.
    pub(super) keys: &'a [String],
    /// Whether the metadata of scores is read, though the plan does not need it.
    pub(super) score_metadata: bool,
    /// Whether digests of what samples ask are read.
    pub(super) digests: bool,
    /// Whether the numbers of choices are read.
    pub(super) choices: bool,
}

/// A log, ready to be evaluated.
pub(super) struct OpenedLog<'a> {
    pub(super) log: &'a EvalLog,
    pub(super) header: Header,
    pub(super) plan: Plan,
    pub(super) scores: LogScores,
    /// What of the recorded plan cannot be built.
    pub(super) left_out: Vec<LogWarning>,
}

impl OpenedLog<'_> {
    /// The status of the run, if it did not reach its end.
    pub(super) fn partial_run(&self) -> Option<PartialRun> {
        partial_run(&self.header)
    }

    /// The results with what the log records of its run.
    pub(super) fn report(self, results: Results) -> Report {
        report(self.log.path(), &self.header, (self.scores.skipped.len(), self.scores.limits), results)
    }

    /// The metrics of the log are replaced, so it does not matter if they cannot be built.
    pub(super) fn replace_metrics(&mut self, overrides: &PlanOverrides) {
        if overrides.metrics.is_some() {
            self.left_out.retain(|warning| {
                matches!(
                    warning,
                    LogWarning::ErrorPlan { .. }
                        | LogWarning::EarlyStop { .. }
                        | LogWarning::ReducerConversion { .. }
                )
            });
        }
    }

    /// Checks that nothing of what the log records would be lost if these results replaced its own.
    pub(super) fn check_writable(&self, results: &Results, hint: &str) -> Result<(), Diagnostic> {
        let why = if !self.left_out.is_empty() {
            "not all that the log records can be computed, and it would be lost"
        } else if results.scores.iter().any(|block| !block.failures.is_empty()) {
            "a metric failed"
        } else {
            return Ok(());
        };
        let problem = Diagnostic::error(format!("nothing was written: {why}"));
        Err(problem.about(self.log.path().display()).hint(hint))
    }

    /// What people should know about the log before they read its figures.
    /// Whether the log records figures.
    pub(super) fn has_figures(&self) -> bool {
        self.header.results.as_ref().is_some_and(|results| !results.scores.is_empty())
    }

    pub(super) fn warnings(&self) -> Diagnostics {
        let of_log = |text: String| Diagnostic::warning(text).about(self.log.path().display());
        let left_out = self
            .left_out
            .iter()
            .map(|warning| of_log(warning.to_string()).hint_if(hints::log::warning_hint(warning)));
        let ratings = self.plan.beyond_threshold(&self.scores.columns).map(|(reducer, highest)| {
            table_scores::beyond_threshold_problem(reducer.as_ref(), highest, Diagnostic::warning)
                .about(self.log.path().display())
        });
        let below = table_scores::below_threshold_problem(&self.plan, &self.scores.columns);
        let ratings = ratings.or_else(|| below.map(|problem| problem.about(self.log.path().display())));
        let recovered = self.log.was_recovered().then(|| recovered(self.log.path()));
        let skipped = &self.scores.skipped;
        let count = (!skipped.is_empty()).then(|| {
            let (skipped, all) = (skipped.len(), self.log.sample_count());
            of_log(format!("{skipped} of {all} samples could not be read and were skipped"))
        });
        let of_sample = |error: &LogError| Diagnostic::warning(format!("{error} (skipped)"));
        let samples = skipped.iter().take(SKIPPED_SHOWN).map(of_sample);
        left_out.chain(ratings).chain(recovered).chain(samples).chain(count).collect()
    }
}

/// Results with what a log records of its run; the number of samples that could not be read, and those that reached limits.
pub(super) fn report(
    path: &Path,
    header: &Header,
    (skipped, limits): (usize, BTreeMap<String, usize>),
    results: Results,
) -> Report {
    let EvalInfo { task, model, .. } = &header.eval;
    let mut report = Report::new(path.display().to_string(), results).of_run(task, model);
    report.partial_run = partial_run(header);
    report.early_stop = early_stop(&header.eval);
    report.self_graded = self_graded(&header.eval);
    (report.skipped, report.limits) = (skipped, limits);
    report
}

/// The status of a run, if it did not reach its end.
pub(super) fn partial_run(header: &Header) -> Option<PartialRun> {
    let eval = &header.eval;
    let samples = eval.dataset.sample_ids.as_ref().map(Vec::len);
    let planned = samples.map(|samples| samples * eval.config.epochs.unwrap_or(1) as usize);
    status_of_unfinished(header.status).map(|status| PartialRun { status: status.to_owned(), planned })
}

/// The figures that a log without samples records, only of these scorers if there are any; options that would compute
/// other figures are refused. A log without figures cannot be used.
pub(super) fn recorded_figures(
    log: &EvalLog,
    scorers: &[String],
    overrides: &PlanOverrides,
    errors: &ErrorArgs,
) -> Result<(Header, Results), Diagnostic> {
    let about = |problem: Diagnostic| problem.of_kind(DiagnosticKind::Log).about(log.path().display());
    let header = log.header()?;
    let Some(recorded) = header.results.as_ref().filter(|recorded| !recorded.scores.is_empty()) else {
        let problem = "nothing could be scored: the log has neither samples nor results";
        return Err(about(Diagnostic::failure(problem)));
    };
    if overrides.metrics.is_some() || overrides.reducers.is_some() || errors.is_given() {
        let problem = "the log has no samples: there are its recorded figures, and no others";
        let hint = "leave out --metric, --reducer and the options for errors and intervals";
        return Err(about(Diagnostic::error(problem).hint(hint)));
    }
    let mut results = recover(recorded);
    let known: Vec<String> = results.scores.iter().map(|score| score.scorer.clone()).collect();
    if let Some(name) = scorers.iter().find(|name| !known.contains(name)) {
        return Err(unknown_scorer(name, &known).about(log.path().display()));
    }
    results.scores.retain(|score| scorers.is_empty() || scorers.contains(&score.scorer));
    Ok((header, results))
}

/// What a header records besides results.
pub(super) fn run_facts(path: &Path, header: &Header) -> RunFacts {
    let Header { eval, stats, .. } = header;
    let mut facts = RunFacts::default();
    facts.file = path.display().to_string();
    facts.created = Some(eval.created.clone()).filter(|created| !created.is_empty());
    facts.version = eval.packages.first().map(|(name, version)| format!("{name} {version}"));
    facts.task_version = match &eval.task_version {
        Json::Null => None,
        Json::String(version) => Some(version.clone()),
        version => Some(version.to_string()),
    };
    facts.status = status_of_unfinished(header.status).or(Some("success")).map(str::to_owned);
    facts.error = header.error.as_ref().map(|error| error.message.clone());
    let used = || stats.model_usage.values();
    let tokens = used().map(|usage| usage.total_tokens).fold(0, u64::saturating_add);
    facts.tokens = (tokens > 0).then_some(tokens);
    facts.cost = used().filter_map(|usage| usage.total_cost).reduce(|all, cost| all + cost);
    let time = |text: &str| text.parse::<Timestamp>().ok();
    let took = time(&stats.started_at).zip(time(&stats.completed_at));
    facts.seconds = took.map(|(start, end)| end.duration_since(start).as_secs_f64());
    facts
}

/// The rule that stopped a run early; a record that is not valid is among the warnings.
pub(super) fn early_stop(eval: &EvalInfo) -> Option<StoppedRun> {
    let StoppedEarly { rule, reason, samples, planned, .. } = StoppedEarly::recorded(eval).ok().flatten()?;
    Some(StoppedRun { rule, reason, samples, planned })
}

/// The warning that a log was read without its directory, which is written last.
pub(super) fn recovered(log: &Path) -> Diagnostic {
    Diagnostic::warning("the run is in progress or was interrupted; these are the samples that it has saved")
        .about(log.display())
}

/// The status of a run, unless it reached its end.
pub(super) fn status_of_unfinished(status: Status) -> Option<&'static str> {
    match status {
        Status::Success => None,
        Status::Cancelled => Some("cancelled"),
        Status::Error => Some("error"),
        Status::Started => Some("started"),
    }
}

/// Reads the scores of a log for the plan that it records, as `change` leaves it; only what that plan needs is read.
pub(super) fn read<'a>(
    log: &'a EvalLog,
    request: &ScoreRequest<'_>,
    progress: &ReadProgress,
    context: &Context<'_>,
    change: impl FnOnce(Plan) -> Plan,
) -> Result<OpenedLog<'a>, Diagnostics> {
    let header = log.header()?;
    let (plan, mut left_out) =
        plan_from_header(&header, context.registry).map_err(|error| error.at(log.path()))?;
    let mut plan = only(change(plan), request.scorers);
    let parts = match (request.records_scores, request.score_metadata) {
        (true, _) => ScoreParts::All,
        (false, true) => plan.score_parts().max(ScoreParts::Metadata),
        (false, false) => plan.score_parts(),
    };
    let raters = plan.raters();
    let keys = plan.metadata_keys().and(MetadataKeys::Only(request.keys.to_vec()));
    // If hints make it fail, there are none; and no sample is skipped for them.
    let reads_metadata = request.reads_metadata && !request.skip_bad_samples;
    let with_metadata = reads_metadata.then(|| {
        let keys = unused_clusters::keys_of_log(log.path(), &plan);
        let keys = keys.and(MetadataKeys::Only(request.keys.to_vec()));
        read_scores(log, &header, keys, parts, request, &raters, progress).ok()
    });
    let scores = match with_metadata.flatten() {
        Some(scores) => scores,
        None => read_scores(log, &header, keys, parts, request, &raters, progress)?,
    };
    let conversions = ReducerConversion::find(log, &header, &plan, &scores.columns)?;
    left_out.extend(ReducerConversion::undefine(conversions, &header, &mut plan, &scores.columns));
    Ok(OpenedLog { log, header, plan, scores, left_out })
}

/// Reads the scores of a log with this metadata of its samples; beside the requested scorers those that metrics compare
/// them with.
pub(super) fn read_scores(
    log: &EvalLog,
    header: &Header,
    keys: MetadataKeys,
    parts: ScoreParts,
    request: &ScoreRequest<'_>,
    raters: &Raters,
    progress: &ReadProgress,
) -> Result<LogScores, Diagnostics> {
    let bar = &progress.bar;
    progress.expect(log.sample_count());
    let tick = |_| bar.step();
    let mut scorers = request.scorers.to_vec();
    if !scorers.is_empty() {
        scorers.extend(raters.scorers().map(str::to_owned));
    }
    let mut options = ScoreOptions::new(keys)
        .score_parts(parts)
        .skip_bad_samples(request.skip_bad_samples)
        .digests(request.digests)
        .choices(request.choices)
        .only_scorers(&scorers);
    if !bar.is_hidden() {
        options = options.progress(&tick);
    }
    if let Some(edited) = request.edited {
        options = options.edited(edited);
    }
    let scores = log.scores(header, &options)?;
    if let Some(name) = request.scorers.iter().find(|name| !scores.scorers.contains(name)) {
        return Err(unknown_scorer(name, &scores.scorers).about(log.path().display()).into());
    }
    Ok(scores)
}

/// The plan for only these scorers, each by the name that it has in results.
fn only(mut plan: Plan, scorers: &[String]) -> Plan {
    if !scorers.is_empty() {
        let names = unique_names(plan.scorers.iter().map(|scorer| scorer.name.as_str()));
        for (scorer, name) in plan.scorers.iter_mut().zip(names) {
            scorer.name = name;
        }
        plan.scorers.retain(|scorer| scorers.contains(&scorer.name));
        plan.only = scorers.to_vec();
    }
    plan
}

/// The error of a scorer that does not exist.
pub(super) fn unknown_scorer(name: &str, known: &[String]) -> Diagnostic {
    let hint = match nearest(name, known.iter().map(String::as_str)) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("the scorers are {}", known.join(", ")),
    };
    Diagnostic::error(format!("there is no scorer `{name}`")).hint(hint)
}
