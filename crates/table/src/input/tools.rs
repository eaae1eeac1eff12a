//! Results of other tools, as they write them.
//!
//! HELM: `per_instance_stats.json` of a run. A record per instance, trial and perturbation, with a list of statistics. The id is
//! `instance_id`, the trial is the epoch, and every statistic is a scorer by its mean; those of perturbed instances are scorers
//! of their own, and so are those of each split if there are several. Counts and times are columns, but no scores.
//!
//! lm-evaluation-harness: `samples_TASK_TIME.jsonl`, which `lm_eval --log_samples` writes. A record per document and filter. The
//! id is `doc_id`; every metric is a scorer, and where there are several filters, every metric under every filter, by the name
//! that the tool's own table has: `exact_match,strict-match`.
//!
//! promptfoo: `promptfoo eval --output results.json` (or `.jsonl`). A record per test, prompt and provider, under
//! `results.results` (`results` in old versions). The scorers are `success`, `score` and every named score. Each provider (and
//! prompt, if there are several) is a run of its own. The id is the number of the test; tests that come several times with the
//! same variables and assertions are its epochs. A record that failed before it could be graded has no score.
//!
//! simple-evals: `EVAL_MODEL_allresults.json`. Lists side by side: `htmls` (what each example looks like), `convos` (its
//! messages), and `metadata` with what some evaluations record per example. The score is the one in the metadata; else the one
//! that the page of the example shows. Nothing names the examples, so the id is made of the question, the options of which may
//! be shuffled; questions that all come equally often are repeats. Where they do not, a user says what a sample is: with the
//! name `question` of the column of ids, or `example`.

use std::borrow::Cow;

use indexmap::{IndexMap, IndexSet};
use jiter::JsonValue;

use super::json::{Records, get, text_of, write_row, write_value};
use crate::error::TableError;
use crate::spellings::is_among;
use crate::{TableErrorKind, TableLocation};

/// A tool whose results are a list of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    LmEval,
    Promptfoo,
    Helm,
}

/// The tools, and the keys that their records have; every one of them.
const TOOLS: [(Tool, &[&str]); 4] = [
    (Tool::LmEval, &["doc_id", "filtered_resps"]),
    (Tool::Promptfoo, &["success", "prompt", "provider", "vars"]),
    (Tool::Promptfoo, &["success", "prompt", "testIdx", "promptIdx"]),
    (Tool::Helm, &["instance_id", "stats"]),
];

impl Tool {
    /// The rows of its records; `ids` are the names that ids may be under, if a user names some.
    pub(super) fn rows(self, records: &[JsonValue<'_>], ids: &[String]) -> Result<Records, TableError> {
        match self {
            Tool::LmEval => lm_eval_rows(records, ids),
            Tool::Promptfoo => promptfoo_rows(records),
            Tool::Helm => helm_rows(records),
        }
    }
}

/// The tool that wrote a record.
pub(super) fn of_record(record: &JsonValue<'_>) -> Option<Tool> {
    let is_of = |keys: &[&str]| keys.iter().all(|key| get(record, key).is_some());
    TOOLS.iter().find(|(_, keys)| is_of(keys)).map(|(tool, _)| *tool)
}

/// The tool that wrote JSON lines, by the first of them.
pub(super) fn of_lines(head: &[u8]) -> Option<Tool> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let line = head.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty())?;
    match JsonValue::parse(line, true) {
        Ok(record) => of_record(&record),
        // A line that is longer than the head; its keys are there, but for the last ones.
        Err(_) => {
            let has = |key: &str| {
                let key = format!("\"{key}\"");
                line.windows(key.len()).any(|window| window == key.as_bytes())
            };
            let is_lm_eval = has("doc_id") && has("doc") && (has("arguments") || has("resps"));
            is_lm_eval.then_some(Tool::LmEval)
        }
    }
}

/// Whether a record is a figure of a whole run of HELM.
pub(super) fn is_helm_aggregate(record: &JsonValue<'_>) -> bool {
    get(record, "name").is_some_and(|name| get(name, "name").is_some()) && get(record, "count").is_some()
}

