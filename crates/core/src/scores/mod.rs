//! What a metric sees: the scored rows of one scorer, reduced or not.

mod ratings;
mod reduce;

pub use ratings::Ratings;
pub(crate) use ratings::home;
pub use reduce::Resampler;
pub(crate) use reduce::reduce;

use std::any::Any;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use errorbar_stats::exact::ExactSum;

use crate::columns::{
    Floats, MetadataColumn, ScoreColumns, ScoreDetail, ScoreDetails, ScorerColumn, ScorerEpochs, ValueColumn,
};
use crate::error::{Error, Result};
use crate::error_plan::{ErrorPlan, Estimation, SummaryKey};
use crate::metadata::Metadata;
use crate::reducer::Reducer;
use crate::score::{SampleScore, Score};
use crate::spec::ToSpec;
use crate::value::{Conversion, Leaf, LeafRef, Value, ValueRef};
use ratings::RatingSource;
use reduce::copy_id;

/// All scores of one scorer under one reducer, the unscored among them.
///
/// Results make these themselves; make one by hand to call a metric directly, for example in a unit test:
///
/// ```
/// use errorbar_core::{Metric, Score, ScoreColumns, ScoreSet, metrics::accuracy};
/// let mut columns = ScoreColumns::new(["match"]);
/// columns.push("q1", 1).score("match", Score::new("C"))?;
/// columns.push("q2", 1).score("match", Score::new("I"))?;
/// let set = ScoreSet::unreduced(&columns, "match")?;
/// assert_eq!(accuracy().compute(&set.scores())?.number(), Some(0.5));
/// # Ok::<(), errorbar_core::Error>(())
/// ```
#[derive(Debug)]
pub struct ScoreSet<'a> {
    pub(crate) columns: &'a ScoreColumns,
    pub(crate) scorer: &'a str,
    pub(crate) values: Cow<'a, ValueColumn>,
    pub(crate) details: Cow<'a, ScoreDetails>,
    /// The row of `columns` that each value belongs to (its first epoch, for reduced scores);
    /// `None` when they are the same rows.
    pub(crate) sample_rows: Option<Vec<u32>>,
    /// How errors are computed, and the seed.
    pub(crate) estimation: Estimation,
    /// The rows of `columns` of samples that have no score here: missing or unscored.
    pub(crate) absent: Vec<u32>,
    /// Where ratings of the same samples by others come from.
    pub(crate) raters: RatingSource<'a>,
    /// The epochs behind reduced scores.
    pub(crate) epochs: Option<EpochInfo>,
    converted: ConversionCache,
    /// The ids of the copies of samples in resamples, by their number; made when a metric wants them.
    copy_ids: [OnceLock<Vec<String>>; COPIES],
}

/// The copies of a sample in a resample that have ids of their own. More are drawn once in 10^19 samples.
const COPIES: usize = 20;

/// Something that is computed once from all scores.
type SharedValue = Arc<dyn Any + Send + Sync>;

/// The columns converted so far: several metrics share one conversion.
#[derive(Debug, Default)]
struct ConversionCache {
    converted: Mutex<Vec<(Conversion, Arc<Floats>)>>,
    /// Values without a meaning as a number that a metric met on its own: how many, and a row with one.
    met_elsewhere: Mutex<Vec<(usize, usize)>>,
    /// What is computed from all scores: several metrics share it.
    shared: Mutex<Vec<(Conversion, SummaryKey, SharedValue)>>,
}

impl<'a> ScoreSet<'a> {
    /// The scores of a scorer as they are, every epoch by itself.
    pub fn unreduced(columns: &'a ScoreColumns, scorer: &str) -> Result<Self> {
        let column = columns.scorer(scorer).ok_or_else(|| {
            let known: Vec<&str> = columns.scorer_names().collect();
            Error::custom(format!("no scores by `{scorer}`; there are scores by: {}", known.join(", ")))
        })?;
        Ok(ScoreSet::of_column(columns, column))
    }

