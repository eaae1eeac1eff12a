//! Task files with mistakes: the diagnostic for each, and that nothing makes the reader panic.

use std::path::PathBuf;

use errorbar_eval::{TaskFileError, built_in_registry, load_task_file, parse_task_file};
use tempfile::TempDir;

/// A folder with a dataset, recorded outputs and broken files, and the path of a task file in it.
pub(crate) fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &[u8]| std::fs::write(folder.path().join(name), text).unwrap();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    write(
        "quiz.csv",
        b"id,question,answer,a,b,category\nq1,One?,A,x,y,easy\nq2,Two?,E,x,y,hard\nq3,Three?,F,x,y,hard\n",
    );
    write("fine.csv", b"id,question,answer,a,b\nq1,One?,A,x,y\nq2,Two?,B,x,y\n");
    write("twice.csv", b"id,question\nq1,One?\nq1,Two?\n");
    write("empty.csv", b"id,question\n");
    write("ragged.csv", b"id,question\nq1,One?\nq2\n");
    write("data/lines.jsonl", b"{\"input\": \"One?\", \"answer\": \"1\"}\n{\"input\": \"Two?\"}\n");
    write("broken.jsonl", b"{\"input\": \"One?\"}\n{\"input\": \n");
    write("notes.txt", b"nothing");
    write("outputs.jsonl", b"{\"id\": \"q1\", \"output\": \"A\"}\n");
    write("others.jsonl", b"{\"id\": \"x1\", \"output\": \"A\"}\n");
    let path = folder.path().join("task.toml");
    (folder, path)
}

/// The diagnostics, one line each, without the folder.
fn reported(text: &str) -> Vec<String> {
    let (folder, path) = folder();
    let error = parse_task_file(text, &path, &built_in_registry()).expect_err(text);
    lines(&error, &folder)
}

fn lines(error: &TaskFileError, folder: &TempDir) -> Vec<String> {
    let folder = format!("{}/", folder.path().display());
    error.to_string().lines().map(|line| line.replace(&folder, "").replacen("task.toml:", "", 1)).collect()
}

/// Where the words are those of others, only the beginning is compared: it ends in `…`.
#[track_caller]
pub(crate) fn check(text: &str, expected: &[&str]) {
    let reported = reported(text);
    let fits = |(reported, expected): (&String, &&str)| match expected.strip_suffix('…') {
        Some(start) => reported.starts_with(start),
        None => reported == expected,
    };
    let all = reported.len() == expected.len() && reported.iter().zip(expected).all(fits);
    assert!(all, "{text}\n--- reported\n{}\n--- expected\n{}\n", reported.join("\n"), expected.join("\n"));
}

