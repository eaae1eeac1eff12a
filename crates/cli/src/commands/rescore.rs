//! `errorbar score LOG --with SCORER`: the outputs that logs hold, scored again.
//!
//! The logs come one after the other, each with all its samples at once. A log is written when all its samples are
//! scored and its results are computed, or not at all.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use errorbar_analysis::{InputFiles, Opt, PlanChanges, report_of_run, too_few_epochs, with_findings};
use errorbar_eval::{
    AnyScorer, CancelToken, Rescore, RescoredLog, RunOptions, Usage, block_on, cancel_on_interrupt,
};
use errorbar_log::eval::{LogLock, ScoreAction, is_log_file};
use errorbar_report::{Report, clean};
use indicatif::ProgressBar;

use super::eval::{call_notes, usage_note};
use super::requirements::Requirements;
use super::score::{ScoreArgs, shown};
use super::{CommandResult, Context};
use crate::diagnostic::{Diagnostic, Diagnostics, Print};
use crate::output::progress_line;
use crate::progress::Watcher;
use errorbar_analysis::check_clusters;
use errorbar_analysis::hints;

/// How often progress is reported if standard error is not a terminal.
const PROGRESS_EVERY: Duration = Duration::from_secs(10);

/// How long to wait for a process that changes the log.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

pub(super) fn run(
    args: &ScoreArgs,
    overrides: &PlanChanges,
    requirements: &Requirements<'_>,
    mut input: InputFiles,
    context: &Context<'_>,
) -> CommandResult {
    let registry = context.registry.importing();
    let analysis = context.analysis(&());
    let scorers = analysis.specs().build(Opt::With, &args.with, |text| registry.build(&text.parse()?))?;
    let watcher = Arc::new(Watcher::new(context.quiet, PROGRESS_EVERY));
    let mut options = RunOptions::default();
    args.graders.apply(&mut options, &watcher)?;
    let cancel = CancelToken::new();
    let quiet = context.quiet;
    cancel_on_interrupt(cancel.clone(), move || {
        Diagnostic::note("cancelled; nothing is written (again to end at once)").print(quiet);
    });

    // A log that could not be locked or written is no log to skip.
    if args.write {
        input = input.all_named();
    }
    input.diagnostics.extend(options.roles.iter().filter_map(|(role, _)| unused_role(role, &scorers)));
    let job = Job { args, overrides, scorers: &scorers, options: &options, cancel: &cancel, context };
    let mut results = Vec::new();
    for path in &input.files {
        let mut notes = Diagnostics::default();
        results.push((job.score(path, &mut notes), notes));
        if cancel.is_stopped() {
            break;
        }
    }
    let (reports, mut diagnostics) = input.combine(results);
    diagnostics.extend(call_notes(&options.calls.counts()));
    let mut diagnostics = with_findings(&reports, diagnostics, overrides, &args.request.tables);
    diagnostics.extend(requirements.check("score", &reports));
    Ok(shown(reports, diagnostics, args))
}

/// A model in a role that no scorer asks for.
fn unused_role(role: &str, scorers: &[AnyScorer]) -> Option<Diagnostic> {
    let is_used = scorers.iter().any(|scorer| scorer.roles().iter().any(|asked| asked == role));
    (!is_used).then(|| Diagnostic::warning(format!("no scorer asks for a model in the role `{role}`")))
}

/// What is the same for all logs.
struct Job<'a> {
    args: &'a ScoreArgs,
    overrides: &'a PlanChanges,
    scorers: &'a [AnyScorer],
    options: &'a RunOptions,
    cancel: &'a CancelToken,
    context: &'a Context<'a>,
}

