use super::*;

fn reader(toml: &str) -> CellReader {
    CellReader::new(&toml.parse().unwrap())
}

fn of(reader: &CellReader, text: &str) -> CellMeaning {
    reader.meaning(LeafRef::Str(text))
}

#[test]
fn words_that_people_use() {
    let cells = reader("");
    for text in
        ["PASS", "Pass", "passed", "Correct", " right ", "Y", "✓", "✔", "✅", "Resolved", " yes", "100%"]
    {
        assert_eq!(of(&cells, text), CellMeaning::Word(1.0), "{text:?}");
    }
    for text in ["FAIL", "failed", "Incorrect", "WRONG", "✗", "✘", "❌", "n", "unresolved", "0 %", " false"]
    {
        assert_eq!(of(&cells, text), CellMeaning::Word(0.0), "{text:?}");
    }
    // What the reference understands stays as it is.
    for (text, score) in
        [("C", 1.0), ("I", 0.0), ("P", 0.5), ("N", 0.0), ("yes", 1.0), ("FALSE", 0.0), ("0.25", 0.25)]
    {
        assert_eq!(of(&cells, text), CellMeaning::Score(score), "{text:?}");
    }
    for text in ["NA", "n/a", "None", "null", "NULL", "-", "#N/A", "<NA>", "", "  "] {
        assert_eq!(of(&cells, text), CellMeaning::Missing, "{text:?}");
    }
    assert_eq!(of(&cells, "28%"), CellMeaning::Word(0.28));
    for (text, reason) in [
        ("A", NoScore::Word),
        ("c", NoScore::Word),
        ("maybe", NoScore::Word),
        ("%", NoScore::Word),
        ("1,234.5", NoScore::Word),
        ("inf%", NoScore::Word),
        ("7/10", NoScore::Fraction),
        ("1,5", NoScore::DecimalComma),
    ] {
        assert_eq!(of(&cells, text), CellMeaning::NoScore(reason), "{text:?}");
    }
}

#[test]
fn letters_of_a_school_make_grades_ambiguous() {
    let cells = reader("");
    for grades in [
        &["A", "C"][..],
        &["F", "P"],
        &["B-", "I"],
        &["C+", "C"],
        &[" D ", "N"],
        &["C", "E"],
        &["C", "a"],
        &["A", "B", "D"],
        &["a", "c"],
        &["c", "i"],
        &["A", "A-"],
        // Another scale.
        &["C", "G", "S"],
    ] {
        assert!(cells.are_ambiguous_grades(grades.iter().copied()), "{grades:?}");
    }
    for grades in [
        &["C", "I", "P", "N"][..],
        &["A", "A ", "timeout"],
        &["y", "n", "f"],
        &["C", "g"],
        &["", "C"],
        &["é", "C"],
        &["C", "I", "R", "S"],
    ] {
        assert!(!cells.are_ambiguous_grades(grades.iter().copied()), "{grades:?}");
    }
    // What is named, or means that there is no score, is clear.
    for mapping in [
        "correct = \"A\"\nincorrect = \"C\"",
        "correct = \"A\"\nna = [\"C\"]",
        "correct = \"PASS\"",
        "na = [\"A\"]",
        "scale = 10",
    ] {
        assert!(!reader(mapping).are_ambiguous_grades(["A", "C"]), "{mapping}");
    }
    // One that is named leaves the others unclear.
    for mapping in ["correct = \"A\"", "incorrect = \"C\"", "correct = [\"A\", \"B\"]"] {
        assert!(reader(mapping).are_ambiguous_grades(["A", "C"]), "{mapping}");
    }
}

/// What is proposed for the cells of a column: correct, incorrect and missing ones.
fn proposal(mapping: &str, cells: &[&str]) -> Result<String, GradeMeaning> {
    match reader(mapping).grade_meaning(cells.iter().map(|cell| LeafRef::Str(cell))) {
        GradeMeaning::Named(GradeProposal { correct, incorrect, missing }) => {
            Ok([correct, incorrect, missing].map(|cells| cells.join(" ")).join("/"))
        }
        meaning => Err(meaning),
    }
}

