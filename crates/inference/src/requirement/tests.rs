use super::*;
use errorbar_core::metrics::{All, accuracy, ci, frequency, grouped, mean, std, stderr};
use errorbar_core::reducers::pass_at;
use errorbar_core::spec::SpecError;
use errorbar_core::{Score, ScoreColumns, metrics};

const MISTAKES: &str = r"
^ expected the name of a metric, found the end of the input at column 1
0.8 <= accuracy
^ expected the name of a figure, found '0' at column 1 (hint: the figure comes first: accuracy >= 0.8)
accuracy
        ^ expected one of >=, <=, >, <, ==, !=, found the end of the input at column 9 (hint: a requirement compares a figure with a number: accuracy >= 0.8)
accuracy = 0.8
         ^ expected one of >=, <=, >, <, ==, !=, found '=' at column 10 (hint: equality is written ==)
accuracy ≥ 0.8
         ^ expected one of >=, <=, >, <, ==, !=, found '≥' at column 10 (hint: write >= or <=)
accuracy >= high
            ^ expected a number, found 'h' at column 13
accuracy >= 0.8 and more
                ^ expected the end of the input, found 'a' at column 17
accuracy >= 1..2
            ^ expected a number, found a range at column 13
lowr(accuracy) > 0
^ expected one of lower, upper, stderr, width, n, absent before a parenthesis, found 'lowr' at column 1 (hint: did you mean `lower`?)
match/lower(accuracy) > 0
^ expected one of lower, upper, stderr, width, n, absent before a parenthesis, found 'match/lower' at column 1 (hint: a metric is named without arguments: accuracy; a group of it is accuracy[category=law])
grouped(accuracy(), 'x') > 0
^ expected one of lower, upper, stderr, width, n, absent before a parenthesis, found 'grouped' at column 1 (hint: a metric is named without arguments: accuracy; a group of it is accuracy[category=law])
lower(accuracy()) > 0
              ^ expected ')' after the name of a metric, found '(' at column 15 (hint: a metric is named without arguments: lower(accuracy))
