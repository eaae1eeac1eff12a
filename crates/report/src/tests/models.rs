//! Several models side by side, and which estimate is the headline.

use errorbar_core::{AggregateBasis, HeadlineRequest, Role};

use super::fixtures::{
    all_correct, clustered, everything, grouped, metric, results, score, share, ten_groups,
};
use crate::{Csv, Markdown, PartialRun, Render, Report, SideBySide, TerminalTable, width};

fn model(name: &str, correct: u64) -> Report {
    let metrics = vec![
        metric("std", Role::Spread, 0.4),
        metric("accuracy", Role::Location, share(correct, 140, 4)),
        grouped("accuracy", "category", &[("a", 30, 70, 2), ("b", 40, 70, 2)], Some(AggregateBasis::Groups)),
    ];
    let mut score = score("choice", 140, metrics);
    score.counts.unscored = 4;
    Report::new(format!("logs/{name}.eval"), results(vec![score])).of_run("almanac", name)
}

#[test]
fn models_stand_beside_each_other_with_their_headline() {
    let mut partial = model("openai/wren", 71);
    partial.partial_run = Some(PartialRun { status: "cancelled".to_owned(), planned: Some(144) });
    let reports = [model("openai/heron", 104), partial, model("local/magpie", 140)];
    let tables = SideBySide::of(&reports, &[Some(120_400), Some(98_221), None]);
    assert_eq!(tables.len(), 1);
    insta::assert_snapshot!("side_by_side_100", tables[0].to_text());
    insta::assert_snapshot!("side_by_side_60", tables[0].to_table(&TerminalTable::default().width(60)));
    insta::assert_snapshot!("side_by_side_markdown", tables[0].to_markdown());
    let csv = Csv::default().listing_text(&tables[0].to_listing());
    assert!(
        csv.starts_with("model,accuracy,95_%_interval,n,tokens,notes\nopenai/heron,0.743 ± 0.037,"),
        "{csv}"
    );
    assert!(SideBySide::of(&reports[..1], &[]).is_empty(), "one model stands beside nothing");
}

#[test]
fn the_legend_is_of_the_rows_that_are_shown() {
    let with_groups = |name: &str| {
        let mut report = model(name, 104);
        let metrics = &mut report.results.scores[0].metrics;
        metrics[1] = metric("accuracy", Role::Location, clustered(104, 140, &[20], 0.05));
        report
    };
    let text = SideBySide::of(&[with_groups("a"), with_groups("b")], &[])[0].to_text();
    assert!(text.contains("± one standard error (CR2 by sample, 20 clusters) ·"), "{text}");
}

#[test]
fn models_with_other_headlines_name_them() {
    let mut other = model("b", 71);
    other.results.headline =
        Some(HeadlineRequest { metric: Some("std".to_owned()), ..HeadlineRequest::default() });
    let text = SideBySide::of(&[model("a", 104), other], &[])[0].to_text();
    assert!(text.contains("· accuracy\n") && text.contains("std\n"), "{text}");
    for line in text.lines() {
        assert!(width(line) <= 100, "{line}");
    }
}

#[test]
fn what_else_was_computed_is_whole_in_every_format() {
    let with_more = |name: &str| {
        let mut report = model(name, 104);
        let more = (0..12).map(|at| metric(&format!("metric_number_{at}"), Role::Other, 1.0));
        report.results.scores[0].metrics.extend(more);
        report
    };
    let table = &SideBySide::of(&[with_more("a_1"), with_more("b")], &[])[0];
    for text in [
        table.to_text(),
        table.to_table(&TerminalTable::default().width(60)),
        table.to_markdown(),
        table.to_latex(),
    ] {
        let text = text.replace("\\_", "_");
        for at in 0..12 {
            assert!(text.contains(&format!("metric_number_{at}")), "{text}");
        }
    }
    for line in table.to_table(&TerminalTable::default().width(60)).lines() {
        assert!(width(line) <= 60, "{line}");
    }
    let latex = table.to_latex();
    assert!(
        latex.starts_with("\\begin{table}[htbp]\n\\centering\n\\caption{almanac, side by side "),
        "{latex}"
    );
    assert!(
        latex.contains("$\\pm$ one standard error") && latex.contains("a\\_1 & 0.743 $\\pm$ 0.037"),
        "{latex}"
    );
    assert!(table.to_markdown().ends_with("\n± one standard error · \\[95 % interval: wilson\\]\n"));
}