#[test]
fn letters_alone_are_proposed_as_grades() {
    for (cells, expected) in [
        (&["A", "B", "C", "F", "absent"][..], "A B/C F/absent"),
        (&["C", "B", "absent"], "B/C/absent"),
        // Words keep their meaning.
        (&["A", "C", "F", "true", "false"], "A/C F/"),
        (&["A", "B", "Fail", "pass", "C"], "A B/C/"),
        // Names of missing cells replace the usual ones.
        (&["A", "C", "NA", "", "excused"], "A/C/NA excused"),
        (&["A", "C", "NA", ""], "A/C/"),
        (&["F", "P", "?"], "P/F/?"),
        (&["C", "I", "F"], "C/F I/"),
        (&["c", "i"], "c/i/"),
        (&["D", " C ", "C"], "C/D/"),
    ] {
        assert_eq!(proposal("", cells).as_deref(), Ok(expected), "{cells:?}");
    }
    for (cells, expected) in [
        (&["1.0", "0", "A", "C", "F"][..], GradeMeaning::BesideNumbers),
        (&["0.5", "D", "C", "1"], GradeMeaning::BesideNumbers),
        (&["A", "C", "80%"], GradeMeaning::BesideNumbers),
        (&["A", "C", "absurd"], GradeMeaning::BesideWords),
        (&["C", "G", "S"], GradeMeaning::Unclear),
        (&["A", "A-"], GradeMeaning::Unclear),
        (&["F", "N", "Y"], GradeMeaning::Unclear),
        (&["C", "P", "F"], GradeMeaning::Halves),
    ] {
        assert_eq!(proposal("", cells), Err(expected), "{cells:?}");
    }
    let numbers = reader("").grade_meaning([LeafRef::Str("A"), LeafRef::Int(1), LeafRef::Str("C")]);
    assert_eq!(numbers, GradeMeaning::BesideNumbers);
    // A number that means a missing score is none.
    let missing =
        reader("na = [\"-99\"]").grade_meaning([LeafRef::Str("A"), LeafRef::Int(-99), LeafRef::Str("C")]);
    assert!(matches!(missing, GradeMeaning::Named(_)), "{missing:?}");
}

#[test]
fn grades_beside_named_ones_are_proposed() {
    let letters = ["A", "B", "C", "D", "F"];
    for (mapping, expected) in [
        ("correct = \"A\"", "B/C D F/"),
        ("incorrect = \"F\"", "A B/C D/"),
        ("correct = \"D\"", "A B C/F/"),
        ("correct = [\"A\", \"B\"]\nincorrect = [\"C\", \"D\"]", "/F/"),
    ] {
        assert_eq!(proposal(mapping, &letters).as_deref(), Ok(expected), "{mapping}");
    }
    assert_eq!(proposal("correct = \"C\"", &["C", "G"]), Err(GradeMeaning::BesideWords));
}

/// Cells that a policy would leave out or count as 0, while others with a letter count as correct.
#[test]
fn unclear_grades_are_reported_whatever_the_policy() {
    let letters = ["A", "C", "F", "A"].map(Leaf::from);
    let reasons = |cells: &[Leaf], mapping: &str, policy| {
        let found = refused(&mut table(cells, mapping), policy);
        found.into_iter().map(|one| (one.reason, one.values.len())).collect::<Vec<_>>()
    };
    for policy in [NoScorePolicy::Refuse, NoScorePolicy::Missing, NoScorePolicy::Zero] {
        assert_eq!(reasons(&letters, "", policy), [(NoScore::SchoolGrade, 3)], "{policy:?}");
        assert_eq!(reasons(&letters, "incorrect = \"F\"", policy), [(NoScore::SchoolGrade, 2)], "{policy:?}");
    }
    for policy in [NoScorePolicy::Refuse, NoScorePolicy::Missing] {
        assert_eq!(reasons(&letters, "correct = \"A\"", policy), [(NoScore::SchoolGrade, 2)], "{policy:?}");
    }
    // All that is correct is named.
    assert_eq!(reasons(&letters, "correct = \"A\"", NoScorePolicy::Zero), []);
    let scale = ["C", "G", "S"].map(Leaf::from);
    assert_eq!(reasons(&scale, "", NoScorePolicy::Missing), [(NoScore::SchoolGrade, 3)]);
}