#[test]
fn keys() {
    check(
        "",
        &[
            " the task has no `scorer`; set how answers are scored: scorer = \"includes()\"",
            " the task has no `dataset`; set where the samples are: dataset = { path = \"questions.csv\" }",
        ],
    );
    check("# a comment", &["1:1: the task has no `scorer`…", "1:1: the task has no `dataset`…"]);
    // A key that is nearly right is taken for what was meant: its value is checked, and nothing is called missing.
    check(
        "nmae = 5\nscorers = 'chioce()'\n[dataste]\npath = 'fine.csv'\n",
        &[
            "1:1: unknown key `nmae`; did you mean `name`?",
            "1:8: `nmae`: expected a string in quotes, found 5",
            "2:1: unknown key `scorers`; did you mean `scorer`?",
            "2:12: unknown scorer `chioce`; did you mean `choice`?",
            "3:1: no field `input` in fine.csv; name it, as in input = \"…\"; there are: id, question, answer, a, b",
            "3:2: unknown key `dataste`; did you mean `dataset`?",
        ],
    );
    check(
        "dataset = { paht = 'fine.csv', inptu = 'question', colour = 1 }\nscorer = 'includes'\nepochs = { cuont = 0 }\nheadline = { scoer = 'x', metric = 5 }\nsolvre = 1\nsolver = 'generate'",
        &[
            "1:13: unknown key `paht`; did you mean `path`?",
            "1:32: unknown key `inptu`; did you mean `input`?",
            "1:52: unknown key `colour`; keys are: path, format, header, columns, delimiter, subset, split, input, target, choices, id, metadata, where, lookup, limit, shuffle, shuffle_choices",
            "3:12: unknown key `cuont`; did you mean `count`?",
            "3:20: `cuont`: expected an integer, 1 or more, found 0",
            "4:14: unknown key `scoer`; did you mean `scorer`?",
            "4:22: the headline names the scorer `x`, which the task does not have; there are: includes",
            "4:36: `metric`: expected a string in quotes, found 5",
            "5:1: unknown key `solvre`; did you mean `solver`?",
        ],
    );
    check(
        "[dataset]\npath = 'fine.csv'\ninput = 'question'\nscorer = 'chioce'\n",
        &[
            "4:1: unknown key `scorer`; it is a key of the task and belongs above the table `dataset`",
            "4:11: unknown scorer `chioce`; did you mean `choice`?",
        ],
    );
    check(
        "reducers = ['mode']\nlimit = 5\ndataset = { limit = 1 }\nscorer = 'includes'\nepochs = {}\n",
        &[
            "1:1: unknown key `reducers`; it is a key of the table `epochs`: epochs = { reducers = …, … }",
            "2:1: unknown key `limit`; it is a key of the table `dataset`: dataset = { limit = …, … }",
            "3:11: `dataset` has no `path`; set where it is, relative to the task file: path = \"questions.csv\"",
            "5:10: `epochs` has no `count`; set how often each sample runs: count = 5",
        ],
    );
}

#[test]
fn kinds_of_values() {
    check(
        "name = 5\nversion = true\nmetadata = 'x'\ndataset = 7\nsolver = 7\nscorer = [7, '']\nmetrics = 7\nepochs = 'five'\nmodel = 7\nfail_on_error = -1\ntime_limit = 0\nheadline = 7\n",
        &[
            "1:8: `name`: expected a string in quotes, found 5",
            "2:11: `version`: expected a number or a string, found true",
            "3:12: `metadata`: expected a table such as { author = \"me\" }, found the string \"x\"",
            "4:11: `dataset`: expected a table such as { path = \"questions.csv\", input = \"question\" }, found 7",
            "5:10: `solver`: expected a solver in quotes, or a list of solvers, found 7",
            "6:11: `scorer`: expected a string in quotes, found 7",
            "6:14: `scorer`: expected a string in quotes, found an empty string",
            "7:11: `metrics`: expected a metric such as \"accuracy()\", a list of them, or a table such as { \"a*\" = [\"mean()\"] }, found 7; leave it out for the metrics that the scorer brings",
            "8:10: `epochs`: expected an integer, 1 or more, or a table such as { count = 5, reducers = [\"mode\"] }, found the string \"five\"",
            "9:9: `model`: expected a string in quotes, found 7",
            "10:17: `fail_on_error`: expected true, false, a share of the samples such as 0.1, or a number of samples such as 5, found -1",
            "11:14: `time_limit`: expected a number of seconds above 0, found 0",
            "12:12: `headline`: expected a table such as { metric = \"accuracy\" }, found 7",
        ],
    );
    check(
        "name = ''\nversion = [1]\nmetadata = { a = nan, b = [99999999999999999999999] }\ndataset = []\nsolver = []\nscorer = []\nmetrics = []\nepochs = 0\nmodel = 2020-01-01\nfail_on_error = 1.5\ntime_limit = inf\n[[headline]]\n",
        &[
            "1:8: `name`: expected a string in quotes, found an empty string",
            "2:11: `version`: expected a number or a string, found a list",
            "3:18: `a`: expected a finite number, since logs hold no other, found nan",
            "3:28: `b`: expected a number of 64 bits, found 99999999999999999999999",
            "4:11: `dataset`: expected a table such as { path = \"questions.csv\", input = \"question\" }, found an empty list",
            "5:10: `solver`: expected at least one solver, found an empty list",
            "6:10: `scorer`: expected at least one scorer, found an empty list",
            "7:11: `metrics`: expected a metric such as …",
            "8:10: `epochs`: expected an integer, 1 or more, or a table such as { count = 5, reducers = [\"mode\"] }, found 0",
            "9:9: `model`: expected a string in quotes, found the date 2020-01-01",
            "10:17: `fail_on_error`: expected true, false, a share of the samples such as 0.1, or a number of samples such as 5, found 1.5",
            "11:14: `time_limit`: expected a number of seconds above 0, found inf",
            "12:1: `headline`: expected a table such as { metric = \"accuracy\" }, found a list",
        ],
    );
}