    pub(crate) fn of_column(columns: &'a ScoreColumns, column: &'a ScorerColumn) -> Self {
        let (present, unscored) = column.values.count_present();
        let absent = if present == columns.len() && unscored == 0 {
            Vec::new()
        } else {
            let epochs = ScorerEpochs::of(columns, column);
            let is_absent = |row: usize| {
                column.values.is_scored(row) != Some(true) && epochs.contains(columns.epoch(row))
            };
            (0..columns.len() as u32).filter(|row| is_absent(*row as usize)).collect()
        };
        let values = Cow::Borrowed(&column.values);
        let set = ScoreSet::derived(columns, &column.name, values, None, Estimation::default());
        ScoreSet { absent, details: Cow::Borrowed(&column.details), ..set }
    }

    /// Values, perhaps made of others: reduced, or one field of them. `sample_rows` maps them to their samples, none of which is
    /// absent; nothing is known of their raters and epochs, and nothing is recorded with them.
    pub(crate) fn derived(
        columns: &'a ScoreColumns,
        scorer: &'a str,
        values: Cow<'a, ValueColumn>,
        sample_rows: Option<Vec<u32>>,
        estimation: Estimation,
    ) -> Self {
        ScoreSet {
            columns,
            scorer,
            values,
            details: Cow::default(),
            sample_rows,
            estimation,
            absent: Vec::new(),
            raters: RatingSource::default(),
            epochs: None,
            converted: ConversionCache::default(),
            copy_ids: Default::default(),
        }
    }

    /// The same scores, with another seed for random figures.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.estimation.random.seed = seed;
        self
    }

    /// The same scores, with errors computed in another way.
    #[must_use]
    pub fn with_errors(mut self, errors: ErrorPlan) -> Self {
        self.estimation.errors = errors;
        self
    }

    /// The same scores, for metrics whose numbers alone are wanted: what errors and intervals beside them would take is
    /// saved where it can be.
    #[must_use]
    pub fn values_only(mut self) -> Self {
        self.estimation.value_only = true;
        self
    }

    /// The scored ones, as metrics see them.
    pub fn scores(&'a self) -> Scores<'a> {
        Scores::new(self, self.scored_rows().0)
    }

    fn floats(&self, conversion: &Conversion) -> Arc<Floats> {
        let cache = || self.converted.converted.lock().unwrap_or_else(PoisonError::into_inner);
        let known = |cache: &[(Conversion, Arc<Floats>)]| {
            cache.iter().find(|(c, _)| c == conversion).map(|(_, floats)| Arc::clone(floats))
        };
        if let Some(floats) = known(&cache()) {
            return floats;
        }
        // Not under the lock: threads that help are given other work meanwhile, which may ask for this too.
        let floats = Arc::new(self.values.convert(conversion));
        let mut cache = cache();
        known(&cache).unwrap_or_else(|| {
            cache.push((conversion.clone(), Arc::clone(&floats)));
            floats
        })
    }

    /// For each conversion that met values without a meaning as a number: how many, and a row with one.
    pub(crate) fn unconvertible(&self) -> Vec<(usize, usize)> {
        let elsewhere = self.converted.met_elsewhere.lock().unwrap_or_else(PoisonError::into_inner);
        let cache = self.converted.converted.lock().unwrap_or_else(PoisonError::into_inner);
        let found = |(_, floats): &(Conversion, Arc<Floats>)| {
            floats.unconvertible.first().map(|row| (floats.unconvertible.len(), *row as usize))
        };
        cache.iter().filter_map(found).chain(elsewhere.iter().copied()).collect()
    }

    /// All that is recorded with a value.
    fn detail(&self, row: usize) -> ScoreDetail {
        self.details.to_detail(row, self.columns.scorer(self.scorer))
    }

    /// The id of the sample of a row.
    fn id(&self, row: usize) -> &str {
        self.columns.id(self.sample_row(row))
    }

    /// The row of the score columns that a value belongs to.
    pub(crate) fn sample_row(&self, row: usize) -> usize {
        match &self.sample_rows {
            None => row,
            Some(rows) => rows.get(row).map_or(usize::MAX, |r| *r as usize),
        }
    }

    /// The columns that the scores are of.
    pub fn columns(&self) -> &'a ScoreColumns {
        self.columns
    }

    /// The epochs behind reduced scores.
    pub fn epoch_info(&self) -> Option<&EpochInfo> {
        self.epochs.as_ref()
    }

    /// Has the ratings of others reduced as these scores were.
    pub fn reduce_raters(&mut self, index: &'a crate::columns::SampleIndex, reducer: &'a dyn Reducer) {
        self.raters.reduced = Some((index, reducer));
    }

    /// Takes the scores as those of one sample each, of which none is absent.
    pub fn take_as_samples(&mut self) {
        self.estimation.by_sample = false;
        self.absent = Vec::new();
    }

    /// The rows that are scored, and how many are unscored. Missing rows are neither.
    pub fn scored_rows(&self) -> (RowSelection, usize) {
        if self.values.is_all_scored() {
            return (RowSelection::All(self.values.len()), 0);
        }
        let mut unscored = 0;
        let mut rows = Vec::with_capacity(self.values.len());
        for row in 0..self.values.len() {
            match self.values.get(row) {
                Some(value) if value.is_unscored() => unscored += 1,
                Some(_) => rows.push(row as u32),
                None => {}
            }
        }
        (RowSelection::Some(rows), unscored)
    }
}