impl Job<'_> {
    /// Scores one log, and writes it if that is requested.
    fn score(&self, path: &Path, notes: &mut Diagnostics) -> Result<Report, Diagnostics> {
        let about = |diagnostic: Diagnostic| diagnostic.about(path.display());
        let Job { args, overrides, context, .. } = *self;
        if !is_log_file(path) {
            let problem = "--with scores the outputs of a log, and a table holds none";
            return Err(about(Diagnostic::error(problem).hint("give an eval log (.eval, .json)")).into());
        }
        // Scoring may take long, and another process must not change the log meanwhile.
        let lock = match args.write {
            true => Some(LogLock::wait(path, LOCK_TIMEOUT)?),
            false => None,
        };
        let log = args.request.read.open(path)?;
        if log.was_recovered() {
            notes.push(errorbar_analysis::recovered(path));
        }
        let mut rescore = Rescore::new();
        for scorer in self.scorers {
            rescore = rescore.scorer(scorer.clone());
        }
        if args.append {
            rescore = rescore.action(ScoreAction::Append);
        } else if args.overwrite {
            rescore = rescore.action(ScoreAction::Overwrite);
        }
        let mut prepared = rescore.prepare(log, self.options, context.registry)?;
        prepared.plan = overrides.apply(prepared.plan);
        if overrides.metrics.is_some() {
            // The metrics of the log are replaced, so it does not matter if they cannot be built.
            prepared.warnings.retain(|warning| warning.is_of_errors());
        }
        check_clusters(&prepared.plan).map_err(about)?;
        notes.extend(prepared.warnings.iter().map(|warning| {
            about(Diagnostic::warning(warning.to_string()).hint_if(hints::warning_hint(warning)))
        }));
        let left_out = !prepared.warnings.is_empty();

        let progress = Arc::new(ScoringProgress::new(path, prepared.total(), context.quiet));
        let watch = Arc::clone(&progress);
        let run = prepared.run(Arc::new(move |done| watch.show(done)), self.cancel.clone());
        let scored = block_on(run);
        progress.bar.finish_and_clear();
        let scored = scored??;
        notes.extend(too_few_epochs(scored.results(), &scored.plan).map(about));
        notes.extend(usage(&scored).map(about));
        if args.write || args.output.is_some() {
            notes.push(self.write(&scored, lock.as_ref(), left_out).unwrap_or_else(about));
        }
        Ok(report(path, &scored))
    }

    /// Writes the scored log; but not one whose results lack something. Returns a note with the path.
    fn write(
        &self,
        scored: &RescoredLog,
        lock: Option<&LogLock>,
        left_out: bool,
    ) -> Result<Diagnostic, Diagnostic> {
        let has_failed = scored.results().scores.iter().any(|block| !block.failures.is_empty());
        if left_out || has_failed {
            let why = match has_failed {
                true => "a metric failed",
                false => "not all that the log computes can be computed",
            };
            let problem = Diagnostic::error(format!("nothing was written: {why}"));
            return Err(problem.hint("name the metrics to write with --metric"));
        }
        let path = self.args.output.as_deref().unwrap_or(scored.log.path());
        let registry = self.context.registry;
        let file = match (&self.args.output, lock) {
            (Some(path), _) => scored.write_to(path, registry)?,
            (None, Some(lock)) => scored.write_back_locked(lock, registry)?,
            (None, None) => scored.write_back(registry)?,
        };
        let names: Vec<String> = scored.names().map(|name| format!("`{name}`")).collect();
        let what = match scored.action {
            ScoreAction::Append => "the new scores",
            ScoreAction::Overwrite => "the scores",
        };
        let note = || Diagnostic::note(format!("{what} {} are in {}", names.join(", "), path.display()));
        Ok(errorbar_analysis::files::owner_warning(file, path).unwrap_or_else(note))
    }
}

fn usage(scored: &RescoredLog) -> impl Iterator<Item = Diagnostic> {
    scored.usage.iter().map(|(model, usage): (&String, &Usage)| usage_note(model, usage))
}

/// The results of the new scores, with what the log records of its run.
fn report(path: &Path, scored: &RescoredLog) -> Report {
    let results = scored.results().clone();
    let mut report = report_of_run(path.display().to_string(), &scored.header, results);
    report.self_graded = scored.self_graded();
    report
}

/// A line on a terminal, lines at intervals elsewhere.
struct ScoringProgress {
    bar: ProgressBar,
    name: String,
    total: usize,
    quiet: bool,
    shown: Mutex<Instant>,
}

impl ScoringProgress {
    fn new(path: &Path, total: usize, quiet: bool) -> Self {
        let bar = progress_line(quiet, total as u64, "{bar:30} {pos}/{len} samples scored");
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        let name = clean(&path.display().to_string());
        ScoringProgress { bar, name, total, quiet, shown: Mutex::new(Instant::now()) }
    }

    fn show(&self, done: usize) {
        if !self.bar.is_hidden() {
            return self.bar.set_position(done as u64);
        }
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.elapsed() >= PROGRESS_EVERY {
            *shown = Instant::now();
            let line = format!("{}: {done}/{} samples scored", self.name, self.total);
            Diagnostic::note(line).print(self.quiet);
        }
    }
}
