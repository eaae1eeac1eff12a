//! Scores of tables: default metrics, and what to do with cells that are no scores.
//!
//! A log records its metrics, and converts values as the reference does. A table records nothing, so a column of grades
//! that are not understood must not become a column of zeros.

use std::path::Path;
use std::sync::Arc;

use errorbar_core::metrics::{mean, stderr};
use errorbar_core::spec::{Arg, Spec};
use errorbar_core::{
    Conversion, IndexMap, Leaf, LeafRef, Metric, Plan, Reducer, Reducers, Registry, Results, ScoreColumns,
    Value, ValueRef, Warning, metrics,
};
use errorbar_table::{CellUse, ScoreTable, error_text};

use crate::diagnostic::{Diagnostic, DiagnosticKind, Place};
use crate::hints::table as hints;
use crate::request::UnconvertiblePolicy;
use crate::run::{Provenance, Run};
use crate::text;
use crate::text::{Opt, Text, short};

/// The number of characters of a value that an error shows.
const SHOWN: usize = 40;
/// The number of distinct values that a hint looks at.
const TEXTS_KEPT: usize = 100;
/// The number of distinct numbers that a hint looks at.
const NUMBERS_KEPT: usize = 5;
/// How an error shows the absence of a value. A string has quotes.
const NULL: &str = "null";

/// How cells that are no scores are treated, and what a message about them needs.
#[derive(Clone, Copy)]
struct CellContext<'a> {
    mode: UnconvertiblePolicy,
    registry: &'a Registry,
    path: &'a Path,
    table: &'a ScoreTable,
    /// Whether the command has `--no-reduce`.
    has_no_reduce: bool,
}

/// What reads the cells of a table, by the metrics of its plan.
pub(crate) fn cell_use(plan: &Plan) -> CellUse {
    let defaults = plan.default_metrics.values();
    let metrics = || plan.task_metrics.iter().chain(defaults.clone().filter(|_| plan.task_metrics.is_none()));
    let all_metrics = || metrics().flat_map(|metrics| metrics.iter());
    match all_metrics().any(|metric| metric.reads_labels()) {
        true if all_metrics().all(|metric| metric.reads_labels()) => CellUse::Labels,
        true => CellUse::LabelsToo,
        false => CellUse::Converted,
    }
}

impl Run {
    /// The results of a table by its plan; cells that are no scores are treated as `mode` says.
    pub(crate) fn compute(
        &mut self,
        mode: UnconvertiblePolicy,
        registry: &Registry,
        has_no_reduce: bool,
    ) -> Result<Results, Diagnostic> {
        let plan = self.plan.clone();
        self.compute_by(&plan, mode, registry, has_no_reduce)
    }

    /// Checks that the cells of a table are scores, for figures that read them as numbers; those that are not are treated as
    /// `mode` says.
    pub(crate) fn check_cells(
        &mut self,
        mut plan: Plan,
        mode: UnconvertiblePolicy,
        registry: &Registry,
    ) -> Result<(), Diagnostic> {
        if self.table().is_none() {
            return Ok(());
        }
        let columns = &self.scores;
        for scorer in columns.scorer_names() {
            let mut scores = (0..columns.len()).filter_map(|row| columns.score(row, scorer));
            let first = scores.find(|score| !matches!(score.value, Value::Unscored));
            let metrics = match first.map(|score| score.value) {
                Some(Value::Map(_)) => metrics![{"*": [mean()]}],
                _ => metrics![mean()],
            };
            plan.default_metrics.insert(scorer.to_owned(), metrics);
        }
        self.compute_by(&plan, mode, registry, false).map(drop)
    }

    fn compute_by(
        &mut self,
        plan: &Plan,
        mode: UnconvertiblePolicy,
        registry: &Registry,
        has_no_reduce: bool,
    ) -> Result<Results, Diagnostic> {
        let Provenance::Table(source) = &self.provenance else {
            return Ok(plan.evaluate(&self.scores)?.results);
        };
        let (path, table) = (&self.identity.path, &source.table);
        compute(&mut self.scores, plan, CellContext { mode, registry, path, table, has_no_reduce })
    }
}

/// The tables, unless they have no rows.
pub(crate) fn refuse_empty(path: &Path, tables: Vec<ScoreTable>) -> Result<Vec<ScoreTable>, Diagnostic> {
    if tables.iter().all(|table| table.columns.is_empty()) {
        let hint = "give it a row for each sample, below the names of the columns";
        return Err(Diagnostic::error("the table has no rows").about(path.display()).hint(hint));
    }
    Ok(tables)
}

