//! The sides of a comparison, as they are read: a log, a table, or a part of one.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use errorbar_core::{MetadataKeys, Plan, Results, ScoreColumns, ScoreParts};
use errorbar_log::eval::{EvalLog, Header, SampleFields};
use errorbar_log::inspect::scorer_metrics;
use errorbar_table::{
    MemoryTables, ScoreTable, ScoreWord, TableErrorKind, TableMapping, TableOptions, read_tables,
};

use errorbar_report::ChanceLevel;

use super::InputOptions;
use crate::commands::error_args::check_clusters;
use crate::commands::files::{self, InputFiles};
use crate::commands::handles::time_in_name;
use crate::commands::logs::{self, OpenedLog, ReadProgress, ScoreRequest};
use crate::commands::table_scores::UnconvertiblePolicy;
use crate::commands::{Context, table_scores, unused_clusters};
use crate::diagnostic::{Diagnostic, DiagnosticKind, Diagnostics};

/// Columns of a table that say what a sample asks, and expects.
pub(crate) const QUESTION: [&str; 6] = ["input", "question", "prompt", "problem", "text", TARGET];
/// The one of them that is no part of the question.
pub(crate) const TARGET: &str = "target";
/// The column of a table with what the model answered.
pub(crate) const ANSWER: &str = "answer";
/// The usual metadata key of the confidence of answers.
pub(crate) const CONFIDENCE: &str = "confidence";
/// What two scorers of the same samples are both called.
pub(crate) const SCORE: &str = "score";

/// The scores of a log, a table, or a part of one.
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    /// What the user calls it: the name of the file or folder that an argument means.
    pub(crate) argument: String,
    /// Which part of the file it is.
    pub(crate) part: Option<String>,
    pub(crate) task: Option<String>,
    pub(crate) model: Option<String>,
    /// The id of the run.
    pub(crate) run: Option<String>,
    /// What the log records of its run; none for a table and for a part of a log.
    pub(crate) record: Option<Box<LogRecord>>,
    /// The number of rows of a table as it is in the file.
    pub(crate) rows: Option<usize>,
    /// Whether no column of a table identifies the samples.
    pub(crate) has_synthetic_ids: bool,
    pub(crate) columns: ScoreColumns,
    /// The figures of a log without samples.
    pub(crate) recorded: Option<Results>,
    pub(crate) plan: Plan,
    /// The score of guessing, if it was read and every sample of the log has choices.
    pub(crate) chance: Option<ChanceLevel>,
    pub(crate) questions: Questions,
    /// Whether it is a table, or a part of one.
    pub(crate) is_table: bool,
    /// Whether the column of its ids is named by the user, or after what it identifies.
    pub(crate) has_named_ids: bool,
    /// The columns of a table that may be metadata, whether they were read or not.
    table_keys: Vec<String>,
    /// The cells of a table that were given a meaning.
    pub(crate) words: Vec<ScoreWord>,
    /// The log, of which more may be read; none for a table and for a part of a log.
    pub(crate) log: Option<EvalLog>,
    /// The scorer that the scores are of, if that is what is compared.
    pub(crate) scorer: Option<String>,
}

impl Input {
    /// What results of it are called, as `score` does.
    pub(crate) fn title(&self) -> String {
        match &self.part {
            Some(part) => format!("{}: {part}", self.path.display()),
            None => self.path.display().to_string(),
        }
    }

    /// The metadata keys that there are, whether they were read or not.
    pub(crate) fn known_keys(&self) -> Vec<String> {
        if self.is_table { self.table_keys.clone() } else { keys_of_log(self) }
    }
}

/// What a log records of its run, and what reading it has found.
pub(crate) struct LogRecord {
    pub(crate) header: Header,
    /// Samples times epochs that could not be read.
    pub(crate) skipped: usize,
    /// Samples times epochs that a limit ended, by its kind.
    pub(crate) limits: BTreeMap<String, usize>,
}