impl<'a> Scores<'a> {
    /// The same selection of another set of the same scores; values without a meaning as a number are remembered here.
    fn among<T>(&self, set: &ScoreSet<'_>, read: impl FnOnce(&Scores<'_>) -> T) -> T {
        let Scores { rows, absent_of_part, copies, context, .. } = self.clone();
        let result = read(&Scores { set, rows, absent_of_part, copies, context });
        let mut met = self.set.converted.met_elsewhere.lock().unwrap_or_else(PoisonError::into_inner);
        met.extend(set.unconvertible());
        result
    }
}

/// A choice of rows.
#[derive(Clone, Debug)]
pub enum RowSelection {
    /// The first ones, up to this number.
    All(usize),
    /// These.
    Some(Vec<u32>),
}

/// What scores are, over the whole scorer and reducer: decides which interval fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ScoreKind {
    /// All are 0 or 1.
    Binary,
    /// All are within [0, 1].
    Unit,
    /// Anything else.
    Unbounded,
}

impl ScoreKind {
    /// The weaker of two: what holds for both.
    #[must_use]
    pub fn and(self, other: ScoreKind) -> ScoreKind {
        self.max(other)
    }
}

/// What scores are a part of: a group of all scores.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct GroupContext {
    /// What all scores are; those of the part itself if unset.
    pub kind: Option<ScoreKind>,
    /// The number of all scores; those of the part itself if unset.
    pub n: Option<u64>,
    /// The number of estimates that share what may be drawn at random; one if unset.
    pub estimates: usize,
    /// Whether it is a group, even if it holds all scores so far: scores to come may be of other groups.
    pub is_group: bool,
}

/// The scores that a metric is computed over. Unscored ones are never among them.
///
/// Iterate for one [`SampleScore`] per row, or ask for all values as floats at once.
///
/// ```
/// use errorbar_core::{Result, Scores};
/// fn share_above(scores: &Scores<'_>, threshold: f64) -> Result<f64> {
///     let mut above = 0;
///     for sample in scores {
///         if sample.score.as_f64()? > threshold {
///             above += 1;
///         }
///     }
///     Ok(f64::from(above) / scores.len().max(1) as f64)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Scores<'a> {
    set: &'a ScoreSet<'a>,
    rows: RowSelection,
    /// The rows of the score columns of the samples that have no score, if these are a part of the scores.
    absent_of_part: Option<Vec<u32>>,
    /// Which copy of its sample each position is, from 0, if these are a resample.
    copies: Option<Vec<u8>>,
    context: GroupContext,
}

