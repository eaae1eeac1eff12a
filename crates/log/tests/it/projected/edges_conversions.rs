//! Which number a value is read as, and what is reported of those that are none.

use errorbar_core::ToSpec;

use crate::projected::edges_support::*;

#[test]
fn each_metric_reads_by_its_own_conversion() {
    let columns = simple([("a", "x"), ("b", "y"), ("c", "y"), ("d", "z")]);
    let grade = |grade: &str| mean().to_float(value_to_float().correct(grade));
    let is = |wanted: &'static str| {
        mean().to_float(Conversion::from_fn("is", move |v| Some(f64::from(v.as_text().ok()? == wanted))))
    };
    let results = unreduced(&columns, metrics![grade("x"), grade("y"), is("x"), is("y")]);
    let values: Vec<f64> = block(&results).metrics.values().map(|entry| entry.value).collect();
    assert_eq!(values, [0.25, 0.5, 0.25, 0.5]);
}

#[test]
fn a_number_may_be_a_grade_of_reduced_scores_too() {
    let graded = || metrics![mean().to_float(value_to_float().partial(7).noanswer(9))];
    for rows in
        [vec![("a", 7.0), ("b", 9.0), ("c", 4.0)], vec![("a", 7.0), ("b", 9.0), ("u", f64::NAN), ("c", 4.0)]]
    {
        for results in [reduced(&simple(rows.clone()), graded()), unreduced(&simple(rows), graded())] {
            assert_eq!(block(&results).metrics["mean"].value, 1.5, "(1/2 + 0 + 4)/3");
        }
    }
}

#[test]
fn a_conversion_of_ones_own_leaves_unscored_alone_and_counts_what_it_cannot_read() {
    let rows =
        [("a", Value::from("one")), ("u", Value::Unscored), ("b", Value::from(2)), ("c", Value::from("x"))];
    let own = || Conversion::from_fn("own", |v| (v.as_text().ok()? == "one").then_some(1.0));
    let results = by(&simple(rows), reducers::mean().value_to_float(own()), metrics![mean()]);
    let block = block(&results);
    assert_eq!((block.scored_samples, block.unscored_samples), (3, 1));
    assert_eq!(block.metrics["mean"].value, 1.0 / 3.0);
    assert_eq!(unconvertible(&results), (2, "b".to_owned()));
}

#[test]
fn warnings_name_the_first_value_and_count_all() {
    let once = simple([("u", Value::Unscored), ("a", "C".into()), ("b", "what".into()), ("c", "who".into())]);
    let found = unconvertible(&unreduced(&once, metrics![accuracy()]));
    assert_eq!(found, (2, "b".to_owned()));
    // Epochs: the row is not the sample.
    let rows = [("a", 1, "C"), ("a", 2, "C"), ("b", 1, "what"), ("b", 2, "C")];
    let epochs = columns(rows.map(|(id, epoch, value)| (id, epoch, Some(value), json!("x"))));
    let found = unconvertible(&by(&epochs, reducers::mode(), metrics![accuracy()]));
    assert_eq!(found, (1, "b".to_owned()));
}

#[test]
fn nulls_inside_maps_are_counted_as_unconvertible() {
    let columns = scored([
        ("a", Score::new(Value::map([("k", Leaf::Int(1))]))),
        ("b", Score::new(Value::map([("k", Leaf::Null)]))),
    ]);
    let results = unreduced(&columns, by_key([("k", vec![Arc::new(mean())])]));
    assert_eq!(block(&results).metrics["mean"].value, 0.5);
    assert_eq!(unconvertible(&results), (1, "b".to_owned()));
    let results = reduced(&columns, by_key([("k", vec![Arc::new(mean())])]));
    assert_eq!(unconvertible(&results), (1, "b".to_owned()));
}

#[test]
fn epochs_of_maps_add_up_what_is_not_convertible() {
    let map = |a: &str, b: &str| Value::map([("a", a), ("b", b)]);
    let columns = all_scored([
        ("fine", 1, map("C", "C")),
        ("q", 1, map("x", "y")),
        ("r", 1, map("C", "z")),
        ("q", 2, map("C", "C")),
    ]);
    let (count, sample) = unconvertible(&reduced(&columns, by_key([("a", vec![Arc::new(mean())])])));
    assert_eq!((count, sample.as_str()), (3, "q"));
}

