//! Comparisons in the formats for people.

use insta::assert_snapshot;

use super::comparison_fixtures::{
    all, flips, four_sides, gated, hostile, nothing_known, tasks, two_sides, unpaired,
};
use crate::{ComparisonView, Latex, Markdown, Render, TerminalTable, is_unsafe, width};

fn table(width: usize, view: &ComparisonView<'_>) -> String {
    TerminalTable::default().width(width).comparison_text(view)
}

/// The same at three widths.
fn tables(view: &ComparisonView<'_>) -> String {
    [60, 80, 120].map(|width| format!("{}\n{}", "=".repeat(width), table(width, view))).join("\n")
}

#[test]
fn two_sides_on_a_terminal() {
    let flips = flips();
    assert_snapshot!("two_sides", tables(&ComparisonView::new(&two_sides()).flips(&flips).title("almanac")));
    assert_snapshot!("gated", tables(&ComparisonView::new(&gated())));
    assert_snapshot!("unpaired", tables(&ComparisonView::new(&unpaired())));
    assert_snapshot!("nothing_known", tables(&ComparisonView::new(&nothing_known()).flips(&[])));
}

#[test]
fn several_sides_on_a_terminal() {
    assert_snapshot!("four_sides", tables(&ComparisonView::new(&four_sides())));
    assert_snapshot!("tasks", tables(&ComparisonView::new(&tasks())));
}

#[test]
fn without_unicode() {
    let (report, flips) = (two_sides(), flips());
    let ascii = TerminalTable::default().width(100).ascii(true);
    let text = ascii.comparison_text(&ComparisonView::new(&report).flips(&flips[1..]));
    assert!(text.is_ascii(), "{text}");
    assert_snapshot!("ascii", text);
    let text = ascii.comparison_text(&ComparisonView::new(&four_sides()));
    assert!(text.is_ascii(), "{text}");
}

#[test]
fn in_markdown() {
    let flips = flips();
    let markdown = |view: &ComparisonView<'_>| Markdown::default().comparison_text(view);
    assert_snapshot!(
        "markdown_two",
        markdown(&ComparisonView::new(&two_sides()).flips(&flips).title("almanac"))
    );
    assert_snapshot!("markdown_four", markdown(&ComparisonView::new(&four_sides())));
    let brief = |view: &ComparisonView<'_>| Markdown::default().brief(true).comparison_text(view);
    assert_snapshot!("brief_two", brief(&ComparisonView::new(&two_sides()).flips(&flips)));
    assert_snapshot!("brief_gated", brief(&ComparisonView::new(&gated())));
    assert_snapshot!("brief_tasks", brief(&ComparisonView::new(&tasks())));
    assert_snapshot!("brief_unknown", brief(&ComparisonView::new(&nothing_known())));
}

#[test]
fn in_latex() {
    let flips = flips();
    assert_snapshot!(
        "latex_two",
        Latex::default().comparison_text(&ComparisonView::new(&two_sides()).flips(&flips))
    );
    assert_snapshot!("latex_four", Latex::default().comparison_text(&ComparisonView::new(&four_sides())));
}

#[test]
fn no_line_is_too_wide_and_nothing_unknown_is_a_number() {
    let flips = flips();
    for report in all() {
        let view = ComparisonView::new(&report).flips(&flips);
        for cells in [40, 47, 60, 72, 80, 100, 120, 140, 200] {
            for ascii in [false, true] {
                let text = TerminalTable::default().width(cells).ascii(ascii).comparison_text(&view);
                let wide: Vec<&str> = text.lines().filter(|line| width(line) > cells).collect();
                assert!(wide.is_empty(), "{cells}: {wide:#?}");
                assert!(text.lines().all(|line| line.trim_end() == line), "blanks at the end of a line");
                assert_known(&text);
            }
        }
        assert_known(&Markdown::default().comparison_text(&view));
        assert_known(&Markdown::default().brief(true).comparison_text(&view));
        assert_known(&Latex::default().comparison_text(&view));
    }
}

fn assert_known(text: &str) {
    for wrong in ["NaN", "inf", "± 0.0 ", "± 0 ", "± 0.00 ", "+/- 0 ", "-0.000 "] {
        assert!(!text.contains(wrong), "{wrong}:\n{text}");
    }
}

#[test]
fn colour_is_only_colour() {
    for report in all() {
        let view = ComparisonView::new(&report);
        let colored = TerminalTable::default().color(true).comparison_text(&view);
        let mut plain = String::new();
        let mut rest = colored.as_str();
        while let Some((before, after)) = rest.split_once('\u{1b}') {
            plain += before;
            rest = after.split_once('m').map_or("", |(_, after)| after);
        }
        assert_eq!(plain + rest, TerminalTable::default().comparison_text(&view));
    }
}

#[test]
fn names_and_answers_do_no_harm() {
    let (report, flips) = hostile();
    let view = ComparisonView::new(&report).flips(&flips);
    for cells in [40, 80, 120] {
        let text = table(cells, &view);
        assert!(!text.chars().any(|c| c != '\n' && is_unsafe(c)), "{text}");
    }
    let markdown = Markdown::default().comparison_text(&view);
    assert!(!markdown.contains("<b>") && !markdown.contains("<script>"), "{markdown}");
    // A row of a table stays one: line breaks and bars of names are escaped.
    let rows = markdown.lines().filter(|line| line.starts_with('|'));
    let bars = |row: &str| row.replace("\\|", "").matches('|').count();
    let counts: Vec<usize> = rows.map(bars).collect();
    assert!(counts.iter().all(|count| [8, 6].contains(count)), "{counts:?}\n{markdown}");
    let latex = Latex::default().comparison_text(&view);
    // Comments name the sides as they are, on one line.
    let latex: String = latex.lines().filter(|line| !line.starts_with('%')).collect();
    assert!(
        !latex.contains("{\\bf ok}")
            && !latex.contains("$x$")
            && latex.contains("\\{\\textbackslash{}bf ok\\}\\_\\%"),
        "{latex}"
    );
    assert_snapshot!("hostile", table(100, &view));
}