#[test]
fn unclear_grades_in_maps_and_lists_are_reported() {
    let read = |values: [Value; 2], mapping: &str, policy| {
        let mut table = ScoreTable { mapping: mapping.parse().unwrap(), ..ScoreTable::default() };
        table.columns = ScoreColumns::new(["s"]);
        for (at, value) in values.into_iter().enumerate() {
            let score = errorbar_core::Score::new(value);
            table.columns.push(at.to_string(), 1).score("s", score).unwrap();
        }
        refused(&mut table, policy)
    };
    let map = |x: &str, y: &str| Value::map([("x", Leaf::from(x)), ("y", y.into())]);
    for policy in [NoScorePolicy::Missing, NoScorePolicy::Zero] {
        let found = read([map("A", "C"), map("C", "I")], "", policy);
        let found: Vec<_> = found.into_iter().map(|one| (one.reason, one.grades)).collect();
        assert_eq!(found, [(NoScore::SchoolGrade, Some(GradeMeaning::Nested))], "{policy:?}");
        let lists = [Value::from(vec![Leaf::from("A"), "C".into()]), Value::from(vec![Leaf::from("C")])];
        assert_eq!(read(lists, "", policy).len(), 1, "{policy:?}");
        // One key has grades of the reference, the other none.
        assert_eq!(read([map("A", "C"), map("A", "I")], "", policy), [], "{policy:?}");
        let named = "correct = [\"A\", \"C\"]\nincorrect = \"I\"";
        assert_eq!(read([map("A", "C"), map("C", "I")], named, policy), [], "{policy:?}");
    }
    // What reads the letters reports them, and no one else has to.
    assert_eq!(read([map("A", "C"), map("C", "I")], "", NoScorePolicy::Refuse), []);
}

#[test]
fn named_cells_are_the_only_ones() {
    let cells = reader("correct = [\"good\", \"2\", \"TRUE\"]\nincorrect = \"bad\"");
    assert_eq!(of(&cells, " good"), CellMeaning::Word(1.0));
    assert_eq!(of(&cells, "bad"), CellMeaning::Word(0.0));
    assert_eq!(cells.meaning(LeafRef::Int(2)), CellMeaning::Word(1.0));
    assert_eq!(cells.meaning(LeafRef::Float(2.0)), CellMeaning::Word(1.0));
    assert_eq!(cells.meaning(LeafRef::Bool(true)), CellMeaning::Word(1.0));
    assert_eq!(of(&cells, "NA"), CellMeaning::Missing);
    for leaf in [LeafRef::Str("Good"), LeafRef::Str("C"), LeafRef::Int(1), LeafRef::Bool(false)] {
        assert_eq!(cells.meaning(leaf), CellMeaning::NoScore(NoScore::Unnamed), "{leaf:?}");
    }
    // But for booleans, if none is named.
    let cells = reader("incorrect = \"timeout\"");
    assert_eq!(cells.meaning(LeafRef::Bool(true)), CellMeaning::Word(1.0));
    assert_eq!(of(&cells, "FALSE"), CellMeaning::Word(0.0));
}

#[test]
fn scores_on_a_scale() {
    let cells = reader("scale = 10");
    assert_eq!(cells.meaning(LeafRef::Int(7)), CellMeaning::Word(0.7));
    assert_eq!(of(&cells, "7/10"), CellMeaning::Word(0.7));
    assert_eq!(of(&cells, " 7 / 10 "), CellMeaning::Word(0.7));
    assert_eq!(of(&cells, "NA"), CellMeaning::Missing);
    for text in ["7/5", "11", "70%", "PASS", "C"] {
        assert_eq!(of(&cells, text), CellMeaning::NoScore(NoScore::OffScale), "{text}");
    }
    assert_eq!(cells.meaning(LeafRef::Bool(true)), CellMeaning::NoScore(NoScore::OffScale));
    assert_eq!(of(&reader("scale = 100"), "70%"), CellMeaning::Word(0.7));
    assert_eq!(reader("scale = [1, 5]").meaning(LeafRef::Int(3)), CellMeaning::Word(0.5));
    assert_eq!(of(&reader("scale = [1, 5]"), "3/5"), CellMeaning::Word(0.5));
}

#[test]
fn decimal_commas() {
    let cells = reader("decimal = \",\"");
    assert_eq!(of(&cells, "0,5"), CellMeaning::Word(0.5));
    assert_eq!(of(&cells, "28,5%"), CellMeaning::Word(0.285));
    assert_eq!(cells.meaning(LeafRef::Int(1)), CellMeaning::Score(1.0));
    assert_eq!(cells.meaning(LeafRef::Float(1.234)), CellMeaning::NoScore(NoScore::DecimalPoint));
    let scaled = reader("decimal = \",\"\nscale = 10");
    assert_eq!(of(&scaled, "2,5"), CellMeaning::Word(0.25));
    assert_eq!(scaled.meaning(LeafRef::Float(1.234)), CellMeaning::NoScore(NoScore::DecimalPoint));
    assert_eq!(of(&scaled, "1.234"), CellMeaning::NoScore(NoScore::DecimalPoint));
    // A number of JSON has no mark of decimals.
    let json = reader("decimal = \",\"\nformat = \"jsonl\"");
    assert_eq!(json.meaning(LeafRef::Float(1.234)), CellMeaning::Score(1.234));
}