#[test]
fn conversions_are_recorded_and_equal_only_to_themselves() {
    let one = Conversion::from_fn("f", |_| Some(1.0));
    let other = Conversion::from_fn("f", |_| Some(1.0));
    assert!(one == one.clone() && one != other && one != Conversion::default());
    let reducer = reducers::at_least(2).value_to_float(value_to_float().correct("yes"));
    assert_eq!(reducer.log_name(), r#"at_least(k=2, value_to_float=value_to_float(correct="yes"))"#);
    assert_eq!(reducer.spec().to_string(), reducer.log_name());
    let spec = reducers::mean().value_to_float(value_to_float().noanswer("-")).spec().to_string();
    assert_eq!(spec, r#"mean(value_to_float=value_to_float(noanswer="-"))"#);
    assert_eq!(reducers::mean().spec().to_string(), "mean");
}

#[test]
fn all_four_grades_go_through_a_spec() {
    let spec = "value_to_float(correct=1.5, incorrect='b', partial='c', noanswer='d')".parse().unwrap();
    let grades = Registry::built_in().conversion(&spec).unwrap();
    let read = |value: Value| grades.convert(value.view()).value;
    assert_eq!([1.5.into(), "c".into(), "C".into()].map(read), [1.0, 0.5, 0.0]);
    let known = |value: &str| grades.convert(Value::from(value).view()).convertible;
    assert_eq!(["b", "c", "d", "I", "P", "N"].map(known), [true, true, true, false, false, false]);
    // The first grade that fits decides.
    let same = value_to_float().correct("x").partial("x").incorrect("x");
    assert_eq!(same.convert(Value::from("x").view()).value, 1.0);
    let lower = value_to_float().partial("x").incorrect("x");
    assert_eq!(lower.convert(Value::from("x").view()).value, 0.5);
}

#[test]
fn values_compare_exactly() {
    assert!(LeafRef::Null.equals(LeafRef::Null));
    assert!(!LeafRef::Int(i64::MAX).equals(LeafRef::Float(2f64.powi(63))));
    assert!(LeafRef::Int(i64::MIN).equals(LeafRef::Float(-(2f64.powi(63)))));
    assert!(LeafRef::Float(2.0).equals(LeafRef::Int(2)) && LeafRef::Int(2).equals(LeafRef::Float(2.0)));
    assert!(!LeafRef::Float((1u64 << 53) as f64).equals(LeafRef::Int((1 << 53) + 1)));
    let rows = [("q", 1, i64::MAX.into()), ("q", 2, 2f64.powi(63).into()), ("q", 3, 2f64.powi(63).into())];
    let columns = all_scored(rows);
    let results = by(&columns, reducers::mode(), metrics![mean()]);
    let (_, score) = results.reductions[0].iter(&columns).next().unwrap();
    assert_eq!(score.value, Value::Float(2f64.powi(63)), "2^63 twice, 2^63 - 1 once");
}

#[test]
fn accessors_at_their_limits() {
    assert!(Value::from(2f64.powi(63)).as_i64().is_err());
    assert_eq!(Value::from(-(2f64.powi(63))).as_i64().unwrap(), i64::MIN);
    assert_eq!(Value::from(" 5 ").as_i64().unwrap(), 5);
    assert!(!Value::from("No").as_bool().unwrap() && !Value::from("false").as_bool().unwrap());
    for error in [Value::Unscored.as_text().map(drop), Value::Unscored.as_bool().map(drop)] {
        assert_matches!(error.unwrap_err(), Error::Custom(text) if text.ends_with("found unscored"));
    }
    // Digits end at nine, in every script.
    assert!(!value_to_float().convert(Value::from("1\u{66a}").view()).convertible);
    assert_eq!(Value::from("1\u{669}").to_f64(), 19.0);
    let long = Value::from("x".repeat(10_000)).as_f64().unwrap_err().to_string();
    assert!(long.len() < 200 && long.contains('…'), "{long}");
    let many = Value::map((0..500).map(|at| (at.to_string(), 1))).as_f64().unwrap_err().to_string();
    assert!(many.len() < 200 && many.contains("0, 1, 2, 3, …"), "{many}");
}
