//! `metrics`: one spec, a list of specs and tables, or a table from patterns of keys to specs.

use std::sync::Arc;

use errorbar_core::spec::MetricsSpec;
use errorbar_core::{Error, Metric, MetricItem, MetricMap, Metrics, Registry};

use super::mistake::Mistakes;
use super::section::{TomlField, all};
use super::specs;
use super::text::TomlString;

const WANTED: &str =
    "a metric such as \"accuracy()\", a list of them, or a table such as { \"a*\" = [\"mean()\"] }";

pub(super) fn read(field: TomlField<'_>, registry: &Registry, mistakes: &mut Mistakes) -> Option<Metrics> {
    if field.value().is_table() {
        return map(field, registry, mistakes).map(Metrics::Map);
    }
    if let Some(text) = field.as_text() {
        return from_text(&text, registry, mistakes);
    }
    let items = field.as_list().filter(|items| !items.is_empty());
    let Some(items) = items else {
        let hint = "leave it out for the metrics that the scorer brings".to_owned();
        field.expected_with_hint(WANTED, Some(hint), mistakes);
        return None;
    };
    let items: Vec<_> = all(items.into_iter().map(|item| list_item(item, registry, mistakes)))?;
    Some(Metrics::List(items.into_iter().flatten().collect()))
}

fn list_item(item: TomlField<'_>, registry: &Registry, mistakes: &mut Mistakes) -> Option<Vec<MetricItem>> {
    if item.value().is_table() {
        return map(item, registry, mistakes).map(|map| vec![MetricItem::Map(map)]);
    }
    let Some(text) = item.as_text() else {
        item.expected(
            "a metric such as \"accuracy()\" or a table such as { \"a*\" = [\"mean()\"] }",
            mistakes,
        );
        return None;
    };
    from_text(&text, registry, mistakes).map(|metrics| match metrics {
        Metrics::List(items) => items,
        Metrics::Map(map) => vec![MetricItem::Map(map)],
    })
}

/// The text may also hold a list or a map, as on the command line.
fn from_text(text: &TomlString<'_>, registry: &Registry, mistakes: &mut Mistakes) -> Option<Metrics> {
    let mut report = |error: Error| specs::report(text, "metric", &error, registry, mistakes);
    let spec = text.value.parse::<MetricsSpec>().map_err(|error| report(error.into())).ok()?;
    // One by one: building all of them would stop at the first that is wrong.
    spec.iter().filter_map(|spec| registry.metric(spec).err()).for_each(report);
    registry.metrics(&spec).ok()
}

fn map(field: TomlField<'_>, registry: &Registry, mistakes: &mut Mistakes) -> Option<MetricMap> {
    let entries = field.as_table()?;
    if entries.is_empty() {
        field.expected("patterns of keys with their metrics, such as { \"a*\" = [\"mean()\"] }", mistakes);
        return None;
    }
    let entries = entries.into_iter();
    all(entries.map(|entry| Some((entry.key().to_owned(), of_pattern(entry, registry, mistakes)?))))
}

fn of_pattern(
    entry: TomlField<'_>,
    registry: &Registry,
    mistakes: &mut Mistakes,
) -> Option<Vec<Arc<dyn Metric>>> {
    let texts = entry.texts("a metric such as \"mean()\", or a list of them", mistakes)?;
    if texts.is_empty() {
        entry.expected("at least one metric", mistakes);
        return None;
    }
    all(texts.into_iter().map(|text| specs::build(&text?, registry, mistakes, |spec| registry.metric(spec))))
}
