//! Results for documents: Markdown and LaTeX.

use std::collections::HashMap;

use crate::comparison::tables::{
    self, ComparedRow, ComparedTable, ComparisonTables, most_telling, whole_and_parts,
};
use crate::comparison::{self, ComparisonView, Finding, finding};
use crate::notes::{facts, run_remarks};
use crate::table::{TextTable, tables};
use crate::text::{REPLACEMENT, counted, is_unsafe, joined};
use crate::{Listing, ListingCell, Render, Report, Sort};

/// The most samples and rows of comparisons that a comment lists.
const MOST: usize = 20;
/// What marks rows below a heading.
const NESTED: &str = "– ";

/// A heading for each report, with task and model, and a table for each block; the rows are those of the terminal,
/// without bars.
#[derive(Debug, Clone, Copy, Default)]
pub struct Markdown {
    /// The order of groups and shares below their heading.
    pub sort: Sort,
    /// Whether comparisons are to fit the comment of a pull request: a sentence, one table, the rest folded.
    pub brief: bool,
}

impl Render for Markdown {
    fn to_text(&self, reports: &[Report]) -> String {
        let of_report = |report: &Report| {
            let run = joined([&report.task, &report.model].into_iter().flatten(), " · ");
            // The log is the heading if nothing else is known.
            let log = run.is_some().then(|| report.log.clone());
            let heading = run.unwrap_or_else(|| report.log.clone());
            let details: Vec<String> = log.into_iter().chain(facts(report)).collect();
            let (common, tables) = tables(report, self.sort);
            let tables: String = tables.iter().map(|table| titled(&table.texts(&common, NESTED))).collect();
            let legend =
                common.legend().map(|legend| format!("\n{}\n", escape_markdown(&legend))).unwrap_or_default();
            format!(
                "### {}\n\n{}\n{tables}{legend}",
                escape_markdown(&heading),
                escape_markdown(&details.join(" · "))
            )
        };
        reports.iter().map(of_report).collect::<Vec<_>>().join("\n")
    }

    fn listing_text(&self, listing: &Listing) -> String {
        let cell = |cell: &ListingCell| match cell.is_code() {
            true => code(cell.text()),
            false => escape_markdown(cell.text()),
        };
        let rows: Vec<Vec<String>> =
            listing.rows().iter().map(|row| row.iter().map(cell).collect()).collect();
        let titles: Vec<String> = listing.titles().iter().map(|title| escape_markdown(title)).collect();
        escaped_table(&titles, &rows)
    }

    fn comparison_text(&self, view: &ComparisonView<'_>) -> String {
        let tables = ComparisonTables::of(view.report);
        if self.brief { brief_page(view, &tables) } else { page(view, &tables) }
    }
}

/// A table under its name and details, with its legend.
pub(crate) fn titled(table: &TextTable) -> String {
    let details = table.details.iter().map(|detail| escape_markdown(detail));
    let heading: Vec<String> =
        std::iter::once(format!("**{}**", escape_markdown(&table.name))).chain(details).collect();
    let legend =
        table.legend.as_ref().map(|legend| format!("\n{}\n", escape_markdown(legend))).unwrap_or_default();
    format!("\n{}\n\n{}{legend}", heading.join(" · "), pipe_table(&table.titles, &table.rows))
}

/// Everything about comparisons, under a heading.
fn page(view: &ComparisonView<'_>, tables: &ComparisonTables) -> String {
    let report = view.report;
    let sides = match report.sides.as_slice() {
        [base, others @ ..] if tables.is_many => format!("{base} against {}", others.join(", ")),
        sides => sides.join(" → "),
    };
    let title: Vec<String> = std::iter::once(sides).chain(view.title.map(str::to_owned)).collect();
    let mut text = format!("### {}\n", escape_markdown(&title.join(" · ")));
    text += &headline(view);
    for table in &tables.compared {
        text += &titled(&table.texts(NESTED, true));
    }
    text += &tables.grids.iter().map(titled).collect::<String>();
    text += &listed_flips(view, usize::MAX);
    text + &explanations(view) + &gate(view)
}

