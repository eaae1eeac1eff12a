//! More than two sides, and several tasks.

use errorbar_core::metrics::{mean, median};
use errorbar_core::{ErrorPlan, Plan, Registry, Score, ScoreColumns, metrics};
use errorbar_inference::{
    ComparedScores, Comparison, ComparisonError, ComparisonOptions, ComparisonReport, ComparisonWarning,
    Correction, TestMethod, compare,
};

use super::{BASE, GRADED, OTHER, OTHER_GRADED, by_accuracy, by_mean, close, columns, side};

/// Zeros and ones: this many of `n` are right, and one in `flips` of the samples is another than in order.
fn share(right: usize, n: usize, flips: usize) -> ScoreColumns {
    let score = |at: usize| if (at < right) != (at % flips == 1) { 1.0 } else { 0.0 };
    columns(&(0..n).map(score).collect::<Vec<_>>())
}

fn pairs(report: &ComparisonReport) -> Vec<(&str, &str)> {
    report.comparisons.iter().map(|one| (one.base.as_str(), one.other.as_str())).collect()
}

#[test]
fn each_with_the_base_or_with_every_other() {
    let (a, b, c) = (columns(&BASE), columns(&OTHER), columns(&[0.0; 12]));
    let plan = by_accuracy();
    let sides = [side("a", &a, &plan), side("b", &b, &plan), side("c", &c, &plan)];
    let report = compare(&sides, &ComparisonOptions::default()).unwrap();
    assert_eq!(pairs(&report), [("a", "b"), ("a", "c")]);
    assert_eq!(report.sides, ["a", "b", "c"]);
    let mut options = ComparisonOptions::default();
    options.all_pairs = true;
    options.correction = Some(Correction::Bh);
    let report = compare(&sides, &options).unwrap();
    assert_eq!(pairs(&report), [("a", "b"), ("a", "c"), ("b", "c")]);
    // b − a: 3 and 1; c − a: 0 and 8, c − b: 0 and 10; mid-p .375, 2^−8, 2^−10. BH: the smallest times 3, the next times 3/2.
    let expected = [0.375, 1.5 / 256.0, 3.0 / 1024.0];
    for (comparison, expected) in report.comparisons.iter().zip(expected) {
        close(comparison.p_adjusted.unwrap(), expected);
    }
}

/// Those that are shown together are one family of tests, whatever else was compared.
#[test]
fn what_is_kept_is_corrected_among_itself() {
    let (a, b, c) = (columns(&BASE), columns(&OTHER), columns(&[0.0; 12]));
    let plan = by_accuracy();
    let sides = [side("a", &a, &plan), side("b", &b, &plan), side("c", &c, &plan)];
    let mut options = ComparisonOptions::default();
    (options.all_pairs, options.correction) = (true, Some(Correction::Holm));
    let report = compare(&sides, &options).unwrap().only(|one| one.base == "a");
    assert_eq!(pairs(&report), [("a", "b"), ("a", "c")]);
    // mid-p .375 and 2^−8; of two tests the smaller counts twice.
    for (comparison, expected) in report.comparisons.iter().zip([0.375, 2.0 / 256.0]) {
        close(comparison.p_adjusted.unwrap(), expected);
    }
}

/// BASE and OTHER: 3 pairs are right in OTHER alone, 1 in BASE alone.
#[test]
fn pairs_are_counted_by_the_scores_of_both_sides() {
    let (a, b) = (columns(&BASE), columns(&OTHER));
    let plan = by_accuracy();
    let report =
        compare(&[side("a", &a, &plan), side("b", &b, &plan)], &ComparisonOptions::default()).unwrap();
    let table = report.comparisons[0].cross_table.clone().unwrap();
    assert_eq!((table.scores, table.counts), (vec![0.0, 1.0], vec![vec![1, 3], vec![1, 7]]));
    let (graded, other) = (columns(&GRADED), columns(&OTHER_GRADED));
    let plan = by_mean();
    let sides = [side("a", &graded, &plan), side("b", &other, &plan)];
    let report = compare(&sides, &ComparisonOptions::default()).unwrap();
    assert_eq!(report.comparisons[0].cross_table, None, "too many different scores");
}

