//! Results as LaTeX: a `tabular` with the rules of the package booktabs.

use std::collections::HashMap;

use crate::comparison::tables::{self, ComparedRow, ComparedTable, ComparisonTables};
use crate::comparison::{self, ComparisonView};
use crate::notes::{facts, run_remarks};
use crate::table::{TextTable, tables};
use crate::text::is_unsafe;
use crate::{Listing, Render, Report, Sort};

/// A `table` for each block: a `tabular` under a caption with task, model, scorer, what is to be known about the run, and
/// a legend; notes on rows are below it. It is never wider than the text: what would be is scaled down. Needs
/// `\usepackage{booktabs,graphicx}` and nothing else; names in other scripts than Latin need XeLaTeX or LuaLaTeX with a
/// font that has them.
///
/// A comment above the tables names the log. Names are text: every character that LaTeX would read as a command is
/// escaped.
#[derive(Debug, Clone, Copy, Default)]
pub struct Latex {
    sort: Sort,
}

impl Latex {
    /// The order of groups and shares below their heading.
    #[must_use]
    pub fn sort(mut self, sort: Sort) -> Self {
        self.sort = sort;
        self
    }
}

impl Render for Latex {
    fn to_text(&self, reports: &[Report]) -> String {
        let mut text = format!("{PACKAGES}\n");
        for report in reports {
            let about: Vec<String> = std::iter::once(report.log.clone()).chain(facts(report)).collect();
            text += &format!("\n{}\n", comment(&about.join("; ")));
            let (common, tables) = tables(report, self.sort);
            for table in tables {
                let mut table = table.texts(&common, INDENT);
                table.titles.pop();
                table.details.extend(run_remarks(report));
                table.legend = common.legend();
                let (rows, notes) = split_notes(table.rows);
                text += &captioned(&of_run(report), &TextTable { rows, ..table }, &notes);
            }
        }
        text
    }

    /// A list as a `tabular`. A last column that is empty everywhere is left out.
    fn listing_text(&self, listing: &Listing) -> String {
        let (mut columns, rows) = (alignments(listing), listing.texts());
        if columns.len() > 1 && rows.iter().all(|row| row.last().is_none_or(String::is_empty)) {
            columns.pop();
        }
        tabular(&columns, listing.titles(), &rows)
    }

    /// Comparisons, a `table` for each of their tables.
    fn comparison_text(&self, view: &ComparisonView<'_>) -> String {
        let tables = ComparisonTables::of(view.report);
        let sides = view.report.sides.join(if tables.is_many { ", " } else { " → " });
        let about: Vec<String> = view.title.map(str::to_owned).into_iter().chain([sides.clone()]).collect();
        let mut text = format!("{PACKAGES}\n\n{}\n", comment(&about.join("; ")));
        for warning in comparison::warnings(view.report) {
            text += &format!("{}\n", comment(&format!("note: {warning}")));
        }
        let legend = comparison::explanation(view.report);
        text +=
            &tables.compared.iter().map(|table| compared_table(table, &about, &legend)).collect::<String>();
        let title: Vec<String> = view.title.map(str::to_owned).into_iter().collect();
        text += &tables.grids.iter().map(|table| captioned(&title, table, &[])).collect::<String>();
        for TextTable { name, titles, rows, .. } in
            tables::flip_tables(view.flips.unwrap_or_default(), usize::MAX)
        {
            let about = ["samples that changed".to_owned(), name];
            // Texts are paragraphs: in one line they would not fit on a page.
            let columns = r"llp{0.3\linewidth}p{0.2\linewidth}p{0.2\linewidth}";
            text += &headed(&about, None, &tabular(columns, &titles, &rows), &[]);
        }
        if let Some(gate) = comparison::gates(view.report) {
            text += &format!("{}\n", comment(&gate.to_string()));
        }
        text
    }
}

fn compared_table(table: &ComparedTable, about: &[String], legend: &str) -> String {
    let mut texts = table.texts(INDENT, false);
    // A verdict is words, for which a column is too much: the text of an article is 345 pt wide.
    texts.titles.pop();
    let verdicts = texts.rows.iter_mut().map(|row| row.pop().unwrap_or_default());
    let note = |(row, verdict): (&ComparedRow, String)| {
        let parts = std::iter::once(verdict).chain(row.notes.iter().cloned());
        let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
        (!parts.is_empty()).then(|| format!("{}: {}.", row.label, parts.join(" · ")))
    };
    let notes: Vec<String> = table.rows.iter().zip(verdicts).filter_map(note).collect();
    texts.legend = Some(legend.to_owned());
    captioned(about, &texts, &notes)
}

/// Task and model, or the file of a table, which has neither.
fn of_run(report: &Report) -> Vec<String> {
    let known: Vec<String> = [&report.task, &report.model].into_iter().flatten().cloned().collect();
    if known.is_empty() { vec![report.log.clone()] } else { known }
}

/// The packages that tables under a caption need, as a comment.
const PACKAGES: &str = "% Needs \\usepackage{booktabs,graphicx}.";

/// A list whose last column has notes, as a `tabular` and the notes that go below it.
pub(crate) fn listed_with_notes(listing: &Listing) -> (String, Vec<String>) {
    let (rows, notes) = split_notes(listing.texts());
    let columns: String =
        alignments(listing).chars().take(listing.titles().len().saturating_sub(1)).collect();
    (tabular(&columns, listing.titles(), &rows), notes)
}

/// Numbers to the right, everything else to the left.
fn alignments(listing: &Listing) -> String {
    (0..listing.titles().len()).map(|at| if listing.is_numeric(at) { 'r' } else { 'l' }).collect()
}

