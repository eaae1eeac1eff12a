//! `errorbar plot`: files that stand alone, the same as numbers, and plots that the data do not support.

use std::fs;

use crate::eval::Logs;
use crate::{Folder, errorbar, workspace};

const TABLE: &str = "id,model,score,topic\n\
    q1,heron,1,law\nq2,heron,1,law\nq3,heron,0,logic\nq4,heron,1,logic\nq5,heron,1,law\nq6,heron,0,logic\n\
    q1,wren,0,law\nq2,wren,1,law\nq3,wren,0,logic\nq4,wren,0,logic\nq5,wren,1,law\nq6,wren,0,logic\n";

/// Standard output of a command that succeeds.
fn drawn(folder: &Folder, args: &[&str]) -> String {
    let output = folder.run(args);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// What a command that fails reports.
fn refused(folder: &Folder, args: &[&str]) -> String {
    let output = folder.run(args);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), b"".as_slice()), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// The commands of the page, with the pictures that it shows below them.
#[test]
fn the_pictures_of_the_documentation_are_what_the_commands_draw() {
    let docs = workspace().join("docs");
    let page = fs::read_to_string(docs.join("plots.md")).unwrap();
    let mut checked = 0;
    for part in page.split("$ errorbar ").skip(1) {
        let (command, rest) = part.split_once('\n').unwrap();
        // Only the title is quoted, and it is last.
        let (plain, title) = command.split_once(" --title ").unwrap();
        let mut args: Vec<&str> = plain.split(' ').collect();
        args.extend(["--title", title.trim_matches('"'), "-q"]);
        let picture = docs.join(rest.split_once("](").unwrap().1.split_once(')').unwrap().0);
        let output = errorbar(&workspace(), &args).output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        if std::env::var_os("UPDATE_PLOTS").is_some() {
            fs::write(&picture, &output.stdout).unwrap();
        }
        let text = String::from_utf8(output.stdout).unwrap();
        let committed = fs::read_to_string(&picture).unwrap();
        assert!(text == committed, "{}: UPDATE_PLOTS=1 writes it anew", picture.display());
        checked += 1;
    }
    assert_eq!(checked, 3);
}

#[test]
fn a_plot_has_the_figures_of_score_and_compare() {
    let folder = Folder::new(&[("t.csv", TABLE)]);
    let svg = drawn(&folder, &["plot", "estimates", "t.csv", "--by", "model"]);
    assert!(
        svg.contains("heron: 0.67 ± 0.21 [0.30, 0.90], n 6; wren: 0.33 ± 0.21 [0.10, 0.70], n 6"),
        "{svg}"
    );
    let pairs = drawn(&folder, &["plot", "pairs", "t.csv", "--by", "model"]);
    assert!(pairs.contains("heron minus wren: +0.33 "), "{pairs}");
    let forest = drawn(&folder, &["plot", "forest", "t.csv", "--by", "model", "--group", "topic"]);
    let scored = folder.run(&["score", "t.csv", "--by", "model", "-m", "grouped(accuracy, \"topic\")"]);
    let scored = String::from_utf8(scored.stdout).unwrap();
    // A terminal table has blanks between the parts.
    let scored = scored.split_whitespace().collect::<Vec<_>>().join(" ");
    for figure in ["1.00 [0.44, 1.00]", "0.33 ± 0.33 [0.06, 0.79]"] {
        assert!(forest.contains(figure) && scored.contains(figure), "{figure}: {forest}\n{scored}");
    }
    // The same input, the same bytes.
    assert_eq!(forest, drawn(&folder, &["plot", "forest", "t.csv", "--by", "model", "--group", "topic"]));
}

#[test]
fn a_name_decides_between_drawing_and_numbers() {
    let folder = Folder::new(&[("t.csv", TABLE)]);
    for name in ["p.svg", "p.csv", "p.md"] {
        let args = ["plot", "distribution", "t.csv", "--by", "model", "-o", name];
        assert_eq!(drawn(&folder, &args), "", "nothing to standard output");
        assert!(refused(&folder, &args).contains("replace it with --force"));
    }
    assert!(folder.text("p.svg").starts_with("<svg xmlns="));
    assert_eq!(
        folder.text("p.csv"),
        "run,from,to,samples\nheron,0.0,0.0,2\nheron,1.0,1.0,4\nwren,0.0,0.0,4\nwren,1.0,1.0,2\n"
    );
    assert!(folder.text("p.md").contains("| heron | 1"), "{}", folder.text("p.md"));
}

