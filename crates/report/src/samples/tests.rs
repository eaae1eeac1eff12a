use std::io::Read as _;

use base64::Engine as _;
use errorbar_core::{SampleId, Score, ScoreColumns, Value};
use serde_json::{Value as Json, json};

use super::*;

fn columns(rows: &[(&str, u32, &str, Value)]) -> ScoreColumns {
    let mut columns = ScoreColumns::new(["match"]);
    for (id, epoch, category, value) in rows {
        let score = Score::new(value.clone()).answer(format!("answer of {id}")).explanation("because");
        columns.push(*id, *epoch).metadata("category", *category).score("match", score).unwrap();
    }
    columns
}

fn two_runs() -> SampleSet {
    let mut builder = SampleSetBuilder::new();
    builder.add_rows(
        "heron",
        &columns(&[
            ("a", 1, "physics", "C".into()),
            ("b", 1, "law", 0.5.into()),
            ("c", 1, "law", "I".into()),
            ("a", 2, "physics", "I".into()),
        ]),
        |_| true,
    );
    builder.add_rows(
        "wren",
        &columns(&[("b", 1, "law", "blue".into()), ("d", 1, "law", Value::Unscored)]),
        |_| true,
    );
    builder.finish()
}

/// What a browser makes of an element.
fn inflated(html: &str, id: &str) -> Json {
    let start = format!("<script type=\"text/plain\" id=\"{id}\">");
    let text = html.split(&start).nth(1).unwrap().split("</script>").next().unwrap();
    let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap();
    let mut json = String::new();
    flate2::read::DeflateDecoder::new(&*bytes).read_to_string(&mut json).unwrap();
    serde_json::from_str(&json).unwrap()
}

#[test]
fn runs_are_aligned_by_sample_and_epoch() {
    let set = two_runs();
    let index = set.index_json();
    assert_eq!(index["samples"]["id"], json!(["a", "b", "c", "d"]));
    assert_eq!(index["runs"], json!([{"name": "heron", "epochs": [1, 2]}, {"name": "wren", "epochs": [1]}]));
    let verdicts = |sample: usize| -> String {
        let cells = index["samples"]["cells"][sample].as_array().unwrap();
        let verdict = |cell: &Json| index["outcomes"][cell.as_u64().unwrap() as usize]["verdict"].clone();
        cells.iter().map(|cell| verdict(cell).as_str().unwrap().to_owned()).collect()
    };
    assert_eq!([verdicts(0), verdicts(1), verdicts(2), verdicts(3)], ["CIA", "PAO", "IAA", "AAU"]);
    assert_eq!(index["groups"], json!([{"key": "category", "values": ["physics", "law"]}]));
    assert_eq!(index["samples"]["groups"], json!([[0], [1], [1], [1]]));
}

#[test]
fn the_page_gets_back_what_was_encoded() {
    let set = two_runs();
    let html = set.encode(None).unwrap().to_html();
    let index = inflated(&html, "samples-index");
    assert_eq!(index["samples"], set.index_json()["samples"]);
    assert_eq!(index["chunks"], json!({"details": [0], "messages": []}));
    let details = inflated(&html, "samples-details-0");
    assert_eq!(details[1]["runs"][0][0]["scores"][0]["explanation"], "because");
    assert_eq!(details[1], set.sample_json("b").unwrap()["detail"]);
    assert_eq!(set.sample_json("no such"), None);
}

#[test]
fn maps_have_a_column_for_each_value() {
    let mut columns = ScoreColumns::new(["judge"]);
    let value = Value::map([("tone", 1), ("fact", 0)]);
    columns.push("a", 1).score("judge", Score::new(value).reason("refusal")).unwrap();
    columns.push("b", 1).errored();
    columns.push("c", 1).score("judge", Score::new(Value::Unscored)).unwrap();
    let mut builder = SampleSetBuilder::new();
    builder.add_rows("run", &columns, |_| true);
    let index = builder.finish().index_json();
    let fields = json!([{"scorer": "judge", "field": "tone"}, {"scorer": "judge", "field": "fact"}]);
    assert_eq!(index["columns"], fields);
    assert_eq!(
        index["outcomes"],
        json!([
            {"verdict": "C", "value": "1", "number": 1.0, "reason": "refusal"},
            {"verdict": "I", "value": "0", "number": 0.0, "reason": "refusal"},
            {"verdict": "E", "value": null, "number": null, "reason": null},
            {"verdict": "U", "value": null, "number": null, "reason": null},
        ])
    );
    assert_eq!(index["samples"]["cells"], json!([[0, 1], [2, 2], [3, 3]]));
}