#[test]
fn datasets() {
    let check = |dataset: &str, expected: &[&str]| {
        check(&format!("dataset = {dataset}\nscorer = 'includes'"), expected)
    };
    check(
        "{ path = 'missing.csv', input = 5, target = ['answer', 5], choices = 5, id = [], metadata = 5, limit = -1, shuffle = true, shuffle_choices = 'x', format = 'cvs' }",
        &[
            "1:20: cannot read the dataset missing.csv: …",
            "1:43: `input`: expected a string in quotes, found 5",
            "1:66: `target`: expected a string in quotes, found 5",
            "1:80: `choices`: expected a list with the field of each choice, or the field that holds them all, found 5",
            "1:88: `id`: expected a string in quotes, found an empty list",
            "1:103: `metadata`: expected a list of fields to keep, or a table of them, found 5",
            "1:114: `limit`: expected an integer, 1 or more, found -1",
            "1:128: `shuffle`: expected a seed, which is an integer, 0 or more, found true; the order must be the same in every run, so give a number: shuffle = 7",
            "1:152: `shuffle_choices`: expected a seed, which is an integer, 0 or more, found the string \"x\"",
            "1:166: `format`: expected \"csv\", \"tsv\", \"json\", \"jsonl\" or \"parquet\", found the string \"cvs\"; did you mean `csv`?",
        ],
    );
    check(
        "{ path = 'quiz.csv', input = 'qestion', target = ['answr', 'answer'], choices = ['a', 'bb'], metadata = ['category', 'catgory'], limit = 0 }",
        &[
            "1:40: no field `qestion` in quiz.csv; did you mean `question`?",
            "1:61: no field `answr` in quiz.csv; did you mean `answer`?",
            "1:97: no field `bb` in quiz.csv; did you mean `b`?",
            "1:128: no field `catgory` in quiz.csv; did you mean `category`?",
            "1:148: `limit`: expected an integer, 1 or more, found 0",
        ],
    );
    check(
        "'fine.csv'",
        &[
            "1:11: no field `input` in fine.csv; name it, as in input = \"…\"; there are: id, question, answer, a, b",
        ],
    );
    check(
        "{ path = 'data/lines.jsonl', target = 'answer' }",
        &[
            "1:49: no field `answer` in data/lines.jsonl, line 2; there are: input; constants are written in quotes: 'answer'",
        ],
    );
    check(
        "{ path = 'qiuz.csv', limit = 99999999999999999999 }",
        &[
            "1:20: cannot read the dataset qiuz.csv: No such file or directory (os error 2); did you mean `quiz.csv`?",
            "1:40: `limit`: expected an integer, 1 or more, found 99999999999999999999; it is too large",
        ],
    );
    check("{ path = 'data/nested/x.csv' }", &["1:20: cannot read the dataset data/nested/x.csv: …"]);
    check(
        "{ path = 'data', format = 'csv' }",
        &["1:20: the folder data has no CSV file; it has lines.jsonl"],
    );
    check(
        "'notes.txt'",
        &[
            "1:11: the format of notes.txt is not known; a name ends in .csv, .tsv, .json, .jsonl or .parquet, with .gz or .zst behind it if it is compressed; or name the format: format = \"csv\"",
        ],
    );
    check("{ path = 'twice.csv', input = 'question' }", &["1:20: two samples have the id \"q1\"…"]);
    check(
        "{ path = 'twice.csv', input = 'question', id = 'id' }",
        &["1:58: two samples have the id \"q1\"…"],
    );
    check("{ path = 'empty.csv', input = 'question' }", &["1:20: the dataset empty.csv is empty…"]);
    check("{ path = 'ragged.csv', input = 'question' }", &["1:20: ragged.csv, line 3: …"]);
    check("{ path = 'broken.jsonl' }", &["1:20: broken.jsonl, line 2: …"]);
    check(
        "{ path = 'quiz.csv', input = 'question', choices = 'a' }",
        &["1:63: quiz.csv, line 2: `choices`: `a` is no list…"],
    );
    check(
        "{ path = 'quiz.csv', input = 'question', target = 'answer', choices = ['a', 'b'], shuffle_choices = 3 }",
        &["1:111: sample \"q2\": the target \"E\"…"],
    );
}