impl<'a> Scores<'a> {
    /// A selection of the scores of a set.
    pub fn new(set: &'a ScoreSet<'a>, rows: RowSelection) -> Self {
        Scores { set, rows, absent_of_part: None, copies: None, context: GroupContext::default() }
    }

    /// What is known of all scores, if these are a group of them.
    pub fn context(&self) -> GroupContext {
        self.context
    }

    /// The same scores as a part of all that these are known of.
    #[must_use]
    pub fn in_context(&self, context: GroupContext) -> Self {
        Scores { context, ..self.clone() }
    }

    /// The number of scores.
    pub fn len(&self) -> usize {
        match &self.rows {
            RowSelection::All(count) => *count,
            RowSelection::Some(rows) => rows.len(),
        }
    }

    /// Whether there is no score.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The scorer's name.
    pub fn scorer(&self) -> &'a str {
        self.set.scorer
    }

    /// The sampling seed.
    pub fn seed(&self) -> u64 {
        self.set.estimation.random.seed
    }

    /// How errors are computed, and the seed.
    pub fn estimation(&self) -> &'a Estimation {
        let set: &'a ScoreSet<'a> = self.set;
        &set.estimation
    }

    /// Takes the draws of a random figure over the scores out of what the plan allows.
    pub(crate) fn take_draws(&self, metric: &impl ToSpec, resamples: usize, cost: u64) -> Result<()> {
        self.set.estimation.random.take_draws(metric, resamples, cost)
    }

    /// The rows of the score columns of samples that are missing here or unscored.
    pub fn absent_rows(&self) -> &[u32] {
        self.absent_of_part.as_deref().unwrap_or(&self.set.absent)
    }

    /// What the reduced scores of samples with absent epochs could be, by the rows of the score columns.
    pub(crate) fn epoch_gaps(&self) -> Option<&HashMap<u32, [f64; 3]>> {
        self.set.epochs.as_ref().map(|epochs| &epochs.gaps)
    }

    /// The number of samples that are missing here or unscored.
    pub fn absent(&self) -> usize {
        self.absent_rows().len()
    }

    /// What several metrics compute from the scores in the same way, by the conversion and what their errors need; of all scores
    /// it is computed once.
    pub(crate) fn shared<T: Any + Send + Sync>(
        &self,
        conversion: &Conversion,
        key: SummaryKey,
        compute: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        let cache = || self.set.converted.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let find = || {
            let cache = cache();
            let mut known = cache.iter().filter(|(c, k, _)| c == conversion && *k == key);
            known.find_map(|(_, _, value)| Arc::clone(value).downcast::<T>().ok())
        };
        let is_whole = self.absent_of_part.is_none();
        if let Some(known) = is_whole.then(find).flatten() {
            return Ok(known);
        }
        let value = Arc::new(compute()?);
        if is_whole {
            cache().push((conversion.clone(), key, Arc::<T>::clone(&value)));
        }
        Ok(value)
    }

    /// All scores that these are among.
    pub fn set(&self) -> &'a ScoreSet<'a> {
        self.set
    }

    /// The row of the score columns of the sample at a position.
    pub fn column_row(&self, at: usize) -> usize {
        self.set.sample_row(self.row(at))
    }

    /// The row of the score set behind position `at`.
    fn row(&self, at: usize) -> usize {
        match &self.rows {
            RowSelection::All(_) => at,
            RowSelection::Some(rows) => rows.get(at).map_or(usize::MAX, |r| *r as usize),
        }
    }

    /// One row, with whole score and sample; `None` beyond the end.
    pub fn get(&self, at: usize) -> Option<SampleScore> {
        (at < self.len()).then(|| self.sample(at))
    }

    fn sample(&self, at: usize) -> SampleScore {
        SampleScore {
            score: self.score(at),
            sample_id: match self.copy(at) {
                0 => self.sample_id(at).to_owned(),
                copy => copy_id(self.set.id(self.row(at)), copy),
            },
            sample_metadata: self.sample_metadata(at),
            scorer: self.set.scorer.to_owned(),
        }
    }

    /// The whole score at a position.
    pub fn score(&self, at: usize) -> Score {
        let row = self.row(at);
        let value = self.set.values.to_value(row).unwrap_or(Value::Unscored);
        self.set.detail(row).with_value(value)
    }

    /// The value at a position, borrowed.
    pub fn value(&self, at: usize) -> ValueRef<'a> {
        let set: &'a ScoreSet<'a> = self.set;
        set.values.get(self.row(at)).unwrap_or(ValueRef::Leaf(LeafRef::Unscored))
    }

    /// The id of the sample at a position. In a resample, a sample that was drawn again has another id.
    pub fn sample_id(&self, at: usize) -> &'a str {
        let set: &'a ScoreSet<'a> = self.set;
        let copy = self.copy(at);
        if copy == 0 { set.id(self.row(at)) } else { set.copy_id(self.row(at), copy) }
    }

    /// Whether these are a resample, so that nothing but the number counts.
    pub(crate) fn is_resample(&self) -> bool {
        self.copies.is_some()
    }

    /// Which copy of its sample a position is.
    fn copy(&self, at: usize) -> usize {
        self.copies.as_ref().and_then(|copies| copies.get(at)).map_or(0, |copy| usize::from(*copy))
    }

    /// The epoch at a position; the first one of the sample for reduced scores.
    pub(crate) fn epoch(&self, at: usize) -> u32 {
        self.set.columns.epoch(self.set.sample_row(self.row(at)))
    }

    /// Other values for some of the positions, the samples and all that is recorded staying the same.
    pub fn derive(
        &self,
        positions: impl Iterator<Item = usize> + Clone,
        values: ValueColumn,
    ) -> ScoreSet<'a> {
        let mut details = ScoreDetails::default();
        if !self.set.details.is_empty() {
            for (row, at) in positions.clone().enumerate() {
                details.set(row, self.set.detail(self.row(at)));
            }
        }
        let sample_rows = positions.map(|at| self.column_row(at) as u32).collect();
        let ScoreSet { columns, scorer, estimation, .. } = self.set;
        let values = Cow::Owned(values);
        let mut set = ScoreSet::derived(columns, scorer, values, Some(sample_rows), estimation.clone());
        set.details = Cow::Owned(details);
        set.absent = self.absent_rows().to_vec();
        set.raters = RatingSource::within(self.set);
        set
    }

    /// The metadata of the sample at a position.
    pub fn sample_metadata(&self, at: usize) -> Metadata {
        self.set.columns.metadata_row(self.column_row(at))
    }

    /// The score's own metadata at a position, the panel of a vote not included.
    pub(crate) fn score_metadata(&self, at: usize) -> Option<&'a Metadata> {
        let set: &'a ScoreSet<'a> = self.set;
        set.details.get(self.row(at)).and_then(|d: &ScoreDetail| d.metadata.as_ref())
    }

    /// The answer at a position, if one is recorded.
    pub(crate) fn answer(&self, at: usize) -> Option<String> {
        self.set.detail(self.row(at)).answer
    }

    /// All values as floats through the default conversion, in row order.
    pub fn floats(&self) -> Vec<f64> {
        self.converted(&Conversion::default(), <[f64]>::to_vec)
    }

    /// Calls `read` with all values as numbers.
    pub fn converted<T>(&self, conversion: &Conversion, read: impl FnOnce(&[f64]) -> T) -> T {
        let floats = self.set.floats(conversion);
        match &self.rows {
            RowSelection::All(_) => read(&floats.values),
            RowSelection::Some(rows) => {
                let picked = rows.iter().map(|r| floats.values.get(*r as usize).copied().unwrap_or(f64::NAN));
                read(&picked.collect::<Vec<f64>>())
            }
        }
    }

    /// Like [`Scores::converted`], but an infinite score is an error that names the sample.
    pub fn finite<T>(
        &self,
        metric: &str,
        conversion: &Conversion,
        read: impl FnOnce(&[f64]) -> T,
    ) -> Result<T> {
        self.converted(conversion, |numbers| {
            // Without an early end the loop runs many numbers at a time.
            if numbers.iter().fold(true, |all, number| all & number.is_finite()) {
                return Ok(read(numbers));
            }
            let at = numbers.iter().position(|number| !number.is_finite()).unwrap_or(0);
            Err(Error::infinite(metric, self.sample_id(at)))
        })
    }

    /// The same scores, only some of the positions; `absent` are the rows of those without a score.
    pub fn subset(&self, positions: Vec<u32>, absent: Vec<u32>) -> Scores<'a> {
        let copy = |at: &u32| self.copy(*at as usize) as u8;
        let copies = self.copies.as_ref().map(|_| positions.iter().map(copy).collect());
        let rows = match &self.rows {
            RowSelection::All(_) => positions,
            RowSelection::Some(_) => positions.iter().map(|at| self.row(*at as usize) as u32).collect(),
        };
        Scores {
            set: self.set,
            rows: RowSelection::Some(rows),
            absent_of_part: Some(absent),
            copies,
            context: self.context,
        }
    }

    /// Other values for some of the positions, the samples staying the same.
    pub(crate) fn with_values<T>(
        &self,
        positions: &[u32],
        values: Vec<Leaf>,
        read: impl FnOnce(&Scores<'_>) -> T,
    ) -> T {
        let mut column = ValueColumn::default();
        values.into_iter().for_each(|leaf| column.push_leaf(leaf));
        let set = self.derive(positions.iter().map(|at| *at as usize), column);
        let fields = Scores::new(&set, RowSelection::All(positions.len()));
        let result = read(&fields.in_context(self.context));
        for (count, row) in set.unconvertible() {
            self.note_unconvertible(count, positions.get(row).map_or(0, |at| *at as usize));
        }
        result
    }

    /// Remembers values that have no meaning as a number, for the warnings.
    pub(crate) fn note_unconvertible(&self, count: usize, at: usize) {
        if count > 0 {
            let mut met = self.set.converted.met_elsewhere.lock().unwrap_or_else(PoisonError::into_inner);
            met.push((count, self.row(at)));
        }
    }
}