/// What samples ask, by row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Questions {
    /// The columns of a table that the digests are of; empty for those of logs.
    pub(crate) columns: Vec<&'static str>,
    /// One for each row of a log, one for each column and row of a table; empty if nothing is known.
    pub(crate) digests: Vec<u64>,
}

impl Questions {
    /// The digest of a row: of a log the only one, of a table that of a column.
    pub(super) fn digest(&self, row: usize, column: usize) -> Option<u64> {
        self.digests.get(row * self.columns.len().max(1) + column).copied()
    }
}

/// The files that the arguments mean.
pub(crate) struct Files {
    input: InputFiles,
    /// By file, what the argument that it came from is called.
    arguments: HashMap<PathBuf, String>,
    /// Those that a folder or a pattern stands for.
    found: HashSet<PathBuf>,
}

impl Files {
    /// The files.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.input.files.clone()
    }

    /// Finds the files that the arguments mean. A file may be named and also be in a folder; but naming it twice is a
    /// mistake.
    pub(crate) fn find(paths: &[PathBuf], memory: &MemoryTables) -> Result<Self, Diagnostics> {
        let (mut input, mut arguments) = (InputFiles::default(), HashMap::new());
        let (mut named, mut of_folders) = (HashMap::new(), HashSet::new());
        let mut seen = HashSet::new();
        for path in paths {
            let mut found = files::expand_with(std::slice::from_ref(path), memory);
            let is_named = matches!(found.files.as_slice(), [only] if !path.is_dir() && only.is_file());
            let files = std::mem::take(&mut found.files);
            input.append(found);
            for file in files {
                let real = fs::canonicalize(&file).unwrap_or_else(|_| file.clone());
                if is_named && let Some(first) = named.insert(real.clone(), path.clone()) {
                    input.diagnostics.push(itself(path, &first));
                }
                if !seen.insert(real) {
                    continue;
                }
                if !is_named {
                    of_folders.insert(file.clone());
                }
                arguments.insert(file.clone(), name_of(if path.is_dir() { path } else { &file }));
                input.files.push(file);
            }
        }
        match input.diagnostics.status() {
            crate::commands::Status::Fine => Ok(Files { input, arguments, found: of_folders }),
            _ => Err(input.diagnostics),
        }
    }

    /// Whether there is one file.
    pub(crate) fn is_one(&self) -> bool {
        self.input.files.len() == 1
    }

    /// Reads them, several at a time.
    pub(crate) fn read(
        self,
        options: &InputOptions<'_>,
        context: &Context<'_>,
    ) -> Result<(Vec<Input>, Diagnostics), Diagnostics> {
        let progress = ReadProgress::new(context.quiet);
        // Once, however many files there are.
        let first = self.input.files.first().filter(|_| !context.quiet).cloned();
        let (inputs, diagnostics) = self.input.map(|path, warnings| {
            let argument = self.arguments.get(path).cloned().unwrap_or_default();
            let has_hint = options.groups.is_empty() && first.as_deref() == Some(path);
            let reader = SideReader { options, context, path, argument, has_hint };
            match options.tables.is_log(path) {
                true => reader.log(&progress, warnings),
                false => reader.table(warnings).map_err(Diagnostics::from),
            }
        });
        drop(progress);
        match diagnostics.status() {
            crate::commands::Status::Fine => {
                let mut inputs: Vec<Input> = inputs.into_iter().flatten().collect();
                order(&mut inputs, &self.found);
                Ok((inputs, diagnostics))
            }
            _ => Err(diagnostics),
        }
    }
}

/// Puts logs of a folder that began in the same second in the order of their tasks and models. Their names end in random
/// ids, which would choose the base.
fn order(inputs: &mut [Input], found: &HashSet<PathBuf>) {
    let second = |input: &Input| {
        let name = input.path.file_name()?.to_str()?;
        found.contains(&input.path).then(|| time_in_name(name)).flatten()
    };
    let is_same = |a: &Input, b: &Input| {
        second(a).is_some() && second(a) == second(b) && a.path.parent() == b.path.parent()
    };
    for inputs in inputs.chunk_by_mut(is_same) {
        inputs.sort_by(|a, b| (&a.task, &a.model, &a.path).cmp(&(&b.task, &b.model, &b.path)));
    }
}

