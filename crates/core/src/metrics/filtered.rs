//! `where`: a metric over the samples that meet a condition.

use crate::condition::{Condition, within};
use crate::metrics::prelude::*;
use crate::scores::KeyColumn;

/// A metric over the samples whose metadata meet a condition: `where(accuracy(), "category=law")`.
///
/// Conditions are `key=value`, `key!=value` and, for numbers and for strings in quotes, `key<value`, `<=`, `>` and `>=`; a
/// list of them is all of them at once. `a.b` is `b` in the map `a`. The figure is that of a group of samples, named by the condition.
///
/// ```
/// use errorbar_core::ToSpec;
/// use errorbar_core::metrics::{accuracy, filtered};
/// let hard_law = filtered(accuracy(), ["category=law", "difficulty>=3"]);
/// assert_eq!(
///     hard_law.spec().to_string(),
///     r#"where(metric=accuracy(), condition=["category=law", "difficulty>=3"])"#
/// );
/// ```
///
/// # Formula
/// ```text
/// metric over {i : condition holds for the metadata of i}
/// ```
///
/// # When
/// One part of the samples is what matters. For every part side by side use `grouped`.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,subject,score 1,law,C 2,law,I 3,law,C 4,art,C 5,art,C 6,art,I > exam.csv
/// $ errorbar score exam.csv --metric 'where(accuracy(), "subject=law")'
/// exam.csv · 6 rows
///
/// score · 6 scored
///                                            0                                       1
///   accuracy by subject
///     subject=law  0.67 ± 0.33 [0.21, 0.94]           ├─────────────────●──────────┤    only 3 scores
///
/// ± one standard error · [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `grouped`, `aggregate`
///
/// # Source
/// Defined by errorbar; inspect_ai has no such metric.
#[derive(Clone, Debug, Params)]
#[params(crate = crate, name = "where", constructor = filtered)]
pub struct Where {
    /// The metric.
    metric: Arc<dyn Metric>,
    /// The condition on the metadata, or a list of them.
    #[param(check = Conditions::check)]
    condition: Conditions,
}

/// One condition or several, as they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conditions(Vec<String>);

impl Conditions {
    fn check(&self) -> Result<(), String> {
        if self.0.is_empty() {
            return Err("is empty; expected a condition such as \"category=law\"".to_owned());
        }
        self.parse().map(drop)
    }

    fn parse(&self) -> Result<Vec<Condition>, String> {
        let parsed = |text: &String| text.parse().map_err(|problem| format!("is {text:?}: {problem}"));
        self.0.iter().map(parsed).collect()
    }
}

impl From<&str> for Conditions {
    fn from(text: &str) -> Self {
        Conditions(vec![text.to_owned()])
    }
}
impl From<String> for Conditions {
    fn from(text: String) -> Self {
        Conditions(vec![text])
    }
}
impl<T: Into<String>, const N: usize> From<[T; N]> for Conditions {
    fn from(texts: [T; N]) -> Self {
        Conditions(texts.into_iter().map(Into::into).collect())
    }
}

impl ArgType for Conditions {
    const EXPECTED: &'static str = "a condition such as \"category=law\", or a list of them";

    fn from_arg(arg: &Arg, _: &Registry) -> Result<Self, ArgProblem> {
        let text = |arg: &Arg| arg.as_str().map(str::to_owned).ok_or(ArgProblem::Expected(Self::EXPECTED));
        match arg {
            Arg::List(items) => Ok(Conditions(items.iter().map(text).collect::<Result<_, _>>()?)),
            arg => Ok(Conditions(vec![text(arg)?])),
        }
    }

    fn to_arg(&self) -> Arg {
        match self.0.as_slice() {
            [one] => Arg::Str(one.clone()),
            several => Arg::List(several.iter().map(|text| Arg::Str(text.clone())).collect()),
        }
    }
}

impl Metric for Where {
    metric_flags! { self: wants = self.metric.wants() }

    fn params(&self) -> Metadata {
        params_with_inner(self, "metric", self.metric.as_ref())
    }

    fn inner(&self) -> Option<&dyn Metric> {
        Some(self.metric.as_ref())
    }

    fn metadata_keys(&self) -> MetadataKeys {
        // `a.b` is a key, or one within the map `a`.
        let keys = |condition: &Condition| {
            let first = condition.key().split_once('.').map(|(first, _)| first.to_owned());
            [Some(condition.key().to_owned()), first]
        };
        let conditions = self.condition.parse().unwrap_or_default();
        let keys = conditions.iter().flat_map(keys).flatten().collect();
        MetadataKeys::Only(keys).and(self.metric.metadata_keys())
    }

