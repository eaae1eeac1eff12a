//! Hints about tables, followed: what they propose works and means what it says.

use crate::Folder;

/// A table of these cells, in a column of this name.
fn table(column: &str, cells: &[&str]) -> Folder {
    let rows: String = cells.iter().enumerate().map(|(at, cell)| format!("q{at},{cell}\n")).collect();
    Folder::new(&[("t.csv", &format!("id,{column}\n{rows}"))])
}

/// The exit code, and what is reported.
fn scored(folder: &Folder, options: &[&str]) -> (Option<i32>, String, String) {
    let output = folder.run(&[&["score", "t.csv"], options].concat());
    let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (output.status.code(), stdout, stderr)
}

/// The options of the hint, from the first of these on.
fn proposed<'h>(text: &'h str, first: &str) -> Vec<&'h str> {
    let hint = text.split("hint: ").nth(1).unwrap();
    let options = &hint[hint.find(first).unwrap()..];
    let plain = options.split([';', '\n']).next().unwrap();
    plain.split_whitespace().map(|word| word.trim_matches('\'')).collect()
}

#[test]
fn letter_grades_are_ambiguous_whatever_is_skipped() {
    let letters = ["A", "B", "C", "D", "F", "A", "C", "B", "A", "F", "D", "A"];
    let folder = table("grade", &letters);
    for options in [
        &[][..],
        &["--score-column", "grade"],
        &["--score-column", "grade", "--unconvertible", "missing"],
        &["--score-column", "grade", "--unconvertible", "zero"],
    ] {
        let (code, stdout, stderr) = scored(&folder, options);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{options:?}");
        for letter in ["\"A\" (4)", "\"B\" (2)", "\"C\" (2)", "\"D\" (2)", "\"F\" (2)"] {
            assert!(stderr.contains(letter), "{options:?}: {stderr}");
        }
        let (code, stdout, stderr) = scored(&folder, &proposed(&stderr, "--correct"));
        assert!(code == Some(0) && stdout.contains("accuracy  0.50"), "{stdout}{stderr}");
    }
    // Without letters of a school, and with a word for an error, grades are what they are in logs.
    for cells in [&["C", "I", "P", "N"][..], &["C", "I", "I", "NA"]] {
        assert_eq!(scored(&table("grade", cells), &[]).0, Some(0), "{cells:?}");
    }
}

#[test]
fn booleans_keep_their_meaning_beside_a_named_word() {
    let folder = table("correct", &["True", "False", "timeout", "True"]);
    let (code, _, stderr) = scored(&folder, &[]);
    assert_eq!(code, Some(2));
    let options = proposed(&stderr, "--incorrect");
    let (code, stdout, stderr) = scored(&folder, &options);
    assert!(code == Some(0) && stdout.contains("accuracy  0.50"), "{options:?}: {stdout}{stderr}");
    let (code, stdout, _) = scored(&folder, &["--correct", "timeout"]);
    assert!(code == Some(0) && stdout.contains("accuracy  0.75"), "{stdout}");
    // Where one of them is named, the other has to be, too.
    let (code, _, stderr) = scored(&folder, &["--correct", "True", "--incorrect", "timeout"]);
    assert!(code == Some(2) && stderr.contains("\"False\" (1)"), "{stderr}");
}

#[test]
fn words_that_are_named_tell_which_column_is_meant() {
    let folder = table("result", &["PASS", "FAIL", "ERROR", "???", "PASS"]);
    let named = ["--correct", "PASS", "--incorrect", "FAIL", "--incorrect", "ERROR"];
    let (code, stdout, stderr) = scored(&folder, &[&named[..], &["--unconvertible", "missing"]].concat());
    assert!(code == Some(0) && stdout.contains("4 of 5 scored · 1 missing"), "{stdout}{stderr}");
    let (code, _, stderr) = scored(&folder, &named);
    assert_eq!(code, Some(2));
    let more = proposed(&stderr, "--incorrect");
    assert_eq!(scored(&folder, &[&named[..], &more].concat()).0, Some(0), "{stderr}");
}

#[test]
fn thresholds_of_1_are_refused_for_ratings() {
    let folder = Folder::new(&[("t.csv", "id,epoch,rating\n1,1,7\n1,2,3\n2,1,5\n2,2,6\n")]);
    for reducer in ["pass_at_2", "pass_k(2)", "at_least(1)", "g_pass(2, 1)"] {
        let (code, stdout, stderr) = scored(&folder, &["--reducer", reducer]);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{reducer}");
        assert!(stderr.contains("scores up to 7"), "{stderr}");
        let hint = stderr.split("--reducer ").nth(1).unwrap().trim().trim_matches('\'');
        let (code, stdout, stderr) = scored(&folder, &["--reducer", hint]);
        assert!(code == Some(0) && stdout.contains("value=7"), "{hint}: {stdout}{stderr}");
    }
    // A threshold that is named is what is meant, and shares have no other.
    assert_eq!(scored(&folder, &["--reducer", "pass_at(2, value=1)"]).0, Some(0));
    let shares = Folder::new(&[("t.csv", "id,epoch,score\n1,1,1\n1,2,0\n2,1,0.5\n2,2,1\n")]);
    assert_eq!(scored(&shares, &["--reducer", "pass_at_2"]).0, Some(0));
}

#[test]
fn scores_are_no_clusters() {
    // The scores of a third model, and ratings, which go with the score.
    let rows: String = (0..60)
        .map(|at| {
            format!(
                "q{at},{},{},{},{}\n",
                u8::from(at % 3 > 0),
                u8::from(at % 3 > 0),
                10 * (at % 3) + at % 4,
                at % 3
            )
        })
        .collect();
    let folder = Folder::new(&[("t.csv", &format!("id,alpha,gamma,rating,topic\n{rows}"))]);
    let (code, _, stderr) = scored(&folder, &["--score-column", "alpha"]);
    assert!(code == Some(0) && !stderr.contains("--cluster"), "{stderr}");
    // Texts of eight values or more are proposed.
    let rows: String =
        (0..60).map(|at| format!("q{at},{},p{}\n", u8::from(at / 5 % 3 > 0), at / 5)).collect();
    let folder = Folder::new(&[("t.csv", &format!("id,score,passage\n{rows}"))]);
    let (_, _, stderr) = scored(&folder, &[]);
    assert!(stderr.contains("--cluster passage"), "{stderr}");
}

/// What counts from 1 on is no success of a rating, wherever it is drawn.
#[test]
fn ratings_have_no_pass_curve_without_a_threshold() {
    let folder = Folder::new(&[("t.csv", "id,epoch,rating\n1,1,7\n1,2,3\n2,1,5\n2,2,6\n")]);
    folder.check("pass_of_ratings", &["plot", "pass", "t.csv", "-o", "p.svg"]);
    let output = folder.run(&["plot", "pass", "t.csv", "-o", "p.svg", "--threshold", "7"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(folder.run(&["report", "t.csv", "-o", "r.html"]).status.code(), Some(0));
    let page = folder.text("r.html");
    assert!(!page.contains("pass@") && page.contains("from the hardest"), "ratings");
    let shares = Folder::new(&[("t.csv", "id,epoch,score\n1,1,1\n1,2,0\n2,1,0.5\n2,2,1\n")]);
    assert_eq!(shares.run(&["report", "t.csv", "-o", "r.html"]).status.code(), Some(0));
    assert!(shares.text("r.html").contains("pass@"));
}
