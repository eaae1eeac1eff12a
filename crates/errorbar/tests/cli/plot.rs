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
    assert_eq!(folder.text("p.csv"), "run,score,samples\nheron,0,2\nheron,1,4\nwren,0,4\nwren,1,2\n");
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
