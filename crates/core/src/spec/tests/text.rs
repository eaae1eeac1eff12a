//! Good texts: what they mean, and how they are printed.

use indexmap::IndexMap;

use super::spec;
use crate::spec::{Arg, Spec, nearest, split_k_suffix};

fn arg(text: &str) -> Arg {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn names() {
    for text in ["accuracy", "accuracy()", " accuracy ( ) ", "accuracy\n(\n)"] {
        assert_eq!(spec(text), Spec::new("accuracy"));
    }
    assert_eq!(spec("inspect_ai/stderr()"), Spec::new("inspect_ai/stderr"));
    assert_eq!(spec("my-evals.v2/f1-score"), Spec::new("my-evals.v2/f1-score"));
    assert_eq!(spec("_private2").name, "_private2");
    assert_eq!(spec("größe").name, "größe");
    assert_eq!(spec("`pass@1`(k=2)"), Spec::new("pass@1").kwarg("k", 2));
    assert_eq!(spec("p/`a/b`"), Spec::new("p/a/b"));
    assert_eq!(spec("`None`").name, "None");
    for half_empty in ["/x", "x/", "/"] {
        let named = Spec::new(half_empty);
        assert_eq!((named.package.as_ref(), named.name.as_str()), (None, half_empty));
        assert_eq!(spec(&named.to_string()), named);
    }
}

#[test]
fn the_design_examples() {
    assert_eq!(spec(r#"stderr(cluster="category")"#), Spec::new("stderr").kwarg("cluster", "category"));
    assert_eq!(spec("at_least_2"), Spec::new("at_least_2"));
    assert_eq!(
        spec(r#"grouped(accuracy(), "category", all="groups", name_template="category_{group_name}")"#),
        Spec::new("grouped")
            .arg(Spec::new("accuracy"))
            .arg("category")
            .kwarg("all", "groups")
            .kwarg("name_template", "category_{group_name}"),
    );
    assert_eq!(
        spec(r#"mean(to_float=value_to_float(correct="yes", incorrect="no"))"#),
        Spec::new("mean")
            .kwarg("to_float", Spec::new("value_to_float").kwarg("correct", "yes").kwarg("incorrect", "no"),),
    );
}

#[test]
fn blanks_and_trailing_commas_are_free() {
    let tight = spec("f(1,[2,3],a={'k':null})");
    assert_eq!(spec("\tf (\n 1 , [ 2 , 3 , ] ,\r\n a = { 'k' : null , } , )\n"), tight);
}

#[test]
fn literals() {
    for (text, value) in [
        ("true", Arg::Bool(true)),
        ("True", Arg::Bool(true)),
        ("false", Arg::Bool(false)),
        ("False", Arg::Bool(false)),
        ("null", Arg::Null),
        ("None", Arg::Null),
        ("[]", Arg::List(Vec::new())),
        ("{}", Arg::Map(IndexMap::new())),
        ("mean", Arg::from(Spec::new("mean"))),
        ("nan", Arg::from(Spec::new("nan"))), // not a number
        ("`true`", Arg::from(Spec::new("true"))),
        ("0", Arg::Int(0)),
        ("-7", Arg::Int(-7)),
        ("+7", Arg::Int(7)),
        ("007", Arg::Int(7)),
        ("1_000_000", Arg::Int(1_000_000)),
        ("9223372036854775807", Arg::Int(i64::MAX)),
        ("-9223372036854775808", Arg::Int(i64::MIN)),
        ("1.0", Arg::Float(1.0)),
        ("1.", Arg::Float(1.0)),
        (".5", Arg::Float(0.5)),
        ("-.5", Arg::Float(-0.5)),
        ("1e3", Arg::Float(1000.0)),
        ("1_0.2_5E-0_2", Arg::Float(0.1025)),
        ("2e+3", Arg::Float(2000.0)),
        ("1e-400", Arg::Float(0.0)),
    ] {
        assert_eq!(arg(text), value, "{text}");
    }
}

#[test]
fn strings() {
    for (text, value) in [
        (r#""""#, ""),
        ("''", ""),
        (r#""it's""#, "it's"),
        (r#"'say "hi"'"#, "say \"hi\""),
        (r#""\"\'\\\n\r\t""#, "\"'\\\n\r\t"),
        // A backslash that starts no escape stays, as in Python.
        (r"'(\d+)\s\.\/\`\8\é'", r"(\d+)\s\.\/\`\8\é"),
        (r"'\\d'", r"\d"),
        (r"r'(\d+)\n\x4\N'", r"(\d+)\n\x4\N"),
        (r#"R"a\"b\\""#, r#"a\"b\\"#),
        (r#"r'it\'s "x"'"#, r#"it\'s "x""#),
        ("r''", ""),
        (
            r#""""a "b"
""c" \x41""""#,
            "a \"b\"\n\"\"c\" A",
        ),
        ("'''it's'''", "it's"),
        (r"r'''\d'\n'''", r"\d'\n"),
        ("''''''", ""),
        (r"'\a\b\f\v\0\101\1012'", "\u{7}\u{8}\u{c}\u{b}\0AA2"),
        (r"'\x41\u00e9\u{1F389}\U0001f389'", "Aé🎉🎉"),
        (r#""\ud83c\udf89""#, "🎉"),
        ("'two\nlines'", "two\nlines"),
        ("'one \\\nline'", "one line"),
        ("'one \\\r\nline'", "one line"),
        ("'{brackets] (and, = :'", "{brackets] (and, = :"),
    ] {
        assert_eq!(arg(text), Arg::from(value), "{text}");
    }
}

#[test]
fn printed() {
    for (text, printed) in [
        ("accuracy()", "accuracy"),
        ("inspect_ai/accuracy", "inspect_ai/accuracy"),
        ("grouped(accuracy,'c',all=False)", r#"grouped(accuracy(), "c", all=false)"#),
        ("f(None,[1,2.0],{'k':x})", r#"f(null, [1, 2.0], {"k": x()})"#),
        ("f(1.0,1e300,-0.0,1e-7,.1)", "f(1.0, 1e300, -0.0, 1e-7, 0.1)"),
        (r#"f('a"b\'c\\')"#, r#"f("a\"b'c\\")"#),
        (r"f('\n\t\r\0\x7f\u200b\U000e0001é')", "f(\"\\n\\t\\r\\u0000\\u007f\\u200b\\U000e0001é\")"),
        ("`a b`/`c\\`d`(`e f`=`true`)", "`a b`/`c\\`d`(`e f`=`true`())"),
        ("`plain`", "plain"),
    ] {
        assert_eq!(spec(text).to_string(), printed);
    }
}

#[test]
fn conversions() {
    assert_eq!(Arg::from(Some("x")), Arg::Str("x".to_owned()));
    assert_eq!(Arg::from(None::<i64>), Arg::Null);
    assert_eq!(Arg::from(vec![true]), Arg::List(vec![Arg::Bool(true)]));
    assert_eq!(Arg::from(3_u32).as_i64(), Some(3));
    assert_eq!(Arg::from(3_i32).as_f64(), Some(3.0));
    assert_eq!(Arg::from("x").as_str(), Some("x"));
    assert_eq!(Arg::from(Spec::new("x")).as_spec(), Some(&Spec::new("x")));
    assert_eq!(Arg::Bool(true).as_bool(), Some(true));
    assert_eq!(Arg::Int(1).as_bool(), None);
    assert_eq!(Arg::Float(1.0).as_i64(), None);
}

#[test]
fn binding() {
    let bound = spec("f(1, c='x')").bind(&["a", "b", "c"]).unwrap();
    let bound: Vec<_> = bound.into_iter().collect();
    assert_eq!(bound, [("a".to_owned(), Arg::Int(1)), ("c".to_owned(), Arg::from("x"))]);
    assert!(spec("f").bind(&[]).unwrap().is_empty());
}

#[test]
fn nearest_names() {
    let known = ["accuracy", "mean", "std", "stderr", "var", "bootstrap_stderr", "ci", "ci_wilson"];
    for (typed, meant) in [
        ("accuracy", Some("accuracy")),
        ("Accuracy", Some("accuracy")),
        ("acurracy", Some("accuracy")),
        ("maen", Some("mean")),
        ("stdder", Some("stderr")),
        ("stdev", Some("std")),
        ("accuracy_score", Some("accuracy")),
        ("stderr_of_the_mean", None), // std or stderr
        ("boots", Some("bootstrap_stderr")),
        ("bootstrap_sterr", Some("bootstrap_stderr")),
        ("xyz", None),
        ("x", None),
        ("", None),
        ("st", Some("std")),
        ("perplexity", None),
    ] {
        assert_eq!(nearest(typed, known), meant, "{typed}");
    }
    assert_eq!(nearest("q", ["k", "n"]), None);
    assert_eq!(nearest(&"x".repeat(1_000_000), known), None);
}

#[test]
fn k_suffixes() {
    for (name, parts) in [
        ("at_least_2", Some(("at_least", 2))),
        ("pass_at_10", Some(("pass_at", 10))),
        ("k_0", Some(("k", 0))),
        ("at_least", None),
        ("at_least_", None),
        ("_2", None),
        ("x2", None),
        ("x_+2", None),
        ("x_2a", None),
        ("x_٣", None),
        ("x_99999999999999999999", None),
    ] {
        assert_eq!(split_k_suffix(name), parts, "{name}");
    }
}