#[test]
fn names_of_another_kind() {
    check(
        "dataset = { path = 'fine.csv', input = 'question' }
scorer = 'generate()'
solver = ['includes()', 'accuracy', 'nothing_like_it']
metrics = ['at_least_2', 'choice', 'value_to_float', { 'a*' = ['mode', 'mena'] }]
epochs = { count = 2, reducers = ['accuracy', 'mde'] }",
        &[
            "2:11: unknown scorer `generate`; `generate` is a solver; it belongs to `solver`",
            "3:12: unknown solver `includes`; `includes` is a scorer; it belongs to `scorer`",
            "3:26: unknown solver `accuracy`; `accuracy` is a metric; it belongs to `metrics`",
            "3:38: unknown solver `nothing_like_it`; solvers are: generate, …",
            "4:13: unknown metric `at_least_2`; `at_least_2` is a reducer; it belongs to `epochs`, as in { count = 5, reducers = […] }",
            "4:27: unknown metric `choice`; `choice` is a scorer; it belongs to `scorer`",
            "4:37: unknown metric `value_to_float`; `value_to_float` is a conversion",
            "4:65: unknown metric `mode`; `mode` is a reducer; it belongs to `epochs`, as in { count = 5, reducers = […] }",
            "4:73: unknown metric `mena`; did you mean `mean`?",
            "5:36: unknown reducer `accuracy`; `accuracy` is a metric; it belongs to `metrics`",
            "5:48: unknown reducer `mde`; did you mean `mode`?",
        ],
    );
}

