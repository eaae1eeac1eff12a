//! `#[reducer]`: whole scores in, a whole score out, in Rust and by spec.
#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test's helper may fail as the test may")]

use errorbar::core::Evaluation;
use errorbar::core::ScoreResult;
use errorbar::prelude::*;

/// Mean of the `k` best epochs, with every answer.
#[reducer(name = "best_two")]
fn best(scores: &[Score], #[default(2)] k: usize) -> Result<Score> {
    let mut values = scores.iter().map(Score::as_f64).collect::<Result<Vec<f64>>>()?;
    values.sort_by(|a, b| b.total_cmp(a));
    values.truncate(k);
    if values.is_empty() {
        return Err(Error::custom("best_two: k = 0 leaves nothing to average"));
    }
    let answers: Vec<&str> = scores.iter().filter_map(|score| score.answer.as_deref()).collect();
    let value = values.iter().sum::<f64>() / values.len() as f64;
    Ok(Score::new(value).answer(answers.join(" | ")).metadata("epochs", scores.len()))
}

/// The last epoch, whatever it is.
#[reducer]
pub fn last(scores: &[Score]) -> Score {
    scores.last().cloned().unwrap_or_else(|| Score::unscored("no_response"))
}

/// One sample, three epochs.
fn columns() -> ScoreColumns {
    let mut columns = ScoreColumns::new(["overlap"]);
    for (epoch, value, answer) in [(1, 0.25, "red"), (2, 0.5, "green"), (3, 1.0, "blue")] {
        columns.push("q1", epoch).score("overlap", Score::new(value).answer(answer)).unwrap();
    }
    columns
}

fn reduced(epochs: &Epochs) -> Result<Evaluation> {
    let registry = Registry::collected()?;
    let plan = Plan::new().scorer("overlap", metrics![mean()]).reducers(epochs.reducers(&registry)?);
    plan.evaluate(&columns())
}

fn blocks(epochs: &Epochs) -> Vec<(Option<String>, f64)> {
    let of_score = |score: &ScoreResult| (score.reducer.clone(), score.metrics[0].value.number().unwrap());
    reduced(epochs).unwrap().results.scores.iter().map(of_score).collect()
}

#[test]
fn reducers_work_by_spec_and_in_rust() {
    let name = |text: &str| Some(text.to_owned());
    let specs = Epochs::new(3, ["best_two", "best_two(1)", "best_two(k=3)", "last"]);
    let third = (0.25 + 0.5 + 1.0) / 3.0;
    let wanted = [
        (name("best_two"), 0.75),
        (name("best_two(k=1)"), 1.0),
        (name("best_two(k=3)"), third),
        (name("last"), 1.0),
    ];
    assert_eq!(blocks(&specs), wanted);
    assert_eq!(blocks(&Epochs::new(3, best())), wanted[..1]);
    assert_eq!(blocks(&Epochs::new(3, best().k(1))), wanted[1..2]);
    assert_eq!(blocks(&Epochs::new(3, last())), wanted[3..]);
    assert_eq!(blocks(&Epochs::new(3, "best_two_1")), wanted[1..2], "the shorthand of reducers with a k");
}

#[test]
fn the_score_is_kept_whole() {
    let all = reduced(&Epochs::new(3, "best_two")).unwrap();
    let columns = columns();
    let (id, score) = all.reductions[0].iter(&columns).next().unwrap();
    assert_eq!(id.to_string(), "q1");
    assert_eq!(score.answer.as_deref(), Some("red | green | blue"));
    assert_eq!(score.metadata.as_ref().unwrap()["epochs"], 3);
}

#[test]
fn only_what_was_passed_is_recorded() {
    assert_eq!((best().log_name().as_str(), best().spec().to_string().as_str()), ("best_two", "best_two"));
    assert_eq!(best().k(2).log_name(), "best_two(k=2)", "passed, though it is the default");
    assert_eq!(last().log_name(), "last");
}

#[test]
fn the_body_is_callable() {
    let scores = [Score::new(1.0), Score::new(0.0)];
    assert_eq!(Best::body(&scores, 1).unwrap().as_f64().unwrap(), 1.0);
    assert_eq!(Last::body(&scores).as_f64().unwrap(), 0.0);
    let error = Best::body(&scores, 0).unwrap_err();
    assert_eq!(best().k(0).reduce(&scores), Err(error), "the body's error is the reducer's");
}

#[test]
fn wrong_arguments_are_refused() {
    let error = reduced(&Epochs::new(3, "best_two(n=2)")).unwrap_err();
    assert_eq!(error.to_string(), "best_two has no argument 'n' (it takes k)");
    let error = reduced(&Epochs::new(3, "best_two(-1)")).unwrap_err();
    assert_eq!(error.to_string(), "best_two: argument `k` must be an integer, 0 or more, found -1");
}

#[test]
fn listings_show_arguments_defaults_and_a_sentence() {
    let registry = Registry::collected().unwrap();
    let listing = registry.list_reducers().find(|l| l.name == "best_two").unwrap();
    assert_eq!(listing.signature(), "best_two(k=2)");
    assert_eq!(listing.summary(), "Mean of the `k` best epochs, with every answer.");
    assert!(registry.list_reducers().any(|l| l.signature() == "last()"));
}
