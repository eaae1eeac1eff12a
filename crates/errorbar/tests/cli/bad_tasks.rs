//! Tasks that cannot run: the message names the file, the place or the sample, and the way out.

use std::fs;

use crate::eval::{Logs, quiz};
use crate::{Folder, check, errorbar};

const GOOD: &str = "dataset = { path = \"d.jsonl\" }\nscorer = \"match()\"\n";
const DATASET: (&str, &str) = ("d.jsonl", "{\"id\": 1, \"input\": \"1?\", \"target\": \"1\"}\n");

#[test]
fn unknown_names() {
    check("unknown_task", &[], &["eval", "gpqa"]);
    check("unknown_task_file", &[], &["eval", "gpqa.toml"]);
    check("unknown_model", &[DATASET, ("t.toml", GOOD)], &["eval", "t.toml", "--model", "reply/x.jsonl"]);
    check("model_without_slash", &[DATASET, ("t.toml", GOOD)], &["eval", "t.toml", "--model", "gpt-4o"]);
    check("no_model", &[DATASET, ("t.toml", GOOD)], &["eval", "t.toml"]);
}

#[test]
fn every_mistake_of_a_task_file_is_reported_at_its_place() {
    let task = "nmae = \"x\"\ndataset = { path = \"d.jsonl\", input = \"qestion\" }\nsolver = [\"generat()\", \"system_message()\"]\n\
                scorer = \"chioce()\"\nmetrics = [\"acuracy\", \"stderr(cluster=)\"]\nepochs = { count = 2, reducers = [\"pass_at_5\"] }\n";
    check("task_file_mistakes", &[DATASET, ("t.toml", task)], &["eval", "t.toml"]);
}

#[test]
fn parts_of_a_task_file_that_do_not_fit_together() {
    let dataset = ("d.csv", "question,answer,category,passage\nHow many?,42,easy,p1\nHow much?,7,hard,p2\n");
    let task = r#"solver = ["system_message('About {category}.')", "prompt_template('{promt}')"]
scorer = ["choice()", "pattern('ANSWER: \\d+')", 'pattern("\b(\d+)\b")', "match()"]
metrics = ["grouped(accuracy(), 'passage')"]
errors = { cluster = "pasage" }
headline = { metric = "acuracy", scorer = "mach" }
[dataset]
path = "d.csv"
input = "question"
target = "answer"
metadata = ["passage"]
"#;
    check("task_file_fit", &[dataset, ("t.toml", task)], &["eval", "t.toml"]);
    let fine = "dataset = { path = 'd.csv', input = 'question', target = 'answer', metadata = 'passage' }\n\
                scorer = 'match()'\nmodel = 'mock/42'\n";
    let files = [dataset, ("t.toml", fine)];
    check("option_cluster_is_no_metadata", &files, &["eval", "t.toml", "--cluster", "category"]);
    check("option_metric_of_no_metadata", &files, &["eval", "t.toml", "-m", "grouped(mean(), 'pasage')"]);
}

#[test]
fn backslashes_in_a_task_file() {
    let task = "dataset = 'd.jsonl'\nscorer = \"pattern('(\\d+)')\"\n";
    check("task_file_escape", &[DATASET, ("t.toml", task)], &["eval", "t.toml"]);
}

#[test]
fn mistakes_about_how_the_model_generates() {
    let generate = "temperature = 0.5\n[generate]\ntemprature = -1\nmax_tokens = \"many\"\ntop_p = 1.5\nstop_seqs = \"END\"\n\
                    seed = 1.5\nlogprobs = 1\nextra_body = { model = \"another\" }\nepochs = 2\n";
    check("task_file_generate", &[DATASET, ("t.toml", &format!("{GOOD}{generate}"))], &["eval", "t.toml"]);
    check(
        "task_file_generate_kind",
        &[DATASET, ("t.toml", &format!("{GOOD}generate = 0.5\n"))],
        &["eval", "t.toml"],
    );
}

