//! What the scorers around the text functions add: defaults, files, and scorers of scorers.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use errorbar_core::{Epochs, Error, Reducer, Score, Spec, Value};
use errorbar_eval::scorers::{choice, f1, includes, matches, multi_scorer, pattern};
use errorbar_eval::{
    AnyScorer, ModelOutput, Sample, Scorer, TaskState, block_on, built_in_registry, parse_task_file,
};

fn score(scorer: impl Into<AnyScorer>, completion: &str, target: &str) -> Result<Option<Score>, Error> {
    let sample = Sample::new("?").target(target).choices(["x", "y"]);
    let mut state = TaskState::new("test/model", &sample, "s".into(), 1);
    state.output = ModelOutput::from_text("test/model", completion);
    let scorer = scorer.into();
    scorer.check(&sample)?;
    block_on(scorer.score(&state, &sample.target)).unwrap()
}

fn grade(scorer: impl Into<AnyScorer>, completion: &str, target: &str) -> String {
    match score(scorer, completion, target).unwrap().unwrap().value {
        Value::Str(grade) => grade.to_string(),
        other => format!("{other:?}"),
    }
}

fn built(spec: &str) -> errorbar_core::Result<AnyScorer> {
    built_in_registry().build(&spec.parse::<Spec>()?)
}

/// The reducer that a spec names and that is not there, and the nearest one.
#[track_caller]
fn unknown_reducer(spec: &str) -> (String, Option<String>) {
    match built(spec) {
        Err(Error::UnknownName { kind: "reducer", name, nearest }) => (name, nearest),
        other => panic!("{other:?}"),
    }
}

#[test]
fn defaults_are_those_of_the_reference() {
    assert_eq!(grade(matches(), "It is PARIS", "Paris"), "C");
    assert_eq!(grade(matches().ignore_case(false), "It is PARIS", "Paris"), "I");
    assert_eq!(grade(matches(), "about 1,000.0", "1000"), "I");
    assert_eq!(grade(matches().numeric(true), "about 1,000.0", "1000"), "C");
    assert_eq!(grade(pattern("(a|b) (a|b)"), "a b", "b"), "C");
    assert_eq!(grade(pattern("(a|b) (a|b)").match_all(true), "a b", "b"), "I");
    assert_eq!(grade(pattern("(a)").ignore_case(false), "A", "a"), "I");
}

#[test]
fn f1_takes_the_answer_that_its_pattern_finds() {
    let scorer = || f1().pattern(r"(?i)Answer\s*:\s*([^\n]+)");
    let judged = |completion| {
        let score = score(scorer(), completion, "a red kite").unwrap().unwrap();
        (score.value, score.answer.unwrap())
    };
    assert_eq!(judged("Some thoughts.\nanswer: red kite\nBye."), (Value::from(1.0), "red kite".to_owned()));
    assert_eq!(
        judged("red kite"),
        (Value::from(1.0), "red kite".to_owned()),
        "all of it, where none is found"
    );
    assert_eq!(judged("Answer: blue\nAnswer: red kite").1, "blue", "the first one");
    assert_eq!(score(f1().pattern("kite"), "a kite!", "x").unwrap().unwrap().answer.unwrap(), "kite");
    assert!(matches!(built("f1(pattern='(')"), Err(Error::Argument { .. })));
}

#[test]
fn choices_that_no_solver_looked_at_are_an_error() {
    assert_eq!(
        score(choice(), "ANSWER: A", "A").unwrap_err(),
        Error::custom("no solver has looked at the choices; put multiple_choice() among the solvers")
    );
}

#[test]
fn several_scorers_are_made_one_by_a_reducer() {
    let scorers = || [AnyScorer::from(includes()), matches().into(), pattern("(no)").into()];
    let mode = Epochs::new(1, "mode").reducers(&built_in_registry()).unwrap();
    let errorbar_core::Reducers::Explicit(reducers) = mode else { unreachable!() };
    assert_eq!(grade(multi_scorer(scorers(), reducers.first().unwrap().clone()), "yes", "yes"), "C");
    let none = built("multi_scorer([], 'mode')").unwrap();
    assert_eq!(score(none, "yes", "yes").unwrap_err(), Error::custom("multi_scorer has no scorers"));
    assert_eq!(unknown_reducer("multi_scorer([includes()], 'mood')"), ("mood".to_owned(), None));
}

