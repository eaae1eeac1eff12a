//! Several tasks in a file, their arguments, few-shot examples, and runs that were made before.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use errorbar_eval::{
    CancelToken, EarlierRun, FinishedRun, Message, MessageRole, PreparedTask, Quiet, RunOptions, Task,
    TaskLoadError, TaskSelection, block_on, built_in_registry, load_task_file, load_tasks, model_fn,
    open_earlier, outline_task_file,
};
use errorbar_log::eval::{EvalInfo, EvalLog};
use serde_json::json;
use tempfile::TempDir;

use crate::task_files::check;

/// A folder with datasets, and a task file of this text in it.
fn written(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("law.csv", "id,input,target,topic\nl1,Law one?,1,tort\nl2,Law two?,2,tax\n");
    write("logic.csv", "id,input,target,topic\ng1,Logic one?,1,sets\n");
    let shots = (1..=6).map(|n| format!("t{n},Train {n}?,{n},{}\n", if n % 2 == 0 { "tax" } else { "tort" }));
    write("train.csv", &format!("id,input,target,topic\n{}", shots.collect::<String>()));
    let path = folder.path().join("quiz.toml");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

/// All tasks of a file, with these arguments.
fn with_args<'a>(args: impl IntoIterator<Item = (&'a str, &'a str)>) -> TaskSelection {
    let args = args.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
    TaskSelection { args, ..TaskSelection::default() }
}

fn named(name: &str) -> TaskSelection {
    TaskSelection { name: Some(name.to_owned()), ..TaskSelection::default() }
}

fn load(path: &Path, selection: &TaskSelection) -> Result<Vec<Task>, TaskLoadError> {
    load_tasks(path, selection, &built_in_registry())
}

fn prepare(task: &Task, folder: &Path) -> PreparedTask {
    let options = RunOptions { log_dir: folder.join("logs"), ..RunOptions::default() };
    task.prepare(&options, &built_in_registry()).unwrap()
}

fn run(task: &Task, folder: &Path) -> FinishedRun {
    block_on(prepare(task, folder).run(Arc::new(Quiet), CancelToken::new())).unwrap().unwrap()
}

fn recorded(log: &Path) -> EvalInfo {
    EvalLog::open(log).unwrap().header().unwrap().eval
}

const TWO: &str = r#"
scorer = "includes()"
version = 2
model = "mock/1"
dataset = { metadata = ["topic"], limit = 1 }

[task.logic]
dataset = { path = "logic.csv" }

[task.law]
version = 3
dataset = { path = "law.csv" }
"#;

#[test]
fn tasks_of_a_file_share_what_stands_above_them() {
    let (folder, path) = written(TWO);
    let tasks = load(&path, &TaskSelection::default()).unwrap();
    let logs: Vec<EvalInfo> = tasks.iter().map(|task| recorded(&run(task, folder.path()).log)).collect();
    let names: Vec<&str> = logs.iter().map(|log| log.task.as_str()).collect();
    assert_eq!(names, ["logic", "law"], "in the order of the file");
    assert_eq!(logs[0].task_version, json!(2));
    assert_eq!(logs[1].task_version, json!(3));
    assert_eq!(logs[1].task_registry_name.as_deref(), Some("law"));
    // `limit` is that of the shared table, `path` of the own one.
    assert_eq!(logs[1].dataset.samples, Some(1));
    assert!(logs[1].dataset.location.as_ref().unwrap().ends_with("law.csv"));

    let one = load(&path, &named("law")).unwrap();
    assert_eq!(one.iter().map(Task::name_in_file).collect::<Vec<_>>(), [Some("law")]);
    let error = load(&path, &named("lwa")).unwrap_err();
    let known = ["logic", "law"].map(str::to_owned).to_vec();
    let nearest = Some("law".to_owned());
    assert_eq!(error, TaskLoadError::UnknownTask { name: "lwa".to_owned(), nearest, known });
    assert!(load_task_file(&path, &built_in_registry()).is_err(), "several, where one is expected");
}