#[test]
fn missing_cells_that_are_named_replace_the_usual_ones() {
    let cells = reader("na = [\"-99\", \"skipped\"]");
    assert_eq!(cells.meaning(LeafRef::Int(-99)), CellMeaning::Missing);
    assert_eq!(of(&cells, "skipped"), CellMeaning::Missing);
    assert_eq!(of(&cells, ""), CellMeaning::Missing);
    assert_eq!(of(&cells, "NA"), CellMeaning::NoScore(NoScore::Word));
    assert_eq!(of(&cells, "Skipped"), CellMeaning::NoScore(NoScore::Word));
}

fn table(cells: &[Leaf], mapping: &str) -> ScoreTable {
    let mut table = ScoreTable { mapping: mapping.parse().unwrap(), ..ScoreTable::default() };
    table.columns = ScoreColumns::new(["s"]);
    for (at, cell) in cells.iter().enumerate() {
        let score = errorbar_core::Score::new(errorbar_core::Value::from(cell.clone()));
        table.columns.push(at.to_string(), 1).score("s", score).unwrap();
    }
    table
}

/// The cells of a table that are refused, where metrics may convert strings.
fn refused(table: &mut ScoreTable, policy: NoScorePolicy) -> Vec<NoScores> {
    give_meaning(std::slice::from_mut(table), policy, CellUse::Converted)
}

#[test]
fn strings_without_a_meaning_are_no_scores() {
    let cells = [Leaf::from("PASS"), "banana".into(), "7/10".into(), 0.5.into()];
    let read = |policy, used| {
        let mut table = table(&cells, "");
        let found = give_meaning(std::slice::from_mut(&mut table), policy, used);
        (found.len(), table.columns.score(1, "s").map(|score| score.value), values(&table)[0])
    };
    let banana = Some(Value::from("banana"));
    let refused = read(NoScorePolicy::Refuse, CellUse::Numbers);
    assert_eq!((refused.0, &refused.1), (2, &banana), "words, and fractions");
    assert_eq!(read(NoScorePolicy::Zero, CellUse::Numbers), (0, Some(0.into()), Some(1.0)));
    assert_eq!(read(NoScorePolicy::Missing, CellUse::Numbers), (0, None, Some(1.0)));
    for used in [CellUse::Converted, CellUse::LabelsToo] {
        assert_eq!(read(NoScorePolicy::Refuse, used), (0, banana.clone(), Some(1.0)));
    }
    // As it is written; 0 is what the metrics of the reference make of it.
    assert_eq!(read(NoScorePolicy::Refuse, CellUse::Labels), (0, banana, Some(0.0)));
}

fn values(table: &ScoreTable) -> Vec<Option<f64>> {
    let value = |row| Some(Conversion::default().convert(table.columns.score(row, "s")?.value.view()).value);
    (0..table.columns.len()).map(value).collect()
}

#[test]
fn what_only_the_mapping_excludes_is_reported_or_replaced() {
    let cells = [Leaf::from("good"), "bad".into(), "odd".into(), "odd".into(), 1.into(), "NA".into()];
    let mapping = "correct = \"good\"\nincorrect = \"bad\"";
    let mut reported = table(&cells, mapping);
    let found = refused(&mut reported, NoScorePolicy::Refuse);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].values, [("odd".to_owned(), 2), ("1".to_owned(), 1)]);
    assert_eq!((found[0].reason, found[0].location), (NoScore::Unnamed, Some(TableLocation::Row(3))));
    let mut zero = table(&cells, mapping);
    assert_eq!(refused(&mut zero, NoScorePolicy::Zero), []);
    assert_eq!(values(&zero), [Some(1.0), Some(0.0), Some(0.0), Some(0.0), Some(0.0), None]);
    let mut missing = table(&cells, mapping);
    assert_eq!(refused(&mut missing, NoScorePolicy::Missing), []);
    assert_eq!(values(&missing), [Some(1.0), Some(0.0), None, None, None, None]);
}

