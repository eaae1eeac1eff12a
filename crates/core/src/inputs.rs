//! What a metric needs of its data: which scores, which parts of them, which sample metadata, which raters. Readers fetch no
//! more than that.

/// Which scores a metric wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wants {
    /// Reduced scores, unless reduction is disabled.
    #[default]
    Auto,
    /// One score per sample; an error if reduction is disabled and samples repeat.
    Reduced,
    /// Every epoch; reducers do not matter.
    Unreduced,
}

/// The sample metadata keys that a metric needs, so that readers fetch no others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetadataKeys {
    /// These.
    Only(Vec<String>),
    /// Whatever there is.
    All,
}

impl MetadataKeys {
    /// No key at all.
    pub const NONE: MetadataKeys = MetadataKeys::Only(Vec::new());

    /// One key.
    pub fn one(key: impl Into<String>) -> Self {
        MetadataKeys::Only(vec![key.into()])
    }

    /// The keys of both.
    #[must_use]
    pub fn and(self, other: MetadataKeys) -> Self {
        match (self, other) {
            (MetadataKeys::Only(mut keys), MetadataKeys::Only(more)) => {
                for key in more {
                    if !keys.contains(&key) {
                        keys.push(key);
                    }
                }
                MetadataKeys::Only(keys)
            }
            _ => MetadataKeys::All,
        }
    }

    /// Whether a key is among them.
    pub fn contains(&self, key: &str) -> bool {
        match self {
            MetadataKeys::All => true,
            MetadataKeys::Only(keys) => keys.iter().any(|k| k == key),
        }
    }
}

/// A metadata key without which a metric fails, so that a run that lacks it can be refused before it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequiredKey {
    /// The key.
    pub key: String,
    /// What it is for.
    pub usage: KeyUsage,
}

impl RequiredKey {
    /// A key and what it is for.
    pub fn new(key: impl Into<String>, usage: KeyUsage) -> Self {
        RequiredKey { key: key.into(), usage }
    }
}

/// What a metadata key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyUsage {
    /// Samples are clustered by it: every sample has it.
    Cluster,
    /// Samples are grouped by it: every sample has it.
    Group,
    /// Samples, or groups, are weighted by it: every sample has it.
    Weight,
    /// A condition is about it: some sample has it, and `a.b` may be `b` in the map `a`.
    Condition,
    /// It is the confidence of an answer: every sample has it, or its score does.
    Confidence,
}

/// The parts of a score that a metric reads, so that readers of logs hold no others: answers and explanations may be
/// long. Each has those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScoreParts {
    /// The value, and the reason of one that is unscored.
    Value,
    /// Its metadata too.
    Metadata,
    /// Everything: answer, explanation and history too.
    All,
}

/// What the names of a metric's figures follow from, so that a name can be checked before there are scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureNames {
    /// There is one figure, with the name of the metric.
    OfMetric,
    /// Arguments, and the metadata of samples; scores have no part in them.
    OfMetadata,
    /// Scores have a part in them, or that is not known.
    OfScores,
}

/// The raters that a metric names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Raters {
    /// Their names.
    pub names: Vec<String>,
    /// Whether the figure is about these alone, and not about the scorer that it is computed for: then it is computed
    /// once, for the first of them that is a scorer.
    pub are_all: bool,
}

impl Raters {
    /// Raters that a metric reads beside the scores of its scorer.
    pub fn beside(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Raters { names: names.into_iter().map(Into::into).collect(), are_all: false }
    }

    /// All raters that a figure is about.
    pub fn all(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Raters { are_all: true, ..Raters::beside(names) }
    }

    /// The metadata keys that the names may refer to.
    pub fn metadata_keys(&self) -> MetadataKeys {
        let keys = |name: &String| [Some(name.clone()), name.strip_prefix(OF_METADATA).map(str::to_owned)];
        MetadataKeys::Only(self.names.iter().flat_map(keys).flatten().collect())
    }

    /// The scorers that the names may refer to.
    pub fn scorers(&self) -> impl Iterator<Item = &str> {
        self.names.iter().flat_map(|name| {
            let bare = name.strip_prefix(OF_SCORER);
            let of_field = name.split_once('.').map(|(scorer, _)| scorer);
            [Some(name.as_str()), bare, of_field].into_iter().flatten()
        })
    }
}

/// What the name of a rater may begin with, where it could be several things.
pub(crate) const OF_SCORER: &str = "scorer.";
pub(crate) const OF_FIELD: &str = "field.";
pub(crate) const OF_METADATA: &str = "metadata.";
