//! One good file for each feature.

use std::path::PathBuf;
use std::time::Duration;

use errorbar_core::{MetricItem, Metrics, Reducers};
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::{FailOnError, built_in_registry};

const QUIZ: &str = "\
id,question,answer,a,b,category
q1,First?,A,one,two,x
q2,Second?,B,three,four,y
q3,Third?,A,five,six,x
";

const REPLAY: &str = "{\"id\": \"q1\", \"output\": \"A\"}\n";

/// A folder with datasets and recorded outputs, and the path of a task file in it.
fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    write("quiz.csv", QUIZ);
    write("data/quiz.tsv", &QUIZ.replace(',', "\t"));
    write("plain.jsonl", "{\"input\": \"Why?\", \"target\": [\"so\", \"thus\"]}\n{\"input\": \"How?\"}\n");
    write("list.json", "[{\"q\": \"Why?\", \"options\": [\"a\", \"b\"], \"answer\": \"B\"}]");
    write("table.txt", QUIZ);
    write("outputs.jsonl", REPLAY);
    write("scores.csv", "id,score\nq1,C\nq2,I\n");
    let path = folder.path().join("my quiz.toml");
    (folder, path)
}

/// The task that a file with these lines describes, besides a dataset and a scorer.
fn task(lines: &str) -> Task {
    let basis = "dataset = { path = \"quiz.csv\", input = \"question\", target = \"answer\", id = \"id\" }\n\
                 scorer = \"includes()\"\n";
    whole(&format!("{basis}{lines}"))
}

