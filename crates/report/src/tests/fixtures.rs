//! Results made by hand, with the numbers that core gives.

use errorbar_core::{
    AggregateBasis, Bounds, ClusterVariance, Draws, ErrorMethod, Estimate, Group, Groups, IndexMap, Interval,
    IntervalMethod, MetricResult, MetricValue, Results, Role, ScoreResult, Spec, StdError, Subject,
    Undefined,
};

use crate::Report;

/// z of 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// A share of zeros and ones, with Wilson's interval.
pub(super) fn share(correct: u64, n: u64, absent: u64) -> Estimate {
    if n == 0 {
        let mut estimate = Estimate::undefined(Undefined::NoScores);
        estimate.absent = absent;
        return estimate;
    }
    let (p, count) = (correct as f64 / n as f64, n as f64);
    let se = if n < 2 { 0.0 } else { (p * (1.0 - p) / (count - 1.0)).sqrt() };
    let centre = (p + Z * Z / (2.0 * count)) / (1.0 + Z * Z / count);
    let half = Z * (p * (1.0 - p) / count + Z * Z / (4.0 * count * count)).sqrt() / (1.0 + Z * Z / count);
    let mut estimate = Estimate::new(p).with_n(n);
    let error = StdError::new(se, ErrorMethod::Iid).with_df(count - 1.0);
    estimate.error = if n < 2 { Err(Undefined::TooFewScores { n }) } else { Ok(error) };
    let (lower, upper) = ((centre - half).max(0.0), (centre + half).min(1.0));
    estimate.interval = Ok(Interval::new(lower, upper, 0.95, IntervalMethod::Wilson));
    estimate.absent = absent;
    if absent > 0 {
        let (c, a) = (correct as f64, absent as f64);
        let worst = c / (count + a);
        estimate.bounds = Some(Bounds::new(worst, (c + a) / (count + a), worst));
    }
    estimate
}

/// The same with clusters.
pub(super) fn clustered(correct: u64, n: u64, clusters: &[u64], se: f64) -> Estimate {
    let mut estimate = share(correct, n, 0);
    let df = clusters[0] as f64 * 0.7;
    let error = StdError::new(se, ErrorMethod::Cluster(ClusterVariance::Cr2));
    estimate.error = Ok(error.with_df(df).with_clusters(clusters.to_vec()));
    estimate.notes.effective_n = Some(n as f64 / 1.5);
    estimate.notes.design_effect = Some(1.5);
    estimate
}

pub(super) fn metric(spec: &str, role: Role, value: impl Into<MetricValue>) -> MetricResult {
    let spec: Spec = spec.parse().unwrap();
    let mut result = MetricResult::new(spec, role, value.into());
    result.subject = Some(Subject::default());
    result
}

/// A metric by group: the name within, the key, and name, correct, n, absent of each group.
pub(super) fn grouped(
    name: &str,
    key: &str,
    groups: &[(&str, u64, u64, u64)],
    over: Option<AggregateBasis>,
) -> MetricResult {
    let estimates: Vec<Estimate> =
        groups.iter().map(|(_, correct, n, absent)| share(*correct, *n, *absent)).collect();
    let sum = |part: fn(&(&str, u64, u64, u64)) -> u64| groups.iter().map(part).sum::<u64>();
    let all = over.map(|over| {
        let mut value = share(sum(|g| g.1), sum(|g| g.2), sum(|g| g.3));
        if over == AggregateBasis::Groups
            && let Ok(error) = &mut value.error
        {
            error.method = ErrorMethod::Macro;
        }
        (over, value)
    });
    let groups = groups.iter().zip(estimates);
    let groups = groups.map(|((name, ..), estimate)| Group::new(*name, estimate.n, estimate)).collect();
    let mut value = Groups::new(key, groups);
    if let Some((over, all)) = all {
        value = value.with_all("all", over, all);
    }
    let spec = format!("grouped({name}(), {key:?})");
    let mut result = metric(&spec, Role::Location, MetricValue::Groups(value));
    result.metric = name.to_owned();
    result
}

pub(super) fn score(scorer: &str, scored: usize, metrics: Vec<MetricResult>) -> ScoreResult {
    let mut score = ScoreResult::default();
    score.scorer = scorer.to_owned();
    score.counts.scored = scored;
    score.counts.epochs = 1;
    score.metrics = metrics;
    score
}

pub(super) fn results(scores: Vec<ScoreResult>) -> Results {
    let mut results = Results::default();
    let total = |score: &ScoreResult| score.counts.scored + score.counts.unscored + score.counts.missing;
    results.total_samples = scores.iter().map(total).max().unwrap_or(0);
    results.completed_samples = results.total_samples;
    results.scores = scores;
    results
}