#[test]
fn epochs_and_the_headline() {
    let check = |lines: &str, expected: &[&str]| {
        check(
            &format!(
                "dataset = {{ path = 'fine.csv', input = 'question' }}\nscorer = ['includes', 'includes']\n{lines}"
            ),
            expected,
        );
    };
    check(
        "epochs = { count = 2, reducers = ['pass@2', 'at_least_5', 'at_least_0', 'at_least(1, 2, 3, 4)', 'pass_at(k=\"x\")', 'pass_at_2'] }",
        &[
            "3:40: expected the end of the input, found '@'; write pass_at_2",
            "3:45: at_least_5: k = 5 is more than the 2 epochs of the run; lower k or run more epochs",
            "3:60: at_least: argument `k` must be 1 or more: it counts epochs",
            "3:92: at_least takes at most 3 arguments (k, value, value_to_float), but got 4",
            "3:108: pass_at: argument `k` must be an integer, 1 or more, found \"x\"",
        ],
    );
    check(
        "epochs = { count = 2, reducers = [\"pass_at_2('x')\", 'at_least_2(1, value_to_float(), 7)'] }",
        &[
            "3:46: pass_at: argument `value` must be a number, found \"x\"",
            "3:86: at_least takes at most 3 arguments (k, value, value_to_float), but got 4",
        ],
    );
    check(
        "epochs = { count = -1, reducers = ['mod', 5, 'at_least_5'] }",
        &[
            "3:20: `count`: expected an integer, 1 or more, found -1",
            "3:37: unknown reducer `mod`; did you mean `mode`?",
            "3:43: `reducers`: expected a string in quotes, found 5",
        ],
    );
    check(
        "epochs = { count = 3, reducer = 'mode', reducers = [] }",
        &["3:33: `reducer` and `reducers` are both given; keep one of them; a list goes under `reducers`"],
    );
    check(
        "epochs = 5000000000",
        &[
            "3:10: `epochs`: expected an integer, 1 or more, or a table such as { count = 5, reducers = [\"mode\"] }, found 5000000000; it is too large",
        ],
    );
    check(
        "headline = { scorer = 'include', reducer = 'mean' }",
        &[
            "3:23: the headline names the scorer `include`, which the task does not have; did you mean `includes`?",
            "3:44: the headline names the reducer `mean`, which the task does not have; leave it out, or name one under `epochs`: { count = 5, reducers = [\"mean\"] }",
        ],
    );
    check(
        "headline = { scorer = 'includes2', reducer = 'at_least(2)' }\nepochs = { count = 2, reducers = 'at_least(2)' }",
        &[
            "3:23: the headline names the scorer `includes2`, which the task does not have; did you mean `includes`?",
            "3:46: the headline names the reducer `at_least(2)`, which the task does not have; did you mean `at_least_2`?",
        ],
    );
}

#[test]
fn models_and_samples() {
    let check = |lines: &str, expected: &[&str]| {
        check(
            &format!(
                "dataset = {{ path = 'quiz.csv', input = 'question', target = 'answer', choices = ['a', 'b'] }}\n{lines}"
            ),
            expected,
        );
    };
    check(
        "solver = 'multiple_choice()'\nscorer = ['includes', 'choice()']\nmodel = 'replay/others.jsonl'",
        &[
            "3:23: sample \"q2\": the target \"E\"…",
            "4:9: others.jsonl has no output for any sample of the dataset…",
        ],
    );
    // What two of them refuse for the same reason is reported once.
    check(
        "scorer = ['choice()', \"multi_scorer([choice()], 'mode')\"]\nsolver = 'multiple_choice()'",
        &["2:11: sample \"q2\": the target \"E\"…"],
    );
    check(
        "scorer = 'includes'\nmodel = 'repaly/outputs.jsonl'",
        &["3:10: unknown model provider `repaly`; did you mean `replay`?"],
    );
    check(
        "scorer = 'includes'\nmodel = 'xyz/outputs.jsonl'",
        &["3:10: unknown model provider `xyz`; providers are: replay, mock…"],
    );
    check(
        "scorer = 'includes'\nmodel = 'gpt-4'",
        &["3:9: a model is written provider/model, found `gpt-4`…"],
    );
    check(
        "scorer = 'includes'\nmodel = 'replay/missing.jsonl'",
        &["3:9: cannot read the recorded outputs missing.jsonl: …"],
    );
    check("scorer = 'includes'\nmodel = \"mock/[1]\"", &["3:9: `mock/[1]`: …"]);
}

