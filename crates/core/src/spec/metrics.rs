//! What may stand where a task names its metrics.

use std::str::FromStr;

use indexmap::IndexMap;

use super::cursor::Parser;
use super::{Spec, SpecError};

/// Metrics for some keys of map-valued scores: a shell glob for the keys, and what to compute for each that matches.
pub type MetricMap = IndexMap<String, Vec<Spec>>;

/// The metrics of a task or a scorer.
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
#[derive(Debug, Clone, PartialEq)]
pub enum MetricsSpec {
    /// Metrics over the whole score, and perhaps maps among them.
    List(Vec<MetricItem>),
    /// Metrics for the keys of map-valued scores only.
    Map(MetricMap),
}

/// An entry of a list of metrics.
#[derive(Debug, Clone, PartialEq)]
pub enum MetricItem {
    /// A metric over the whole score.
    Metric(Spec),
    /// Metrics for the keys of map-valued scores.
    Map(MetricMap),
}

impl MetricsSpec {
    /// Every spec in it, in order, wherever it stands.
    ///
    /// ```
    /// use errorbar_core::spec::MetricsSpec;
    ///
    /// let metrics: MetricsSpec = r#"[accuracy(), {"a*": [mean(), std()]}]"#.parse()?;
    /// let names: Vec<&str> = metrics.specs().iter().map(|spec| spec.name.as_str()).collect();
    /// assert_eq!(names, ["accuracy", "mean", "std"]);
    /// # Ok::<(), errorbar_core::spec::SpecError>(())
    /// ```
    pub fn specs(&self) -> Vec<&Spec> {
        let mut specs = Vec::new();
        match self {
            Self::Map(map) => specs.extend(map.values().flatten()),
            Self::List(items) => {
                for item in items {
                    match item {
                        MetricItem::Metric(spec) => specs.push(spec),
                        MetricItem::Map(map) => specs.extend(map.values().flatten()),
                    }
                }
            }
        }
        specs
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
