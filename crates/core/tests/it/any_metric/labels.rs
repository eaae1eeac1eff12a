//! Precision, recall and F1 over labels.

use errorbar_core::metrics::{Average, Prediction, bootstrap, f1_score, precision, recall};
use errorbar_core::{
    Error, ErrorMethod, ErrorPlan, IntervalMethod, Metric, Registry, Score, ScoreColumns, Undefined, Value,
};
use errorbar_test_support::assert_matches;

use super::{close, computed, estimate, plan, table};

fn labelled(truth: &str, predicted: &str) -> ScoreColumns {
    let row = |(at, (truth, predicted)): (usize, (char, char))| {
        let metadata = vec![("t", truth.to_string().into()), ("c", (at / 2).to_string().into())];
        (format!("q{at}"), 1, Value::from(predicted.to_string()), metadata)
    };
    table(truth.chars().zip(predicted.chars()).enumerate().map(row).collect())
}

/// From scikit-learn: precision_score, recall_score and f1_score of these labels.
#[test]
fn averages_over_labels() {
    let columns = labelled("aaaabbbccc", "aaabbbcccc");
    type Averaged = fn(Average) -> Box<dyn Metric>;
    let figures: [(Averaged, [f64; 3]); 3] = [
        (|average| Box::new(precision("t").average(average)), [0.8055555555555555, 0.8, 0.825]),
        (|average| Box::new(recall("t").average(average)), [0.8055555555555555, 0.8, 0.8]),
        (|average| Box::new(f1_score("t").average(average)), [0.7936507936507936, 0.8, 0.8]),
    ];
    for (metric, wanted) in figures {
        for (average, wanted) in [Average::Macro, Average::Micro, Average::Weighted].into_iter().zip(wanted) {
            let found = estimate(&columns, metric(average).as_ref(), ErrorPlan::new());
            close(found.number().unwrap(), wanted, 1e-15);
            assert!(found.error.is_ok() && found.interval.is_ok(), "{average:?} {found:?}");
        }
    }
}

#[test]
fn each_label_by_itself() {
    let columns = labelled("aaaabbbccc", "aaabbbcccc");
    let map = computed(&columns, &f1_score("t").average(Average::None), ErrorPlan::new()).unwrap();
    for (label, wanted) in [("a", 6.0 / 7.0), ("b", 2.0 / 3.0), ("c", 6.0 / 7.0)] {
        let found = map.get(label).unwrap();
        close(found.number().unwrap(), wanted, 1e-15);
        let one = estimate(&columns, &f1_score("t").label(label), ErrorPlan::new());
        assert_eq!(&one, found);
    }
    // Recall of a label is a share of the samples that have it: 3 of 4.
    let found = estimate(&columns, &recall("t").label("a"), ErrorPlan::new());
    let error = found.error.unwrap();
    assert_eq!((found.value, found.n, error.method), (Ok(0.75), 4, ErrorMethod::Iid));
    close(error.se, (0.75_f64 * 0.25 / 3.0).sqrt(), 1e-12);
    // Wilson of 3 of 4: 0.3006, 0.9544.
    let interval = found.interval.unwrap();
    assert_eq!(interval.method, IntervalMethod::Wilson);
    close(interval.lower, 0.30064, 1e-4);
    close(interval.upper, 0.95441, 1e-4);
}

#[test]
fn resampling_agrees_with_the_linearised_error() {
    let (truth, predicted) = ("aabbcabcab".repeat(12), "aabbcbcaab".repeat(12));
    let columns = labelled(&truth, &predicted);
    for errors in ["{}", r#"{"cluster": "c"}"#] {
        let delta = estimate(&columns, &f1_score("t").label("b"), plan(errors));
        let resampled = estimate(&columns, &bootstrap(f1_score("t").label("b")), plan(errors));
        close(resampled.stderr().unwrap(), delta.stderr().unwrap(), 0.06);
        assert_eq!(resampled.number(), delta.number());
    }
    let own = estimate(&columns, &precision("t"), ErrorPlan::new());
    let wrapped = estimate(&columns, &bootstrap(precision("t")), ErrorPlan::new());
    assert_eq!((own.error, own.interval), (wrapped.error, wrapped.interval));
}

#[test]
fn nothing_by_nothing_is_undefined() {
    let columns = labelled("aabb", "aaaa");
    let undefined = |metric: &dyn Metric| estimate(&columns, metric, ErrorPlan::new()).value.unwrap_err();
    let never = Undefined::Other("\"b\" is never predicted".to_owned());
    assert_eq!(undefined(&precision("t")), never);
    assert_eq!(undefined(&precision("t").label("b")), never);
    assert_matches!(undefined(&recall("t").label("z")), Undefined::Other(_));
    // A label that is never predicted right has a recall and an F1 of 0.
    assert_eq!(estimate(&columns, &recall("t").label("b"), ErrorPlan::new()).number(), Some(0.0));
    close(estimate(&columns, &f1_score("t"), ErrorPlan::new()).number().unwrap(), 1.0 / 3.0, 1e-15);
    let map = computed(&columns, &precision("t").average(Average::None), ErrorPlan::new()).unwrap();
    assert_eq!((map.get("a").unwrap().number(), map.get("b").unwrap().number()), (Some(0.5), None));
}

#[test]
fn labels_of_one_class() {
    let columns = labelled("aaaa", "aaaa");
    let found = estimate(&columns, &f1_score("t"), ErrorPlan::new());
    assert_eq!(found.number(), Some(1.0));
    assert_matches!(found.error, Err(Undefined::Other(_)));
}

#[test]
fn the_answer_may_be_the_prediction() {
    let mut columns = ScoreColumns::new(["s"]);
    for (id, answer, target) in
        [("q0", Some("cat"), "cat"), ("q1", Some("dog"), "cat"), ("q2", Some("dog"), "dog")]
    {
        let mut score = Score::new(if answer == Some(target) { "C" } else { "I" });
        score.answer = answer.map(str::to_owned);
        columns.push(id, 1).metadata("t", target).score("s", score).unwrap();
    }
    let metric = recall("t").prediction(Prediction::Answer).label("cat");
    assert_eq!(estimate(&columns, &metric, ErrorPlan::new()).number(), Some(0.5));
    columns.push("q3", 1).metadata("t", "cat").score("s", Score::new("I")).unwrap();
    let error = computed(&columns, &metric, ErrorPlan::new()).unwrap_err();
    assert_matches!(&error, Error::Undefined { problem, .. } if problem.contains("\"q3\""));
}

#[test]
fn targets_that_are_not_there() {
    let columns = labelled("ab", "aa");
    assert_matches!(
        computed(&columns, &precision("truth"), ErrorPlan::new()),
        Err(Error::UnknownRater { name, .. }) if name == "truth"
    );
    let mut partly = labelled("ab", "aa");
    partly.push("q9", 1).score("s", Score::new("a")).unwrap();
    assert_matches!(
        computed(&partly, &precision("t"), ErrorPlan::new()),
        Err(Error::Undefined { problem, .. }) if problem.contains("\"q9\"")
    );
    let both = Registry::built_in().metric(&"precision('t', label='a', average='macro')".parse().unwrap());
    assert_matches!(both.unwrap_err(), Error::Argument { argument, .. } if argument == "average");
}
