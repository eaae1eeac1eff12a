//! One side of a comparison: its scores as metrics see them, with the number of each sample.

use std::cell::RefCell;
use std::sync::{Arc, LazyLock};

use super::ComparedScores;
use crate::error::Result;
use errorbar_core::engine::MetadataColumn;
use errorbar_core::engine::{
    EpochInfo, Interner, RowSelection, SampleIndex, ScorerColumn, ScorerEpochs, VisitedBlock,
};
use errorbar_core::reducers::mean;
use errorbar_core::{
    Metric, Plan, Reducer, Reducers, Results, ScoreColumns, ScoreParts, ScoreSet, Scores, ValueRef,
};
use indexmap::IndexSet;

/// Stands for a sample that a side does not have.
const NONE: u32 = u32::MAX;

/// The name of the reducer that is implied where none is named.
pub(super) static IMPLIED: LazyLock<String> = LazyLock::new(|| mean().log_name());

/// The samples of all sides of a task, numbered in the order in which they are met.
#[derive(Debug, Default)]
pub(super) struct SampleNumbers<'a>(Interner<&'a str>);

impl<'a> SampleNumbers<'a> {
    /// The number of the `at`th sample of a side. Sides mostly have the same samples in the same order.
    fn number(&mut self, at: usize, id: &'a str) -> u32 {
        match self.0.get(at) {
            Some(known) if *known == id => at as u32,
            _ => self.0.intern(id),
        }
    }
}

/// One side, read.
#[derive(Debug)]
pub(super) struct Side<'a> {
    pub(super) name: &'a str,
    pub(super) columns: &'a ScoreColumns,
    pub(super) plan: &'a Plan,
    /// The figures, if the scores are not known.
    pub(super) recorded: Option<&'a Results>,
    /// The samples, in order.
    pub(super) samples: Vec<u32>,
    /// The first row of each sample, by its number.
    first_rows: Vec<u32>,
    pub(super) blocks: Vec<Block<'a>>,
}

/// The scores of one scorer under one reducer, or of one key of them.
#[derive(Debug)]
pub(super) struct Block<'a> {
    pub(super) scorer: String,
    /// The reducer, unless it is the implied mean or there is none.
    pub(super) reducer: Option<String>,
    pub(super) is_unreduced: bool,
    pub(super) field: Option<String>,
    pub(super) metrics: Vec<Arc<dyn Metric>>,
    /// The largest number of epochs of a sample: those of the scorer.
    pub(super) most_epochs: usize,
    /// The number of scored epochs of each sample, if the reduced score depends on it.
    scored_epochs: Option<Vec<u32>>,
    set: ScoreSet<'a>,
    rows: RowSelection,
    /// Where the positions of each sample end, by its number; positions of samples follow each other.
    ends: Vec<u32>,
    positions: Vec<u32>,
}

impl<'a> Side<'a> {
    /// Reads a side. `index` is that of its columns, `mean` the implied reducer.
    ///
    /// # Errors
    /// The scores cannot be reduced as the plan requires.
    pub(super) fn read(
        input: &ComparedScores<'a>,
        index: &'a SampleIndex,
        mean: &'a dyn Reducer,
        numbers: &mut SampleNumbers<'a>,
    ) -> Result<Self> {
        let ComparedScores { name, columns, plan, recorded, .. } = *input;
        let mut samples = Vec::with_capacity(index.len());
        let mut first_rows = Vec::new();
        let mut sample_of_row = vec![NONE; columns.len()];
        index.for_each(|rows| {
            let Some(first) = rows.first() else { return };
            let sample = numbers.number(samples.len(), columns.id(*first as usize));
            samples.push(sample);
            if first_rows.len() <= sample as usize {
                first_rows.resize(sample as usize + 1, NONE);
            }
            if let Some(slot) = first_rows.get_mut(sample as usize) {
                *slot = *first;
            }
            for row in rows {
                if let Some(slot) = sample_of_row.get_mut(*row as usize) {
                    *slot = sample;
                }
            }
        });
        let blocks = RefCell::new(Vec::new());
        reducing(plan).visit_scores(columns, &|block| {
            let Some(scorer) = columns.scorer(block.scorer) else { return };
            let mut detached = Block::detach(block, columns, scorer.name(), &sample_of_row);
            detached.most_epochs = ScorerEpochs::of(columns, scorer).most(columns, index);
            if !block.is_unreduced {
                let reducer = reducer_of(plan, block.scorer, block.reducer).unwrap_or(mean);
                detached.set.reduce_raters(index, reducer);
                if reducer.by_epoch().is_some_and(|reducer| reducer.depends_on_epochs()) {
                    detached.scored_epochs = Some(scored_epochs(scorer, block.field, &sample_of_row));
                }
            }
            blocks.borrow_mut().push(detached);
        })?;
        Ok(Side { name, columns, plan, recorded, samples, first_rows, blocks: blocks.into_inner() })
    }

