//! Samples without a partner or without a score.

use errorbar_core::{Score, ScoreColumns};
use errorbar_inference::{ComparisonOptions, ComparisonWarning};

use super::{by_accuracy, by_mean, close, columns, only, report};

/// Scores of samples; none where one is unscored.
fn with_gaps(scores: &[(&str, Option<f64>)]) -> ScoreColumns {
    let mut columns = ScoreColumns::new(["s"]);
    for (id, score) in scores {
        let score = score.map_or_else(|| Score::unscored("refusal"), Score::new);
        columns.push(*id, 1).score("s", score).unwrap();
    }
    columns
}

#[test]
fn unmatched_samples_are_counted() {
    let base = with_gaps(&[("x", Some(1.0)), ("a", Some(1.0)), ("b", Some(0.0)), ("c", Some(1.0))]);
    let other =
        with_gaps(&[("a", Some(0.0)), ("b", Some(0.0)), ("c", Some(1.0)), ("y", None), ("z", Some(1.0))]);
    let report = report(&base, &other, &by_accuracy(), &ComparisonOptions::default());
    let comparison = &report.comparisons[0];
    assert_eq!((comparison.n, comparison.only_base, comparison.only_other), (3, 1, 2));
    close(comparison.difference.number().unwrap(), -1.0 / 3.0);
    assert_eq!((comparison.difference.absent, comparison.difference.bounds), (0, None));
    // The figures are those of the samples that are compared.
    close(comparison.base_estimate.number().unwrap(), 2.0 / 3.0);
    let unmatched = ComparisonWarning::Unmatched {
        base: "a".to_owned(),
        other: "b".to_owned(),
        text: "1 sample of a and 2 of b have no partner and are left out".to_owned(),
    };
    assert_eq!(report.warnings, [unmatched]);
}

#[test]
fn absent_scores_enter_as_bounds() {
    let base = with_gaps(&[("a", Some(1.0)), ("b", Some(0.0)), ("c", None), ("d", Some(1.0)), ("e", None)]);
    let other = with_gaps(&[("a", Some(1.0)), ("b", Some(1.0)), ("c", Some(1.0)), ("d", None), ("e", None)]);
    let comparison = only(&base, &other, &by_accuracy());
    assert_eq!((comparison.n, comparison.difference.absent), (2, 3));
    close(comparison.difference.number().unwrap(), 0.5);
    // Of a, b, c, d, e the differences are 0, 1, 0 to 1, −1 to 0, −1 to 1; if absent is wrong 0, 1, 1, −1, 0.
    let bounds = comparison.difference.bounds.unwrap();
    close(bounds.worst, -0.2);
    close(bounds.best, 0.6);
    close(bounds.absent_as_wrong, 0.2);
    assert_eq!((comparison.base_estimate.absent, comparison.other_estimate.absent), (2, 2));
}

/// Epochs without a score: with one of two absent, a half may be anything from ¼ on.
#[test]
fn absent_epochs_enter_as_bounds() {
    let mut base = ScoreColumns::new(["s"]);
    for (id, epoch, score) in [("a", 1, Some(1.0)), ("a", 2, None), ("b", 1, Some(0.0)), ("b", 2, Some(0.0))]
    {
        let score = score.map_or_else(|| Score::unscored("refusal"), Score::new);
        base.push(id, epoch).score("s", score).unwrap();
    }
    let mut other = ScoreColumns::new(["s"]);
    for (id, epoch) in [("a", 1), ("a", 2), ("b", 1), ("b", 2)] {
        other.push(id, epoch).score("s", Score::new(1.0)).unwrap();
    }
    let comparison = only(&base, &other, &by_mean());
    // a: 1 − 1, or 1 − ½ if the absent epoch is wrong; b: 1.
    close(comparison.difference.number().unwrap(), 0.5);
    let bounds = comparison.difference.bounds.unwrap();
    close(bounds.worst, 0.5);
    close(bounds.best, 0.75);
    close(bounds.absent_as_wrong, 0.75);
    assert_eq!(comparison.difference.notes.partly_absent, Some(1));
}

/// Without a range there are no bounds.
#[test]
fn unknown_ranges_have_no_bounds() {
    let base = with_gaps(&[("q0", Some(3.0)), ("q1", Some(5.0)), ("q2", None)]);
    let comparison = only(&base, &columns(&[4.0, 5.0, 6.0]), &by_mean());
    assert_eq!((comparison.difference.absent, comparison.difference.bounds), (1, None));
}

/// Of 1, 0 and an absent score the mean is 1/3 to 2/3; of 1, 1 and two absent ones 1/2 to 1.
#[test]
fn bounds_of_unpaired_sides_are_the_farthest_apart() {
    let base = with_gaps(&[("a", Some(1.0)), ("b", Some(0.0)), ("c", None)]);
    let other = with_gaps(&[("p", Some(1.0)), ("q", Some(1.0)), ("r", None), ("s", None)]);
    let mut options = ComparisonOptions::default();
    options.unpaired = true;
    let report = report(&base, &other, &by_accuracy(), &options);
    let bounds = report.comparisons[0].difference.bounds.unwrap();
    close(bounds.worst, 0.5 - 2.0 / 3.0);
    close(bounds.best, 1.0 - 1.0 / 3.0);
    close(bounds.absent_as_wrong, 0.5 - 1.0 / 3.0);
}