#[test]
fn what_the_data_do_not_support_is_an_error_with_the_way_out() {
    let folder = Folder::new(&[("t.csv", TABLE), ("one.csv", "id,score\na,1\nb,0\n")]);
    for (args, problem, hint) in [
        (&["epochs", "t.csv", "--by", "model"][..], "epochs: each sample has one epoch", "--epoch-column"),
        (&["pass", "one.csv"], "pass: each sample has one epoch", "--epoch-column"),
        (&["forest", "one.csv"], "forest: these results have no groups", "--group KEY"),
        (&["forest", "t.csv", "--by", "model", "--group", "topci"], "topci", "did you mean"),
        (&["calibration", "one.csv"], "has no confidence", "--confidence KEY"),
        (&["confusion", "one.csv"], "target", "hint:"),
        (&["pairs", "one.csv"], "pairs: it takes two runs, and there is one", "--by"),
        (
            &["ranking", "t.csv", "--by", "model"],
            "ranking: it takes three runs, and there is 2",
            "plot pairs",
        ),
        (&["cost", "one.csv"], "cost: these runs record neither cost nor tokens", "give logs"),
        (&["estimates", "absent.csv"], "absent.csv", ""),
    ] {
        let args: Vec<&str> = ["plot"].iter().chain(args).copied().collect();
        let text = refused(&folder, &args);
        assert!(text.contains(problem) && text.contains(hint), "{args:?}: {text}");
    }
}