#[test]
fn mistakes_in_tables_of_tasks() {
    check(
        "name = 'x'\nscorer = 'includes'\n[task.a]\ndataset = 'data/lines.jsonl'\n[task.b]\nsovler = 'generate'\ndataset = 'data/lines.jsonl'\n",
        &[
            "1:1: `name`: the tasks of this file have names of their own; leave it out: each task is called after its table, [task.NAME]",
            "6:1: unknown key `sovler`; did you mean `solver`?",
        ],
    );
    check(
        "scorer = 'includes'\ndataset = 'data/lines.jsonl'\n[[task]]\nversion = 1\n",
        &[
            "3:3: `task`: expected a table of tasks; each task has a table that is called after it: [task.NAME]",
        ],
    );
    check(
        "scorer = 'includes'\ndataset = 'data/lines.jsonl'\n[task]\nversion = 1\n",
        &["4:1: `version` in `task` is no task; each task has a table that is called after it: [task.NAME]"],
    );
    // What both share is reported once.
    check(
        "scorer = 'inclufes'\n[task.a]\ndataset = 'data/lines.jsonl'\n[task.b]\ndataset = 'data/lines.jsonl'\n",
        &["1:11: unknown scorer `inclufes`; did you mean `includes`?"],
    );
}

const ARGS: &str = r#"
args = { subject = "law", n = 2, cot = false, share = 0.5, topics = ["tort"], level = { default = "low", choices = ["low", "high"], doc = "How hard." } }
name = "quiz_${subject}"
scorer = "includes()"
model = "mock/1"
time_limit = "${share}"
metadata = { topics = "${topics}", cot = "${cot}", text = "n is ${n}, $${n} {n} $x ${}", level = "${level}" }
dataset = { path = "${subject}.csv", limit = "${n}" }
"#;

#[test]
fn arguments_have_defaults_and_their_types() {
    let (folder, path) = written(ARGS);
    let tasks = load(&path, &TaskSelection::default()).unwrap();
    let log = recorded(&run(&tasks[0], folder.path()).log);
    assert_eq!(log.task, "quiz_law");
    assert_eq!(log.dataset.samples, Some(2));
    let all =
        json!({"subject": "law", "n": 2, "cot": false, "share": 0.5, "topics": ["tort"], "level": "low"});
    assert_eq!(serde_json::Value::from(log.task_args.clone()), all);
    assert!(log.task_args_passed.is_empty());
    let metadata = serde_json::Value::from(log.metadata.unwrap());
    let text = "n is 2, ${n} {n} $x ${}";
    assert_eq!(metadata, json!({"topics": ["tort"], "cot": false, "text": text, "level": "low"}));

    let given = with_args([
        ("subject", "logic"),
        ("n", "1"),
        ("cot", "True"),
        ("share", "2"),
        ("topics", "a, b"),
        ("level", "high"),
    ]);
    let log = recorded(&run(&load(&path, &given).unwrap()[0], folder.path()).log);
    assert_eq!(log.task, "quiz_logic");
    let passed =
        json!({"subject": "logic", "n": 1, "cot": true, "share": 2.0, "topics": ["a", "b"], "level": "high"});
    assert_eq!(serde_json::Value::from(log.task_args_passed.clone()), passed);
    // What a log records gives the same task again.
    let args = log.task_args_passed.iter().map(|(name, value)| (name.clone(), value.clone()));
    let again = TaskSelection { args: args.collect(), ..TaskSelection::default() };
    let again = prepare(&load(&path, &again).unwrap()[0], folder.path());
    let log = std::fs::read_dir(folder.path().join("logs")).unwrap().map(|entry| entry.unwrap().path());
    let logs: Vec<EarlierRun> =
        log.map(|log| again.earlier_run(&open_earlier(&log, Default::default()).unwrap()).unwrap()).collect();
    assert_eq!(logs.iter().filter(|log| **log == EarlierRun::Complete).count(), 1, "{logs:?}");
}

