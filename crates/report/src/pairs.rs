//! Which figures of a block belong together: a mean and its error, an interval and its middle.
//!
//! Figures are only paired when they are about the same numbers: read by the same conversion, and for
//! groups over the same key. An error that belongs to something else would be worse than none.

use errorbar_core::{Block, Entry};
use serde_json::Value as Json;

/// What a figure is about.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Subject<'a> {
    metric: &'a str,
    to_float: Option<&'a Json>,
    group_key: Option<&'a Json>,
}

impl<'a> Subject<'a> {
    fn of(entry: &'a Entry) -> Self {
        let group_key = entry.params.get("group_key");
        let (metric, params) = match (group_key, entry.params.get("metric")) {
            (Some(_), Some(inner)) => {
                let name = inner.get("name").and_then(Json::as_str).unwrap_or_default();
                (name, inner.get("params").and_then(Json::as_object))
            }
            _ => (entry.group.as_deref().unwrap_or(&entry.name), Some(&entry.params)),
        };
        Subject { metric, to_float: params.and_then(|p| p.get("to_float")), group_key }
    }

    fn is_centre(self) -> bool {
        matches!(self.metric, "accuracy" | "mean")
    }

    fn is_error(self) -> bool {
        matches!(self.metric, "stderr" | "bootstrap_stderr")
    }

    fn same_numbers(self, other: Subject<'_>) -> bool {
        self.to_float == other.to_float && self.group_key == other.group_key
    }
}

/// Whether a figure lies among the scores, so that it can be drawn on their scale.
pub(crate) fn is_location(entry: &Entry) -> bool {
    let subject = Subject::of(entry);
    let is_share = subject.metric == "frequency" && entry.params.get("normalize") != Some(&Json::Bool(false));
    subject.is_centre() || is_share
}

/// How many figures of the block are errors of plain means: with several, a row must say which it shows.
pub(crate) fn errors_in(block: &Block) -> usize {
    let is_error = |entry: &&Entry| {
        let subject = Subject::of(entry);
        subject.is_error() && subject.group_key.is_none()
    };
    block.metrics.values().filter(is_error).count()
}

/// The error that a figure carries itself, as the mean over groups does.
pub(crate) fn own_error(entry: &Entry) -> Option<f64> {
    entry.metadata.as_ref()?.get("stderr")?.as_f64().filter(|error| error.is_finite())
}

/// The error of a figure: its own, or for a mean the first one asked for that is defined, with its key.
pub(crate) fn error_of<'b>(block: &'b Block, centre: &Entry) -> Option<(&'b str, f64)> {
    if let Some(error) = own_error(centre) {
        return Some(("stderr", error));
    }
    let about = Subject::of(centre);
    if !about.is_centre() {
        return None;
    }
    let fits = |entry: &Entry| {
        let subject = Subject::of(entry);
        let same_group = about.group_key.is_none()
            || (entry.name == centre.name && (!is_mean_of_groups(centre) && !is_mean_of_groups(entry)));
        subject.is_error()
            && subject.same_numbers(about)
            && same_group
            && entry.undefined_reason().is_none()
            && entry.value.is_finite()
    };
    let (key, entry) = block.metrics.iter().find(|(_, entry)| fits(entry))?;
    Some((key, entry.value))
}

/// The mean that an interval is around; `name` is that of the group, for grouped intervals.
pub(crate) fn centre_of(block: &Block, interval: &Entry, name: &str) -> Option<f64> {
    let about = Subject::of(interval);
    let fits = |entry: &&Entry| {
        let subject = Subject::of(entry);
        subject.is_centre()
            && subject.same_numbers(about)
            && (about.group_key.is_none() || (entry.name == name && !is_mean_of_groups(entry)))
            && entry.undefined_reason().is_none()
    };
    block.metrics.values().find(fits).map(|entry| entry.value)
}

/// Whether a figure is the plain mean over groups, whose error is not the mean of their errors.
fn is_mean_of_groups(entry: &Entry) -> bool {
    let label = entry.params.get("all_label").and_then(Json::as_str).unwrap_or("all");
    entry.params.get("all").and_then(Json::as_str) == Some("groups") && entry.name == label
}