/// The error of figures of a whole run, where scores of samples are read.
pub(super) fn aggregate(tool: &'static str, wanted: &'static str) -> TableError {
    let problem = format!("these are figures of a whole run of {tool}, without the scores of its samples");
    TableErrorKind::invalid(problem, wanted).into()
}

/// The error of results that are not as the tool writes them.
fn problem(tool: &'static str, record: usize, problem: impl Into<String>) -> TableError {
    let problem = format!("these are results of {tool}, but {}", problem.into());
    let hint = "check that the file is complete and as the tool wrote it";
    TableErrorKind::invalid(problem, hint).in_row(record as u64 + 1)
}

/// The string or number under a key, as a string.
fn text(value: &JsonValue<'_>, key: &str) -> Option<String> {
    get(value, key).and_then(text_of).map(Cow::into_owned)
}

/// A value as JSON.
fn json_text(value: &JsonValue<'_>) -> String {
    let mut bytes = Vec::new();
    write_value(&mut bytes, value);
    String::from_utf8(bytes).unwrap_or_default()
}

/// Which row it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct RowKey {
    /// The run that it is of, if there are several.
    log: Option<String>,
    id: String,
    epoch: u32,
}

#[derive(Debug, Default)]
struct ToolRow {
    scores: IndexMap<String, JsonValue<'static>>,
    metadata: IndexMap<String, JsonValue<'static>>,
    /// The record that it was made of first.
    record: usize,
}

/// Rows by their keys, in the order in which they come.
#[derive(Debug, Default)]
struct ToolRows {
    rows: IndexMap<RowKey, ToolRow>,
    scores: IndexSet<String>,
    /// Columns that are numbers, but no scores.
    other: IndexSet<String>,
    unread: IndexSet<String>,
    /// The name of the column of ids, if a user names one.
    id_name: Option<String>,
}

/// Names that columns of scores cannot have, because they mean something else.
const RESERVED: [&str; 6] = ["id", "epoch", "log", "model", "scorer", "task"];

impl ToolRows {
    /// No rows yet; their ids are in a column of this name, or in `id`.
    fn named(id_name: Option<String>) -> Self {
        ToolRows { id_name, ..ToolRows::default() }
    }

    /// The row of a key, there even if no score comes.
    fn row(&mut self, key: &RowKey, record: usize) -> &mut ToolRow {
        if !self.rows.contains_key(key) {
            self.rows.insert(key.clone(), ToolRow { record, ..ToolRow::default() });
        }
        self.rows.entry(key.clone()).or_default()
    }

    /// Adds a score, or a number that is none unless a user says so.
    fn cell(
        &mut self,
        key: &RowKey,
        record: usize,
        (name, is_score): (&str, bool),
        value: &JsonValue<'_>,
    ) -> Result<(), TableErrorKind> {
        let name = column(name);
        if is_score {
            self.other.shift_remove(&name);
            self.scores.insert(name.clone());
        } else if !self.scores.contains(&name) {
            self.other.insert(name.clone());
        }
        let row = self.row(key, record);
        let first = TableLocation::Row(row.record as u64 + 1);
        match row.scores.insert(name.clone(), value.to_static()) {
            None => Ok(()),
            Some(_) => Err(TableErrorKind::DuplicateRow { epoch: key.epoch, scorer: Some(name), first }),
        }
    }

    /// Adds a value that is known of a sample; long ones are left out.
    fn metadata(&mut self, key: &RowKey, record: usize, name: String, value: &JsonValue<'_>) {
        const LONGEST: usize = 200;
        let is_short = match value {
            JsonValue::Str(text) => text.len() <= LONGEST,
            JsonValue::Array(_) | JsonValue::Object(_) | JsonValue::Null => false,
            _ => true,
        };
        if is_short {
            let value = value.to_static();
            self.row(key, record).metadata.entry(name).or_insert(value);
        }
    }

    /// Adds what is in a map of a record, by its path.
    fn metadata_within(&mut self, key: &RowKey, at: usize, record: &JsonValue<'_>, map: &str) {
        if let Some(JsonValue::Object(entries)) = get(record, map) {
            entries.iter().for_each(|(name, value)| self.metadata(key, at, format!("{map}.{name}"), value));
        }
    }