#[test]
fn arguments_that_cannot_be() {
    let (_folder, path) = written(ARGS);
    let error = |name: &str, value: &str| load(&path, &with_args([(name, value)])).unwrap_err();
    let expected = |name: &str, value: &str| match error(name, value) {
        TaskLoadError::ArgumentValue { name: of, expected, .. } if of == name => expected,
        other => panic!("{other:?}"),
    };
    assert_eq!(expected("n", "1.5"), "an integer, or false for none");
    assert_eq!(expected("cot", "yes"), "true or false");
    assert_eq!(expected("share", "half"), "a number");
    assert_eq!(expected("level", "mid"), "one of low, high");
    assert!(expected("topics", "[1]").starts_with("a list"));
    let known = ["subject", "n", "cot", "share", "topics", "level"].map(str::to_owned).to_vec();
    let nearest = Some("subject".to_owned());
    let unknown = TaskLoadError::UnknownArgument { name: "subjct".to_owned(), nearest, known };
    assert_eq!(error("subjct", "law"), unknown);
    assert_eq!(unknown.to_string(), "unknown argument `subjct`");
}

#[test]
fn mistakes_in_arguments() {
    check(
        "args = { shots = 3 }\nscorer = \"includes(${shot})\"\ndataset = 'data/lines.jsonl'\n",
        &["2:20: unknown argument `shot`; did you mean `shots`?"],
    );
    check(
        "dataset = 'data/lines.jsonl'\nmetadata = { a = 'x ${l}' }\n[args]\nl = [1]\nscorer = 'includes'\n'a b' = 1\nc = { choices = [1] }\nd = { default = 1, choices = [2] }\n",
        &[
            "2:21: the argument `l` is a list; leave out what stands around it, or give it as a string",
            "5:10: `scorer` cannot be the name of an argument; it is a key of the task and belongs above the table `args`",
            "6:9: `a b` cannot be the name of an argument; a name has letters, digits and `_`, and starts with no digit",
            "7:5: the argument `c` has no `default`; its type is that of the default: { default = \"law\", choices = [\"law\", \"logic\"] }",
            "8:17: the default of `d` is none of its choices",
        ],
    );
    // Without arguments a string is what it is.
    let (folder, path) =
        written("name = '${x}'\nscorer = 'includes'\nmodel = 'mock/1'\ndataset = 'law.csv'\n");
    let task = load_task_file(&path, &built_in_registry()).unwrap();
    assert_eq!(recorded(&run(&task, folder.path()).log).task, "${x}");
}

#[test]
fn an_outline_needs_no_dataset() {
    let (folder, path) = written(ARGS);
    let registry = built_in_registry();
    let outline = &outline_task_file(&path, &registry).unwrap()[0];
    assert_eq!((outline.name.as_str(), outline.dataset.as_deref()), ("quiz_law", Some("law.csv")));
    assert_eq!(outline.scorers, ["includes()"]);
    assert_eq!(outline.args.len(), 6);
    assert_eq!(outline.args[5].doc.as_deref(), Some("How hard."));
    std::fs::remove_file(folder.path().join("logic.csv")).unwrap();
    std::fs::write(&path, TWO).unwrap();
    let addresses: Vec<String> =
        outline_task_file(&path, &registry).unwrap().iter().map(|task| task.address()).collect();
    assert_eq!(addresses, [format!("{}@logic", path.display()), format!("{}@law", path.display())]);
    std::fs::write(&path, "[package]\nname = 'x'\n").unwrap();
    assert_eq!(outline_task_file(&path, &registry).unwrap(), []);
    std::fs::write(&path, "[package\nname = 'x'\n").unwrap();
    assert!(outline_task_file(&path, &registry).is_err());
}

/// The first request for each sample.
fn requests(text: &str) -> Vec<Vec<Message>> {
    let (folder, path) = written(text);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let requests = Arc::clone(&seen);
    let model = model_fn("test/model", move |request| {
        seen.lock().unwrap().push((request.sample_id.to_string(), request.messages.to_vec()));
        async { Ok("1".to_owned()) }
    });
    let task = load_task_file(&path, &built_in_registry()).unwrap().model(model);
    run(&task, folder.path());
    let mut requests = requests.lock().unwrap().clone();
    requests.sort_by(|(a, _), (b, _)| a.cmp(b));
    requests.into_iter().map(|(_, messages)| messages).collect()
}

fn texts(messages: &[Message]) -> Vec<(MessageRole, &str)> {
    messages.iter().map(|message| (message.role, message.content.as_str())).collect()
}

