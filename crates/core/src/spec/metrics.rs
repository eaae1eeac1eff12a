//! What may stand where a task names its metrics.

use std::str::FromStr;

use indexmap::IndexMap;
use serde::Serialize;

use super::cursor::Parser;
use super::{Spec, SpecError};

/// Metrics for some keys of map-valued scores: a shell glob for the keys, and what to compute for each that matches.
pub type MetricMap<T = Spec> = IndexMap<String, Vec<T>>;

/// The metrics of a task or a scorer, by their specs.
///
/// In JSON and TOML it is a string, a list of strings and maps, or a map of lists of strings. A map whose `name` is a
/// string is a metric as logs record it, so a glob spelled `name` needs its metrics in a list.
///
/// ```
/// use errorbar_core::spec::MetricsSpec;
///
/// let metrics: MetricsSpec = "[accuracy, {'al*': mean}]".parse()?;
/// assert_eq!(metrics.to_string(), r#"[accuracy(), {"al*": [mean()]}]"#);
///
/// let same: MetricsSpec = serde_json::from_str(r#"["accuracy", {"al*": ["mean()"]}]"#).unwrap();
/// assert_eq!(same, metrics);
/// # Ok::<(), errorbar_core::spec::SpecError>(())
/// ```
pub type MetricsSpec = MetricTree<Spec>;

/// The metrics of a task or a scorer: specs, or what is built from them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum MetricTree<T> {
    /// Metrics over the whole score, and perhaps maps among them.
    List(Vec<MetricItem<T>>),
    /// Metrics for the keys of map-valued scores only.
    Map(MetricMap<T>),
}

/// An entry of a list of metrics.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum MetricItem<T = Spec> {
    /// A metric over the whole score.
    Metric(T),
    /// Metrics for the keys of map-valued scores.
    Map(MetricMap<T>),
}

impl<T> MetricItem<T> {
    fn iter(&self) -> impl Iterator<Item = &T> {
        let (metric, map) = match self {
            MetricItem::Metric(metric) => (Some(metric), None),
            MetricItem::Map(map) => (None, Some(map)),
        };
        metric.into_iter().chain(map.into_iter().flat_map(|map| map.values().flatten()))
    }
}

impl<T> MetricTree<T> {
    /// Every metric in it, in order, wherever it stands.
    ///
    /// ```
    /// use errorbar_core::spec::MetricsSpec;
    ///
    /// let metrics: MetricsSpec = r#"[accuracy(), {"a*": [mean(), std()]}]"#.parse()?;
    /// let names: Vec<&str> = metrics.iter().map(|spec| spec.name.as_str()).collect();
    /// assert_eq!(names, ["accuracy", "mean", "std"]);
    /// # Ok::<(), errorbar_core::spec::SpecError>(())
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let (items, map) = match self {
            Self::List(items) => (items.as_slice(), None),
            Self::Map(map) => (Default::default(), Some(map)),
        };
        items.iter().flat_map(MetricItem::iter).chain(map.into_iter().flat_map(|map| map.values().flatten()))
    }

    /// Only the metrics that pass, in the same structure.
    pub(crate) fn filter(&self, pass: impl Fn(&T) -> bool) -> Self
    where
        T: Clone,
    {
        let filter_map = |map: &MetricMap<T>| -> MetricMap<T> {
            let passing = |metrics: &Vec<T>| metrics.iter().filter(|m| pass(m)).cloned().collect::<Vec<T>>();
            let entries = map.iter().map(|(pattern, metrics)| (pattern.clone(), passing(metrics)));
            entries.filter(|(_, metrics)| !metrics.is_empty()).collect()
        };
        let filter_item = |item: &MetricItem<T>| match item {
            MetricItem::Metric(metric) => pass(metric).then(|| item.clone()),
            MetricItem::Map(map) => Some(filter_map(map)).filter(|map| !map.is_empty()).map(MetricItem::Map),
        };
        match self {
            Self::Map(map) => Self::Map(filter_map(map)),
            Self::List(items) => Self::List(items.iter().filter_map(filter_item).collect()),
        }
    }
}

impl FromIterator<Spec> for MetricsSpec {
    fn from_iter<I: IntoIterator<Item = Spec>>(specs: I) -> Self {
        Self::List(specs.into_iter().map(MetricItem::Metric).collect())
    }
}

/// A single metric is a list of one.
impl From<Spec> for MetricsSpec {
    fn from(spec: Spec) -> Self {
        Self::from_iter([spec])
    }
}

impl FromStr for MetricsSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Parser::whole(text, |parser| match parser.peek() {
            Some('{') => parser.metric_map().map(Self::Map),
            Some('[') => {
                let mut items = Vec::new();
                parser.offset += 1;
                parser.items(']', "a metric", |parser| {
                    items.push(match parser.peek() {
                        Some('{') => MetricItem::Map(parser.metric_map()?),
                        _ => MetricItem::Metric(parser.spec()?),
                    });
                    Ok(())
                })?;
                Ok(Self::List(items))
            }
            _ => parser.spec().map(Self::from),
        })
    }
}

impl Parser<'_> {
    fn metric_map(&mut self) -> Result<MetricMap, SpecError> {
        self.map(|parser| {
            if parser.peek() != Some('[') {
                return Ok(vec![parser.spec()?]);
            }
            let mut specs = Vec::new();
            parser.offset += 1;
            parser.items(']', "a metric", |parser| {
                specs.push(parser.spec()?);
                Ok(())
            })?;
            Ok(specs)
        })
    }
}
