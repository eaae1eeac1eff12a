//! The samples whose score changed, with what they ask and what was answered.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use errorbar_core::{
    Evaluation, IndexMap, MetadataKeys, Reducers, Reduction, SampleId, Score, ScoreParts, Value,
};
use errorbar_inference::ComparisonReport;
use errorbar_log::eval::SampleFields;
use indexmap::IndexSet;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use super::alignment::text_of;
use super::sides::{Side, Sides};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::run::{QUESTION, TARGET};
use crate::text;
use crate::text::counted;

/// The column of a table with what the model answered.
const ANSWER: &str = "answer";

/// Between the answers of several epochs.
const SEPARATOR: &str = " · ";

/// The samples that changed.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ListedFlips {
    /// Up to a number of each comparison.
    pub flips: Vec<Flip>,
    /// The number of samples that changed, listed or not.
    pub changed: usize,
}

/// The samples that changed: up to a number of each comparison.
pub(super) fn flips(
    sides: &Sides,
    report: &ComparisonReport,
    most: usize,
    diagnostics: &mut Diagnostics,
) -> Result<ListedFlips, Diagnostics> {
    let mut reduced = ReducedSides::new();
    let paired = report.comparisons.iter().filter(|comparison| comparison.is_paired);
    let sources: IndexSet<(&str, &str, Option<&str>, &str)> =
        paired.map(|one| (&*one.base, &*one.other, one.task.as_deref(), &*one.scorer)).collect();
    let mut flips = ListedFlips { flips: Vec::new(), changed: 0 };
    for (base, other, task, scorer) in sources {
        // The mean over tasks has no samples of its own.
        let (Some(base), Some(other)) = (sides.get(base, task), sides.get(other, task)) else { continue };
        for side in [base, other] {
            if let Entry::Vacant(entry) = reduced.entry(side.key()) {
                entry.insert(evaluation(side)?);
            }
        }
        let [of_base, of_other] = [base, other].map(|side| reduction(&reduced, side, scorer));
        let (Some(of_base), Some(of_other)) = (of_base, of_other) else { continue };
        let changed = changed((base, of_base), (other, of_other), scorer);
        let count = changed.len();
        flips.changed += count;
        if count > most {
            let text = format!(
                "{} of {} and {} changed by {}, of which {most} {} listed",
                counted(count as u64, "sample"),
                base.name,
                other.name,
                scorer,
                if most == 1 { "is" } else { "are" },
            );
            diagnostics.push(Diagnostic::note(text).hint(text!("{Flips=all} lists them all")));
        }
        let mut listed: Vec<Flip> = changed.into_iter().take(most).collect();
        add_texts(&mut listed, base, other, scorer)?;
        flips.flips.append(&mut listed);
    }
    Ok(flips)
}

/// The reduced scores of sides, by their keys.
type ReducedSides<'a> = HashMap<(&'a str, Option<&'a str>), Evaluation>;

/// The scores of a side by a scorer; of several reducers, by the first.
fn reduction<'e>(reduced: &'e ReducedSides<'_>, side: &'e Side, scorer: &str) -> Option<&'e Reduction> {
    reduced.get(&side.key())?.reductions.iter().find(|reduction| reduction.scorer == scorer)
}

/// The reduced scores of a side.
fn evaluation(side: &Side) -> Result<Evaluation, Diagnostics> {
    let mut plan = side.run.plan.clone();
    if let Reducers::Disabled = plan.reducers {
        plan.reducers = Reducers::Implicit;
    }
    plan.evaluate(&side.run.scores)
        .map_err(|error| Diagnostic::from(error).about(side.run.identity.path.display()).into())
}

/// The samples that have a score on both sides, and another one. In the order of the base.
fn changed(base: (&Side, &Reduction), other: (&Side, &Reduction), scorer: &str) -> Vec<Flip> {
    let (of_base, name) = (base.0, &other.0.name);
    let scores = |(side, reduction): (&Side, &Reduction)| -> IndexMap<String, (SampleId, Score)> {
        reduction.iter(&side.run.scores).map(|(id, score)| (id.to_string(), (id, score))).collect()
    };
    let of_other = scores(other);
    let mut flips = Vec::new();
    for (key, (id, base_score)) in scores(base) {
        let Some((_, other_score)) = of_other.get(&key) else { continue };
        let mut push = |field: Option<&str>, base_score: Json, other_score: Json| {
            flips.push(Flip {
                id: id.clone(),
                input: None,
                base_answer: None,
                other_answer: None,
                base_score,
                other_score,
                scorer: scorer.to_owned(),
                field: field.map(str::to_owned),
                base: of_base.name.clone(),
                other: name.clone(),
                task: of_base.task.clone(),
            });
        };
        match (&base_score.value, &other_score.value) {
            (Value::Unscored, _) | (_, Value::Unscored) => {}
            (Value::Map(base), Value::Map(other)) => {
                for (field, value) in base {
                    if let Some(changed) = other.get(field).filter(|changed| *changed != value) {
                        push(Some(field), value.to_json(), changed.to_json());
                    }
                }
            }
            (base, other) if base != other => push(None, base.to_json(), other.to_json()),
            _ => {}
        }
    }
    flips
}

