//! The list of the files that a page is made of.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::PageRun;
use super::cells::{count, counted, date};
use super::task::{Task, run_name};
use crate::svg::{Series, breakable};

/// Where a run was read from.
fn file<'r>(run: &'r PageRun<'_>) -> &'r str {
    if run.facts.file.is_empty() { &run.report.log } else { &run.facts.file }
}

/// The files, behind a summary line.
pub(super) fn list(tasks: &[Task<'_>]) -> Markup {
    let runs: Vec<_> = tasks.iter().flat_map(|task| &task.runs).collect();
    let is_logs = runs.iter().all(|(run, _)| run.facts.status.is_some());
    let files: BTreeSet<&str> = runs.iter().map(|(run, _)| file(run)).collect();
    let word = if is_logs { "log" } else { "file" };
    html! {
        details.more {
            summary { (counted(files.len() as u64, word)) }
            div.wide role="region" aria-label="table of files, scrolls sideways" tabindex="0" {
                table.t.logs {
                    thead {
                        tr {
                            th scope="col" { "name here" }
                            th scope="col" { "model" }
                            th scope="col" { (word) }
                            th scope="col" { "made" }
                            th.num scope="col" { "tokens" }
                        }
                    }
                    tbody { @for (run, series) in runs { (row(run, *series)) } }
                }
            }
        }
    }
}

fn row(run: &PageRun<'_>, series: Series) -> Markup {
    let made = run.facts.created.as_deref().map_or_else(|| "–".to_owned(), date);
    let tokens = run.facts.tokens.filter(|tokens| *tokens > 0).map_or_else(|| "–".to_owned(), count);
    let status = run.facts.status.as_deref().filter(|status| *status != "success");
    html! {
        tr {
            th scope="row" { (run_name(&run.name, series)) }
            td.mono { (breakable(run.report.model.as_deref().unwrap_or("–"))) }
            td.mono { (breakable(file(run))) @if let Some(status) = status { " " span.flag { (breakable(status)) } } }
            td.nw { (breakable(&made)) }
            td.num { (tokens) }
        }
    }
}
