//! The pages of logs, made as `errorbar report` makes them.
//!
//! A large log is not read as a whole: its scores are those of the list that it ends with, if the figures that follow from
//! them are those that the log records. If they are not, or the log has no list, the samples are read.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use errorbar_core::{Evaluation, MetadataKeys, Plan, Registry, ScoreColumns, ScoreParts};
use errorbar_log::eval::self_graded;
use errorbar_log::eval::{
    EvalLog, Header, LogError, LogScores, ReducerConversion, ScoreOptions, Status, compare, plan_from_header,
};
use errorbar_report::html::{Page, PageRun, PageSamples, RunFacts};
use errorbar_report::samples::{SampleOrigin, whole_key_html};
use errorbar_report::{ChanceLevel, Report, RunIdentity, run_names};
use errorbar_view::{PageError, ReportPages};

use super::super::Context;
use super::super::logs::run_facts;
use crate::format::counted;
use errorbar_analysis::{CONFIDENCE, early_stop, has_scored_confidence, partial_run};

/// A file with more bytes than this is not read as a whole if that can be avoided.
const LARGE: u64 = 4 << 20;

/// Makes report pages of logs.
pub(super) struct LogPages {
    registry: Registry,
}

/// What a page shows of a log.
struct LoadedLog {
    path: PathBuf,
    /// A digest of what each row asks, where several logs are shown.
    digests: Vec<u64>,
    report: Report,
    columns: ScoreColumns,
    plan: Plan,
    facts: RunFacts,
}

impl LogPages {
    pub(super) fn new(context: &Context<'_>) -> Self {
        LogPages { registry: context.registry.clone() }
    }

    fn load(&self, log: &EvalLog, is_compared: bool) -> Result<LoadedLog, PageError> {
        let path = log.path();
        let header = log.header().map_err(unusable)?;
        let (mut plan, _) = plan_from_header(&header, &self.registry).map_err(unusable)?;
        let is_large = log.file_stamp().0 > LARGE;
        // What samples ask is compared, and is not in the list.
        let summarized = if is_large && !is_compared { from_summaries(log, &header, &plan) } else { None };
        let (scores, evaluation) = match summarized {
            Some(found) => found,
            None => from_samples(log, &header, &mut plan, is_compared)?,
        };
        let (mut facts, partial_run) = (run_facts(path, &header), partial_run(&header));
        facts.chance = ChanceLevel::of_rows(&scores.columns, &scores.choice_counts);
        let (early_stop, self_graded) = (early_stop(&header.eval), self_graded(&header.eval));
        let name = path.file_name().unwrap_or(path.as_os_str()).display().to_string();
        let recorded = if scores.columns.is_empty() { header.recorded_figures() } else { None };
        let is_recorded = recorded.is_some();
        let results = recorded.unwrap_or(evaluation.results);
        let mut report = Report::new(name, results).of_run(header.eval.task, header.eval.model);
        report.recorded = is_recorded;
        (report.partial_run, report.early_stop, report.self_graded) = (partial_run, early_stop, self_graded);
        (report.skipped, report.limits) = (scores.skipped.len(), scores.limits);
        Ok(LoadedLog {
            path: path.to_owned(),
            digests: scores.digests,
            report,
            columns: scores.columns,
            plan,
            facts,
        })
    }
}

/// The scores of the list of samples, if they are those that the log was computed from.
fn from_summaries(log: &EvalLog, header: &Header, plan: &Plan) -> Option<(LogScores, Evaluation)> {
    let recorded = header.results.as_ref().filter(|_| header.status == Status::Success)?;
    let scores = log.summary_scores(header, &shown_keys(plan)).ok().flatten()?;
    let evaluation = plan.evaluate(&scores.columns).ok()?;
    compare(recorded, &evaluation.results).is_empty().then_some((scores, evaluation))
}

/// The metadata that a page shows: what the plan needs, and the confidence of answers.
fn shown_keys(plan: &Plan) -> MetadataKeys {
    plan.metadata_keys().and(MetadataKeys::Only(vec![CONFIDENCE.to_owned()]))
}

fn from_samples(
    log: &EvalLog,
    header: &Header,
    plan: &mut Plan,
    digests: bool,
) -> Result<(LogScores, Evaluation), PageError> {
    let parts = match has_scored_confidence(log) {
        true => plan.score_parts().max(ScoreParts::Metadata),
        false => plan.score_parts(),
    };
    let options = ScoreOptions::new(shown_keys(plan)).score_parts(parts);
    let scores = log
        .scores(header, &options.skip_bad_samples(true).digests(digests).choices(true))
        .map_err(unusable)?;
    let conversions = ReducerConversion::find(log, header, plan, &scores.columns).map_err(unusable)?;
    ReducerConversion::undefine(conversions, header, plan, &scores.columns);
    let evaluation = plan.evaluate(&scores.columns);
    let evaluation = evaluation.map_err(|error| PageError::unusable(error.to_string()))?;
    Ok((scores, evaluation))
}

impl ReportPages for LogPages {
    fn page(&self, logs: &[EvalLog]) -> Result<String, PageError> {
        let loaded: Vec<LoadedLog> =
            logs.iter().map(|log| self.load(log, logs.len() > 1)).collect::<Result<_, _>>()?;
        let tasks: BTreeSet<Option<&str>> = loaded.iter().map(|log| log.report.task.as_deref()).collect();
        if tasks.len() > 1 {
            let text = "these logs are of several tasks; choose logs of one task to compare them";
            return Err(PageError::unusable(text));
        }
        let identities: Vec<RunIdentity<'_>> = loaded
            .iter()
            .map(|log| RunIdentity::new(log.report.model.as_deref().unwrap_or_default(), &log.path))
            .collect();
        let runs = loaded.iter().zip(run_names(&identities)).map(|(log, name)| PageRun {
            name,
            report: &log.report,
            columns: &log.columns,
            plan: &log.plan,
            facts: log.facts.clone(),
        });
        let mut page = Page::new(runs.collect());
        page.listed_in = Some(("../../".to_owned(), "logs".to_owned()));
        page.not_compared = not_compared(&loaded);
        let (origin, key) = (SampleOrigin::Server, whole_key_html());
        page.samples = Some(PageSamples { origin, key, data: String::new() });
        Ok(page.to_html())
    }
}

/// Why logs must not be compared: samples of one id that are different ones.
fn not_compared(logs: &[LoadedLog]) -> Option<String> {
    let mut known: HashMap<(Option<&str>, String), u64> = HashMap::new();
    let mut differing: BTreeSet<String> = BTreeSet::new();
    for log in logs {
        for (row, digest) in log.digests.iter().enumerate() {
            let id = log.columns.sample_id(row).to_string();
            let first = *known.entry((log.report.task.as_deref(), id.clone())).or_insert(*digest);
            if first != *digest {
                differing.insert(id);
            }
        }
    }
    let example = differing.first()?;
    let count = counted(differing.len() as u64, "sample");
    Some(format!("the logs have other questions or targets under the same id: {count}, such as {example}"))
}

fn unusable(error: LogError) -> PageError {
    PageError::unusable(error.to_string())
}