/// The error of a file that is compared with itself.
fn itself(path: &Path, first: &Path) -> Diagnostic {
    let also = if path == first { String::new() } else { format!(" (also as {})", first.display()) };
    Diagnostic::error(format!("the file is given twice{also}, and would be compared with itself"))
        .about(path.display())
        .hint("give another log; two scorers of one log are compared with --scorers A B")
}

/// The last part of a path, without the extension of a file.
fn name_of(path: &Path) -> String {
    let name = if path.is_dir() { path.file_name() } else { path.file_stem() };
    name.map_or_else(|| path.display().to_string(), |name| name.display().to_string())
}

impl InputOptions<'_> {
    fn plan(&self, plan: Plan) -> Plan {
        let mut plan = self.overrides.apply(plan, self.seed, self.errors);
        if let Some(gates) = self.gates {
            gates.apply(&mut plan.errors);
        }
        plan
    }

    /// The scorers to read; all if there is none.
    fn scorers_read(&self) -> &[String] {
        if self.compared_scorers.is_empty() { self.scorers } else { self.compared_scorers }
    }

    /// Whether it is checked that the same id is the same sample.
    fn checks_questions(&self) -> bool {
        !self.unpaired && !self.trust_ids && self.compared_scorers.is_empty()
    }
}

/// A file that is read.
struct SideReader<'a> {
    options: &'a InputOptions<'a>,
    context: &'a Context<'a>,
    path: &'a Path,
    argument: String,
    /// Whether a metadata key that nothing is clustered by is to be reported.
    has_hint: bool,
}

