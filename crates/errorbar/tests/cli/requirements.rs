//! `--require` and `--junit` of `score` and `eval`.

use crate::eval::Logs;
use crate::{Folder, check, check_examples, check_text, transcript, workspace};

const TABLE: &str = "id,score,category\nq1,1,law\nq2,1,law\nq3,1,art\nq4,0,art\nq5,1,law\n";

const TASK: &str = "dataset = 'quiz.csv'\nscorer = 'includes'\nmodel = 'mock/a'\n";

const DATASET: &str = "input,target\na,a\nb,b\nc,c\n";

/// The code that CI systems look at.
fn code(folder: &Folder, args: &[&str]) -> Option<i32> {
    folder.run(args).status.code()
}

#[test]
fn each_requirement_is_one_line() {
    let args = [
        "score",
        "examples/quiz.csv",
        "--metric",
        "accuracy",
        "--metric",
        "grouped(accuracy(), \"category\")",
        "--require",
        "accuracy >= 0.7",
        "--require",
        "lower(accuracy) >= 0.5",
        "--require",
        "accuracy[category=history] > 60%",
        "--require",
        "n(accuracy) == 36",
        "--require",
        "absent(accuracy) == 0",
        "--require",
        "width(score/accuracy) < 0.5",
    ];
    check_examples("require_lines", &args);
}

#[test]
fn what_is_not_met_is_exit_code_1() {
    let folder = Folder::new(&[("scores.csv", TABLE)]);
    let args =
        ["score", "scores.csv", "--require", "accuracy >= 0.8", "--require", "lower(accuracy) >= 0.75"];
    folder.check("require_not_met", &args);
    assert_eq!(code(&folder, &args[..4]), Some(0));
    assert_eq!(code(&folder, &["score", "scores.csv", "--require", "accuracy > 0.8"]), Some(1));
    assert_eq!(code(&folder, &["score", "scores.csv", "--require", "accuracy > 0.8", "-q"]), Some(1));
}

