//! What results carry besides figures, as diagnostics.

use errorbar_core::{
    EstimateRow, Failure, IntervalChoice, IntervalMethod, Results, Role, ScoreResult, Undefined, Warning,
};
use errorbar_log::inspect::Projection;

use crate::diagnostic::{Diagnostic, Diagnostics, Place};
use crate::hints;
use crate::report::Report;
use crate::request::ErrorRequest;
use crate::text;
use crate::text::counted;

/// The warnings of results, and the metrics that failed.
pub fn findings(report: &Report) -> Diagnostics {
    findings_with(report, false)
}

/// The same; whether an option says that values without a meaning count as 0, which then needs no advice.
pub fn findings_with(report: &Report, is_zero_wanted: bool) -> Diagnostics {
    let projection = Projection::new(&report.results);
    let text = |warning: &Warning| match warning {
        Warning::Unconvertible { scorer, key, count, sample, example, .. } if is_zero_wanted => {
            let key = key.as_ref().map(|key| format!(" under the key {key:?}")).unwrap_or_default();
            let values = counted(*count as u64, "value");
            format!("`{scorer}`{key}: counted as 0: {values} (sample {sample:?}: {example})")
        }
        warning => warning.to_string(),
    };
    let warnings = projection.warnings().map(|warning| Diagnostic::warning(text(warning)).about(&report.log));
    let mut diagnostics: Diagnostics = warnings.collect();
    for block in &report.results.scores {
        let failed = |failure| metric_failure(&report.log, block, failure, &report.results.errors.cluster);
        diagnostics.extend(block.failures.iter().map(failed));
    }
    diagnostics.extend(unknown_range(report));
    diagnostics
}

/// The error of a metric that failed, of results that have this name and are clustered by these keys.
pub fn metric_failure(
    name: &str,
    block: &ScoreResult,
    Failure { metric, error }: &Failure,
    cluster: &[String],
) -> Diagnostic {
    let text = error.to_string();
    let text = text.strip_prefix(&format!("{metric}: ")).unwrap_or(&text);
    let field = block.field.as_ref().map(|field| format!(": {field}")).unwrap_or_default();
    let place = format!("{name}: {}{field}", block.scorer);
    let hint = hints::figure_hint(error, cluster);
    let diagnostic = Diagnostic::error(format!("{place}: {metric} failed: {text}")).hint_if(hint);
    diagnostic.at(Place::of_file(name))
}

/// The errors of figures that have none because of a cluster key that was asked for, as `score` reports them.
pub fn cluster_failures(
    name: &str,
    known: &[String],
    results: &mut Results,
    asked: &ErrorRequest,
) -> Diagnostics {
    if asked.clusters.is_empty() {
        return Diagnostics::default();
    }
    results.name_metadata_keys(known.iter().map(String::as_str));
    let cluster = &results.errors.cluster;
    let is_of_key = |failure: &&Failure| hints::cluster_hint(&failure.error, cluster).is_some();
    let of_block = |block: &ScoreResult| {
        let failed = block.failures.iter().filter(is_of_key);
        failed.map(|failure| metric_failure(name, block, failure, cluster)).collect::<Vec<_>>()
    };
    results.scores.iter().flat_map(of_block).collect()
}

/// What to do about an interval that needs the range of scores, if that is unknown: the row has the reason.
fn unknown_range(report: &Report) -> Option<Diagnostic> {
    let errors = &report.results.errors;
    let wilson = IntervalChoice::Method(IntervalMethod::Wilson);
    if errors.interval != wilson || errors.range.is_some() {
        return None;
    }
    let is_missing = |row: &EstimateRow<'_>| {
        let estimate = &row.estimate;
        let is_mean = row.role == Role::Location && estimate.value.is_ok() && estimate.error.is_ok();
        is_mean && matches!(estimate.interval, Err(Undefined::Other(_)))
    };
    let rows = report.results.rows();
    let row = rows.iter().find(|row| is_missing(row))?;
    let text =
        format!("{}: {} has no interval by {wilson}: the range of scores is unknown", row.scorer, row.metric);
    Some(
        Diagnostic::note(text)
            .about(&report.log)
            .hint(text!("name the lowest and the highest possible score: {Range=LO HI}")),
    )
}
