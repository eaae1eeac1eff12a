//! Edits of scores, on the JSON of samples.

use super::*;
use serde_json::Value as Json;

fn edit() -> ScoreEdit {
    ScoreEdit {
        sample: "q1".to_owned(),
        epoch: None,
        scorer: "m".to_owned(),
        value: Some(Value::from(0.5)),
        author: "ann".to_owned(),
        reason: Some("a \"typo\"".to_owned()),
        timestamp: "2026-11-15T09:20:38Z".to_owned(),
        ..ScoreEdit::default()
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn the_history_begins_with_what_was() {
    let once = edited_score(br#"{"value":"I","answer":"1","history":[]}"#, &edit()).unwrap();
    let item = r#"{"value":0.5,"answer":"UNCHANGED","explanation":"UNCHANGED","reason":"UNCHANGED","metadata":"UNCHANGED","provenance":{"timestamp":"2026-11-15T09:20:38Z","author":"ann","reason":"a \"typo\"","metadata":{}}}"#;
    let original = r#"{"value":"I","answer":"1","metadata":{}}"#;
    assert_eq!(text(once.clone()), format!(r#"{{"value":0.5,"answer":"1","history":[{original},{item}]}}"#));
    let twice = edited_score(&once, &edit()).unwrap();
    assert_eq!(text(twice), format!(r#"{{"value":0.5,"answer":"1","history":[{original},{item},{item}]}}"#));
    // A null is as good as nothing.
    let nulls = br#"{"value":1,"answer":null,"metadata":null,"history":null}"#;
    let new = text(edited_score(nulls, &edit()).unwrap());
    assert!(new.contains(r#""history":[{"value":1,"metadata":{}},{"value":0.5,"#), "{new}");
    assert!(
        text(edited_score(br#"{"value":NaN}"#, &edit()).unwrap())
            .contains(r#"[{"value":NaN,"metadata":{}},"#)
    );
}

#[test]
fn the_event_is_where_the_sample_was_scored() {
    let begin = r#"{"event":"span_begin","id":"s1","type":"scorers","name":"scorers"}"#;
    let end = r#"{"event":"span_end","id":"s1"}"#;
    let events = format!(r#"[{{"event":"x"}}, {begin}, {end}, {{"event":"y"}}]"#);
    let new = text(with_event(events.as_bytes(), &edit()).unwrap());
    let json: Vec<Json> = serde_json::from_str(&new).unwrap();
    assert_eq!(json.len(), 5);
    assert_eq!((json[2]["event"].as_str(), json[2]["span_id"].as_str()), (Some("score_edit"), Some("s1")));
    // Within the span of the scorers, whatever else ends around it; the last one, if there are two.
    let span = |event: &str, id: &str, kind: &str, name: &str| {
        format!(r#"{{"event":"{event}","id":"{id}","type":"{kind}","name":"{name}"}}"#)
    };
    let outer = span("span_begin", "o", "sample", "x");
    let (inner, other) =
        (span("span_begin", "i", "scorer", "m"), span("span_begin", "n", "solver", "scorers"));
    let ends = |id: &str| format!(r#"{{"event":"span_end","id":"{id}"}}"#);
    let second = span("span_begin", "s2", "scorers", "scorers");
    let (o, i, n, s2) = (ends("o"), ends("i"), ends("n"), ends("s2"));
    for (events, at, id) in [
        (format!("[{outer},{begin},{inner},{i},{end},{o}]"), 4, "s1"),
        (format!("[{begin},{end},{other},{n}]"), 1, "s1"),
        (format!("[{begin},{end},{second},{s2}]"), 3, "s2"),
    ] {
        let new = text(with_event(events.as_bytes(), &edit()).unwrap());
        let json: Vec<Json> = serde_json::from_str(&new).unwrap();
        assert_eq!(json[at]["event"], "score_edit", "{new}");
        assert_eq!(json[at]["span_id"], id, "{new}");
    }
    let unended = format!("[{begin},{end},{second}]");
    for events in ["[]", r#"[{"event":"x"}]"#, &format!("[{begin}]"), &unended] {
        let new = text(with_event(events.as_bytes(), &edit()).unwrap());
        let json: Vec<Json> = serde_json::from_str(&new).unwrap();
        let last = json.last().unwrap();
        assert_eq!((last["event"].as_str(), last.get("span_id")), (Some("score_edit"), None), "{new}");
    }
}

#[test]
fn only_the_summary_of_the_sample_changes() {
    let json = br#"[{"id":"q1","epoch":1,"scores":{"m":{"value":"I"}}},{"id":"q1","epoch":2,"scores":{"m":{"value":"I"}}}]"#;
    let new = text(edited_summaries(json, &"q1".into(), 2, &edit(), &Score::new(0.5)).unwrap());
    assert_eq!(new.matches("0.5").count(), 1);
    assert!(new.contains(r#""epoch":2,"scores":{"m":{"value":0.5}}"#), "{new}");
}
