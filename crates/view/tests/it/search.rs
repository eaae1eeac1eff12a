use serde_json::{Value as Json, json};

use errorbar_log::eval::Status;

use crate::client::get;
use crate::logs::{Run, finished};
use crate::serve;

/// The answer to a search.
fn found(server: &errorbar_view::ViewServer, query: &str) -> Json {
    let answer = get(server, query);
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")), "{query}");
    serde_json::from_str(&answer.body).unwrap()
}

#[test]
fn whole_texts_are_searched() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = Run::start(&folder.path().join("a.eval"), "quiz", "heron", 3);
    run.add("q0", 1, "C").add("q0", 2, "C");
    run.explained("q1", "BECAUSE the sum is odd");
    run.end(Status::Success, None);
    finished(&folder.path().join("b.eval"), "quiz", "wren");
    let server = serve(folder.path());
    get(&server, "");
    let of = |query: &str| found(&server, &format!("logs/1/search.json?{query}"))["found"].clone();
    assert_eq!(of("q=IT+is+42"), json!(["q0", "q1"]), "answers, each sample once, capitals aside");
    assert_eq!(of("q=because"), json!(["q1"]), "explanations");
    assert_eq!(of("q=6+%C3%97+7"), json!(["q0", "q1"]), "questions");
    assert_eq!(of("q=nowhere"), json!([]));
    assert_eq!(of("q=++"), json!([]));
    assert_eq!(of(""), json!([]));
    for odd in ["q=%00%FF", "q=%3Cscript%3E", "q=%22%7D", "from=x&q=because", "from=-1&q=because"] {
        let answer = found(&server, &format!("logs/1/search.json?{odd}"));
        assert_eq!(answer["next"], Json::Null, "{odd}");
    }
    assert_eq!(get(&server, &format!("logs/1/search.json?q={}", "x".repeat(10_000))).status, 422);
    assert_eq!(get(&server, "logs/9/search.json?q=because").status, 404);
}

#[test]
fn a_search_continues_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    finished(&folder.path().join("a.eval"), "quiz", "heron");
    finished(&folder.path().join("b.eval"), "quiz", "wren");
    let server = serve(folder.path());
    get(&server, "");
    let whole = found(&server, "logs/1-2/search.json?q=42");
    assert_eq!((&whole["searched"], &whole["total"], &whole["next"]), (&json!(16), &json!(16), &Json::Null));
    assert_eq!(whole["found"].as_array().unwrap().len(), 8, "both logs have the same samples");
    let rest = found(&server, "logs/1-2/search.json?q=42&from=13");
    assert_eq!(rest["found"].as_array().unwrap().len(), 3, "the last samples of the second log");
    let beyond = found(&server, "logs/1-2/search.json?q=42&from=18446744073709551615");
    assert_eq!((&beyond["found"], &beyond["next"]), (&json!([]), &Json::Null));
}