#[test]
fn a_sample_that_none_of_several_scorers_has_a_score_for_is_unscored() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("t.csv").display().to_string();
    fs::write(&table, "id,score\nother,1\n").unwrap();
    let scorer = built(&format!("multi_scorer([precomputed({table:?})], 'mean')")).unwrap();
    let score = score(scorer, "yes", "yes").unwrap().unwrap();
    assert_eq!((score.value, score.reason.as_deref()), (Value::Unscored, Some("scoring_failed")));
}

#[test]
fn a_reducer_that_cannot_be_is_refused_before_anything_runs() {
    let reducer: Arc<dyn Reducer> = Arc::new(errorbar_core::reducers::at_least(0));
    let scorer = multi_scorer([includes()], reducer);
    let error = Scorer::check(&scorer, &Sample::new("?")).unwrap_err();
    assert!(
        matches!(&error, Error::Argument { target, argument, .. } if target == "at_least" && argument == "k"),
        "{error}"
    );
}

/// The scores of a table for sample `s`, epoch by epoch.
fn precomputed(table: &str, arguments: &str, epochs: u32) -> Vec<Option<Score>> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.csv"), table).unwrap();
    let path = folder.path().join("t.csv");
    let spec = format!("precomputed({:?}{arguments})", path.display().to_string());
    let scorer = built(&spec).unwrap();
    (1..=epochs)
        .map(|epoch| {
            let sample = Sample::new("?");
            let state = TaskState::new("test/model", &sample, "s".into(), epoch);
            block_on(scorer.score(&state, &sample.target)).unwrap().unwrap()
        })
        .collect()
}

#[test]
fn precomputed_scores_are_found_by_id_epoch_and_column() {
    let table = "id,epoch,score,other\ns,1,0,5\ns,2,1,6\nt,1,9,9\n";
    let values = |scores: Vec<Option<Score>>| -> Vec<Option<f64>> {
        scores.into_iter().map(|score| score.map(|score| score.as_f64().unwrap())).collect()
    };
    assert_eq!(values(precomputed(table, "", 3)), [Some(0.0), Some(1.0), None]);
    assert_eq!(values(precomputed(table, ", column='other'", 2)), [Some(5.0), Some(6.0)]);
}

#[test]
fn a_table_that_is_not_there_is_a_mistake_of_the_task() {
    let text = "name = \"t\"\ndataset = { path = \"none.jsonl\" }\nscorer = \"precomputed('none.csv')\"\n";
    let error = parse_task_file(text, Path::new("t.toml"), &built_in_registry()).unwrap_err();
    let found: Vec<(usize, &str)> =
        error.mistakes.iter().map(|mistake| (mistake.line, mistake.message.as_str())).collect();
    assert_eq!(
        found,
        [
            (2, "cannot read the dataset none.jsonl: No such file or directory (os error 2)"),
            (
                3,
                "precomputed: none.csv: cannot open the file: No such file or directory (os error 2); check the path"
            ),
        ]
    );
}

#[test]
fn a_table_without_epochs_is_about_every_epoch() {
    let folder = tempfile::tempdir().unwrap();
    let value = |table: &str, epoch: u32| {
        fs::write(folder.path().join("t.csv"), table).unwrap();
        let registry = built_in_registry().relative_to(folder.path());
        let scorer: AnyScorer = registry.build(&"precomputed('t.csv')".parse::<Spec>().unwrap()).unwrap();
        let sample = Sample::new("?");
        let state = TaskState::new("test/model", &sample, "s".into(), epoch);
        block_on(scorer.score(&state, &sample.target)).unwrap().unwrap().map(|score| score.value)
    };
    assert_eq!(value("id,score\ns,0.5\n", 3), Some(Value::from(0.5)));
    assert_eq!(value("id,epoch,score\ns,1,0.5\ns,2,1\n", 2), Some(Value::from(1)));
    assert_eq!(value("id,epoch,score\ns,1,0.5\ns,2,1\n", 3), None);
}

