//! Sides that cannot be compared.

use std::sync::Arc;

use errorbar_core::metrics::{accuracy, mean, stderr};
use errorbar_core::reducers::{at_least, majority, max, mean as mean_of_epochs, median, mode};
use errorbar_core::{Error, ErrorPlan, Plan, Reducer, Reducers, Score, ScoreColumns, metrics};
use errorbar_inference::{
    ComparedScores, ComparisonError, ComparisonErrorKind as Kind, ComparisonOptions, ComparisonWarning,
    compare,
};
use errorbar_test_support::assert_matches;

use super::{BASE, OTHER, by_accuracy, by_mean, columns, side};

fn error(sides: &[ComparedScores<'_>]) -> ComparisonError {
    match compare(sides, &ComparisonOptions::default()) {
        Err(errorbar_inference::Error::Comparison(error)) => error,
        other => panic!("{other:?}"),
    }
}

fn of_ids(prefix: &str, scorer: &str, scores: &[f64]) -> ScoreColumns {
    let mut columns = ScoreColumns::new([scorer]);
    for (id, score) in scores.iter().enumerate() {
        columns.push(format!("{prefix}{id}"), 1).score(scorer, Score::new(*score)).unwrap();
    }
    columns
}

#[test]
fn one_side() {
    let (columns, plan) = (columns(&BASE), by_accuracy());
    assert_eq!(error(&[]).kind, Kind::OneSide);
    let found = error(&[side("a", &columns, &plan)]);
    assert_eq!(
        (found.to_string().as_str(), found.kind),
        ("there is nothing to compare a with", Kind::OneSide)
    );
}

#[test]
fn a_side_and_itself() {
    let (one, two, plan) = (columns(&BASE), columns(&OTHER), by_accuracy());
    let same = error(&[side("a", &one, &plan), side("b", &one, &plan)]);
    assert_eq!((same.to_string().as_str(), same.kind), ("a and b are the same scores", Kind::OneSide));
    let same = error(&[side("a", &one, &plan), side("a", &two, &plan)]);
    assert_eq!((same.to_string().as_str(), same.kind), ("two sides are called a", Kind::SameName));
}

#[test]
fn no_common_sample() {
    let (one, two, plan) = (of_ids("q", "s", &BASE), of_ids("r", "s", &OTHER), by_accuracy());
    let found = error(&[side("a", &one, &plan), side("b", &two, &plan)]);
    assert_eq!(
        found.to_string(),
        "a and b have no sample in common: a has 12 samples such as \"q0\", b 12 such as \"r0\""
    );
    assert_eq!(found.kind, Kind::NoCommonSample(["q0", "r0"].map(str::to_owned)));
}

#[test]
fn one_sample() {
    let (one, two, plan) = (columns(&[1.0]), columns(&[0.0]), by_accuracy());
    let found = error(&[side("a", &one, &plan), side("b", &two, &plan)]);
    assert_eq!(found.kind, Kind::TooFewPairs);
    let text = "a and b have one sample with a score on both sides; a comparison takes two";
    assert_eq!(found.to_string(), text);
    let mut unscored = columns(&[]);
    for id in 0..12 {
        unscored.push(format!("q{id}"), 1).score("s", Score::unscored("refusal")).unwrap();
    }
    let found = error(&[side("a", &columns(&BASE), &plan), side("b", &unscored, &plan)]);
    assert_eq!(found.kind, Kind::TooFewPairs);
    assert_eq!(found.to_string(), text.replace("one", "no"));
}

#[test]
fn other_scorers_and_metrics() {
    let (one, two) = (of_ids("q", "match", &BASE), of_ids("q", "judge", &OTHER));
    let plan = by_accuracy();
    let found = error(&[side("a", &one, &plan), side("b", &two, &plan)]);
    assert_eq!(found.kind, Kind::NoCommonScorer);
    assert_eq!(found.to_string(), "a and b have no scorer in common: a has scores by match, b by judge");
    // Plans that are about one scorer each compare these two.
    let mut plans = [Plan::new().metrics(metrics![accuracy()]), Plan::new().metrics(metrics![accuracy()])];
    plans[0].only = vec!["match".to_owned()];
    plans[1].only = vec!["judge".to_owned()];
    let sides = [side("match", &one, &plans[0]), side("judge", &two, &plans[1])];
    let report = compare(&sides, &ComparisonOptions::default()).unwrap();
    assert_eq!(report.comparisons[0].wins, Some(3));
    // Two scorers of the same columns.
    let mut both = ScoreColumns::new(["match", "judge"]);
    for (id, (one, two)) in BASE.iter().zip(OTHER).enumerate() {
        let row = both.push(format!("q{id}"), 1).score("match", Score::new(*one)).unwrap();
        row.score("judge", Score::new(two)).unwrap();
    }
    let sides = [side("match", &both, &plans[0]), side("judge", &both, &plans[1])];
    let report = compare(&sides, &ComparisonOptions::default()).unwrap();
    assert_eq!((report.comparisons.len(), report.comparisons[0].wins), (1, Some(3)));

    let (by_mean, columns) = (Plan::new().metrics(metrics![mean(), stderr()]), columns(&OTHER));
    let base = super::columns(&BASE);
    let found = error(&[side("a", &base, &plan), side("b", &columns, &by_mean)]);
    assert_matches!(found.kind, Kind::NoCommonMetric { .. });
    assert!(found.to_string().ends_with(": a has accuracy, b mean, stderr"), "{found}");
}

/// A key that no sample has is a mistake; for pairs one side is enough.
#[test]
fn an_unknown_cluster_key() {
    let plan = by_accuracy().errors(ErrorPlan::new().cluster("passage"));
    let other_key = |scores: &[f64], key: &str| {
        let mut columns = ScoreColumns::new(["s"]);
        for (id, score) in scores.iter().enumerate() {
            let row = columns.push(format!("q{id}"), 1).metadata(key, id as u32 / 2);
            row.score("s", Score::new(*score)).unwrap();
        }
        columns
    };
    let (base, other) = (other_key(&BASE, "topic"), other_key(&OTHER, "topic"));
    let sides = [side("a", &base, &plan), side("b", &other, &plan)];
    let mut options = ComparisonOptions::default();
    let Err(errorbar_inference::Error::Core(Error::MissingKey { key, sample, known, .. })) =
        compare(&sides, &options)
    else {
        panic!()
    };
    assert_eq!((key.as_str(), sample.as_str(), known), ("passage", "q0", vec!["topic".to_owned()]));
    let with_key = other_key(&OTHER, "passage");
    let sides = [side("a", &base, &plan), side("b", &with_key, &plan)];
    assert!(compare(&sides, &options).unwrap().comparisons[0].difference.interval.is_ok());
    options.unpaired = true;
    assert!(matches!(
        compare(&sides, &options),
        Err(errorbar_inference::Error::Core(Error::MissingKey { .. }))
    ));
}

/// The largest of four epochs is not comparable with the largest of one.
#[test]
fn unequal_epochs() {
    let mut four = ScoreColumns::new(["s"]);
    for row in 0..48 {
        four.push(format!("q{}", row / 4), row % 4 + 1).score("s", Score::new(f64::from(row % 2))).unwrap();
    }
    let one = columns(&BASE);
    let reduced = |reducer: Arc<dyn Reducer>| by_accuracy().reducers(Reducers::explicit(vec![reducer]));
    let reducers: [(Arc<dyn Reducer>, &str); 5] = [
        (Arc::new(max()), "max"),
        (Arc::new(at_least(1)), "at_least_1"),
        (Arc::new(median()), "median"),
        (Arc::new(mode()), "mode"),
        (Arc::new(majority()), "majority"),
    ];
    for (reducer, name) in reducers {
        let plan = reduced(reducer);
        let found = error(&[side("a", &one, &plan), side("b", &four, &plan)]);
        assert_eq!(found.kind, Kind::UnequalEpochs);
        let text = format!(
            "the numbers of epochs differ (a: 1, b: 4), and what {name} gives depends on that number"
        );
        assert_eq!(found.to_string(), text);
    }
    let plan = reduced(Arc::new(mean_of_epochs()));
    let sides = [side("a", &one, &plan), side("b", &four, &plan)];
    let report = compare(&sides, &ComparisonOptions::default()).unwrap();
    assert_eq!((report.warnings.len(), report.comparisons[0].reducer.as_deref()), (1, Some("mean")));
}

/// Scores of samples with a group and so many epochs of each, every other one right.
fn with_epochs(samples: impl Iterator<Item = (&'static str, u32)>) -> ScoreColumns {
    let mut columns = ScoreColumns::new(["s"]);
    for (id, (group, epochs)) in samples.enumerate() {
        for epoch in 1..=epochs {
            let score = Score::new(f64::from((epoch + id as u32) % 2));
            columns.push(format!("q{id}"), epoch).metadata("g", group).score("s", score).unwrap();
        }
    }
    columns
}

/// The sides have as many epochs at most, but not of the same samples.
#[test]
fn unequal_epochs_of_the_same_samples() {
    let by_half = |even: u32, odd: u32| {
        let sample = move |at: u32| if at.is_multiple_of(2) { ("even", even) } else { ("odd", odd) };
        with_epochs((0..40).map(sample))
    };
    let (base, other) = (by_half(5, 1), by_half(1, 5));
    let plan = by_accuracy().reducers(Reducers::explicit(vec![Arc::new(max())]));
    let sides = [side("a", &base, &plan), side("b", &other, &plan)];
    let found = error(&sides);
    assert_eq!(
        found.to_string(),
        "40 of 40 samples have different numbers of scored epochs (sample \"q0\": a 5, b 1), and what max gives depends on \
         that number"
    );
    // As many on average without pairs, but not in groups.
    let mut options = ComparisonOptions::default();
    options.unpaired = true;
    assert!(compare(&sides, &options).is_ok());
    options.by = Some("g".to_owned());
    let Err(errorbar_inference::Error::Comparison(found)) = compare(&sides, &options) else { panic!() };
    assert_eq!(
        found.to_string(),
        "samples with `g` even have 5.0 scored epochs in a and 1.0 in b on average, and what max gives depends on that \
         number"
    );
    let plan = by_accuracy().reducers(Reducers::explicit(vec![Arc::new(mean_of_epochs())]));
    let sides = [side("a", &base, &plan), side("b", &other, &plan)];
    assert!(compare(&sides, &ComparisonOptions::default()).is_ok(), "a mean does not depend on their number");
}

/// A small group can have other epochs while most samples do not.
#[test]
fn unequal_epochs_of_a_group() {
    let with_rare =
        |rare: u32| with_epochs((0..100).map(move |at| if at < 4 { ("rare", rare) } else { ("common", 5) }));
    let (base, other) = (with_rare(5), with_rare(1));
    let plan = by_accuracy().reducers(Reducers::explicit(vec![Arc::new(max())]));
    let sides = [side("a", &base, &plan), side("b", &other, &plan)];
    let report = compare(&sides, &ComparisonOptions::default()).unwrap();
    let warning = ComparisonWarning::other(
        "4 of 100 samples have different numbers of scored epochs in a and b, and what max gives depends on that number",
    );
    assert_eq!(report.warnings, [warning]);
    let mut options = ComparisonOptions::default();
    options.by = Some("g".to_owned());
    let found = compare(&sides, &options).unwrap_err().to_string();
    assert!(
        found.starts_with("4 of 4 samples with `g` rare have different numbers of scored epochs"),
        "{found}"
    );
}

/// The mean that one plan names is the one that the other implies.
#[test]
fn reducers_that_are_the_same_are_paired() {
    let registry = errorbar_core::Registry::built_in();
    let under = |names: &[&str]| {
        let built = names.iter().map(|name| registry.reducer(&name.parse().unwrap()).unwrap());
        by_accuracy().reducers(Reducers::explicit(built.collect()))
    };
    let (one, two, implied) = (columns(&BASE), columns(&OTHER), by_accuracy());
    for named in [under(&["mean"]), under(&["max", "mean"])] {
        for sides in [[(&one, &named), (&two, &implied)], [(&one, &implied), (&two, &named)]] {
            let [base, other] = sides;
            let report =
                compare(&[side("a", base.0, base.1), side("b", other.0, other.1)], &Default::default());
            let report = report.unwrap();
            assert_eq!((report.comparisons.len(), report.comparisons[0].wins), (1, Some(3)));
            // The same of figures that are recorded.
            let recorded = base.1.evaluate(base.0).unwrap().results;
            let sides = [side("a", base.0, base.1).recorded(Some(&recorded)), side("b", other.0, other.1)];
            assert_eq!(compare(&sides, &Default::default()).unwrap().comparisons.len(), 1);
        }
    }
    let (modes, most) = (under(&["mode", "median"]), under(&["max"]));
    let found = error(&[side("a", &one, &modes), side("b", &two, &most)]);
    let text = "a and b have no metric in common that can be compared: a has accuracy (mode), accuracy (median), b \
                accuracy (max)";
    assert_eq!(found.to_string(), text);
    assert_eq!(found.kind, Kind::NoCommonMetric { is_of_reducers: true, is_recorded: false });
    let recorded = most.evaluate(&two).unwrap().results;
    let found = error(&[side("a", &one, &implied), side("b", &two, &most).recorded(Some(&recorded))]);
    assert_eq!(found.kind, Kind::NoCommonMetric { is_of_reducers: true, is_recorded: true });
    assert!(found.to_string().ends_with("b accuracy (max)"), "{found}");
    let found = error(&[side("a", &one, &implied), side("b", &two, &by_mean())]);
    assert_matches!(found.kind, Kind::NoCommonMetric { is_of_reducers: false, .. });
}