impl SideReader<'_> {
    fn log(&self, progress: &ReadProgress, warnings: &mut Diagnostics) -> Result<Vec<Input>, Diagnostics> {
        let InputOptions { overrides, split, groups, skip_bad_samples, .. } = *self.options;
        let about = |diagnostic: Diagnostic| diagnostic.about(self.path.display());
        let log = self.options.read.open(self.path)?;
        let mut keys: Vec<String> = split.map(str::to_owned).into_iter().chain(groups.to_vec()).collect();
        keys.extend(self.options.reads_confidence.then(|| CONFIDENCE.to_owned()));
        let scores = ScoreRequest {
            score_metadata: self.options.reads_confidence && has_scored_confidence(&log),
            scorers: self.options.scorers_read(),
            skip_bad_samples,
            keys: &keys,
            digests: self.options.checks_questions() && split.is_none(),
            choices: self.options.reads_chance,
            reads_metadata: self.has_hint,
            ..ScoreRequest::default()
        };
        let mut opened = logs::read(&log, &scores, progress, self.context, |plan| self.options.plan(plan))?;
        opened.replace_metrics(overrides);
        check_clusters(&opened.plan).map_err(about)?;
        let takes_recorded =
            opened.scores.columns.is_empty() && opened.has_figures() && self.options.takes_recorded;
        // What cannot be computed is no matter for figures that are recorded.
        if takes_recorded {
            opened.left_out.clear();
        }
        warnings.extend(opened.warnings());
        if let Some(run) = opened.partial_run() {
            let planned = run.planned.map(|planned| format!(" of {planned}")).unwrap_or_default();
            let text = format!(
                "the run did not reach its end ({}): {}{planned} samples",
                run.status,
                opened.scores.columns.len()
            );
            warnings.push(about(Diagnostic::warning(text)));
        }
        if self.has_hint {
            warnings.extend(unused_clusters::of_columns(&opened.plan, &opened.scores.columns, self.path));
        }
        let OpenedLog { header, plan, scores, .. } = opened;
        let (skipped, limits) = (scores.skipped.len(), scores.limits);
        let has_figures = header.results.as_ref().is_some_and(|results| !results.scores.is_empty());
        let recorded = match takes_recorded {
            true => {
                Some(logs::recorded_figures(&log, self.options.scorers, overrides, self.options.errors)?.1)
            }
            false => None,
        };
        if scores.columns.is_empty() && recorded.is_none() {
            let hint = match has_figures {
                true => {
                    "`score`, `report` and `compare` show its recorded figures; what has to be computed from samples, such \
                         as plots, parts and groups, cannot be"
                }
                false => "it has no results, either",
            };
            let problem = Diagnostic::error("the log has no samples").of_kind(DiagnosticKind::Log);
            return Err(about(problem.hint(hint)).into());
        }
        if recorded.is_none() && !self.options.takes_unscored && !scores.columns.has_scores() {
            let hint = "score its outputs with `score LOG --with SPEC --write`";
            let problem = Diagnostic::error("no sample of the log has a score").of_kind(DiagnosticKind::Log);
            return Err(about(problem.hint(hint)).into());
        }
        let input = Input {
            path: self.path.to_owned(),
            argument: self.argument.clone(),
            part: None,
            task: Some(header.eval.task.clone()),
            model: Some(header.eval.model.clone()),
            run: Some(header.eval.eval_id.clone()).filter(|run| !run.is_empty()),
            record: Some(Box::new(LogRecord { header, skipped, limits })),
            rows: None,
            has_synthetic_ids: false,
            chance: ChanceLevel::of_rows(&scores.columns, &scores.choice_counts),
            columns: scores.columns,
            recorded,
            plan,
            questions: Questions { columns: Vec::new(), digests: scores.digests },
            is_table: false,
            has_named_ids: false,
            table_keys: Vec::new(),
            words: Vec::new(),
            log: Some(log),
            scorer: None,
        };
        if let Some(key) = groups.iter().find(|key| !has_key(&input.columns, key)) {
            let of_log = keys_of_log(&input);
            return Err(about(unknown_key(key, &of_log, "metadata key", self.options.groups_option)).into());
        }
        match split {
            None => Ok(self.by_scorer(input)),
            Some(key) => self.split(input, key).map_err(Diagnostics::from),
        }
    }

    /// The parts of a log, by a key of the metadata of its samples.
    fn split(&self, input: Input, key: &str) -> Result<Vec<Input>, Diagnostic> {
        let about = |diagnostic: Diagnostic| diagnostic.about(self.path.display());
        let parts = input.columns.split_by(key).map_err(|error| about(error.into()))?;
        if parts.is_empty() {
            return Err(about(unknown_key(key, &keys_of_log(&input), "metadata key", "--by")));
        }
        let Input { path, argument, task, model, run, plan, chance, .. } = input;
        let part = |(name, columns): (String, ScoreColumns)| Input {
            path: path.clone(),
            argument: argument.clone(),
            part: Some(name),
            task: task.clone(),
            model: model.clone(),
            run: run.clone(),
            record: None,
            rows: None,
            has_synthetic_ids: false,
            columns,
            recorded: None,
            plan: plan.clone(),
            chance: chance.and_then(ChanceLevel::of_part),
            questions: Questions::default(),
            is_table: false,
            has_named_ids: false,
            table_keys: Vec::new(),
            words: Vec::new(),
            log: None,
            scorer: None,
        };
        Ok(parts.into_iter().map(part).collect())
    }

    fn table(&self, warnings: &mut Diagnostics) -> Result<Vec<Input>, Diagnostic> {
        let options = self.options;
        let InputOptions { split, groups, unpaired, requires_ids, reads_answers, tables: table_args, .. } =
            *options;
        let about = |diagnostic: Diagnostic| diagnostic.about(self.path.display());
        let mut plan = Plan::new();
        plan.default_metrics = scorer_metrics();
        let plan = options.plan(plan);
        check_clusters(&plan).map_err(about)?;
        let mut keys: Vec<String> = groups.to_vec();
        if self.options.checks_questions() || reads_answers {
            keys.extend(QUESTION.map(str::to_owned));
        }
        keys.extend(options.reads_confidence.then(|| CONFIDENCE.to_owned()));
        // What the parts of a table are is the command's own option.
        let mapping = table_args.mapping(split)?;
        let table_options = table_args
            .options(&mapping, options.read.limits().max_memory)
            .metadata(plan.metadata_keys().and(MetadataKeys::Only(keys)))
            .details(plan.score_parts() == ScoreParts::All || reads_answers);
        let mut tables = self.rows(&mapping, &table_options)?;
        table_scores::read_cells(&mut tables, self.path, &plan, table_args.unconvertible)?;
        // Cells that are skipped would be other scores there.
        if self.has_hint && table_args.unconvertible != UnconvertiblePolicy::Missing {
            warnings.extend(unused_clusters::of_table(self.path, &tables, &table_options, &plan));
        }
        if requires_ids && !unpaired && tables.iter().any(|table| table.has_synthetic_ids) {
            let problem = "no column identifies the samples, so those of the two sides cannot be paired";
            let hint = "name the column with --id-column, or compare without pairs with --unpaired";
            return Err(about(Diagnostic::error(problem).hint(hint)));
        }
        if let Some(table) = tables.first() {
            warnings.extend(table_args.save(&table.mapping)?);
        }
        let mut inputs = Vec::new();
        for table in tables {
            if let Some(key) = groups.iter().find(|key| !table.metadata_keys.contains(key)) {
                let option = options.groups_option;
                return Err(about(unknown_key(key, &table.metadata_keys, "column", option)));
            }
            let scorers: Vec<String> = table.columns.scorer_names().map(str::to_owned).collect();
            if let Some(name) = options.scorers_read().iter().find(|name| !scorers.contains(name)) {
                return Err(about(logs::unknown_scorer(name, &scorers)));
            }
            let mut plan = plan.clone();
            plan.only = options.scorers.to_vec();
            inputs.extend(self.by_scorer(Input {
                path: self.path.to_owned(),
                argument: table.log.unwrap_or_else(|| self.argument.clone()),
                part: table.part,
                task: table.task,
                model: table.model,
                run: None,
                record: None,
                rows: Some(table.rows),
                has_synthetic_ids: table.has_synthetic_ids,
                questions: questions(&table.columns),
                columns: table.columns,
                recorded: None,
                plan,
                chance: None,
                is_table: true,
                has_named_ids: table_args.names_ids()
                    || table.mapping.id_columns.iter().any(|name| !name.eq_ignore_ascii_case("id")),
                table_keys: table.metadata_keys,
                words: table.words,
                log: None,
                scorer: None,
            }));
        }
        Ok(inputs)
    }

    /// The rows of a table. Scorers to compare are columns, or else they have their own rows.
    fn rows(&self, mapping: &TableMapping, options: &TableOptions) -> Result<Vec<ScoreTable>, Diagnostic> {
        let compared_scorers = self.options.compared_scorers;
        let read = |columns: &[String]| read_tables(self.path, &options.clone().score_columns(columns));
        let is_by_columns = compared_scorers.is_empty() || !mapping.score_columns.is_empty();
        let tables = match is_by_columns {
            true => read(&mapping.score_columns),
            false => match read(compared_scorers) {
                Err(error) if matches!(error.kind(), TableErrorKind::NoScoreColumn { .. }) => {
                    // The error about the columns that were named is the better one.
                    read(&[]).map_err(|_| error)
                }
                read => read,
            },
        };
        let tables = tables.map_err(|error| match error.kind() {
            // With --by, the rows of a part repeat.
            TableErrorKind::DuplicateRow { .. } | TableErrorKind::DuplicateScore { .. } if mapping.by.is_none() => {
                let hint =
                    "if the rows are of several models, compare the table alone, and name the column that tells them \
                            apart with --by";
                Diagnostic::from(error).hint(hint)
            }
            _ => Diagnostic::from(error),
        })?;
        table_scores::refuse_empty(self.path, tables)
    }

    /// An input for each of the scorers to compare, under one name; itself if none are.
    fn by_scorer(&self, input: Input) -> Vec<Input> {
        let scorers = self.options.compared_scorers;
        let Some(first) = scorers.first() else { return vec![input] };
        let of_scorer = |scorer: &String| {
            let mut plan = input.plan.clone();
            // The metrics are those of the base, or figures of one name would be of different kinds.
            plan.scorers.retain(|planned| planned.name == *first);
            plan.scorers.truncate(1);
            plan.scorers.iter_mut().for_each(|planned| planned.name = SCORE.to_owned());
            plan.only.clear();
            if let Some(metrics) = plan.default_metrics.get(first).cloned() {
                plan.default_metrics.insert(SCORE.to_owned(), metrics);
            }
            if let Some(reducers) = plan.scorer_reducers.get(first).cloned() {
                plan.scorer_reducers.insert(SCORE.to_owned(), reducers);
            }
            Some(Input {
                path: input.path.clone(),
                argument: input.argument.clone(),
                part: input.part.clone(),
                task: input.task.clone(),
                model: input.model.clone(),
                run: input.run.clone(),
                record: None,
                rows: input.rows,
                has_synthetic_ids: input.has_synthetic_ids,
                columns: input.columns.only_scorer(scorer, SCORE)?,
                recorded: None,
                chance: None,
                plan,
                questions: Questions::default(),
                is_table: input.is_table,
                has_named_ids: input.has_named_ids,
                table_keys: input.table_keys.clone(),
                words: input.words.clone(),
                log: input.log.as_ref().and_then(|log| self.options.read.open(log.path()).ok()),
                scorer: Some(scorer.clone()),
            })
        };
        scorers.iter().filter_map(of_scorer).collect()
    }
}

