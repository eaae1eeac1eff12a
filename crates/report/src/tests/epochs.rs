//! Epochs, and what is absent.

use errorbar_core::{Bounds, Estimate, Role};

use super::fixtures::{metric, results, score, share};
use super::people::shown;
use crate::{Latex, Markdown, Render, Report, TerminalTable};

#[test]
fn absent_epochs_and_a_range_below_0_are_in_the_bounds() {
    let mut estimate = share(30, 40, 2);
    estimate.bounds = Some(Bounds::new(-0.25, 0.75, 0.25));
    assert!(
        one_line(estimate.clone()).contains("with the 2 absent: 0.25 as wrong, -0.25 at worst, 0.75 at best")
    );
    estimate.notes.partly_absent = Some(3);
    let text = one_line(estimate.clone());
    assert!(text.contains("with the 2 absent, and absent epochs of 3 samples: 0.25 as wrong"), "{text}");
    estimate.absent = 0;
    assert!(one_line(estimate.clone()).contains("with the absent epochs of 3 samples: 0.25 as wrong"));
    estimate.notes.partly_absent = None;
    assert!(!one_line(estimate).contains("as wrong"), "nothing is absent");
}

#[test]
fn a_mean_over_epochs_has_both_errors() {
    let mut estimate = share(30, 40, 0);
    estimate.notes.stderr_fixed = Some(0.0412);
    assert!(one_line(estimate.clone()).contains("± 0.041 for the same samples again"));
    estimate.notes.stderr_fixed = Some(0.0);
    assert!(!one_line(estimate).contains("again"), "no spread is no error of 0");
}

/// As [`shown`], with the lines of a note joined.
fn one_line(estimate: Estimate) -> String {
    shown(estimate).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn unequal_epochs_are_in_the_title() {
    let mut score = score("choice", 5, vec![metric("accuracy", Role::Location, share(3, 5, 0))]);
    (score.counts.epochs, score.counts.samples_by_epochs) = (4, vec![(2, 3), (4, 2)]);
    let text = TerminalTable::default().to_text(&[Report::new("t.csv", results(vec![score.clone()]))]);
    assert!(text.contains("choice · mean of 2 to 4 epochs (3 samples × 2, 2 × 4) · 5 scored"), "{text}");
    score.counts.unscored_epochs = 6;
    let text = TerminalTable::default().to_text(&[Report::new("t.csv", results(vec![score]))]);
    assert!(text.contains("epochs (3 samples × 2, 2 × 4; 6 epoch scores unscored)"), "{text}");
}

/// Labels name what differs; a reducer that all scorers share was nowhere.
#[test]
fn the_reducer_that_all_scorers_share_is_in_the_title() {
    let scorers = |reducers: [Option<&str>; 2]| {
        let scored = |(scorer, reducer): (&str, Option<&str>)| {
            let mut score = score(scorer, 30, vec![metric("accuracy", Role::Location, share(24, 30, 0))]);
            (score.reducer, score.counts.epochs) = (reducer.map(str::to_owned), 4);
            score
        };
        [Report::new("t.csv", results(["match", "includes"].into_iter().zip(reducers).map(scored).collect()))]
    };
    let table = |reducers| TerminalTable::default().to_text(&scorers(reducers));
    let text = table([Some("pass_at_2"); 2]);
    assert!(text.contains("accuracy · reduced by pass_at_2 · 4 epochs · 30 scored\n"), "{text}");
    assert_eq!(text.matches("pass_at_2").count(), 1, "{text}");
    for text in [
        Markdown::default().to_text(&scorers([Some("pass_at_2"); 2])).replace('\\', ""),
        Latex::default().to_text(&scorers([Some("pass_at_2"); 2])).replace('\\', ""),
    ] {
        assert!(text.contains("reduced by pass_at_2"), "{text}");
    }
    let text = table([None, None]);
    assert!(text.contains("accuracy · mean of 4 epochs · 30 scored\n"), "{text}");
    let text = table([Some("pass_at_2"), None]);
    assert!(text.contains("accuracy · 4 epochs · 30 scored\n") && !text.contains("reduced by"), "{text}");
    assert!(text.contains("pass_at_2") && text.contains("mean"), "labels name them: {text}");
}
