//! Tables for a terminal, Markdown and LaTeX.

use errorbar_core::{
    AggregateBasis, ClusterVariance, ErrorMethod, Estimate, IntervalMethod, MetricResult, Role, StdError,
    Undefined,
};

use super::all;
use super::fixtures::{
    all_correct, clustered, everything, grouped, metric, results, score, scorers_and_reducers, share,
    ten_groups,
};
use crate::figure::EstimateText;
use crate::table::{TableRow, tables};
use crate::{Latex, Markdown, PartialRun, Render, Report, Sort, TerminalTable, width};

#[test]
fn ten_groups_of_a_task() {
    let report = [ten_groups()];
    insta::assert_snapshot!("ten_groups_80", TerminalTable::default().width(80).to_text(&report));
    insta::assert_snapshot!("ten_groups_100", TerminalTable::default().to_text(&report));
    insta::assert_snapshot!("ten_groups_ascii_100", TerminalTable::default().ascii(true).to_text(&report));
    insta::assert_snapshot!("ten_groups_markdown", Markdown::default().to_text(&report));
    insta::assert_snapshot!("ten_groups_latex", Latex::default().to_text(&report));
}

#[test]
fn two_scorers_and_three_reducers_fit_a_screen() {
    for (name, several) in [("one_metric", false), ("three_metrics", true)] {
        let report = [scorers_and_reducers(several)];
        for cells in [60, 80, 100] {
            let text = TerminalTable::default().width(cells).to_text(&report);
            assert!(text.lines().count() < 16, "{text}");
            insta::assert_snapshot!(format!("{name}_{cells}"), text);
        }
        insta::assert_snapshot!(format!("{name}_markdown"), Markdown::default().to_text(&report));
        insta::assert_snapshot!(format!("{name}_latex"), Latex::default().to_text(&report));
    }
}

#[test]
fn what_a_matrix_cannot_hold_is_below_it() {
    let mut report = scorers_and_reducers(true);
    report.results.scores[0].metrics.push(grouped(
        "accuracy",
        "topic",
        &[("a", 20, 24, 0), ("b", 20, 24, 0)],
        None,
    ));
    report.results.scores[1].counts.unscored = 2;
    report.results.scores[2].metrics[0] = metric("accuracy", Role::Location, clustered(30, 48, &[9], 0.1));
    report.results.scores[3].metrics[0] = metric(
        "accuracy",
        Role::Location,
        Estimate::undefined(Undefined::Other("a very long reason, really".into())),
    );
    insta::assert_snapshot!("matrix_with_notes_80", TerminalTable::default().width(80).to_text(&[report]));
}

/// A scorer of two fields under two reducers, reducers first, as they are in results.
fn fields_and_reducers(metrics: impl Fn() -> Vec<MetricResult>) -> Report {
    let mut scores = Vec::new();
    for reducer in ["mode", "max"] {
        for field in ["style", "content"] {
            let mut score = score("judge", 48, metrics());
            (score.reducer, score.field) = (Some(reducer.to_owned()), Some(field.to_owned()));
            score.counts.epochs = 3;
            score.counts.reasons.insert("invalid_response_format".to_owned(), 6);
            scores.push(score);
        }
    }
    Report::new("logs/almanac.eval", results(scores)).of_run("almanac", "openai/heron")
}

#[test]
fn rows_of_a_heading_are_below_it_and_notes_of_all_stand_once() {
    let accuracy = || metric("accuracy", Role::Location, clustered(30, 48, &[30], 0.1));
    let mean = || metric("mean", Role::Location, share(25, 48, 0));
    for several in [false, true] {
        let metrics = || if several { vec![accuracy(), mean()] } else { vec![accuracy()] };
        let report = [fields_and_reducers(metrics)];
        for text in [TerminalTable::default().to_text(&report), Markdown::default().to_text(&report)] {
            for name in ["style", "content", "invalid_response_format"] {
                assert_eq!(text.matches(name).count(), 1, "{name}: {text}");
            }
            let at = |name: &str| text.find(name).unwrap();
            assert!(
                at("style") < at("mode") && at("mode") < at("max") && at("max") < at("content"),
                "{text}"
            );
        }
    }
}

