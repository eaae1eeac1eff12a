//! Expressions: values, and what is refused when they are read and when they are evaluated.

use serde_json::{Value as Json, json};

use super::{Expression, ExpressionErrorKind as Kind, InvalidExpression, Tables};
use crate::{Record, RecordLocation};

const TOO_COMPLEX: &str = "the expression is too long or nested too deep";
const TOO_LARGE: &str = "the expression makes too large a value of this record, or takes too many steps";

const RECORD: &str = r#"{
    "question": "What is 2 + 2?", "answer": 2, "label": "3", "key": "b", "none": null, "empty": "",
    "choices": ["one", "two", "three", "four"], "labels": [0, 1, 0, 1], "truth": true, "half": 0.5,
    "answers": {"text": ["four", "4"], "start": [1, 2], "more": {"deep": [[1, 2], [3]]}},
    "solution": "We add.\n#### 1,234", "listed": "['it''s', 'b']", "tags": "a, b,c", "a.b": "dotted", "a": {"b": "path"},
    "Question (en)": "odd", "big": 9007199254740993, "spaced": "  x y  ", "unicode": "ÄÖ ß"
}"#;

fn record() -> Record {
    let Ok(Json::Object(fields)) = serde_json::from_str(RECORD) else { panic!("no object") };
    Record::new(RecordLocation::NOWHERE, fields)
}

fn parse_over(text: &str, columns: &[&str]) -> Result<Expression, InvalidExpression> {
    Expression::parse(text, &columns.iter().copied().collect(), &Tables::default())
}

fn parse(text: &str) -> Result<Expression, InvalidExpression> {
    let record = record();
    let columns: Vec<&str> = record.names().collect();
    parse_over(text, &columns)
}

#[track_caller]
fn eval(text: &str) -> Json {
    let record = record();
    let expression = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let value = expression.eval(|name| record.get(name)).unwrap_or_else(|error| panic!("{text}: {error}"));
    value.into_owned()
}

/// What is wrong with an expression when it is read: kind and the part of the text.
#[track_caller]
fn refused(text: &str) -> Vec<(Kind, &str)> {
    let invalid = parse(text).err().unwrap_or_else(|| panic!("{text} is read"));
    invalid.problems.into_iter().map(|problem| (problem.kind, &text[problem.span])).collect()
}

/// What is wrong with its value: message, and the part of the text.
#[track_caller]
fn fails(text: &str) -> (String, &str) {
    let record = record();
    let error = parse(text)
        .unwrap()
        .eval(|name| record.get(name))
        .err()
        .unwrap_or_else(|| panic!("{text} has a value"));
    (error.to_string(), &text[error.span])
}

/// Expressions that Python can evaluate too; the values were printed by it, with `sub` and others defined as the
/// methods they are called after.
#[test]
fn values_are_those_of_python() {
    let cases: Vec<(String, Json)> =
        serde_json::from_str(include_str!("../../tests/data/python_expressions.json")).unwrap();
    assert!(cases.len() > 100, "{}", cases.len());
    for (text, value) in cases {
        assert_eq!(eval(&text), value, "{text}");
    }
}

#[test]
fn a_column_wins_over_an_expression() {
    assert_eq!(eval("a.b"), json!("dotted"));
    assert_eq!(eval("a.b + ''"), json!("path"));
    assert_eq!(eval("Question (en)"), json!("odd"));
    assert_eq!(eval("col('Question (en)').upper()"), json!("ODD"));
    assert_eq!(eval("col('a.b')"), json!("dotted"));
}

#[test]
fn templates_hold_expressions() {
    assert_eq!(eval("{question}\n{choices[0]}, {lower('B')}"), json!("What is 2 + 2?\none, b"));
    assert_eq!(eval("{{{key}}} {half} {truth} {choices[:2]}"), json!("{b} 0.5 True ['one', 'two']"));
    assert_eq!(eval("{'}'}{\"{\"}|"), json!("}{|"));
    // Alone, the value stays what it is.
    assert_eq!(eval("{choices}"), json!(["one", "two", "three", "four"]));
    assert_eq!(eval("{extract('boxed{7}', 'boxed{(.*)}')}"), json!("7"));
    let used = Expression::possible_columns("{question} {answers.text[0]} {question}", &Tables::default());
    assert_eq!(used.unwrap(), ["question", "answers"]);
    let advice = "default(none, '') gives another value in place of None";
    assert_eq!(fails("x {none}"), (format!("`none` is None; {advice}"), "none"));
    assert_eq!(refused("a } {key}")[0].1, "}");
    assert_eq!(refused("{key")[0].1, "{");
    assert_eq!(refused("{key} {kye}"), [(Kind::UnknownColumn { name: "kye".into() }, "kye")]);
}