#[test]
fn reducers_of_several_scorers_are_named_in_every_way() {
    for spec in [
        "multi_scorer([includes()], mode)",
        "multi_scorer([includes()], 'mode')",
        "multi_scorer([includes()], at_least(1))",
    ] {
        assert!(built(spec).is_ok(), "{spec}");
    }
    let unknown = unknown_reducer("multi_scorer([includes()], mdoe)");
    assert_eq!(unknown, ("mdoe".to_owned(), Some("mode".to_owned())));
    let in_rust = multi_scorer([includes()], errorbar_core::reducers::mode());
    assert_eq!(grade(in_rust, "yes", "yes"), "C");
    assert!(score(multi_scorer([includes()], "mdoe"), "yes", "yes").is_err());
}

/// The score of a file of this name for sample `s` in an epoch.
fn precomputed_in(
    name: &str,
    content: &str,
    arguments: &str,
    epoch: u32,
) -> errorbar_core::Result<Option<Score>> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), content).unwrap();
    let registry = built_in_registry().relative_to(folder.path());
    let scorer: AnyScorer = registry.build(&format!("precomputed({name:?}{arguments})").parse::<Spec>()?)?;
    let sample = Sample::new("?");
    let state = TaskState::new("test/model", &sample, "s".into(), epoch);
    block_on(scorer.score(&state, &sample.target)).unwrap()
}

#[test]
fn a_record_without_an_epoch_is_about_every_epoch_that_has_none() {
    let lines = "{\"id\": \"s\", \"score\": 1}\n{\"id\": \"s\", \"epoch\": 2, \"score\": 0}\n";
    let list = format!("[{}]", lines.trim().replace('\n', ","));
    for (name, content) in [("t.jsonl", lines), ("t.json", list.as_str())] {
        let value = |epoch| precomputed_in(name, content, "", epoch).unwrap().unwrap().value;
        assert_eq!([value(1), value(2), value(3)], [1, 0, 1].map(Value::from), "{name}");
    }
}

#[test]
fn answers_explanations_and_metadata_of_records_are_those_of_the_score() {
    let json = r#"[{"id": "s", "value": "C", "answer": "4", "explanation": "so", "reason": "r", "metadata": {"by": "ann"}}]"#;
    let score = precomputed_in("t.json", json, "", 1).unwrap().unwrap();
    assert_eq!((score.answer.as_deref(), score.explanation.as_deref()), (Some("4"), Some("so")));
    assert_eq!((score.reason.as_deref(), &score.metadata.unwrap()["by"]), (Some("r"), &"ann".into()));
    let table = precomputed_in("t.csv", "id,score,answer,explanation\ns,1,4,so\n", "", 1).unwrap().unwrap();
    assert_eq!((table.answer.as_deref(), table.explanation.as_deref()), (Some("4"), Some("so")));
}

#[test]
fn a_sample_without_a_precomputed_score_is_what_the_argument_says() {
    let other = r#"[{"id": "other", "score": 1}]"#;
    let missing = |arguments: &str| precomputed_in("t.json", other, arguments, 1);
    assert_eq!(missing("").unwrap(), None);
    assert_eq!(missing(", on_missing=\"missing\"").unwrap(), None);
    assert_eq!(missing(", on_missing=\"unscored\"").unwrap().unwrap().value, Value::Unscored);
    assert_eq!(missing(", on_missing=0").unwrap().unwrap().value, Value::from(0.0));
    assert!(missing(", on_missing=\"error\"").is_err());
    assert!(missing(", on_missing=\"ignore\"").is_err());
}

#[test]
fn files_of_scores_that_contradict_themselves_are_refused() {
    for content in
        ["[]", "{\"id\": \"s\"}", "[{\"id\": 1, \"score\": 1}, {\"id\": \"1\", \"score\": 1}]", "[1"]
    {
        assert!(precomputed_in("t.json", content, "", 1).is_err(), "{content}");
    }
}