/// Scores that are not all between 0 and 1 have a mean; their accuracy means nothing.
pub(crate) fn choose_metrics(plan: &mut Plan, columns: &ScoreColumns) {
    if columns.has_number_outside(0.0, 1.0) {
        choose_means(plan, columns);
    }
}

/// Means of the scores, unless the plan names metrics.
pub(crate) fn choose_means(plan: &mut Plan, columns: &ScoreColumns) {
    if plan.task_metrics.is_none() {
        for scorer in columns.scorer_names() {
            plan.default_metrics.entry(scorer.to_owned()).or_insert_with(|| metrics![mean(), stderr()]);
        }
    }
}

/// The results of the table in a file, unless there are cells that are no scores.
fn compute(columns: &mut ScoreColumns, plan: &Plan, cells: CellContext<'_>) -> Result<Results, Diagnostic> {
    let CellContext { mode, registry, .. } = cells;
    if let Some((reducer, highest)) = plan.beyond_threshold(columns) {
        return Err(beyond_threshold_problem(reducer.as_ref(), highest, Diagnostic::error));
    }
    let computed = plan.evaluate(columns)?.results;
    let found = unconvertible_scores(&computed, columns, plan, registry);
    match mode {
        UnconvertiblePolicy::Zero => Ok(computed),
        _ if found.is_empty() => Ok(computed),
        UnconvertiblePolicy::Error => Err(refusal(&found, cells)),
        UnconvertiblePolicy::Missing => {
            // Parts of lists and maps cannot be missing by themselves.
            for UnconvertibleScores { scorer, conversions, .. } in
                found.into_iter().filter(|one| !one.are_parts)
            {
                columns.remove_scores(&scorer, |value| is_unconvertible(value, &conversions));
            }
            let computed = plan.evaluate(columns)?.results;
            let left = unconvertible_scores(&computed, columns, plan, registry);
            if left.is_empty() { Ok(computed) } else { Err(refusal(&left, cells)) }
        }
    }
}

/// The warning about a reducer that takes no score for a success, if there is one.
pub(crate) fn below_threshold_problem(plan: &Plan, columns: &ScoreColumns) -> Option<Diagnostic> {
    let (reducer, scorer, highest) = plan.below_threshold(columns)?;
    let name = reducer.log_name();
    let text = format!(
        "{name} takes only scores from 1 on for a success, and the highest of `{scorer}` is {}: no epoch succeeds",
        short(highest, 6)
    );
    Some(Diagnostic::warning(text).hint(threshold_hint(reducer.as_ref(), highest)))
}

/// What is to be known about a reducer that takes every rating for a success.
pub fn beyond_threshold_problem(
    reducer: &dyn Reducer,
    highest: f64,
    severity: fn(String) -> Diagnostic,
) -> Diagnostic {
    let name = reducer.log_name();
    let text = format!(
        "{name} takes every score from 1 on for a success, and there are scores up to {}",
        short(highest, 6)
    );
    severity(text).hint(threshold_hint(reducer, highest))
}

fn threshold_hint(reducer: &dyn Reducer, highest: f64) -> Text {
    let mut spec = reducer.spec();
    let value = if highest.fract() == 0.0 { Arg::Int(highest as i64) } else { Arg::Float(highest) };
    spec.kwargs.insert("value".to_owned(), value);
    text!("say from which score on an epoch is a success: {}", Opt::Reducer.set(spec.to_string()))
}

/// Values of a scorer that have no meaning as a number.
#[derive(Default)]
struct UnconvertibleScores {
    scorer: String,
    /// The key of map-valued scores that they are under.
    key: Option<String>,
    count: usize,
    conversions: Vec<Conversion>,
    /// The distinct ones, with their numbers.
    values: IndexMap<String, usize>,
    /// The first few as they are written.
    texts: Vec<String>,
    /// The first row that has one, and its sample.
    first: Option<(usize, String)>,
    /// Whether they are lists and maps.
    are_nested: bool,
    /// Whether they are in lists and maps.
    are_parts: bool,
    /// Whether a list is among them, or has them.
    has_lists: bool,
    /// The keys of maps, and whether all values under each are scores.
    keys: IndexMap<String, bool>,
    /// A few numbers among the other values.
    numbers: Vec<f64>,
    /// The booleans among the other values.
    booleans: Vec<bool>,
    /// Whether a metric would read them as labels, if a reducer did not read them first.
    are_labels: bool,
}

impl UnconvertibleScores {
    fn are_unknown(&self, value: ValueRef<'_>) -> bool {
        is_unconvertible(value, &self.conversions)
    }

