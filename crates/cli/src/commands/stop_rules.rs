//! The rules of `--stop-when`.

use std::path::Path;

use errorbar_inference::{RuleMeasure, StopRule};

use crate::diagnostic::{Diagnostic, Diagnostics, all};
use errorbar_analysis::{Opt, resolve_in};

const OPTION: &str = "--stop-when";
/// No rule, not even those of the task.
const NEVER: &str = "never";

/// The rules of the option; none if it is not given.
pub(super) fn read(texts: &[String], log_dir: &Path) -> Result<Option<Vec<StopRule>>, Diagnostics> {
    if texts.is_empty() {
        return Ok(None);
    }
    if texts.iter().any(|text| text.trim() == NEVER) {
        return match texts {
            [_] => Ok(Some(Vec::new())),
            _ => Err(Diagnostic::error(format!("`{OPTION} {NEVER}` is given beside other rules"))
                .hint("leave out one of them")
                .into()),
        };
    }
    all(texts.iter().map(|text| rule(text, log_dir))).map(Some)
}

fn rule(text: &str, log_dir: &Path) -> Result<StopRule, Diagnostics> {
    let mut rule: StopRule =
        text.parse().map_err(|error| Diagnostic::of_spec(Opt::StopWhen, text, &error))?;
    if let RuleMeasure::BetterThan { log, .. } | RuleMeasure::WorseThan { log, .. } = &mut rule.measure {
        *log = resolve_in(Path::new(log.as_str()), log_dir)?.display().to_string();
    }
    Ok(rule)
}