    /// Whether no record has a score.
    fn has_no_scores(&self) -> bool {
        self.scores.is_empty()
    }

    fn finish(self, tool: &'static str) -> Records {
        let mut records = Records { tool: Some(tool), ..Records::default() };
        let id_name = self.id_name.as_deref().unwrap_or("id");
        let has_epochs = self.rows.keys().any(|key| key.epoch > 1);
        for (key, row) in &self.rows {
            let (id, epoch) = (JsonValue::Str(key.id.as_str().into()), JsonValue::Int(i64::from(key.epoch)));
            let log = key.log.as_deref().map(|log| JsonValue::Str(log.into()));
            let log = log.iter().flat_map(|log| [(Cow::from("log"), log), (Cow::from("model"), log)]);
            let own = log
                .chain([(Cow::from(id_name), &id)])
                .chain(has_epochs.then_some((Cow::from("epoch"), &epoch)));
            let scores = row.scores.iter().map(|(name, value)| (Cow::from(name.as_str()), value));
            let is_free = |name: &str| {
                name != id_name
                    && !RESERVED.contains(&name)
                    && !self.scores.contains(name)
                    && !self.other.contains(name)
            };
            let metadata = row
                .metadata
                .iter()
                .filter(|(name, _)| is_free(name))
                .map(|(name, value)| (Cow::from(name.as_str()), value));
            write_row(&mut records.lines, own.chain(scores).chain(metadata));
        }
        records.score_columns = self.scores.into_iter().collect();
        records.unread = self.unread.into_iter().collect();
        records
    }
}

fn column(name: &str) -> String {
    if RESERVED.contains(&name) { format!("{name} (score)") } else { name.to_owned() }
}

/// Tells repeats of the same sample from different samples. Tools that repeat a run mark the repeats nowhere, but they
/// repeat all of it: if every sample comes as often as every other, and more than once, those are its epochs.
fn repeats<'k>(samples: impl Iterator<Item = &'k str>) -> Option<Vec<u32>> {
    let samples: Vec<&str> = samples.collect();
    let mut counts: IndexMap<&str, u32> = IndexMap::new();
    samples.iter().for_each(|sample| *counts.entry(sample).or_default() += 1);
    let epochs = occurrences(samples.into_iter());
    let first = counts.values().next().copied().filter(|first| *first > 1)?;
    counts.values().all(|count| *count == first).then_some(epochs)
}

/// The how-manieth of its sample each row is, from 1.
fn occurrences<'k>(samples: impl Iterator<Item = &'k str>) -> Vec<u32> {
    let mut counts: IndexMap<&str, u32> = IndexMap::new();
    let mut number = |sample| {
        let count = counts.entry(sample).or_default();
        *count += 1;
        *count
    };
    samples.map(&mut number).collect()
}

/// Whether no sample comes twice.
fn are_unique<'k>(samples: impl Iterator<Item = &'k str>) -> bool {
    let mut met = IndexSet::new();
    samples.into_iter().all(|sample| met.insert(sample))
}

/// A short name for a long text, the same in every file that has it (FNV-1a).
fn fingerprint(text: &str) -> String {
    const PRIME: u64 = 0x0100_0000_01b3;
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
    format!("{hash:016x}")
}

const HELM: &str = "HELM";

/// Statistics of a run that say nothing about how good an answer is: these, and those that start so.
const FIGURES: &str = "num_, inference_, training_, finish_reason_, estimated_, batch_size, prompt_truncated, max_prob, \
    logprob, predicted_index";