#[test]
fn columns_of_a_matrix_have_names_of_their_own() {
    let long = |level: &str| format!("accuracy(to_float=\"a rather long way to convert it, {level}\")");
    let metrics = || {
        let plain = |spec: &str| metric(spec, Role::Location, share(30, 48, 0));
        vec![plain(&long("one")), plain(&long("two"))]
    };
    let text = TerminalTable::default().to_text(&[fields_and_reducers(metrics)]);
    assert!(text.contains(", one") && text.contains(", two"), "{text}");
    let narrow = TerminalTable::default().width(40).to_text(&[fields_and_reducers(metrics)]);
    assert!(narrow.contains("… (2)\n"), "{narrow}");
    assert!(narrow.lines().all(|line| width(line) <= 44), "{narrow}");
    // The name within is the same; the metrics are not.
    let metrics = || {
        let mut other = metric("halved(mean())", Role::Location, share(20, 48, 0));
        (other.metric, other.inner) = ("mean".to_owned(), "mean".parse().unwrap());
        vec![metric("mean", Role::Location, share(30, 48, 0)), other]
    };
    let report = [fields_and_reducers(metrics)];
    let text = Markdown::default().to_text(&report);
    assert!(text.contains("\n|  | mean | halved(mean()) |"), "{text}");
}

#[test]
fn an_interval_in_a_matrix_is_an_interval() {
    let metrics = || {
        let names = ["mean", "median", "accuracy"];
        let mut metrics: Vec<MetricResult> =
            names.iter().map(|name| metric(name, Role::Location, share(30, 48, 0))).collect();
        let interval = Estimate::new(0.6).with_n(48).with_interval(0.4123, 0.7712, 0.9);
        let mut interval = metric("ci(level=0.9)", Role::IntervalOf, interval);
        interval.subject = None;
        metrics.push(interval);
        metrics
    };
    let text = TerminalTable::default().width(80).to_text(&[fields_and_reducers(metrics)]);
    assert_eq!(text.matches(" [0.41, 0.77]").count(), 4, "{text}");
    assert!(
        !text.contains("0.625 ± 0.071 [") && text.contains(" interval"),
        "no room for the others: {text}"
    );
}

#[test]
fn scores_without_a_metric_in_common_keep_their_blocks() {
    let first = score("match", 40, vec![metric("accuracy", Role::Location, share(20, 40, 0))]);
    let second = score("f1", 40, vec![metric("mean", Role::Location, share(30, 40, 0))]);
    let text = TerminalTable::default().to_text(&[Report::new("t.csv", results(vec![first, second]))]);
    assert!(text.contains("\nmatch · 40 scored\n") && text.contains("\nf1 · 40 scored\n"), "{text}");
}

#[test]
fn three_scores_that_are_all_correct() {
    let text = TerminalTable::default().to_text(&[all_correct()]);
    assert!(text.contains("  accuracy  1.00 [0.44, 1.00] "), "{text}");
    assert!(text.contains("●  no spread in 3 scores\n"), "{text}");
    insta::assert_snapshot!("all_correct_100", text);
    insta::assert_snapshot!("everything_100", TerminalTable::default().to_text(&[everything()]));
}

#[test]
fn no_error_is_ever_shown_as_0() {
    for report in all() {
        let texts = [60, 80, 100]
            .map(|cells| TerminalTable::default().width(cells).to_text(std::slice::from_ref(&report)));
        let others =
            [Markdown::default().to_text(std::slice::from_ref(&report)), Latex::default().to_text(&[report])];
        for text in texts.iter().chain(&others) {
            let errors = text.split(['±']).chain(text.split("$\\pm$")).skip(1);
            for error in
                errors.map(str::trim_start).filter(|error| error.starts_with(|c: char| c.is_ascii_digit()))
            {
                let digits: String = error.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
                assert!(digits.parse::<f64>().unwrap() > 0.0, "{text}");
            }
        }
    }
}

/// The same of a run of 200 samples that was cancelled, and graded by the model itself.
fn interrupted(mut report: Report) -> Report {
    report.partial_run = Some(PartialRun { status: "cancelled".to_owned(), planned: Some(200) });
    report.self_graded = Some("openai/heron".to_owned());
    report
}

/// The rows of all tables of a report.
fn rows(report: &Report, sort: Sort) -> Vec<TableRow> {
    tables(report, sort).1.into_iter().flat_map(|table| table.rows).collect()
}