/// A sentence, one table, the gate; the rest is folded.
fn brief_page(view: &ComparisonView<'_>, tables: &ComparisonTables) -> String {
    let mut text = headline(view).trim_start().to_owned();
    let mut details = String::new();
    for table in &tables.compared {
        let (plain, grouped) = whole_and_parts(table);
        for (rows, out) in [(plain, &mut text), (grouped, &mut details)] {
            let (rows, left_out) = most_telling(rows, MOST);
            if rows.is_empty() {
                continue;
            }
            let of_tasks = rows.iter().all(|row| row.is_whole) && table.details.is_empty();
            let of_tasks = of_tasks.then(|| "mean over tasks".to_owned());
            let details: Vec<String> = table.details.iter().cloned().chain(of_tasks).collect();
            *out += &titled(&ComparedTable { rows, details, ..table.clone() }.texts(NESTED, false));
            if left_out > 0 {
                *out += &format!("\nand {}\n", counted(left_out as u64, "more row"));
            }
        }
        let notes = table.rows.iter().filter(|row| row.is_whole && !row.notes.is_empty()).take(MOST);
        details += &notes
            .map(|row| {
                format!("\n- {}: {}", escape_markdown(&row.label), escape_markdown(&row.notes.join(" · ")))
            })
            .collect::<String>();
        details.push('\n');
    }
    text += &gate(view);
    details += &tables.grids.iter().map(titled).collect::<String>();
    if view.flips.is_some_and(|flips| !flips.is_empty()) {
        details += &listed_flips(view, MOST);
    }
    details += &explanations(view);
    text + &format!("\n<details><summary>Details and methods</summary>\n{details}\n</details>\n")
}

/// What the gate decided.
fn gate(view: &ComparisonView<'_>) -> String {
    let Some(gate) = comparison::gates(view.report) else { return String::new() };
    let claim = escape_markdown(&gate.claim);
    format!("\n**Gate \"{claim}\" {}**: {}\n", gate.outcome.name(), escape_markdown(&gate.reason))
}

/// The finding, in bold what was found.
fn headline(view: &ComparisonView<'_>) -> String {
    let Some(Finding { claim, figures }) = finding(view.report) else {
        return "\nNothing was compared.\n".to_owned();
    };
    format!("\n**{}**: {}.\n", escape_markdown(&claim), escape_markdown(&figures))
}

/// The samples that changed, up to a limit for each pair of sides.
fn listed_flips(view: &ComparisonView<'_>, most: usize) -> String {
    let Some((flips, changed)) = view.flips.zip(view.changed_count()) else { return String::new() };
    let tables = tables::flip_tables(flips, most);
    let listed = tables.iter().map(|table| table.rows.len()).sum();
    let mut text = format!("\n**{}**\n", escape_markdown(&tables::flip_title(listed, changed)));
    for TextTable { name, titles, rows, .. } in tables {
        text += &format!("\n{}\n\n{}", escape_markdown(&name), pipe_table(&titles, &rows));
    }
    text
}

/// What symbols mean, and what a reader should know.
fn explanations(view: &ComparisonView<'_>) -> String {
    let mut text = format!("\n{}\n", escape_markdown(&comparison::explanation(view.report)));
    for warning in &view.report.warnings {
        text += &format!("\n> {}\n", escape_markdown(&format!("note: {warning}")));
    }
    text
}

/// A word to copy: nothing in it is more than text, and nothing is put into it. One that cannot be written so is escaped.
fn code(text: &str) -> String {
    let is_plain = |c: char| !is_unsafe(c) && !matches!(c, '`' | '|' | '\\');
    match !text.is_empty() && text.chars().all(is_plain) && text.trim() == text {
        true => format!("`{text}`"),
        false => escape_markdown(text),
    }
}

/// A table of texts, escaped.
pub(crate) fn pipe_table(titles: &[String], rows: &[Vec<String>]) -> String {
    let escaped = |cells: &[String]| cells.iter().map(|cell| escape_markdown(cell)).collect::<Vec<_>>();
    escaped_table(&escaped(titles), &rows.iter().map(|row| escaped(row)).collect::<Vec<_>>())
}

fn escaped_table(titles: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rows = rows.iter().map(|row| line(row));
    let head = [line(titles), format!("|{}\n", "---|".repeat(titles.len()))];
    head.into_iter().chain(rows).collect()
}

/// What comes between the characters of something that would be more than text: a zero-width space.
///
/// Sites that show Markdown look for mentions, references, addresses and formulas in the text that comes out, where an
/// escaped character is as good as any other. As a reference the space is seen where Markdown is read as it is.
const BREAK: &str = "&#8203;";

