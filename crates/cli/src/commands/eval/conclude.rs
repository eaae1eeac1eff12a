//! What all runs came to.

use errorbar_analysis::{beyond_threshold_problem, findings, status_of_unfinished, unused_cluster_of_run};
use errorbar_eval::{FinishedRun, StopReason};
use errorbar_report::{EvaluationSet, PartialRun, Report, SideBySide, StoppedRun};

use super::notes::usage_note;
use super::{EvalArgs, RunEnding, RunOutcome};
use crate::commands::requirements::Requirements;
use crate::commands::{CommandOutcome, Context, run_diagnostics};
use crate::diagnostic::{Diagnostic, Outcome};
use crate::format::{Format, OutputArgs, table};
use crate::output::Output;

/// The results of all runs, and what there is to report of them.
pub(super) fn conclude(
    outcomes: Vec<RunOutcome>,
    requirements: &Requirements<'_>,
    args: &EvalArgs,
    context: &Context<'_>,
) -> CommandOutcome {
    let (mut outcome, mut reports, mut tokens) = (CommandOutcome::default(), Vec::new(), Vec::new());
    let several = outcomes.len() > 1;
    let first = outcomes.first().map(|run| run.label.clone());
    let has_several_tasks = outcomes.iter().any(|run| Some(&run.label) != first.as_ref());
    let mut set = EvaluationSet::default();
    for RunOutcome { label: task, model, ending } in outcomes {
        let label = if several { format!("{task} with {model}") } else { task.clone() };
        let (ended, is_earlier) = match ending {
            RunEnding::NotRun => {
                let text = "not run, because the run was cancelled before";
                outcome.diagnostics.push(Diagnostic::warning(text).about(&label));
                outcome.status = Outcome::Negative;
                set.add_missing(&task, &model, "not run");
                continue;
            }
            RunEnding::Ended(ended) => (ended, false),
            RunEnding::Skipped(ended) => (ended, true),
        };
        let finished = match *ended {
            Ok(finished) => finished,
            Err(error) => {
                outcome.diagnostics.push(error);
                set.add_missing(&task, &model, "failed");
                continue;
            }
        };
        let (ending, is_complete) = run_diagnostics::diagnostics(&finished, context);
        outcome.diagnostics.extend(ending.about(&label));
        if !is_complete {
            outcome.status = Outcome::Negative;
        }
        let ratings = finished.beyond_threshold.as_ref().map(|(reducer, highest)| {
            beyond_threshold_problem(reducer.as_ref(), *highest, Diagnostic::warning)
        });
        outcome.diagnostics.extend(ratings.map(|problem| problem.about(&label)));
        // What an earlier run used is not used now.
        let usage = finished.usage.iter().filter(|_| !is_earlier);
        outcome.diagnostics.extend(usage.map(|(model, usage)| usage_note(model, usage).about(&label)));
        let used = finished.usage.get(&finished.model).map(|usage| usage.total_tokens);
        let log = finished.log.clone();
        let Some(mut report) = report(finished) else {
            set.add_missing(&task, &model, "no results");
            continue;
        };
        report.earlier_run = is_earlier;
        set.add(&task, &model, &report);
        outcome.diagnostics.extend(findings(&report));
        // Once, however many runs there are.
        if reports.is_empty() && !context.quiet {
            outcome.diagnostics.extend(unused_cluster_of_run(&log, context.registry));
        }
        reports.push(report);
        tokens.push(used);
    }
    outcome.diagnostics.extend(requirements.check("eval", &reports));
    if !reports.is_empty() {
        let set = has_several_tasks.then_some(set);
        outcome.output = with_comparison(reports, &tokens, set, &args.output);
    }
    outcome
}

/// The results of a run, with what is known of it.
fn report(finished: FinishedRun) -> Option<Report> {
    let FinishedRun { log, task, model, results, limits, self_graded, status, total, stopped, .. } = finished;
    let unfinished = status_of_unfinished(status)
        .map(|status| PartialRun { status: status.to_owned(), planned: Some(total) });
    let mut report = Report::new(log.display().to_string(), results?).of_run(task, model);
    (report.partial_run, report.limits, report.self_graded) = (unfinished, limits, self_graded);
    if let Some(StopReason::RuleHeld { rule, reason, samples, planned }) = stopped {
        report.early_stop =
            Some(StoppedRun { rule, reason, samples: samples as u64, planned: planned as u64 });
    }
    Some(report)
}

/// The results, and behind them, where people read it, the models that did one task side by side, or a table of all tasks
/// and models.
fn with_comparison(
    reports: Vec<Report>,
    tokens: &[Option<u64>],
    set: Option<EvaluationSet>,
    args: &OutputArgs,
) -> Output {
    let tables = match set {
        Some(_) => Vec::new(),
        None => SideBySide::of(&reports, tokens),
    };
    let text = move |format: Format, color: bool| -> String {
        let side_by_side = tables.iter().map(|table_of_task| match format {
            Format::Markdown => table_of_task.to_markdown(),
            Format::Latex => table_of_task.to_latex(),
            _ => table_of_task.to_table(&table().color(color)),
        });
        let set = set.iter().map(|set| match format {
            Format::Markdown => set.to_markdown(),
            Format::Latex => set.to_latex(),
            _ => set.to_table(&table().color(color)),
        });
        side_by_side.chain(set).map(|table| format!("\n{table}")).collect()
    };
    match (args.reports(reports), args.format) {
        (Output::Text(render), format) => Output::text(move |color| render(color) + &text(format, color)),
        (Output::Data(data), format @ (Format::Markdown | Format::Latex)) => {
            Output::Data([data, text(format, false).into_bytes()].concat())
        }
        (output, _) => output,
    }
}