#[test]
fn every_estimate_has_a_row_with_its_value() {
    for report in [ten_groups(), scorers_and_reducers(false), all_correct(), everything()] {
        let shown = rows(&report, Sort::None);
        assert!(shown.iter().all(|row| row.figures.len() <= 1), "one figure in a row: {shown:?}");
        let found: Vec<Option<f64>> =
            shown.iter().filter_map(TableRow::figure).map(EstimateText::value).collect();
        let wanted: Vec<Option<f64>> =
            report.results.rows().iter().map(|row| row.estimate.number()).collect();
        assert_eq!(found, wanted);
    }
    let failures = rows(&everything(), Sort::None);
    assert!(failures.iter().any(|row| row.failed && row.label == "broken"));
}

#[test]
fn groups_are_sorted_and_the_aggregate_stays_last() {
    let names = |sort: Sort| -> Vec<String> {
        let lines = rows(&ten_groups(), sort).into_iter();
        lines.filter(|line| line.nested).map(|line| line.label).collect()
    };
    assert_eq!(names(Sort::None)[..2], ["geography", "history"]);
    assert_eq!(names(Sort::Name)[..3], ["astronomy", "biology", "chemistry"]);
    assert_eq!(names(Sort::Value)[..3], ["biology", "music", "geography"]);
    assert_eq!(names(Sort::N)[..3], ["geography", "history", "economics of the nineteenth century"]);
    for sort in [Sort::None, Sort::Name, Sort::Value, Sort::N] {
        assert_eq!(names(sort).last().map(String::as_str), Some("all"));
    }
    assert_eq!(names(Sort::Value)[9], "astronomy", "no score, so no place among the values");
    let by_value = Markdown { sort: Sort::Value, brief: false }.to_text(&[ten_groups()]);
    assert!(by_value.find("biology") < by_value.find("geography"), "{by_value}");
    let by_value = Latex { sort: Sort::Value }.to_text(&[ten_groups()]);
    assert!(by_value.find("biology") < by_value.find("geography"), "{by_value}");
}

/// The text of one metric over 40 scores.
pub(super) fn shown(estimate: Estimate) -> String {
    shown_of(estimate, Role::Location)
}

fn shown_of(estimate: Estimate, role: Role) -> String {
    let results = results(vec![score("match", 40, vec![metric("accuracy", role, estimate)])]);
    TerminalTable::default().to_text(&[Report::new("t.csv", results)])
}

#[test]
fn without_an_interval_the_bar_is_the_error() {
    let mut estimate = share(20, 40, 0);
    estimate.interval = Err(Undefined::NotAvailable);
    let text = shown(estimate);
    assert!(text.contains("  accuracy  0.500 ± 0.080  ") && text.contains("├──●──┤"), "{text}");
    assert!(text.ends_with("\n± one standard error · ├─●─┤ value ± error\n"), "{text}");
    let mut estimate = share(20, 40, 0);
    (estimate.interval, estimate.error) = (Err(Undefined::NotAvailable), Err(Undefined::NotAvailable));
    let text = shown(estimate);
    assert!(text.contains("  accuracy  0.5  ") && text.ends_with("●\n"), "{text}");
}

#[test]
fn few_scores_and_few_clusters_are_marked() {
    let text = shown(share(4, 6, 0));
    assert!(text.contains("only 6 scores"), "{text}");
    let text = shown(clustered(20, 40, &[4], 0.1));
    assert!(text.contains("only 4 clusters, df 2.8"), "{text}");
    let text = shown(clustered(20, 40, &[10], 0.1));
    assert!(text.contains("10 clusters") && !text.contains("only"), "{text}");
    let mut one_cluster = share(20, 40, 0);
    one_cluster.error = Err(Undefined::TooFewClusters { clusters: 1 });
    assert!(shown(one_cluster).contains("only 1 cluster\n"));
    assert!(!shown(share(5, 10, 0)).contains("only"));
}

