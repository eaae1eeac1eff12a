//! `frequency`: how often each value occurs.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value as Json;

use crate::args::{Args, passed, spec_of};
use crate::error::{Error, Result};
use crate::estimate::{
    ErrorMethod, ErrorPlan, Estimate, Estimation, Kind, Maybe, ShareClusters, StdError, Undefined, Whole,
    estimate_from,
};
use crate::evaluation::{MetricValue, Role};
use crate::metadata::Metadata;
use crate::metric::{MetadataKeys, Metric, MetricState, ScoreParts, Wants, compute_by_state, same_state};
use crate::registry::{MetricEntry, Param};
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

    fn new_state(&self, estimation: &Estimation) -> FrequencyState {
        let zero = |category: &String| (category.clone(), 0);
        FrequencyState {
            normalize: self.normalize.unwrap_or(true),
            counts: self.categories.iter().flatten().map(zero).collect(),
            n: 0,
            absent: 0,
            estimation: estimation.clone(),
            clusters: ShareClusters::default(),
        }
    }
}

pub(super) const ENTRY: MetricEntry = MetricEntry {
    name: "frequency",
    doc: "Share of each value among all epochs, by its text; works on unreduced scores.",
    params: &[Param::optional("categories", "None"), Param::optional("normalize", "true")],
    build: |args| {
        Ok(Arc::new(Frequency { categories: categories_arg(args)?, normalize: args.get("normalize")? }))
    },
    replaces: false,
};

/// The most categories that can be declared: every share says which they are.
const MAX_CATEGORIES: usize = 1000;

fn categories_arg(args: &Args<'_>) -> Result<Option<Vec<String>>> {
    let categories = args.get::<Vec<Leaf>>("categories")?;
    match categories.as_ref().map(Vec::len).filter(|count| *count > MAX_CATEGORIES) {
        Some(count) => {
            Err(args
                .error("categories", format!("has {count} values, and at most {MAX_CATEGORIES} are allowed")))
        }
        None => Ok(categories.map(as_texts)),
    }
}

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

    fn role(&self) -> Role {
        if self.normalize.unwrap_or(true) { Role::Share } else { Role::Other }
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        compute_by_state(self.new_state(scores.estimation()), scores)
    }

    fn state(&self, estimation: &Estimation) -> Option<Box<dyn MetricState>> {
        Some(Box::new(self.new_state(estimation)))
    }
}

#[derive(Clone, Debug)]
struct FrequencyState {
    normalize: bool,
    estimation: Estimation,
    counts: IndexMap<String, u64>,
    n: u64,
    absent: u64,
    clusters: ShareClusters,
}

impl MetricState for FrequencyState {
    fn update(&mut self, scores: &Scores<'_>) -> Result<()> {
        let mut categories = Vec::with_capacity(scores.len());
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
            let entry = self.counts.entry(text);
            categories.push(entry.index());
            *entry.or_insert(0) += 1;
            self.n += 1;
        }
        self.absent += scores.absent() as u64;
        if self.normalize {
            self.clusters.update(&self.estimation, scores, &categories)?;
        }
        Ok(())
    }

    fn merge(&mut self, other: Box<dyn MetricState>) -> Result<()> {
        let other = same_state::<FrequencyState>(other)?;
        self.n += other.n;
        self.absent += other.absent;
        let mut own = Vec::with_capacity(other.counts.len());
        for (text, count) in other.counts {
            let entry = self.counts.entry(text);
            own.push(entry.index());
            *entry.or_insert(0) += count;
        }
        self.clusters.merge(other.clusters, &own);
        Ok(())
    }

    fn finish(&self, _: Whole) -> Result<MetricValue> {
        // A share lies between 0 and 1, whatever the range of the scores.
        let errors = &ErrorPlan { range: None, ..self.estimation.errors.clone() };
        let variances = self.clusters.variances(errors.correction());
        let estimate = |(at, &count): (usize, &u64)| {
            let mut estimate = match (self.normalize, self.n) {
                (false, _) => Estimate::new(count as f64),
                (true, 0) => Estimate::undefined(Undefined::NoScores),
                (true, n) => {
                    let share = count as f64 / n as f64;
                    let error = match &variances {
                        None => share_error(share, n),
                        Some(variances) => variances.error(at, share),
                    };
                    estimate_from(share, error, n, errors, Kind::Binary)
                }
            };
            (estimate.n, estimate.absent) = (self.n, self.absent);
            Some(estimate)
        };
        let texts = self.counts.keys().cloned();
        Ok(MetricValue::Map(texts.zip(self.counts.values().enumerate().map(estimate)).collect()))
    }
}

/// The standard error of the mean of zeros and ones: √(p(1−p)/(n−1)).
fn share_error(share: f64, n: u64) -> Maybe<StdError> {
    if n < 2 {
        return Err(Undefined::TooFewScores { n });
    }
    let df = (n - 1) as f64;
    let se = (share * (1.0 - share) / df).sqrt();
    Ok(StdError::new(se, ErrorMethod::Iid).with_df(df))
}
