//! What came of checking logs, as text and as JSON.

use std::fmt::Write;

use errorbar_analysis::LogVerification;
use errorbar_core::IndexMap;
use errorbar_log::eval::{Check, CheckOutcome, NotCheckable, VerifyOutcome};
use serde_json::{Value as Json, json};

use crate::clean;
use crate::text::counted;

/// The number of figures that are named per reason; a log may have thousands.
const NAMED: usize = 8;

/// The version of `docs/schema/verify.schema.json`.
const SCHEMA: u32 = 1;

/// A line or more per log, and one about all of them.
pub fn to_text(logs: &[LogVerification]) -> String {
    let mut text: String = logs.iter().map(log_text).collect();
    if logs.len() > 1 {
        let count = |outcome: &str| logs.iter().filter(|log| self::outcome(log) == outcome).count();
        let (agree, differ, unchecked) = (count("agrees"), count("differs"), count("not_checkable"));
        let logs = logs.len();
        text += &format!("{logs} logs: {agree} agree, {differ} differ, {unchecked} not checkable\n");
    }
    text
}

/// An array with an object for each log; `docs/schema/verify.schema.json` is its schema.
pub fn to_json(logs: &[LogVerification]) -> String {
    format!("{:#}\n", Json::Array(records(logs)))
}

/// An object for each log.
pub fn records(logs: &[LogVerification]) -> Vec<Json> {
    logs.iter().map(log_json).collect()
}

fn outcome(log: &LogVerification) -> &'static str {
    match log.verification.outcome() {
        VerifyOutcome::Agrees => "agrees",
        VerifyOutcome::Differs => "differs",
        VerifyOutcome::NotCheckable(_) => "not_checkable",
    }
}

fn log_text(log: &LogVerification) -> String {
    let name = clean(&log.log);
    let counts = log.verification.counts();
    let unchecked = match counts.not_checkable {
        0 => String::new(),
        unchecked => format!(" ({unchecked} not checkable)"),
    };
    let first = match log.verification.outcome() {
        VerifyOutcome::Agrees if counts.agree == 1 => format!("1 figure agrees{unchecked}"),
        VerifyOutcome::Agrees => format!("{} figures agree{unchecked}", counts.agree),
        VerifyOutcome::Differs => {
            let differences = log.verification.differences().count() as u64;
            format!("{}{unchecked}", counted(differences, "difference"))
        }
        VerifyOutcome::NotCheckable(reason) if reasons(log).len() <= 1 => {
            return format!("{name}: not checkable: {}\n", clean(&reason.to_string()));
        }
        VerifyOutcome::NotCheckable(_) => "not checkable".to_owned(),
    };
    let mut text = format!("{name}: {first}\n");
    let by_name = |check: &&Check| check.is_by_name && check.difference().is_some();
    for difference in log.verification.differences() {
        writeln!(text, "  {}", clean(&difference.to_string())).unwrap_or_default();
    }
    if log.verification.checks.iter().any(|check| by_name(&check)) {
        text +=
            "  note: the header does not record these metrics; they were found by the names of the figures\n";
    }
    for (reason, figures) in reasons(log) {
        let more = figures.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let figures = figures.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
        writeln!(text, "  not checkable: {} ({}{more})", clean(&reason), clean(&figures)).unwrap_or_default();
    }
    text
}

/// The figures that are not checkable, by the reason.
fn reasons(log: &LogVerification) -> IndexMap<String, Vec<String>> {
    let mut reasons: IndexMap<String, Vec<String>> = IndexMap::new();
    for check in &log.verification.checks {
        if let CheckOutcome::NotCheckable(reason) = &check.outcome {
            let title = check.title().unwrap_or_default();
            let figure = format!("{title} · {}", check.metric.as_deref().unwrap_or_default());
            reasons.entry(reason.to_string()).or_default().push(figure);
        }
    }
    reasons
}

fn log_json(log: &LogVerification) -> Json {
    let counts = log.verification.counts();
    let reason = match log.verification.outcome() {
        VerifyOutcome::NotCheckable(reason) => Some(reason_json(reason)),
        _ => None,
    };
    json!({
        "schema": SCHEMA,
        "log": log.log,
        "outcome": outcome(log),
        "reason": reason,
        "counts": {
            "agree": counts.agree,
            "differ": counts.differ,
            "not_checkable": counts.not_checkable,
        },
        "figures": log.verification.checks.iter().map(check_json).collect::<Vec<_>>(),
    })
}

fn check_json(check: &Check) -> Json {
    let (outcome, reason) = match &check.outcome {
        CheckOutcome::Agrees => ("agrees", None),
        CheckOutcome::Differs(_) => ("differs", None),
        CheckOutcome::NotCheckable(reason) => ("not_checkable", Some(reason_json(reason))),
    };
    json!({
        "scorer": check.scorer,
        "score": check.score,
        "reducer": check.reducer,
        "metric": check.metric,
        "recorded": check.recorded,
        "recomputed": check.recomputed,
        "by_name": check.is_by_name,
        "outcome": outcome,
        "reason": reason,
        "difference": check.difference(),
    })
}

fn reason_json(reason: &NotCheckable) -> Json {
    json!({"kind": reason.code(), "text": reason.to_string()})
}
