//! Over results of everything: no figure is lost, no unknown shown as a number, no line too wide.

use errorbar_core::{Entry, Plan, Reducers, Registry, Results, Score, ScoreColumns, Value, results};

use crate::rows::{self, Row, Shown};
use crate::{Csv, Json, Markdown, Render, Report, SideBySide, Table, number, width};

const METRICS: &str = r#"[
    accuracy, mean, var, std, stderr, stderr(cluster="c"), bootstrap_stderr, ci, ci(level=0.9), ci_wilson,
    accuracy(to_float=value_to_float(correct="I")),
    grouped(accuracy(), "g"), grouped(stderr(), "g"), grouped(ci(), "g", all="groups"),
    grouped(accuracy(), "g", all="groups"), grouped(mean(), "missing"), frequency, frequency(normalize=false),
    aggregate("k", mean()), krippendorff_alpha, perplexity_per_token, {"*": [mean(), ci(), frequency()]}
]"#;

fn scored(n: usize) -> Results {
    let mut columns = ScoreColumns::new(["s"]);
    for at in 0..n {
        let row = columns.push(format!("q{at}"), 1).metadata("g", ["law", "数学", "all2"][at % 3]);
        let value = if at % 5 == 4 { Value::Unscored } else { Value::from(["C", "I", "P"][at % 3]) };
        row.metadata("c", at / 2).score("s", Score::new(value)).unwrap();
    }
    compute(&columns, METRICS.replace(", {\"*\": [mean(), ci(), frequency()]}", "").as_str())
}

fn mapped() -> Results {
    let mut columns = ScoreColumns::new(["s"]);
    for at in 0..9 {
        let value = Value::map([("k", at as f64 * 3.5), ("other", 1.0)]);
        columns
            .push(format!("q{at}"), 1)
            .metadata("g", "x")
            .metadata("c", at)
            .score("s", Score::new(value))
            .unwrap();
    }
    compute(&columns, METRICS)
}

fn compute(columns: &ScoreColumns, metrics: &str) -> Results {
    let registry = Registry::built_in();
    let metrics = registry.metrics(&metrics.parse().unwrap()).unwrap();
    results(columns, &Plan::new().metrics(metrics).reducers(Reducers::Implicit)).unwrap()
}

fn all() -> Vec<Report> {
    let counts = [0, 1, 2, 3, 40].map(scored);
    counts.into_iter().chain([mapped()]).map(|results| Report::new("t.csv", results)).collect()
}

/// How a figure may be written: alone, with the error or interval of its row, or as undefined.
fn is_written(entry: &Entry, shown: &Shown) -> bool {
    let close = |text: &str| {
        let read: f64 = text.parse().unwrap();
        let decimals = text.split_once('.').map_or(0, |(_, after)| after.len());
        (read - entry.value).abs() <= 0.500_001 * 10f64.powi(-(decimals as i32))
            || text == number::plain(entry.value)
    };
    let unknown = entry.undefined_reason().is_some() || entry.value.is_nan();
    match shown {
        Shown::Undefined(_) => unknown,
        _ if unknown => false,
        Shown::Number(text) | Shown::WithError(text, _) => close(text),
        Shown::Interval(lower, upper) => close(if entry.name.ends_with("lower") { lower } else { upper }),
    }
}

/// Whether a row shows an entry, and under the right name: its key, or its own name under a heading.
fn is_row_of(key: &str, entry: &Entry, is_end: bool, row: &Row) -> bool {
    let Row::Figure { nested, label, shown, .. } = row else { return false };
    let is_named = if is_end {
        let name = entry.name.trim_end_matches("lower").trim_end_matches("upper").trim_end_matches('_');
        let metric = entry.group.as_deref().unwrap_or("interval");
        let name = if name.is_empty() { metric } else { name };
        if *nested { label == name } else { label.starts_with(name) }
    } else {
        label == if *nested { &entry.name } else { key }
    };
    is_named && is_written(entry, shown)
}

