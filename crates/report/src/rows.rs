//! The rows that people read, made once for every format that shows them.
//!
//! Every figure of a block is on some row. What makes one statement stands on one row: a mean with its
//! error, the two ends of an interval. The error has a row of its own as well, with what is to be known
//! about it. Names are as they are; what shows rows on a terminal takes them [cleaned](Row::cleaned).

use errorbar_core::{Block, Entry, Results};
use serde_json::Value as Json;

use crate::bar::Span;
use crate::number;
use crate::pairs::{Pairs, is_location, own_error};
use crate::text::clean;

/// One row of a block.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Row {
    /// What the rows below it, which are nested, have in common.
    Heading { label: String, notes: Vec<String> },
    /// A figure, or two that make one statement.
    Figure { nested: bool, label: String, shown: Shown, span: Option<Span>, notes: Vec<String> },
    /// A metric that could not be computed.
    Failure { label: String, message: String },
}

/// A figure as it is shown. Never a number that means "unknown".
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shown {
    Number(String),
    WithError(String, String),
    Interval(String, String),
    Undefined(Option<String>),
}

impl Row {
    /// The row as a terminal may show it.
    pub(crate) fn cleaned(self) -> Self {
        let all = |notes: Vec<String>| notes.iter().map(|note| clean(note)).collect();
        match self {
            Row::Heading { label, notes } => Row::Heading { label: clean(&label), notes: all(notes) },
            Row::Figure { nested, label, shown, span, notes } => {
                let shown = match shown {
                    Shown::Undefined(reason) => Shown::Undefined(reason.map(|reason| clean(&reason))),
                    // Numbers.
                    shown => shown,
                };
                Row::Figure { nested, label: clean(&label), shown, span, notes: all(notes) }
            }
            Row::Failure { label, message } => {
                Row::Failure { label: clean(&label), message: clean(&message) }
            }
        }
    }
}

/// The blocks that say something: a list of metrics by key alone has a plain block without metrics.
pub(crate) fn blocks(results: &Results) -> impl Iterator<Item = &Block> {
    results.scores.iter().filter(|block| !block.metrics.is_empty() || !block.failures.is_empty())
}

/// The words of a block's title: what was scored how, and how many there were.
pub(crate) fn title(block: &Block) -> (String, Vec<String>) {
    let name = if block.name == block.scorer {
        block.scorer.clone()
    } else {
        format!("{}: {}", block.scorer, block.name)
    };
    let mut details = reduction(block);
    details.push(format!("{} scored", block.scored_samples));
    let counts = [
        (block.unscored_samples, "unscored"),
        (block.missing_samples, "missing"),
        (block.errored_samples, "errored"),
        (block.unconvertible, "unconvertible (count as 0)"),
    ];
    details.extend(said(&counts));
    (name, details)
}

/// What was done with the epochs of a sample, and which of them reduction passed over: those are
/// epochs, where the other counts of a reduced block are samples.
fn reduction(block: &Block) -> Vec<String> {
    let reducer = block.reducer.as_ref().map(|reducer| format!("reduced by {reducer}"));
    if block.epochs <= 1 {
        return Vec::from_iter(reducer);
    }
    let mut epochs = format!("{} epochs", block.epochs);
    if block.unreduced {
        epochs += ", not reduced";
    } else {
        let unscored =
            if block.unscored_epochs == 1 { "epoch score unscored" } else { "epoch scores unscored" };
        let missing = match block.missing_epochs {
            _ if block.unscored_epochs > 0 => "missing",
            1 => "epoch score missing",
            _ => "epoch scores missing",
        };
        let passed_over = said(&[(block.unscored_epochs, unscored), (block.missing_epochs, missing)]);
        if !passed_over.is_empty() {
            epochs += &format!(" ({})", passed_over.join(", "));
        }
        if reducer.is_none() {
            epochs = format!("mean of {epochs}");
        }
    }
    reducer.into_iter().chain([epochs]).collect()
}

/// Counts in words, where there is something to count.
fn said(counts: &[(usize, &str)]) -> Vec<String> {
    counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect()
}