/// What is known about a sample besides its scores.
#[derive(Default)]
struct SampleTexts {
    input: Option<String>,
    answers: Vec<String>,
}

/// Adds inputs and answers.
fn add_texts(flips: &mut [Flip], base: &Side, other: &Side, scorer: &str) -> Result<(), Diagnostics> {
    let wanted: HashSet<String> = flips.iter().map(|flip| flip.id.to_string()).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let [of_base, of_other] = [texts(base, scorer, &wanted)?, texts(other, scorer, &wanted)?];
    let answer = |texts: Option<&SampleTexts>| {
        texts.filter(|texts| !texts.answers.is_empty()).map(|texts| texts.answers.join(SEPARATOR))
    };
    for flip in flips {
        let id = flip.id.to_string();
        let (base, other) = (of_base.get(&id), of_other.get(&id));
        flip.input = [base, other].into_iter().flatten().find_map(|texts| texts.input.clone());
        (flip.base_answer, flip.other_answer) = (answer(base), answer(other));
    }
    Ok(())
}

fn texts(
    side: &Side,
    scorer: &str,
    wanted: &HashSet<String>,
) -> Result<HashMap<String, SampleTexts>, Diagnostics> {
    let mut texts: HashMap<String, SampleTexts> = HashMap::new();
    let mut add = |id: String, input: Option<String>, answer: Option<String>| {
        let texts = texts.entry(id).or_default();
        texts.input = texts.input.take().or(input);
        if let Some(answer) = answer
            && !texts.answers.contains(&answer)
        {
            texts.answers.push(answer);
        }
    };
    match side.run.log() {
        Some(source) => {
            let mut fields = SampleFields::scores(MetadataKeys::NONE).score_parts(ScoreParts::All);
            (fields.texts, fields.completion) = (true, true);
            let scorer = side.run.identity.scorer.as_deref().unwrap_or(scorer);
            for sample in source.log.samples_of(fields, |id, _| wanted.contains(&id.to_string()))? {
                let mut sample = sample?;
                let answer = sample.scores.swap_remove(scorer).and_then(|score| score.answer);
                let is_there = |answer: &String| !answer.trim().is_empty();
                let answer = answer.filter(is_there).or(sample.completion.filter(is_there));
                add(sample.id.to_string(), Some(text_of(&sample.input)), answer);
            }
        }
        None => {
            let columns = &side.run.scores;
            for row in (0..columns.len()).filter(|row| wanted.contains(columns.id(*row))) {
                let metadata = columns.metadata_row(row);
                let cell = |key: &str| {
                    let value = metadata.get(key).filter(|value| !value.is_null())?;
                    Some(errorbar_core::python_text::json_text(value))
                };
                let answer = columns.score(row, scorer).and_then(|score| score.answer);
                let input = QUESTION.into_iter().filter(|key| *key != TARGET).find_map(cell);
                add(columns.id(row).to_owned(), input, answer.or_else(|| cell(ANSWER)));
            }
        }
    }
    Ok(texts)
}

/// A sample whose score is another on the other side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Flip {
    /// Its id.
    #[serde(serialize_with = "id")]
    pub id: SampleId,
    /// The input, where it is known.
    pub input: Option<String>,
    /// The answer of the base, where it is known.
    pub base_answer: Option<String>,
    /// The answer of the other side.
    pub other_answer: Option<String>,
    /// The score of the base.
    pub base_score: Json,
    /// The score of the other side.
    pub other_score: Json,
    /// The scorer.
    pub scorer: String,
    /// The key of map-valued scores.
    pub field: Option<String>,
    /// The base.
    pub base: String,
    /// The other side.
    pub other: String,
    /// The task, if there are several.
    pub task: Option<String>,
}

/// An integer stays one.
fn id<S: Serializer>(id: &SampleId, serializer: S) -> Result<S::Ok, S::Error> {
    match id {
        SampleId::Int(id) => serializer.serialize_i64(*id),
        SampleId::Str(id) => serializer.serialize_str(id),
    }
}
