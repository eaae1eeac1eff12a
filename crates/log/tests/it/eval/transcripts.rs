//! Samples as people read them, in every shape that logs have.

use errorbar_core::{MetadataKeys, Score};
use errorbar_log::eval::*;
use errorbar_test_support::TestFolder;

use super::support::{Sample, write_finished, write_unfinished, written, zip};

/// All transcripts, with their conversations.
fn transcripts(log: &EvalLog) -> Vec<Transcript> {
    let mut transcripts = log.transcripts(|_, _| true).unwrap();
    let mut all = Vec::new();
    while let Some(transcript) = transcripts.next() {
        let mut transcript = transcript.unwrap();
        assert_eq!(transcript.messages, [], "only what is completed has a conversation");
        transcripts.complete(&mut transcript, true).unwrap();
        all.push(transcript);
    }
    all
}

fn texts(messages: &[TranscriptMessage]) -> Vec<String> {
    messages.iter().map(|message| format!("{}: {}", message.role, message.text())).collect()
}

#[test]
fn our_own_logs_are_read_whole_torn_and_as_json() {
    let folder = TestFolder::new();
    let path = folder.path().join("log.eval");
    let samples = [
        Sample::new("q2", 1, Score::new("C")),
        Sample::errored("q1", 1, "boom"),
        Sample::new("q1", 2, Score::new("I")),
    ];
    write_finished(&path, &samples);
    let (json, torn) = (folder.path().join("log.json"), folder.path().join("torn.eval"));
    convert(&EvalLog::open(&path).unwrap(), &json).unwrap();
    write_unfinished(&torn, &samples);
    let expected = transcripts(&EvalLog::open(&path).unwrap());
    let keys: Vec<(String, u32)> = expected.iter().map(|one| (one.id.to_string(), one.epoch)).collect();
    assert_eq!(keys, [("q1".to_owned(), 1), ("q2".to_owned(), 1), ("q1".to_owned(), 2)]);
    assert_eq!(expected[0].error.as_deref(), Some("boom"));
    assert_eq!(
        texts(&expected[1].messages),
        ["user: What is \"it\"?\n", "assistant: the answer, in epoch 1"]
    );
    assert_eq!(texts(&expected[1].input), ["user: What is \"it\"?\n"]);
    assert_eq!((expected[1].target.as_slice(), expected[1].tokens), (&["42".to_owned()][..], Some(5)));
    assert_eq!(expected[1].answer.as_deref(), Some("the answer, in epoch 1"));
    for path in [&json, &torn] {
        let found: Vec<Transcript> = transcripts(&EvalLog::open(path).unwrap());
        assert_eq!(format!("{found:?}").len(), format!("{expected:?}").len(), "{}", path.display());
        let parts = |one: &Transcript| {
            (one.id.clone(), one.epoch, one.messages.clone(), one.answer.clone(), one.scores.clone())
        };
        assert_eq!(
            found.iter().map(parts).collect::<Vec<_>>(),
            expected.iter().map(parts).collect::<Vec<_>>()
        );
    }
    // What a run shows of a sample is what its log has of it.
    let shown = samples[0].record(|record| record.transcript()).unwrap();
    assert_eq!((shown.messages, shown.answer), (expected[1].messages.clone(), expected[1].answer.clone()));
}

#[test]
fn only_some_samples_are_read() {
    let folder = TestFolder::new();
    let path = folder.path().join("log.eval");
    write_finished(&path, &["a", "b", "c"].map(|id| Sample::new(id, 1, Score::new("C"))));
    let log = EvalLog::open(&path).unwrap();
    let found = log.transcripts(|id, _| id.to_string() != "b").unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!(found.map(|one| one.unwrap().id.to_string()).collect::<Vec<_>>(), ["a", "c"]);
}