/// All rows of a block.
pub(crate) fn rows(block: &Block) -> Vec<Row> {
    let entries: Vec<(&str, &Entry)> =
        block.metrics.iter().map(|(key, entry)| (key.as_str(), entry)).collect();
    let pairs = Pairs::of(block);
    let mut rows = Vec::new();
    let mut under: Option<&Entry> = None;
    let mut rest = entries.as_slice();
    while let [(key, entry), after @ ..] = rest {
        rest = after;
        let upper = after.first().filter(|(_, next)| interval_prefix(entry, next).is_some());
        let prefix = upper.and_then(|(_, next)| interval_prefix(entry, next)).unwrap_or_default();
        let is_nested =
            is_grouped(entry) || (entry.group.is_some() && !(upper.is_some() && prefix.is_empty()));
        if !is_nested {
            under = None;
        } else if !under.is_some_and(|first| first.group == entry.group && first.params == entry.params) {
            under = Some(entry);
            rows.push(heading(entry));
        }
        rows.push(match upper {
            Some((_, upper)) => {
                rest = after.get(1..).unwrap_or_default();
                interval(&pairs, entry, upper, prefix, is_nested)
            }
            None => figure(&pairs, key, entry, is_nested),
        });
    }
    rows.extend(block.failures.iter().map(|failure| {
        let message = failure.error.to_string();
        let own = format!("{}: ", failure.metric);
        let message = message.strip_prefix(&own).unwrap_or(&message);
        Row::Failure { label: failure.metric.clone(), message: message.to_owned() }
    }));
    rows
}

/// Whether the entry is of one of the groups of a metadata key. In blocks by key, entries name no
/// group, but their arguments still tell.
fn is_grouped(entry: &Entry) -> bool {
    entry.params.contains_key("group_key")
}

/// What stands before `lower` and `upper` in the names of two entries that are the ends of one interval.
fn interval_prefix<'e>(lower: &'e Entry, upper: &Entry) -> Option<&'e str> {
    let prefix = lower.name.strip_suffix("lower")?;
    let is_pair = upper.name.strip_suffix("upper") == Some(prefix)
        && (prefix.is_empty() || prefix.ends_with('_'))
        && lower.group == upper.group
        && lower.params == upper.params;
    is_pair.then_some(prefix)
}

fn heading(entry: &Entry) -> Row {
    let params = &entry.params;
    let (Some(metric), Some(group_key)) = (params.get("metric"), params.get("group_key")) else {
        let label = entry.group.clone().unwrap_or_default();
        return Row::Heading { label, notes: arguments(entry, &[]) };
    };
    let level = note(entry, "level").and_then(Json::as_f64).map(percent);
    let label = match level {
        Some(level) => format!("{} {level} by {}", call(metric, &["level"]), argument_text(group_key)),
        None => format!("{} by {}", call(metric, &[]), argument_text(group_key)),
    };
    Row::Heading { label, notes: arguments(entry, &["metric", "group_key"]) }
}

fn figure(pairs: &Pairs<'_>, key: &str, entry: &Entry, nested: bool) -> Row {
    let mut notes = if nested { Vec::new() } else { arguments(entry, &[]) };
    let (shown, span) = match (undefined(entry), pairs.error_of(entry)) {
        (Some(unknown), _) => (unknown, None),
        (None, Some((error_key, error))) => {
            if !nested && pairs.has_several_errors() {
                notes.push(format!("± {error_key}"));
            }
            let (value, shown_error) = number::with_error(entry.value, error);
            (Shown::WithError(value, shown_error), Some(Span::around(entry.value, error)))
        }
        (None, None) => {
            let span = is_location(entry).then(|| Span::point(entry.value));
            (Shown::Number(number::plain(entry.value)), span)
        }
    };
    notes.extend(remarks(entry));
    // Under a heading, the name says it; alone, the key that the machine formats have it under.
    let label = if nested { &entry.name } else { key };
    Row::Figure { nested, label: label.to_owned(), shown, span, notes }
}