#[test]
fn names_of_models_are_text_and_nothing_else() {
    let reports = [model("a/<script>", 70), model("b/`x`|[y](z)\u{1b}[31m", 80)];
    let markdown = SideBySide::of(&reports, &[])[0].to_markdown();
    assert!(markdown.contains("a/\\<script\\>") && markdown.contains("b/\\`x\\`\\|\\[y\\](z)"), "{markdown}");
    assert!(!SideBySide::of(&reports, &[])[0].to_text().contains('\u{1b}'));
}

#[test]
fn the_headline_is_of_all_samples_before_groups() {
    let plain = share(3, 4, 0);
    let metrics = vec![
        metric("std", Role::Spread, 0.4),
        grouped(
            "accuracy",
            "category",
            &[("a", 30, 70, 2), ("mean", 40, 70, 2)],
            Some(AggregateBasis::Groups),
        ),
        metric("accuracy", Role::Location, plain),
        metric("mean", Role::Location, share(1, 4, 0)),
    ];
    let mut results = results(vec![score("choice", 140, metrics)]);
    let mut shown = |metric: Option<&str>, scorer: Option<&str>| {
        let (metric, scorer) = (metric.map(str::to_owned), scorer.map(str::to_owned));
        results.headline = Some(HeadlineRequest { metric, scorer, ..HeadlineRequest::default() });
        let row = results.headline_row().unwrap();
        (row.metric.to_owned(), row.group_key.is_some(), row.label.map(str::to_owned))
    };
    let of_all = |metric: &str| (metric.to_owned(), false, None);
    assert_eq!(shown(Some("accuracy"), None), of_all("accuracy"));
    assert_eq!(shown(Some("mean"), None), of_all("mean"), "a metric before a group of that name");
    assert_eq!(shown(Some("a"), None), ("accuracy".to_owned(), true, Some("a".to_owned())));
    assert_eq!(shown(None, None), of_all("accuracy"), "the first location, not that of groups");
    assert_eq!(shown(None, Some("choice")), of_all("accuracy"));
    let by_category = shown(Some("grouped(accuracy(), \"category\")"), None);
    assert_eq!(by_category, ("accuracy".to_owned(), true, Some("all".to_owned())));
}

#[test]
fn the_headline_is_the_one_wanted_or_the_first_location() {
    let report = model("m", 104);
    let row = report.results.headline_row().unwrap();
    assert_eq!(
        (row.metric, row.group, row.role),
        ("accuracy", None, Role::Location),
        "not the spread before it"
    );
    let wanted = |metric: &str, scorer: Option<&str>| {
        let mut results = model("m", 104).results;
        let (metric, scorer) = (Some(metric.to_owned()), scorer.map(str::to_owned));
        results.headline = Some(HeadlineRequest { metric, scorer, ..HeadlineRequest::default() });
        results.headline_row().map(|row| (row.metric.to_owned(), row.label.map(str::to_owned))).unwrap()
    };
    assert_eq!(wanted("std", None), ("std".to_owned(), None));
    assert_eq!(wanted("a", None), ("accuracy".to_owned(), Some("a".to_owned())), "a group");
    assert_eq!(wanted("std", Some("other")), ("accuracy".to_owned(), None), "there is none");
    for report in [ten_groups(), all_correct(), everything()] {
        assert_eq!(report.results.headline_row().unwrap().metric, "accuracy");
    }
    assert!(results(Vec::new()).headline_row().is_err());
    assert_eq!(results(Vec::new()).headline_row().unwrap_err().in_words(), None);
    let text = Markdown::default().to_text(&[Report::new("empty.csv", results(Vec::new()))]);
    assert_eq!(text, "### empty.csv\n\n0 rows\n");
}

#[test]
fn groups_alone_have_the_headline_of_their_aggregate_or_none() {
    let groups = [("a", 30, 70, 2), ("b", 40, 70, 2)];
    let of = |over: Option<AggregateBasis>| {
        results(vec![score("choice", 140, vec![grouped("accuracy", "category", &groups, over)])])
    };
    for over in [AggregateBasis::Samples, AggregateBasis::Groups] {
        let results = of(Some(over));
        let row = results.headline_row().unwrap();
        assert_eq!((row.label, row.group), (Some("all"), None));
        assert!(row.estimate.error.is_ok());
    }
    let alone = of(None);
    assert!(alone.headline_row().is_err());
    assert_eq!(
        alone.headline_row().unwrap_err().in_words().as_deref(),
        Some("by category only, none over all samples")
    );
    assert_eq!(alone.main_row().unwrap().group, Some("a"), "what plots of groups are of");
}