/// Ten groups of different sizes, one of them without a score.
pub(super) fn ten_groups() -> Report {
    let groups = [
        ("geography", 30, 36, 0),
        ("history", 25, 34, 2),
        ("economics of the nineteenth century", 12, 20, 0),
        ("数学", 9, 12, 0),
        ("biology", 8, 8, 0),
        ("law", 3, 6, 0),
        ("music", 10, 11, 0),
        ("physics", 0, 4, 0),
        ("chemistry", 7, 9, 1),
        ("astronomy", 0, 0, 1),
    ];
    let metrics = vec![
        metric("accuracy", Role::Location, share(104, 140, 4)),
        grouped("accuracy", "category", &groups, Some(AggregateBasis::Groups)),
        metric("std", Role::Spread, 0.438_1),
    ];
    let mut score = score("choice", 140, metrics);
    score.counts.unscored = 3;
    score.counts.missing = 1;
    score.counts.reasons.insert("invalid_response_format".to_owned(), 3);
    Report::new("logs/almanac.eval", results(vec![score])).of_run("almanac", "openai/heron")
}

/// Two scorers, each under three reducers; with two metrics if wanted.
pub(super) fn scorers_and_reducers(several_metrics: bool) -> Report {
    let mut scores = Vec::new();
    for (at, scorer) in ["match", "model_graded_qa"].into_iter().enumerate() {
        for (of, reducer) in [None, Some("mode"), Some("at_least_2")].into_iter().enumerate() {
            let correct = 40 - 7 * at as u64 - 3 * of as u64;
            let mut metrics = vec![metric("accuracy", Role::Location, share(correct, 48, 0))];
            if several_metrics {
                metrics.push(metric("mean", Role::Location, share(correct - 5, 48, 0)));
                metrics.push(metric("std", Role::Spread, 0.4 + 0.01 * of as f64));
            }
            let mut score = score(scorer, 48, metrics);
            score.reducer = reducer.map(str::to_owned);
            score.counts.epochs = 3;
            scores.push(score);
        }
    }
    let mut results = results(scores);
    (results.total_samples, results.completed_samples) = (144, 144);
    Report::new("logs/almanac.eval", results).of_run("almanac", "openai/heron")
}

/// Three scores, all correct.
pub(super) fn all_correct() -> Report {
    let metrics = vec![metric("accuracy", Role::Location, share(3, 3, 0))];
    Report::new("quiz.csv", results(vec![score("match", 3, metrics)]))
}

/// Every kind of value, explicit errors that were not folded, notes, failures.
pub(super) fn everything() -> Report {
    let shares = [("A", 12), ("B", 20), ("C", 8)];
    let shares: IndexMap<String, Estimate> =
        shares.into_iter().map(|(key, count)| (key.to_owned(), share(count, 40, 0))).collect();
    let se = |se: f64, clusters: Vec<u64>, method| {
        let mut estimate = Estimate::new(se).with_n(40);
        estimate.error = Ok(StdError::new(se, method).with_clusters(clusters));
        estimate
    };
    let mut interval = Estimate::new(0.6).with_n(40).with_interval(0.41, 0.77, 0.9);
    interval.draws = Some(Draws::new(7, 1000));
    let inner =
        grouped("mean", "inner", &[("p", 10, 20, 0), ("q", 14, 20, 0)], Some(AggregateBasis::Samples)).value;
    let nested = MetricValue::Groups(Groups::new("outer", vec![Group::new("x", 40, inner)]));
    let mut nested = metric("grouped(grouped(mean(), \"inner\"), \"outer\")", Role::Location, nested);
    nested.metric = "mean".to_owned();
    let of_other_numbers = |mut result: MetricResult| {
        result.subject = None;
        result
    };
    let lists = vec![Some(share(24, 40, 0)), None, Some(Estimate::undefined(Undefined::Overflow))];
    let custom = Estimate::new(12.5).with_stderr(0.7).with_interval(11.1, 13.9, 0.95).with_n(40);
    let custom = custom.note("units", 40).note("kind", "tokens per word");
    let metrics = vec![
        metric("accuracy", Role::Location, share(24, 40, 0)),
        metric(
            "stderr(cluster=\"passage\")",
            Role::ErrorOf,
            se(0.09, vec![8], ErrorMethod::Cluster(ClusterVariance::Cr0)),
        ),
        metric("stderr", Role::ErrorOf, se(0.077, vec![], ErrorMethod::Iid)),
        metric("ci(method=\"bootstrap\", level=0.9)", Role::IntervalOf, interval),
        metric("frequency", Role::Share, shares),
        of_other_numbers(metric("pass_curve", Role::Location, MetricValue::List(lists))),
        nested,
        metric("std", Role::Spread, 0.496),
        metric("words_per_answer", Role::Other, custom),
        metric("infinite", Role::Other, f64::INFINITY),
        metric("alpha", Role::Other, Estimate::undefined(Undefined::TooFewScores { n: 1 })),
        of_other_numbers(metric("two_way", Role::Location, clustered(24, 40, &[12, 4], 0.1))),
    ];
    let mut score = score("choice", 40, metrics);
    score.failures.push(errorbar_core::Failure {
        metric: "broken".to_owned(),
        error: errorbar_core::Error::custom("division by zero"),
    });
    Report::new("t.csv", results(vec![score]))
}
