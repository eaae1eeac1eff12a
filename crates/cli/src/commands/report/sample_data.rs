//! The samples of all runs, as the page holds them.

use std::collections::{HashMap, HashSet};

use errorbar_report::html::PageSamples;
use errorbar_report::samples::{EncodeError, SampleOrigin, SampleSetBuilder};

use super::runs::Run;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::format::counted;

/// What the markup of the browser takes, at most.
pub(super) const MARKUP: u64 = 8 << 10;

/// The most samples × epochs of runs that a page lists: each takes 2 kB until the page is written.
const MOST_LISTED: usize = 100_000;
/// The most bytes of texts that are held for a page.
const MOST_TEXT_BYTES: usize = 64 << 20;

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
    let mut samples = SampleSetBuilder::new().group_keys(keys).max_text_bytes(MOST_TEXT_BYTES);
    let are_several = runs.iter().any(|run| run.task() != runs.first().and_then(Run::task));
    let most = MOST_LISTED / runs.iter().map(Run::epochs).sum::<usize>().max(1);
    let listed = Listed::of(runs, most.max(1));
    if listed.is_some() {
        samples.set_listed(most.max(1));
    }
    for run in runs {
        if let Some(task) = run.task().filter(|_| are_several) {
            samples.set_task(task);
        }
        run.add_samples(&mut samples, listed.as_ref().and_then(|listed| listed.of_task(run.task())))?;
        if samples.is_too_large() {
            let text = "all samples are left out: even without long texts they take too much memory";
            diagnostics.push(Diagnostic::warning(text).hint("give fewer runs for a page with samples"));
            return Ok(None);
        }
    }
    if samples.is_too_sparse() || listed.is_some() && samples.is_sparse() {
        let text = "all samples are left out: the runs have too few of them in common to be shown together";
        diagnostics.push(Diagnostic::warning(text).hint("give fewer runs for a page with samples"));
        return Ok(None);
    }
    if !samples.problems().is_empty() {
        let count = samples.problems().len() as u64;
        let text =
            format!("{} could not be read, and cannot be opened in the page", counted(count, "sample"));
        diagnostics.push(Diagnostic::warning(text));
    }
    let set = samples.finish();
    let bounds: Vec<String> = set.omissions().iter().map(ToString::to_string).collect();
    if !bounds.is_empty() {
        diagnostics
            .push(Diagnostic::note(format!("the page does not hold everything: {}", bounds.join(", "))));
    }
    if set.is_empty() {
        return Ok(None);
    }
    let max_bytes = max_bytes.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    let encoded = match set.encode(max_bytes) {
        // Texts are left out until it fits: with none that do, all of them.
        Err(EncodeError::TooLarge { .. }) => {
            let text = "to fit --max-size, all samples are left out";
            diagnostics.push(Diagnostic::warning(text).hint("allow more with --max-size"));
            return Ok(None);
        }
        encoded => encoded.map_err(|error| Diagnostic::error(error.to_string()))?,
    };
    let omitted = encoded.omissions.iter().filter(|omission| !set.omissions().contains(omission));
    let omitted: Vec<String> = omitted.map(ToString::to_string).collect();
    if !omitted.is_empty() {
        diagnostics.push(Diagnostic::note(format!("to fit --max-size, {}", omitted.join(", "))));
    }
    Ok(Some(PageSamples { origin: SampleOrigin::Page, key: set.key_html(), data: encoded.to_html() }))
}

/// The samples that are listed of each task, where there are too many for all.
struct Listed<'r>(HashMap<Option<&'r str>, HashSet<&'r str>>);

impl<'r> Listed<'r> {
    /// The first samples of each task; none if no task has more of them than `most`.
    fn of(runs: &'r [Run], most: usize) -> Option<Self> {
        let mut tasks: HashMap<Option<&str>, HashSet<&str>> = HashMap::new();
        let mut has_more = false;
        for run in runs {
            let ids = tasks.entry(run.task()).or_default();
            for id in run.ids() {
                if ids.len() < most {
                    ids.insert(id);
                } else if !ids.contains(id) {
                    has_more = true;
                    break;
                }
            }
        }
        has_more.then_some(Listed(tasks))
    }

    fn of_task(&self, task: Option<&'r str>) -> Option<&HashSet<&'r str>> {
        self.0.get(&task)
    }
}