#[test]
fn examples_stand_in_a_system_message() {
    let requests = requests(
        "scorer = 'includes'\ndataset = { path = 'law.csv', metadata = ['topic'], limit = 2 }\nfew_shot = { path = 'train.csv', count = 2, template = \"{input} ({topic})\\nANSWER: {target}\" }\nsolver = ['system_message(\"Be brief.\")', 'generate()']\n",
    );
    let examples = "Train 1? (tort)\nANSWER: 1\n\nTrain 2? (tax)\nANSWER: 2";
    let system = MessageRole::System;
    assert_eq!(requests.len(), 2);
    assert_eq!(
        texts(&requests[0]),
        [(system, examples), (system, "Be brief."), (MessageRole::User, "Law one?")]
    );
    assert_eq!(requests[1][0].content, examples, "the same for every sample");
}

#[test]
fn a_seed_chooses_other_examples() {
    let system = |few_shot: &str| {
        let text = format!("scorer = 'includes'\ndataset = 'law.csv'\nfew_shot = {{ {few_shot} }}\n");
        requests(&text)[0][0].content.clone()
    };
    let chosen =
        |seed: u64| system(&format!("path = 'train.csv', count = 3, seed = {seed}, separator = '|'"));
    assert_eq!(chosen(1), chosen(1));
    let orders: std::collections::BTreeSet<String> = (0..20).map(chosen).collect();
    assert!(orders.len() > 10, "{orders:?}");
    let first = orders.iter().next().unwrap().split('|').count();
    assert_eq!(first, 3);
    let message = "path = 'train.csv', count = 1, message = \"Examples:\\n{examples}\\nEnd.\"";
    assert_eq!(system(message), "Examples:\nTrain 1?\n\n1\nEnd.");
}

#[test]
fn examples_may_be_messages_or_stand_before_the_question() {
    let pairs = requests(
        "scorer = 'includes'\ndataset = 'law.csv'\nfew_shot = { path = 'train.csv', count = 1, template = { user = 'Q: {input}', assistant = 'A: {target}' } }\nsolver = ['system_message(\"Be brief.\")', 'prompt_template(\"Q: {prompt}\")', 'generate()']\n",
    );
    let (system, user, assistant) = (MessageRole::System, MessageRole::User, MessageRole::Assistant);
    assert_eq!(
        texts(&pairs[0]),
        [(system, "Be brief."), (user, "Q: Train 1?"), (assistant, "A: 1"), (user, "Q: Law one?")]
    );
    let before = requests(
        "scorer = 'includes'\ndataset = 'law.csv'\nfew_shot = { path = 'train.csv', count = 1, as = 'user' }\n",
    );
    assert_eq!(texts(&before[0]), [(user, "Train 1?\n\n1\n\nLaw one?")]);
    let none =
        requests("scorer = 'includes'\ndataset = 'law.csv'\nfew_shot = { path = 'train.csv', count = 0 }\n");
    assert_eq!(texts(&none[0]), [(user, "Law one?")]);
}

#[test]
fn a_sample_is_no_example_for_itself() {
    let own = requests(
        "scorer = 'includes'\ndataset = 'law.csv'\nfew_shot = { count = 1, template = '{input}' }\n",
    );
    assert_eq!(own[0][0].content, "Law two?");
    assert_eq!(own[1][0].content, "Law one?");
    let grouped = requests(
        "scorer = 'includes'\ndataset = { path = 'law.csv', metadata = ['topic'] }\nfew_shot = { path = 'train.csv', count = 2, template = '{target}', group = 'topic', separator = '' }\n",
    );
    assert_eq!([&grouped[0][0].content, &grouped[1][0].content], ["13", "24"]);
}

#[test]
fn mistakes_in_examples() {
    let few_shot = |few_shot: &str| {
        format!(
            "scorer = 'includes'\ndataset = {{ path = 'fine.csv', input = 'question', target = 'answer' }}\nfew_shot = {{ {few_shot} }}\n"
        )
    };
    check(
        &few_shot("count = 5"),
        &["3:22: sample \"q1\": few_shot wants 5 examples beside the sample itself, and …"],
    );
    check(
        &few_shot("cuont = 1, template = '{inptu} {target}', as = 'usr', inpt = 'question'"),
        &[
            "3:14: unknown key `cuont`; did you mean `count`?",
            "3:61: `as`: expected \"system\", \"user\" or \"messages\", found the string \"usr\"; did you mean `user`?",
            "3:68: unknown key `inpt`; did you mean `input`?",
        ],
    );
    check(
        &few_shot("count = 1, template = '{inptu} {target}', message = 'none'"),
        &[
            "3:37: examples have no `inptu`; did you mean `input`?",
            "3:67: `message` must have {examples} in it",
        ],
    );
    check(&few_shot("count = 1, path = 'missing.csv'"), &["3:32: cannot read the dataset missing.csv: …"]);
    check(
        &few_shot("path = 'fine.csv'"),
        &["3:12: `few_shot` has no `count`; set how many examples there are: count = 5"],
    );
    check(
        &few_shot("count = 1, group = 'topic'"),
        &["3:34: not all examples have the metadata `topic`; name it under `metadata` of the dataset"],
    );
}

