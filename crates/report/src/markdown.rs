//! Results as Markdown, to be pasted into an issue or a page.

use crate::comparison::tables::{self, ComparedTable, ComparisonTables, most_telling, whole_and_parts};
use crate::comparison::{self, ComparisonView, Finding, finding};
use crate::notes::facts;
use crate::table::{TextTable, tables};
use crate::text::{REPLACEMENT, counted, is_unsafe};
use crate::{Listing, ListingCell, Render, Report, Sort};

/// The most samples and rows of comparisons that a comment lists.
const MOST: usize = 20;
/// What marks rows below a heading.
const NESTED: &str = "– ";

/// A heading for each report, with task and model, and a table for each block; the rows are those of the terminal,
/// without bars.
#[derive(Debug, Clone, Copy, Default)]
pub struct Markdown {
    sort: Sort,
    brief: bool,
}

impl Markdown {
    /// The order of groups and shares below their heading.
    #[must_use]
    pub fn sort(mut self, sort: Sort) -> Self {
        self.sort = sort;
        self
    }

    /// Whether comparisons are to fit the comment of a pull request: a sentence, one table, the rest folded.
    #[must_use]
    pub fn brief(mut self, brief: bool) -> Self {
        self.brief = brief;
        self
    }
}

impl Render for Markdown {
    fn to_text(&self, reports: &[Report]) -> String {
        let of_report = |report: &Report| {
            let run = [&report.task, &report.model].into_iter().flatten().map(String::as_str);
            let mut heading = run.collect::<Vec<_>>().join(" · ");
            let mut details = facts(report);
            if report.task.is_none() && report.model.is_none() {
                heading.clone_from(&report.log);
            } else {
                details.insert(0, report.log.clone());
            }
            let (common, tables) = tables(report, self.sort);
            let tables: String = tables.iter().map(|table| titled(&table.texts(&common, NESTED))).collect();
            let legend = common.legend().map(|legend| format!("\n{}\n", escape(&legend))).unwrap_or_default();
            format!("### {}\n\n{}\n{tables}{legend}", escape(&heading), escape(&details.join(" · ")))
        };
        reports.iter().map(of_report).collect::<Vec<_>>().join("\n")
    }

    fn listing_text(&self, listing: &Listing) -> String {
        let cell = |cell: &ListingCell| match cell.is_code() {
            true => code(cell.text()),
            false => escape(cell.text()),
        };
        let rows: Vec<Vec<String>> =
            listing.rows().iter().map(|row| row.iter().map(cell).collect()).collect();
        let titles: Vec<String> = listing.titles().iter().map(|title| escape(title)).collect();
        escaped_table(&titles, &rows)
    }

    fn comparison_text(&self, view: &ComparisonView<'_>) -> String {
        let tables = ComparisonTables::of(view.report);
        if self.brief { comment(view, &tables) } else { page(view, &tables) }
    }
}

/// A table under its name and details, with its legend.
pub(crate) fn titled(table: &TextTable) -> String {
    let details = table.details.iter().map(|detail| escape(detail));
    let heading: Vec<String> =
        std::iter::once(format!("**{}**", escape(&table.name))).chain(details).collect();
    let legend = table.legend.as_ref().map(|legend| format!("\n{}\n", escape(legend))).unwrap_or_default();
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
    let mut text = format!("### {}\n", escape(&title.join(" · ")));
    text += &headline(view);
    for table in &tables.compared {
        text += &titled(&table.texts(NESTED, true));
    }
    text += &tables.grids.iter().map(titled).collect::<String>();
    text += &listed_flips(view, usize::MAX);
    text + &explanations(view) + &gate(view)
}

/// A sentence, one table, the gate; the rest is folded.
fn comment(view: &ComparisonView<'_>, tables: &ComparisonTables) -> String {
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
            .map(|row| format!("\n- {}: {}", escape(&row.label), escape(&row.notes.join(" · "))))
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
    let claim = escape(&gate.claim);
    format!("\n**Gate \"{claim}\" {}**: {}\n", gate.outcome.name(), escape(&gate.reason))
}

/// The finding, in bold what was found.
fn headline(view: &ComparisonView<'_>) -> String {
    let Some(Finding { claim, figures }) = finding(view.report) else {
        return "\nNothing was compared.\n".to_owned();
    };
    format!("\n**{}**: {}.\n", escape(&claim), escape(&figures))
}

/// The samples that changed, up to a limit for each pair of sides.
fn listed_flips(view: &ComparisonView<'_>, most: usize) -> String {
    let Some((flips, changed)) = view.flips.zip(view.changed_count()) else { return String::new() };
    let tables = tables::flip_tables(flips, most);
    let listed = tables.iter().map(|table| table.rows.len()).sum();
    let mut text = format!("\n**{}**\n", escape(&tables::flip_title(listed, changed)));
    for TextTable { name, titles, rows, .. } in tables {
        text += &format!("\n{}\n\n{}", escape(&name), pipe_table(&titles, &rows));
    }
    text
}

/// What symbols mean, and what a reader should know.
fn explanations(view: &ComparisonView<'_>) -> String {
    let mut text = format!("\n{}\n", escape(&comparison::explanation(view.report)));
    for warning in comparison::warnings(view.report) {
        text += &format!("\n> {}\n", escape(&format!("note: {warning}")));
    }
    text
}

/// A word to copy: nothing in it is more than text, and nothing is put into it. One that cannot be written so is escaped.
fn code(text: &str) -> String {
    let is_plain = |c: char| !is_unsafe(c) && !matches!(c, '`' | '|' | '\\');
    match !text.is_empty() && text.chars().all(is_plain) && text.trim() == text {
        true => format!("`{text}`"),
        false => escape(text),
    }
}

/// A table of texts, escaped.
pub(crate) fn pipe_table(titles: &[String], rows: &[Vec<String>]) -> String {
    let escaped = |cells: &[String]| cells.iter().map(|cell| escape(cell)).collect::<Vec<_>>();
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
pub fn escape(text: &str) -> String {
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
            assert_eq!(escape(text), escaped, "{text}");
        }
    }
}
