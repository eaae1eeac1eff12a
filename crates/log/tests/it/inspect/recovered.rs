//! From records back to rows with their errors.

use errorbar_core::{Estimate, EstimateRow, Headline, HeadlineRequest, NoHeadline, Results};
use errorbar_log::eval::{RecordedBlock, RecordedMetric, RecordedResults};
use errorbar_log::inspect::{project, recorded_name, recover, set_headline};
use serde_json::{Value as Json, json};

use crate::inspect::support::{METRICS, many_scores, results};

/// The rows of results that a log has.
fn recorded_rows(results: &Results) -> Vec<EstimateRow<'_>> {
    results.rows().into_iter().filter(|row| row.group.is_none() || row.estimate.n > 0).collect()
}

#[test]
fn our_logs_give_back_their_rows() {
    for scores in many_scores().iter().filter(|scores| scores.iter().any(Option::is_some)) {
        for metrics in METRICS {
            let results = results(metrics, scores);
            let rows = recorded_rows(&results);
            let in_log = recover(&project(&results));
            let recovered = in_log.rows();
            assert_eq!(rows.len(), recovered.len(), "{metrics}: {recovered:#?}");
            for (row, recovered) in rows.iter().zip(&recovered) {
                let (estimate, recovered_estimate) = (&row.estimate, &recovered.estimate);
                let place = format!("{metrics}, {} of {} scores", key(recovered), scores.len());
                assert_eq!(recovered_estimate.number(), estimate.number(), "{place}");
                assert_eq!(recovered_estimate.stderr(), estimate.stderr(), "{place}");
                let degenerate =
                    |estimate: &Estimate| estimate.error.as_ref().is_ok_and(|error| error.degenerate);
                assert_eq!(degenerate(recovered_estimate), degenerate(estimate), "{place}");
                let interval = |estimate: &Estimate| {
                    let interval = estimate.interval.as_ref().ok()?;
                    let ends = (interval.lower, interval.upper, interval.side);
                    Some((ends, interval.level, interval.method.to_string()))
                };
                let wanted = interval(estimate);
                assert_eq!(interval(recovered_estimate), wanted, "{place}");
                if wanted.is_some() {
                    assert_eq!(recovered_estimate.n, estimate.n, "{place}");
                }
                assert_eq!(recovered.group_key, row.scopes_key(), "{place}");
            }
        }
    }
}

/// The key of a row in the log.
fn key<'r>(row: &'r EstimateRow<'_>) -> &'r str {
    row.estimate.notes.log_key.as_deref().unwrap()
}

/// The key of the outermost groups, which is what an entry records.
trait ScopesKey {
    fn scopes_key(&self) -> Option<&str>;
}

impl ScopesKey for EstimateRow<'_> {
    fn scopes_key(&self) -> Option<&str> {
        self.result.params.get("group_key").and_then(Json::as_str)
    }
}

fn metric(name: &str, group: Option<&str>, value: f64, params: Json) -> RecordedMetric {
    let mut metric = RecordedMetric::new(name, value);
    metric.group = group.map(str::to_owned);
    metric.params = params.as_object().cloned().unwrap_or_default().into();
    metric
}

/// A log of the reference: no notes at all.
fn block(metrics: Vec<(&str, RecordedMetric)>, scored: u64) -> RecordedResults {
    let metrics = metrics.into_iter().map(|(key, metric)| (key.to_owned(), metric)).collect();
    let mut block = RecordedBlock::default();
    block.name = "match".to_owned();
    block.scorer = "match".to_owned();
    block.scored_samples = Some(scored);
    block.metrics = metrics;
    let mut results = RecordedResults::default();
    results.scores.push(block);
    results
}

/// Key, value, error, and the ends of the interval.
type Short = (String, Option<f64>, Option<f64>, Option<(f64, f64)>);