/// Text as Markdown shows it: what Markdown would read as something else is escaped, and a line break, which would end
/// the row of a table, is a character reference. What sites such as GitHub make more of is broken: mentions
/// (`@name`), references (`#123`, `GH-1`, `GHSA-…`, the 40 digits of a commit), addresses and formulas (`$x$`). Characters that are
/// [unsafe](crate::is_unsafe) are replaced.
///
/// ```
/// use errorbar_report::escape_markdown;
///
/// assert_eq!(escape_markdown("a|b\n[c] R&D &amp;"), "a\\|b&#10;\\[c\\] R\\&D \\&amp;");
/// assert_eq!(escape_markdown("fixes #12, @me"), "fixes #&#8203;12, @&#8203;me");
/// assert_eq!(escape_markdown("pass@5 of https://x.org"), "pass@5 of https:&#8203;//x.org");
/// ```
pub fn escape_markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let (before, rest) = (text.get(..at).unwrap_or(""), text.get(at + c.len_utf8()..).unwrap_or(""));
        match c {
            // Behind a backslash alone it would still begin a formula.
            '$' => escaped.extend([BREAK, "\\$"]),
            _ if is_special(before, c, rest) => escaped.extend([c.encode_utf8(&mut [0; 4]), BREAK]),
            '\n' => escaped.push_str("&#10;"),
            '\r' => escaped.push_str("&#13;"),
            '\\' | '|' | '`' | '*' | '[' | ']' | '<' | '>' | '~' => escaped.extend(['\\', c]),
            // Within a word it is no emphasis.
            '_' if !(before.ends_with(char::is_alphanumeric) && rest.starts_with(char::is_alphanumeric)) => {
                escaped.push_str("\\_");
            }
            '&' if rest.starts_with(|next: char| next == '#' || next.is_ascii_alphanumeric()) => {
                escaped.push_str("\\&");
            }
            '\t' => escaped.push(c),
            _ => escaped.push(if is_unsafe(c) { REPLACEMENT } else { c }),
        }
    }
    escaped
}

