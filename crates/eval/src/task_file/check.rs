//! Whether the samples suit the solvers and scorers of the task.

use std::ops::Range;

use errorbar_core::Result;

use super::mistake::Mistakes;
use crate::{NamedSample, Sample};

/// A check of one sample, and the place in the file of whatever makes it.
pub(super) type SampleCheck<'a> = (Range<usize>, Box<dyn Fn(&Sample) -> Result<()> + 'a>);

/// Reports the first sample that each check refuses, and how many more it does.
pub(super) fn refuse<'a>(
    samples: &[NamedSample],
    checks: impl IntoIterator<Item = SampleCheck<'a>>,
    mistakes: &Mistakes,
) {
    let mut reported: Vec<String> = Vec::new();
    for (place, check) in checks {
        let mut refusals = samples.iter().filter_map(|(id, sample)| Some((id, check(sample).err()?)));
        let Some((id, problem)) = refusals.next() else { continue };
        let more = match refusals.count() {
            0 => String::new(),
            1 => " (and 1 more sample)".to_owned(),
            more => format!(" (and {more} more samples)"),
        };
        let message = format!("sample {:?}: {problem}{more}", id.to_string());
        // A solver and a scorer may refuse a sample for the same reason.
        if !reported.contains(&message) {
            reported.push(message.clone());
            mistakes.add(place, message, None);
        }
    }
}
