//! The list of the files that a page is made of.

use std::collections::BTreeSet;

use super::PageRun;
use super::cells::{count, counted, date};
use super::task::{Task, run_name};
use crate::svg::breakable;

/// Where a run was read from.
fn file<'r>(run: &'r PageRun<'_>) -> &'r str {
    if run.facts.file.is_empty() { &run.report.log } else { &run.facts.file }
}

/// The files, behind a summary line.
pub(super) fn list(tasks: &[Task<'_>]) -> String {
    let runs: Vec<_> = tasks.iter().flat_map(|task| &task.runs).collect();
    let is_logs = runs.iter().all(|(run, _)| run.facts.status.is_some());
    let files: BTreeSet<&str> = runs.iter().map(|(run, _)| file(run)).collect();
    let word = if is_logs { "log" } else { "file" };
    let mut html = format!(
        "<details class=\"more\"><summary>{}</summary><div class=\"wide\" role=\"region\" aria-label=\"table of files, scrolls \
         sideways\" tabindex=\"0\"><table class=\"t logs\"><thead><tr><th scope=\"col\">name here</th><th \
         scope=\"col\">model</th><th scope=\"col\">{word}</th><th scope=\"col\">made</th><th scope=\"col\" \
         class=\"num\">tokens</th></tr></thead><tbody>",
        counted(files.len() as u64, word)
    );
    for (run, series) in runs {
        let model = run.report.model.as_deref().unwrap_or("–");
        let made = run.facts.created.as_deref().map(date).unwrap_or_else(|| "–".to_owned());
        let tokens = run.facts.tokens.filter(|tokens| *tokens > 0).map_or_else(|| "–".to_owned(), count);
        let status = run.facts.status.as_deref().filter(|status| *status != "success");
        let status = status.map(|status| format!(" <span class=\"flag\">{}</span>", breakable(status)));
        html += &format!(
            "<tr><th scope=\"row\">{}</th><td class=\"mono\">{}</td><td class=\"mono\">{}{}</td><td class=\"nw\">{}</td><td \
             class=\"num\">{tokens}</td></tr>",
            run_name(&run.name, *series),
            breakable(model),
            breakable(file(run)),
            status.unwrap_or_default(),
            breakable(&made),
        );
    }
    html + "</tbody></table></div></details>"
}