#[test]
fn places_and_tie_groups() {
    let plan = by_accuracy();
    // Two sides alike, one clearly below, one clearly at the bottom.
    let all = [share(90, 100, 10), share(88, 100, 11), share(60, 100, 12), share(20, 100, 13)];
    let names = ["a", "b", "c", "d"];
    let sides: Vec<ComparedScores<'_>> =
        names.iter().zip(&all).map(|(name, columns)| side(name, columns, &plan)).collect();
    let report = compare(&sides, &ComparisonOptions::default()).unwrap();
    let [ranking] = report.rankings.as_slice() else { panic!("{:?}", report.rankings) };
    assert_eq!((ranking.metric.as_str(), ranking.n, ranking.level), ("accuracy", 100, 0.95));
    let found: Vec<_> = ranking
        .ranks
        .iter()
        .map(|rank| (rank.side.as_str(), rank.rank, rank.interval, rank.tie_groups.as_str()))
        .collect();
    let expected =
        [("a", 1, (1, 2), "a"), ("b", 2, (1, 2), "a"), ("c", 3, (3, 3), "b"), ("d", 4, (4, 4), "c")];
    assert_eq!(found, expected);
    close(ranking.ranks[3].estimate.number().unwrap(), (20.0 - 2.0 + 6.0) / 100.0);
}

/// A ranking by a figure that is no mean, and the same at any number of threads.
#[test]
fn rankings_of_any_metric() {
    let mut errors = ErrorPlan::new();
    errors.draws = Some(300);
    let plan = Plan::new().metrics(metrics![median()]).errors(errors);
    let low: Vec<f64> = GRADED.iter().map(|score| score / 10.0).collect();
    let (a, b, c) = (columns(&GRADED), columns(&OTHER_GRADED), columns(&low));
    let sides = [side("a", &a, &plan), side("b", &b, &plan), side("c", &c, &plan)];
    let report = compare(&sides, &ComparisonOptions::default()).unwrap();
    let ranks = &report.rankings[0].ranks;
    assert_eq!((ranks[2].side.as_str(), ranks[2].interval), ("c", (3, 3)));
    assert_eq!(ranks[0].interval, (1, 2));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let again = pool.install(|| compare(&sides, &ComparisonOptions::default()).unwrap());
    assert_eq!(format!("{report:?}"), format!("{again:?}"));
}

/// Three scorers of the same samples.
#[test]
fn rankings_of_scorers() {
    let mut all = ScoreColumns::new(["x", "y", "z"]);
    for id in 0..60 {
        let mut row = all.push(format!("q{id}"), 1);
        for (scorer, right) in [("x", 20), ("y", 50), ("z", 35)] {
            row = row.score(scorer, Score::new(if id < right { 1.0 } else { 0.0 })).unwrap();
        }
    }
    let plans = ["x", "y", "z"].map(|scorer| {
        let mut plan = by_accuracy();
        plan.only = vec![scorer.to_owned()];
        plan
    });
    let sides: Vec<ComparedScores<'_>> =
        ["x", "y", "z"].into_iter().zip(&plans).map(|(name, plan)| side(name, &all, plan)).collect();
    let report = compare(&sides, &ComparisonOptions::default()).unwrap();
    let places: Vec<_> =
        report.rankings[0].ranks.iter().map(|rank| (rank.side.as_str(), rank.interval)).collect();
    assert_eq!(places, [("y", (1, 1)), ("z", (2, 2)), ("x", (3, 3))]);
}

fn of_task<'a>(
    name: &'a str,
    task: &'a str,
    columns: &'a ScoreColumns,
    plan: &'a Plan,
) -> ComparedScores<'a> {
    side(name, columns, plan).of_task(Some(task))
}

/// The mean of two differences, 1/6 ± 1/6 (df 11) and −0.0252 ± 0.0304 (df 24).
#[test]
fn means_over_tasks() {
    let (a1, b1, a2, b2) = (columns(&BASE), columns(&OTHER), columns(&GRADED), columns(&OTHER_GRADED));
    let plan = by_mean();
    let sides = [
        of_task("a", "x", &a1, &plan),
        of_task("b", "x", &b1, &plan),
        of_task("a", "y", &a2, &plan),
        of_task("b", "y", &b2, &plan),
    ];
    let report = compare(&sides, &ComparisonOptions::default()).unwrap();
    let tasks: Vec<_> = report.comparisons.iter().map(|one| one.task.as_deref()).collect();
    assert_eq!(tasks, [Some("x"), Some("y"), None]);
    assert_eq!(report.sides, ["a", "b"]);
    let average: &Comparison = &report.comparisons[2];
    close(average.difference.number().unwrap(), (1.0 / 6.0 - 0.0252) / 2.0);
    let (v1, v2) = (1.0_f64 / 36.0, 0.030414470240331327_f64.powi(2));
    let error = average.difference.error.as_ref().unwrap();
    close(error.se, (v1 + v2).sqrt() / 2.0);
    close(error.df, (v1 + v2).powi(2) / (v1 * v1 / 11.0 + v2 * v2 / 24.0));
    assert_eq!((average.n, average.test.as_ref().unwrap().method), (37, TestMethod::T));
    close(average.base_estimate.number().unwrap(), (8.0 / 12.0 + 12.46 / 25.0) / 2.0);
}