/// One star of five is not right.
#[test]
fn ratings_on_another_scale_are_no_verdicts() {
    let verdicts = |scores: [f64; 3]| -> Vec<Json> {
        let mut columns = ScoreColumns::new(["stars"]);
        for (id, score) in ["a", "b", "c"].into_iter().zip(scores) {
            columns.push(id, 1).score("stars", Score::new(score)).unwrap();
        }
        let mut builder = SampleSetBuilder::new();
        builder.add_rows("run", &columns, |_| true);
        let index = builder.finish().index_json();
        index["outcomes"].as_array().unwrap().iter().map(|outcome| outcome["verdict"].clone()).collect()
    };
    assert_eq!(verdicts([0.0, 1.0, 5.0]), ["O", "O", "O"]);
    assert_eq!(verdicts([0.0, 1.0, 0.5]), ["I", "C", "P"]);
}

#[test]
fn an_answer_that_a_scorer_of_choices_did_not_find_is_told_from_a_wrong_one() {
    let outcome = |score: Score, choices: &[&str]| {
        let mut transcript = errorbar_log::eval::Transcript::default();
        transcript.choices = choices.iter().map(|choice| (*choice).to_owned()).collect();
        transcript.scores.insert("choice".to_owned(), score);
        EpochRecord::from_transcript(&transcript).outcomes().next().unwrap().2.verdict
    };
    assert_eq!(outcome(Score::new("I"), &["red", "blue"]), OutcomeVerdict::NoAnswer);
    assert_eq!(outcome(Score::new("I").answer("A"), &["red", "blue"]), OutcomeVerdict::Wrong);
    assert_eq!(outcome(Score::new("I"), &[]), OutcomeVerdict::Wrong);
    assert_eq!(outcome(Score::new("N").answer("A"), &[]), OutcomeVerdict::NoAnswer);
    assert_eq!(outcome(Score::new("I").reason("no_response"), &[]), OutcomeVerdict::NoAnswer);
}

/// Ten samples with conversations, explanations and answers that hardly compress.
fn large() -> SampleSet {
    let mut noise = 1_u64;
    let mut text = |length: usize| -> String {
        let mut letter = || {
            noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(b'a' + (noise >> 33) as u8 % 26)
        };
        (0..length).map(|_| letter()).collect()
    };
    let mut builder = SampleSetBuilder::new();
    let run = builder.start_run("heron");
    for id in 0..10 {
        let mut transcript = errorbar_log::eval::Transcript::default();
        transcript.answer = Some(text(5_000));
        transcript.messages = vec![errorbar_log::eval::TranscriptMessage::new("user", text(10_000))];
        let score = Score::new("C").explanation(text(3_000));
        transcript.scores.insert("judge".to_owned(), score);
        let texts = SampleTexts::from_transcript(&transcript);
        builder.add(run, &SampleId::from(id), 1, texts, EpochRecord::from_transcript(&transcript));
    }
    let mut set = builder.finish();
    (set.has_details, set.has_messages) = (true, true);
    set
}

#[test]
fn what_does_not_fit_is_left_out_in_order_and_the_page_says_so() {
    let set = large();
    let whole = set.encode(None).unwrap();
    assert!(whole.omissions.is_empty());
    let omissions = |bytes: usize| {
        let encoded = set.encode(Some(bytes)).unwrap();
        assert!(encoded.size() <= bytes, "{} is more than {bytes}", encoded.size());
        let index = inflated(&encoded.to_html(), "samples-index");
        let words: Vec<String> = encoded.omissions.iter().map(Omission::to_string).collect();
        assert_eq!(index["omissions"], json!(words));
        assert_eq!(index["chunks"]["messages"], json!([]));
        encoded.omissions
    };
    let (messages, explanations) = (Omission::Messages, Omission::Explanations);
    assert_eq!(omissions(whole.size() - 1), [messages]);
    assert_eq!(omissions(whole.size() / 3), [messages, explanations]);
    assert_eq!(omissions(20_000), [messages, explanations, Omission::LongTexts { limit: 2_000 }]);
    assert_eq!(omissions(2_500), [messages, explanations, Omission::LongTexts { limit: 100 }]);
    let refused = set.encode(Some(500)).unwrap_err().to_string();
    assert!(refused.ends_with("at most 500 are allowed"), "{refused}");
}