#[test]
fn an_interval_without_width_is_not_shown() {
    let degenerate = |n: u64, clusters: &[u64], absent: u64| {
        let mut estimate = Estimate::new(1.0).with_stderr(0.0).with_interval(1.0, 1.0, 0.95).with_n(n);
        if let Ok(error) = &mut estimate.error {
            (error.clusters, error.method) = (clusters.to_vec(), ErrorMethod::Cluster(ClusterVariance::Cr2));
        }
        estimate.absent = absent;
        estimate
    };
    for (estimate, note) in [
        (degenerate(24, &[], 0), "  no spread in 24 scores\n"),
        (degenerate(24, &[8], 0), "  no spread in 24 scores, 8 clusters\n"),
        (degenerate(24, &[8], 3), "  no spread in 24 scores, 8 clusters, 3 absent\n"),
        (degenerate(24, &[12], 0), "  no spread in 24 scores\n"),
        (degenerate(1, &[], 0), "  only 1 score\n"),
        (Estimate::new(1.0).with_interval(1.0, 1.0, 0.95).with_n(24), "  no spread in 24 scores\n"),
    ] {
        for text in [shown(estimate.clone()), shown_of(estimate, Role::IntervalOf)] {
            assert!(text.contains(note) && !text.contains("[1") && !text.contains("interval]"), "{text}");
        }
    }
    let spread = Estimate::new(1.0).with_stderr(0.1).with_interval(1.0, 1.0, 0.95).with_n(24);
    let text = shown(spread);
    assert!(
        text.contains("  n 24 · no interval: its ends are equal\n") && !text.contains("spread"),
        "{text}"
    );
}

#[test]
fn what_is_absent_is_reported_once() {
    let mut few = share(7, 9, 1);
    let text = shown(few.clone());
    assert!(
        text.contains("only 9 scores · with the 1 absent:\n")
            && text.contains("0.700 as wrong, 0.800 at best\n"),
        "{text}"
    );
    assert_eq!(text.matches("absent").count(), 1, "{text}");
    few.bounds = None;
    let text = shown(few);
    assert!(text.contains("only 9 scores, 1 absent\n"), "{text}");
    let mut same = share(2, 2, 23);
    let text = shown(same.clone());
    assert!(text.contains("no spread in 2 scores") && text.matches("absent").count() == 1, "{text}");
    same.bounds = None;
    assert!(shown(same).contains("no spread in 2 scores, 23 absent\n"));
}

#[test]
fn the_only_cluster_is_not_the_largest() {
    let mut estimate = share(20, 40, 0);
    estimate.error = Err(Undefined::TooFewClusters { clusters: 1 });
    estimate.notes.largest_cluster_share = Some(1.0);
    assert!(shown(estimate).contains("only 1 cluster\n"));
    let mut estimate = clustered(20, 40, &[9], 0.1);
    estimate.notes.largest_cluster_share = Some(0.6);
    if let Ok(error) = &mut estimate.error {
        error.df = 5.8765;
    }
    let text = shown(estimate);
    assert!(text.contains("only 9 clusters, df 5.9 ·"), "{text}");
    assert!(text.contains("the largest cluster has 60 % of"), "{text}");
}

#[test]
fn ends_of_a_scale_do_not_run_together() {
    let mut estimate = Estimate::new(100_000_000.4).with_n(40);
    estimate = estimate.with_stderr(0.2).with_interval(100_000_000.1, 100_000_000.8, 0.95);
    let results = results(vec![score("match", 40, vec![metric("mean", Role::Location, estimate)])]);
    for cells in [60, 70, 80, 90, 100, 120] {
        let text = TerminalTable::default().width(cells).to_text(&[Report::new("t.csv", results.clone())]);
        assert!(!text.contains("100000000100000001"), "{text}");
    }
}