#[test]
fn every_figure_is_on_a_row_with_its_value() {
    let (mut figures, mut intervals) = (0, 0);
    for report in all() {
        let text = || Table::default().to_text(std::slice::from_ref(&report));
        for block in &report.results.scores {
            let rows = rows::rows(block);
            let mut left = rows.iter().filter(|row| !matches!(row, Row::Heading { .. }));
            let mut entries = block.metrics.iter().peekable();
            while let Some((key, entry)) = entries.next() {
                let row = left.next().unwrap();
                let upper = entries.next_if(|(_, next)| {
                    entry.name.ends_with("lower") && next.name.ends_with("upper") && next.group == entry.group
                });
                assert!(is_row_of(key, entry, upper.is_some(), row), "{key} {entry:?} {row:?}\n{}", text());
                if let Some((key, entry)) = upper {
                    assert!(is_row_of(key, entry, true, row), "{key} {entry:?} {row:?}\n{}", text());
                    intervals += 1;
                }
                figures += 1;
            }
            for failure in &block.failures {
                let row = left.next();
                assert!(
                    matches!(row, Some(Row::Failure { label, .. }) if *label == failure.metric),
                    "{row:?}"
                );
            }
            assert_eq!(left.next(), None, "a row that shows no entry\n{}", text());
            for (before, row) in rows.iter().zip(rows.iter().skip(1)) {
                let is_nested = |row: &Row| matches!(row, Row::Figure { nested: true, .. });
                let is_under = matches!(before, Row::Heading { .. }) || is_nested(before);
                assert!(!is_nested(row) || is_under, "{row:?} is under no heading\n{}", text());
            }
        }
    }
    assert!(figures > 150 && intervals > 30, "{figures} {intervals}");
}

#[test]
fn what_machines_read_has_every_figure_too() {
    let reports = all();
    let figures: usize = reports.iter().flat_map(|r| &r.results.scores).map(|b| b.metrics.len()).sum();
    let failures: usize = reports.iter().flat_map(|r| &r.results.scores).map(|b| b.failures.len()).sum();
    assert!(figures > 200 && failures > 10, "{figures} {failures}");

    let csv = Csv.to_text(&reports);
    assert_eq!(csv.lines().count(), 1 + figures + failures);
    assert!(!csv.contains("NaN"));

    let json: serde_json::Value = serde_json::from_str(&Json.to_text(&reports)).unwrap();
    let mut seen = 0;
    for block in json.as_array().unwrap().iter().flat_map(|log| log["results"]["scores"].as_array().unwrap())
    {
        seen += block["metrics"].as_object().unwrap().len();
    }
    assert_eq!(seen, figures);

    let markdown = Markdown.to_text(&reports);
    let cells = |line: &&str| line.starts_with("| ") && !line.contains("| metric |");
    let rows: usize =
        reports.iter().flat_map(|r| rows::blocks(&r.results)).map(|b| rows::rows(b).len()).sum();
    assert_eq!(markdown.lines().filter(cells).count(), rows);
}

#[test]
fn lines_keep_to_the_width() {
    for cells in [40, 60, 80, 100, 140] {
        for ascii in [false, true] {
            let text = Table::default().width(cells).ascii(ascii).to_text(&all());
            for line in text.lines() {
                // The reason of an unknown figure is not broken, so it sticks out of a very narrow terminal.
                let limit = if line.contains("undefined (") { cells.max(66) } else { cells.max(60) };
                assert!(width(line) <= limit, "{cells}: {} {line:?}", width(line));
                assert_eq!(line.trim_end(), line);
            }
        }
    }
}

#[test]
fn colour_changes_nothing_but_colour() {
    let plain = Table::default().to_text(&all());
    let colored = Table::default().color(true).to_text(&all());
    assert_ne!(plain, colored);
    let mut bare = String::new();
    let mut rest = colored.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        bare += before;
        rest = after.split_once('m').unwrap().1;
    }
    assert_eq!(bare + rest, plain);
}

/// The value of the row with this label, as it is shown.
fn shown(metrics: &str, wanted: &str) -> Shown {
    let mut columns = ScoreColumns::new(["s"]);
    for (at, grade) in ["C", "I", "P", "C", "I", "C"].into_iter().enumerate() {
        let group = ["a", "b"][at % 2];
        columns.push(format!("q{at}"), 1).metadata("g", group).score("s", Score::new(grade)).unwrap();
    }
    let results = compute(&columns, metrics);
    let rows = rows::rows(&results.scores[0]);
    let found = rows.iter().find_map(|row| match row {
        Row::Figure { label, shown, .. } if label == wanted => Some(shown.clone()),
        _ => None,
    });
    found.unwrap()
}

