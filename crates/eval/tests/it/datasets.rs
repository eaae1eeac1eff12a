//! Datasets: files of every form, ids, and shuffles that take the targets along.

use std::fs;

use errorbar_eval::{Dataset, DatasetError, Fields, Sample, SampleId, Targets, csv_dataset, json_dataset};

/// The dataset that a file of this name and text makes.
fn read(name: &str, text: &str) -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    let fields = Fields::new();
    if name.contains("json") {
        json_dataset(path, fields.reader())
    } else {
        csv_dataset(path, fields.reader())
    }
}

fn inputs(dataset: &Dataset) -> Vec<String> {
    dataset.samples().unwrap().iter().map(|(_, sample)| format!("{:?}", sample.input)).collect()
}

fn problem(dataset: &Dataset) -> String {
    dataset.samples().unwrap_err().to_string()
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
    let line = |text: &str| problem(&read("x.csv", text));
    assert!(line("id,input\n1,\"two\nlines\"\n,b\n").contains("x.csv, line 4: the id (field `id`) is empty"));
    let record = problem(&read("x.json", r#"[{"input": "a"}, 3]"#));
    assert!(record.contains("x.json, record 2: a record is an object"), "{record}");
}

#[test]
fn the_same_id_twice_is_refused_whatever_its_type() {
    let duplicate = problem(&Dataset::new([Sample::new("a").id(1), Sample::new("b").id("1")]));
    assert!(
        duplicate.contains("sample number 1; sample number 2") && duplicate.contains("use epochs"),
        "{duplicate}"
    );
    let numbered = problem(&Dataset::new([Sample::new("a").id(2), Sample::new("b")]));
    assert!(numbered.contains("give every sample an id, or none"), "{numbered}");
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
    assert!(matches!(dataset.samples(), Err(DatasetError::Choices { sample, .. }) if sample == "q7"));
}

#[test]
fn metadata_may_be_the_text_of_an_object_and_nothing_else() {
    let kept = read("x.csv", "input,metadata\na,\"{\"\"k\"\": 1}\"\nb,\n");
    assert_eq!(kept.samples().unwrap()[0].1.metadata["k"], 1);
    assert!(kept.samples().unwrap()[1].1.metadata.is_empty());
    let error = problem(&read("x.csv", "input,metadata\na,easy\n"));
    assert!(error.contains("line 2") && error.contains("the text \"easy\""), "{error}");
    let error = problem(&read("x.jsonl", "{\"input\": \"a\", \"metadata\": [1]}\n"));
    assert!(error.contains("`metadata` is an object"), "{error}");
}

#[test]
fn a_question_must_be_there() {
    let error = problem(&read("x.jsonl", "{\"input\": null, \"target\": \"1\"}\n"));
    assert!(error.contains("line 1") && error.contains("`input`) is null"), "{error}");
}

#[test]
fn a_number_that_is_somebodys_id_is_told_as_such() {
    let numbered_first = Dataset::new([Sample::new("a"), Sample::new("b").id(1)]);
    let numbered_last = Dataset::new([Sample::new("a").id("2"), Sample::new("b")]);
    for dataset in [numbered_first, numbered_last] {
        assert!(problem(&dataset).contains("give every sample an id, or none"));
    }
}

/// The problem of a file that is made of these parts.
fn hostile(name: &str, parts: &[&[u8]]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, parts.concat()).unwrap();
    let fields = Fields::new();
    let json = name.contains("json");
    problem(&if json { json_dataset(path, fields.reader()) } else { csv_dataset(path, fields.reader()) })
}

const MIB: usize = 1 << 20;

#[test]
fn a_line_without_an_end_is_refused() {
    let long = vec![b'x'; 65 * MIB];
    for (name, start) in [
        ("x.csv", &b"input,target\na,"[..]),
        ("x.tsv", b"input\ttarget\na\t"),
        ("x.jsonl", b"\n{\"input\": \""),
    ] {
        let problem = hostile(name, &[start, &long]);
        assert!(problem.contains(&format!("{name}: line 2 is longer than 64 MiB")), "{problem}");
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
        assert!(problem(&read(path)).contains("line 1 is longer"), "{name}");
        let path = folder.path().join(format!("sparse_{name}"));
        fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert!(problem(&read(path)).contains("line 1 is longer"), "{name}");
    }
}

#[test]
fn records_that_take_far_more_memory_than_their_text_are_refused() {
    let items = vec![b"1,".as_slice(); 5_000_000].concat();
    for (name, start, end) in [
        ("x.json", &b"[{\"input\":\"a\",\"x\":["[..], &b"1]}]"[..]),
        ("x.jsonl", b"{\"input\":\"a\",\"x\":[", b"1]}"),
    ] {
        let problem = hostile(name, &[start, &items, end]);
        assert!(problem.contains("the record takes more than 48 MiB of memory"), "{problem}");
    }
    let samples = b"{\"input\":\"\"}\n".repeat(1_000_000);
    let problem = hostile("x.jsonl", &[&samples]);
    assert!(problem.contains("it takes more than 256 MiB of memory"), "{problem}");
    assert!(problem.contains(", line "), "{problem}");
}

#[test]
fn columns_and_fields_without_number_are_refused() {
    let names: String = (0..100_000).map(|n| format!(",c{n}")).collect();
    let problem_of_header = hostile("x.csv", &[b"input", names.as_bytes(), b"\n"]);
    assert!(
        problem_of_header.contains("the header has 100001 columns, at most 10000 are read"),
        "{problem_of_header}"
    );
    let commas = vec![b','; 2 * MIB];
    let problem = hostile("x.csv", &[b"input,target\na,b\n", &commas, b"\n"]);
    assert!(problem.contains("x.csv, line 3: the row has 2097153 fields"), "{problem}");
}

#[test]
fn nesting_without_end_is_refused() {
    let deep = b"[".repeat(100_000);
    let back = b"]".repeat(100_000);
    for (name, start, end) in [
        ("x.json", &b"[{\"input\":"[..], &b"}]"[..]),
        ("x.jsonl", b"{\"input\":", b"}"),
        ("y.json", b"", b""),
    ] {
        let problem = hostile(name, &[start, &deep, &back, end]);
        assert!(problem.contains("recursion limit exceeded"), "{problem}");
    }
}