fn helm_rows(records: &[JsonValue<'_>]) -> Result<Records, TableError> {
    let splits: IndexSet<String> =
        records.iter().flat_map(stats).filter_map(|stat| text(get(stat, "name")?, "split")).collect();
    let mut rows = ToolRows::default();
    for (at, record) in records.iter().enumerate() {
        let Some(id) = get(record, "instance_id").and_then(text_of) else {
            return Err(problem(HELM, at, "a record has no `instance_id`"));
        };
        let trial = match get(record, "train_trial_index") {
            Some(JsonValue::Int(trial)) => u32::try_from(*trial).ok().and_then(|trial| trial.checked_add(1)),
            None => Some(1),
            _ => None,
        };
        let Some(epoch) = trial else { return Err(problem(HELM, at, "a `train_trial_index` is no index")) };
        let key = RowKey { id: id.into_owned(), epoch, log: None };
        rows.row(&key, at);
        let perturbation = get(record, "perturbation").and_then(|found| text(found, "name"));
        for stat in stats(record) {
            let Some(of) = get(stat, "name") else { continue };
            let Some(name) = text(of, "name") else {
                return Err(problem(HELM, at, "a statistic has no name"));
            };
            let mut scorer = name.clone();
            if let Some(split) = text(of, "split").filter(|_| splits.len() > 1) {
                scorer += &format!(" ({split})");
            }
            let perturbed = get(of, "perturbation").and_then(|found| text(found, "name"));
            if let Some(perturbed) = perturbed.or_else(|| perturbation.clone()) {
                scorer += &format!(" ({perturbed})");
            }
            let Some(mean) = mean(stat) else { continue };
            let is_figure = FIGURES.split(", ").any(|start| name.starts_with(start));
            let added = rows.cell(&key, at, (&scorer, !is_figure), &mean);
            added.map_err(|kind| kind.in_row(at as u64 + 1).of_sample(&key.id))?;
            if let Some(split) = get(of, "split") {
                rows.metadata(&key, at, "split".to_owned(), split);
            }
        }
    }
    if rows.has_no_scores() {
        return Err(problem(HELM, 0, "no record has a statistic that is a score"));
    }
    Ok(rows.finish(HELM))
}

fn stats<'r, 'j>(record: &'r JsonValue<'j>) -> std::slice::Iter<'r, JsonValue<'j>> {
    match get(record, "stats") {
        Some(JsonValue::Array(stats)) => stats.iter(),
        _ => [].iter(),
    }
}

/// The mean of a statistic; none if it counts nothing.
fn mean(stat: &JsonValue<'_>) -> Option<JsonValue<'static>> {
    if let Some(mean @ (JsonValue::Float(_) | JsonValue::Int(_))) = get(stat, "mean") {
        return Some(mean.to_static());
    }
    let number = |key: &str| match get(stat, key)? {
        JsonValue::Float(number) => Some(*number),
        JsonValue::Int(number) => Some(*number as f64),
        _ => None,
    };
    let count = number("count").filter(|count| *count > 0.0)?;
    Some(JsonValue::Float(number("sum")? / count))
}

const LM_EVAL: &str = "lm-evaluation-harness";

/// The hash of a document.
const HASH: &str = "doc_hash";

/// The keys of a record that are no metrics.
const OTHER: &str = "doc_id, doc, target, arguments, resps, filtered_resps, filter, metrics, doc_hash, prompt_hash, \
    target_hash, input, task_name, prompt, repeats";

fn lm_eval_rows(records: &[JsonValue<'_>], ids: &[String]) -> Result<Records, TableError> {
    let filter_of = |record: &JsonValue<'_>| text(record, "filter").unwrap_or_else(|| "none".to_owned());
    let filters: IndexSet<String> = records.iter().map(filter_of).collect();
    let first = records.first();
    let named = ids.iter().find(|name| first.is_some_and(|record| value_at(record, name).is_some()));
    let id_name = named.map_or("doc_id", String::as_str);
    let mut rows = ToolRows::named(named.cloned());
    for (at, record) in records.iter().enumerate() {
        let Some(id) = value_at(record, id_name).and_then(text_of) else {
            return Err(problem(LM_EVAL, at, format!("a record has no `{id_name}`")));
        };
        let key = RowKey { id: id.into_owned(), epoch: 1, log: None };
        rows.row(&key, at);
        for (name, value) in metrics(record) {
            let name = match filters.len() {
                0 | 1 => name.to_owned(),
                _ => format!("{name},{}", filter_of(record)),
            };
            match value {
                JsonValue::Int(_) | JsonValue::Float(_) | JsonValue::Bool(_) | JsonValue::Null => rows
                    .cell(&key, at, (&name, true), value)
                    .map_err(|kind| kind.in_row(at as u64 + 1).of_sample(&key.id).apart(apart(records)))?,
                // Such as the pairs that corpus BLEU is computed from.
                _ => drop(rows.unread.insert(name)),
            }
        }
        if let Some(target) = get(record, "target") {
            rows.metadata(&key, at, "target".to_owned(), target);
        }
        rows.metadata_within(&key, at, record, "doc");
    }
    if rows.has_no_scores() {
        let unread: Vec<&str> = rows.unread.iter().map(String::as_str).collect();
        let found = match unread.as_slice() {
            [] => "no record has a metric".to_owned(),
            unread => format!("no metric has a number per sample: {}", unread.join(", ")),
        };
        return Err(problem(LM_EVAL, 0, found));
    }
    Ok(rows.finish(LM_EVAL))
}

/// What a record has under a name, which may be that of a part of its document: `doc.question`.
fn value_at<'r, 'j>(record: &'r JsonValue<'j>, name: &str) -> Option<&'r JsonValue<'j>> {
    let in_doc = || name.strip_prefix("doc.").and_then(|name| get(get(record, "doc")?, name));
    get(record, name).or_else(in_doc)
}

/// What tells records apart, where documents of several tasks have the same numbers.
fn apart(records: &[JsonValue<'_>]) -> Option<(String, bool)> {
    let mut seen = IndexSet::new();
    let is_new = |record: &JsonValue<'_>| {
        text(record, HASH).is_some_and(|hash| seen.insert((hash, text(record, "filter"))))
    };
    records.iter().all(is_new).then(|| (HASH.to_owned(), false))
}

/// The metrics of a record: those that it names, or all keys that no version of the tool uses for something else.
fn metrics<'r, 'j>(record: &'r JsonValue<'j>) -> Vec<(&'r str, &'r JsonValue<'j>)> {
    let JsonValue::Object(entries) = record else { return Vec::new() };
    let named: Option<Vec<&str>> = match get(record, "metrics") {
        Some(JsonValue::Array(names)) => Some(
            names
                .iter()
                .filter_map(|name| if let JsonValue::Str(name) = name { Some(name.as_ref()) } else { None })
                .collect(),
        ),
        _ => None,
    };
    let is_metric = |key: &str| match &named {
        Some(named) => named.contains(&key),
        None => !is_among(OTHER, key),
    };
    let is_number = |value: &JsonValue<'_>| !matches!(value, JsonValue::Str(_));
    entries
        .iter()
        .filter(|(key, value)| is_metric(key) && (named.is_some() || is_number(value)))
        .map(|(key, value)| (key.as_ref(), value))
        .collect()
}

const PROMPTFOO: &str = "promptfoo";

/// The `failureReason` of a record that could not be graded.
const ERROR: i64 = 2;

fn promptfoo_rows(records: &[JsonValue<'_>]) -> Result<Records, TableError> {
    let names: Vec<(String, String)> =
        records.iter().map(|record| (provider(record), prompt(record))).collect();
    let providers: IndexSet<&str> = names.iter().map(|(provider, _)| provider.as_str()).collect();
    let prompts: IndexSet<&str> = names.iter().map(|(_, prompt)| prompt.as_str()).collect();
    let run = |at: usize| {
        let (provider, prompt) = names.get(at)?;
        let number = prompts.get_index_of(prompt.as_str()).unwrap_or(0) + 1;
        match (providers.len() > 1, prompts.len() > 1) {
            (false, false) => None,
            (true, false) => Some(provider.clone()),
            (false, true) => Some(format!("prompt {number}")),
            (true, true) => Some(format!("{provider}, prompt {number}")),
        }
    };
    let mut runs: IndexMap<Option<String>, Vec<usize>> = IndexMap::new();
    (0..records.len()).for_each(|at| runs.entry(run(at)).or_default().push(at));
    let mut rows = ToolRows::default();
    for (log, members) in runs {
        let members: Vec<(usize, &JsonValue<'_>)> =
            members.into_iter().filter_map(|at| Some((at, records.get(at)?))).collect();
        let ids = ids(&members)?;
        for ((at, record), (id, epoch)) in members.into_iter().zip(ids) {
            let key = RowKey { log: log.clone(), id, epoch };
            rows.row(&key, at);
            add(&mut rows, &key, at, record)?;
        }
    }
    Ok(rows.finish(PROMPTFOO))
}

/// The scores and the variables of a record.
fn add(rows: &mut ToolRows, key: &RowKey, at: usize, record: &JsonValue<'_>) -> Result<(), TableError> {
    let located = |kind: crate::TableErrorKind| kind.in_row(at as u64 + 1).of_sample(&key.id);
    let is_error = match get(record, "failureReason") {
        Some(JsonValue::Int(reason)) => *reason == ERROR,
        // Old versions have the message alone, also beside a failed assertion.
        _ => {
            get(record, "error").is_some_and(|error| !matches!(error, JsonValue::Null))
                && get(record, "gradingResult").is_none_or(|result| matches!(result, JsonValue::Null))
        }
    };
    if !is_error {
        for name in ["success", "score"] {
            match get(record, name) {
                Some(value @ (JsonValue::Bool(_) | JsonValue::Int(_) | JsonValue::Float(_))) => {
                    rows.cell(key, at, (name, true), value).map_err(located)?;
                }
                _ => return Err(problem(PROMPTFOO, at, format!("a record has no `{name}`"))),
            }
        }
        if let Some(JsonValue::Object(named)) = get(record, "namedScores") {
            for (name, value) in named.iter() {
                rows.cell(key, at, (name, true), value).map_err(located)?;
            }
        }
    }
    rows.metadata_within(key, at, record, "vars");
    Ok(())
}

/// The ids and epochs of the records of a run.
fn ids(members: &[(usize, &JsonValue<'_>)]) -> Result<Vec<(String, u32)>, TableError> {
    let tests: Vec<String> = members.iter().map(|(_, record)| test(record)).collect();
    let numbers: Vec<Option<String>> = members.iter().map(|(_, record)| text(record, "testIdx")).collect();
    let tests_of = || tests.iter().map(String::as_str);
    if let Some(epochs) = repeats(tests_of()) {
        return Ok(tests.iter().map(|test| fingerprint(test)).zip(epochs).collect());
    }
    let numbers: Option<Vec<String>> = numbers.into_iter().collect();
    if let Some(numbers) = numbers.filter(|numbers| are_unique(numbers.iter().map(String::as_str))) {
        return Ok(numbers.into_iter().map(|number| (number, 1)).collect());
    }
    match are_unique(tests_of()) {
        true => Ok(tests.iter().map(|test| (fingerprint(test), 1)).collect()),
        false => Err(problem(
            PROMPTFOO,
            0,
            "some tests have the same variables, and no `testIdx` tells them apart",
        )),
    }
}

/// What makes a test the same test.
fn test(record: &JsonValue<'_>) -> String {
    let case = get(record, "testCase");
    let parts = [
        get(record, "vars"),
        case.and_then(|case| get(case, "assert")),
        case.and_then(|case| get(case, "description")),
    ];
    parts.into_iter().flatten().map(json_text).collect::<Vec<_>>().join("\n")
}

fn provider(record: &JsonValue<'_>) -> String {
    match get(record, "provider") {
        Some(JsonValue::Str(id)) => id.to_string(),
        Some(provider) => {
            let label = text(provider, "label").filter(|label| !label.is_empty());
            label.or_else(|| text(provider, "id")).unwrap_or_default()
        }
        None => String::new(),
    }
}

fn prompt(record: &JsonValue<'_>) -> String {
    // The template: what is sent differs between tests.
    text(record, "promptId")
        .or_else(|| {
            let prompt = get(record, "prompt")?;
            text(prompt, "id").or_else(|| text(prompt, "label")).or_else(|| text(prompt, "display"))
        })
        .unwrap_or_default()
}

const SIMPLE_EVALS: &str = "simple-evals";
/// The name of the column of ids that makes examples with the same question repeats of it.
const QUESTION: &str = "question";
/// The name of the column of ids that makes every example a sample.
const EXAMPLE: &str = "example";

/// The rows of simple-evals, whose results are lists side by side.
pub(super) fn simple_evals(results: &JsonValue<'_>, ids: &[String]) -> Result<Records, TableError> {
    let list = |value: Option<&JsonValue<'_>>| match value {
        Some(JsonValue::Array(items)) => items.iter().map(JsonValue::to_static).collect(),
        _ => Vec::new(),
    };
    let (pages, messages) = (list(get(results, "htmls")), list(get(results, "convos")));
    let details = list(get(results, "metadata").and_then(|metadata| get(metadata, "example_level_metadata")));
    if pages.len() != messages.len() || (!details.is_empty() && details.len() != messages.len()) {
        let found = format!(
            "it has {} pages, {} conversations and {} records of examples",
            pages.len(),
            messages.len(),
            details.len()
        );
        return Err(problem(SIMPLE_EVALS, 0, found));
    }
    let id_name = ids.iter().find(|name| [QUESTION, EXAMPLE].contains(&name.as_str())).cloned();
    let questions: Vec<String> = messages
        .iter()
        .enumerate()
        .map(|(at, convo)| {
            if id_name.as_deref() == Some(EXAMPLE) {
                return (at + 1).to_string();
            }
            let named = details.get(at).and_then(|details| text(details, "prompt_id"));
            named.unwrap_or_else(|| fingerprint(&question(convo)))
        })
        .collect();
    let of = || questions.iter().map(String::as_str);
    let epochs = match repeats(of()) {
        Some(epochs) => epochs,
        None if are_unique(of()) => vec![1; questions.len()],
        None if id_name.is_some() => occurrences(of()),
        None => return Err(TableErrorKind::UnevenRepeats { tool: SIMPLE_EVALS }.into()),
    };
    let mut rows = ToolRows::named(id_name);
    for (at, (id, epoch)) in questions.iter().zip(epochs).enumerate() {
        let key = RowKey { id: id.clone(), epoch, log: None };
        rows.row(&key, at);
        let recorded = details.get(at).and_then(|details| get(details, "score"));
        let score = match recorded {
            Some(JsonValue::Null) => continue,
            Some(score) => Some(score.to_static()),
            None => pages.get(at).and_then(shown_score),
        };
        let Some(score) = score else {
            return Err(problem(
                SIMPLE_EVALS,
                at,
                "neither the metadata nor the page of an example has its score",
            ));
        };
        if !matches!(score, JsonValue::Null) {
            rows.cell(&key, at, ("score", true), &score).map_err(|kind| kind.in_row(at as u64 + 1))?;
        }
    }
    if rows.has_no_scores() {
        return Err(problem(SIMPLE_EVALS, 0, "no example has a score"));
    }
    Ok(rows.finish(SIMPLE_EVALS))
}

/// The first message, without the letters and the order of its options.
fn question(convo: &JsonValue<'_>) -> String {
    let JsonValue::Array(messages) = convo else { return json_text(convo) };
    let prompt: Vec<String> = messages
        .iter()
        .filter(|message| text(message, "role").as_deref() != Some("assistant"))
        .map(|message| match get(message, "content") {
            Some(JsonValue::Str(content)) => content.to_string(),
            content => content.map(json_text).unwrap_or_default(),
        })
        .collect();
    let prompt = prompt.join("\n");
    let is_option = |line: &&str| {
        let mut characters = line.chars();
        matches!((characters.next(), characters.next()), (Some('A'..='J'), Some(')' | '.')))
    };
    let lines: Vec<&str> = prompt.lines().collect();
    let mut options: Vec<&str> = lines
        .iter()
        .filter(|line| is_option(line))
        .map(|line| line.get(2..).unwrap_or_default().trim())
        .collect();
    options.sort_unstable();
    let rest: Vec<&str> = lines.iter().filter(|line| !is_option(line)).copied().collect();
    format!("{}\n{}", rest.join("\n"), options.join("\n"))
}

/// The score at the end of the page of an example: `<p>Score: 1.0</p>`.
fn shown_score(page: &JsonValue<'_>) -> Option<JsonValue<'static>> {
    let JsonValue::Str(page) = page else { return None };
    let (_, rest) = page.rsplit_once("<p>Score: ")?;
    let (score, _) = rest.split_once("</p>")?;
    match score.trim() {
        "True" => Some(JsonValue::Bool(true)),
        "False" => Some(JsonValue::Bool(false)),
        "None" => Some(JsonValue::Null),
        score => score.parse().ok().map(JsonValue::Float),
    }
}
