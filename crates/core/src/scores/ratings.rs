//! Ratings of the same samples by others: what a metric can read beside the scores of its own scorer.
//!
//! A rater has a name: that of a scorer, of a field of map-valued scores, or of a key of the samples' metadata. A name that
//! could be two of them is an error; `scorer.NAME`, `field.NAME` and `metadata.NAME` say which, and `SCORER.FIELD` is a
//! field of the scores of another scorer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::reduce::reduce;
use super::{ScoreSet, Scores};
use crate::columns::{SampleIndex, ScoreColumns, ScorerColumn, ValueColumn};
use crate::error::{Error, Result};
use crate::error_plan::Estimation;
use crate::inputs::{OF_FIELD, OF_METADATA, OF_SCORER, Raters};
use crate::reducer::Reducer;
use crate::spec::nearest;
use crate::value::{Leaf, LeafRef, ValueRef};

/// What ratings are.
const SCALARS: &str = "ratings are strings, numbers or booleans; of maps name a field";

/// The ratings of one rater, for the samples of [`Scores`].
///
/// ```
/// use errorbar_core::{LeafRef, Score, ScoreColumns, ScoreSet};
/// let mut columns = ScoreColumns::new(["judge", "human"]);
/// columns.push("q1", 1).score("judge", Score::new(1))?.score("human", Score::new(0))?;
/// columns.push("q2", 1).score("judge", Score::new(1))?;
/// let set = ScoreSet::unreduced(&columns, "judge")?;
/// let human = set.scores().ratings("human")?;
/// assert_eq!((human.get(0), human.get(1)), (Some(LeafRef::Int(0)), None));
/// # Ok::<(), errorbar_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ratings<'a> {
    name: String,
    /// By row of the score columns.
    leaves: Arc<Vec<Option<Leaf>>>,
    scores: Scores<'a>,
}

impl Ratings<'_> {
    /// The name of the rater.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The rating of the sample at a position of the scores; `None` where there is none.
    pub fn get(&self, at: usize) -> Option<LeafRef<'_>> {
        self.of_row(self.scores.column_row(at))
    }

    /// Refuses the scores themselves as the ratings of another.
    pub(crate) fn check_other(&self) -> Result<()> {
        let set = self.scores.set();
        let name = self.name.strip_prefix(OF_SCORER).unwrap_or(&self.name);
        if name == set.scorer && set.raters.whole.is_none() {
            return Err(Error::custom(format!("`{name}` would be compared with itself; name another rater")));
        }
        Ok(())
    }

    /// The rating of a row of the score columns.
    pub(crate) fn of_row(&self, row: usize) -> Option<LeafRef<'_>> {
        self.leaves.get(row)?.as_ref().map(Leaf::view)
    }
}

/// Where the ratings of others come from.
#[derive(Debug, Default)]
pub(crate) struct RatingSource<'a> {
    /// How the scores were reduced; others are reduced in the same way.
    pub(crate) reduced: Option<(&'a SampleIndex, &'a dyn Reducer)>,
    /// The map-valued scores that these are a field of.
    pub(crate) whole: Option<&'a ScoreSet<'a>>,
    /// The ratings found so far: those of a rater are read once for all groups and metrics.
    found: Mutex<Vec<(String, RatingColumn)>>,
}

impl<'a> RatingSource<'a> {
    /// That of scores that are a part of these, or made of them.
    pub(crate) fn within(set: &'a ScoreSet<'a>) -> Self {
        RatingSource { reduced: set.raters.reduced, whole: Some(set), found: Mutex::default() }
    }
}

/// The ratings of a rater, by row of the score columns.
type RatingColumn = Arc<Vec<Option<Leaf>>>;

impl<'a> Scores<'a> {
    /// The ratings of the same samples by another scorer, in another field of map-valued scores, or under a key of the
    /// samples' metadata. Other scorers are reduced as these scores are. A metric that calls this names the rater in
    /// [`Metric::raters`](crate::Metric::raters).
    ///
    /// # Errors
    /// A name that is no rater, or that may be several.
    pub fn ratings(&self, name: &str) -> Result<Ratings<'a>> {
        let set = self.set();
        let cache = || set.raters.found.lock().unwrap_or_else(PoisonError::into_inner);
        let known = cache().iter().find(|(known, _)| known == name).map(|(_, found)| Arc::clone(found));
        let leaves = match known {
            Some(found) => found,
            None => {
                let found = Arc::new(Rater::resolve(set, name)?.ratings(set, name)?);
                cache().push((name.to_owned(), Arc::clone(&found)));
                found
            }
        };
        Ok(Ratings { name: name.to_owned(), leaves, scores: self.clone() })
    }
}

