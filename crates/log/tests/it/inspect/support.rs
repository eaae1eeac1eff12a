//! Scores and results that several tests share.

use errorbar_core::spec::MetricsSpec;
use errorbar_core::{Plan, Registry, Results, Score, ScoreColumns};

/// A plan with metrics from their text.
pub(crate) fn plan(metrics: &str) -> Plan {
    let metrics: MetricsSpec = metrics.parse().unwrap();
    Plan::new().metrics(Registry::built_in().metrics(&metrics).unwrap())
}

/// Samples with a topic, which one in five shares, and a passage, which one in three shares.
pub(crate) fn columns(scores: &[Option<f64>]) -> ScoreColumns {
    let mut columns = ScoreColumns::new(["match"]);
    for (at, score) in scores.iter().enumerate() {
        let row = columns
            .push(format!("q{at}"), 1)
            .metadata("topic", format!("t{}", at % 5))
            .metadata("passage", format!("p{}", at % 3));
        if let Some(score) = score {
            row.score("match", Score::new(*score)).unwrap();
        }
    }
    columns
}

pub(crate) fn results(metrics: &str, scores: &[Option<f64>]) -> Results {
    plan(metrics).evaluate(&columns(scores)).unwrap().results
}

/// Zeros and ones, graded scores, equal ones, few, one, none; some absent.
pub(crate) fn many_scores() -> Vec<Vec<Option<f64>>> {
    let of = |n: usize, score: fn(usize) -> Option<f64>| (0..n).map(score).collect::<Vec<_>>();
    vec![
        of(40, |at| Some((at * 7 % 3 == 0).into())),
        of(40, |at| (at % 11 != 4).then_some((at * 7 % 10) as f64 / 9.0)),
        of(12, |at| Some((at * at % 17) as f64 - 3.0)),
        of(9, |_| Some(1.0)),
        of(2, |at| Some(at as f64)),
        of(7, |at| (at == 3).then_some(0.5)),
        of(4, |_| None),
        Vec::new(),
    ]
}

/// Metrics of every role, alone, together, by group and by group of groups.
pub(crate) const METRICS: [&str; 16] = [
    "[accuracy()]",
    "[std(), var()]",
    "[stderr(), ci()]",
    "[mean(), accuracy(), stderr(), bootstrap_stderr(num_samples=50), ci(level=0.9), ci()]",
    "[accuracy(), stderr(cluster='passage'), ci(cluster='passage', method='bootstrap', num_samples=50)]",
    "[grouped(accuracy(), 'topic'), grouped(stderr(), 'topic'), grouped(ci(), 'topic')]",
    "[grouped(mean(), 'topic', all='groups'), grouped(stderr(), 'topic', all='groups')]",
    "[grouped(mean(), 'topic', all=False, name_template='topic {group_name}'), grouped(ci(), 'topic', all='groups')]",
    "[grouped(grouped(mean(), 'passage'), 'topic'), grouped(grouped(stderr(), 'passage'), 'topic')]",
    "[grouped(grouped(ci(), 'passage', all='groups'), 'topic', all='groups')]",
    "[frequency(), accuracy()]",
    "[frequency(categories=['0.0', 'never'], normalize=False), stderr()]",
    "[accuracy(), accuracy(to_float=value_to_float(correct=0.5)), stderr()]",
    "[grouped(std(), 'passage', all='groups'), mean()]",
    "[mean(), ci(side='upper'), ci(method='bootstrap_t', side='lower', num_samples=100)]",
    "[grouped(ci(method='beta(prior=[1, 1])'), 'topic', all='groups'), ci(method='exact', side='lower')]",
];