    fn required_keys(&self) -> Vec<RequiredKey> {
        let conditions = self.condition.parse().unwrap_or_default();
        let keys = conditions.iter().map(|condition| RequiredKey::new(condition.key(), KeyUsage::Condition));
        keys.chain(self.metric.required_keys()).collect()
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        self.check()?;
        let part = self.part(scores)?;
        let n = Some(scores.len() as u64);
        let whole = GroupContext { n, is_group: true, ..GroupContext::default() };
        let value = match self.metric.prepare(scores.estimation(), &part)? {
            _ if part.is_empty() => None,
            Some(prepared) => Some(prepared.finish(whole)?),
            None => Some(self.metric.compute(&part)?),
        };
        Ok(self.group(value, part.len() as u64, part.absent() as u64))
    }

    fn prepare(&self, estimation: &Estimation, scores: &Scores<'_>) -> Result<Option<PreparedValue>> {
        self.check()?;
        let part = self.part(scores)?;
        let (filter, n, absent) = (self.clone(), part.len() as u64, part.absent() as u64);
        let all = scores.len() as u64;
        Ok(self.metric.prepare(estimation, &part)?.map(|inner| {
            PreparedValue::new(inner.kind, move |whole| {
                let whole = GroupContext { n: whole.n.or(Some(all)), is_group: true, ..whole };
                let value = (n > 0).then(|| inner.finish(whole)).transpose()?;
                Ok(filter.group(value, n, absent))
            })
        }))
    }
}

impl Where {
    /// The scores of samples that meet the condition.
    fn part<'a>(&self, scores: &Scores<'a>) -> Result<Scores<'a>> {
        let conditions = self.condition.parse().map_err(|problem| Self::refuse("condition", problem))?;
        let mut verdicts = Vec::with_capacity(conditions.len());
        for condition in &conditions {
            verdicts.push(Verdicts::new(condition, scores)?);
        }
        let mut meets = |row: usize| verdicts.iter_mut().all(|verdicts| verdicts.of_row(row));
        let positions =
            (0..scores.len()).filter(|at| meets(scores.column_row(*at))).map(|at| at as u32).collect();
        let absent = scores.absent_rows().iter().copied().filter(|row| meets(*row as usize)).collect();
        Ok(scores.subset(positions, absent))
    }

    /// The condition in words: `category=law, difficulty>=3`.
    fn text(&self) -> String {
        let conditions = self.condition.parse().unwrap_or_default();
        conditions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }

    /// The value as that of one group.
    fn group(&self, value: Option<MetricValue>, n: u64, absent: u64) -> MetricValue {
        let label = self.text();
        let value = value.unwrap_or_else(|| {
            let mut estimate = Estimate::undefined(Undefined::Other(format!("no sample meets {label}")));
            estimate.absent = absent;
            estimate.into()
        });
        // A custom metric does not count its scores.
        let counted = |estimate: Estimate| match estimate.n {
            0 if estimate.value.is_ok() => estimate.with_n(n),
            _ => estimate,
        };
        let conditions = self.condition.parse().unwrap_or_default();
        let (key, name) = match conditions.as_slice() {
            // The group that `grouped` has for this value.
            [one] if one.is_equality() => (one.key().to_owned(), one.value().to_owned()),
            [one] => (one.key().to_owned(), label.clone()),
            several => (several.iter().map(Condition::key).collect::<Vec<_>>().join(", "), label.clone()),
        };
        let group = Group { label, ..Group::new(name, n, value.map(counted)) };
        Groups::new(key, vec![group]).into()
    }
}

/// Which samples meet a condition: every distinct value is looked at once.
struct Verdicts<'c, 'a, 'k> {
    condition: &'c Condition,
    column: KeyColumn<'a, 'k>,
    /// The keys of maps within the values of the column.
    path: Option<&'c str>,
    of_code: Vec<Option<bool>>,
}

impl<'c, 'a> Verdicts<'c, 'a, 'c> {
    /// # Errors
    /// No sample has the key.
    fn new(condition: &'c Condition, scores: &Scores<'a>) -> Result<Self> {
        let key = condition.key();
        let (mut column, mut path) = (scores.key(Where::NAME, key), None);
        if column.distinct() == 0
            && let Some((first, rest)) = key.split_once('.')
        {
            let whole = scores.key(Where::NAME, first);
            if whole.distinct() > 0 {
                (column, path) = (whole, Some(rest));
            }
        }
        if column.distinct() == 0 && !scores.is_empty() {
            // As of a key that some sample lacks: this one is lacked by all.
            scores.codes(&column)?;
            return Err(Error::custom("a metadata key was lost"));
        }
        let of_code = vec![None; column.distinct()];
        Ok(Verdicts { condition, column, path, of_code })
    }

    fn of_row(&mut self, row: usize) -> bool {
        let Some(code) = self.column.code_of_row(row as u32) else {
            return self.condition.matches_value(None);
        };
        if let Some(Some(known)) = self.of_code.get(code as usize) {
            return *known;
        }
        let found: Option<&Json> = self.column.value(code as usize);
        let found = match self.path {
            Some(path) => found.and_then(|found| within(found, path)),
            None => found,
        };
        let verdict = self.condition.matches_value(found);
        if let Some(slot) = self.of_code.get_mut(code as usize) {
            *slot = Some(verdict);
        }
        verdict
    }
}