fn short(results: &Results) -> Vec<Short> {
    let ends = |row: &EstimateRow<'_>| row.estimate.interval.as_ref().ok().map(|i| (i.lower, i.upper));
    let row = |row: &EstimateRow<'_>| {
        (key(row).to_owned(), row.estimate.number(), row.estimate.stderr(), ends(row))
    };
    results.rows().iter().map(row).collect()
}

#[test]
fn logs_of_the_reference_are_paired_by_name_and_arguments() {
    let other = json!({"to_float": "another"});
    let recorded = block(
        vec![
            ("accuracy", metric("accuracy", None, 0.5, json!({}))),
            ("std", metric("std", None, 0.4, json!({}))),
            ("stderr", metric("stderr", None, 0.1, json!({"cluster": "passage"}))),
            ("stderr2", metric("stderr", None, 0.2, json!({}))),
            ("mean", metric("mean", None, 0.25, other.clone())),
            ("bootstrap_stderr", metric("bootstrap_stderr", None, 0.3, other)),
            ("lower", metric("lower", Some("ci"), 0.3, json!({}))),
            ("upper", metric("upper", Some("ci"), 0.7, json!({}))),
            ("errorbar/stderr", metric("errorbar/stderr", None, 0.3, json!({"to_float": "a third"}))),
        ],
        20,
    );
    let results = recover(&recorded);
    let wanted = [
        ("accuracy", Some(0.5), Some(0.1), Some((0.3, 0.7))),
        ("std", Some(0.4), None, None),
        // A second error keeps its row, as does one of numbers that no mean is about.
        ("stderr2", Some(0.2), None, None),
        ("mean", Some(0.25), Some(0.3), None),
        ("errorbar/stderr", Some(0.3), None, None),
    ];
    assert_eq!(short(&results), wanted.map(|(key, value, error, ends)| (key.to_owned(), value, error, ends)));
    let rows = results.rows();
    assert_eq!(rows[0].estimate.interval.as_ref().unwrap().level, 0.95);
    assert_eq!((rows[0].estimate.n, rows[0].estimate.error.as_ref().unwrap().degenerate), (20, false));
}

#[test]
fn groups_of_the_reference_are_paired_by_key_and_name() {
    let of = |inner: &str, all: &str| {
        let inner = json!({"type": "metric", "name": inner, "params": {}});
        json!({"metric": inner, "group_key": "topic", "all": all})
    };
    let entry =
        |name: &str, inner: &str, value: f64| metric(name, Some("grouped"), value, of(inner, "groups"));
    let recorded = block(
        vec![
            ("a", entry("a", "mean", 0.5)),
            ("b", entry("b", "mean", 1.0)),
            ("all", entry("all", "mean", 0.75)),
            ("a2", entry("a", "stderr", 0.1)),
            ("b2", entry("b", "stderr", 0.0)),
            ("all2", entry("all", "stderr", 0.05)),
            ("a_lower", entry("a_lower", "ci", 0.2)),
            ("a_upper", entry("a_upper", "ci", 0.8)),
            ("b_lower", entry("b_lower", "ci", 1.0)),
            ("b_upper", entry("b_upper", "ci", 1.0)),
        ],
        20,
    );
    let results = recover(&recorded);
    let wanted = [
        ("a", Some(0.5), Some(0.1), Some((0.2, 0.8))),
        ("b", Some(1.0), Some(0.0), None),
        ("all", Some(0.75), None, None),
        // The mean of errors is not the error of the mean.
        ("all2", Some(0.05), None, None),
    ];
    assert_eq!(short(&results), wanted.map(|(key, value, error, ends)| (key.to_owned(), value, error, ends)));
    let rows = results.rows();
    assert!(rows[1].estimate.error.as_ref().unwrap().degenerate);
    assert_eq!(rows[0].group_key, Some("topic"));
    assert_eq!(rows[0].estimate.n, 0, "the reference does not say how many scores a group has");
}

