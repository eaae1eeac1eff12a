//! What results carry besides figures, as diagnostics.

use errorbar_core::Failure;
use errorbar_log::inspect::Projection;
use errorbar_report::Report;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::hints;

/// The warnings of results, and the metrics that failed.
pub(super) fn findings(report: &Report) -> Diagnostics {
    let projection = Projection::new(&report.results);
    let warnings =
        projection.warnings().map(|warning| Diagnostic::warning(warning.to_string()).about(&report.log));
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
    diagnostics
}