#[test]
fn specs_are_pointed_at_within_their_strings() {
    let check = |lines: &str, expected: &[&str]| {
        check(&format!("dataset = {{ path = 'fine.csv', input = 'question' }}\n{lines}"), expected);
    };
    check(
        "scorer = 'match(numric=true)'\nmetrics = [\"grouped(acuracy(), 'x')\", \"stderr(cluster=5)\", 'stderr(cluster=)', 'mean(to_float=valu_to_float())', '']",
        &[
            "2:17: match has no argument 'numric'…",
            "3:21: unknown metric `acuracy`; did you mean `accuracy`?",
            "3:55: stderr: argument `cluster` must be a string in quotes, found 5",
            "3:76: expected a value, found ')'",
            "3:95: unknown conversion `valu_to_float`; did you mean `value_to_float`?",
            "3:115: expected a name, found the end of the input",
        ],
    );
    check(
        "scorer = \"multi_scorer([includes(), chioce()], 'mode')\"\nmetrics = '[acuracy, mean, {\"a*\": stder}]'",
        &[
            "2:37: unknown scorer `chioce`; did you mean `choice`?",
            "3:13: unknown metric `acuracy`; did you mean `accuracy`?",
            "3:35: unknown metric `stder`; did you mean `stderr`?",
        ],
    );
    check(
        "scorer = \"multi_scorer([includes()], 'mod')\"",
        &["2:39: unknown reducer `mod`; did you mean `mode`?"],
    );
    check(
        "scorer = \"multi_scorer([includes()], 'mod e')\"",
        &["2:10: expected the end of the input, found 'e'"],
    );
    check(
        "scorer = \"includes, match(numeric=true)\"\nmetrics = 'mean, stderr(cluster=\"x\")'",
        &[
            "2:19: expected the end of the input, found ','; write a list: [\"includes\", \"match(numeric=true)\"]",
            "3:16: expected the end of the input, found ','; write a list: [\"mean\", 'stderr(cluster=\"x\")']",
        ],
    );
    // Through escapes, over line breaks, and behind characters of several bytes.
    check(
        "solver = \"chain_of_thought(\\\"\\u00e9é\\\", templat=1)\"\nscorer = \"\"\"\n\n  match(\\\n     numric=true)\"\"\"\r\nmetrics = ['''\r\né()''', \"\\u006dena\"]",
        &[
            "2:41: chain_of_thought has no argument 'templat'…",
            "6:6: match has no argument 'numric'…",
            "8:1: unknown metric `é`; metrics are: accuracy, …",
            "8:10: unknown metric `mena`; did you mean `mean`?",
        ],
    );
}

#[test]
fn what_is_no_toml() {
    check(
        "scorer = choice()\ndataset = { path = 'fine.csv', inptu = 'question' }\nsolver = 5\nmetrics = [accuracy(), stderr()]\nname = name\n",
        &[
            "1:10: a string must stand in quotes; write \"choice()\"",
            "2:32: unknown key `inptu`; did you mean `input`?",
            "3:10: `solver`: expected a solver in quotes, or a list of solvers, found 5",
            "4:12: a string must stand in quotes; write \"accuracy()\"",
            "4:24: a string must stand in quotes; write \"stderr()\"",
            "5:8: a string must stand in quotes; write \"name\"",
        ],
    );
    check(
        "scorer = \"choice()\nname = 'x\nsolver = 5\nversion = \nmodel = tru\n",
        &[
            "1:19: a string in quotes is not closed",
            "2:10: a string in quotes is not closed",
            "3:10: `solver`: expected a solver in quotes, or a list of solvers, found 5",
            "4:11: there is no value",
            "5:9: a string must stand in quotes; write \"tru\"",
        ],
    );
    // Reported once, though everything behind it is swallowed.
    check(
        "solver = 5\nmetrics = [\"a\", \"b\"\nname = \"x\"\nepochs = 5\n",
        &[
            "1:10: `solver`: expected a solver in quotes, or a list of solvers, found 5",
            "3:1: missing comma between array elements, expected `,`; or the bracket that was opened above is not closed",
        ],
    );
    check(
        "scorer: 'choice'\n",
        &[
            "1:7: invalid unquoted key, expected letters, numbers, `-`, `_`; between a key and its value stands `=`",
        ],
    );
    check(
        "dataset = { path: 'x' }\nscorer = 5\n",
        &[
            "1:17: invalid unquoted key, expected letters, numbers, `-`, `_`; between a key and its value stands `=`",
            "2:10: `scorer`: expected a scorer in quotes, or a list of scorers, found 5",
        ],
    );
    check(
        r#"scorer = "pattern('\d+')""#,
        &[
            r"1:21: `\d` is an invalid escape sequence; write a backslash as \\, or the string in single quotes",
        ],
    );
    check(
        "name = 'a'\nname = 'b'\ntime_limit = 'x'\nfail_on_error = True\n",
        &[
            "2:1: the key `name` is given twice",
            "3:14: `time_limit`: expected a number of seconds above 0, found the string \"x\"",
            "4:17: `True` is no value; write true",
        ],
    );
    check(
        "[dataset]\npath = fine.csv\n[epochs]\ncount = 0\n",
        &[
            "2:8: a string must stand in quotes; write \"fine.csv\"",
            "4:9: `count`: expected an integer, 1 or more, found 0",
        ],
    );
}

