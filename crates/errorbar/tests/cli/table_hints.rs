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

/// What the hint about letters proposes has letters on both sides, and is what a reader of the column would say.
#[test]
fn proposals_for_letter_grades_make_sense() {
    for (cells, proposal, accuracy) in [
        // Beside I and N, C is correct.
        (&["C", "I", "F", "C"][..], "--correct C --incorrect F --incorrect I", "0.50"),
        (&["C", "N", "F", "F"], "--correct C --incorrect F --incorrect N", "0.25"),
        // Where no letter is certain to pass or to fail, the best one passes.
        (&["C", "D", "D", "D"], "--correct C --incorrect D", "0.25"),
        (&["C", "E", "F", "C"], "--correct C --incorrect E --incorrect F", "0.50"),
        (&["A", "B", "B", "B"], "--correct A --incorrect B", "0.25"),
        (&["a", "b", "c", "f"], "--correct a --correct b --incorrect c --incorrect f", "0.50"),
        (&["c", "i", "i", "i"], "--correct c --incorrect i", "0.25"),
    ] {
        let folder = table("grade", cells);
        for skipped in [&[][..], &["--unconvertible", "missing"], &["--unconvertible", "zero"]] {
            let (code, stdout, stderr) = scored(&folder, &[&["--score-column", "grade"], skipped].concat());
            assert_eq!((code, stdout.as_str()), (Some(2), ""), "{cells:?} {skipped:?}: {stderr}");
            let options = proposed(&stderr, "--");
            assert_eq!(options.join(" "), proposal, "{cells:?} {skipped:?}");
            let (code, stdout, stderr) = scored(&folder, &options);
            assert!(code == Some(0) && stdout.contains(&format!("accuracy  {accuracy}")), "{stdout}{stderr}");
        }
    }
    // Nothing is proposed where it would be a guess.
    for (cells, hint) in [
        (&["F", "N", "Y", "N"][..], "such as 1 and 0"),
        (&["C", "P", "I", "F"], "such as 1, 0.5 and 0"),
        (&["A", "A-", "A+", "A"], "such as 1 and 0"),
    ] {
        let (code, stdout, stderr) = scored(&table("grade", cells), &["--score-column", "grade"]);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{cells:?}");
        assert!(stderr.contains(hint) && !stderr.contains("--correct F"), "{cells:?}: {stderr}");
    }
}

#[test]
fn words_for_skipped_samples_are_proposed_as_missing() {
    for (cells, proposal, figure) in [
        (&["True", "False", "SKIP", "timeout", "True"][..], "--incorrect timeout --na SKIP", "0.50"),
        (&["True", "False", "skipped", "True"], "--na skipped", "0.67"),
        (&["yes", "no", "timeout", "yes", "NA"], "--incorrect timeout", "0.50"),
        (&["yes", "no", "Skipped", "yes", "NA"], "--na NA,Skipped", "0.67"),
        (&["won", "lost", "not run"], "--correct won --incorrect lost --na not run", "0.50"),
    ] {
        let folder = table("correct", cells);
        let (code, _, stderr) = scored(&folder, &[]);
        assert_eq!(code, Some(2), "{cells:?}");
        let options = proposed(&stderr, "--");
        assert_eq!(options.join(" ").replace("not' 'run", "not run"), proposal, "{cells:?}: {stderr}");
        let options: Vec<&str> = match options.as_slice() {
            [named @ .., "not", "run"] => [named, &["not run"]].concat(),
            options => options.to_vec(),
        };
        let (code, stdout, stderr) = scored(&folder, &options);
        assert!(
            code == Some(0) && stdout.contains(&format!("accuracy  {figure}")),
            "{cells:?}: {stdout}{stderr}"
        );
    }
}

#[test]
fn verdicts_keep_their_meaning_beside_a_named_word() {
    for [right, wrong] in [["yes", "no"], ["PASS", "fail"], ["✓", "✗"]] {
        let folder = table("correct", &[right, wrong, "timeout", right]);
        let (code, stdout, stderr) = scored(&folder, &["--incorrect", "timeout"]);
        assert!(code == Some(0) && stdout.contains("accuracy  0.50"), "{right}: {stdout}{stderr}");
        // Where one of them is named, the other has to be, too.
        let (code, _, stderr) = scored(&folder, &["--correct", right, "--incorrect", "timeout"]);
        assert!(code == Some(2) && stderr.contains(&format!("\"{wrong}\" (1)")), "{stderr}");
    }
    // A letter may be a grade.
    let folder = table("correct", &["Y", "N", "timeout", "Y"]);
    let (code, _, stderr) = scored(&folder, &["--incorrect", "timeout"]);
    assert!(code == Some(2) && stderr.contains("\"Y\" (2)"), "{stderr}");
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