#[test]
fn how_errors_are_made_is_reported_once() {
    let groups = [("a", 10, 20, 0), ("b", 12, 20, 0)];
    let clusters = |mut estimate: Estimate, clusters: u64| {
        let error = StdError::new(0.1, ErrorMethod::Cluster(ClusterVariance::Cr2));
        estimate.error = Ok(error.with_df(9.0).with_clusters(vec![clusters]));
        estimate
    };
    let metrics = vec![
        metric("accuracy", Role::Location, clusters(share(22, 40, 0), 12)),
        metric("mean", Role::Location, clusters(share(22, 40, 0), 12)),
    ];
    let mut results_of = results(vec![score("match", 40, metrics)]);
    results_of.scores[0].cluster = vec!["passage".to_owned()];
    let text = TerminalTable::default().to_text(&[Report::new("t.csv", results_of.clone())]);
    assert_eq!(text.matches("12 clusters").count(), 1, "{text}");
    assert!(text.contains("± one standard error (CR2 by passage, 12 clusters)"), "{text}");

    let mut by_topic = grouped("accuracy", "topic", &groups, Some(AggregateBasis::Samples));
    by_topic.value = by_topic.value.map(|estimate| clusters(estimate, 11));
    results_of.scores[0].metrics.push(by_topic);
    let text = TerminalTable::default().to_text(&[Report::new("t.csv", results_of)]);
    assert!(text.contains("± one standard error (CR2 by passage) ·"), "{text}");
    assert!(
        text.contains("accuracy by topic  n 20 each · 11 clusters\n"),
        "in common for the groups: {text}"
    );

    let mut other = share(22, 40, 0);
    if let Ok(interval) = &mut other.interval {
        (interval.method, interval.level) = (IntervalMethod::T, 0.9);
    }
    let metrics = vec![
        metric("accuracy", Role::Location, share(22, 40, 0)),
        metric("mean", Role::Location, share(22, 40, 0)),
        metric("median", Role::Location, other),
    ];
    let text =
        TerminalTable::default().to_text(&[Report::new("t.csv", results(vec![score("match", 40, metrics)]))]);
    assert_eq!(
        (text.matches("wilson").count(), text.matches("  t 90 % interval\n").count()),
        (1, 1),
        "{text}"
    );
}

/// The report of one metric with clusters.
fn of_clusters(key: &str, clusters: u64) -> Report {
    let metrics = vec![metric("accuracy", Role::Location, clustered(20, 40, &[clusters], 0.1))];
    let mut results = results(vec![score("match", 40, metrics)]);
    results.scores[0].cluster = vec![key.to_owned()];
    Report::new(format!("{key}.eval"), results).of_run(key, "m")
}

#[test]
fn each_report_has_its_own_legend() {
    let reports = [of_clusters("passage", 12), of_clusters("author", 14)];
    let texts = [
        TerminalTable::default().to_text(&reports),
        Markdown::default().to_text(&reports),
        Latex::default().to_text(&reports),
    ];
    for text in texts {
        let (first, second) = text.split_at(text.rfind("author.eval").unwrap());
        assert!(first.contains("one standard error (CR2 by passage"), "{text}");
        assert!(second.contains("one standard error (CR2 by author"), "{text}");
        assert_eq!(text.matches("by passage").count(), 1, "{text}");
    }
    let one = TerminalTable::default().to_text(&reports[..1]);
    assert!(TerminalTable::default().to_text(&reports).starts_with(&format!("{one}\n")), "{one}");
}

#[test]
fn what_is_absent_is_reported() {
    let mut score = score("choice", 140, vec![metric("accuracy", Role::Location, share(105, 140, 4))]);
    score.counts.unscored = 4;
    score.counts.reasons.insert("invalid_response_format".to_owned(), 4);
    let report = Report::new("log.eval", results(vec![score])).of_run("almanac", "m");
    let text = TerminalTable::default().width(140).to_text(std::slice::from_ref(&report));
    assert!(text.contains("choice · 140 of 144 scored · 4 unscored"), "{text}");
    assert!(text.contains("with the 4 absent: 0.729 as wrong, 0.757 at best ·\n"), "{text}");
    let report = interrupted(report);
    let text = TerminalTable::default().width(200).to_text(std::slice::from_ref(&report));
    let header = "log.eval · almanac · m · 144 of 200 samples · cancelled · figures are of the samples finished first · \
                  graded by the model itself (openai/heron)";
    assert_eq!(text.lines().next(), Some(header));
    let markdown = Markdown::default().to_text(&[report]);
    let facts =
        "log.eval · 144 of 200 samples · cancelled · figures are of the samples finished first · graded by";
    assert!(markdown.starts_with("### almanac · m\n\n") && markdown.contains(facts), "{markdown}");
}

#[test]
fn lines_keep_to_the_width() {
    for cells in [40, 50, 60, 80, 100, 140] {
        for ascii in [false, true] {
            let text = TerminalTable::default().width(cells).ascii(ascii).to_text(&all());
            for line in text.lines() {
                assert!(width(line) <= cells.max(44), "{cells}: {} {line:?}", width(line));
                assert_eq!(line.trim_end(), line);
            }
        }
    }
}