#[test]
fn a_zero_of_one_score_is_no_error() {
    let recorded = block(
        vec![
            ("accuracy", metric("accuracy", None, 1.0, json!({}))),
            ("stderr", metric("stderr", None, 0.0, json!({}))),
        ],
        1,
    );
    assert_eq!(short(&recover(&recorded)), [("accuracy".to_owned(), Some(1.0), None, None)]);
}

/// What is to be known about the headline.
#[derive(Debug, PartialEq)]
struct ShownFigure {
    key: String,
    title: String,
    value: Option<f64>,
    stderr: Option<f64>,
    has_interval: bool,
}

/// The headline of recorded results, where the task wants this metric.
fn headline(recorded: &RecordedResults, wanted: Option<&str>) -> Result<ShownFigure, NoHeadline> {
    let mut results = recover(recorded);
    let request =
        wanted.map(|metric| HeadlineRequest { metric: Some(metric.to_owned()), ..Default::default() });
    set_headline(&mut results, recorded, request.as_ref());
    results.headline_row().map(|row| ShownFigure {
        key: key(&row).to_owned(),
        title: [recorded_name(&row), row.label.or(row.key).unwrap_or_default()]
            .join(" ")
            .trim_end()
            .to_owned(),
        value: row.estimate.number(),
        stderr: row.estimate.stderr(),
        has_interval: row.estimate.interval.is_ok(),
    })
}

#[test]
fn a_requested_headline_is_a_row_with_its_error() {
    let mut recorded = project(&results("[std(), accuracy(), stderr()]", &many_scores()[0]));
    let mut requested = |metric: &str| {
        let (scorer, score) = ("match".to_owned(), "match".to_owned());
        recorded.headline = Some(Headline { scorer, score, metric: metric.to_owned(), reducer: None });
        headline(&recorded, Some(metric)).unwrap()
    };
    let row = requested("accuracy");
    assert_eq!(row.key, "accuracy");
    assert!(row.stderr.is_some() && row.has_interval);
    // A requested error is shown, though it is in the row of the mean.
    let row = requested("stderr");
    assert_eq!((row.key.as_str(), row.stderr), ("stderr", None));
    assert_eq!(requested("std").key, "std");
    // One that is not there gives way to the first estimate.
    assert_eq!(requested("f1").key, "accuracy");
    let none = headline(&RecordedResults::default(), None);
    assert_eq!(none, Err(NoHeadline::NoFigures));
}

#[test]
fn the_first_entry_of_a_log_is_no_headline() {
    let scores = &many_scores()[0];
    let title = |metrics: &str| {
        let row = headline(&project(&results(metrics, scores)), None)?;
        Ok((row.title, row.value.is_some() && (row.stderr.is_some() || row.has_interval)))
    };
    let shown = |title: &str, has_error: bool| Ok((title.to_owned(), has_error));
    // The log records the first group, or the first metric, because the task names none.
    assert_eq!(title("[grouped(accuracy(), 'topic')]"), shown("accuracy all", true));
    assert_eq!(title("[grouped(mean(), 'topic', all='groups')]"), shown("mean all", true));
    assert_eq!(title("[grouped(mean(), 'topic', all_label='whole')]"), shown("mean whole", true));
    assert_eq!(title("[std(), grouped(accuracy(), 'topic')]"), shown("accuracy all", true));
    assert_eq!(title("[grouped(accuracy(), 'topic'), accuracy()]"), shown("accuracy", true));
    assert_eq!(title("[std(), accuracy()]"), shown("accuracy", true));
    assert_eq!(title("[grouped(std(), 'topic'), std()]"), shown("std", false));
    assert_eq!(title("[grouped(std(), 'topic')]"), shown("std all", false));
    assert_eq!(title("[ci()]"), shown("ci", true));
    assert_eq!(title("[grouped(ci(), 'topic')]"), shown("ci all", true));
    assert_eq!(title("[std()]"), shown("std", false));
    assert!(title("[frequency()]").unwrap().0.starts_with("frequency "));
    let only_groups = NoHeadline::OnlyGroups(vec!["topic".to_owned()]);
    assert_eq!(only_groups.to_string(), "by topic only, none over all samples");
    assert_eq!(title("[grouped(accuracy(), 'topic', all=False)]"), Err(only_groups));
    // Without a score there is a row all the same, which says why it is undefined.
    let row = headline(&project(&results("[grouped(accuracy(), 'topic')]", &[None, None])), None);
    assert!(row.unwrap().value.is_none());
}

