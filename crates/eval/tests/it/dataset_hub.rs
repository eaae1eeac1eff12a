//! Datasets of the Hugging Face hub that were downloaded: snapshots, subsets, splits.

use std::fs;
use std::path::Path;

use errorbar_eval::{Dataset, DatasetError, Fields, Input, RecordSource, Sample};
use tempfile::TempDir;

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const OLDER: &str = "fedcba9876543210fedcba9876543210fedcba98";

/// A cache with one dataset, whose files are links into `blobs` as the hub's tools make them.
fn cache(repository: &str, files: &[(&str, &str)]) -> TempDir {
    let cache = tempfile::tempdir().unwrap();
    add(cache.path(), repository, COMMIT, files);
    cache
}

fn add(cache: &Path, repository: &str, commit: &str, files: &[(&str, &str)]) {
    let folder = cache.join(format!("datasets--{}", repository.replace('/', "--")));
    for part in ["blobs", "refs"] {
        fs::create_dir_all(folder.join(part)).unwrap();
    }
    fs::write(folder.join("refs/main"), COMMIT).unwrap();
    for (number, (name, text)) in files.iter().enumerate() {
        let blob = folder.join("blobs").join(format!("{commit}{number}"));
        fs::write(&blob, text).unwrap();
        let path = folder.join("snapshots").join(commit).join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&blob, path).unwrap();
        #[cfg(not(unix))]
        fs::copy(&blob, path).unwrap();
    }
}

/// A row that tells which file it is from.
fn row(input: &str) -> String {
    format!("{{\"input\": \"{input}\"}}\n")
}

fn source(cache: &TempDir, path: &str) -> RecordSource {
    RecordSource::new(path).hub_cache(cache.path())
}

fn inputs(source: RecordSource) -> Vec<String> {
    let dataset = source.fields(Fields::new());
    let samples = dataset.samples().unwrap_or_else(|error| panic!("{error}"));
    let text = |sample: &Sample| match &sample.input {
        Input::Text(text) => text.clone(),
        other => panic!("{other:?}"),
    };
    samples.iter().map(|(_, sample)| text(sample)).collect()
}

#[track_caller]
fn problem(source: RecordSource) -> String {
    source.fields(Fields::new()).samples().unwrap_err().to_string()
}

/// The names that a message lists for a subset or a split.
fn named(what: &str, problem: &str) -> Vec<String> {
    let (_, list) = problem
        .split_once(&format!("{what} = "))
        .or_else(|| problem.split_once("there are: "))
        .unwrap_or_else(|| panic!("{problem}"));
    list.split(" or ")
        .flat_map(|name| name.split(", "))
        .map(|name| name.trim_matches('"').to_owned())
        .collect()
}

fn splits(problem: String) -> Vec<String> {
    named("split", &problem)
}

fn subsets(problem: String) -> Vec<String> {
    named("subset", &problem)
}

#[test]
fn files_by_subset_and_split() {
    let cache = cache(
        "allenai/ai2_arc",
        &[
            ("ARC-Challenge/test-00000-of-00002.jsonl", &row("challenge test 0")),
            ("ARC-Challenge/test-00001-of-00002.jsonl", &row("challenge test 1")),
            ("ARC-Challenge/validation-00000-of-00001.jsonl", &row("challenge validation")),
            ("ARC-Easy/test-00000-of-00001.jsonl", &row("easy test")),
            ("README.md", "About it."),
            ("dataset_infos.json", "{}"),
        ],
    );
    let arc = || source(&cache, "hf:allenai/ai2_arc");
    let challenge = || arc().subset("ARC-Challenge");
    assert_eq!(inputs(challenge().split("test")), ["challenge test 0", "challenge test 1"]);
    assert_eq!(inputs(challenge().split("dev")), ["challenge validation"], "another word for it");
    assert_eq!(inputs(arc().subset("ARC-Easy")), ["easy test"], "the only split");
    assert_eq!(subsets(problem(arc().split("test"))), ["ARC-Challenge", "ARC-Easy"]);
    assert!(
        problem(arc().subset("ARC-Eazy")).ends_with("it has no subset `ARC-Eazy`; did you mean `ARC-Easy`?")
    );
    assert_eq!(splits(problem(challenge())), ["test", "validation"]);
    assert_eq!(splits(problem(challenge().split("train"))), ["test", "validation"]);

    let dataset: Dataset = challenge().split("test").fields(Fields::new());
    assert_eq!((dataset.name(), dataset.location()), (Some("allenai/ai2_arc"), Some("allenai/ai2_arc")));
    let provenance = serde_json::to_value(dataset.provenance()).unwrap();
    let expected = serde_json::json!({"revision": COMMIT, "subset": "ARC-Challenge", "split": "test"});
    assert_eq!(provenance, expected);
}

