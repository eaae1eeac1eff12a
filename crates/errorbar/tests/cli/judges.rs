//! Other raters: of tables and logs, agreement, corrected means, and names that are none.

use crate::{Folder, check, check_examples, check_text};

const JUDGE: &str = "examples/judge.csv";

fn example(name: &str, options: &[&str]) {
    let args: Vec<&str> = ["score", JUDGE].iter().chain(options).copied().collect();
    check_examples(name, &args);
}

#[test]
fn agreement_and_corrected_means_of_a_table() {
    let judge = ["--score-column", "judge"];
    let both = ["--score-column", "judge", "--score-column", "human"];
    let metric = |of: &[&'static str], metrics: &[&'static str]| -> Vec<&'static str> {
        of.iter().copied().chain(metrics.iter().flat_map(|metric| ["--metric", metric])).collect()
    };
    example("judges_metadata", &metric(&judge, &["accuracy", "ppi('human')", "rogan_gladen('human')"]));
    example("judges_scorers", &metric(&both, &["accuracy", "cohen_kappa('judge', 'human')", "ppi('human')"]));
    let mut clustered =
        metric(&judge, &["ppi('human')", "gwet_ac1('human')", "krippendorff_alpha(raters='human')"]);
    clustered.extend(["--cluster", "topic"]);
    example("judges_clusters", &clustered);
    let mut csv = metric(&judge, &["cohen_kappa('human')", "ppi('human')"]);
    csv.extend(["--format", "csv"]);
    example("judges_csv", &csv);
    example("judges_groups", &metric(&both, &["grouped(cohen_kappa('judge', 'human'), 'topic')"]));
}

#[test]
fn names_that_are_no_rater() {
    let table = "id,judge,human,mood\nq1,1,1,good\nq2,0,1,bad\nq3,1,0,bad\nq4,0,,good\n";
    let with = |name: &str, metric: &str| {
        check(name, &[("t.csv", table)], &["score", "t.csv", "--score-column", "judge", "--metric", metric]);
    };
    with("judges_unknown", "ppi('humam')");
    with("judges_itself", "ppi('judge')");
    with("judges_words", "ppi('mood')");
    with("judges_no_order", "cohen_kappa('mood', weights='linear')");
    with("judges_no_list", "fleiss_kappa()");
    let maps = "{\"id\": 1, \"human\": 1, \"score\": {\"judge\": 1, \"human\": 0}}\n\
                {\"id\": 2, \"human\": 0, \"score\": {\"judge\": 0, \"human\": 0}}\n\
                {\"id\": 3, \"human\": 0, \"score\": {\"judge\": 1, \"human\": 1}}\n";
    let of_maps = |name: &str, metric: &str| {
        check(name, &[("t.jsonl", maps)], &["score", "t.jsonl", "--metric", metric, "--format", "csv"]);
    };
    of_maps("judges_ambiguous", "cohen_kappa('judge', 'human')");
    of_maps("judges_fields", "cohen_kappa('judge', 'field.human')");
    of_maps("judges_field_and_key", "{'judge': [cohen_kappa('metadata.human')]}");
}

#[test]
fn a_task_records_the_figures_and_they_can_be_verified() {
    let questions = "{\"id\": 1, \"input\": \"2+2\", \"target\": \"4\", \"human\": 1}\n\
                     {\"id\": 2, \"input\": \"3+3\", \"target\": \"6\", \"human\": 0}\n\
                     {\"id\": 3, \"input\": \"4+3\", \"target\": \"7\", \"human\": null}\n\
                     {\"id\": 4, \"input\": \"1+3\", \"target\": \"4\", \"human\": 0}\n\
                     {\"id\": 5, \"input\": \"1+4\", \"target\": \"5\", \"human\": 1}\n\
                     {\"id\": 6, \"input\": \"1+1\", \"target\": \"2\", \"human\": null}\n";
    let outputs = ["4", "7, not 6", "7", "5", "5", "It is 2, or 3"];
    let line = |(at, output): (usize, &&str)| format!("{{\"id\": {}, \"output\": {output:?}}}\n", at + 1);
    let outputs: String = outputs.iter().enumerate().map(line).collect();
    let task = "name = \"t\"\n\
                dataset = { path = \"q.jsonl\", metadata = [\"human\"] }\n\
                solver = \"generate()\"\n\
                scorer = [\"match(numeric=true)\", \"includes()\"]\n\
                metrics = [\"accuracy()\", \"cohen_kappa('match', 'includes')\", \"ppi('human')\", \"gwet_ac1('field.nobody')\"]\n";
    // A name that is nothing is refused before the run; a field may be one of scores that are not known yet.
    let typo = task.replace("ppi('human')", "ppi('humn')").replace("field.nobody", "nobody");
    let files = [("q.jsonl", questions), ("o.jsonl", &outputs), ("t.toml", task), ("typo.toml", &typo)];
    let folder = Folder::new(&files);
    let refused = ["eval", "typo.toml", "--model", "replay/o.jsonl", "--log-dir", "logs"];
    folder.check("judges_task_unknown", &refused);
    let run =
        folder.run(&["eval", "t.toml", "--model", "replay/o.jsonl", "--log-dir", "logs", "--format", "csv"]);
    // The name of the log has the time in it.
    let name = std::fs::read_dir(folder.path().join("logs")).unwrap().next().unwrap().unwrap().file_name();
    let log = format!("logs/{}", name.to_str().unwrap());
    let text = |output: &std::process::Output| {
        let streams =
            [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        streams.join("--- stderr\n").replace(&log, "LOG.eval")
    };
    check_text("judges_task", &text(&run));
    let verified = folder.run(&["verify", &log]);
    assert!(verified.status.success(), "{}", text(&verified));
    check_text("judges_task_verified", &text(&verified));
    let one = ["score", &log, "--scorer", "match", "--metric", "cohen_kappa('includes')", "--format", "csv"];
    check_text("judges_task_one_scorer", &text(&folder.run(&one)));
}
