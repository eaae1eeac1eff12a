//! Which figures of a block belong together: a mean and its error, an interval and its middle.
//!
//! Figures are only paired when they are about the same numbers: read by the same conversion, and for
//! groups over the same key. An error that belongs to something else would be worse than none.

use std::collections::HashMap;

use errorbar_core::spec::without_own_package;
use errorbar_core::{Block, Entry};
use serde_json::Value as Json;

/// What a figure is about.
#[derive(Debug, Clone, Copy)]
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
        Subject {
            metric: without_own_package(metric),
            to_float: params.and_then(|p| p.get("to_float")),
            group_key,
        }
    }

    fn is_centre(self) -> bool {
        matches!(self.metric, "accuracy" | "mean")
    }

    fn is_error(self) -> bool {
        matches!(self.metric, "stderr" | "bootstrap_stderr")
    }

    /// The numbers that it is about; `name` is that of the group, where there are groups.
    fn numbers(self, name: &'a str) -> Numbers<'a> {
        let group = self.group_key.map(|key| (key, name));
        Numbers { to_float: self.to_float, group }
    }
}

/// The numbers that figures have to share to belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Numbers<'a> {
    to_float: Option<&'a Json>,
    /// The key of the groups, and which of them.
    group: Option<(&'a Json, &'a str)>,
}

/// The errors and means of a block, by the numbers that they are about: the first of each that was
/// asked for and is defined.
#[derive(Debug)]
pub(crate) struct Pairs<'b> {
    errors: HashMap<Numbers<'b>, (&'b str, f64)>,
    centres: HashMap<Numbers<'b>, f64>,
    plain_errors: usize,
}

impl<'b> Pairs<'b> {
    pub(crate) fn of(block: &'b Block) -> Self {
        let mut pairs = Pairs { errors: HashMap::new(), centres: HashMap::new(), plain_errors: 0 };
        for (key, entry) in &block.metrics {
            let subject = Subject::of(entry);
            pairs.plain_errors += usize::from(subject.is_error() && subject.group_key.is_none());
            if entry.undefined_reason().is_some() || is_mean_of_groups(entry) {
                continue;
            }
            let numbers = subject.numbers(&entry.name);
            if subject.is_error() && entry.value.is_finite() {
                pairs.errors.entry(numbers).or_insert((key, entry.value));
            } else if subject.is_centre() {
                pairs.centres.entry(numbers).or_insert(entry.value);
            }
        }
        pairs
    }

    /// Whether the block has several errors of plain means, so that a row must say which it shows.
    pub(crate) fn has_several_errors(&self) -> bool {
        self.plain_errors > 1
    }

    /// The error of a figure: its own, or for a mean the first one asked for that is defined, with its key.
    pub(crate) fn error_of(&self, centre: &Entry) -> Option<(&'b str, f64)> {
        if let Some(error) = own_error(centre) {
            return Some(("stderr", error));
        }
        let about = Subject::of(centre);
        if !about.is_centre() || is_mean_of_groups(centre) {
            return None;
        }
        self.errors.get(&about.numbers(&centre.name)).copied()
    }

    /// The mean that an interval is around; `name` is that of the group, for grouped intervals.
    pub(crate) fn centre_of(&self, interval: &Entry, name: &str) -> Option<f64> {
        self.centres.get(&Subject::of(interval).numbers(name)).copied()
    }
}

/// Whether a figure lies among the scores, so that it can be drawn on their scale.
pub(crate) fn is_location(entry: &Entry) -> bool {
    let subject = Subject::of(entry);
    let is_share = subject.metric == "frequency" && entry.params.get("normalize") != Some(&Json::Bool(false));
    subject.is_centre() || is_share
}

/// The error that a figure carries itself, as the mean over groups does.
pub(crate) fn own_error(entry: &Entry) -> Option<f64> {
    entry.metadata.as_ref()?.get("stderr")?.as_f64().filter(|error| error.is_finite())
}

/// Whether a figure is the plain mean over groups, whose error is not the mean of their errors.
fn is_mean_of_groups(entry: &Entry) -> bool {
    let label = entry.params.get("all_label").and_then(Json::as_str).unwrap_or("all");
    let over_groups = entry.params.get("all").and_then(Json::as_str) == Some("groups");
    over_groups && entry.name == label && entry.params.contains_key("group_key")
}