#[test]
fn layouts_of_datasets() {
    type Layout<'l> = (&'l [&'l str], Option<&'l str>, Option<&'l str>, &'l [usize]);
    let layouts: &[Layout<'_>] = &[
        (&["data/test-00000-of-00001.jsonl", "data/train-00000-of-00001.jsonl"], None, Some("test"), &[0]),
        (
            &["main/test-00000-of-00001-0abc.jsonl", "socratic/test-00000-of-00001.jsonl"],
            Some("main"),
            Some("test"),
            &[0],
        ),
        (&["test.jsonl", "train.jsonl"], None, Some("test"), &[0]),
        (&["test/0000.jsonl", "test/0001.jsonl", "train/0000.jsonl"], None, Some("test"), &[0, 1]),
        (
            &["main/test/0000.jsonl", "main/train/0000.jsonl", "b/test/0.jsonl"],
            Some("main"),
            Some("test"),
            &[0],
        ),
        (&["gpqa_diamond.csv", "gpqa_main.csv"], Some("gpqa_main"), Some("train"), &[1]),
        (&["gpqa_diamond.csv", "gpqa_main.csv"], Some("gpqa_main"), None, &[1]),
        (&["data/validation-00000-of-00001.jsonl"], None, None, &[0]),
        (&["quiz_test.csv", "quiz_train.csv"], Some("quiz"), Some("test"), &[0]),
        (&["quiz_test.csv", "quiz_train.csv"], None, Some("test"), &[0]),
        (&["default/test-00000-of-00001.jsonl", "hard/test-00000-of-00001.jsonl"], None, Some("test"), &[0]),
        (
            &["data/auxiliary_train-00000-of-00001.jsonl", "data/test-00000-of-00001.jsonl"],
            None,
            Some("auxiliary_train"),
            &[0],
        ),
        (&["questions.jsonl"], None, None, &[0]),
        (&["test.csv", "test.jsonl"], None, Some("test"), &[1]),
    ];
    for (names, subset, split, expected) in layouts {
        let text = |name: &str, number: usize| match name.ends_with(".csv") {
            true => format!("input,target\n{number},x\n"),
            false => row(&number.to_string()),
        };
        let texts: Vec<String> = names.iter().enumerate().map(|(number, name)| text(name, number)).collect();
        let files: Vec<(&str, &str)> = names.iter().copied().zip(texts.iter().map(String::as_str)).collect();
        let cache = cache("org/name", &files);
        let mut source = source(&cache, "hf:org/name");
        source = subset.iter().fold(source, |source, subset| source.subset(*subset));
        source = split.iter().fold(source, |source, split| source.split(*split));
        let expected: Vec<String> = expected.iter().map(usize::to_string).collect();
        assert_eq!(inputs(source), expected, "{names:?} {subset:?} {split:?}");
    }
}

#[test]
fn revisions() {
    let cache = cache("org/name", &[("test.jsonl", &row("new"))]);
    add(cache.path(), "org/name", OLDER, &[("test.jsonl", &row("old"))]);
    let refs = cache.path().join("datasets--org--name/refs");
    fs::create_dir_all(refs.join("release")).unwrap();
    fs::write(refs.join("release/v1"), OLDER).unwrap();
    let of = |revision: &str| inputs(source(&cache, &format!("hf:org/name{revision}")));
    assert_eq!(of(""), ["new"]);
    assert_eq!(of("@main"), ["new"]);
    assert_eq!(of("@release/v1"), ["old"]);
    assert_eq!(of(&format!("@{OLDER}")), ["old"]);
    assert_eq!(of("@fedcba9"), ["old"]);
    let missing = problem(source(&cache, "hf:org/name@v2"));
    assert!(missing.contains("this revision is not downloaded"), "{missing}");
    assert!(missing.contains(COMMIT) && missing.contains(OLDER), "{missing}");
    assert!(missing.contains("`hf download org/name --repo-type dataset --revision v2`"), "{missing}");
    // What was downloaded by its commit has no `main`.
    fs::remove_file(refs.join("main")).unwrap();
    assert!(problem(source(&cache, "hf:org/name")).contains("this revision is not downloaded"));
    fs::remove_dir_all(cache.path().join("datasets--org--name/snapshots").join(COMMIT)).unwrap();
    assert_eq!(of(""), ["old"], "the only one");
}