/// What the name of a rater refers to.
enum Rater<'r> {
    /// The scores of a scorer, or a field of them.
    Scorer(&'r ScorerColumn, Option<&'r str>),
    /// A field of the scores themselves, or of those that they are made of.
    Field(&'r ScoreSet<'r>, &'r str),
    Metadata(&'r str),
}

impl<'r> Rater<'r> {
    fn resolve(set: &'r ScoreSet<'r>, name: &'r str) -> Result<Self> {
        let columns = set.columns;
        let scorer = |name: &'r str| Some(Rater::Scorer(columns.scorer(name)?, None));
        let field = |name: &'r str| Some(Rater::Field(with_field(set, name)?, name));
        let key = |name: &'r str| columns.metadata_column(name).map(|_| Rater::Metadata(name));
        let of_other = |(scorer, field): (&str, &'r str)| {
            let column = columns.scorer(scorer).filter(|column| has_field(&column.values, field))?;
            Some(Rater::Scorer(column, Some(field)))
        };
        let meanings = [
            scorer(name),
            name.strip_prefix(OF_SCORER).and_then(scorer),
            field(name),
            name.strip_prefix(OF_FIELD).and_then(field),
            name.split_once('.').and_then(of_other),
            key(name),
            name.strip_prefix(OF_METADATA).and_then(key),
        ];
        let mut meanings = meanings.into_iter().flatten();
        match (meanings.next(), meanings.next()) {
            (Some(only), None) => Ok(only),
            (Some(first), Some(second)) => Err(Error::custom(format!(
                "`{name}` is both {} and {}; write \"{}\" or \"{}\"",
                first.describe(set),
                second.describe(set),
                first.full_name(),
                second.full_name()
            ))),
            (None, _) => Err(unknown(set, name)),
        }
    }

    fn describe(&self, set: &ScoreSet<'_>) -> String {
        let field_of = |field: &str, scorer: &str| format!("the field `{field}` of the scores by `{scorer}`");
        match self {
            Rater::Scorer(column, None) => format!("the scorer `{}`", column.name),
            Rater::Scorer(column, Some(field)) => field_of(field, &column.name),
            Rater::Field(_, field) => field_of(field, set.scorer),
            Rater::Metadata(key) => format!("the metadata key `{key}`"),
        }
    }

    /// A name that is not ambiguous.
    fn full_name(&self) -> String {
        match self {
            Rater::Scorer(column, None) => format!("{OF_SCORER}{}", column.name),
            Rater::Scorer(column, Some(field)) => format!("{}.{field}", column.name),
            Rater::Field(_, field) => format!("{OF_FIELD}{field}"),
            Rater::Metadata(key) => format!("{OF_METADATA}{key}"),
        }
    }

    /// The rating of each row of the score columns.
    fn ratings(&self, set: &ScoreSet<'_>, name: &str) -> Result<Vec<Option<Leaf>>> {
        match self {
            Rater::Metadata(key) => metadata_ratings(set.columns, key),
            Rater::Field(whole, field) => by_row(whole, name, Some(field)),
            Rater::Scorer(column, field) => scorer_ratings(set, name, column, *field),
        }
    }
}

/// The ratings that scores are, by the rows of the score columns.
fn by_row(scores: &ScoreSet<'_>, name: &str, field: Option<&str>) -> Result<Vec<Option<Leaf>>> {
    let mut leaves = vec![None; scores.columns.len()];
    for at in 0..scores.values.len() {
        let row = scores.sample_row(at);
        if let Some(slot) = leaves.get_mut(row) {
            *slot = leaf(scores.columns, name, row, scores.values.get(at), field)?;
        }
    }
    Ok(leaves)
}

/// The scores that have a field of this name: these, or those that they are made of.
fn with_field<'r>(set: &'r ScoreSet<'r>, field: &str) -> Option<&'r ScoreSet<'r>> {
    if has_field(&set.values, field) {
        return Some(set);
    }
    with_field(set.raters.whole?, field)
}

/// Whether some value is a map with this key.
fn has_field(values: &ValueColumn, field: &str) -> bool {
    let has = |row: usize| matches!(values.get(row), Some(ValueRef::Map(map)) if map.contains_key(field));
    !values.is_flat() && (0..values.len()).any(has)
}

