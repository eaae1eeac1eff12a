//! Reducers.

use crate::projected::edges_support::*;

#[test]
fn ties_go_to_the_first_however_many_values_there_are() {
    let mode = |values: &[i64]| {
        let scores: Vec<Score> = values.iter().map(|v| Score::new(*v)).collect();
        reducers::mode().reduce(&scores).unwrap().value
    };
    assert_eq!(mode(&[1, 2, 3, 4, 5, 6, 6, 5]), Value::Int(5));
    assert_eq!(mode(&[1, 2, 3, 4, 5, 5, 1]), Value::Int(1));
    let max = |values: [Value; 2]| reducers::max().reduce(&values.map(Score::new)).unwrap().value;
    assert_eq!(max([true.into(), 1.into()]), Value::Bool(true));
}

#[test]
fn the_first_epoch_gives_the_metadata_even_if_it_has_none() {
    let epochs = [Score::new(1), Score::new(1).metadata("k", 1)];
    assert_eq!(reducers::mean().reduce(&epochs).unwrap().metadata, None);
    let mut columns = ScoreColumns::new(["s"]);
    for (epoch, score) in (1..).zip(epochs) {
        columns.push("a", epoch).score("s", score).unwrap();
    }
    let results = reduced(&columns, metrics![mean()]);
    assert_eq!(results.reductions[0].iter(&columns).next().unwrap().1.metadata, None);
}

#[test]
fn a_custom_reducer_sees_whole_scores() {
    let mut columns = ScoreColumns::new(["s"]);
    columns.push("a", 1).score("s", Score::new(0).answer("short")).unwrap();
    columns.push("a", 2).score("s", Score::new(1).answer("much longer")).unwrap();
    let longest = reducer_fn("longest", |scores: &[Score]| {
        let longest = scores.iter().max_by_key(|s| s.answer.as_ref().map_or(0, String::len));
        Ok(longest.cloned().unwrap_or_else(|| Score::unscored("none")))
    });
    let results = by(&columns, longest, metrics![mean()]);
    assert_eq!(block(&results).metrics["mean"].value, 1.0);
    assert_eq!(block(&results).reducer.as_deref(), Some("longest"));
}

#[test]
fn many_epochs_have_a_median_too() {
    let scores = |n: i32| (0..n).map(Score::new).collect::<Vec<_>>();
    assert_eq!(reducers::median().reduce(&scores(17)).unwrap().value, Value::Float(8.0));
    assert_eq!(reducers::median().reduce(&scores(18)).unwrap().value, Value::Float(8.5));
}

#[test]
fn k_may_equal_the_number_of_epochs() {
    let registry = Registry::built_in();
    assert!(errorbar_core::Epochs::new(2, "pass_at_2").reducers(&registry).is_ok());
    assert!(errorbar_core::Epochs::new(2, "at_least_2(0.5)").reducers(&registry).is_ok());
    let reducer = registry.reducer(&"at_least_2(0.5)".parse().unwrap()).unwrap();
    assert_eq!(reducer.log_name(), "at_least(k=2, value=0.5)");
}

#[test]
fn an_empty_list_of_reducers_disables_reduction() {
    assert!(matches!(Reducers::explicit(Vec::new()), Reducers::Disabled));
}