#[test]
fn datasets_with_more_than_text() {
    let image = r#"{"id": 1, "input": "2 + 2?", "target": "4"}
{"id": 2, "input": [{"role": "user", "content": [{"type": "text", "text": "What is this?"}, {"type": "image", "image": "a.png"}]}], "target": "a cat"}
"#;
    let folder = Folder::new(&[("d.jsonl", image), ("t.toml", GOOD)]);
    folder.check("dataset_with_image", &["eval", "t.toml", "--model", "mock/x"]);
    assert_eq!(folder.files(), 2, "nothing has run");
    // A sample that is left out stands in nobody's way.
    for left_out in [["--sample-id", "1"], ["--limit", "1"]] {
        let output =
            folder.run(&[&["eval", "t.toml", "--model", "mock/x", "--log-dir", "l"], &left_out[..]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn addresses_are_not_opened() {
    let task = "dataset = \"https://example.org/d.jsonl\"\nscorer = \"match()\"\n";
    check("dataset_address", &[("t.toml", task)], &["eval", "t.toml", "--model", "mock/x"]);
    for args in [
        ["score", "https://example.org/scores"],
        ["score", "https://example.org/scores.csv"],
        ["verify", "s3://bucket/log.eval"],
        ["eval", "https://example.org/task.toml"],
    ] {
        let output = errorbar(Folder::new(&[]).path(), &args).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(
            stderr.contains("hint: addresses are not opened: download the file, and name the copy"),
            "{stderr}"
        );
    }
}

#[test]
fn datasets_that_cannot_be_used() {
    let with = |name: &str, dataset: &str, task: &str| {
        check(name, &[("d.csv", dataset), ("t.toml", task)], &["eval", "t.toml", "--model", "mock/x"]);
    };
    let task =
        "dataset = { path = \"d.csv\", input = \"question\", target = \"answer\" }\nscorer = \"match()\"\n";
    with("dataset_empty", "question,answer\n", task);
    with("dataset_without_column", "qestion,answer\n1?,1\n", task);
    with("dataset_duplicate_ids", "id,question,answer\na,1?,1\nb,2?,2\na,3?,3\n", task);
    with("dataset_open_quote", "id,question,answer\na,\"1?,1\nb,2?,2\n", task);
    let choices = "dataset = { path = \"d.csv\", input = \"question\", target = \"answer\", choices = [\"a\", \"b\"] }\n\
                   solver = \"multiple_choice()\"\nscorer = \"choice()\"\n";
    with("dataset_target_beyond_choices", "question,answer,a,b\n1?,A,1,2\n2?,C,3,4\n3?,yes,5,6\n", choices);
}

#[test]
fn options_that_do_not_fit() {
    let files = [DATASET, ("t.toml", GOOD)];
    let with = |name: &str, args: &[&str]| {
        let args: Vec<&str> = ["eval", "t.toml", "--model", "mock/1"].iter().chain(args).copied().collect();
        check(name, &files, &args);
    };
    with("option_sample_id", &["--sample-id", "7"]);
    with("option_limit", &["--limit", "0"]);
    with("option_epochs", &["--epochs", "2", "--reducer", "pass_at_5"]);
    with("option_metric", &["--metric", "acuracy", "--reducer", "mdoe"]);
    with("option_task_arg", &["-T", "x=1"]);
    with("option_fail_on_error", &["--fail-on-error=often"]);
    with("option_resume_and_model", &["--resume", "x.eval"]);
}

#[test]
fn recorded_outputs_that_do_not_fit() {
    let with = |name: &str, outputs: &str| {
        let files = [DATASET, ("t.toml", GOOD), ("o.jsonl", outputs)];
        check(name, &files, &["eval", "t.toml", "--model", "replay/o.jsonl"]);
    };
    with("replay_of_another_dataset", "{\"id\": \"q9\", \"output\": \"1\"}\n");
    with("replay_bad_line", "{\"id\": 1, \"output\": \"1\"}\n{\"id\": 2}\n");
    with("replay_twice", "{\"id\": 1, \"output\": \"1\"}\n{\"id\": \"1\", \"output\": \"1\"}\n");
    check(
        "replay_missing_file",
        &[DATASET, ("t.toml", GOOD)],
        &["eval", "t.toml", "--model", "replay/none.jsonl"],
    );
}

#[test]
fn a_log_folder_that_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    for (file, content) in [DATASET, ("t.toml", GOOD), ("taken", "a file")] {
        fs::write(folder.path().join(file), content).unwrap();
    }
    let args = ["eval", "t.toml", "--model", "mock/1", "--log-dir", "taken"];
    let output = errorbar(folder.path(), &args).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    let log = stderr.strip_prefix("error: taken/").and_then(|rest| rest.split_once(": "));
    assert_eq!(
        log.map(|(_, problem)| problem),
        Some(
            "cannot create the folder of the log: File exists (os error 17)\nhint: choose a folder that you may write to\n"
        ),
        "{stderr}"
    );
}

#[test]
fn a_log_of_another_task_is_not_resumed() {
    let (logs, folder) = (Logs::new(), tempfile::tempdir().unwrap());
    quiz(folder.path(), "");
    logs.run(folder.path(), &["eval", "quiz.toml"]);
    let log = logs.only();
    fs::write(folder.path().join("d.jsonl"), DATASET.1).unwrap();
    fs::write(folder.path().join("other.toml"), format!("{GOOD}model = \"mock/1\"\n")).unwrap();
    logs.check(
        "resume_other_task",
        folder.path(),
        &["eval", "other.toml", "--resume", log.to_str().unwrap()],
    );
    fs::remove_file(folder.path().join("quiz.toml")).unwrap();
    logs.check("resume_without_task_file", folder.path(), &["eval", "--resume", log.to_str().unwrap()]);
    fs::write(folder.path().join("none.eval"), "nothing").unwrap();
    logs.check("resume_no_log", folder.path(), &["eval", "--resume", "none.eval"]);
}
