//! Metrics that apply another one: `aggregate` to a field, `where` to some samples, `bootstrap` to resamples.

use std::collections::HashMap;

use crate::condition::{Condition, within};
use crate::error_plan::DRAWS;
use crate::estimate::{MAX_FIGURES, ResampledFigures, planned_draws};
use crate::metrics::prelude::*;
use crate::random::resample_cost;
use crate::scores::{KeyColumn, Resampler};

/// What happens to a score that lacks the field.
#[derive(ArgWord, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnMissing {
    /// It is an error.
    #[default]
    Error,
    /// The score is left out.
    Skip,
    /// The field counts 0.
    Zero,
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
        let compute = |fields: &Scores<'_>| match fields.is_empty() {
            true => Ok(None),
            false => self.agg.compute(fields).map(Some),
        };
        let (value, counts) = self.read(scores, |fields| Ok(compute(fields)))?;
        if let Some(first) = counts.unconvertible.first() {
            scores.note_unconvertible(counts.unconvertible.len(), *first);
        }
        Ok(counts.noted(value?))
    }

    fn score_kind(&self, scores: &Scores<'_>) -> Result<Option<ScoreKind>> {
        Ok(self.read(scores, |fields| self.agg.score_kind(fields))?.0)
    }
}

/// Another metric, with an error and an interval from resampling: whole samples with all their epochs, or whole
/// clusters, are drawn with replacement, and the metric is computed over each resample.
///
/// A resample in which the metric is undefined is left out, and counted in a note; if more than one in twenty is, there is
/// no error.
///
/// ```
/// use errorbar_core::ToSpec;
/// use errorbar_core::metrics::{accuracy, bootstrap};
/// let by_passage = bootstrap(accuracy()).num_samples(2000_usize).cluster("passage");
/// assert_eq!(
///     by_passage.spec().to_string(),
///     r#"bootstrap(metric=accuracy(), num_samples=2000, cluster="passage")"#
/// );
/// ```
///
/// # Formula
/// ```text
/// SE = standard deviation of metric(resample b), b = 1 … B
/// ```
///
/// # When
/// A metric has no error of its own, such as `max` or a custom one; or the error of the plan is to be checked by
/// resampling.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,score 1,0.2 2,0.4 3,0.4 4,0.7 5,0.8 6,0.9 > marks.csv
/// $ errorbar score marks.csv --metric 'bootstrap(std(), 2000)'
/// marks.csv · 6 rows
///
/// score · 6 scored
///   std  0.273 ± 0.051 [0.122, 0.337]  only 6 scores
///
/// ± one standard error (bootstrap) · [95 % interval: bootstrap]
/// ```
///
/// # See also
/// `bootstrap_stderr`, `ci`, `stderr`
///
/// # Source
/// Efron & Tibshirani 1993, "An Introduction to the Bootstrap". Interval: Efron 1987.
#[derive(Clone, Debug, Params)]
#[params(crate = crate, name = "bootstrap")]
pub struct Bootstrap {
    /// The metric.
    #[param(check = check_metric)]
    metric: Arc<dyn Metric>,
    /// The number of resamples; that of the plan, 10,000, if unset.
    #[param(from = usize, map = Count, check = check_draws)]
    num_samples: Option<Count<usize>>,
    /// The metadata key of clusters, which are drawn whole; that of the plan if unset.
    cluster: Option<String>,
}

/// As many resamples as a plan may have.
fn check_draws(Count(count): &Count<usize>) -> Result<(), String> {
    match u32::try_from(*count).is_ok_and(|count| DRAWS.contains(&count)) {
        true => Ok(()),
        false => Err(format!("must lie between {} and {}, found {count}", DRAWS.start(), DRAWS.end())),
    }
}

/// What cannot be resampled.
fn check_metric(metric: &Arc<dyn Metric>) -> Result<(), String> {
    let spec = metric.spec();
    if spec.name == Bootstrap::NAME {
        return Err("is resampled already".to_owned());
    }
    if spec.kwargs.get("simultaneous") == Some(&Arg::Bool(true)) {
        return Err("has simultaneous intervals, which those of resamples of it would not be; resample the metric of \
                    each group: grouped(bootstrap(METRIC), KEY, simultaneous=true)"
            .to_owned());
    }
    match metric.role() {
        Role::IntervalOf => {
            Err(format!("{} is an interval already; give the metric that it is of", spec.name))
        }
        _ => Ok(()),
    }
}

/// The most figures of a metric that is resampled: every thread holds as many estimates with all that belongs to them.
const MAX_WIDTH: usize = 20_000;

impl Metric for Bootstrap {
    metric_flags! { self:
        wants = self.metric.wants(), depends_on_ids = true,
        metadata_keys = self.metric.metadata_keys().and(MetadataKeys::Only(self.cluster.iter().cloned().collect()))
    }

    fn params(&self) -> Metadata {
        params_with_inner(self, "metric", self.metric.as_ref())
    }

    fn inner(&self) -> Option<&dyn Metric> {
        Some(self.metric.as_ref())
    }

    /// That of the metric. The error of a location is a figure by itself once it is resampled.
    fn role(&self) -> Role {
        match self.metric.role() {
            Role::ErrorOf | Role::IntervalOf => Role::Other,
            role => role,
        }
    }

    /// Nothing that other errors and intervals are of: it has its own.
    fn subject(&self) -> Option<Subject> {
        None
    }