#[test]
fn columns_are_characters() {
    check(
        "\u{feff}name = 5\r\nscorer = 7\r\ndataset = { path = 'é.csv', \"ü\" = 1 }",
        &[
            "1:8: `name`: expected a string in quotes, found 5",
            "2:10: `scorer`: expected a scorer in quotes, or a list of scorers, found 7",
            "3:20: cannot read the dataset é.csv…",
            "3:29: unknown key `ü`; keys are: …",
        ],
    );
}

#[test]
fn a_message_is_one_line_without_control_characters() {
    check(
        r#"
"a\nb\u001b[31m" = 1
scorer = """x\u0007"""
dataset = "no\nfile.csv"
"#,
        &[
            r"2:1: unknown key `a\nb\u{1b}[31m`; keys are: …",
            r"3:14: expected the end of the input, found '\u{7}'",
            r"4:11: cannot read the dataset no\nfile.csv…",
        ],
    );
    let long = "x".repeat(100_000);
    assert!(reported(&format!("{long} = 1")).iter().all(|line| line.chars().count() < 1500));
}

#[test]
fn files_that_cannot_be_read() {
    let (folder, path) = folder();
    let registry = built_in_registry();
    let load = || load_task_file(&path, &registry).unwrap_err();
    let reported = lines(&load(), &folder);
    assert_eq!(
        reported,
        [" cannot read the task file: No such file or directory (os error 2); check the path"]
    );
    assert!(load().mistakes[0].is_about_the_file());

    std::fs::write(&path, b"name = 'a'\nscorer = '\xff'").unwrap();
    assert_eq!(lines(&load(), &folder), ["2:11: a task file is UTF-8, and this is not"]);
    assert_eq!(load().text.get(load().mistakes[0].span.clone()), Some("\u{fffd}"));
}

#[test]
fn what_only_follows_from_a_mistake_is_not_reported() {
    check(
        "dataset = { path = 'fine.csv', input = 5 }\nscorer = 'includes'",
        &["1:40: `input`: expected a string in quotes, found 5"],
    );
    check(
        "dataset = { path = 'fine.csv', input = 'question', target = 'answer', choices = ['a', 5] }\nscorer = 'choice'\nsolver = 'multiple_choice'",
        &["1:87: `choices`: expected a string in quotes, found 5"],
    );
}

#[test]
fn what_is_right_among_what_is_wrong_is_checked_too() {
    check(
        "dataset = { path = 'quiz.csv', input = 'question', target = 'answer', choices = ['a', 'b'], limit = 'x' }
scorer = ['chioce()', 'choice()']
solver = ['multiple_choice()', 7]
epochs = { count = 2, reducers = [mode] }
headline = { reducer = 'mode', scorer = 'choice' }
model = 'replay/others.jsonl'",
        &[
            "1:101: `limit`: expected an integer, 1 or more, found the string \"x\"",
            "2:12: unknown scorer `chioce`; did you mean `choice`?",
            "2:23: sample \"q2\": the target \"E\"…",
            "3:32: `solver`: expected a string in quotes, found 7",
            "4:35: a string must stand in quotes; write \"mode\"",
            "6:9: others.jsonl has no output for any sample…",
        ],
    );
}