#[test]
fn what_is_not_there_says_how_to_get_it() {
    let cache = cache("openai/gsm8k", &[("README.md", "only this")]);
    let error = source(&cache, "hf:openai/gsm8").fields(Fields::new()).samples().unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "hf:openai/gsm8: it is not downloaded (looked in {}); did you mean `openai/gsm8k`? Otherwise fetch it with \
             `hf download openai/gsm8 --repo-type dataset`",
            cache.path().display()
        )
    );
    let missing = problem(source(&cache, "hf:cais/mmlu"));
    assert!(missing.contains("it is not downloaded") && !missing.contains("did you mean"), "{missing}");
    assert!(
        problem(source(&cache, "hf:openai/gsm8k")).contains("no .parquet, .json, .jsonl, .csv or .tsv file")
    );
    for name in ["hf:", "hf:a/b/c", "hf:../x", "hf:a/..", "hf:a/b@../../x", "hf:a b/c", "hf:a--b/c"] {
        assert!(problem(source(&cache, name)).contains("a dataset of the hub is hf:ORG/NAME"), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn links_out_of_the_cache_are_not_followed() {
    let secret = tempfile::NamedTempFile::new().unwrap();
    fs::write(secret.path(), row("secret")).unwrap();
    let cache = cache("org/name", &[("train.jsonl", &row("fine"))]);
    let snapshot = cache.path().join("datasets--org--name/snapshots").join(COMMIT);
    std::os::unix::fs::symlink(secret.path(), snapshot.join("test.jsonl")).unwrap();
    assert!(problem(source(&cache, "hf:org/name").split("test")).contains("is a link out of the folder"));
    assert_eq!(inputs(source(&cache, "hf:org/name").split("train")), ["fine"]);
}

/// A split chooses among the files of a pattern as it does among those of a folder.
#[test]
fn a_split_chooses_among_the_files_of_a_pattern() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["train", "test"] {
        fs::write(folder.path().join(format!("{name}.jsonl")), row(name)).unwrap();
    }
    let pattern = folder.path().join("*.jsonl");
    assert_eq!(inputs(RecordSource::new(&pattern).split("test")), ["test"]);
    assert_eq!(inputs(RecordSource::new(&pattern)), ["test", "train"]);
    assert_eq!(splits(problem(RecordSource::new(&pattern).split("dev"))), ["test", "train"]);
    // One file has no splits: examples of the split "train" would be those of the file with the questions.
    let one = RecordSource::new(folder.path().join("test.jsonl")).split("train").fields(Fields::new());
    assert!(matches!(one.samples(), Err(DatasetError::Other { key: Some("split"), .. })));
}

#[test]
fn missing_shards_and_ambiguous_subsets_are_refused() {
    let files = ["test-00000-of-00003.jsonl", "test-00002-of-00003.jsonl"].map(|name| (name, row(name)));
    let files: Vec<(&str, &str)> = files.iter().map(|(name, row)| (*name, row.as_str())).collect();
    let shards = cache("org/name", &files);
    let found = problem(source(&shards, "hf:org/name").split("test"));
    assert!(found.contains("only 2 of the 3 files of the split are there"), "{found}");
    let text = row("x");
    let languages =
        cache("org/name", &[("en/math/test.jsonl", text.as_str()), ("fr/math/test.jsonl", text.as_str())]);
    let known = subsets(problem(source(&languages, "hf:org/name").subset("math").split("test")));
    assert_eq!(known, ["en/math", "fr/math"]);
}
