//! What results carry besides figures, as diagnostics.

use errorbar_core::{EstimateRow, Failure, IntervalChoice, IntervalMethod, Role, Undefined, Warning};
use errorbar_log::inspect::Projection;
use errorbar_report::Report;

use super::common::counted;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::hints;

/// The warnings of results, and the metrics that failed.
pub(super) fn findings(report: &Report) -> Diagnostics {
    findings_with(report, false)
}

/// The same; whether an option says that values without a meaning count as 0, which then needs no advice.
pub(super) fn findings_with(report: &Report, is_zero_wanted: bool) -> Diagnostics {
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
        for Failure { metric, error } in &block.failures {
            let text = error.to_string();
            let text = text.strip_prefix(&format!("{metric}: ")).unwrap_or(&text);
            let field = block.field.as_ref().map(|field| format!(": {field}")).unwrap_or_default();
            let place = format!("{}: {}{field}", report.log, block.scorer);
            let hint = hints::core::cluster_hint(error, &report.results.errors.cluster);
            let hint = hint.or_else(|| hints::core::hint(error));
            diagnostics.push(Diagnostic::error(format!("{place}: {metric} failed: {text}")).hint_if(hint));
        }
    }
    diagnostics.extend(unknown_range(report));
    diagnostics
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
            .hint("name the lowest and the highest possible score: --range LO HI"),
    )
}