#[test]
fn nothing_that_a_log_says_can_end_an_element() {
    let hostile = "</script><script>alert(1)</script><!--";
    let mut columns = ScoreColumns::new([hostile]);
    columns.push(hostile, 1).metadata(hostile, hostile).score(hostile, Score::new(hostile)).unwrap();
    let mut builder = SampleSetBuilder::new();
    builder.add_rows(hostile, &columns, |_| true);
    let html = builder.finish().encode(None).unwrap().to_html();
    assert_eq!(html.matches("</script").count(), 2);
    assert_eq!(html.matches("<script type=\"text/plain\"").count(), 2);
    assert_eq!(inflated(&html, "samples-index")["samples"]["id"][0], hostile);
}

#[test]
fn the_key_has_only_what_is_there() {
    let key = two_runs().key_html();
    for (class, is_there) in [("C", true), ("P", true), ("A", true), ("U", true), ("E", false), ("N", false)]
    {
        assert_eq!(key.contains(&format!("\"v {class}\"")), is_there, "{class}: {key}");
    }
    assert!(whole_key_html().contains("\"v E\""));
}

#[test]
fn samples_of_several_tasks_with_the_same_ids_are_kept_apart() {
    let mut builder = SampleSetBuilder::new();
    for (task, value) in [("law", "C"), ("art", "I")] {
        builder.set_task(task);
        builder.add_rows(
            "heron",
            &columns(&[("1", 1, "x", value.into()), ("2", 1, "x", "C".into())]),
            |_| true,
        );
    }
    let set = builder.finish();
    assert_eq!(set.ids().collect::<Vec<_>>(), ["law/1", "law/2", "art/1", "art/2"]);
    let index = set.index_json();
    assert_eq!(index["runs"], json!([{"name": "heron", "epochs": [1]}]));
    assert_eq!(index["groups"][0], json!({"key": "task", "values": ["law", "art"]}));
    assert_eq!(index["tasks"], json!(true));
    assert_eq!(two_runs().index_json()["tasks"], json!(false));
}

/// 180,000 small samples took 760 MB.
#[test]
fn samples_beyond_the_bound_are_not_listed() {
    let mut builder = SampleSetBuilder::new().max_records(3);
    for run in ["heron", "wren"] {
        let mut columns = ScoreColumns::new(["match"]);
        for id in ["a", "b", "c", "d"] {
            columns.push(id, 1).score("match", Score::new("C")).unwrap();
        }
        builder.add_rows(run, &columns, |_| true);
    }
    let set = builder.finish();
    assert_eq!(set.ids().collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(set.index_json()["omissions"], json!(["only the first 3 samples are listed"]));
}

/// Texts are left out as they come, in the order in which a small page leaves them out.
#[test]
fn texts_are_held_within_bounds() {
    let columns = |length: usize| {
        let mut columns = ScoreColumns::new(["match"]);
        for at in 0..50 {
            let text = "x".repeat(length);
            let score = Score::new("C").answer(text.clone()).explanation(format!("{text}!"));
            columns.push(format!("q{at}"), 1).metadata("input", text).score("match", score).unwrap();
        }
        columns
    };
    let of = |length: usize, bytes: usize| {
        let mut builder = SampleSetBuilder::new().max_text_bytes(bytes);
        builder.add_rows("heron", &columns(length), |_| true);
        builder
    };
    let whole = of(1_000, 1 << 30);
    assert!(!whole.is_too_large() && whole.finish().omissions().is_empty());
    let shorter = of(1_000, 130_000);
    assert!(!shorter.is_too_large());
    let set = shorter.finish();
    assert_eq!(set.omissions(), [Omission::Explanations, Omission::LongTexts { limit: 400 }]);
    assert_eq!(set.len(), 50);
    let omissions = set.encode(None).unwrap().omissions;
    assert_eq!(omissions, [Omission::Explanations, Omission::LongTexts { limit: 400 }]);
    assert!(of(1_000, 1_000).is_too_large());
}