    /// Adds a value of a row, be it a score or not.
    fn note(&mut self, row: usize, sample: &str, value: ValueRef<'_>) {
        let is_unknown = self.are_unknown(value);
        if let (false, Some(number)) = (is_unknown || self.numbers.len() >= NUMBERS_KEPT, number(value))
            && !self.numbers.contains(&number)
        {
            self.numbers.push(number);
        }
        if let ValueRef::Leaf(LeafRef::Bool(boolean)) = value
            && !self.booleans.contains(&boolean)
        {
            self.booleans.push(boolean);
        }
        if is_unknown {
            self.first.get_or_insert_with(|| (row, sample.to_owned()));
            self.are_nested |= !matches!(value, ValueRef::Leaf(_));
            let count = self.values.entry(shown(value)).or_default();
            *count += 1;
            if *count == 1 && self.texts.len() < TEXTS_KEPT {
                self.texts.extend(value.as_text());
            }
        }
    }
}

fn unconvertible_scores(
    results: &Results,
    columns: &ScoreColumns,
    plan: &Plan,
    registry: &Registry,
) -> Vec<UnconvertibleScores> {
    let mut found: Vec<UnconvertibleScores> = Vec::new();
    for warning in &results.warnings {
        let Warning::Unconvertible { scorer, key, reducer, count, .. } = warning else { continue };
        // Several reducers and metrics meet the same values.
        if found.iter().any(|known| known.scorer == *scorer && known.key == *key) {
            continue;
        }
        let mut one = UnconvertibleScores {
            scorer: scorer.clone(),
            key: key.clone(),
            conversions: match reducer {
                Some(name) => conversions_of_reducer(name, &plan.reducers),
                None => conversions_of_metrics(scorer, plan, registry),
            },
            are_labels: reducer.is_some() && metrics_of(scorer, plan).any(|metric| metric.reads_labels()),
            ..UnconvertibleScores::default()
        };
        for row in 0..columns.len() {
            let Some(score) = columns.score(row, scorer) else { continue };
            if let Value::Map(map) = &score.value {
                for (key, leaf) in map {
                    let is_score = !one.are_unknown(ValueRef::Leaf(leaf.view()));
                    one.keys.entry(key.to_string()).and_modify(|all| *all &= is_score).or_insert(is_score);
                }
            }
            one.has_lists |= matches!(score.value, Value::List(_));
            let leaves: Vec<&Leaf> = match (&score.value, key) {
                (Value::Map(map), Some(key)) => map.get(key.as_str()).into_iter().collect(),
                // Reducers of scalars reduce lists and maps leaf by leaf.
                (Value::Map(map), None) if reducer.is_some() => map.values().collect(),
                (Value::List(list), None) if reducer.is_some() => list.iter().collect(),
                (value, _) => {
                    one.note(row, columns.id(row), value.view());
                    continue;
                }
            };
            one.are_parts = true;
            leaves.into_iter().for_each(|leaf| one.note(row, columns.id(row), ValueRef::Leaf(leaf.view())));
        }
        one.values.sort_by(|_, a, _, b| b.cmp(a));
        one.count = one.values.values().sum::<usize>().max(*count);
        found.push(one);
    }
    found
}

/// The number that a value is.
fn number(value: ValueRef<'_>) -> Option<f64> {
    match value {
        ValueRef::Leaf(LeafRef::Int(int)) => Some(int as f64),
        ValueRef::Leaf(LeafRef::Float(float)) => Some(float),
        _ => None,
    }
}

fn is_unconvertible(value: ValueRef<'_>, conversions: &[Conversion]) -> bool {
    !value.is_unscored() && conversions.iter().any(|conversion| !conversion.convert(value).convertible)
}

/// A value for people, not too long.
fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::List(_) => "a list".to_owned(),
        ValueRef::Map(_) => "a map".to_owned(),
        ValueRef::Leaf(LeafRef::Null) => NULL.to_owned(),
        ValueRef::Leaf(_) => quoted(&value.as_text().unwrap_or_default()),
    }
}

/// A value in quotes, not too long.
fn quoted(text: &str) -> String {
    match text.chars().count() > SHOWN {
        true => format!("{:?}…", text.chars().take(SHOWN).collect::<String>()),
        false => format!("{text:?}"),
    }
}

