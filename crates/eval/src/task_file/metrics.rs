//! `metrics`: one spec, a list of specs and tables, or a table from patterns of keys to specs.

use std::sync::Arc;

use errorbar_core::spec::MetricsSpec;
use errorbar_core::{Error, Metric, MetricItem, MetricMap, Metrics};

use super::section::{TomlField, all};
use super::specs;
use super::text::TomlString;

const WANTED: &str =
    "a metric such as \"accuracy()\", a list of them, or a table such as { \"a*\" = [\"mean()\"] }";

pub(super) fn read(field: TomlField<'_>) -> Option<Metrics> {
    if let Some(metrics) = one(field) {
        return metrics;
    }
    let Some(items) = field.as_list().filter(|items| !items.is_empty()) else {
        let hint = "leave it out for the metrics that the scorer brings".to_owned();
        return field.expected_with_hint(WANTED, Some(hint));
    };
    let items: Vec<_> = all(items.into_iter().map(list_item))?;
    Some(Metrics::List(items.into_iter().flatten().collect()))
}

fn list_item(item: TomlField<'_>) -> Option<Vec<MetricItem>> {
    let metrics = one(item).unwrap_or_else(|| {
        item.expected("a metric such as \"accuracy()\" or a table such as { \"a*\" = [\"mean()\"] }")
    });
    Some(match metrics? {
        Metrics::List(items) => items,
        Metrics::Map(map) => vec![MetricItem::Map(map)],
    })
}

/// The metrics of a table or a string, if it is one of them; of these there are none if something is wrong with it.
fn one(field: TomlField<'_>) -> Option<Option<Metrics>> {
    let of_table = |_| map(field).map(Metrics::Map);
    field.value().as_table().map(of_table).or_else(|| Some(of_string(&field.as_string()?)))
}

/// The string may also hold a list or a map, as on the command line.
fn of_string(string: &TomlString<'_>) -> Option<Metrics> {
    let registry = string.file.registry;
    let report = |error: Error| specs::report(string, "metric", &error);
    let spec = string.value.parse::<MetricsSpec>().map_err(|error| report(error.into())).ok()?;
    // One by one: building all of them would stop at the first that is wrong.
    spec.iter().filter_map(|spec| registry.metric(spec).err()).for_each(report);
    registry.metrics(&spec).ok()
}

fn map(field: TomlField<'_>) -> Option<MetricMap> {
    let entries = field.as_table()?;
    if entries.is_empty() {
        return field.expected("patterns of keys with their metrics, such as { \"a*\" = [\"mean()\"] }");
    }
    all(entries.into_iter().map(|entry| Some((entry.key().to_owned(), of_pattern(entry)?))))
}

fn of_pattern(entry: TomlField<'_>) -> Option<Vec<Arc<dyn Metric>>> {
    let strings = entry.strings("a metric such as \"mean()\", or a list of them")?;
    if strings.is_empty() {
        return entry.expected("at least one metric");
    }
    all(strings.into_iter().map(|string| specs::build(&string?, |registry, spec| registry.metric(spec))))
}
