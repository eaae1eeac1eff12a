//! Datasets: files of every form, ids, and shuffles that take the targets along.

use std::fs;

use errorbar_eval::{
    Dataset, DatasetError, Fields, Input, Message, RecordPosition, RecordSource, Sample, SampleId, Targets,
    csv_dataset, json_dataset,
};

/// The dataset that a file of this name and text makes.
fn read(name: &str, text: &str) -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    at_once(path)
}

/// The dataset of a file that is read before it is removed.
fn at_once(path: impl Into<RecordSource>) -> Dataset {
    let dataset = RecordSource::fields(path.into(), Fields::new());
    let _ = dataset.samples();
    dataset
}

fn inputs(dataset: &Dataset) -> Vec<String> {
    dataset.samples().unwrap().iter().map(|(_, sample)| format!("{:?}", sample.input)).collect()
}

/// Why the dataset is refused as a whole.
#[track_caller]
fn unreadable(dataset: &Dataset) -> String {
    match dataset.samples() {
        Err(DatasetError::Read { problem, .. }) => problem,
        other => panic!("{other:?}"),
    }
}

/// Which record is refused, and why.
#[track_caller]
fn bad_record(dataset: &Dataset) -> (RecordPosition, String) {
    match dataset.samples() {
        Err(DatasetError::Record { place, problem }) => (place.line.unwrap(), problem),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_form_gives_the_same_samples() {
    let expected = inputs(&Dataset::new([Sample::new("a"), Sample::new("b")]));
    for (name, text) in [
        ("x.csv", "input,target\na,1\nb,2\n"),
        ("bom.csv", "\u{feff}input,target\r\na,1\r\nb,2\r\n"),
        ("x.tsv", "input\ttarget\na\t1\nb\t2\n"),
        ("x.json", r#"[{"input": "a", "target": "1"}, {"input": "b", "target": 2}]"#),
        ("x.jsonl", "{\"input\": \"a\", \"target\": \"1\"}\n\n{\"input\": \"b\", \"target\": \"2\"}\n"),
        (
            "bom.jsonl",
            "\u{feff}{\"input\": \"a\", \"target\": \"1\"}\r\n{\"input\": \"b\", \"target\": \"2\"}\r\n",
        ),
    ] {
        let dataset = read(name, text);
        assert_eq!(inputs(&dataset), expected, "{name}");
        assert_eq!(dataset.samples().unwrap()[1].1.target.text(), "2", "{name}");
        assert_eq!(dataset.samples().unwrap()[1].0, SampleId::Int(2), "{name}");
    }
}

#[test]
fn a_list_of_targets_stays_a_list() {
    let dataset = read("x.jsonl", r#"{"input": "a", "target": ["x", "y"]}"#);
    assert_eq!(dataset.samples().unwrap()[0].1.target.as_slice(), ["x", "y"]);
}

#[test]
fn mistakes_name_the_line_or_the_record() {
    let dataset = read("x.csv", "id,input\n1,\"two\nlines\"\n,b\n");
    let problem = "`id`: the id is empty";
    assert_eq!(bad_record(&dataset), (RecordPosition::Line(4), problem.to_owned()));
    let message = format!("{}, line 4: {problem}", dataset.location().unwrap());
    assert_eq!(dataset.samples().unwrap_err().to_string(), message);
    let dataset = read("x.json", r#"[{"input": "a"}, 3]"#);
    let problem = "a record is an object {\"input\": …, \"target\": …}, found a number";
    assert_eq!(bad_record(&dataset), (RecordPosition::Record(2), problem.to_owned()));
    let message = format!("{}, record 2: {problem}", dataset.location().unwrap());
    assert_eq!(dataset.samples().unwrap_err().to_string(), message);
}

/// Servers get the text of messages alone, so a model would answer a question that it has not seen.
#[test]
fn inputs_with_more_than_text_are_refused() {
    let problem = |input: &str| {
        let line = format!(
            "{{\"id\": \"q1\", \"input\": [{{\"role\": \"user\", \"content\": \"Hm?\"}}, {input}]}}\n"
        );
        let dataset = read("x.jsonl", &line);
        let checked = dataset.samples().and_then(|samples| dataset.check_text(samples));
        let message = checked.map(|()| String::new()).unwrap_or_else(|error| error.to_string());
        message.strip_prefix(dataset.location().unwrap()).unwrap_or(&message).to_owned()
    };
    let user = |content: &str| format!("{{\"role\": \"user\", \"content\": {content}}}");
    let beside = |role: &str, content: &str, key: &str, value: &str| {
        format!("{{\"role\": \"{role}\", \"content\": {content}, \"{key}\": {value}}}")
    };
    let part = |kind: &str| {
        user(&format!("[{{\"type\": \"text\", \"text\": \"Look:\"}}, {{\"type\": \"{kind}\"}}]"))
    };
    let calls = r#"{"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": "add", "arguments": {}}]}"#;
    for (message, part) in [
        (&*part("image"), "contains an image"),
        (&part("image_url"), "contains an image"),
        (&part("audio"), "contains audio"),
        (&part("video"), "contains a video"),
        (&part("document"), "contains a document"),
        (&part("reasoning"), "contains reasoning"),
        (&part("tool_use"), "contains tool calls"),
        (&part("data"), "contains `data`"),
        (calls, "contains tool calls"),
        (r#"{"role": "tool", "content": "4", "tool_call_id": "1"}"#, "is the answer of a tool"),
        (&user(r#"[{"text": "no type"}]"#), "contains a part without a type"),
        (&user("{\"type\": \"text\"}"), "contains a content that is neither a string nor a list"),
        // Beside the content, and within a part that is text.
        (&beside("user", "\"what?\"", "images", "[\"x.png\"]"), "contains `images`"),
        (&beside("user", "\"what?\"", "image_url", "\"x.png\""), "contains an image"),
        (&beside("user", "\"what?\"", "attachments", "[{\"type\": \"image\"}]"), "contains `attachments`"),
        (&beside("assistant", "\"\"", "function_call", "{\"name\": \"f\"}"), "contains a function call"),
        (&beside("assistant", "null", "function_call", "{\"name\": \"f\"}"), "contains a function call"),
        (&beside("assistant", "\"x\"", "audio", "{\"id\": \"a\"}"), "contains audio"),
        (&beside("assistant", "\"x\"", "reasoning_content", "\"hm\""), "contains reasoning"),
        (&user(r#"[{"type": "text", "text": "hi", "image": "x.png"}]"#), "contains an image"),
        (r#"{"role": "user", "parts": [{"text": "x"}]}"#, "contains `parts`"),
        // Strings are, too, by their key or what they are.
        (&beside("user", "\"what?\"", "url", "\"https://x.org/cat\""), "contains `url`"),
        (&beside("user", "\"what?\"", "link", "\"DATA:image/png;base64,iVBO\""), "contains `link`"),
        (&beside("user", "\"what?\"", "blob", &format!("{:?}", "iVBO".repeat(40))), "contains `blob`"),
        (&beside("user", "\"what?\"", "base64", "\"iVBO\""), "contains `base64`"),
        (&beside("user", "\"what?\"", "PNG", "\"iVBO\""), "contains `PNG`"),
        (&beside("user", "\"what?\"", "screenshot", "\"a.png\""), "contains `screenshot`"),
        (&beside("user", "\"what?\"", "voice", "\"a.wav\""), "contains `voice`"),
        (&beside("user", "\"what?\"", "inputImage", "\"a.png\""), "contains `inputImage`"),
        (&beside("user", "\"what?\"", "name", "\"Ann\""), "contains `name`"),
        (&beside("assistant", "null", "refusal", "\"No.\""), "contains `refusal`"),
        (&user(r#"[{"type": "text", "text": "hi", "href": "https://x.org"}]"#), "contains `href`"),
    ] {
        assert_eq!(
            problem(message),
            format!(
                ", line 1: sample \"q1\": message 2 {part}, and only text is sent to models; replace it with text, or \
                 leave the sample out"
            ),
            "{message}"
        );
    }
    for message in [r#"{"role": "user"}"#, &user("null"), &beside("user", "null", "images", "[]")] {
        assert_eq!(problem(message), ", line 1: `input`: `input` has no `content` in message 2");
    }
    // What says nothing to a model is no reason to refuse: who wrote it, when, and in which language.
    for fine in [
        user(r#"[{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}, "b"]"#),
        user("\"c\""),
        r#"{"role": "assistant", "content": "d", "tool_calls": [], "error": null}"#.to_owned(),
        r#"{"role": "user", "content": "d", "language": "en", "toxic": false, "has_image": false, "image_count": 0}"#.to_owned(),
        beside("assistant", "\"x\"", "metadata", "{\"audio\": 1}"),
        r#"{"role": "user", "content": "d", "author": "Ann", "model_name": "m", "date": "2026-11-19", "refusal": null, "name": ""}"#.to_owned(),
    ] {
        assert_eq!(problem(&fine), "");
    }
}

#[test]
fn a_message_is_a_conversation_of_one() {
    let dataset = read("x.jsonl", r#"{"input": {"role": "user", "content": "Why?"}}"#);
    assert_eq!(dataset.samples().unwrap()[0].1.input, Input::Messages(vec![Message::user("Why?")]));
    let parts = r#"{"input": {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image", "image": "x.png"}]}}"#;
    let dataset = read("x.jsonl", parts);
    let problem = dataset.check_text(dataset.samples().unwrap()).unwrap_err().to_string();
    assert!(problem.contains("message 1 contains an image"), "{problem}");
    // Its parts alone are none.
    let parts = parts.replacen("input", "question", 1);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.jsonl");
    std::fs::write(&path, parts).unwrap();
    let dataset = json_dataset(path, Fields::new().input("question.content").reader());
    let problem = dataset.samples().unwrap_err().to_string();
    assert!(problem.contains("is a list of the parts of a message, and not of messages"), "{problem}");
}

/// As the reference reads them; only that its ids stay integers.
#[test]
fn integers_beyond_64_bits_are_the_text_of_their_digits() {
    const LONG: &str = "-12345678901234567890123";
    for id in ["12345678901234567890", LONG] {
        let dataset = read(
            "x.jsonl",
            &format!("{{\"id\": {id}, \"input\": \"a {id} \\\" {id}\", \"target\": [{id}]}}\n"),
        );
        let (found, sample) = &dataset.samples().unwrap()[0];
        assert_eq!(*found, SampleId::from(id));
        assert_eq!(sample.input, errorbar_eval::Input::from(format!("a {id} \" {id}")));
        assert_eq!(sample.target.text(), id);
    }
    for wrong in ["01234567890123456789012", "12345678901234567890-1", "-", "--12345678901234567890123"] {
        let dataset = read("x.jsonl", &format!("{{\"id\": {wrong}, \"input\": \"a\"}}"));
        assert!(matches!(dataset.samples(), Err(DatasetError::Record { .. })), "{wrong}");
    }
    assert!(read("x.jsonl", &format!("{{{LONG}: 1, \"input\": \"a\"}}")).samples().is_err());
    let others = r#"{"input": "a", "metadata": {"x": [-9223372036854775808, 18446744073709551615, 1.2345678901234567890123, -12345678901234567890123]}}"#;
    let dataset = read("x.json", &format!("[{others}]"));
    let expected = serde_json::json!([i64::MIN, u64::MAX, 1.2345678901234567, LONG]);
    assert_eq!(dataset.samples().unwrap()[0].1.metadata["x"], expected);
}

/// As in tables.
#[test]
fn whole_numbers_that_are_written_as_floats_are_ids() {
    let dataset = read("d.jsonl", "{\"id\": 3.0, \"input\": \"?\"}\n{\"id\": 1e3, \"input\": \"?\"}\n");
    let ids: Vec<SampleId> = dataset.samples().unwrap().iter().map(|(id, _)| id.clone()).collect();
    assert_eq!(ids, [SampleId::Int(3), SampleId::Int(1000)]);
    let half = bad_record(&read("d.jsonl", "{\"id\": 1.5, \"input\": \"?\"}\n"));
    assert!(half.1.contains("an id is a string or an integer, found 1.5"), "{half:?}");
}

#[test]
fn addresses_are_not_opened() {
    for url in ["https://example.org/x.jsonl", "s3://bucket/x.csv", "https://example.org/x"] {
        let error = at_once(url).samples().unwrap_err().to_string();
        let expected = format!(
            "cannot read the dataset {url}: addresses are not opened: download the file, and name the copy; a dataset \
             of the Hugging Face hub is hf:ORG/NAME"
        );
        assert_eq!(error, expected);
    }
}

#[test]
fn the_same_id_twice_is_refused_whatever_its_type() {
    let message =
        |second: Sample| Dataset::new([Sample::new("a").id(2), second]).samples().unwrap_err().to_string();
    let start = "two samples have the id \"2\" (sample number 1; sample number 2);";
    assert_eq!(
        message(Sample::new("b").id("2")),
        format!("{start} ids must differ; to run a sample several times, use epochs")
    );
    assert_eq!(message(Sample::new("b")), format!("{start} give every sample an id, or none"));
}

#[test]
fn a_shuffle_is_a_permutation_that_the_seed_decides() {
    let ids = |seed: u64, count: usize| -> Vec<String> {
        let dataset = Dataset::new((0..count).map(|n| Sample::new(n.to_string()))).shuffle(seed);
        assert!(dataset.is_shuffled());
        dataset.samples().unwrap().iter().map(|(id, _)| id.to_string()).collect()
    };
    assert_eq!(ids(7, 20), ids(7, 20));
    assert_ne!(ids(7, 20), ids(8, 20));
    let mut sorted: Vec<u32> = ids(7, 20).iter().map(|id| id.parse().unwrap()).collect();
    sorted.sort_unstable();
    assert_eq!(sorted, (1..=20).collect::<Vec<_>>());
    // Two samples come in both orders.
    let first: std::collections::BTreeSet<String> = (0..20).map(|seed| ids(seed, 2)[0].clone()).collect();
    assert_eq!(first.len(), 2);
}

#[test]
fn targets_follow_their_choices() {
    let texts = ["w", "x", "y", "z"];
    let right = |sample: &Sample| -> Vec<String> {
        let letters = sample.target.iter().flat_map(|target| target.split(','));
        let mut right: Vec<String> =
            letters.map(|letter| sample.choices[usize::from(letter.as_bytes()[0] - b'A')].clone()).collect();
        right.sort();
        right
    };
    let mut orders = std::collections::BTreeSet::new();
    for seed in 0..30 {
        let dataset = Dataset::new([
            Sample::new("one").choices(texts).target("C"),
            Sample::new("two, in one text").choices(texts).target("AC"),
            Sample::new("two, as a list").choices(texts).target(["A", "D"]),
            Sample::new("one, as a list").choices(texts).target(["B"]),
            Sample::new("no choices").target("anything"),
        ])
        .shuffle_choices(seed);
        let samples = dataset.samples().unwrap();
        assert_eq!(right(&samples[0].1), ["y"]);
        assert_eq!(right(&samples[1].1), ["w", "y"]);
        assert_eq!(right(&samples[2].1), ["w", "z"]);
        assert_eq!(right(&samples[3].1), ["x"]);
        assert_eq!(samples[4].1.target.text(), "anything");
        // One text stays one text, and a list a list.
        assert!(matches!(samples[1].1.target.targets(), Targets::One(_)));
        assert!(matches!(samples[3].1.target.targets(), Targets::Many(_)));
        orders.insert(samples[0].1.choices.clone());
    }
    assert!(orders.len() > 5, "{orders:?}");
}

#[test]
fn a_target_beyond_the_choices_cannot_be_shuffled() {
    let dataset = Dataset::new([Sample::new("q").id("q7").choices(["a"]).target("B")]).shuffle_choices(1);
    assert!(
        matches!(dataset.samples(), Err(DatasetError::Other { message, .. }) if message.starts_with("sample \"q7\""))
    );
}

#[test]
fn metadata_may_be_the_json_of_an_object_and_nothing_else() {
    let kept = read("x.csv", "input,metadata\na,\"{\"\"k\"\": 1}\"\nb,\n");
    assert_eq!(kept.samples().unwrap()[0].1.metadata["k"], 1);
    assert!(kept.samples().unwrap()[1].1.metadata.is_empty());
    let problem = |found: &str| {
        format!(
            "`metadata` is an object of the form {{\"key\": \"value\"}}, found {found}; or name the fields to keep as metadata"
        )
    };
    let dataset = read("x.csv", "input,metadata\na,easy\n");
    assert_eq!(bad_record(&dataset), (RecordPosition::Line(2), problem("the string \"easy\"")));
    let dataset = read("x.jsonl", "{\"input\": \"a\", \"metadata\": [1]}\n");
    assert_eq!(bad_record(&dataset), (RecordPosition::Line(1), problem("[1]")));
}

#[test]
fn a_question_must_be_there() {
    let dataset = read("x.jsonl", "{\"input\": null, \"target\": \"1\"}\n");
    let error = dataset.samples().unwrap_err();
    assert!(matches!(&error, DatasetError::Expression { field, .. } if field == "input"), "{error}");
    assert!(error.to_string().contains("line 1: `input`: `input` is null; default(input, '')"), "{error}");
}

#[test]
fn a_number_that_is_an_id_is_reported_as_such() {
    let numbered_first = Dataset::new([Sample::new("a"), Sample::new("b").id(1)]);
    let numbered_last = Dataset::new([Sample::new("a").id("2"), Sample::new("b")]);
    for dataset in [numbered_first, numbered_last] {
        assert!(
            matches!(dataset.samples(), Err(DatasetError::Other { message, .. }) if message.contains("give every sample an id, or none"))
        );
    }
}

/// The dataset that a file of these parts makes.
fn hostile(name: &str, parts: &[&[u8]]) -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, parts.concat()).unwrap();
    at_once(path)
}

const MIB: usize = 1 << 20;

/// The hint of JSON lines beside what is wrong with one.
const ONE_A_LINE: &str = "; the file holds one JSON object a line, or one list of objects";

fn too_long(line: u64) -> String {
    format!("line {line} is longer than 64 MiB; check that the file is what its name says, or split the line")
}

#[test]
fn a_line_without_an_end_is_refused() {
    let long = vec![b'x'; 65 * MIB];
    for (name, start) in [
        ("x.csv", &b"input,target\na,"[..]),
        ("x.tsv", b"input\ttarget\na\t"),
        ("x.jsonl", b"\n{\"input\": \""),
    ] {
        assert_eq!(unreadable(&hostile(name, &[start, &long])), too_long(2), "{name}");
    }
    // A list of records may be in one line.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.json");
    let half = "x".repeat(33 * MIB);
    fs::write(&path, format!("[{{\"input\": \"{half}\"}}, {{\"input\": \"{half}\"}}]")).unwrap();
    assert_eq!(json_dataset(path, Fields::new().reader()).samples().unwrap().len(), 2);
}

#[cfg(unix)]
#[test]
fn endless_and_sparse_datasets_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["zero.csv", "zero.json", "zero.jsonl"] {
        let path = folder.path().join(name);
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        let read = |path| {
            if name == "zero.csv" {
                csv_dataset(path, Fields::new().reader())
            } else {
                json_dataset(path, Fields::new().reader())
            }
        };
        assert_eq!(unreadable(&read(path)), too_long(1), "{name}");
        let path = folder.path().join(format!("sparse_{name}"));
        fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(unreadable(&read(path)), too_long(1), "{name}");
    }
}

#[test]
fn records_that_take_far_more_memory_than_their_json_are_refused() {
    let items = vec![b"1,".as_slice(); 5_000_000].concat();
    let problem = "the record takes more than 48 MiB of memory";
    let list = hostile("x.json", &[b"[{\"input\":\"a\",\"x\":[", &items, b"1]}]"]);
    assert_eq!(bad_record(&list), (RecordPosition::Record(1), problem.to_owned()));
    let lines = hostile("x.jsonl", &[b"{\"input\":\"a\",\"x\":[", &items, b"1]}"]);
    assert_eq!(bad_record(&lines), (RecordPosition::Line(1), format!("{problem}{ONE_A_LINE}")));
    let samples = b"{\"input\":\"\"}\n".repeat(1_000_000);
    let (position, problem) = bad_record(&hostile("x.jsonl", &[&samples]));
    assert!(matches!(position, RecordPosition::Line(2..1_000_000)), "{position:?}");
    assert_eq!(
        problem,
        "up to here it takes more than 256 MiB of memory, far more than a file of its size should; check that the file \
         is what its name says, or split it"
    );
}

#[test]
fn columns_and_fields_without_number_are_refused() {
    let names: String = (0..100_000).map(|n| format!(",c{n}")).collect();
    let header = hostile("x.csv", &[b"input", names.as_bytes(), b"\n"]);
    let problem = "the header has 100001 columns, at most 10000 are read; remove those that are not needed";
    assert_eq!(bad_record(&header), (RecordPosition::Line(1), problem.to_owned()));
    let commas = vec![b','; 2 * MIB];
    let row = hostile("x.csv", &[b"input,target\na,b\n", &commas, b"\n"]);
    let problem = "the row has 2097153 fields; check that the file is what its name says";
    assert_eq!(bad_record(&row), (RecordPosition::Line(3), problem.to_owned()));
}

#[test]
fn nesting_without_end_is_refused() {
    let deep = b"[".repeat(100_000);
    let back = b"]".repeat(100_000);
    for (name, start, end, position, column, advice) in [
        ("x.json", &b"[{\"input\":"[..], &b"}]"[..], RecordPosition::Record(1), 136, ""),
        ("x.jsonl", b"{\"input\":", b"}", RecordPosition::Line(1), 136, ONE_A_LINE),
        ("y.json", b"", b"", RecordPosition::Record(1), 128, ""),
    ] {
        let problem = format!("recursion limit exceeded at column {column}{advice}");
        assert_eq!(bad_record(&hostile(name, &[start, &deep, &back, end])), (position, problem), "{name}");
    }
}

#[test]
fn an_object_with_one_list_of_objects_holds_the_records() {
    let folder = tempfile::tempdir().unwrap();
    let read = |text: &str| {
        let path = folder.path().join("questions.json");
        fs::write(&path, text).unwrap();
        json_dataset(path, Fields::new().reader())
    };
    let dataset = read(
        "{\n  \"version\": 1,\n  \"tags\": [\"a\"],\n  \"questions\": [\n    {\"input\": \"q\"}\n  ]\n}\n",
    );
    assert_eq!(dataset.samples().unwrap().len(), 1);
    let two = read("{\n\"dev\": [{\"input\": \"q\"}],\n\"test\": [{\"input\": \"q\"}]\n}");
    assert_eq!(unreadable(&two), format!("it has several lists of objects (`dev`, `test`){ONE_A_LINE}"));
    let none = read("{\n\"a\": [1]\n}");
    assert_eq!(unreadable(&none), format!("it is an object without a list of objects{ONE_A_LINE}"));
}

#[test]
fn an_object_of_one_line_may_hold_the_records() {
    let two = ["Text(\"a\")", "Text(\"b\")"];
    let records = "[{\"input\": \"a\"}, {\"input\": \"b\"}]";
    assert_eq!(inputs(&read("x.json", &format!("{{\"data\": {records}}}"))), two);
    assert_eq!(inputs(&read("x.json", &format!("{{\"version\": 1, \"data\": {records}}}\n"))), two);
    let long = "x".repeat(1 << 20);
    let records = format!("[{{\"input\": \"a\", \"context\": \"{long}\"}}, {{\"input\": \"b\"}}]");
    assert_eq!(inputs(&read("x.json", &format!("{{\"rows\": {records}}}"))), two);
    // A record a line, the first of which is long and starts with a list.
    let line = format!("{{\"context\": [{{\"text\": \"{long}\"}}], \"input\": \"a\"}}\n");
    assert_eq!(inputs(&read("x.json", &line.repeat(2))), ["Text(\"a\")"; 2]);
    // One record.
    let message = "{\"input\": [{\"role\": \"user\", \"content\": \"x\"}], \"target\": \"y\"}\n";
    assert_eq!(read("x.json", message).samples().unwrap().len(), 1);
}

#[test]
fn another_delimiter_is_named_in_the_error() {
    let table = "input;target\na;b\n";
    let (position, problem) = bad_record(&read("x.csv", table));
    assert_eq!(position, RecordPosition::Line(1));
    assert!(problem.ends_with("separated by semicolons, name that: delimiter = \";\""), "{problem}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    fs::write(&path, table).unwrap();
    let dataset = RecordSource::new(&path).delimiter(b';').fields(Fields::new());
    assert_eq!(inputs(&dataset), ["Text(\"a\")"]);
    let units = "input,target\na,b\n".encode_utf16().flat_map(u16::to_le_bytes);
    fs::write(&path, [0xff, 0xfe].into_iter().chain(units).collect::<Vec<u8>>()).unwrap();
    assert_eq!(bad_record(&at_once(&path)).1, "it is UTF-16LE text; save it as UTF-8");
    let (_, problem) = bad_record(&read("x.tsv", "input\ttarget\na\tb\tc\n"));
    assert!(problem.ends_with("quote tabs within a field"), "{problem}");
}