fn interval(pairs: &Pairs<'_>, lower: &Entry, upper: &Entry, prefix: &str, nested: bool) -> Row {
    let name = prefix.trim_end_matches('_');
    let mut label =
        if name.is_empty() { lower.group.as_deref().unwrap_or("interval") } else { name }.to_owned();
    if !nested && let Some(level) = note(lower, "level").and_then(Json::as_f64) {
        label += &format!(" {}", percent(level));
    }
    let shown = undefined(lower).or_else(|| undefined(upper)).unwrap_or_else(|| {
        let (lower, upper) = number::interval(lower.value, upper.value);
        Shown::Interval(lower, upper)
    });
    let span = (!matches!(shown, Shown::Undefined(_))).then(|| {
        let point = pairs.centre_of(lower, name);
        Span { point, lower: lower.value, upper: upper.value }
    });
    let mut notes = if nested { Vec::new() } else { arguments(lower, &["level"]) };
    notes.extend(remarks(lower));
    Row::Figure { nested, label, shown, span, notes }
}

fn undefined(entry: &Entry) -> Option<Shown> {
    let reason = entry.undefined_reason().map(str::to_owned);
    (reason.is_some() || entry.value.is_nan()).then_some(Shown::Undefined(reason))
}

fn note<'e>(entry: &'e Entry, key: &str) -> Option<&'e Json> {
    entry.metadata.as_ref()?.get(key)
}

/// The arguments that were passed to a metric, but for those that the label shows.
fn arguments(entry: &Entry, shown: &[&str]) -> Vec<String> {
    let says_something =
        |(name, value): &(&String, &Json)| !value.is_null() && !shown.contains(&name.as_str());
    let passed = entry.params.iter().filter(says_something);
    passed.map(|(name, value)| format!("{name}={}", argument_text(value))).collect()
}

/// What is known about a figure besides its value and what its row shows already.
fn remarks(entry: &Entry) -> Vec<String> {
    let number = |key: &str| note(entry, key).and_then(Json::as_f64);
    let mut remarks = Vec::new();
    let mut shown = vec!["undefined", "level"];
    if own_error(entry).is_some() {
        shown.push("stderr");
    }
    if let (Some(absent), Some(worst), Some(best)) = (number("absent"), number("worst"), number("best")) {
        // What the figure would be if every sample that has no score had the worst one, or the best.
        let (worst, best) = number::interval(worst, best);
        remarks.push(format!("{worst} … {best} with the {absent} absent"));
        shown.extend(["absent", "worst", "best"]);
    }
    let others = entry.metadata.iter().flatten().filter(|(key, _)| !shown.contains(&key.as_str()));
    remarks.extend(others.map(|(key, value)| remark(&key.replace('_', " "), value)));
    remarks
}

/// A note as words: `12 clusters`, `df 11`.
fn remark(words: &str, value: &Json) -> String {
    let text = value.as_f64().map_or_else(|| argument_text(value), number::plain);
    match value.as_u64() {
        Some(1) if words.ends_with('s') => format!("1 {}", words.trim_end_matches('s')),
        Some(_) if words.ends_with('s') => format!("{text} {words}"),
        _ => format!("{words} {text}"),
    }
}

/// An argument as a person would write it.
fn argument_text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Object(object) if object.contains_key("name") => call(value, &[]),
        other => other.to_string(),
    }
}

/// A nested metric as a spec, but for arguments that are shown elsewhere: `ci(method=bootstrap)`.
fn call(metric: &Json, shown: &[&str]) -> String {
    let name = metric.get("name").and_then(Json::as_str).unwrap_or_default();
    let params = metric.get("params").and_then(Json::as_object);
    let passed = params.into_iter().flatten().filter(|(key, _)| !shown.contains(&key.as_str()));
    let passed: Vec<String> = passed.map(|(key, value)| format!("{key}={}", argument_text(value))).collect();
    if passed.is_empty() { name.to_owned() } else { format!("{name}({})", passed.join(", ")) }
}

fn percent(level: f64) -> String {
    format!("{} %", number::plain(level * 100.0))
}