#[test]
fn an_error_stands_only_beside_its_own_mean() {
    let has_error = |metrics: &str, label: &str| matches!(shown(metrics, label), Shown::WithError(..));
    assert!(has_error("[accuracy, stderr]", "accuracy"));
    assert!(has_error("[bootstrap_stderr, mean]", "mean"));
    let other = "value_to_float(correct=\"I\")";
    assert!(!has_error(&format!("[accuracy, stderr(to_float={other})]"), "accuracy"), "other numbers");
    assert!(has_error(&format!("[accuracy(to_float={other}), stderr(to_float={other})]"), "accuracy"));
    assert!(!has_error("[std, stderr]", "std"), "the error is that of the mean");
    assert!(!has_error("[accuracy, grouped(stderr(), 'g')]", "accuracy"));
    assert!(has_error("[grouped(accuracy(), 'g'), grouped(stderr(), 'g')]", "a"));
    assert!(has_error("[grouped(accuracy(), 'g'), grouped(stderr(), 'g')]", "all"));
    let mean_of_errors = "[grouped(accuracy(), 'g'), grouped(stderr(), 'g', all='groups')]";
    assert!(!has_error(mean_of_errors, "all"), "a mean of errors is not the error of the mean");
    assert!(has_error(mean_of_errors, "b"));
}

#[test]
fn side_by_side_the_names_of_models_are_text_and_nothing_else() {
    let report = |model: &str| Report::new("log", scored(4)).of_run("task", model);
    let reports = [report("a/<script>"), report("b/`x`|[y](z)\u{1b}[31m")];
    let markdown = SideBySide::of(&reports, &[])[0].to_markdown();
    assert!(markdown.contains("a/\\<script\\>") && markdown.contains("b/\\`x\\`\\|\\[y\\](z)"), "{markdown}");
    assert!(!SideBySide::of(&reports, &[])[0].to_text().contains('\u{1b}'));
    assert!(SideBySide::of(&reports[..1], &[]).is_empty(), "one model stands beside nothing");
}

/// Results with a name of one's own wherever a name can be.
fn named(name: &str) -> Report {
    let mut columns = ScoreColumns::new([name]);
    for (at, group) in [name, "plain"].into_iter().enumerate() {
        let row = columns.push(format!("{name}{at}"), 1).metadata(name, group).metadata("c", name);
        row.score(name, Score::new(at as f64)).unwrap();
    }
    let metrics = errorbar_core::metrics![
        errorbar_core::metrics::grouped(errorbar_core::metrics::mean(), name),
        errorbar_core::metrics::stderr().cluster(name),
        errorbar_core::metric_fn(name, |_| Err::<f64, _>(errorbar_core::Error::custom("no figure"))),
    ];
    let results = results(&columns, &Plan::new().metrics(metrics)).unwrap();
    let unfinished = Some(crate::Unfinished { status: name.to_owned(), planned: None });
    let limits = [(name.to_owned(), 1)].into_iter().collect();
    Report::new(name, results).of_run(name, name).unfinished(unfinished).limits(limits)
}

#[test]
fn a_table_is_clean_and_all_else_has_names_as_they_are() {
    const HOSTILE: &str = "\u{1b}]0;title\u{7}\u{1b}[8m\u{9b}31m\u{202e}\u{2066}\u{200b}\u{e0041}\u{7f}\r\nx";
    let report = [named(HOSTILE)];
    for color in [false, true] {
        let mut table = Table::default().color(color).to_text(&report);
        // The colours of the table itself are few.
        for code in ["0", "1", "2", "31", "33", "36"] {
            table = table.replace(&format!("\u{1b}[{code}m"), "");
        }
        assert!(!table.replace('\n', "").contains(crate::is_unsafe), "{table:?}");
    }
    let rows = || {
        [
            named("\u{1b}[31mx"),
            named("\u{1b}[32mx"),
            named("x"),
            named("\u{202e}x"),
            named("a\nb"),
            named("a\rb"),
        ]
    };
    let csv: std::collections::BTreeSet<String> = rows().map(|r| Csv.to_text(&[r])).into();
    let markdown: std::collections::BTreeSet<String> = rows().map(|r| Markdown.to_text(&[r])).into();
    assert_eq!((csv.len(), markdown.len()), (6, 6), "two names became one");
    assert!(Csv.to_text(&report).contains(HOSTILE));
    // A line break in a name does not break a row of Markdown.
    let lines = |name: &str| Markdown.to_text(&[named(name)]).lines().count();
    assert_eq!(lines(HOSTILE), lines("x"));
    assert!(Markdown.to_text(&report).contains("\u{1b}\\[8m") && !Markdown.to_text(&report).contains('\r'));
    let json: serde_json::Value = serde_json::from_str(&Json.to_text(&report)).unwrap();
    assert_eq!(json[0]["log"], HOSTILE);
}