fn whole(text: &str) -> Task {
    let (_folder, path) = folder();
    parse_task_file(text, &path, &built_in_registry()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn ids(task: &Task) -> Vec<String> {
    task.dataset.samples().unwrap().iter().map(|(id, _)| id.to_string()).collect()
}

#[test]
fn the_file_of_the_design() {
    let task = whole(
        r#"
        name = "gpqa"
        dataset = { path = "quiz.csv", input = "question", target = "answer", choices = ["a", "b"], metadata = ["category"] }
        solver  = ["system_message('Answer carefully.')", "multiple_choice()"]
        scorer  = "choice()"
        metrics = ["grouped(accuracy(), 'category')", "stderr(cluster='category')"]
        epochs  = { count = 5, reducers = ["at_least_2", "at_least_5"] }
        "#,
    );
    assert_eq!(task.name.as_deref(), Some("gpqa"));
    let samples = task.dataset.samples().unwrap();
    assert_eq!(samples[1].1.choices, ["three", "four"]);
    assert_eq!(samples[1].1.metadata["category"], "y");
    let steps: Vec<String> = task.solver.steps().iter().map(ToString::to_string).collect();
    assert_eq!(steps, ["system_message(template=\"Answer carefully.\")", "multiple_choice"]);
    assert_eq!(task.scorers.len(), 1);
    assert_eq!(task.metrics.unwrap().iter().count(), 2);
    let epochs = task.epochs.unwrap();
    assert_eq!(epochs.epochs(), 5);
    let Reducers::Explicit(reducers) = epochs.reducers(&built_in_registry()).unwrap() else { panic!() };
    assert_eq!(
        reducers.iter().map(|reducer| reducer.log_name()).collect::<Vec<_>>(),
        ["at_least_2", "at_least_5"]
    );
}

#[test]
fn the_defaults() {
    let task = task("");
    assert_eq!(task.name.as_deref(), Some("my quiz"), "the stem of the file");
    assert_eq!(task.solver.spec().to_string(), "generate");
    assert!(
        task.metrics.is_none() && task.epochs.is_none() && task.model.is_none() && task.version.is_none()
    );
    assert!(task.origin.file.as_ref().is_some_and(|file| file.ends_with("my quiz.toml")));
}

#[test]
fn name_version_and_metadata() {
    assert_eq!(task("version = '1-b'").version, Some(json!("1-b")));
    assert_eq!(task("version = 3").version, Some(json!(3)));
    assert_eq!(task("version = 0.5").version, Some(json!(0.5)));
    let metadata = task("metadata = { z = 'me', a = [1, 0.5, true, 2020-01-02], m = { k = 0x1F } }").metadata;
    let metadata = serde_json::to_string(&metadata).unwrap();
    assert_eq!(
        metadata, r#"{"z":"me","a":[1,0.5,true,"2020-01-02"],"m":{"k":31}}"#,
        "in the order of the file"
    );
    assert_eq!(task("[metadata]\nauthor = 'me'").metadata["author"], "me");
}

#[test]
fn datasets_of_every_format() {
    let scored = |dataset: &str| whole(&format!("dataset = {dataset}\nscorer = 'includes'"));
    let tsv =
        scored("{ path = 'data/quiz.tsv', input = 'question', id = 'id', target = ['answer', 'category'] }");
    assert_eq!(ids(&tsv), ["q1", "q2", "q3"]);
    assert_eq!(tsv.dataset.samples().unwrap()[0].1.target.as_slice(), ["A", "x"]);
    assert_eq!(ids(&scored("'plain.jsonl'")), ["1", "2"], "the path alone");
    let list =
        scored("{ path = 'list.json', input = 'q', choices = 'options', target = 'answer', metadata = 'q' }");
    assert_eq!(list.dataset.samples().unwrap()[0].1.choices, ["a", "b"]);
    assert_eq!(list.dataset.samples().unwrap()[0].1.metadata["q"], "Why?");
    assert_eq!(
        ids(&scored("{ path = 'table.txt', format = 'csv', input = 'question', target = 'answer' }")),
        ["q1", "q2", "q3"]
    );
    let header =
        whole("scorer = 'includes'\n[dataset]\npath = 'quiz.csv'\ninput = 'question'\ntarget = 'answer'\n");
    assert_eq!(ids(&header).len(), 3);
}

#[test]
fn a_dataset_cut_and_shuffled() {
    let with = |more: &str| {
        whole(&format!(
            "dataset = {{ path = 'quiz.csv', input = 'question', target = 'answer', choices = ['a', 'b'], {more} }}\nscorer = 'choice()'\nsolver = 'multiple_choice()'"
        ))
    };
    assert_eq!(ids(&with("limit = 2")), ["q1", "q2"]);
    assert_eq!(ids(&with("shuffle = false")), ["q1", "q2", "q3"]);
    let orders: Vec<Vec<String>> = (0..8).map(|seed| ids(&with(&format!("shuffle = {seed}")))).collect();
    assert!(orders.iter().any(|order| *order != orders[0]));
    assert_eq!(
        ids(&with("shuffle = 5, limit = 2")),
        ids(&with("shuffle = 5"))[..2],
        "shuffled first, then cut"
    );
    let choices = |seed: u64| {
        let task = with(&format!("shuffle_choices = {seed}"));
        let (_, sample) = &task.dataset.samples().unwrap()[0];
        (sample.choices.clone(), sample.target.text().into_owned())
    };
    let moved = (0..8).map(choices).find(|(choices, _)| choices[0] == "two").unwrap();
    assert_eq!(moved.1, "B", "the target follows");
}

#[test]
fn one_solver_or_scorer_or_several() {
    assert_eq!(task("solver = 'self_critique'").solver.spec().name, "self_critique");
    assert_eq!(task("solver = ['generate()']").solver.spec().name, "generate", "no chain of one");
    let several = whole("dataset = 'plain.jsonl'\nscorer = ['includes()', 'match(numeric=true)']");
    let names: Vec<String> = several.scorers.iter().map(|scorer| scorer.spec().name).collect();
    assert_eq!(names, ["includes", "match"]);
    let in_lines = task("solver = \"\"\"\n  self_critique(\\\n   'Say: {question}')\"\"\"");
    assert_eq!(in_lines.solver.spec().to_string(), "self_critique(critique_template=\"Say: {question}\")");
}

#[test]
fn metrics_in_every_form() {
    let shape = |lines: &str| {
        let of_map = |map: &errorbar_core::MetricMap| {
            let entry = |(pattern, metrics): (&String, &Vec<_>)| format!("{pattern}:{}", metrics.len());
            map.iter().map(entry).collect::<Vec<_>>().join(" ")
        };
        match task(lines).metrics.unwrap() {
            Metrics::Map(map) => format!("map {}", of_map(&map)),
            Metrics::List(items) => {
                let item = |item: &MetricItem| match item {
                    MetricItem::Metric(metric) => metric.spec().name,
                    MetricItem::Map(map) => format!("{{{}}}", of_map(map)),
                };
                format!("list {}", items.iter().map(item).collect::<Vec<_>>().join(" "))
            }
        }
    };
    assert_eq!(shape("metrics = 'accuracy'"), "list accuracy");
    assert_eq!(shape("metrics = ['accuracy', 'bootstrap_stderr(seed=1)']"), "list accuracy bootstrap_stderr");
    assert_eq!(shape("metrics = { 'z*' = ['mean()', 'std()'], a = 'mean' }"), "map z*:2 a:1");
    assert_eq!(shape("[metrics]\n'z*' = ['mean()']\na = 'mean'"), "map z*:1 a:1");
    assert_eq!(
        shape("metrics = ['mean', { 'a*' = ['mean()'] }, '{\"b\": [std]}']"),
        "list mean {a*:1} {b:1}"
    );
    assert_eq!(shape("metrics = '[mean, {\"b\": std}]'"), "list mean {b:1}", "as on the command line");
}

#[test]
fn epochs_in_every_form() {
    let reducers = |lines: &str| {
        let epochs = task(lines).epochs.unwrap();
        (epochs.epochs(), epochs.reducers(&built_in_registry()).unwrap())
    };
    assert!(matches!(reducers("epochs = 5"), (5, Reducers::Implicit)));
    assert!(matches!(reducers("epochs = { count = 5 }"), (5, Reducers::Implicit)));
    assert!(matches!(reducers("epochs = { count = 2, reducers = [] }"), (2, Reducers::Disabled)));
    assert!(
        matches!(reducers("epochs = { count = 5, reducer = 'mode' }"), (5, Reducers::Explicit(one)) if one.len() == 1)
    );
    assert!(matches!(
        reducers("epochs.count = 2\nepochs.reducers = 'pass_at(2)'"),
        (2, Reducers::Explicit(_))
    ));
}

#[test]
fn limits_and_the_headline() {
    assert_eq!(task("fail_on_error = true").fail_on_error, Some(FailOnError::First));
    assert_eq!(task("fail_on_error = false").fail_on_error, Some(FailOnError::Never));
    assert_eq!(task("fail_on_error = 0.1").fail_on_error, Some(FailOnError::Share(0.1)));
    assert_eq!(task("fail_on_error = 5").fail_on_error, Some(FailOnError::Count(5)));
    assert_eq!(task("time_limit = 30").time_limit, Some(Duration::from_secs(30)));
    assert_eq!(task("time_limit = 0.5").time_limit, Some(Duration::from_millis(500)));
    let headline = task("headline = { scorer = 'includes', metric = 'accuracy' }").headline.unwrap();
    assert_eq!(headline.to_string(), "scorer \"includes\", metric \"accuracy\"");
    let reduced = "epochs = { count = 2, reducers = ['mode', 'pass_at(2)'] }\nheadline = { reducer = 'pass_at_2', score = 'x' }";
    assert_eq!(task(reduced).headline.unwrap().reducer.as_deref(), Some("pass_at_2"));
}

#[test]
fn a_model_beside_the_file() {
    let Some(ModelChoice::Built(model)) = task("model = 'replay/outputs.jsonl'").model else { panic!() };
    assert_eq!(model.name(), "replay/outputs.jsonl");
    assert!(task("model = 'mock/ANSWER: A'").model.is_some());
}

#[test]
fn files_that_a_scorer_reads_are_beside_the_file_too() {
    let task =
        whole("dataset = { path = 'quiz.csv', input = 'question' }\nscorer = \"precomputed('scores.csv')\"");
    assert_eq!(task.scorers[0].spec().name, "precomputed");
}

#[test]
fn how_the_model_generates() {
    let config = |lines: &str| serde_json::Value::from(task(lines).generate.to_log());
    assert_eq!(config(""), json!({}));
    let all = r#"
        [generate]
        system_message = "Be brief."
        max_tokens = 512
        top_p = 0.9
        temperature = 0
        stop_seqs = ["END", "STOP"]
        frequency_penalty = -0.5
        presence_penalty = 1
        seed = 7
        top_logprobs = 3
        extra_body = { top_k = 40, nested = { list = [1, 2] } }
    "#;
    let expected = json!({
        "system_message": "Be brief.", "max_tokens": 512, "top_p": 0.9, "temperature": 0.0, "stop_seqs": ["END", "STOP"],
        "frequency_penalty": -0.5, "presence_penalty": 1.0, "seed": 7, "logprobs": true, "top_logprobs": 3,
        "extra_body": {"top_k": 40, "nested": {"list": [1, 2]}}
    });
    assert_eq!(config(all), expected);
}

#[test]
fn a_system_message_may_be_the_name_of_a_file() {
    let generate = |name: &str| {
        let (_folder, path) = folder();
        let text = format!(
            "dataset = 'plain.jsonl'\nscorer = 'includes'\ngenerate = {{ system_message = '{name}' }}"
        );
        parse_task_file(&text, &path, &built_in_registry()).map(|task| task.generate.system_message)
    };
    assert_eq!(generate("outputs.jsonl").unwrap().as_deref(), Some(REPLAY));
    assert_eq!(generate("Be brief.").unwrap().as_deref(), Some("Be brief."));
    let error = generate("rules.txt").unwrap_err().to_string();
    assert!(error.contains("`system_message`: cannot be read from"), "{error}");
}