#[test]
fn attachments_stand_where_they_are_referred_to() {
    let sample = br#"{"id":1,"epoch":1,"input":"attachment://aa","target":"x","messages":[
        {"role":"user","content":[{"type":"text","text":"attachment://aa"},{"type":"image","image":"attachment://pic"}]},
        {"role":"assistant","content":"attachment://gone","tool_calls":[{"function":"f","arguments":{"x":"attachment://bb"}}]}],
        "output":{"completion":"attachment://bb"},"scores":{"s":{"value":1,"explanation":"attachment://aa"}},
        "attachments":{"aa":"the \"question\"","bb":"the answer","pic":"data:"}}"#;
    let archive = zip().stored("samples/1_epoch_1.json", sample).bytes();
    let json = format!(
        r#"{{"version":2,"eval":{{"task":"t","model":"m"}},"samples":[{}]}}"#,
        String::from_utf8_lossy(sample)
    );
    for bytes in [archive, json.into_bytes()] {
        let (_folder, path) = written(&bytes);
        let all = transcripts(&EvalLog::open(&path).unwrap());
        let one = &all[0];
        assert_eq!(texts(&one.input), ["user: the \"question\""]);
        assert_eq!(texts(&one.messages), ["user: the \"question\"", "assistant: attachment://gone"]);
        let arguments = serde_json::json!({"x": "the answer"});
        assert_eq!(one.messages[1].parts[1], MessagePart::ToolCall { function: "f".to_owned(), arguments });
        assert_eq!(one.answer.as_deref(), Some("the answer"));
        assert_eq!(one.scores["s"].explanation.as_deref(), Some("the \"question\""));
    }
}