/// Rows without their last cell, which has notes, and the notes with the label of their row: sentences would make a
/// table wider than any page. A nested row whose label others have too is named with its heading.
fn split_notes(mut rows: Vec<Vec<String>>) -> (Vec<Vec<String>>, Vec<String>) {
    let notes: Vec<String> = rows.iter_mut().map(|row| row.pop().unwrap_or_default()).collect();
    let labels: Vec<&str> = rows.iter().map(|row| row.first().map_or("", String::as_str)).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for label in &labels {
        *counts.entry(label).or_default() += 1;
    }
    let mut heading = "";
    let mut below = Vec::new();
    for (label, notes) in labels.iter().zip(notes) {
        let name = match label.strip_prefix(INDENT) {
            None => {
                heading = label;
                (*label).to_owned()
            }
            Some(nested) if counts.get(label).is_some_and(|count| *count > 1) => {
                format!("{heading}, {nested}")
            }
            Some(nested) => nested.to_owned(),
        };
        if !notes.is_empty() {
            below.push(format!("{name}: {notes}."));
        }
    }
    (rows, below)
}

/// A table under a caption: what it is about, its name, its details and its legend.
pub(crate) fn captioned(about: &[String], table: &TextTable, notes: &[String]) -> String {
    let TextTable { name, details, titles, rows, legend, .. } = table;
    let about: Vec<String> = about.iter().chain([name]).chain(details).cloned().collect();
    headed(&about, legend.clone(), &tabular(&"l".repeat(titles.len()), titles, rows), notes)
}

/// A `tabular` under a caption: what it is about, then its legend. Notes are below it. A table wider than the text is
/// scaled down to its width.
pub(crate) fn headed(about: &[String], legend: Option<String>, tabular: &str, notes: &[String]) -> String {
    let caption: Vec<String> = std::iter::once(about.join(" · ")).chain(legend).collect();
    let caption = escape(&caption.join(". "));
    let tabular = tabular.trim_end();
    let notes = match notes {
        [] => String::new(),
        notes => format!(
            "\n\\medskip\n\\begin{{minipage}}{{\\linewidth}}\\footnotesize\\raggedright\n{}\n\\end{{minipage}}\n",
            notes.iter().map(|note| escape(note)).collect::<Vec<_>>().join("\\\\\n")
        ),
    };
    format!(
        "\\begin{{table}}[htbp]\n\\centering\n\\caption{{{caption}}}\n\\small\n\\setlength{{\\tabcolsep}}{{4pt}}\n{FIT}{{%\n\
         {tabular}}}\n{notes}\\end{{table}}\n"
    )
}

/// As wide as it is, or as the text if that is less.
const FIT: &str = "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}";

/// What marks rows below a heading; two blanks that LaTeX keeps.
const INDENT: &str = "\u{a0}\u{a0}";

/// A table of texts, escaped, with a column for each letter of `columns`.
fn tabular(columns: &str, titles: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().take(columns.len()).map(|cell| escape(cell)).collect();
        format!("  {} \\\\\n", cells.join(" & "))
    };
    let rows: String = rows.iter().map(|row| line(row)).collect();
    format!(
        "\\begin{{tabular}}{{{columns}}}\n  \\toprule\n{}  \\midrule\n{rows}  \\bottomrule\n\\end{{tabular}}\n",
        line(titles)
    )
}

/// A comment, which ends with its line: the text has only one.
///
/// ```
/// assert_eq!(errorbar_report::latex_comment("a\n\\input{b}"), "% a \\input{b}");
/// ```
pub fn comment(text: &str) -> String {
    let text: String = text.chars().map(|c| if is_unsafe(c) { ' ' } else { c }).collect();
    format!("% {text}")
}

/// Text as LaTeX shows it.
///
/// ```
/// use errorbar_report::escape_latex;
///
/// assert_eq!(escape_latex("50 % of R&D_1 {x} ~ \\relax"), r"50 \% of R\&D\_1 \{x\} \textasciitilde{} \textbackslash{}relax");
/// assert_eq!(escape_latex("a--b \"c\""), r"a-{}-b \char34{}c\char34{}");
/// assert_eq!(escape_latex("a\u{202e}b\u{2066}c\u{fffe}"), "a?b?c?", "what no LaTeX can set");
/// assert_eq!(escape_latex("0.75 ± 0.25 [-1, 2]"), r"0.75 $\pm$ 0.25 {[}$-$1, 2{]}");
/// ```
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let is_minus =
            c == '-' && !before.is_alphanumeric() && chars.peek().is_some_and(char::is_ascii_digit);
        match c {
            '-' if is_minus => escaped.push_str("$-$"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => escaped.extend(['\\', c]),
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '<' => escaped.push_str("\\textless{}"),
            '>' => escaped.push_str("\\textgreater{}"),
            '|' => escaped.push_str("\\textbar{}"),
            // By code, as their names need packages or other font encodings.
            '"' => escaped.push_str("\\char34{}"),
            '`' => escaped.push_str("\\char96{}"),
            // Two would become a dash.
            '-' if chars.peek() == Some(&'-') => escaped.push_str("-{}"),
            // Behind the end of a row, these would belong to the command that ends it.
            '[' | ']' | '*' => escaped.extend(['{', c, '}']),
            '±' => escaped.push_str("$\\pm$"),
            '≤' => escaped.push_str("$\\le$"),
            '≥' => escaped.push_str("$\\ge$"),
            '×' => escaped.push_str("$\\times$"),
            '−' => escaped.push_str("$-$"),
            '→' => escaped.push_str("$\\to$"),
            '…' => escaped.push_str("\\ldots{}"),
            '·' => escaped.push_str("\\textperiodcentered{}"),
            '\u{a0}' => escaped.push('~'),
            c if is_unsafe(c) => escaped.push('?'),
            c => escaped.push(c),
        }
        before = c;
    }
    escaped
}