#[test]
fn letters_come_from_whatever_there_is() {
    for (text, value) in [
        ("letter(answer)", json!("C")),
        ("letter(answer, start=1)", json!("B")),
        ("letter(label)", json!("D")),
        ("letter(label, start=1)", json!("C")),
        ("letter(key)", json!("B")),
        ("letter('(c)')", json!("C")),
        ("letter('D.')", json!("D")),
        ("letter(labels)", json!(["B", "D"])),
        ("letter([True, False])", json!(["A"])),
        ("letter('two', choices)", json!("B")),
        ("letter(2.0)", json!("C")),
        ("letter(26)", json!("1")),
        ("[letter(x) for x in [0, 2]]", json!(["A", "C"])),
    ] {
        assert_eq!(eval(text), value, "{text}");
    }
    for text in [
        "letter(truth)",
        "letter('two')",
        "letter(-1)",
        "letter('0', start=1)",
        "letter([0, 2])",
        "letter(0.5)",
    ] {
        fails(text);
    }
    let message = "there is no 'five' among the choices ['one', 'two', 'three', 'four']";
    assert_eq!(fails("letter('five', choices)").0, message);
}

#[test]
fn lists_that_are_written_as_text() {
    for (text, value) in [
        (r#"["a", "b"]"#, json!(["a", "b"])),
        ("['a', 'b']", json!(["a", "b"])),
        ("['a' 'b']", json!(["a", "b"])),
        ("['a'\n 'it\\'s' \"x, y\"]", json!(["a", "it's", "x, y"])),
        ("[1 2 3]", json!([1, 2, 3])),
        ("[1. 2.5]", json!([1.0, 2.5])),
        ("[None, True, -1, 'é']", json!([null, true, -1, "é"])),
        ("('a', 'b',)", json!(["a", "b"])),
        ("[['a' 'b']\n ['c' 'd']]", json!([["a", "b"], ["c", "d"]])),
        ("array(['a', 'b'], dtype=object)", json!(["a", "b"])),
        ("[]", json!([])),
    ] {
        assert_eq!(super::literal::read(text), Some(value), "{text}");
    }
    let cell = "{'text': array(['x', 'y'],\n      dtype=object), 'label': ['A' 'B']}";
    assert_eq!(super::literal::read(cell), Some(json!({"text": ["x", "y"], "label": ["A", "B"]})));
    for text in ["['a' ... 'b']", "['a", "[a, b]", "['a''b']", "['a'] x", "{'a' 1}", ""] {
        assert_eq!(super::literal::read(text), None, "{text}");
    }
    assert!(super::literal::read(&"[".repeat(100_000)).is_none());
    assert_eq!(eval("list(choices) == choices"), json!(true));
}

#[test]
fn what_is_absent_is_an_error_unless_there_is_a_default() {
    for (text, value) in [
        ("default(none, 'x')", json!("x")),
        ("default(answers.text[7], 'x')", json!("x")),
        ("default(answers.nothing.deep, 'x')", json!("x")),
        ("default(none.text, 'x')", json!("x")),
        ("default(absent_column, 'x')", json!("x")),
        ("default(col('questoin'), 'x')", json!("x")),
        ("default(extract(solution, 'No: (.*)'), 'x')", json!("x")),
        ("default(empty, 'x')", json!("")),
        ("empty or 'x'", json!("x")),
        ("answers.get('nothing', 'x')", json!("x")),
    ] {
        assert_eq!(eval(text), value, "{text}");
    }
    for (text, message, part) in [
        ("answers.txt", "there is no key `txt` in `answers`; did you mean `text`?", "answers.txt"),
        ("answers.xyz", "there is no key `xyz` in `answers`; there are: text, start, more", "answers.xyz"),
        ("'a' + answers.text[2]", "there is no item 2 in `answers.text`, which has 2", "answers.text[2]"),
        ("none.text", "there is no `text` in `none`, which is None", "none.text"),
    ] {
        assert_eq!(fails(text), (message.to_owned(), part), "{text}");
    }
    // A name that is nearly one is not taken for one that may be absent, and other errors are no absence.
    assert_eq!(
        refused("default(questoin, '')"),
        [(Kind::UnknownColumn { name: "questoin".into() }, "questoin")]
    );
    fails("default(lower(answer), '')");
}

#[test]
fn names_and_arguments_are_checked_when_an_expression_is_read() {
    let column = |name: &str| Kind::UnknownColumn { name: name.to_owned() };
    let function = |name: &str| Kind::Other(format!("no function `{name}`"));
    assert_eq!(refused("lowr(questoin)"), [(function("lowr"), "lowr"), (column("questoin"), "questoin")]);
    assert_eq!(refused("Questoin (en)"), [(column("Questoin (en)"), "Questoin (en)")]);
    assert_eq!(refused("[x for y in choices]"), [(column("x"), "x")]);
    assert_eq!(refused("[x for x in choices] + [x]"), [(column("x"), "x")]);
    let arguments = |text: &'static str| match refused(text).pop() {
        Some((Kind::Other(problem), part)) => (problem, part),
        other => panic!("{text}: {other:?}"),
    };
    for (text, function, problem, part) in [
        ("lower()", "lower", "lacks its argument `text`", "lower()"),
        ("letter(answer, choices, 1, 2)", "letter", "takes 3 arguments, found 4", "2"),
        ("key.lower('x')", "lower", "takes 1 argument, found 2", "'x'"),
        ("split(tags, sep=',')", "split", "has no argument `sep`", "sep"),
        ("split(tags, ',', separator=',')", "split", "has its argument `separator` twice", "','"),
        ("extract(key, question)", "extract", "needs a constant in quotes for its pattern", "question"),
    ] {
        let found = arguments(text);
        assert_eq!(found, (format!("`{function}` {problem}"), part), "{text}");
    }
    assert!(matches!(refused("extract(key, '(')")[0], (Kind::Other(_), "'('")));
    let message = "in \"letter(answer, choices, 1, 2)\": `letter` takes 3 arguments, found 4; \
                   it is letter(value, [choices], [start])";
    assert_eq!(parse("letter(answer, choices, 1, 2)").unwrap_err().to_string(), message);
}

