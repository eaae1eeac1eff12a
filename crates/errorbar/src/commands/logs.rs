//! Eval logs, opened for the verbs that compute their results again.

use std::path::Path;

use errorbar_core::{Plan, ScoreColumns};
use errorbar_log::eval::{EvalLog, Header, plan_from_header};

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