/// Row by row.
impl<'a> IntoIterator for &Scores<'a> {
    type Item = SampleScore;
    type IntoIter = Box<dyn ExactSizeIterator<Item = SampleScore> + 'a>;

    fn into_iter(self) -> Self::IntoIter {
        let scores = self.clone();
        Box::new((0..scores.len()).map(move |at| scores.sample(at)))
    }
}

// A metadata key of the samples, as metrics group and cluster by it.

impl<'a> Scores<'a> {
    /// A metadata key of the samples.
    pub fn key<'k>(&self, metric: &'k str, key: &'k str) -> KeyColumn<'a, 'k> {
        KeyColumn { set: self.set, column: self.set.columns.metadata_column(key), metric, key }
    }

    /// The code of the metadata value at each position; an error names the first sample without the key.
    pub fn codes(&self, key: &KeyColumn<'_, '_>) -> Result<Vec<u32>> {
        let code = |at: usize| key.code(self.row(at), || self.sample_id(at).to_owned());
        (0..self.len()).map(code).collect()
    }
}

/// One metadata key, as a metric requests it.
pub struct KeyColumn<'a, 'k> {
    set: &'a ScoreSet<'a>,
    column: Option<&'a MetadataColumn>,
    pub(crate) metric: &'k str,
    pub(crate) key: &'k str,
}