#[test]
fn syntax_is_refused_at_its_place() {
    for (text, part) in [
        ("", ""),
        ("answer +", ""),
        ("answer = 2", "="),
        ("answer ? 1", "?"),
        ("(answer", ""),
        ("answer)", ")"),
        ("[answer, ", ""),
        ("answers.", ""),
        ("'open", "'open"),
        ("0x1", "0x1"),
        ("answer is 2", "2"),
        ("answer if truth", ""),
        ("question answer", "answer"),
        ("split == 'test' && truth", "&"),
        ("[x for x choices]", "choices"),
    ] {
        let found = refused(text);
        assert_eq!(found.last().unwrap().1, part, "{text}: {found:?}");
    }
}

#[test]
fn values_of_different_kinds_are_not_compared_in_silence() {
    let message = "'3' is a string, and 3 is a number; compare strings with strings, as in level == '3', \
                   or numbers with numbers: int(level) == 3";
    assert_eq!(fails("label == 3"), (message.to_owned(), "label == 3"));
    for text in [
        "label in [1, 2]",
        "answer < '3'",
        "choices == 'one'",
        "answer in 'abc'",
        "'a' + 1",
        "1 / 0",
        "1 % 0",
    ] {
        fails(text);
    }
    assert_eq!(eval("none == 3"), json!(false));
    assert_eq!(eval("none is None and answer is not None"), json!(true));
}

#[test]
fn arithmetic_stays_within_numbers() {
    for text in ["9223372036854775807 + 1", "1e308 * 10", "-(-9223372036854775807 - 1)"] {
        fails(text);
    }
    assert_eq!(eval("big + 1"), json!(9007199254740994_i64));
}

#[test]
fn what_is_too_much_is_refused() {
    let deep = format!("{}answer{}", "(".repeat(100), ")".repeat(100));
    assert_eq!(refused(&deep)[0].0, Kind::Other(TOO_COMPLEX.to_owned()));
    let long = vec!["answer"; 1000].join(" + ");
    assert_eq!(refused(&long)[0].0, Kind::Other(TOO_COMPLEX.to_owned()));
    let minus = "-".repeat(10_000);
    assert_eq!(refused(&minus)[0].0, Kind::Other(TOO_COMPLEX.to_owned()));
    assert_eq!(refused(&"x".repeat(100_000))[0].0, Kind::Other(TOO_COMPLEX.to_owned()));
    // Four nested comprehensions over 100 numbers each would make 100 million.
    let nested = "[[[[d for d in range(100)] for c in range(100)] for b in range(100)] for a in range(100)]";
    let record = record();
    assert_eq!(
        parse(nested).unwrap().eval(|name| record.get(name)).unwrap_err().kind,
        Kind::Other(TOO_LARGE.to_owned())
    );
    let doubled = "replace(replace(replace(replace('aaaaaaaaaa', 'a', question + question + question), 'a', solution + solution), \
                   'a', solution + question + solution), 'e', question + solution + question)";
    let grown = format!("replace({doubled}, ' ', {doubled})");
    assert_eq!(
        parse(&grown).unwrap().eval(|name| record.get(name)).unwrap_err().kind,
        Kind::Other(TOO_LARGE.to_owned())
    );
}

