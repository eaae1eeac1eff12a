use crate::sequence::{FigureProblem, MeanFigure};
use errorbar_core::metrics::{accuracy, grouped, mean, median, stderr};
use errorbar_core::reducers::{at_least, mode};
use errorbar_core::{
    HeadlineRequest, Metrics, Plan, Reducers, SampleValue, Score, ScoreColumns, metrics, reducers,
};

fn known(value: f64) -> SampleValue {
    SampleValue::known(value)
}

#[test]
fn a_mean_is_found_by_its_name() {
    let plan = Plan::new()
        .scorer("a", metrics![accuracy(), stderr(), grouped(accuracy(), "topic"), median()])
        .scorer("b", metrics![accuracy(), mean()]);
    let found = |name: &str| MeanFigure::of_plan(&plan, Some(name), 1).map(|figure| figure.scorer);
    assert_eq!(found("mean").unwrap(), "b");
    assert_eq!(found("a/accuracy").unwrap(), "a");
    let problem = |name: &str| found(name).unwrap_err().to_string();
    assert_eq!(problem("accuracy"), "there are 2 metrics `accuracy`; name one of: a/accuracy, b/accuracy");
    for other in ["median", "stderr", "grouped", "a/median"] {
        let text =
            format!("`{other}` is no mean over all samples; means are: a/accuracy, b/accuracy, b/mean");
        assert_eq!(problem(other), text);
    }
    assert_eq!(problem("acuracy"), "there is no metric `acuracy`; did you mean `accuracy`?");
    let all = "means over all samples are: a/accuracy, b/accuracy, b/mean";
    assert_eq!(problem("zzzzzzzz"), format!("there is no metric `zzzzzzzz`; {all}"));
    let first = |plan: &Plan| {
        MeanFigure::of_plan(plan, None, 1).map(|figure| format!("{}/{}", figure.scorer, figure.name))
    };
    assert_eq!(first(&plan).unwrap(), "a/accuracy");
    let headline = HeadlineRequest { metric: Some("mean".to_owned()), ..HeadlineRequest::default() };
    assert_eq!(first(&Plan { headline: Some(headline), ..plan }).unwrap(), "b/mean");
    let none = Plan::new().scorer("a", Metrics::List(Vec::new()));
    let text = "there is no metric `mean`; no metric is a mean over all samples";
    assert_eq!(MeanFigure::of_plan(&none, None, 1).unwrap_err().to_string(), text);
}

#[test]
fn a_sample_contributes_its_reduced_number_or_bounds() {
    let mut columns = ScoreColumns::new(["s"]);
    for (id, scores) in [("a", ["C", "I"]), ("b", ["C", ""]), ("c", ["", ""]), ("d", ["P", "C"])] {
        for (epoch, score) in (1..).zip(scores) {
            let score = if score.is_empty() { Score::unscored("refusal") } else { Score::new(score) };
            columns.push(id, epoch).score("s", score).unwrap();
        }
    }
    columns.push("e", 1).errored();
    let values = |reducers: Reducers| {
        let plan = Plan::new().scorer("s", metrics![accuracy()]).reducers(reducers);
        let mut values =
            MeanFigure::of_plan(&plan, Some("accuracy"), 2).unwrap().sample_values(&columns).unwrap();
        values.sort_by(|a, b| a.0.cmp(&b.0));
        values.into_iter().map(|(_, value)| value).collect::<Vec<_>>()
    };
    let half = SampleValue::between(0.5, 1.0);
    let absent = SampleValue::default();
    assert_eq!(values(Reducers::Implicit), [known(0.5), half, absent, known(0.75), absent]);
    let at_least_one = values(reducers![at_least(1)]);
    assert_eq!(at_least_one[0], known(1.0));
    assert_eq!(at_least_one[4], absent);
}

#[test]
fn epochs_must_become_one_number() {
    let plan = Plan::new().scorer("s", metrics![accuracy()]).reducers(reducers![]);
    assert!(MeanFigure::of_plan(&plan, None, 1).is_ok());
    assert_eq!(MeanFigure::of_plan(&plan, None, 2).unwrap_err(), FigureProblem::NotReduced);
    let two = Plan::new().scorer("s", metrics![accuracy()]).reducers(reducers![mode(), at_least(2)]);
    let several = MeanFigure::of_plan(&two, Some("accuracy"), 2).unwrap_err().to_string();
    assert!(several.ends_with(": s/accuracy/mode, s/accuracy/at_least_2"), "{several}");
    assert_eq!(MeanFigure::of_plan(&two, Some("s/accuracy/at_least_2"), 2).unwrap().range, Some((0.0, 1.0)));
}
