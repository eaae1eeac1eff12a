//! From records back to rows with their errors.

use errorbar_core::{EstimateRow, Headline, HeadlineRequest, Results};
use errorbar_log::eval::{RecordedBlock, RecordedMetric, RecordedResults};
use errorbar_log::inspect::{NoHeadline, RecordedRow, project, recover, recovered_headline};
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
            let recovered = recover(&project(&results));
            assert_eq!(rows.len(), recovered.len(), "{metrics}: {recovered:#?}");
            for (row, recovered) in rows.iter().zip(&recovered) {
                let estimate = &row.estimate;
                let place = format!("{metrics}, {} of {} scores", recovered.key, scores.len());
                assert_eq!(recovered.value, estimate.number(), "{place}");
                assert_eq!(recovered.stderr, estimate.stderr(), "{place}");
                let degenerate = estimate.error.as_ref().is_ok_and(|error| error.degenerate);
                assert_eq!(recovered.degenerate, degenerate, "{place}");
                let interval = |row: &RecordedRow| {
                    let interval = row.interval.as_ref()?;
                    let ends = (interval.lower, interval.upper, interval.side);
                    Some((ends, interval.level?, interval.method.clone()?))
                };
                let wanted = estimate.interval.as_ref().ok();
                let wanted = wanted.map(|i| ((i.lower, i.upper, i.side), i.level, i.method.to_string()));
                assert_eq!(interval(recovered), wanted, "{place}");
                if wanted.is_some() {
                    assert_eq!(recovered.n, Some(estimate.n), "{place}");
                }
                assert_eq!(recovered.group_key.as_deref(), row.scopes_key(), "{place}");
            }
        }
    }
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
type Short<'a> = (&'a str, Option<f64>, Option<f64>, Option<(f64, f64)>);

fn short(rows: &[RecordedRow]) -> Vec<Short<'_>> {
    let ends = |row: &RecordedRow| row.interval.as_ref().map(|interval| (interval.lower, interval.upper));
    rows.iter().map(|row| (row.key.as_str(), row.value, row.stderr, ends(row))).collect()
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
    let rows = recover(&recorded);
    let wanted = [
        ("accuracy", Some(0.5), Some(0.1), Some((0.3, 0.7))),
        ("std", Some(0.4), None, None),
        // A second error keeps its row, as does one of numbers that no mean is about.
        ("stderr2", Some(0.2), None, None),
        ("mean", Some(0.25), Some(0.3), None),
        ("errorbar/stderr", Some(0.3), None, None),
    ];
    assert_eq!(short(&rows), wanted);
    assert_eq!(rows[0].interval.as_ref().unwrap().level, Some(0.95));
    assert_eq!((rows[0].n, rows[0].degenerate), (Some(20), false));
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
    let rows = recover(&recorded);
    let wanted = [
        ("a", Some(0.5), Some(0.1), Some((0.2, 0.8))),
        ("b", Some(1.0), Some(0.0), None),
        ("all", Some(0.75), None, None),
        // The mean of errors is not the error of the mean.
        ("all2", Some(0.05), None, None),
    ];
    assert_eq!(short(&rows), wanted);
    assert!(rows[1].degenerate);
    assert_eq!(rows[0].group_key.as_deref(), Some("topic"));
    assert_eq!(rows[0].n, None, "the reference does not say how many scores a group has");
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
    assert_eq!(short(&recover(&recorded)), [("accuracy", Some(1.0), None, None)]);
}

fn request(metric: &str) -> Option<HeadlineRequest> {
    Some(HeadlineRequest { metric: Some(metric.to_owned()), ..HeadlineRequest::default() })
}

#[test]
fn a_requested_headline_is_a_row_with_its_error() {
    let mut recorded = project(&results("[std(), accuracy(), stderr()]", &many_scores()[0]));
    let mut requested = |metric: &str| {
        let (scorer, score) = ("match".to_owned(), "match".to_owned());
        recorded.headline = Some(Headline { scorer, score, metric: metric.to_owned(), reducer: None });
        recovered_headline(&recorded, request(metric).as_ref()).unwrap()
    };
    let row = requested("accuracy");
    assert_eq!(row.key, "accuracy");
    assert!(row.stderr.is_some() && row.interval.is_some());
    // A requested error is shown, though it is in the row of the mean.
    let row = requested("stderr");
    assert_eq!((row.key.as_str(), row.stderr), ("stderr", None));
    assert_eq!(requested("std").key, "std");
    // One that is not there gives way to the first estimate.
    assert_eq!(requested("f1").key, "accuracy");
    let none = recovered_headline(&RecordedResults::default(), None);
    assert_eq!(none, Err(NoHeadline::NoFigures));
}

#[test]
fn the_first_entry_of_a_log_is_no_headline() {
    let scores = &many_scores()[0];
    let title = |metrics: &str| {
        let row = recovered_headline(&project(&results(metrics, scores)), None)?;
        Ok((row.title(), row.value.is_some() && (row.stderr.is_some() || row.interval.is_some())))
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
    let row = recovered_headline(&project(&results("[grouped(accuracy(), 'topic')]", &[None, None])), None);
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
    let row = recovered_headline(&of(&json!("samples")), None).unwrap();
    assert_eq!((row.title().as_str(), row.value, row.stderr), ("mean all", Some(0.75), Some(0.1)));
    let row = recovered_headline(&of(&json!("groups")), None).unwrap();
    assert_eq!(
        (row.value, row.stderr),
        (Some(0.75), None),
        "the mean of errors is not the error of the mean"
    );
    // There, `all` is a group like the others.
    assert!(matches!(recovered_headline(&of(&json!(false)), None), Err(NoHeadline::OnlyGroups(_))));
    // A task may want a group.
    let row = recovered_headline(&of(&json!("samples")), request("a").as_ref()).unwrap();
    assert_eq!((row.title().as_str(), row.value), ("mean a", Some(0.5)));
}