#[test]
fn lookup_tables_are_indexed() {
    let tables = [
        ("yes_no".to_owned(), json!({"true": "Yes", "false": "No"})),
        ("n".to_owned(), json!({"2": "zwei"})),
    ];
    let record = record();
    let columns = record.names().collect();
    let tables = tables.into_iter().collect();
    let eval = |text: &str| {
        Expression::parse(text, &columns, &tables)
            .unwrap()
            .eval(|name| record.get(name))
            .map(|v| v.into_owned())
    };
    assert_eq!(eval("yes_no[truth]").unwrap(), json!("Yes"));
    assert_eq!(eval("n[answer]").unwrap(), json!("zwei"));
    assert_eq!(eval("default(n[label], '?')").unwrap(), json!("?"));
    assert_eq!(eval("n[label]").unwrap_err().to_string(), "there is no key `3` in `n`; there are: 2");
    let unknown = Expression::parse("yesno[truth]", &columns, &tables).unwrap_err();
    assert_eq!(unknown.problems[0].hint.as_deref(), Some("did you mean `yes_no`?"));
}

#[test]
fn ids_are_those_of_other_collections() {
    // The digests of Python's hashlib over the texts, with a zero byte between.
    assert_eq!(eval("gsm8k_{md5('What is 2+2?', '4')[:8]}"), json!("gsm8k_17f25bba"));
    assert_eq!(eval("boolq_{md5('What is the capital of France?')[:8]}"), json!("boolq_cb0b4aaf"));
}

#[test]
fn answers_that_are_maps_of_lists_become_rows() {
    let text =
        "[r.text + str(r.start) for r in rows(literal('{\"text\": [\"x\", \"y\"], \"start\": [1, 2]}'))]";
    assert_eq!(eval(&format!("{{{text}}}")), json!(["x1", "y2"]));
    // `more` is no list.
    fails("rows(answers)");
    fails("zip(choices, answers.text)");
}

/// Every example of the page, and every function on it.
#[test]
fn the_page_is_true() {
    let page = include_str!("../../../../docs/expressions.md");
    let (_, json) = page.split_once("```json\n").unwrap();
    let (json, _) = json.split_once("```").unwrap();
    let Ok(Json::Object(fields)) = serde_json::from_str(json) else { panic!("{json}") };
    let record = Record::new(RecordLocation::NOWHERE, fields);
    let columns: Vec<&str> = record.names().collect();
    let mut examples = 0;
    for row in page.lines().filter(|line| line.starts_with("| ") && line.ends_with("` |")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [.., text, value] = cells.as_slice() else { panic!("{row}") };
        let (text, value) = (text.trim_matches('`'), value.trim_matches('`'));
        let expression = parse_over(text, &columns).unwrap_or_else(|error| panic!("{error}"));
        let found =
            expression.eval(|name| record.get(name)).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(*found, serde_json::from_str::<Json>(value).unwrap(), "{text}");
        examples += 1;
    }
    assert!(examples > 50, "{examples}");
    for function in super::functions::FUNCTIONS {
        assert!(page.contains(&format!("`{}", function.name)), "{} is not on the page", function.name);
    }
}

