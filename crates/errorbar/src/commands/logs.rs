//! Eval logs, opened for the verbs that compute their results again.

use std::path::Path;

use errorbar_core::{Plan, ScoreColumns};
use errorbar_log::eval::{EvalLog, Header, Status, plan_from_header};
use errorbar_report::Unfinished;

use super::Context;

/// Whether a file is an eval log, by its name.
pub(super) fn is_log(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        extension.eq_ignore_ascii_case("eval") || extension.eq_ignore_ascii_case("json")
    })
}

/// A log, ready to be computed again.
pub(super) struct OpenedLog {
    pub(super) header: Header,
    pub(super) plan: Plan,
    pub(super) columns: ScoreColumns,
    pub(super) warnings: Vec<String>,
}

impl OpenedLog {
    /// How the run ended, if it did not reach its end.
    pub(super) fn unfinished(&self) -> Option<Unfinished> {
        let eval = &self.header.eval;
        let samples = eval.dataset.sample_ids.as_ref().map(Vec::len);
        let planned = samples.map(|samples| samples * eval.config.epochs.unwrap_or(1) as usize);
        status_of_unfinished(self.header.status)
            .map(|status| Unfinished { status: status.to_owned(), planned })
    }
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

/// Opens a log with the plan that it records, as `change` leaves it; only what that plan needs is read.
pub(super) fn open(
    path: &Path,
    context: &Context<'_>,
    change: impl FnOnce(Plan) -> Plan,
) -> Result<OpenedLog, String> {
    let log = EvalLog::open(path).map_err(|error| error.to_string())?;
    let header = log.header().map_err(|error| error.to_string())?;
    let (plan, warnings) = plan_from_header(&header, context.registry).map_err(|error| error.to_string())?;
    let plan = change(plan);
    let columns = log.score_columns(&plan.metadata_keys()).map_err(|error| error.to_string())?;
    let mut warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    if log.was_recovered() {
        warnings.push(
            "the run is going on or was interrupted; these are the samples that it has saved".to_owned(),
        );
    }
    Ok(OpenedLog { header, plan, columns, warnings })
}