/// The error for a name that is no rater, with those that there are.
fn unknown(set: &ScoreSet<'_>, name: &str) -> Error {
    /// The number of names that the error lists.
    const LISTED: usize = 12;
    let mut fields: Vec<String> = Vec::new();
    let mut source = Some(set);
    while let Some(of) = source.filter(|_| fields.is_empty()) {
        let maps = (0..of.values.len()).filter_map(|row| match of.values.get(row) {
            Some(ValueRef::Map(map)) if !of.values.is_flat() => Some(map),
            _ => None,
        });
        fields.extend(maps.take(1).flat_map(|map| map.keys()).take(LISTED).map(ToString::to_string));
        source = of.raters.whole;
    }
    let scorers: Vec<String> = set.columns.scorer_names().take(LISTED).map(str::to_owned).collect();
    let keys: Vec<String> = set.columns.metadata_keys().take(LISTED).map(str::to_owned).collect();
    let all = scorers.iter().chain(&fields).chain(&keys).map(String::as_str);
    let nearest = nearest(name, all).map(str::to_owned);
    Error::UnknownRater { name: name.to_owned(), nearest, scorers, fields, keys }
}

fn metadata_ratings(columns: &ScoreColumns, key: &str) -> Result<Vec<Option<Leaf>>> {
    let Some(column) = columns.metadata_column(key) else { return Ok(Vec::new()) };
    let mut known: HashMap<u32, Option<Leaf>> = HashMap::new();
    let rating = |row: usize| {
        let Some(code) = column.code(row) else { return Ok(None) };
        if let Some(leaf) = known.get(&code) {
            return Ok(leaf.clone());
        }
        let json = column.value(code as usize).unwrap_or(&serde_json::Value::Null);
        let leaf = Leaf::from_json(json).map_err(|_| {
            let found = if json.is_array() { "a list" } else { "a map" };
            Error::rating(&format!("{OF_METADATA}{key}"), columns.id(row), found, SCALARS)
        })?;
        let leaf = Some(leaf).filter(|leaf| !matches!(leaf, Leaf::Null | Leaf::Unscored));
        known.insert(code, leaf.clone());
        Ok(leaf)
    };
    (0..columns.len()).map(rating).collect()
}

/// The scores of another scorer, reduced as those of the set are: each row has what its sample is reduced to.
fn scorer_ratings(
    set: &ScoreSet<'_>,
    name: &str,
    column: &ScorerColumn,
    field: Option<&str>,
) -> Result<Vec<Option<Leaf>>> {
    let columns = set.columns;
    let Some((index, reducer)) = set.raters.reduced else {
        return by_row(&ScoreSet::of_column(columns, column), name, field);
    };
    let reduced = reduce(columns, column, index, reducer, Estimation::default())?;
    if let Some((count, row)) = reduced.unconvertible {
        let example = column.values.get(row).map(ValueRef::describe).unwrap_or_default();
        let sample = columns.id(row);
        let reducer = reducer.log_name();
        return Err(Error::custom(format!(
            "{count} value(s) of `{name}` have no meaning as a number to the reducer {reducer} (sample {sample:?}: \
             {example}); name a reducer that reads them, or do not reduce"
        )));
    }
    // Another scorer may have its first score of a sample in another epoch.
    let mut leaves = by_row(&reduced.set, name, field)?;
    index.for_each(|rows| {
        let found = rows.iter().find_map(|row| leaves.get(*row as usize).cloned().flatten());
        for row in rows {
            if let Some(slot) = leaves.get_mut(*row as usize) {
                slot.clone_from(&found);
            }
        }
    });
    Ok(leaves)
}

/// A value as a rating: a scalar, or one field of a map.
fn leaf(
    columns: &ScoreColumns,
    name: &str,
    row: usize,
    value: Option<ValueRef<'_>>,
    field: Option<&str>,
) -> Result<Option<Leaf>> {
    let leaf = match (value, field) {
        (None, _) => None,
        (Some(ValueRef::Leaf(leaf)), None) => Some(leaf.to_leaf()),
        (Some(ValueRef::Map(map)), Some(field)) => map.get(field).cloned(),
        // An unscored value has no fields.
        (Some(ValueRef::Leaf(LeafRef::Unscored)), Some(_)) => None,
        (Some(other), _) => {
            return Err(Error::rating(name, columns.id(row), other.describe(), SCALARS));
        }
    };
    Ok(leaf.filter(|leaf| !matches!(leaf, Leaf::Null | Leaf::Unscored)))
}

/// For whom a figure about several raters is computed, of the scorers that have the metric: the first rater that is one
/// of them; else the first scorer with such a field; else the first.
pub(crate) fn home<'s>(raters: &Raters, scorers: &[&'s str], columns: &ScoreColumns) -> Option<&'s str> {
    let named = |name: &str| scorers.iter().copied().find(|scorer| *scorer == name);
    let by_name = raters.scorers().find_map(named);
    let first = raters.names.first().map(|name| name.strip_prefix(OF_FIELD).unwrap_or(name));
    let with_field = || {
        let field = first?;
        let has =
            |scorer: &&str| columns.scorer(scorer).is_some_and(|column| has_field(&column.values, field));
        scorers.iter().copied().find(has)
    };
    by_name.or_else(with_field).or_else(|| scorers.first().copied())
}
