//! The hint that samples are not independent: a metadata key that no error is clustered by, with the figure.
//!
//! It must not slow a command down. Only the first of several files is looked at; a table is read once more with its other
//! columns, a log together with its scores, and only if the file is small. A file that cannot be read in
//! this way has no hint.

use std::path::Path;

use errorbar_core::{MetadataKeys, Plan, Reducers, Registry, ScoreColumns, UnusedCluster};
use errorbar_log::eval::{EvalLog, ScoreOptions, plan_from_header};
use errorbar_table::{NoScorePolicy, ScoreTable, TableOptions, read_tables};

use super::cells::choose_metrics;
use crate::diagnostic::Diagnostic;
use crate::text;
use crate::text::Opt;
use crate::text::significant;

/// The largest table whose other columns are read: some 40,000 rows, which took 30 to 70 ms.
const MAX_TABLE: u64 = 2 << 20;
/// The largest log whose metadata is read. It has transcripts too, which take longer.
const MAX_LOG: u64 = 32 << 20;
/// The largest log of a run that is read once more.
const MAX_RUN: u64 = 8 << 20;

/// Whether a file is so small that all of its metadata may be read.
fn is_small(path: &Path, most: u64) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.len() <= most)
}

/// The metadata to read of a log: all, if it is to be looked through.
pub(super) fn keys_of_log(path: &Path, plan: &Plan) -> MetadataKeys {
    if is_small(path, MAX_LOG) { MetadataKeys::All } else { plan.metadata_keys() }
}

/// What is to be known about the metadata of a log that a run has just written: it is read once more.
pub fn of_run(path: &Path, registry: &Registry) -> Option<Diagnostic> {
    let log = is_small(path, MAX_RUN).then(|| EvalLog::open(path).ok()).flatten()?;
    let header = log.header().ok()?;
    let (plan, _) = plan_from_header(&header, registry).ok()?;
    let options = ScoreOptions::new(MetadataKeys::All).score_parts(plan.score_parts());
    let scores = log.scores(&header, &options).ok()?;
    of_columns(&plan, &scores.columns, path)
}

/// What is to be known about the metadata of a table that was read without it.
pub(super) fn of_table(
    path: &Path,
    tables: &[ScoreTable],
    options: &TableOptions,
    plan: &Plan,
) -> Option<Diagnostic> {
    let used = plan.metadata_keys();
    let keys = tables.iter().flat_map(|table| &table.metadata_keys);
    let unused: Vec<String> = keys.filter(|key| !used.contains(key)).cloned().collect();
    if unused.is_empty() || !is_small(path, MAX_TABLE) {
        return None;
    }
    let options = options.clone().metadata(used.and(MetadataKeys::Only(unused)));
    let mut tables = read_tables(path, &options).ok()?;
    tables.iter_mut().find_map(|table| {
        table.read_cells(NoScorePolicy::Zero, false);
        let mut plan = plan.clone();
        choose_metrics(&mut plan, &table.columns);
        of_columns(&plan, &table.columns, path)
    })
}

/// What a reader of the results should know about a key that nothing is clustered by.
pub(super) fn of_columns(plan: &Plan, columns: &ScoreColumns, path: &Path) -> Option<Diagnostic> {
    let found = plan.unused_cluster(columns)?;
    let UnusedCluster { key, clusters, design_effect, stderr, clustered_stderr, p_value, .. } = &found;
    let [without, with] = [stderr, clustered_stderr].map(|error| significant(*error, 2));
    let figure = figure(&found, plan, columns);
    let text = format!(
        "samples with the same `{key}` score alike: {figure} has the error {without}, and {with} with clusters"
    );
    let chance = match *p_value {
        p if p < 0.01 => String::new(),
        p => format!(", by chance in {:.0} % of cases", (p * 100.0).max(1.0)),
    };
    let effect = format!("{clusters} values, design effect {design_effect:.1}{chance}");
    let hint = text!("if they belong together, add {} ({})", Opt::Cluster.set(key), effect);
    Some(Diagnostic::note(text).about(path.display()).hint(hint))
}

/// The figure, with its scorer and its reducer where there are several.
fn figure(found: &UnusedCluster, plan: &Plan, columns: &ScoreColumns) -> String {
    let scorer = (columns.scorer_names().count() > 1).then_some(found.scorer.as_str());
    let reducer = match &plan.reducers {
        Reducers::Explicit(reducers) if reducers.len() > 1 => found.reducer.as_deref(),
        _ => None,
    };
    match [scorer, reducer].into_iter().flatten().collect::<Vec<_>>().join(", ") {
        of if of.is_empty() => found.metric.clone(),
        of => format!("{} ({of})", found.metric),
    }
}