#[test]
fn a_run_is_the_same_if_all_that_decides_it_is() {
    const TASK: &str = "scorer = 'includes'\nversion = 1\nmodel = 'mock/1'\ndataset = { path = 'law.csv' }\nfew_shot = { path = 'train.csv', count = 1 }\n";
    let (folder, path) = written(TASK);
    let task = |text: &str| {
        std::fs::write(&path, text).unwrap();
        load_task_file(&path, &built_in_registry()).unwrap()
    };
    let first = run(&task(TASK), folder.path());
    let log = open_earlier(&first.log, Default::default()).unwrap();
    let found = |text: &str| prepare(&task(text), folder.path()).earlier_run(&log).unwrap();
    assert_eq!(found(TASK), EarlierRun::Complete);
    let skipped = prepare(&task(TASK), folder.path()).skip(&log, &Quiet).unwrap();
    assert_eq!((skipped.done, skipped.resumed, &skipped.log), (2, 2, &first.log));
    let values = |run: &FinishedRun| {
        let results = run.results.as_ref().unwrap();
        results.rows().iter().map(|row| row.estimate.number()).collect::<Vec<_>>()
    };
    assert_eq!(values(&skipped), values(&first));
    for other in ["version = 2", "name = 'other'", "model = 'mock/2'", "epochs = 2"] {
        let key = other.split(' ').next().unwrap();
        let rest: String =
            TASK.lines().filter(|line| !line.starts_with(key)).map(|line| format!("{line}\n")).collect();
        assert_eq!(found(&format!("{other}\n{rest}")), EarlierRun::Other, "{other}");
    }
    let limited = TASK.replace("law.csv'", "law.csv', limit = 1");
    assert_eq!(found(&limited), EarlierRun::Other);
    let is_changed = |found: EarlierRun| matches!(found, EarlierRun::Changed(_));
    assert!(is_changed(found(&TASK.replace("count = 1", "count = 2"))));
    assert!(is_changed(found(&TASK.replace("'includes'", "'exact'"))));
    // Other examples in the same file are another run too.
    std::fs::write(folder.path().join("train.csv"), "id,input,target\nx,Other?,9\n").unwrap();
    assert!(is_changed(found(TASK)));
    std::fs::write(folder.path().join("law.csv"), "id,input,target\nl1,Law one!,1\nl2,Law two?,2\n").unwrap();
    assert!(is_changed(found(&TASK.replace("few_shot", "metadata"))));
}

#[test]
fn an_interrupted_run_is_incomplete() {
    let (folder, path) = written("scorer = 'includes'\nmodel = 'mock/1'\ndataset = 'law.csv'\n");
    let task = load_task_file(&path, &built_in_registry()).unwrap();
    let cancel = CancelToken::new();
    cancel.cancel();
    let stopped = block_on(prepare(&task, folder.path()).run(Arc::new(Quiet), cancel)).unwrap().unwrap();
    let log = open_earlier(&stopped.log, Default::default()).unwrap();
    assert_eq!(prepare(&task, folder.path()).earlier_run(&log).unwrap(), EarlierRun::Incomplete);
    let resumed = prepare(&task, folder.path()).resume(&log, Arc::new(Quiet), CancelToken::new());
    assert_eq!(block_on(resumed).unwrap().unwrap().done, 2);
    let log = open_earlier(&stopped.log, Default::default()).unwrap();
    assert_eq!(prepare(&task, folder.path()).earlier_run(&log).unwrap(), EarlierRun::Complete);
}