#[test]
fn percentages_and_plain_numbers_do_not_mix() {
    let mut mixed = table(&["28%".into(), 0.28.into()], "");
    let found = refused(&mut mixed, NoScorePolicy::Refuse);
    assert_eq!(found.iter().map(|one| one.reason).collect::<Vec<_>>(), [NoScore::MixedPercent]);
    // A zero is a zero.
    let mut zero = table(&["28%".into(), 0.into()], "");
    assert_eq!(refused(&mut zero, NoScorePolicy::Refuse), []);
    assert_eq!(values(&zero), [Some(0.28), Some(0.0)]);
}

#[test]
fn mixed_percentages_follow_the_policy() {
    let read = |policy| {
        let mut mixed = table(&["80%".into(), 50.into(), 60.into()], "");
        assert_eq!(refused(&mut mixed, policy), []);
        values(&mixed)
    };
    assert_eq!(read(NoScorePolicy::Zero), [Some(0.0), Some(50.0), Some(60.0)]);
    assert_eq!(read(NoScorePolicy::Missing), [None, Some(50.0), Some(60.0)]);
}

#[test]
fn percentages_in_maps_do_not_mix_with_numbers_under_their_key() {
    let maps = |second: Leaf| {
        let mut table = ScoreTable { columns: ScoreColumns::new(["s"]), ..ScoreTable::default() };
        let maps = [[("a", Leaf::from("80%")), ("b", 7.into())], [("a", second), ("b", 9.into())]];
        for (at, map) in maps.into_iter().enumerate() {
            let score = errorbar_core::Score::new(Value::map(map));
            table.columns.push(at.to_string(), 1).score("s", score).unwrap();
        }
        table
    };
    let found = refused(&mut maps(70.into()), NoScorePolicy::Refuse);
    assert_eq!(found.iter().map(|one| one.reason).collect::<Vec<_>>(), [NoScore::MixedPercent]);
    let mut zero = maps(70.into());
    assert_eq!(refused(&mut zero, NoScorePolicy::Zero), []);
    let expected = Value::map([("a", Leaf::from(0)), ("b", 7.into())]);
    assert_eq!(zero.columns.score(0, "s").unwrap().value, expected);
    assert_eq!(refused(&mut maps("70%".into()), NoScorePolicy::Refuse), []);
}

#[test]
fn percentages_in_one_part_do_not_mix_with_numbers_in_another() {
    let mut parts = [table(&[0.5.into()], ""), table(&["50%".into()], "")];
    let found = give_meaning(&mut parts, NoScorePolicy::Refuse, CellUse::Converted);
    assert_eq!(found.iter().map(|found| found.reason).collect::<Vec<_>>(), [NoScore::MixedPercent]);
    assert_eq!(parts[1].columns.score(0, "s"), Some(errorbar_core::Score::new("50%")));
}

#[test]
fn a_named_cell_is_not_missing() {
    let cells = reader("correct = \"yes\"\nincorrect = [\"no\", \"None\", \"inf\"]");
    assert_eq!(of(&cells, "None"), CellMeaning::Word(0.0));
    assert_eq!(cells.meaning(LeafRef::Float(f64::INFINITY)), CellMeaning::Word(0.0));
    assert_eq!(of(&cells, "NA"), CellMeaning::Missing);
    assert_eq!(of(&cells, " "), CellMeaning::Missing);
}

/// However many scores there are, one that is no score is reported.
#[test]
fn the_last_of_many_distinct_scores_is_looked_at() {
    let columns = |last: &str| {
        let mut columns = ScoreColumns::new(["s"]);
        for at in 0..=DISTINCT {
            let score = errorbar_core::Score::new(at as f64 / 1000.0);
            columns.push(at.to_string(), 1).score("s", score).unwrap();
        }
        let last: f64 = last.parse().unwrap();
        columns.push("last", 1).score("s", errorbar_core::Score::new(last)).unwrap();
        columns
    };
    let of_scale = |last: &str| {
        let mut table = ScoreTable::default();
        (table.columns, table.mapping) = (columns(last), "scale = 100".parse().unwrap());
        refused(&mut table, NoScorePolicy::Refuse)
    };
    assert!(of_scale("99.5").is_empty());
    let found = of_scale("5000.5");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].values, [("5000.5".to_owned(), 1)]);
    assert_eq!(found[0].location, Some(TableLocation::Row(DISTINCT as u64 + 2)));
}