#[test]
fn the_headline_of_the_reference_is_over_all_groups() {
    let entry = |name: &str, inner: &str, value: f64, all: Json| {
        let inner = json!({"type": "metric", "name": inner, "params": {}});
        metric(name, Some("grouped"), value, json!({"metric": inner, "group_key": "topic", "all": all}))
    };
    let of = |all: &Json| {
        let entries = [("a", "mean", 0.5), ("b", "mean", 1.0), ("all", "mean", 0.75), ("all", "stderr", 0.1)];
        let keys = ["a", "b", "all", "all2"];
        let entries = entries.map(|(name, inner, value)| entry(name, inner, value, all.clone()));
        let mut recorded = block(keys.into_iter().zip(entries).collect(), 20);
        let (scorer, score, metric) = ("match".to_owned(), "match".to_owned(), "a".to_owned());
        recorded.headline = Some(Headline { scorer, score, metric, reducer: None });
        recorded
    };
    let row = headline(&of(&json!("samples")), None).unwrap();
    assert_eq!((row.title.as_str(), row.value, row.stderr), ("mean all", Some(0.75), Some(0.1)));
    let row = headline(&of(&json!("groups")), None).unwrap();
    assert_eq!(
        (row.value, row.stderr),
        (Some(0.75), None),
        "the mean of errors is not the error of the mean"
    );
    // There, `all` is a group like the others.
    assert!(matches!(headline(&of(&json!(false)), None), Err(NoHeadline::OnlyGroups(_))));
    // A task may want a group.
    let row = headline(&of(&json!("samples")), Some("a")).unwrap();
    assert_eq!((row.title.as_str(), row.value), ("mean a", Some(0.5)));
}

/// Results of one block of these metrics. The second of a name has a number in its key.
fn plain(metrics: &[(&str, f64)]) -> RecordedResults {
    let mut recorded = block(Vec::new(), 20);
    recorded.scores[0].metrics = metrics
        .iter()
        .map(|(key, value)| ((*key).to_owned(), metric(key.trim_end_matches('2'), None, *value, json!({}))))
        .collect();
    recorded
}

#[test]
fn a_mean_of_one_field_is_a_mean() {
    let params = json!({"key": "alpha", "agg": {"name": "mean", "params": {}}});
    let mut recorded = block(vec![("aggregate", metric("aggregate", None, 0.75, params))], 20);
    recorded.scores.push(plain(&[("mean", 0.0)]).scores.remove(0));
    let results = recover(&recorded);
    let row = results.headline_row().unwrap();
    assert_eq!((row.metric, row.field, row.estimate.number()), ("mean", Some("alpha"), Some(0.75)));
}

#[test]
fn a_standard_error_is_no_headline() {
    let found = headline(&plain(&[("stderr", 0.1), ("stderr2", 0.1), ("var", 0.2)]), None).unwrap();
    assert_eq!((found.key.as_str(), found.value), ("var", Some(0.2)));
    assert_eq!(headline(&plain(&[("stderr", 0.1)]), None), Err(NoHeadline::OnlyErrors));
    let mut requested = plain(&[("var", 0.2), ("stderr", 0.1)]);
    let (scorer, score) = ("match".to_owned(), "match".to_owned());
    requested.headline = Some(Headline { scorer, score, metric: "stderr".into(), reducer: None });
    let found = headline(&requested, Some("stderr")).unwrap();
    assert_eq!(found.key, "stderr", "the task wants it");
}