fn refusal(found: &[UnconvertibleScores], cells: CellContext<'_>) -> Diagnostic {
    let location = |row: usize| cells.table.locations.get(row);
    let about = |one: &UnconvertibleScores| {
        let values = one.values.iter().map(|(value, count)| (value.clone(), *count));
        let first = one.first.as_ref().map(|(row, sample)| (location(*row), sample.as_str()));
        error_text::no_scores((&one.scorer, one.key.as_deref()), one.count, values, first, "no scores")
    };
    let problem = found.iter().map(about).collect::<Vec<_>>().join("; ");
    let meaning = match found {
        [one, ..] if one.values.is_empty() => {
            "the scores are numbers, and what the reducer makes of them is not: let it return numbers".into()
        }
        [one, ..] if one.values.keys().all(|value| value == NULL) => {
            "write NaN in place of null for what could not be scored".into()
        }
        [one, ..] if one.are_labels => {
            let or_none = if cells.has_no_reduce { text!(" or {NoReduce}") } else { Text::default() };
            text!("they are labels, and the reducer reads numbers: add {Reducer=mode}{}", or_none)
        }
        [one, ..] if one.has_lists => hints::LISTS.into(),
        [one, ..] if one.are_nested => hints::map_hint(),
        [one, ..] if one.are_parts && one.keys.values().any(|are_scores| *are_scores) => {
            let keys = one.keys.iter().filter(|(_, are_scores)| **are_scores);
            hints::keys_hint(&keys.map(|(key, _)| key.clone()).collect::<Vec<_>>(), cells.has_no_reduce)
        }
        [one, ..] => {
            let words = cells.table.words.iter().filter(|word| word.scorer == one.scorer);
            let words: Vec<_> = words.map(|word| (word.word.as_str(), word.score)).collect();
            // Numbers that words were read as are none.
            let is_word = |number: &f64| words.iter().any(|(_, score)| *score == Some(*number));
            let numbers: Vec<f64> = one.numbers.iter().copied().filter(|number| !is_word(number)).collect();
            let boolean = |value: &bool| (if *value { "True" } else { "False" }, Some(f64::from(*value)));
            let known: Vec<_> = words.into_iter().chain(one.booleans.iter().map(boolean)).collect();
            hints::unknown_cells_hint(&one.texts, &known, &numbers)
        }
        [] => Text::default(),
    };
    let hint = match found.iter().any(|one| one.are_parts) {
        true => text!("{}; or {Unconvertible=zero} counts them as 0", meaning),
        false => {
            text!("{}; or {Unconvertible=missing} skips them, {Unconvertible=zero} counts them as 0", meaning)
        }
    };
    let diagnostic = Diagnostic::error(problem).of_kind(DiagnosticKind::Table).hint(hint);
    match found.first().and_then(|one| one.first.as_ref()) {
        Some((row, sample)) => diagnostic.at(Place {
            path: cells.path.display().to_string(),
            location: location(*row),
            sample: Some(sample.clone()),
        }),
        None => diagnostic,
    }
}

/// The conversion of the reducer of this name.
pub(super) fn conversions_of_reducer(name: &str, reducers: &Reducers) -> Vec<Conversion> {
    let Reducers::Explicit(reducers) = reducers else { return vec![Conversion::default()] };
    let reducer = reducers.iter().find(|reducer| reducer.log_name() == name || reducer.spec().name == name);
    let conversion = reducer.and_then(|reducer| reducer.by_epoch()).and_then(|reducer| reducer.conversion());
    vec![conversion.cloned().unwrap_or_default()]
}

/// The metrics of a scorer.
pub(super) fn metrics_of<'p>(scorer: &str, plan: &'p Plan) -> impl Iterator<Item = &'p Arc<dyn Metric>> {
    let metrics = plan.task_metrics.as_ref().or_else(|| plan.default_metrics.get(scorer));
    metrics.into_iter().flat_map(|metrics| metrics.iter())
}

/// The conversions of the metrics of a scorer: those of what they are about, and those that are named in their arguments.
/// A metric that converts nothing has none.
pub(super) fn conversions_of_metrics(scorer: &str, plan: &Plan, registry: &Registry) -> Vec<Conversion> {
    let mut found = Vec::new();
    for metric in metrics_of(scorer, plan) {
        match metric.subject() {
            // The outermost one reads the values themselves.
            Some(subject) => found.push(subject.conversions.first().cloned().unwrap_or_default()),
            None => collect_conversions(&metric.spec(), registry, &mut found),
        }
    }
    if found.is_empty() {
        found.push(Conversion::default());
    }
    found
}

fn collect_conversions(spec: &Spec, registry: &Registry, found: &mut Vec<Conversion>) {
    for nested in spec.args.iter().chain(spec.kwargs.values()) {
        if let Arg::Spec(nested) = nested {
            match registry.conversion(nested) {
                Ok(conversion) => found.push(conversion),
                Err(_) => collect_conversions(nested, registry, found),
            }
        }
    }
}