/// Whether scores of a log have a confidence in their metadata: its first samples are looked at.
pub(crate) fn has_scored_confidence(log: &EvalLog) -> bool {
    const LOOKED_AT: usize = 20;
    let fields = SampleFields::scores(MetadataKeys::NONE).score_parts(ScoreParts::Metadata);
    let Ok(samples) = log.samples_with(fields) else { return false };
    let has = |score: &errorbar_core::Score| {
        score.metadata.as_ref().is_some_and(|metadata| metadata.contains_key(CONFIDENCE))
    };
    samples.take(LOOKED_AT).flatten().any(|sample| sample.scores.values().any(has))
}

/// Whether a sample has this metadata key.
fn has_key(columns: &ScoreColumns, key: &str) -> bool {
    (0..columns.len()).any(|row| columns.metadata_row(row).contains_key(key))
}

/// The metadata keys of a log: those of its first sample, because only what is computed with was read.
fn keys_of_log(input: &Input) -> Vec<String> {
    let first = || {
        let samples = input.log.as_ref()?.samples_with(SampleFields::scores(MetadataKeys::All));
        samples.ok()?.next()?.ok()
    };
    first().map(|sample| sample.metadata.keys().cloned().collect()).unwrap_or_default()
}

/// The error of a column or metadata key that there is none of.
fn unknown_key(key: &str, known: &[String], what: &str, option: &str) -> Diagnostic {
    let hint = match errorbar_core::spec::nearest(key, known.iter().map(String::as_str)) {
        Some(nearest) => format!("did you mean {option} {nearest}?"),
        None if known.is_empty() => format!("there is no {what} to name: omit {option}"),
        None => format!("name a {what} with {option}: {}", known.join(", ")),
    };
    Diagnostic::error(format!("there is no {what} `{key}` to compare by")).hint(hint)
}

/// What the samples of a table ask, if it has columns for that.
pub(crate) fn questions(columns: &ScoreColumns) -> Questions {
    let known: Vec<&str> = columns.metadata_keys().collect();
    let keys: Vec<&'static str> = QUESTION.into_iter().filter(|key| known.contains(key)).collect();
    if keys.is_empty() {
        return Questions::default();
    }
    let mut digests = Vec::with_capacity(columns.len() * keys.len());
    for row in 0..columns.len() {
        let metadata = columns.metadata_row(row);
        digests.extend(keys.iter().map(|key| {
            let mut hasher = DefaultHasher::new();
            metadata.get(key).map(errorbar_core::python_text::json_text).hash(&mut hasher);
            hasher.finish()
        }));
    }
    Questions { columns: keys, digests }
}
