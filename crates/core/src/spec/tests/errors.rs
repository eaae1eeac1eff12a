//! Invalid strings: each error points at its column and names what was expected.

use super::spec;
use crate::spec::{MAX_DEPTH, MetricsSpec, Spec, SpecError};

fn error(text: &str) -> SpecError {
    match text.parse::<Spec>() {
        Ok(spec) => panic!("{text} was read as {spec:?}"),
        Err(error) => error,
    }
}

#[test]
fn messages() {
    for (text, message) in [
        ("", "expected a name, found the end of the input at column 1"),
        ("  ", "expected a name, found the end of the input at column 3"),
        ("2", "expected a name, found '2' at column 1"),
        ("True", "expected a name, found 'True' at column 1"),
        ("``", "expected a name, found an empty one at column 1"),
        ("'mean'", "expected a name, found \"'\" at column 1"),
        ("a/", "expected a name after the package, found the end of the input at column 3"),
        ("a/ b", "expected a name after the package, found ' ' at column 3"),
        ("a/b/c", "expected the end of the input, found '/' at column 4"),
        ("a, b", "expected the end of the input, found ',' at column 2"),
        ("a()()", "expected the end of the input, found '(' at column 4"),
        ("a(", "expected a value, found the end of the input at column 3"),
        ("a(1", "expected ',' or ')' after an argument, found the end of the input at column 4"),
        ("a(1 2)", "expected ',' or ')' after an argument, found '2' at column 5"),
        ("a(,)", "expected a value, found ',' at column 3"),
        ("a(1,,)", "expected a value, found ',' at column 5"),
        ("mean(to_float]", "expected ',' or ')' after an argument, found ']' at column 14"),
        ("a(b=)", "expected a value, found ')' at column 5"),
        ("a(b==1)", "expected a value, found '=' at column 5"),
        ("a(true=1)", "expected ',' or ')' after an argument, found '=' at column 7"),
        ("a(p/b=1)", "expected ',' or ')' after an argument, found '=' at column 6"),
        ("a(x=1, 2)", "positional argument after keyword argument 'x' at column 8"),
        ("a(x=1, x=2)", "a: the argument 'x' is given twice at column 8"),
        ("a([1)", "expected ',' or ']' after a list item, found ')' at column 5"),
        ("a({b: 1})", "expected a key in quotes, found 'b' at column 4"),
        ("a({'b' 1})", "expected ':' after a key, found '1' at column 8"),
        ("a({'b': 1, 'b': 2})", "the key 'b' is given twice at column 12"),
        ("a({'b': 1]", "expected ',' or '}' after a map entry, found ']' at column 10"),
        ("a('b)", "this string is never closed at column 3"),
        ("a('b\\'", "this string is never closed at column 3"),
        ("`a", "this name is never closed at column 1"),
        (r"a('\N{dash}')", r"'\N' is not an escape sequence at column 4"),
        (r"a(r'\')", "this string is never closed at column 3"),
        (r"a(r'b\\)", "this string is never closed at column 3"),
        (r"a(r 'b')", "expected ',' or ')' after an argument, found \"'\" at column 5"),
        (r"a('\x4')", r"'\x4' is not an escape sequence at column 4"),
        (r"a('\ud83c')", r"'\ud83c' is not an escape sequence at column 4"),
        (r"a('\udf89')", r"'\udf89' is not an escape sequence at column 4"),
        (r"a('\u{110000}')", r"'\u{110000}' is not an escape sequence at column 4"),
        (r"a('\U00110000')", r"'\U00110000' is not an escape sequence at column 4"),
        ("a(0x10)", "'0x10' is not a number at column 3"),
        ("a(1__0)", "'1__0' is not a number at column 3"),
        ("a(_1.5, 1_)", "'1_' is not a number at column 9"),
        ("a(.)", "'.' is not a number at column 3"),
        ("a(1.2.3)", "'1.2.3' is not a number at column 3"),
        ("a(1e)", "'1e' is not a number at column 3"),
        ("a(-inf)", "'-inf' is not a number at column 3"),
        ("a(--1)", "'-' is not a number at column 3"),
        ("a(9223372036854775808)", "9223372036854775808 does not fit a 64-bit integer at column 3"),
        ("a(1e999)", "1e999 does not fit a 64-bit float at column 3"),
        ("é(ü, ß=€)", "expected a value, found '€' at column 8"),
        ("a(\n  b,\n  c d)", "expected ',' or ')' after an argument, found 'd' at line 3, column 5"),
    ] {
        assert_eq!(error(text).to_string(), message, "in {text}");
    }
}

#[test]
fn hints() {
    for (text, hint) in [
        ("'mean'", "names are written without quotes"),
        ("a(b: 1)", "keyword arguments are written name=value"),
        ("a(“b”)", "use straight quotes: \"…\" or '…'"),
        (r"a('\xyz')", "write a backslash itself as \\\\, or the string as r'…'"),
    ] {
        assert_eq!(error(text).hint(), Some(hint), "in {text}");
    }
    let error = error("a(b: 1)");
    assert!(format!("{error:#}").ends_with("column 4 (hint: keyword arguments are written name=value)"));
}

#[test]
fn places() {
    let wrong = error("a(\n  ü, é d,\n)");
    assert_eq!(wrong.offset(), Some(12));
    assert!(wrong.to_string().ends_with(" at line 2, column 8"), "{wrong}");
    assert_eq!(wrong.text(), Some("a(\n  ü, é d,\n)"));
}

#[test]
fn messages_stay_short() {
    assert!(error(&format!("a({}x)", "1".repeat(10_000))).to_string().len() < 100);
}

#[test]
fn depth_has_a_limit() {
    let nested = |depth: usize| format!("{}{}", "f(".repeat(depth), ")".repeat(depth));
    assert!(nested(MAX_DEPTH).parse::<Spec>().is_ok());
    let wrong = error(&nested(MAX_DEPTH + 1));
    assert_eq!(wrong.to_string(), "nested more than 64 deep at column 130");

    for hostile in ["f(", "f([", "f({'a':", "f(a=", "[", "{'a':["] {
        let text = hostile.repeat(100_000);
        assert!(text.parse::<Spec>().is_err());
        assert!(text.parse::<MetricsSpec>().is_err());
    }
    // Breadth has none.
    assert_eq!(spec(&format!("f({})", "[f()],".repeat(1000))).args.len(), 1000);
}

#[test]
fn binding() {
    let bind = |text: &str, names: &[&str]| spec(text).bind(names).unwrap_err();
    for (error, message, hint) in [
        (bind("p/f(1)", &[]), "p/f takes no arguments, but got 1", None),
        (bind("f(1, 2)", &["a"]), "f takes at most 1 argument (a), but got 2", None),
        (bind("f(1, 2, 3)", &["a", "b"]), "f takes at most 2 arguments (a, b), but got 3", None),
        (bind("f(1, a=2)", &["a", "b"]), "f: the argument 'a' is given twice (it takes a, b)", None),
        (
            bind("stderr(clutser='x')", &["to_float", "cluster"]),
            "stderr has no argument 'clutser' (it takes to_float, cluster)",
            Some("did you mean 'cluster'?"),
        ),
        (bind("f(zzz=1)", &[]), "f has no argument 'zzz' (it takes none)", None),
    ] {
        assert_eq!((error.to_string().as_str(), error.hint()), (message, hint));
        assert_eq!((error.text(), error.span()), (None, None));
    }
}