#[test]
fn a_sample_in_several_entries_has_its_conversation() {
    let shell = br#"{"id":"a/b","epoch":1,"input":"attachment://1","output":{"completion":"attachment://2"},
        "scores":{"s":{"value":"C"}},"message_refs":[[0,1],[3,4],[1,2]]}"#;
    let message = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
    let zip = zip()
        .stored("samples/a/b_epoch_1/sample.json", shell)
        .stored("samples/a/b_epoch_1/metadata.json", br#"{"cat":"x"}"#)
        .stored(
            "samples/a/b_epoch_1/messages/0.json",
            format!("[{},{}]", message("m0"), message("m1")).as_bytes(),
        )
        .stored(
            "samples/a/b_epoch_1/messages/2.json",
            format!("[{},{}]", message("m2"), message("attachment://0")).as_bytes(),
        )
        .stored("samples/a/b_epoch_1/attachments/0.json", br#"["zero","one"]"#)
        .stored("samples/a/b_epoch_1/attachments/2.json", br#"["two"]"#);
    let (_folder, path) = written(&zip.bytes());
    let log = EvalLog::open(&path).unwrap();
    let all = transcripts(&log);
    assert_eq!(texts(&all[0].messages), ["user: m0", "user: zero", "user: m1"]);
    assert_eq!((texts(&all[0].input), all[0].answer.as_deref()), (vec!["user: one".to_owned()], Some("two")));
    assert_eq!(all[0].metadata["cat"], "x");

    // Ranges that claim more than there is, and an entry that is no list.
    let claims = br#"{"id":"c","epoch":1,"message_refs":[[0,18446744073709551615]]}"#;
    let zip = super::support::zip().stored("samples/c_epoch_1/sample.json", claims);
    let (_folder, path) = written(&zip.stored("samples/c_epoch_1/messages/0.json", b"[]").bytes());
    let log = EvalLog::open(&path).unwrap();
    let error = log.transcripts(|_, _| true).unwrap().next().unwrap().unwrap_err();
    assert!(matches!(error.kind(), LogErrorKind::Damaged(_)), "{error}");
    let zip = super::support::zip().stored("samples/c_epoch_1/sample.json", claims);
    let (_folder, path) = written(&zip.stored("samples/c_epoch_1/messages/0.json", b"{}").bytes());
    let log = EvalLog::open(&path).unwrap();
    let error = log.transcripts(|_, _| true).unwrap().next().unwrap().unwrap_err();
    assert!(matches!(error.kind(), LogErrorKind::Json { .. }), "{error}");
}

#[test]
fn a_sample_that_is_too_large_or_damaged_is_an_error_of_its_own() {
    let long =
        format!(r#"{{"id":1,"epoch":1,"messages":[{{"role":"user","content":"{}"}}]}}"#, "x".repeat(4000));
    let bad = br#"{"id":2,"epoch":1,"scores":{"s":{"value":[[1]]}}}"#;
    let zip = zip().stored("samples/1_epoch_1.json", long.as_bytes()).stored("samples/2_epoch_1.json", bad);
    let (_folder, path) = written(&zip.stored("samples/3_epoch_1.json", br#"{"id":3,"epoch":1}"#).bytes());
    let log = EvalLog::open_with(&path, LogLimits { max_record: 2000, ..LogLimits::default() }).unwrap();
    let mut read = log.transcripts(|_, _| true).unwrap();
    let mut first = read.next().unwrap().unwrap();
    read.complete(&mut first, false).unwrap();
    let error = read.complete(&mut first, true).unwrap_err();
    assert!(matches!(error.kind(), LogErrorKind::TooLargeRecord { limit: 2000 }), "{error}");
    assert_eq!(error.member(), Some("samples/1_epoch_1.json"));
    let error = read.next().unwrap().unwrap_err();
    assert!(matches!(error.kind(), LogErrorKind::Field { .. }), "{error}");
    assert_eq!(read.next().unwrap().unwrap().id, SampleId::Int(3));
}

#[test]
fn choices_are_counted_where_one_is_right() {
    let folder = TestFolder::new();
    let path = folder.path().join("log.eval");
    let sample = |id: &str, choices: Option<usize>, target: Targets| {
        let choices = choices.map(|count| (0..count).map(|at| format!("choice {at}")).collect());
        Sample { choices, target, ..Sample::new(id, 1, Score::new("C")) }
    };
    let samples = [
        sample("four", Some(4), Targets::from("B")),
        sample("listed", Some(3), Targets::from(vec!["A".to_owned()])),
        sample("two right", Some(4), Targets::from("AC")),
        sample("two listed", Some(4), Targets::from(vec!["A".to_owned(), "C".to_owned()])),
        sample("none", None, Targets::from("B")),
    ];
    write_finished(&path, &samples);
    let log = EvalLog::open(&path).unwrap();
    let header = log.header().unwrap();
    type Counts = std::collections::BTreeMap<String, u32>;
    let by_id = |scores: &LogScores| -> Counts {
        let ids = (0..scores.columns.len()).map(|row| scores.columns.sample_id(row).to_string());
        ids.zip(scores.choice_counts.iter().copied()).collect()
    };
    let options = || ScoreOptions::new(MetadataKeys::NONE);
    let read = log.scores(&header, &options().choices(true)).unwrap();
    let expected = [("four", 4), ("listed", 3), ("none", 0), ("two listed", 0), ("two right", 0)];
    let expected: Counts = expected.map(|(id, count)| (id.to_owned(), count)).into_iter().collect();
    assert_eq!(by_id(&read), expected);
    // Digests take the texts of the same samples.
    let read = log.scores(&header, &options().choices(true).digests(true)).unwrap();
    assert_eq!((by_id(&read), read.digests.len()), (expected.clone(), 5));
    let listed = log.summary_scores(&header, &MetadataKeys::NONE).unwrap().unwrap();
    assert_eq!(by_id(&listed), expected);
    assert!(log.scores(&header, &options()).unwrap().choice_counts.is_empty(), "not wanted");
}

#[test]
fn who_picks_an_option_is_known_by_name_or_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("quiz.eval");
    let (mut own, mut known) = (ScorerInfo::new("own"), ScorerInfo::new("choice"));
    own.set_picks_option();
    known.set_picks_option();
    assert_eq!((known.metadata.as_ref(), own.metadata.is_some()), (None, true), "its name says so");
    let mut eval = EvalInfo::new("quiz", "mock/x");
    eval.scorers = Some(vec![own, known, ScorerInfo::new("match")]);
    let writer = LogWriter::create(&path, &StartRecord::new(eval, PlanRecord::default())).unwrap();
    drop(writer);
    let columns = EvalLog::open(&path).unwrap().score_columns(&MetadataKeys::NONE).unwrap();
    let picks = ["own", "choice", "match"].map(|scorer| columns.scorer(scorer).unwrap().picks_option());
    assert_eq!(picks, [true, true, false]);
}
