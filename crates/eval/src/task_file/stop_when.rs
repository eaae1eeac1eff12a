//! `stop_when`: the rules that stop a run early.

use std::path::Path;

use errorbar_inference::{RuleMeasure, StopRule};

use super::section::{TomlField, all};
use super::text::TomlString;

pub(super) fn read(field: TomlField<'_>) -> Option<Vec<StopRule>> {
    let wanted = "a rule in quotes, such as \"width(accuracy) < 0.04\", or a list of them";
    let folder = field.file.registry.folder();
    let rule = |string: Option<TomlString<'_>>| rule(&string?, folder);
    all(field.strings(wanted)?.into_iter().map(rule))
}

/// The rule; a log that it names is relative to the folder of the file.
fn rule(string: &TomlString<'_>, folder: &Path) -> Option<StopRule> {
    match string.value.parse::<StopRule>() {
        Ok(mut rule) => {
            if let RuleMeasure::BetterThan { log, .. } | RuleMeasure::WorseThan { log, .. } =
                &mut rule.measure
            {
                *log = folder.join(log.as_str()).display().to_string();
            }
            Some(rule)
        }
        Err(error) => {
            string.report_spec(&error);
            None
        }
    }
}
