//! The list of the files that a page is made of.

use super::cells::{count, counted, date};
use super::task::{Task, run_name};
use crate::svg::breakable;

/// The files, behind a summary line.
pub(super) fn list(tasks: &[Task<'_>]) -> String {
    let runs: Vec<_> = tasks.iter().flat_map(|task| &task.runs).collect();
    let is_logs = runs.iter().all(|(run, _)| run.facts.status.is_some());
    let word = if is_logs { "log" } else { "file" };
    let mut html = format!(
        "<details class=\"more\"><summary>{}</summary><div class=\"wide\" role=\"region\" aria-label=\"table of files, scrolls \
         sideways\" tabindex=\"0\"><table class=\"t logs\"><thead><tr><th scope=\"col\">name here</th><th \
         scope=\"col\">model</th><th scope=\"col\">{word}</th><th scope=\"col\">made</th><th scope=\"col\" \
         class=\"num\">tokens</th></tr></thead><tbody>",
        counted(runs.len() as u64, word)
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
            breakable(if run.facts.file.is_empty() { &run.report.log } else { &run.facts.file }),
            status.unwrap_or_default(),
            breakable(&made),
        );
    }
    html + "</tbody></table></div></details>"
}