/// The digits show on which side of the limit a figure is.
#[test]
fn a_near_miss_is_seen() {
    let rows: String = (0..3000).map(|at| format!("q{at},{}\n", u8::from(at < 2399))).collect();
    let folder = Folder::new(&[("scores.csv", &format!("id,score\n{rows}"))]);
    let output = folder.run(&["score", "scores.csv", "--require", "accuracy >= 0.8"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("accuracy >= 0.8 is not met: 0.7997;"), "{stderr}");
    let output = folder.run(&["score", "scores.csv", "--require", "accuracy >= 0.79967"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("accuracy >= 0.79967 is not met: 0.799667;"), "{stderr}");
}

#[test]
fn a_figure_that_does_not_exist_is_not_met() {
    let files = [("one.csv", "id,score\nq1,7\n"), ("equal.csv", "id,score\nq1,7\nq2,7\nq3,7\n")];
    let args =
        ["score", "one.csv", "equal.csv", "--require", "stderr(mean) < 1", "--require", "width(mean) < 1"];
    check("require_undefined", &files, &args);
    let files = [("right.csv", "id,score\nq1,1\nq2,1\nq3,1\n")];
    let args =
        ["score", "right.csv", "--require", "stderr(accuracy) < 1", "--require", "width(accuracy) < 0.9"];
    check("require_no_spread", &files, &args);
}

#[test]
fn figures_that_are_not_there_are_exit_code_2() {
    let files = [("scores.csv", TABLE)];
    check("require_unknown", &files, &["score", "scores.csv", "--require", "acuracy > 0"]);
    check("require_part_alone", &files, &["score", "scores.csv", "--require", "stderr < 0.1"]);
    let by_group = ["score", "scores.csv", "-m", "grouped(accuracy(), 'category')"];
    let args: Vec<&str> = by_group.into_iter().chain(["--require", "accuracy[category=lw] > 0"]).collect();
    check("require_unknown_group", &files, &args);
    check("require_unknown_scorer", &files, &["score", "scores.csv", "--require", "scor/accuracy > 0"]);
    let files = [("two.csv", "id,judge,human\nq1,1,1\nq2,0,1\n")];
    let args = [
        "score",
        "two.csv",
        "--score-column",
        "judge",
        "--score-column",
        "human",
        "--require",
        "accuracy > 0",
    ];
    check("require_ambiguous", &files, &args);
}

/// Before anything is read: there is no such file.
#[test]
fn mistakes_are_marked() {
    let args = [
        "score",
        "none.csv",
        "--require",
        "accuracy => 0.8",
        "--require",
        "accuracy = 0.8",
        "--require",
        "lowr(accuracy) > 0",
    ];
    check("require_mistakes", &[], &args);
}

#[test]
fn junit_has_a_case_for_each_requirement_and_file() {
    let folder = Folder::new(&[("a.csv", TABLE), ("b.csv", "id,score\nq1,0\nq2,1\n"), ("old.xml", "<x/>")]);
    let args = [
        "score",
        "a.csv",
        "b.csv",
        "--require",
        "accuracy >= 0.8",
        "--require",
        "n(accuracy) > 2",
        "--junit",
        "old.xml",
    ];
    assert_eq!(code(&folder, &args), Some(1));
    check_text("require_junit", &folder.text("old.xml"));

    // Whatever else the file is, it stays.
    let over_table = ["score", "a.csv", "--require", "accuracy >= 0", "--junit", "b.csv"];
    folder.check("require_junit_over_table", &over_table);
    assert!(folder.text("b.csv").starts_with("id,"));
    for junit in [".", "none/out.xml"] {
        let args = ["score", "a.csv", "--require", "accuracy >= 0", "--junit", junit];
        assert_eq!(code(&folder, &args), Some(2), "{junit}");
    }
    // A file that cannot be read leaves no file in which all is well.
    let args = ["score", "none.csv", "--require", "accuracy >= 0", "--junit", "new.xml"];
    assert_eq!(code(&folder, &args), Some(2));
    assert!(folder.text("new.xml").contains("tests=\"1\" failures=\"1\""), "{}", folder.text("new.xml"));
    // Without a requirement there is nothing to write.
    assert_eq!(code(&folder, &["score", "a.csv", "--junit", "new.xml"]), Some(2));
}

#[test]
fn eval_has_requirements() {
    let (logs, folder) = (Logs::new(), Folder::new(&[("task.toml", TASK), ("quiz.csv", DATASET)]));
    let args = [
        "eval",
        "task.toml",
        "--require",
        "accuracy >= 0.3",
        "--require",
        "lower(accuracy) > 0.3",
        "--junit",
        "out.xml",
    ];
    logs.check("eval_require", folder.path(), &args);
    assert!(folder.text("out.xml").contains("tests=\"2\" failures=\"1\""));
    let met = logs.run(folder.path(), &["eval", "task.toml", "--require", "n(includes/accuracy) == 3"]);
    assert_eq!(met.status.code(), Some(0));
}

/// The run would have been for nothing.
#[test]
fn eval_checks_names_before_the_run() {
    let (logs, folder) = (Logs::new(), Folder::new(&[("task.toml", TASK), ("quiz.csv", DATASET)]));
    for (name, requirement) in
        [("eval_require_unknown", "acuracy >= 0.3"), ("eval_require_part", "stderr < 0.1")]
    {
        logs.check(name, folder.path(), &["eval", "task.toml", "--require", requirement]);
    }
    let two = TASK.replace("'includes'", "['includes', 'match']");
    let folder = Folder::new(&[("task.toml", &two), ("quiz.csv", DATASET)]);
    logs.check("eval_require_ambiguous", folder.path(), &["eval", "task.toml", "--require", "accuracy > 0"]);
    assert_eq!(logs.files().len(), 0);
}

/// Scores by another scorer can be required, too.
#[test]
fn rescored_outputs_have_requirements() {
    let (logs, folder) = (Logs::new(), Folder::new(&[("task.toml", TASK), ("quiz.csv", DATASET)]));
    let ran = logs.run(folder.path(), &["eval", "task.toml"]);
    assert_eq!(ran.status.code(), Some(0), "{}", transcript(&[], &ran));
    let log = logs.only();
    let log = log.to_str().unwrap();
    let args = ["score", log, "--with", "match", "--require", "match/accuracy >= 0.5"];
    let output = logs.run(&workspace(), &args);
    assert_eq!(output.status.code(), Some(1), "{}", transcript(&args, &output));
}