/// Whether a mention, a reference or an address would go on behind this character.
fn is_special(before: &str, c: char, rest: &str) -> bool {
    // An underscore is no part of the word: sites do not see one that is emphasis.
    let begins_word = |before: &str| !before.ends_with(|c: char| c.is_ascii_alphanumeric());
    let ends_with = |word: &str| {
        let start = before.len().checked_sub(word.len());
        let found = start.and_then(|start| Some((before.get(..start)?, before.get(start..)?)));
        found.is_some_and(|(before, end)| end.eq_ignore_ascii_case(word) && begins_word(before))
    };
    match c {
        // A mention; the address of a person, which has a dot; a commit.
        '@' => {
            let name = rest
                .split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-' | '.'))
                .next()
                .unwrap_or("");
            let is_commit = name.len() >= 7 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
            !name.is_empty() && (begins_word(before) || name.contains('.') || is_commit)
        }
        '#' => rest.starts_with(|c: char| c.is_ascii_digit()),
        '-' => {
            (ends_with("GH") && rest.starts_with(|c: char| c.is_ascii_digit()))
                || (ends_with("GHSA") && rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
        }
        ':' => rest.starts_with("//"),
        '.' => ends_with("www") && rest.starts_with(|c: char| !c.is_whitespace()),
        c if c.is_ascii_hexdigit() => is_within_commit(before, rest),
        _ => false,
    }
}

/// Whether a digit is the sixth, twelfth and so on of the name of a commit: what is left between has too few digits for one.
fn is_within_commit(before: &str, rest: &str) -> bool {
    const DIGITS: usize = 40;
    let left: Vec<u8> = before.bytes().rev().take(DIGITS).take_while(u8::is_ascii_alphanumeric).collect();
    if left.len() % 6 != 5 {
        return false;
    }
    let right: Vec<u8> = rest.bytes().take(DIGITS).take_while(u8::is_ascii_alphanumeric).collect();
    left.len() + 1 + right.len() == DIGITS && left.iter().chain(&right).all(u8::is_ascii_hexdigit)
}

// Results as LaTeX: a `tabular` with the rules of the package booktabs.

/// A `table` for each block: a `tabular` under a caption with task, model, scorer, what is to be known about the run, and
/// a legend; notes on rows are below it. It is never wider than the text: what would be is scaled down. Needs
/// `\usepackage{booktabs,graphicx}` and nothing else; names in other scripts than Latin need XeLaTeX or LuaLaTeX with a
/// font that has them.
///
/// A comment above the tables names the log. Names are text: every character that LaTeX would read as a command is
/// escaped.
#[derive(Debug, Clone, Copy, Default)]
pub struct Latex {
    /// The order of groups and shares below their heading.
    pub sort: Sort,
}

impl Render for Latex {
    fn to_text(&self, reports: &[Report]) -> String {
        let mut text = format!("{PACKAGES}\n");
        for report in reports {
            let about: Vec<String> = std::iter::once(report.log.clone()).chain(facts(report)).collect();
            text += &format!("\n{}\n", latex_comment(&about.join("; ")));
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
        let mut text = format!("{PACKAGES}\n\n{}\n", latex_comment(&about.join("; ")));
        for warning in &view.report.warnings {
            text += &format!("{}\n", latex_comment(&format!("note: {warning}")));
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
            text += &format!("{}\n", latex_comment(&gate.to_string()));
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
        let parts = std::iter::once(&verdict).chain(&row.notes).filter(|part| !part.is_empty());
        joined(parts, " · ").map(|parts| format!("{}: {parts}.", row.label))
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
    let caption = escape_latex(&caption.join(". "));
    let tabular = tabular.trim_end();
    let notes = match notes {
        [] => String::new(),
        notes => format!(
            "\n\\medskip\n\\begin{{minipage}}{{\\linewidth}}\\footnotesize\\raggedright\n{}\n\\end{{minipage}}\n",
            notes.iter().map(|note| escape_latex(note)).collect::<Vec<_>>().join("\\\\\n")
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
        let cells: Vec<String> = cells.iter().take(columns.len()).map(|cell| escape_latex(cell)).collect();
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
pub fn latex_comment(text: &str) -> String {
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
pub fn escape_latex(text: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sites_make_more_of_is_only_text() {
        for (text, escaped) in [
            ("@user", "@&#8203;user"),
            ("(@org/team)", "(@&#8203;org/team)"),
            ("me@x.org", "me@&#8203;x.org"),
            ("o/r@0123abcd", "o/r@&#8203;0123abcd"),
            ("pass@5, pass@k @ 3", "pass@5, pass@k @ 3"),
            ("_@octocat_", "\\_@&#8203;octocat\\_"),
            ("(_@octocat_)", "(\\_@&#8203;octocat\\_)"),
            ("__@octocat__", "\\_\\_@&#8203;octocat\\_\\_"),
            ("_GH-12_ _GHSA-9v3w_", "\\_GH-&#8203;12\\_ \\_GHSA-&#8203;9v3w\\_"),
            ("_www.evil.example_", "\\_www.&#8203;evil.example\\_"),
            ("__init__ pass_at_2 größe_数 a__b", "\\_\\_init\\_\\_ pass_at_2 größe_数 a\\_\\_b"),
            ("#1 o/r#23 #a", "#&#8203;1 o/r#&#8203;23 #a"),
            ("GH-1 gh-2 xGH-3 GH-x", "GH-&#8203;1 gh-&#8203;2 xGH-3 GH-x"),
            ("GHSA-9v3w-xxxx-yyyy GHSA- ", "GHSA-&#8203;9v3w-xxxx-yyyy GHSA- "),
            (
                "(0123456789abcdef0123456789abcdef01234567)",
                "(012345&#8203;6789ab&#8203;cdef01&#8203;234567&#8203;89abcd&#8203;ef0123&#8203;4567)",
            ),
            (
                "_0123456789abcdef0123456789abcdef01234567_",
                "\\_012345&#8203;6789ab&#8203;cdef01&#8203;234567&#8203;89abcd&#8203;ef0123&#8203;4567\\_",
            ),
            ("0123456789abcdef0123456789abcdef0123456", "0123456789abcdef0123456789abcdef0123456"),
            ("0123456789abcdef0123456789abcdef012345678", "0123456789abcdef0123456789abcdef012345678"),
            ("http://x ftp://y a: //", "http:&#8203;//x ftp:&#8203;//y a: //"),
            ("www.x.org WWW.x awww.x", "www.&#8203;x.org WWW.&#8203;x awww.x"),
            ("$x$", "&#8203;\\$x&#8203;\\$"),
            ("a\u{1b}[1m\u{202e}\u{0}b\tc", "a\u{fffd}\\[1m\u{fffd}\u{fffd}b\tc"),
            ("ΩGH-1 数@x", "ΩGH-&#8203;1 数@&#8203;x"),
        ] {
            assert_eq!(escape_markdown(text), escaped, "{text}");
        }
    }
}
