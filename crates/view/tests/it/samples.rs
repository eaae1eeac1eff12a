use serde_json::Value as Json;

use errorbar_log::eval::Status;

use crate::client::get;
use crate::logs::{Run, finished};
use crate::serve;

fn json(text: &str) -> Json {
    serde_json::from_str(text).unwrap()
}

#[test]
fn samples_are_listed_and_fetched_one_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    finished(&folder.path().join("a.eval"), "quiz", "openai/heron");
    let server = serve(folder.path());
    get(&server, "");
    let answer = get(&server, "logs/1/samples.json");
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
    let index = json(&answer.body);
    assert_eq!(index["runs"][0]["name"], "heron");
    assert_eq!(index["samples"]["id"].as_array().unwrap().len(), 8, "{index}");
    assert!(!answer.body.contains("it is 42"), "the list has no answers and messages");
    let answer = get(&server, "logs/1/sample.json?id=q3&epoch=1");
    assert_eq!(answer.status, 200);
    let sample = json(&answer.body);
    assert!(sample["detail"].to_string().contains("it is 42"), "{sample}");
    assert!(sample["messages"].is_null(), "{sample}");
    let sample = json(&get(&server, "logs/1/sample.json?id=q3&messages=true").body);
    assert!(sample["messages"].to_string().contains("it is 42"), "{sample}");
    let problem = get(&server, "logs/1/sample.json?id=nobody");
    assert_eq!((problem.status, problem.body.as_str()), (404, "there is no sample of this id"));
    assert_eq!(get(&server, "logs/1/sample.json").status, 404);
    assert_eq!(get(&server, "logs/9/sample.json?id=q3").status, 404);
}

#[test]
fn epochs_of_a_sample_have_the_places_of_the_list() {
    let folder = tempfile::tempdir().unwrap();
    // The first sample has no second epoch, the other no first.
    let mut run = Run::start(&folder.path().join("a.eval"), "quiz", "heron", 2);
    run.add("a/b", 1, "C").add("q 2&x", 2, "I");
    run.end(Status::Success, None);
    finished(&folder.path().join("b.eval"), "quiz", "wren");
    let server = serve(folder.path());
    get(&server, "");
    let index = json(&get(&server, "logs/1-2/samples.json").body);
    assert_eq!(index["runs"][0]["epochs"], json("[1, 2]"));
    let sample = json(&get(&server, "logs/1-2/sample.json?id=a%2Fb").body);
    let runs = sample["detail"]["runs"].as_array().unwrap();
    assert_eq!(runs[0].as_array().unwrap().len(), 2);
    assert!(runs[0][0].is_object() && runs[0][1].is_null(), "{sample}");
    assert!(runs[1][0].is_null(), "the other log has no such sample");
    let sample = json(&get(&server, "logs/1-2/sample.json?id=q+2%26x").body);
    assert!(
        sample["detail"]["runs"][0][0].is_null() && sample["detail"]["runs"][0][1].is_object(),
        "{sample}"
    );
}

#[test]
fn a_run_in_progress_has_samples_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = Run::start(&folder.path().join("a.eval"), "quiz", "heron", 9);
    run.add("q1", 1, "C");
    let server = serve(folder.path());
    get(&server, "");
    assert_eq!(json(&get(&server, "logs/1/samples.json").body)["samples"]["id"], json("[\"q1\"]"));
    run.add("q2", 1, "C");
    // The list is held only as long as the log does not change.
    assert_eq!(json(&get(&server, "logs/1/samples.json").body)["samples"]["id"], json("[\"q1\", \"q2\"]"));
}