    /// The first row of a sample, if the side has it.
    pub(super) fn first_row(&self, sample: u32) -> Option<u32> {
        self.first_rows.get(sample as usize).copied().filter(|row| *row != NONE)
    }

    /// Whether a sample has a value under a metadata key.
    pub(super) fn has_key(&self, key: &str) -> bool {
        let has = |column: &MetadataColumn| (0..self.columns.len()).any(|row| column.code(row).is_some());
        self.columns.metadata_column(key).is_some_and(has)
    }

    /// Whether the run was stopped early.
    pub(super) fn is_stopped(&self) -> bool {
        self.plan.errors.early_stop.is_some()
    }

    /// The id of a sample that the side has.
    pub(super) fn id(&self, sample: u32) -> &'a str {
        self.first_row(sample).map_or("", |row| self.columns.id(row as usize))
    }

    /// The id of its first sample.
    pub(super) fn example(&self) -> &'a str {
        self.samples.first().map_or("", |sample| self.id(*sample))
    }

    /// The error of a sample that has no value under a metadata key.
    pub(super) fn missing_key(&self, metric: &str, key: &str, sample: &str) -> errorbar_core::Error {
        errorbar_core::Error::MissingKey {
            metric: metric.to_owned(),
            key: key.to_owned(),
            sample: sample.to_owned(),
            known: self.columns.metadata_keys().take(12).map(str::to_owned).collect(),
        }
    }

    /// The block that is compared with one of another side. The mean that is named is the implied one.
    pub(super) fn block_like(&self, block: &Block<'_>, across_scorers: bool) -> Option<&Block<'a>> {
        self.blocks.iter().find(|own| {
            let is_same = (own.reducer_name(), &own.field, own.is_unreduced)
                == (block.reducer_name(), &block.field, block.is_unreduced);
            is_same && (across_scorers || own.scorer == block.scorer)
        })
    }

    /// The only scorer that the plan computes figures for, if it names one.
    pub(super) fn only_scorer(&self) -> Option<&'a str> {
        match self.plan.only.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The scorers, each once.
    pub(super) fn scorers(&self) -> Vec<String> {
        let scorers: IndexSet<&String> = self.blocks.iter().map(|block| &block.scorer).collect();
        scorers.into_iter().cloned().collect()
    }
}

/// A plan that reduces epochs: a pair is a sample.
fn reducing(plan: &Plan) -> Plan {
    let reduce = |reducers: &mut Reducers| {
        if matches!(reducers, Reducers::Disabled) {
            *reducers = Reducers::Implicit;
        }
    };
    let mut plan = plan.clone();
    reduce(&mut plan.reducers);
    plan.scorer_reducers.values_mut().for_each(reduce);
    plan
}

/// The reducer of a scorer that has this name, if the plan names any.
fn reducer_of<'p>(plan: &'p Plan, scorer: &str, name: Option<&str>) -> Option<&'p dyn Reducer> {
    let Reducers::Explicit(reducers) = plan.reducers_of(scorer) else { return None };
    let named = |reducer: &&Arc<dyn Reducer>| Some(reducer.log_name().as_str()) == name;
    reducers.iter().find(named).map(AsRef::as_ref)
}