/// A sort without a total order may panic: of lists of several kinds, and of integers that floats cannot tell apart.
#[test]
fn lists_without_an_order_are_refused() {
    let mixed: Vec<Json> = (0..200_u32)
        .map(|at| if at % 3 == 0 { json!(format!("s{}", at * 31 % 97)) } else { json!(at * 79 % 101) })
        .collect();
    let large: Vec<Json> = (0..200_i64)
        .map(|at| {
            if at % 3 == 0 {
                json!((1_i64 << 53) as f64 + (at % 8) as f64)
            } else {
                json!((1_i64 << 53) + at * 7 % 8)
            }
        })
        .collect();
    let sorted = |list: Vec<Json>| {
        let mut fields = serde_json::Map::new();
        fields.insert("list".to_owned(), Json::Array(list));
        let record = Record::new(RecordLocation::NOWHERE, fields);
        parse_over("sorted(list)", &["list"])
            .unwrap()
            .eval(|name| record.get(name))
            .map(|value| value.into_owned())
    };
    assert!(sorted(mixed).is_err());
    assert!(sorted(large).is_ok());
    assert_eq!(eval("sorted([10, 9.5, 2])"), json!([2, 9.5, 10]));
    assert!(fails("enumerate(choices, start=9223372036854775807)").0.contains("64 bits"));
}

/// Cells of CSV files are strings, and the string "False" is no false condition.
#[test]
fn strings_that_spell_booleans_are_no_conditions() {
    for text in [
        "not label_of_truth",
        "'a' if label_of_truth else 'b'",
        "label_of_truth and key",
        "any([label_of_truth])",
        "[c for c, ok in zip(['x'], [label_of_truth]) if ok]",
    ] {
        for spelled in ["'False'", "'true'", "'no'", "'0'", "'1.0'"] {
            let (message, _) = fails_owned(&text.replace("label_of_truth", spelled));
            assert!(message.contains("counts as true; compare it: "), "{text}: {message}");
        }
    }
    assert_eq!(fails("'a' if 'False' else 'b'").1, "'False'");
    assert_eq!(eval("'False' or 'none'"), json!("False"));
    assert_eq!(eval("empty or 'none'"), json!("none"));
    assert_eq!(eval("'a' if question else 'b'"), json!("a"));
    assert_eq!(eval("[x for x in ['0', '', 'no'] if x]"), json!(["0", "no"]));
}

fn fails_owned(text: &str) -> (String, String) {
    let (message, part) = fails(text);
    (message, part.to_owned())
}

#[test]
fn equal_items_are_there_once() {
    assert_eq!(eval("unique([1, 1.0, True, 2, 0.5, 0.5, '1'])"), json!([1, 2, 0.5, "1"]));
    assert_eq!(eval("unique([[1, 2], [1.0, 2.0], ['1', 2]])"), json!([[1, 2], ["1", 2]]));
}

/// The values were printed by Python's `re.sub`.
#[test]
fn groups_of_a_match_are_filled_in() {
    for (text, value) in [
        (r"sub('aQb', '(Q)', r'<\1>')", "a<Q>b"),
        (r"sub('ab', '(a)(b)', r'\2\1')", "ba"),
        (r"sub('ab', '(?P<first>a)b', r'\g<first>\g<1>0')", "aa0"),
        (r"sub('ab', '(x)?a', r'[\1]')", "[]b"),
        (r"sub('ab', 'a', r'\\1\n\.')", "\\1\n\\.b"),
        (r"sub('ab', 'a', r'\g<0>\g<0>')", "aab"),
    ] {
        assert_eq!(eval(text), json!(value), "{text}");
    }
    for text in [
        r"sub('a', 'a', r'\1')",
        r"sub('a', '(a)', r'\g<x>')",
        r"sub('a', 'a', r'\q')",
        r"sub('a', 'a', r'x\g')",
    ] {
        assert!(fails(text).0.contains("groups are written"), "{text}");
    }
}

#[test]
fn steps_are_bounded() {
    let mut fields = serde_json::Map::new();
    fields.insert("list".to_owned(), Json::Array((0..1000).map(Json::from).collect()));
    let record = Record::new(RecordLocation::NOWHERE, fields);
    let text = "[1 for x in list if any([1 for y in list if len([z for z in list if z == -1]) == 1])]";
    let expression = parse_over(text, &["list"]).unwrap();
    assert_eq!(expression.eval(|name| record.get(name)).unwrap_err().kind, Kind::Other(TOO_LARGE.to_owned()));
}

#[test]
fn what_is_called_otherwise_elsewhere_is_known() {
    let hint = |text: &str| parse(text).unwrap_err().problems[0].hint.clone().unwrap();
    assert_eq!(hint("trim(key)"), "did you mean `strip`?");
    assert_eq!(hint("concat(key, key)"), "strings and lists are joined with +: a + b");
    assert_eq!(hint("Q: {Question (en)}"), "write col('Question (en)')");
    let message = "`question` is a string, which has no key `upper`; functions are called with parentheses: question.upper()";
    assert_eq!(fails("question.upper").0, message);
}