lower(accuracy > 0
               ^ expected ')' after the name of a metric, found '>' at column 16
lower() > 0
      ^ expected the name of a metric, found ')' at column 7
match/ accuracy > 0
      ^ expected a name after '/', found ' ' at column 7
accuracy[category=] > 0
                  ^ expected a group after '=', found ']' at column 19
accuracy[=law] > 0
         ^ expected a metadata key, found '=' at column 10
accuracy[category=law > 0
                         ^ expected ',' or ']' after a group, found the end of the input at column 26";

fn parse(text: &str) -> std::result::Result<Requirement, SpecError> {
    text.parse()
}

#[test]
fn requirements_read_back_as_they_are_written() {
    for text in [
        "accuracy >= 0.8",
        "lower(accuracy) >= 0.75",
        "upper(match/accuracy/pass_at_2) < 1",
        "stderr(accuracy) <= 0.02",
        "width(mean) < 5",
        "n(accuracy) == 200",
        "absent(accuracy) != 0",
        "accuracy[category=law] > -0.5",
        "lower(a/b[category=a b, level=\"x]y\"]) > 0",
        "frequency[C] > 0.5",
        "`pass@1`/accuracy > 0.5",
        "accuracy[\" \"=\"\"] > 0",
        "lower/accuracy > 0.1",
        "n > 3",
    ] {
        let requirement = parse(text).unwrap();
        assert_eq!(requirement.to_string(), text);
        assert_eq!(parse(&requirement.to_string()).unwrap(), requirement);
    }
    for (text, same) in [
        ("accuracy>=80%", "accuracy >= 0.8"),
        (" lower ( accuracy ) >= +7.5e-1 ", "lower(accuracy) >= 0.75"),
        ("accuracy[ category == 'law' ] > 1_000", "accuracy[category=law] > 1000"),
        ("accuracy[category=law,] > 0", "accuracy[category=law] > 0"),
    ] {
        assert_eq!(parse(text).unwrap().to_string(), same);
    }
}

/// The place, what could have stood there, and a hint if there is one.
#[test]
fn mistakes_are_pointed_at() {
    let wrong = |text: &str| {
        let error = parse(text).unwrap_err();
        assert!(error.to_string().starts_with("expected "), "{error}");
        (error.offset().unwrap(), format!("{error:#}"))
    };
    let texts = [
        "",
        "0.8 <= accuracy",
        "accuracy",
        "accuracy = 0.8",
        "accuracy ≥ 0.8",
        "accuracy >= high",
        "accuracy >= 0.8 and more",
        "accuracy >= 1..2",
        "lowr(accuracy) > 0",
        "match/lower(accuracy) > 0",
        "grouped(accuracy(), 'x') > 0",
        "lower(accuracy()) > 0",
        "lower(accuracy > 0",
        "lower() > 0",
        "match/ accuracy > 0",
        "accuracy[category=] > 0",
        "accuracy[=law] > 0",
        "accuracy[category=law > 0",
    ];
    let shown: Vec<String> = texts
        .iter()
        .map(|text| {
            let (offset, message) = wrong(text);
            format!("{text}\n{}^ {message}", " ".repeat(text[..offset].chars().count()))
        })
        .collect();
    assert_eq!(shown.join("\n"), MISTAKES);
    assert!(parse("accuracy > 0x1").unwrap_err().to_string().contains("is not a number"));
    assert!(parse("a['x > 0").unwrap_err().to_string().contains("is never closed"));
}

/// Two scorers over 8 samples of 2 categories; `b` lacks one score.
fn columns() -> ScoreColumns {
    let mut columns = ScoreColumns::new(["a", "b"]);
    for at in 0..8 {
        let category = if at < 4 { "law" } else { "art" };
        let row = columns.push(format!("q{at}"), 1).metadata("category", category);
        let row = row.score("a", Score::new(if at < 6 { "C" } else { "I" })).unwrap();
        if at > 0 {
            row.score("b", Score::new(f64::from(at))).unwrap();
        }
    }
    columns
}

fn results(plan: Plan) -> Results {
    plan.evaluate(&columns()).unwrap().results
}

#[test]
fn every_part_of_an_estimate_can_be_required() {
    let plan = Plan::new()
        .scorer(
            "a",
            metrics![accuracy(), stderr(), grouped(accuracy(), "category").all(All::Groups), frequency()],
        )
        .scorer("b", metrics![mean(), std()]);
    let results = results(plan);
    let check = |text: &str| parse(text).unwrap().check(&results).unwrap();
    let figure = |text: &str| check(&format!("{text} > 0")).figure;
    assert_eq!(figure("a/accuracy"), Ok(0.75));
    assert_eq!(figure("accuracy"), Ok(0.75));
    assert_eq!(figure("accuracy[category=law]"), Ok(1.0));
    assert_eq!(figure("a/accuracy[category=art]"), Ok(0.5));
    assert_eq!(figure("accuracy[category]"), Ok(0.75));
    assert_eq!(figure("frequency[C]"), Ok(0.75));
    assert_eq!(figure("n(mean)"), Ok(7.0));
    assert_eq!(figure("absent(b/mean)"), Ok(1.0));
    assert_eq!(figure("n(accuracy[category=law])"), Ok(4.0));
    let estimate = results.estimate("accuracy").unwrap();
    let interval = estimate.interval.clone().unwrap();
    assert_eq!(figure("lower(accuracy)"), Ok(interval.lower));
    assert_eq!(figure("upper(accuracy)"), Ok(interval.upper));
    assert_eq!(figure("width(accuracy)"), Ok(interval.upper - interval.lower));
    assert_eq!(figure("stderr(accuracy)"), Ok(estimate.stderr().unwrap()));
    // All equal: the error of 0 is no error.
    assert_eq!(figure("stderr(accuracy[category=law])"), Err(Undefined::NoSpread { n: 4 }));

    let met = |text: &str| check(text).is_met;
    assert!(met("accuracy >= 0.75") && met("accuracy <= 0.75") && met("accuracy == 75%"));
    assert!(!met("accuracy > 0.75") && !met("accuracy < 0.75") && !met("accuracy != 0.75"));
    assert!(!met("stderr(accuracy[category=law]) <= 1"));
}

#[test]
fn a_figure_that_does_not_exist_meets_nothing() {
    let mut empty = ScoreColumns::new(["a"]);
    empty.push("q", 1).score("a", Score::unscored("refusal")).unwrap();
    let results = Plan::new().metrics(metrics![accuracy()]).evaluate(&empty).unwrap().results;
    for text in ["accuracy < 2", "accuracy != 0", "lower(accuracy) < 2", "width(accuracy) < 2"] {
        let outcome = parse(text).unwrap().check(&results).unwrap();
        assert!(!outcome.is_met && outcome.figure.is_err(), "{text}");
    }
    // All equal: an interval without width, which carries no information.
    let mut equal = ScoreColumns::new(["a"]);
    for id in ["1", "2", "3"] {
        equal.push(id, 1).score("a", Score::new(7.0)).unwrap();
    }
    let equal = Plan::new().metrics(metrics![mean()]).evaluate(&equal).unwrap().results;
    for text in ["width(mean) < 1", "lower(mean) > 6", "stderr(mean) < 1"] {
        let outcome = parse(text).unwrap().check(&equal).unwrap();
        assert!(!outcome.is_met && outcome.figure.is_err(), "{text}: {:?}", outcome.figure);
    }
    assert!(parse("mean == 7").unwrap().check(&equal).unwrap().is_met);
    assert!(parse("n(accuracy) == 0").unwrap().check(&results).unwrap().is_met);

    let failed = Plan::new().scorer("a", metrics![accuracy(), grouped(mean(), "nowhere")]);
    let failed = failed.evaluate(&columns()).unwrap().results;
    let outcome = parse("grouped > 0").unwrap().check(&failed).unwrap();
    assert_eq!(outcome.figure, Err(Undefined::Other("grouped failed".to_owned())));
}

#[test]
fn names_that_are_not_there_are_errors() {
    let plan = Plan::new().metrics(metrics![accuracy(), ci(), grouped(accuracy(), "category")]);
    let results =
        results(plan.reducers(errorbar_core::Reducers::explicit(vec![std::sync::Arc::new(pass_at(1))])));
    let error = |text: &str| parse(&format!("{text} > 0")).unwrap().check(&results).unwrap_err();
    match error("accuracy") {
        Error::AmbiguousMetric { candidates, .. } => {
            assert_eq!(candidates, ["a/accuracy/pass_at_1", "b/accuracy/pass_at_1"]);
        }
        other => panic!("{other}"),
    }
    match error("a/accuracy/pass_at_1[category=lwa]") {
        Error::UnknownMetric { metric, nearest, known } => {
            assert_eq!(metric, "a/accuracy/pass_at_1[category=lwa]");
            assert_eq!(nearest.as_deref(), Some("a/accuracy/pass_at_1[category=law]"));
            assert_eq!(known.len(), 3, "{known:?}");
        }
        other => panic!("{other}"),
    }
    assert!(
        matches!(error("acuracy"), Error::UnknownMetric { nearest: Some(near), .. } if near == "accuracy")
    );
    assert!(parse("a/accuracy/pass_at_1 > 0").unwrap().check(&results).is_ok());
}

#[test]
fn a_plan_shows_which_names_there_will_be() {
    let plan = Plan::new()
        .scorer("a", metrics![accuracy(), stderr(), grouped(mean(), "category")])
        .scorer("b", metrics![{"*": [std()]}]);
    for text in ["accuracy > 0", "b/key/std > 0", "a/mean[category=unknown] > 0"] {
        assert_eq!(parse(text).unwrap().check_plan(&plan), Ok(()), "{text}");
    }
    for text in ["acc > 0", "stderr > 0", "a > 0"] {
        let error = parse(text).unwrap().check_plan(&plan).unwrap_err();
        assert!(matches!(error, Error::UnknownMetric { .. }), "{text}: {error}");
    }
    let alone = Plan::new().scorer("a", metrics![stderr()]);
    assert_eq!(parse("stderr > 0").unwrap().check_plan(&alone), Ok(()));
}

/// After a run of hours it is too late to find out.
#[test]
fn a_plan_shows_which_names_are_of_several_figures() {
    let plan = Plan::new().scorer("a", metrics![accuracy(), mean()]).scorer("b", metrics![accuracy()]);
    let check = |text: &str, plan: &Plan| parse(text).unwrap().check_plan(plan);
    match check("lower(accuracy) > 0", &plan).unwrap_err() {
        Error::AmbiguousMetric { candidates, .. } => assert_eq!(candidates, ["a/accuracy", "b/accuracy"]),
        other => panic!("{other}"),
    }
    assert_eq!(check("mean > 0", &plan), Ok(()));
    assert_eq!(check("b/accuracy > 0", &plan), Ok(()));
    // The same metric by group is no other figure: brackets tell them apart.
    let grouped = Plan::new().scorer("a", metrics![accuracy(), grouped(accuracy(), "category")]);
    assert_eq!(check("accuracy > 0", &grouped), Ok(()));
    let reduced = Plan::new()
        .scorer("a", metrics![accuracy()])
        .reducers(errorbar_core::reducers![pass_at(1), pass_at(2)]);
    let candidates = vec!["a/accuracy/pass_at_1".to_owned(), "a/accuracy/pass_at_2".to_owned()];
    let ambiguous = Error::AmbiguousMetric { metric: "a/accuracy".to_owned(), candidates };
    assert_eq!(check("a/accuracy > 0", &reduced), Err(ambiguous));
    assert_eq!(check("accuracy/pass_at_2 > 0", &reduced), Ok(()));
}