impl<'a> KeyColumn<'a, '_> {
    #[inline]
    fn code(&self, row: usize, sample: impl FnOnce() -> String) -> Result<u32> {
        let code = self.column.and_then(|column| column.code(self.set.sample_row(row)));
        code.ok_or_else(|| Error::MissingKey {
            metric: self.metric.to_owned(),
            key: self.key.to_owned(),
            sample: sample(),
            known: self.set.columns.metadata_keys().take(12).map(str::to_owned).collect(),
        })
    }

    /// The code of a row of the score columns; none without the key.
    pub(crate) fn code_of_row(&self, row: u32) -> Option<u32> {
        self.column.and_then(|column| column.code(row as usize))
    }

    /// The number of distinct values.
    pub(crate) fn distinct(&self) -> usize {
        self.column.map_or(0, MetadataColumn::distinct)
    }

    /// The value of a code.
    pub(crate) fn value(&self, code: usize) -> Option<&'a serde_json::Value> {
        self.column?.value(code)
    }
}

// What the epochs behind reduced scores say about them: how far they scatter, and what those without a score could be.

/// The epochs behind reduced scores. Rows are those of the score columns that the samples are known by.
#[derive(Clone, Debug, Default)]
pub struct EpochInfo {
    /// The variance of the reduced score of a sample over runs of that sample, and the same with one epoch, by row; none
    /// where they are unknown.
    pub variances: Vec<Option<(f64, f64)>>,
    /// What the reduced score of a sample with epochs without a score would be if all of those had the lowest score, the
    /// highest, or 0.
    pub gaps: HashMap<u32, [f64; 3]>,
}

