//! Names may hold anything.

use std::collections::BTreeSet;

use errorbar_core::Role;

use super::fixtures::{grouped, metric, results, score, share};
use crate::{Csv, Json, Latex, Markdown, PartialRun, Render, Report, TerminalTable};

/// Results with this name wherever a name can be.
fn named(name: &str) -> Report {
    let mut metrics = vec![grouped("mean", name, &[(name, 1, 2, 0), ("plain", 20, 40, 0)], None)];
    metrics.push(metric("accuracy", Role::Location, share(1, 2, 0).note(name, name)));
    metrics[1].metric = name.to_owned();
    let mut first = score(name, 2, metrics);
    first.field = Some(name.to_owned());
    first.counts.reasons.insert(name.to_owned(), 1);
    let error = errorbar_core::Error::custom(name);
    first.failures.push(errorbar_core::Failure { metric: name.to_owned(), error });
    let mut second = first.clone();
    second.reducer = Some(name.to_owned());
    let mut results = results(vec![first, second]);
    results.scores[0].cluster = vec![name.to_owned()];
    let mut report = Report::new(name, results).of_run(name, name);
    report.partial_run = Some(PartialRun { status: name.to_owned(), planned: None });
    report.limits = [(name.to_owned(), 1)].into_iter().collect();
    report.self_graded = Some(name.to_owned());
    report
}

const HOSTILE: &str = "\u{1b}]0;title\u{7}\u{1b}[8m\u{9b}31m\u{202e}\u{2066}\u{200b}\u{e0041}\u{7f}\r\nx";

#[test]
fn a_table_is_clean_and_all_else_has_names_as_they_are() {
    let report = [named(HOSTILE)];
    for color in [false, true] {
        let mut table = TerminalTable::default().color(color).to_text(&report);
        // The colours of the table itself are few.
        for code in ["0", "1", "2", "31", "33", "36"] {
            table = table.replace(&format!("\u{1b}[{code}m"), "");
        }
        assert!(!table.replace('\n', "").contains(crate::is_unsafe), "{table:?}");
    }
    let rows = || ["\u{1b}[31mx", "\u{1b}[32mx", "x", "\u{202e}x", "a\nb", "a\rb"].map(named);
    let csv: BTreeSet<String> = rows().map(|r| Csv::default().to_text(&[r])).into();
    let markdown: BTreeSet<String> = rows().map(|r| Markdown::default().to_text(&[r])).into();
    assert_eq!((csv.len(), markdown.len()), (6, 6), "two names became one");
    assert!(Csv::default().to_text(&report).contains(HOSTILE));
    // A line break in a name does not break a row of Markdown or of LaTeX.
    let lines = |format: &dyn Render, name: &str| format.to_text(&[named(name)]).lines().count();
    assert_eq!(lines(&Markdown::default(), HOSTILE), lines(&Markdown::default(), "x"));
    assert_eq!(lines(&Latex::default(), HOSTILE), lines(&Latex::default(), "x"));
    assert!(!Markdown::default().to_text(&report).contains('\r'));
    let json: serde_json::Value = serde_json::from_str(&Json.to_text(&report)).unwrap();
    assert_eq!(json[0]["log"], HOSTILE);
}

#[test]
fn names_are_no_commands_of_latex() {
    let text = Latex::default().to_text(&[named("\\input{x} $a_1^2$ #1 ~ 50% & \"q\" <b> [c]*`")]);
    let captions = text.lines().filter_map(|line| line.strip_prefix("\\caption{")?.strip_suffix('}'));
    let rows = text.lines().filter(|line| line.starts_with("  ") && !line.contains("rule"));
    let rows = rows.map(|line| line.strip_suffix(" \\\\").unwrap());
    assert!(captions.clone().count() > 1, "{text}");
    for line in rows.chain(captions) {
        let mut rest = line.replace(" & ", "  ");
        for known in [
            "\\textbackslash{}",
            "\\textasciitilde{}",
            "\\textasciicircum{}",
            "\\textless{}",
            "\\textgreater{}",
            "\\char34{}",
            "\\char96{}",
            "\\textperiodcentered{}",
            "\\ldots{}",
            "$\\pm$",
            "$-$",
            "{[}",
            "{]}",
            "{*}",
            "\\{",
            "\\}",
            "\\$",
            "\\_",
            "\\#",
            "\\%",
            "\\&",
        ] {
            rest = rest.replace(known, "");
        }
        assert!(
            !rest.contains(['\\', '{', '}', '$', '_', '#', '%', '&', '^', '"', '<', '[', '`']),
            "{rest}\n{line}"
        );
    }
    assert!(Latex::default().to_text(&[named("a\u{0}b\nc")]).contains("a?b?c"));
}
