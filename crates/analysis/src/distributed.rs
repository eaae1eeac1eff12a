//! Scores of tables whose rows are on several machines: with the options, the metrics and the checks that they have on one.

use std::path::Path;

use errorbar_core::{Order, Plan, Registry, ScoreColumns, ScoreParts};
#[cfg(feature = "arrow")]
use errorbar_table::{ArrowTable, RowGroup, RowGroupError, RowLabels, read_row_groups};
use errorbar_table::{MemoryTables, RowColumns, ScoreTable, TableError, TableErrorKind, TableOptions};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::read::give_meaning;
use crate::report::Report;
use crate::request::PlanChanges;
use crate::run::Run;
use crate::score::{ScoreRequest, WriteBack, with_findings};
use crate::{Analysis, text};

/// What `score` does to a table whose rows are on several machines. Each machine counts the rows that it has by what the
/// [plan](DistributedScore::plan) can see of them ([`Partial`](errorbar_core::Partial)); one of them merges the counts and
/// finishes.
pub struct DistributedScore {
    request: ScoreRequest,
    plan: Plan,
    options: TableOptions,
    changes: PlanChanges,
    registry: Registry,
}

impl std::fmt::Debug for DistributedScore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DistributedScore").field("options", &self.options).finish_non_exhaustive()
    }
}

impl DistributedScore {
    /// What the request means for a table whose rows are on several machines.
    ///
    /// # Errors
    /// A request that is not valid.
    pub fn new(request: ScoreRequest, registry: &Registry) -> Result<Self, Diagnostics> {
        let changes = request.changes(&Analysis::new(registry))?;
        let mut plan = changes.plan_of_table()?;
        // Rows on several machines have no other order.
        plan.order = Order::Key;
        // Errors that only the text of a plan has come up before any row is read.
        plan.to_text().map_err(Diagnostic::from)?;
        let mapping = request.tables.mapping(None)?;
        let options = request
            .tables
            .options(&mapping, request.read.limits().max_memory, &MemoryTables::default())
            .metadata(plan.metadata_keys())
            .details(plan.score_parts() == ScoreParts::All)
            .number_rows(false);
        Ok(DistributedScore { request, plan, options, changes, registry: registry.clone() })
    }

    /// What is computed.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What the columns of a table are. Names alone decide, because every machine must decide the same.
    ///
    /// # Errors
    /// Columns that are missing or there twice.
    pub fn columns(&self, name: &str, columns: &[String]) -> Result<RowColumns, Diagnostic> {
        let names: Vec<&str> = columns.iter().map(String::as_str).collect();
        RowColumns::new(&names, &self.options).map_err(|error| self.problem(name, error))
    }

    /// The same of a table in memory.
    ///
    /// # Errors
    /// As [`DistributedScore::columns`].
    #[cfg(feature = "arrow")]
    pub fn columns_of(&self, table: &ArrowTable) -> Result<RowColumns, TableError> {
        let names = table.column_names(&self.options);
        RowColumns::new(&names.iter().map(String::as_str).collect::<Vec<_>>(), &self.options)
    }

    /// The rows that a machine has, by group, as [`read_row_groups`] gives them.
    ///
    /// # Errors
    /// Rows that cannot be read, and more memory than the options allow.
    #[cfg(feature = "arrow")]
    pub fn rows(
        &self,
        table: &ArrowTable,
        labels: &RowLabels,
    ) -> Result<impl Iterator<Item = Result<RowGroup, RowGroupError>> + use<>, RowGroupError> {
        read_row_groups(table, &self.options, labels)
    }

    /// What is wrong with the rows of a table or a group of this name.
    pub fn problem(&self, name: &str, error: TableError) -> Diagnostic {
        let is_too_large = matches!(error.kind(), TableErrorKind::TooMuchMemory { .. });
        let diagnostic = Diagnostic::from(error.in_table(Path::new(name)));
        match is_too_large {
            true => diagnostic.hint(text!(
                "distribute the rows over more partitions, or allow more memory with {MaxMemory}"
            )),
            false => diagnostic,
        }
    }

    /// The results of a table, all of whose rows are there. `metadata_keys` are its columns that are metadata.
    ///
    /// # Errors
    /// As on one machine: cells that are no scores, epochs that cannot be completed, scores that do not fit the metrics.
    pub fn finish(
        &self,
        name: &str,
        columns: ScoreColumns,
        metadata_keys: Vec<String>,
    ) -> (Option<Report>, Diagnostics) {
        let (report, diagnostics) = match self.report(name, columns, metadata_keys) {
            Ok((report, warnings)) => (Some(report), warnings),
            Err(diagnostics) => (None, diagnostics),
        };
        let diagnostics = with_findings(report.as_slice(), diagnostics, &self.changes, &self.request.tables);
        (report, diagnostics)
    }

    fn report(
        &self,
        name: &str,
        columns: ScoreColumns,
        metadata_keys: Vec<String>,
    ) -> Result<(Report, Diagnostics), Diagnostics> {
        let path = Path::new(name);
        let mut tables = [ScoreTable::of_rows(columns, metadata_keys, &self.options, path)?];
        give_meaning(&mut tables, path, &self.plan, self.request.tables.unconvertible)?;
        let [table] = tables;
        let mut warnings = Diagnostics::default();
        let run = Run::of_table(table, self.plan.clone(), (path.to_owned(), name.to_owned()), (false, false));
        let analysis = Analysis::new(&self.registry);
        let report =
            analysis.score_run(run, &self.request, &self.changes, WriteBack::default(), &mut warnings)?;
        Ok((report, warnings))
    }
}