impl<'a> Block<'a> {
    fn detach(
        block: &VisitedBlock<'_>,
        columns: &'a ScoreColumns,
        scorer: &'a str,
        sample_of_row: &[u32],
    ) -> Self {
        let parts = block.metrics.iter().map(|metric| metric.score_parts()).max();
        let with_details = parts.is_some_and(|parts| parts > ScoreParts::Value);
        let set = block.scores.set().detached(columns, scorer, with_details);
        let (rows, _) = set.scored_rows();
        let scores = Scores::new(&set, rows.clone());
        let sample_at = |at: usize| sample_of_row.get(scores.column_row(at)).copied().unwrap_or(NONE);
        let samples: Vec<u32> = (0..scores.len()).map(sample_at).collect();
        let (ends, positions) = by_sample(&samples);
        Block {
            scorer: block.scorer.to_owned(),
            reducer: block.reducer.map(str::to_owned),
            is_unreduced: block.is_unreduced,
            field: block.field.map(str::to_owned),
            metrics: block.metrics.iter().map(|metric| Arc::clone(metric)).collect(),
            most_epochs: 1,
            scored_epochs: None,
            set,
            rows,
            ends,
            positions,
        }
    }

    /// The reducer, also the implied one.
    pub(super) fn reducer_name(&self) -> &str {
        self.reducer.as_deref().unwrap_or(&IMPLIED)
    }

    /// All scores.
    pub(super) fn scores(&self) -> Scores<'_> {
        Scores::new(&self.set, self.rows.clone())
    }

    /// The positions of the scores of a sample: one, but for scores that are not reduced.
    pub(super) fn positions(&self, sample: u32) -> &[u32] {
        let end = |at: Option<usize>| at.and_then(|at| self.ends.get(at)).copied().unwrap_or(0) as usize;
        let range = end((sample as usize).checked_sub(1))..end(Some(sample as usize));
        self.positions.get(range).unwrap_or_default()
    }

    /// The row of the score columns that a sample with a score is known by.
    pub(super) fn row_of(&self, sample: u32) -> Option<u32> {
        let position = *self.positions(sample).first()?;
        Some(self.scores().column_row(position as usize) as u32)
    }

    /// Whether the reduced scores depend on the number of epochs.
    pub(super) fn depends_on_epochs(&self) -> bool {
        self.scored_epochs.is_some()
    }

    /// The number of scored epochs of a sample, where reduced scores depend on it.
    pub(super) fn scored_epochs(&self, sample: u32) -> u32 {
        let epochs = self.scored_epochs.as_ref();
        epochs.and_then(|epochs| epochs.get(sample as usize)).copied().unwrap_or(0)
    }

    /// The epochs behind reduced scores.
    pub(super) fn epochs(&self) -> Option<&EpochInfo> {
        self.set.epoch_info()
    }

    /// Whether a sample has a score.
    pub(super) fn has(&self, sample: u32) -> bool {
        !self.positions(sample).is_empty()
    }
}

/// How many epochs of each sample have a score, or one under a key of map-valued scores, by the number of the sample.
fn scored_epochs(scorer: &ScorerColumn, field: Option<&str>, sample_of_row: &[u32]) -> Vec<u32> {
    let values = scorer.values();
    let is_scored = |row: usize| match (field, values.get(row)) {
        (None, _) => values.is_scored(row) == Some(true),
        (Some(field), Some(ValueRef::Map(map))) => {
            map.get(field).is_some_and(|leaf| !leaf.view().is_unscored())
        }
        (Some(_), _) => false,
    };
    let mut counts = Vec::new();
    for (row, sample) in sample_of_row.iter().enumerate() {
        if *sample == NONE || !is_scored(row) {
            continue;
        }
        let sample = *sample as usize;
        if counts.len() <= sample {
            counts.resize(sample + 1, 0);
        }
        if let Some(count) = counts.get_mut(sample) {
            *count += 1;
        }
    }
    counts
}

/// Positions by sample, and where those of each sample end.
fn by_sample(samples: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let known = |sample: &&u32| **sample != NONE;
    let count = samples.iter().filter(known).max().map_or(0, |most| *most as usize + 1);
    let mut ends = vec![0u32; count];
    for sample in samples.iter().filter(known) {
        if let Some(end) = ends.get_mut(*sample as usize) {
            *end += 1;
        }
    }
    // Counts become starts; filling the positions in then moves each start to its end.
    let mut start = 0;
    for end in &mut ends {
        start += std::mem::replace(end, start);
    }
    let mut positions = vec![0u32; start as usize];
    for (at, sample) in samples.iter().enumerate() {
        let Some(next) = ends.get_mut(*sample as usize) else { continue };
        if let Some(slot) = positions.get_mut(*next as usize) {
            *slot = at as u32;
        }
        *next += 1;
    }
    (ends, positions)
}