#[test]
fn a_log_has_its_targets_as_labels() {
    let (logs, folder) = (Logs::new(), workspace());
    let model = "replay/examples/almanac/outputs/heron.jsonl";
    let ran =
        logs.run(&folder, &["eval", "examples/almanac/almanac.toml", "--model", model, "--epochs", "2"]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let log = logs.only();
    let plot = |kind: &str| {
        let output = errorbar(&folder, &["plot", kind, log.to_str().unwrap()]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let confusion = plot("confusion");
    assert!(confusion.contains("<title id=\"title\">almanac: true and predicted labels</title>"));
    assert!(confusion.contains("recall of A") && confusion.contains("(no answer)"), "{confusion}");
    let pass = plot("pass");
    let args = ["score", log.to_str().unwrap(), "--reducer", "pass_at_2"];
    let scored = String::from_utf8(errorbar(&folder, &args).output().unwrap().stdout).unwrap();
    let figure = pass.split("k 2: pass@k ").nth(1).unwrap().split(", pass^k").next().unwrap();
    assert!(scored.contains(figure), "{figure}: {scored}");
}

/// The error of `score` and `compare` for the same input, without their hints.
fn first_error(folder: &Folder, args: &[&str]) -> String {
    let errors = String::from_utf8(folder.run(args).stderr).unwrap();
    errors
        .lines()
        .find(|line| line.starts_with("error: "))
        .unwrap_or_else(|| panic!("{args:?}: {errors}"))
        .to_owned()
}

#[test]
fn bad_input_is_reported_as_score_and_compare_do() {
    let three = "id,model,score,truth,label\n\
        q1,heron,1,,a\nq2,heron,0,b,b\nq1,wren,1,a,a\nq2,wren,0,b,a\nq1,crow,1,a,b\nq2,crow,1,b,b\n";
    let folder = Folder::new(&[("t.csv", three), ("other.csv", "id,score\nx1,1\nx2,0\n")]);
    let by = ["t.csv", "--by", "model"];
    let with = |command: &[&'static str], options: &[&'static str]| -> Vec<&'static str> {
        command.iter().copied().chain(by).chain(options.iter().copied()).collect()
    };
    // A metric that fails names the file, and a scorer that does not exist is one error.
    for options in [["--metric", "ece()"], ["--scorer", "nobody"], ["--cluster", "passage"]] {
        let compared = first_error(&folder, &with(&["compare"], &options));
        for kind in ["ranking", "pairs"] {
            assert_eq!(first_error(&folder, &with(&["plot", kind], &options)), compared, "{kind}");
        }
    }
    let files = ["t.csv", "other.csv", "t.csv"];
    let compared = first_error(&folder, &[&["compare"], files.as_slice()].concat());
    assert_eq!(first_error(&folder, &[&["plot", "ranking"], files.as_slice()].concat()), compared);
    let labels = ["--score-column", "label"];
    for (metric, target) in [("recall(\"truth\")", "truth"), ("recall(\"nope\")", "nope")] {
        let scored = first_error(&folder, &with(&["score"], &["--metric", metric, labels[0], labels[1]]));
        let plotted = with(&["plot", "confusion"], &["--target", target, labels[0], labels[1]]);
        assert_eq!(first_error(&folder, &plotted), scored, "{target}");
    }
    let text = refused(&folder, &with(&["plot", "confusion"], &["--target", "nope"]));
    assert!(text.contains("metadata keys: truth, label") && text.contains("--target KEY"), "{text}");
}

/// A file for programs has numbers, one to a column, those of `score`.
#[test]
fn csv_is_numbers() {
    let folder = Folder::new(&[("t.csv", TABLE)]);
    let written = |kind: &str| {
        drawn(&folder, &["plot", kind, "t.csv", "--by", "model", "-o", "x.csv", "--force"]);
        fs::read_to_string(folder.path().join("x.csv")).unwrap()
    };
    let estimates = written("estimates");
    assert!(
        estimates
            .starts_with("run,metric,value,stderr,lower,upper,n,absent\nheron,accuracy,0.66666666666666"),
        "{estimates}"
    );
    let pairs = written("pairs");
    assert!(pairs.starts_with("run,minus,metric,value,stderr,lower,upper,n,p,"), "{pairs}");
    for cell in pairs.lines().nth(1).unwrap().split(',').skip(3) {
        assert!(cell.parse::<f64>().is_ok(), "{cell} in {pairs}");
    }
    // As for other commands, `-` is standard output.
    assert!(drawn(&folder, &["plot", "estimates", "t.csv", "--by", "model", "-o", "-"]).starts_with("<svg"));
    assert!(!folder.path().join("-").exists());
}

/// The almanac example by these models, with 24 questions, as files of JSON.
fn almanac_logs(folder: &Folder) {
    let task = workspace().join("examples/almanac/almanac.toml");
    for name in ["heron", "wren", "magpie"] {
        let outputs = workspace().join(format!("examples/almanac/outputs/{name}.jsonl"));
        let model = format!("replay/{}", outputs.display());
        let args =
            ["eval", task.to_str().unwrap(), "--model", &model, "--limit", "24", "--log-dir", name, "-q"];
        drawn(folder, &args);
        drawn(folder, &["log", "convert", name, "--to", "json", "-o", "json", "-q"]);
    }
}

#[test]
fn an_unfinished_run_is_marked_and_guessing_has_a_line() {
    let folder = Folder::new(&[]);
    almanac_logs(&folder);
    let logs = folder.path().join("json");
    let plot = |kind: &str| drawn(&folder, &["plot", kind, "json"]);
    let kinds = ["estimates", "forest", "distribution", "pairs", "ranking"];
    for kind in kinds {
        let svg = plot(kind);
        assert!(!svg.contains("so far"), "{kind}: {svg}");
        let has_chance =
            svg.contains(">chance 0.25</text>") && svg.contains("dashed line: guessing one of 4 choices");
        assert_eq!(has_chance, ["estimates", "forest"].contains(&kind), "{kind}: {svg}");
    }
    let matched = drawn(&folder, &["plot", "estimates", "json", "--metric", "std"]);
    assert!(!matched.contains("chance"), "the level of guessing is one of means: {matched}");
    // One of them was cancelled.
    let file = fs::read_dir(&logs).unwrap().map(|entry| entry.unwrap().path()).min().unwrap();
    let text = fs::read_to_string(&file).unwrap();
    let cancelled = text.replacen("\"status\": \"success\"", "\"status\": \"cancelled\"", 1);
    let cancelled = cancelled.replacen("\"status\":\"success\"", "\"status\":\"cancelled\"", 1);
    assert_ne!(text, cancelled);
    fs::write(&file, cancelled).unwrap();
    for kind in kinds {
        let svg = plot(kind);
        assert!(svg.contains("so far: the run has not reached its end"), "{kind}: {svg}");
        assert!(svg.contains("mk hollow"), "{kind}: {svg}");
    }
}