#[test]
fn rankings_over_tasks() {
    let plan = by_accuracy();
    let all = [share(90, 100, 10), share(60, 100, 12), share(20, 100, 13)];
    let names = ["a", "b", "c"];
    let sides: Vec<ComparedScores<'_>> = ["x", "y"]
        .into_iter()
        .flat_map(|task| names.iter().zip(&all).map(move |(name, columns)| (task, *name, columns)))
        .map(|(task, name, columns)| of_task(name, task, columns, &plan))
        .collect();
    let report = compare(&sides, &ComparisonOptions::default()).unwrap();
    let tasks: Vec<_> = report.rankings.iter().map(|one| one.task.as_deref()).collect();
    assert_eq!(tasks, [Some("x"), Some("y"), None]);
    let mean = &report.rankings[2];
    assert_eq!(mean.n, 200);
    let ranks: Vec<_> = mean.ranks.iter().map(|rank| (rank.side.as_str(), rank.interval)).collect();
    assert_eq!(ranks, [("a", (1, 1)), ("b", (2, 2)), ("c", (3, 3))]);
}

/// Two means of one name were two rankings of one name.
#[test]
fn rankings_of_one_metric_with_other_arguments() {
    let spec = r#"mean(to_float=value_to_float(correct="yes"))"#;
    let other_mean = Registry::built_in().metric(&spec.parse().unwrap()).unwrap();
    let plan = Plan::new().metrics(metrics![mean(), other_mean]);
    let (a, b, c) = (columns(&BASE), columns(&OTHER), columns(&[0.5; 12]));
    let sides = [side("a", &a, &plan), side("b", &b, &plan), side("c", &c, &plan)];
    let report = compare(&sides, &ComparisonOptions::default()).unwrap();
    let ranked: Vec<&str> = report.rankings.iter().map(|ranking| ranking.metric.as_str()).collect();
    let compared: Vec<&str> = report.comparisons[..2].iter().map(|one| one.metric.as_str()).collect();
    assert_eq!(ranked.len(), 2);
    assert_eq!(ranked, compared);
    assert_ne!(ranked[0], ranked[1]);
}

/// Every pair of the sides is tested for a ranking, which takes the square of their number.
#[test]
fn many_sides_are_not_ranked() {
    let plan = by_accuracy();
    let names: Vec<String> = (0..201).map(|side| side.to_string()).collect();
    let all: Vec<ScoreColumns> = (0..201).map(|side| share(side % 3, 3, 5)).collect();
    let sides = |count: usize| -> Vec<ComparedScores<'_>> {
        names.iter().zip(&all).take(count).map(|(name, columns)| side(name, columns, &plan)).collect()
    };
    let mut options = ComparisonOptions::default();
    let report = compare(&sides(201), &options).unwrap();
    assert_eq!((report.comparisons.len(), report.rankings.len()), (200, 0));
    let text = "the 201 sides are not ranked: a ranking takes a test of every pair, and there is none of more than 200";
    assert_eq!(report.warnings, [ComparisonWarning::other(text)]);
    options.all_pairs = true;
    let found = compare(&sides(201), &options);
    let expected = ComparisonError::too_many_sides(201, 200);
    assert!(matches!(found, Err(errorbar_inference::Error::Comparison(error)) if error == expected));
    options.all_pairs = false;
    assert_eq!(compare(&sides(200), &options).unwrap().rankings[0].ranks.len(), 200);
}

/// Of unpaired sides, too: the variances of all four means add up.
#[test]
fn unpaired_means_over_tasks() {
    let (a1, b1, a2, b2) = (columns(&BASE), columns(&OTHER), columns(&GRADED), columns(&OTHER_GRADED));
    let plan = by_mean();
    let sides = [
        of_task("a", "x", &a1, &plan),
        of_task("b", "x", &b1, &plan),
        of_task("a", "y", &a2, &plan),
        of_task("b", "y", &b2, &plan),
    ];
    let mut options = ComparisonOptions::default();
    options.unpaired = true;
    let report = compare(&sides, &options).unwrap();
    let [x, y, average] = report.comparisons.as_slice() else { panic!("{:?}", report.comparisons) };
    close(average.difference.number().unwrap(), (1.0 / 6.0 - 0.0252) / 2.0);
    let se = |one: &Comparison| one.difference.stderr().unwrap();
    close(se(average), se(x).hypot(se(y)) / 2.0);
    assert!(!average.is_paired && average.variance_removed.is_err() && average.wins.is_none());
}
