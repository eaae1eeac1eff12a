//! The samples of all runs, as the page holds them.

use errorbar_report::html::PageSamples;
use errorbar_report::samples::{EncodeError, SampleOrigin, SampleSetBuilder, SizeLimits};

use super::runs::Run;
use crate::commands::counted;
use crate::diagnostic::{Diagnostic, Diagnostics};

/// What the markup of the browser takes, at most.
pub(super) const MARKUP: u64 = 8 << 10;

/// The columns of tables that are texts or measurements, not groups.
const NO_GROUPS: [&str; 5] = ["input", "target", "answer", "explanation", "confidence"];

/// The samples, in as many bytes as there are; none if no run has any.
pub(super) fn of_page(
    runs: &[Run],
    max_bytes: Option<u64>,
    diagnostics: &mut Diagnostics,
) -> Result<Option<PageSamples>, Diagnostic> {
    let mut keys: Vec<String> = Vec::new();
    for key in runs.iter().flat_map(Run::metadata_keys).filter(|key| !NO_GROUPS.contains(key)) {
        if !keys.iter().any(|known| known == key) {
            keys.push(key.to_owned());
        }
    }
    let mut samples = SampleSetBuilder::new().group_keys(keys);
    let are_several = runs.iter().any(|run| run.task() != runs.first().and_then(Run::task));
    for run in runs {
        if let Some(task) = run.task().filter(|_| are_several) {
            samples.set_task(task);
        }
        run.add_samples(&mut samples)?;
        if samples.is_too_sparse() {
            let text =
                "all samples are left out: the runs have too few of them in common to be shown together";
            diagnostics.push(Diagnostic::warning(text).hint("give fewer runs for a page with samples"));
            return Ok(None);
        }
    }
    if !samples.problems().is_empty() {
        let count = samples.problems().len() as u64;
        let text =
            format!("{} could not be read, and cannot be opened in the page", counted(count, "sample"));
        diagnostics.push(Diagnostic::warning(text));
    }
    let set = samples.finish();
    if set.is_empty() {
        return Ok(None);
    }
    let limits = max_bytes.map_or_else(SizeLimits::default, |bytes| {
        SizeLimits::at_most(usize::try_from(bytes).unwrap_or(usize::MAX))
    });
    let encoded = match set.encode(limits) {
        // Texts are left out until it fits: with none that do, all of them.
        Err(EncodeError::TooLarge { .. }) => {
            let text = "to fit --max-size, all samples are left out";
            diagnostics.push(Diagnostic::warning(text).hint("allow more with --max-size"));
            return Ok(None);
        }
        encoded => encoded.map_err(|error| Diagnostic::error(error.to_string()))?,
    };
    if !encoded.omissions.is_empty() {
        let omitted: Vec<String> = encoded.omissions.iter().map(ToString::to_string).collect();
        diagnostics.push(Diagnostic::note(format!("to fit --max-size, {}", omitted.join(", "))));
    }
    Ok(Some(PageSamples { origin: SampleOrigin::Page, key: set.key_html(), data: encoded.to_html() }))
}
