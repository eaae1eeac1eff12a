//! Comparisons in the formats for people.

use errorbar_inference::{Gate, GateOutcome};
use insta::assert_snapshot;

use super::comparison_fixtures::{
    all, flips, four_sides, gated, hostile, nothing_known, pairs, tasks, two_sides, unpaired, with_flips,
};
use crate::{ComparisonView, Latex, Markdown, Render, Sort, TerminalTable, gate_cases, is_unsafe, width};

const BRIEF: Markdown = Markdown { sort: Sort::None, brief: true };

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
    assert_snapshot!(
        "two_sides",
        tables(&ComparisonView { title: Some("almanac"), ..with_flips(&two_sides(), &flips) })
    );
    assert_snapshot!("gated", tables(&ComparisonView::new(&gated())));
    assert_snapshot!("unpaired", tables(&ComparisonView::new(&unpaired())));
    assert_snapshot!("nothing_known", tables(&with_flips(&nothing_known(), &[])));
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
    let text = ascii.comparison_text(&with_flips(&report, &flips[1..]));
    assert!(text.is_ascii(), "{text}");
    assert_snapshot!("ascii", text);
    let text = ascii.comparison_text(&ComparisonView::new(&four_sides()));
    assert!(text.is_ascii(), "{text}");
}

#[test]
fn a_list_that_is_cut_has_the_whole_number() {
    let (report, flips) = (two_sides(), flips());
    let view = ComparisonView { changed: Some(44), ..with_flips(&report, &flips) };
    let shown = [table(100, &view), Markdown::default().comparison_text(&view), BRIEF.comparison_text(&view)];
    for text in shown {
        assert!(text.contains("3 of 44 samples that changed"), "{text}");
    }
    let all = table(100, &ComparisonView { changed: Some(3), ..view });
    assert!(all.contains("3 samples changed"), "{all}");
}

#[test]
fn a_gate_that_failed_does_not_read_as_its_opposite() {
    let mut report = gated();
    report.options.gate = Some(Gate::NotWorse);
    report.comparisons.truncate(1);
    let comparison = report.comparisons.first_mut().unwrap();
    comparison.gate = Some(GateOutcome::Failed);
    comparison.task = Some("almanac".to_owned());
    let view = ComparisonView::new(&report);
    let text = table(100, &view);
    assert!(text.contains("\ngate \"not worse\" failed: the interval lies below 0\n"), "{text}");
    let text = BRIEF.comparison_text(&view);
    assert!(text.contains("\n**Gate \"not worse\" failed**: the interval lies below 0\n"), "{text}");
    let xml = gate_cases(&report, false).to_xml();
    assert!(xml.contains("name=\"magpie: accuracy (almanac): gate &quot;not worse&quot;\""), "{xml}");
    assert!(xml.contains("message=\"gate &quot;not worse&quot; failed: the interval ["), "{xml}");
}

/// 30 groups, of which the last one has a difference that is shown.
#[test]
fn a_comment_keeps_the_rows_that_show_a_difference() {
    let mut report = two_sides();
    let group = |group: &str, losses| {
        let mut comparison = pairs("magpie", "accuracy", 80, 100, 0, losses);
        (comparison.group_key, comparison.group) = (Some("part".to_owned()), Some(group.to_owned()));
        comparison
    };
    report.comparisons = vec![pairs("magpie", "accuracy", 118, 144, 12, 23)];
    report.comparisons.extend((0..29).map(|at| group(&format!("part {at}"), 1)));
    report.comparisons.push(group("the worst part", 40));
    let text = BRIEF.comparison_text(&ComparisonView::new(&report));
    assert!(text.contains("– the worst part") && text.contains("\nand 10 more rows\n"), "{text}");
    assert!(text.contains("| accuracy by part |"), "the heading stays: {text}");
}

#[test]
fn short_names_have_no_line_of_their_own_and_the_error_stays() {
    let mut report = four_sides();
    report.sides.pop();
    report.comparisons.retain(|c| !c.other.contains('/') && !c.base.contains('/'));
    for c in &mut report.comparisons {
        c.base = c.base.replace("heron", "magpie-long");
    }
    report.sides = vec!["magpie-long".to_owned(), "magpie".to_owned(), "wren".to_owned()];
    let text = table(100, &ComparisonView::new(&report));
    assert!(text.lines().any(|line| line.starts_with("  magpie-long (base)  0.8")), "{text}");
    assert!(text.contains("-0.076 ± 0.041 [-0.156, 0.005]"), "{text}");
}

#[test]
fn cut_names_stay_different() {
    let mut report = four_sides();
    let name =
        |at: usize| format!("a-provider/a-model-with-a-{}-name-2026-11-16", ["fine", "wide", "tall"][at]);
    for (at, old) in ["heron", "magpie", "wren"].iter().enumerate() {
        let new = name(at);
        for side in report.sides.iter_mut().filter(|side| *side == old) {
            *side = new.clone();
        }
        for c in &mut report.comparisons {
            for side in [&mut c.base, &mut c.other].into_iter().filter(|side| *side == old) {
                *side = new.clone();
            }
        }
    }
    let text = table(60, &ComparisonView::new(&report));
    let start = text.find("all differences").unwrap();
    let names: Vec<&str> =
        text[start..].lines().skip(2).take(4).filter_map(|line| line.split_whitespace().next()).collect();
    let unique: std::collections::BTreeSet<&&str> = names.iter().collect();
    assert_eq!(unique.len(), 4, "{text}");
}

#[test]
fn in_markdown() {
    let flips = flips();
    let markdown = |view: &ComparisonView<'_>| Markdown::default().comparison_text(view);
    assert_snapshot!(
        "markdown_two",
        markdown(&ComparisonView { title: Some("almanac"), ..with_flips(&two_sides(), &flips) })
    );
    assert_snapshot!("markdown_four", markdown(&ComparisonView::new(&four_sides())));
    let brief = |view: &ComparisonView<'_>| BRIEF.comparison_text(view);
    assert_snapshot!("brief_two", brief(&with_flips(&two_sides(), &flips)));
    assert_snapshot!("brief_gated", brief(&ComparisonView::new(&gated())));
    assert_snapshot!("brief_tasks", brief(&ComparisonView::new(&tasks())));
    assert_snapshot!("brief_unknown", brief(&ComparisonView::new(&nothing_known())));
}

#[test]
fn in_latex() {
    let flips = flips();
    assert_snapshot!("latex_two", Latex::default().comparison_text(&with_flips(&two_sides(), &flips)));
    assert_snapshot!("latex_four", Latex::default().comparison_text(&ComparisonView::new(&four_sides())));
}

#[test]
fn no_line_is_too_wide_and_nothing_unknown_is_a_number() {
    let flips = flips();
    for report in all() {
        let view = with_flips(&report, &flips);
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
        assert_known(&BRIEF.comparison_text(&view));
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
    let view = with_flips(&report, &flips);
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