    fn cluster(&self) -> Option<&str> {
        self.cluster.as_deref().or_else(|| self.metric.cluster())
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        self.check()?;
        if scores.estimation().value_only {
            return self.metric.compute(scores);
        }
        // An interval of resamples depends on nothing but the scores themselves.
        let scores = &scores.in_context(GroupContext::default());
        let resampler = Resampler::new(scores);
        let value = resampler.whole(|whole| self.metric.compute(whole))?;
        if scores.is_empty() {
            return Ok(value);
        }
        let units = match &self.cluster {
            Some(key) => Ok(ScoreUnits::of(Self::NAME, scores, std::slice::from_ref(key))?),
            None => ScoreUnits::of_plan(Self::NAME, scores)?,
        };
        match units {
            Ok(units) => self.resample(scores, &resampler, &units, value),
            Err(reason) => Ok(value.map(|estimate| estimate.without_error(&reason))),
        }
    }
}

impl Bootstrap {
    fn draws(&self, scores: &Scores<'_>, figures: usize) -> Result<Result<Draws, Undefined>> {
        let n = scores.len() as u64;
        let cost = resample_cost(self.metric.as_ref(), n, figures as u64);
        let draws = match self.num_samples {
            Some(Count(count)) => Draws::new(scores.seed(), count as u64),
            None => {
                let estimation = scores.estimation();
                match planned_draws(&estimation.errors, &estimation.random, n, cost) {
                    Ok(draws) => draws,
                    Err(reason) => return Ok(Err(reason)),
                }
            }
        };
        if figures > MAX_WIDTH {
            let problem =
                format!("has {figures} figures, and at most {MAX_WIDTH} are resampled; have fewer groups");
            return Err(Self::refuse("metric", problem));
        }
        let count = draws.count as usize;
        if count.saturating_mul(figures) > MAX_FIGURES {
            let problem = format!(
                "gives {count} resamples of {figures} figures, and at most {MAX_FIGURES} are held; lower it, or have \
                 fewer groups"
            );
            return Err(Self::refuse("num_samples", problem));
        }
        scores.take_draws(self, count, cost)?;
        Ok(Ok(draws))
    }

    fn resample(
        &self,
        scores: &Scores<'_>,
        resampler: &Resampler<'_>,
        units: &ScoreUnits,
        value: MetricValue,
    ) -> Result<MetricValue> {
        let wanted = figures(&value, &value).len();
        let draws = match self.draws(scores, wanted)? {
            Ok(draws) => draws,
            Err(reason) => return Ok(value.map(|estimate| estimate.without_error(&reason))),
        };
        let plan = &scores.estimation().errors;
        let rows = resampler.rows_of(units.iter());
        // A metric that fails over some resample is undefined there: over all scores it did not fail.
        let compute =
            |counts: &[u32]| match resampler.resample(&rows, counts, |part| self.metric.compute(part)) {
                Ok(part) => figures(&value, &part),
                Err(_) => vec![f64::NAN; wanted],
            };
        let cost = resample_cost(self.metric.as_ref(), scores.len() as u64, wanted as u64);
        let resamples = ResampledFigures::draw(scores, units, draws, (wanted, cost), &compute);
        let mut at = 0;
        Ok(value.clone().map(|estimate| {
            at += 1;
            let Ok(number) = estimate.value else { return estimate };
            // A group has fewer units than all scores.
            let n = if estimate.n > 0 { estimate.n as usize } else { scores.len() };
            resamples.estimate(at - 1, number, units.len().min(n), plan).instead_of(estimate)
        }))
    }
}

/// One number for each estimate of `whole`, in its order; not a number where `part` has none.
pub(super) fn figures(whole: &MetricValue, part: &MetricValue) -> Vec<f64> {
    let mut figures = Vec::new();
    collect(whole, Some(part), &mut figures);
    figures
}

fn number(estimate: Option<&Estimate>) -> f64 {
    estimate.and_then(Estimate::number).unwrap_or(f64::NAN)
}

fn collect(whole: &MetricValue, part: Option<&MetricValue>, figures: &mut Vec<f64>) {
    match whole {
        MetricValue::One(_) => figures.push(number(part.and_then(MetricValue::estimate))),
        MetricValue::Map(map) => {
            for (key, _) in map.iter().filter(|(_, estimate)| estimate.is_some()) {
                figures.push(number(part.and_then(|part| part.get(key))));
            }
        }
        MetricValue::List(list) => {
            let part = match part {
                Some(MetricValue::List(part)) => part.as_slice(),
                _ => &[],
            };
            for (at, _) in list.iter().enumerate().filter(|(_, estimate)| estimate.is_some()) {
                figures.push(number(part.get(at).and_then(Option::as_ref)));
            }
        }
        MetricValue::Groups(groups) => {
            let part = match part {
                Some(MetricValue::Groups(part)) => Some(part),
                _ => None,
            };
            // The order of groups is that of their first scores, which a resample changes.
            let of_part = part.into_iter().flat_map(|part| &part.groups);
            let by_name: HashMap<&str, &MetricValue> =
                of_part.map(|group| (group.name.as_str(), &group.value)).collect();
            for group in &groups.groups {
                collect(&group.value, by_name.get(group.name.as_str()).copied(), figures);
            }
            if let Some(all) = &groups.all {
                let part = part.and_then(|part| part.all.as_ref()).map(|all| all.value.as_ref());
                collect(&all.value, part, figures);
            }
        }
    }
}

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
        let value = match part.is_empty() {
            true => None,
            false => Some(self.metric.compute(&part)?),
        };
        Ok(self.group(value, part.len() as u64, part.absent() as u64))
    }

    fn score_kind(&self, scores: &Scores<'_>) -> Result<Option<ScoreKind>> {
        self.metric.score_kind(&self.part(scores)?)
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
        let context = scores.context();
        let n = context.n.or(Some(scores.len() as u64));
        Ok(scores.subset(positions, absent).in_context(GroupContext { n, is_group: true, ..context }))
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
