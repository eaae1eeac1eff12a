//! `frequency`: how often each value occurs.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value as Json;

use crate::args::{passed, spec_of};
use crate::error::{Error, Result};
use crate::metric::{
    Figure, MetadataKeys, Metric, MetricState, MetricValue, ScoreParts, Wants, compute_by_state, same_state,
};
use crate::registry::{MetricEntry, Param};
use crate::score::Metadata;
use crate::scores::Scores;
use crate::spec::Spec;
use crate::value::{Leaf, ValueRef};

/// The share of each value among all epochs, by its text; declared categories come first.
#[derive(Clone, Debug, Default)]
pub struct Frequency {
    categories: Option<Vec<String>>,
    normalize: Option<bool>,
}

/// The share of each value among all epochs.
pub fn frequency() -> Frequency {
    Frequency::default()
}

impl Frequency {
    /// Values to report even if they never occur, first and in this order.
    #[must_use]
    pub fn categories(mut self, categories: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.categories = Some(categories.into_iter().map(Into::into).collect());
        self
    }

    /// Shares (the default) or counts.
    #[must_use]
    pub fn normalize(mut self, normalize: bool) -> Self {
        self.normalize = Some(normalize);
        self
    }

    fn new_state(&self) -> FrequencyState {
        let zero = |category: &String| (category.clone(), 0);
        FrequencyState {
            normalize: self.normalize.unwrap_or(true),
            counts: self.categories.iter().flatten().map(zero).collect(),
            n: 0,
        }
    }
}

pub(super) const ENTRY: MetricEntry = MetricEntry {
    name: "frequency",
    doc: "Share of each value among all epochs, by its text; works on unreduced scores.",
    params: &[Param::optional("categories", "None"), Param::optional("normalize", "true")],
    build: |args| {
        Ok(Arc::new(Frequency {
            categories: args.get::<Vec<Leaf>>("categories")?.map(as_texts),
            normalize: args.get("normalize")?,
        }))
    },
    replaces: false,
};

/// Categories are compared by their text, so numbers may stand for theirs.
fn as_texts(categories: Vec<Leaf>) -> Vec<String> {
    categories.iter().map(|category| category.view().text()).collect()
}

impl Metric for Frequency {
    fn spec(&self) -> Spec {
        spec_of(
            "frequency",
            [("categories", passed(&self.categories)), ("normalize", passed(&self.normalize))],
        )
    }

    /// Both arguments are always recorded, as the reference does.
    fn params(&self) -> Metadata {
        let categories = self.categories.clone().map_or(Json::Null, Json::from);
        [("categories", categories), ("normalize", self.normalize.unwrap_or(true).into())]
            .map(|(name, value)| (name.to_owned(), value))
            .into_iter()
            .collect()
    }

    fn metadata_keys(&self) -> MetadataKeys {
        MetadataKeys::NONE
    }

    fn score_parts(&self) -> ScoreParts {
        ScoreParts::Value
    }

    fn wants(&self) -> Wants {
        Wants::Unreduced
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        compute_by_state(self.new_state(), scores)
    }

    fn state(&self) -> Option<Box<dyn MetricState>> {
        Some(Box::new(self.new_state()))
    }
}

#[derive(Clone, Debug)]
struct FrequencyState {
    normalize: bool,
    counts: IndexMap<String, u64>,
    n: u64,
}

impl MetricState for FrequencyState {
    fn update(&mut self, scores: &Scores<'_>) -> Result<()> {
        for at in 0..scores.len() {
            let text = match scores.value(at) {
                ValueRef::Leaf(leaf) => leaf.text(),
                nested => {
                    return Err(Error::Shape {
                        metric: "frequency".to_owned(),
                        sample: scores.sample_id(at).to_owned(),
                        found: nested.describe(),
                        wanted: "frequency counts scalars; for maps give metrics by key, as in {\"*\": [frequency()]}"
                            .to_owned(),
                    });
                }
            };
            *self.counts.entry(text).or_insert(0) += 1;
            self.n += 1;
        }
        Ok(())
    }

    fn merge(&mut self, other: Box<dyn MetricState>) -> Result<()> {
        let other = same_state::<FrequencyState>(other)?;
        self.n += other.n;
        for (text, count) in other.counts {
            *self.counts.entry(text).or_insert(0) += count;
        }
        Ok(())
    }

    fn finish(&self) -> Result<MetricValue> {
        let figure = |count: u64| match (self.normalize, self.n) {
            (false, _) => Figure::new(count as f64),
            (true, 0) => Figure::undefined(0.0, "n = 0"),
            (true, n) => Figure::new(count as f64 / n as f64),
        };
        Ok(MetricValue::Map(self.counts.iter().map(|(text, &n)| (text.clone(), Some(figure(n)))).collect()))
    }
}