#[test]
fn ascii_is_ascii() {
    let mut report = ten_groups();
    report.results.scores[0].metrics.remove(1);
    let reports = [report, scorers_and_reducers(true), everything()];
    for cells in [40, 100] {
        let text = TerminalTable::default().width(cells).ascii(true).to_text(&reports);
        assert!(text.is_ascii(), "{:?}", text.chars().filter(|c| !c.is_ascii()).collect::<String>());
    }
}

#[test]
fn colour_changes_nothing_but_colour() {
    let plain = TerminalTable::default().to_text(&all());
    let colored = TerminalTable::default().color(true).to_text(&all());
    assert_ne!(plain, colored);
    let mut bare = String::new();
    let mut rest = colored.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        bare += before;
        rest = after.split_once('m').unwrap().1;
    }
    assert_eq!(bare + rest, plain);
}

#[test]
fn latex_has_a_cell_for_each_title() {
    let text = Latex::default().to_text(&all());
    let mut columns = 0;
    let mut rows = 0;
    for line in text.lines().filter(|line| !line.starts_with('%')) {
        if let Some(spec) = line.strip_prefix("\\begin{tabular}{") {
            columns = spec.trim_end_matches('}').len();
        } else if let Some(row) = line.strip_suffix(" \\\\") {
            assert_eq!(row.matches(" & ").count() + 1, columns, "{line}");
            rows += 1;
        }
        assert!(!line.contains('±') && !line.trim_start().starts_with('['), "{line}");
    }
    assert_eq!(text.matches("\\begin{tabular}").count(), text.matches("\\end{tabular}").count());
    assert!(rows > 40, "{rows}");
}

#[test]
fn a_table_of_latex_has_a_caption() {
    let report = interrupted(ten_groups());
    let text = Latex::default().to_text(&[report]);
    let caption = text.lines().find(|line| line.starts_with("\\caption{")).unwrap();
    for part in [
        "{almanac \\textperiodcentered{} openai/heron \\textperiodcentered{} choice ",
        "144 of 200 samples",
        "cancelled",
        "graded by the model itself (openai/heron)",
        ". $\\pm$ one standard error",
        "{[}95 \\% interval: wilson{]}}",
    ] {
        assert!(caption.contains(part), "{part}: {caption}");
    }
    let text = Latex::default().to_text(&all());
    let count = |what: &str| text.matches(what).count();
    assert!(count("\\begin{table}[htbp]\n\\centering\n\\caption{") > 4, "{text}");
    assert_eq!(count("\\begin{table}["), count("\\begin{tabular}"));
    assert_eq!(count("\\end{table}\n"), count("\\begin{tabular}"));
    assert_eq!(
        count("{!}{%\n\\begin{tabular}{"),
        count("\\end{tabular}}\n"),
        "each is as wide as the text at most"
    );
    assert!(!text.contains("& notes"), "sentences are below the table");
    let table_file = Latex::default().to_text(&[all_correct()]);
    assert!(table_file.contains("\\caption{quiz.csv "), "{table_file}");

    let reducers = [scorers_and_reducers(false)];
    let text = Latex::default().to_text(&reducers);
    assert!(
        text.contains("\\textperiodcentered{} accuracy \\text") && text.contains("\n   & value & "),
        "{text}"
    );
    assert!(Markdown::default().to_text(&reducers).contains("\n|  | value |"));
}

#[test]
fn clusters_may_make_an_error_smaller() {
    let mut estimate = clustered(20, 40, &[12], 0.05);
    estimate.notes.design_effect = Some(0.41);
    let text = shown(estimate.clone());
    assert!(text.contains("design effect 0.4"), "{text}");
    // Rounding, and what no error is shown for, is not worth a word.
    estimate.notes.design_effect = Some(0.97);
    assert!(!shown(estimate).contains("design effect"));
}

#[test]
fn resampled_clusters_have_their_key() {
    for (clusters, legend) in [(vec![12], "(jackknife by sample)"), (vec![], "(jackknife)")] {
        let mut estimate = share(20, 40, 0);
        let error = StdError::new(0.1, ErrorMethod::Jackknife);
        estimate.error = Ok(error.with_df(9.0).with_clusters(clusters));
        let text = shown(estimate);
        assert!(text.contains(&format!("± one standard error {legend}")), "{text}");
    }
}
