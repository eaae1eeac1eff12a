//! `aggregate`: a metric over one field of map-valued scores.

use crate::metrics::prelude::*;

/// What happens to a score that lacks the field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnMissing {
    /// It is an error.
    #[default]
    Error,
    /// The score is left out.
    Skip,
    /// The field counts 0.
    Zero,
}

impl ArgWord for OnMissing {
    const EXPECTED: &'static str = "\"error\", \"skip\" or \"zero\"";
    const WORDS: &'static [(&'static str, Self)] =
        &[("error", OnMissing::Error), ("skip", OnMissing::Skip), ("zero", OnMissing::Zero)];
}

/// A metric over one field of map-valued scores.
///
/// # Formula
/// ```text
/// agg over x_i[key]
/// ```
///
/// # When
/// Scores are maps, such as the marks of a rubric, and one field needs a metric of its own.
///
/// # Example
/// ```console
/// $ printf '%s\n' '{"id":1,"score":{"style":0.8,"facts":1}}' '{"id":2,"score":{"style":0.6,"facts":0}}' > rubric.jsonl
/// $ errorbar score rubric.jsonl --metric 'aggregate("style", mean())'
/// rubric.jsonl · 2 rows
///
/// score · 2 scored
///                                            0                                       1
///   mean of style  0.70 ± 0.10 [0.06, 0.99]    ├─────────────────────────●───────────┤  only 2 scores
///
/// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `grouped`, `where`, `mean`
///
/// # Source
/// As inspect_ai defines it.
#[derive(Clone, Debug, Params)]
#[params(crate = crate, name = "aggregate", reference)]
pub struct Aggregate {
    /// The field.
    key: String,
    /// The metric over its values.
    agg: Arc<dyn Metric>,
    /// How the field becomes a number before the metric sees it; as it is if unset.
    to_float: Option<Conversion>,
    /// What happens to a score that lacks the field: "error", "skip" or "zero".
    #[param(default = OnMissing::Error)]
    on_missing: Option<OnMissing>,
}

impl Aggregate {
    /// The field of one score; `None` if the score is to be left out.
    fn field(&self, scores: &Scores<'_>, at: usize, counts: &mut FieldCounts) -> Result<Option<Leaf>> {
        let shape =
            |found: String, wanted: String| Error::shape(Self::NAME, scores.sample_id(at), found, wanted);
        let map = match scores.value(at) {
            ValueRef::Map(map) => map,
            other => {
                return Err(shape(other.describe(), format!("it must be a map with the key {:?}", self.key)));
            }
        };
        let leaf = match map.get(self.key.as_str()).map(Leaf::view) {
            Some(LeafRef::Unscored) => {
                counts.skipped += 1;
                return Ok(None);
            }
            None | Some(LeafRef::Null) => match self.on_missing_or_default() {
                OnMissing::Skip => {
                    counts.skipped += 1;
                    return Ok(None);
                }
                OnMissing::Zero => {
                    counts.zeroed += 1;
                    return Ok(Some(Leaf::Float(0.0)));
                }
                OnMissing::Error => {
                    let found = ValueRef::Map(map).describe();
                    let key = &self.key;
                    let wanted =
                        format!("the key {key:?} has no value; on_missing=\"skip\" or \"zero\" allows that");
                    return Err(shape(found, wanted));
                }
            },
            Some(leaf) => leaf,
        };
        Ok(Some(match &self.to_float {
            Some(conversion) => {
                let converted = conversion.convert_leaf(leaf);
                if !converted.convertible {
                    counts.unconvertible.push(at);
                }
                Leaf::from(converted.value)
            }
            None => leaf.to_leaf(),
        }))
    }

    /// Hands over the fields of all scores as separate scores; and what became of them.
    fn read<T>(
        &self,
        scores: &Scores<'_>,
        read: impl FnOnce(&Scores<'_>) -> Result<T>,
    ) -> Result<(T, FieldCounts)> {
        let mut counts = FieldCounts::default();
        let mut positions = Vec::with_capacity(scores.len());
        let mut values = Vec::with_capacity(scores.len());
        for at in 0..scores.len() {
            if let Some(value) = self.field(scores, at, &mut counts)? {
                positions.push(at as u32);
                values.push(value);
            }
        }
        counts.read = positions.len();
        if let Some(first) = counts.unconvertible.first() {
            scores.note_unconvertible(counts.unconvertible.len(), *first);
        }
        Ok((scores.with_values(&positions, values, read)?, counts))
    }
}

/// What became of the fields.
#[derive(Debug, Default)]
struct FieldCounts {
    read: usize,
    skipped: usize,
    zeroed: usize,
    unconvertible: Vec<usize>,
}

impl FieldCounts {
    /// The value with what is to be known about the fields; not a number if none was read.
    fn noted(&self, value: Option<MetricValue>) -> MetricValue {
        let nothing = || Estimate::undefined(Undefined::NoField).into();
        let value = value.filter(|_| self.read > 0).unwrap_or_else(nothing);
        let counts = [("skipped_samples", self.skipped), ("zeroed_samples", self.zeroed)];
        let note = |value: MetricValue, (key, n): (&str, usize)| value.map(|estimate| estimate.note(key, n));
        counts.into_iter().filter(|(_, count)| *count > 0).fold(value, note)
    }
}

impl Metric for Aggregate {
    fn params(&self) -> Metadata {
        params_with_inner(self, "agg", self.agg.as_ref())
    }

    fn subject(&self) -> Option<Subject> {
        let mut subject = self.agg.subject()?;
        subject.field = Some(match subject.field {
            Some(inner) => format!("{}.{inner}", self.key),
            None => self.key.clone(),
        });
        subject.conversions.splice(0..0, self.to_float.clone());
        subject.on_missing = self.on_missing.map(|on_missing| on_missing.to_arg().to_string());
        Some(subject)
    }

    fn inner(&self) -> Option<&dyn Metric> {
        Some(self.agg.as_ref())
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        let compute = |fields: &Scores<'_>| match self.agg.prepare(scores.estimation(), fields)? {
            _ if fields.is_empty() => Ok(None),
            Some(prepared) => prepared.finish(GroupContext::default()).map(Some),
            None => self.agg.compute(fields).map(Some),
        };
        let (value, counts) = self.read(scores, compute)?;
        Ok(counts.noted(value))
    }

    fn prepare(&self, estimation: &Estimation, scores: &Scores<'_>) -> Result<Option<PreparedValue>> {
        let (inner, counts) = self.read(scores, |fields| self.agg.prepare(estimation, fields))?;
        Ok(inner.map(|inner| {
            PreparedValue::new(inner.kind, move |whole| {
                let value = (counts.read > 0).then(|| inner.finish(whole)).transpose()?;
                Ok(counts.noted(value))
            })
        }))
    }
}