/// The same, summed up over scores. Merges exactly.
#[derive(Clone, Debug, Default)]
pub(crate) struct EpochSums {
    variances: ExactSum,
    /// The same with one epoch.
    of_one: ExactSum,
    /// The scores with a variance, and those without.
    known: u64,
    unknown: u64,
    /// By how much the sum of the scores would change.
    changes: [ExactSum; 3],
    /// The scores with epochs without a score.
    pub(crate) gaps: u64,
}

impl EpochSums {
    pub(crate) fn update(&mut self, scores: &Scores<'_>, conversion: &Conversion) {
        match &scores.set.epochs {
            None => self.unknown += scores.len() as u64,
            Some(info) => scores.converted(conversion, |numbers| self.add(info, scores, numbers)),
        }
    }

    fn add(&mut self, info: &EpochInfo, scores: &Scores<'_>, numbers: &[f64]) {
        for at in 0..scores.len() {
            let row = scores.column_row(at);
            match info.variances.get(row) {
                Some(Some((variance, of_one))) => {
                    self.variances.add(*variance);
                    self.of_one.add(*of_one);
                    self.known += 1;
                }
                _ => self.unknown += 1,
            }
            if let Some(filled) = info.gaps.get(&(row as u32)) {
                self.gaps += 1;
                for (change, filled) in self.changes.iter_mut().zip(filled) {
                    change.add(*filled);
                    change.add(-numbers.get(at).copied().unwrap_or(f64::NAN));
                }
            }
        }
    }

    /// By how much the sum of the scores would change if all epochs without a score had the lowest score, the highest,
    /// or 0.
    pub(crate) fn changes(&self) -> &[ExactSum; 3] {
        &self.changes
    }

    /// The standard error of the mean over runs of the same samples: √(Σ w_i/K_i)/n. A sample whose variance is unknown
    /// has one epoch; its w_i is the mean of the others. None if all are unknown.
    pub(crate) fn fixed_stderr(&self) -> Option<f64> {
        let n = (self.known + self.unknown) as f64;
        let of_one = (self.known > 0).then(|| self.of_one.divide(self.known))?;
        let sum = self.variances.to_f64() + of_one * self.unknown as f64;
        Some(sum.sqrt() / n).filter(|se| se.is_finite())
    }
}
