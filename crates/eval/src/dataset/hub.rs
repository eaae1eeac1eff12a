//! Datasets of the Hugging Face hub that were downloaded: where they are, and which of their files are meant.
//!
//! Nothing is fetched. The hub's own tools put a dataset into `datasets--ORG--NAME/snapshots/COMMIT/`, with links
//! to the files in `blobs/`; branches and tags are files in `refs/` that hold the commit.

use std::collections::{BTreeSet, HashSet};
use std::path::{Component, Path, PathBuf};
use std::{env, fs};

use errorbar_core::Metadata;
use errorbar_core::spec::nearest;
use serde_json::Value as Json;

use super::error::{DatasetError, shown};
use super::source::{FileFormat, RecordSource, is_format, is_visible, no_data_files, stem};

/// A dataset of the hub, as `hf:ORG/NAME@REVISION` names it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HubDataset {
    /// `ORG/NAME`; a few old datasets have no organization.
    pub repository: String,
    /// A branch, a tag or a commit; `main`, if it is not given.
    pub revision: Option<String>,
}

/// The error of a subset or a split that is not there, or that is not named.
fn unknown_part(
    dataset: &str,
    what: &'static str,
    named: Option<&str>,
    known: BTreeSet<String>,
) -> DatasetError {
    let known: Vec<String> = known.into_iter().collect();
    let problem = match named {
        None => format!("it has several {what}s; name one: {what} = {}", quoted(&known)),
        Some(named) if known.is_empty() => format!("it has no {what} `{named}`, and no others"),
        Some(named) => match nearest(named, known.iter().map(String::as_str)) {
            Some(near) => format!("it has no {what} `{named}`; did you mean `{near}`?"),
            None => format!("it has no {what} `{named}`; there are: {}", shown(&known)),
        },
    };
    DatasetError::of_key(what, format!("{dataset}: {problem}"))
}

fn missing_files(dataset: &str, found: usize, expected: usize) -> DatasetError {
    let message = format!(
        "{dataset}: only {found} of the {expected} files of the split are there; fetch all of them, or name those that \
         you want as `path`"
    );
    DatasetError::of_key("split", message)
}

fn quoted(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let first: Vec<String> = names.iter().take(SHOWN).map(|name| format!("\"{name}\"")).collect();
    let more = names.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" or one of {more} more") } else { String::new() };
    format!("{}{more}", first.join(" or "))
}

impl HubDataset {
    /// The dataset that a path names, if it starts with `hf:`.
    pub fn parse(path: &Path) -> Option<Result<Self, DatasetError>> {
        let text = path.to_str()?.strip_prefix("hf:")?;
        let advice =
            "a dataset of the hub is hf:ORG/NAME or hf:ORG/NAME@REVISION, of letters, digits and .-_";
        let wrong = || DatasetError::new(format!("hf:{text}: {advice}"));
        let (repository, revision) = match text.split_once('@') {
            Some((repository, revision)) => (repository, Some(revision)),
            None => (text, None),
        };
        let is_name = |name: &str| {
            !matches!(name, "" | "." | "..")
                && !name.contains("--")
                && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
        };
        // Names of branches may have slashes.
        let is_right = repository.splitn(2, '/').all(is_name)
            && revision.is_none_or(|revision| revision.split('/').all(is_name));
        let dataset = HubDataset { repository: repository.to_owned(), revision: revision.map(str::to_owned) };
        Some(if is_right { Ok(dataset) } else { Err(wrong()) })
    }

    /// The name of its folder.
    fn folder(&self) -> String {
        format!("datasets--{}", self.repository.replace('/', "--"))
    }

    /// What downloads it.
    fn command(&self) -> String {
        let revision =
            self.revision.as_ref().map(|revision| format!(" --revision {revision}")).unwrap_or_default();
        format!("hf download {} --repo-type dataset{revision}", self.repository)
    }

    /// As it is written in a task file.
    fn address(&self) -> String {
        let revision = self.revision.as_ref().map(|revision| format!("@{revision}")).unwrap_or_default();
        format!("hf:{}{revision}", self.repository)
    }

    fn wrong(&self, problem: &str) -> DatasetError {
        DatasetError::new(format!("{}: {problem}", self.address()))
    }

    /// The folder of its revision, and the name of that.
    fn snapshot(&self, cache: &Path) -> Result<(PathBuf, String), DatasetError> {
        let folder = cache.join(self.folder());
        if !folder.is_dir() {
            let known: Vec<String> = entries(cache)
                .filter_map(|name| Some(name.strip_prefix("datasets--")?.replacen("--", "/", 1)))
                .collect();
            let command = self.command();
            let advice = match nearest(&self.repository, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`? Otherwise fetch it with `{command}`"),
                None => format!("fetch it with `{command}`, or name its files as `path`"),
            };
            let problem = format!("it is not downloaded (looked in {}); {advice}", cache.display());
            return Err(self.wrong(&problem));
        }
        let snapshots = folder.join("snapshots");
        let wanted = self.revision.as_deref().unwrap_or("main");
        let commit = small_text(&folder.join("refs").join(wanted)).map(|text| text.trim().to_owned());
        let mut known: Vec<String> = entries(&snapshots).collect();
        known.sort();
        let mut of_start = known.iter().filter(|name| wanted.len() >= 7 && name.starts_with(wanted));
        let by_name = match (of_start.next(), of_start.next(), known.as_slice()) {
            (Some(only), None, _) => Some(only),
            // What was downloaded by its commit has no `main`.
            (None, _, [only]) if self.revision.is_none() => Some(only),
            _ => None,
        };
        let is_there = |name: &String| known.contains(name);
        match commit.filter(is_there).or_else(|| by_name.cloned()) {
            Some(commit) => Ok((snapshots.join(&commit), commit)),
            None => {
                let mut known = known;
                known.extend(entries(&folder.join("refs")));
                let there = match known.is_empty() {
                    true => String::new(),
                    false => format!("there are: {}; ", shown(&known)),
                };
                Err(self.wrong(&format!(
                    "this revision is not downloaded (looked in {}); {there}fetch it with `{}`",
                    folder.display(),
                    self.command()
                )))
            }
        }
    }
}

/// The folder of downloaded datasets, as the hub's own tools find it.
fn cache_of_environment() -> Option<PathBuf> {
    let folder = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    folder("HF_HUB_CACHE")
        .or_else(|| folder("HUGGINGFACE_HUB_CACHE"))
        .or_else(|| Some(folder("HF_HOME")?.join("hub")))
        .or_else(|| Some(folder("XDG_CACHE_HOME")?.join("huggingface").join("hub")))
        .or_else(|| Some(env::home_dir()?.join(".cache").join("huggingface").join("hub")))
}

fn entries(folder: &Path) -> impl Iterator<Item = String> {
    const MOST: usize = 10_000;
    let entries = fs::read_dir(folder).into_iter().flatten().take(MOST);
    entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok())
}

/// The text of a file that should be a line.
fn small_text(path: &Path) -> Option<String> {
    const MOST: u64 = 1 << 12;
    let is_small = fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MOST);
    is_small.then(|| fs::read_to_string(path).ok()).flatten()
}

/// Finds the files of a dataset that was downloaded.
pub(super) fn find(
    dataset: &HubDataset,
    choice: &RecordSource,
) -> Result<(Vec<PathBuf>, Metadata), DatasetError> {
    let cache = choice.hub_cache.clone().or_else(cache_of_environment).ok_or_else(|| {
        dataset
            .wrong("the folder of downloaded datasets is not known; set HF_HOME, or name the files as `path`")
    })?;
    let (folder, commit) = dataset.snapshot(&cache)?;
    let files = data_files(&folder, choice.format);
    if files.is_empty() {
        return Err(dataset.wrong(&format!(
            "no .parquet, .json, .jsonl, .csv or .tsv file in {}; fetch all of it with `{}`, or convert it to Parquet if \
             it is in another format",
            folder.display(),
            dataset.command()
        )));
    }
    let chosen = choose(&dataset.address(), files, choice)?;
    let root = fs::canonicalize(&cache).unwrap_or(cache);
    if let Some(path) = chosen.files.iter().find(|path| !leads_into(path, &root)) {
        let problem = format!("{} is a link out of the folder of downloaded datasets", path.display());
        return Err(dataset.wrong(&problem));
    }
    let provenance = [("revision", Some(commit)), ("subset", chosen.subset), ("split", chosen.split)];
    let entry = |(key, value): (&str, Option<String>)| Some((key.to_owned(), Json::from(value?)));
    let provenance = provenance.into_iter().filter_map(entry).collect();
    Ok((chosen.files, provenance))
}

/// Whether a file is in a folder, wherever links lead to. One that is not there is left to its reader.
fn leads_into(path: &Path, folder: &Path) -> bool {
    fs::canonicalize(path).map_or(true, |path| path.starts_with(folder))
}

/// The files of a folder that are of a subset and split, by the rules of the hub.
pub(super) fn choose_in_folder(folder: &Path, choice: &RecordSource) -> Result<Vec<PathBuf>, DatasetError> {
    let files = data_files(folder, choice.format);
    if files.is_empty() {
        return Err(no_data_files(folder, choice.format, entries(folder).collect()));
    }
    choose(&folder.display().to_string(), files, choice).map(|chosen| chosen.files)
}

/// The files of a pattern that are of a subset and split, by the same rules.
///
/// One file has nothing to choose from: it would be read whatever split is asked for.
pub(super) fn choose_among(
    pattern: &Path,
    found: Vec<PathBuf>,
    choice: &RecordSource,
) -> Result<Vec<PathBuf>, DatasetError> {
    if matches!(found.as_slice(), [only] if only == pattern) {
        // One that is not there is left to its reader.
        if !pattern.exists() {
            return Ok(found);
        }
        let key = if choice.split.is_some() { "split" } else { "subset" };
        let path = pattern.display();
        let message =
            format!("`{key}` chooses among the files of a folder or a pattern, and {path} is one file");
        let hint = format!("remove `{key}`, or name the file or folder that has it as `path`");
        return Err(DatasetError::of_key(key, message).hint(Some(hint)));
    }
    let is_plain = |part: &Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?', '[']);
    let folder: PathBuf = pattern.components().take_while(is_plain).collect();
    let data_file = |path: PathBuf| {
        let format = FileFormat::of(&path).or(choice.format);
        let format = format.ok_or_else(|| DatasetError::UnknownFormat { path: path.clone() })?;
        let (subset, split) = parts(path.strip_prefix(&folder).unwrap_or(&path));
        Ok(DataFile { path, subset, split, format })
    };
    let files = found.into_iter().map(data_file).collect::<Result<Vec<_>, DatasetError>>()?;
    choose(&pattern.display().to_string(), files, choice).map(|chosen| chosen.files)
}

/// Checks that what a folder or a pattern names is one split and all of it, where no split is chosen.
///
/// A pattern may name some files on purpose, so only files that are not there at all count as missing, and several
/// splits are refused for folders alone. One file is what it is.
pub(super) fn check_whole(named: &Path, found: &[PathBuf]) -> Result<(), DatasetError> {
    let dataset = named.display().to_string();
    if named.is_file() {
        return Ok(());
    }
    if named.is_dir() {
        let split = |path: &PathBuf| parts(path.strip_prefix(named).unwrap_or(path)).1;
        let known: BTreeSet<String> = found.iter().filter_map(split).collect();
        if known.len() > 1 {
            return Err(unknown_part(&dataset, "split", None, known));
        }
    }
    let shards = |path: &Path| {
        let stem = stem(path);
        Some((sharded(&stem)?.to_owned(), shard_count(&stem)?))
    };
    let mut checked = HashSet::new();
    for path in found {
        let Some((split, expected)) = shards(path) else { continue };
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        if !checked.insert((folder.clone(), split.clone(), expected)) {
            continue;
        }
        let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
        let of_split = entries(listed)
            .filter(|name| shards(Path::new(name)).as_ref() == Some(&(split.clone(), expected)));
        let found = of_split.count();
        if found < expected {
            return Err(missing_files(&dataset, found, expected));
        }
    }
    Ok(())
}

/// A file of a dataset, and what its path says about it.
#[derive(Debug)]
struct DataFile {
    path: PathBuf,
    subset: Option<String>,
    split: Option<String>,
    format: FileFormat,
}

/// The data of a folder and the folders in it, in the order of their paths.
fn data_files(folder: &Path, format: Option<FileFormat>) -> Vec<DataFile> {
    const DEEPEST: usize = 6;
    const MOST: usize = 100_000;
    let (mut files, mut open) = (Vec::new(), vec![(folder.to_owned(), 0)]);
    while let Some((within, depth)) = open.pop() {
        for name in entries(&within) {
            let path = within.join(&name);
            // Folders are never links there, so no circle of them is followed.
            let is_folder = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir());
            if !is_visible(&path) || files.len() >= MOST {
                continue;
            }
            if is_folder && depth < DEEPEST {
                open.push((path, depth + 1));
            } else if !is_folder
                && !DESCRIPTIONS.contains(&name.as_str())
                && let Some(found) = FileFormat::of(&path)
                && format.is_none_or(|format| is_format(found, format))
            {
                let (subset, split) = parts(path.strip_prefix(folder).unwrap_or(&path));
                files.push(DataFile { path, subset, split, format: found });
            }
        }
    }
    // Where a dataset is there in several formats, Parquet is what the hub made of the others.
    let best = files.iter().map(|file| file.format).max();
    files.retain(|file| Some(file.format) == best);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// Files beside the data that describe it.
const DESCRIPTIONS: [&str; 5] =
    ["dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json", "croissant.json"];

/// Words for splits, and the split that each means.
const SPLITS: [(&str, &str); 11] = [
    ("train", "train"),
    ("training", "train"),
    ("validation", "validation"),
    ("valid", "validation"),
    ("val", "validation"),
    ("dev", "validation"),
    ("test", "test"),
    ("testing", "test"),
    ("eval", "test"),
    ("evaluation", "test"),
    ("fewshot", "fewshot"),
];

fn split_of(word: &str) -> Option<&'static str> {
    SPLITS.iter().find(|(known, _)| word.eq_ignore_ascii_case(known)).map(|(_, split)| *split)
}

/// The subset and the split that a path within a dataset names.
///
/// `main/test-00000-of-00001.parquet` has both in the way of the hub's own writers; in `test.jsonl`, `test/0.parquet`
/// and `gpqa_test.csv` the split is a word that is known; `gpqa_main.csv` is a subset without splits.
fn parts(path: &Path) -> (Option<String>, Option<String>) {
    let stem = stem(path);
    let folders = path.parent().into_iter().flat_map(Path::components);
    let mut folders: Vec<String> = folders
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            _ => None,
        })
        .filter(|name| name != "data")
        .collect();
    let joined = |folders: Vec<String>| (!folders.is_empty()).then(|| folders.join("/"));
    if let Some(split) = sharded(&stem) {
        return (joined(folders), Some(split.to_owned()));
    }
    if let Some(at) = folders.iter().position(|name| split_of(name).is_some()) {
        let split = split_of(&folders.remove(at)).map(str::to_owned);
        return (joined(folders), split);
    }
    let words: Vec<&str> = stem.split(['-', '_', '.', ' ']).collect();
    let Some((at, split)) = words.iter().enumerate().find_map(|(at, word)| Some((at, split_of(word)?)))
    else {
        folders.push(stem.clone());
        return (joined(folders), None);
    };
    // What is left of the name is the subset: `gpqa` of `gpqa_test`.
    let before: usize = words.iter().take(at).map(|word| word.len() + 1).sum();
    let word = words.get(at).map_or(0, |word| word.len());
    let rest = [stem.get(..before.saturating_sub(1)), stem.get(before + word + 1..)];
    let rest = rest.into_iter().flatten().filter(|part| !part.is_empty() && !is_number(part));
    folders.extend(rest.map(str::to_owned));
    (joined(folders), Some(split.to_owned()))
}

fn is_number(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | '_'))
}

/// `test` of `test-00000-of-00001` and of `test-00000-of-00001-0123456789abcdef`.
fn sharded(stem: &str) -> Option<&str> {
    let (start, _) = stem.split_once("-of-")?;
    let (split, number) = start.rsplit_once('-')?;
    (!split.is_empty() && number.len() >= 5 && number.chars().all(|c| c.is_ascii_digit())).then_some(split)
}

/// How many files there are beside one of this name: 2 of `test-00000-of-00002`.
fn shard_count(stem: &str) -> Option<usize> {
    sharded(stem)?;
    let (_, count) = stem.split_once("-of-")?;
    count.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[derive(Debug)]
struct Chosen {
    files: Vec<PathBuf>,
    subset: Option<String>,
    split: Option<String>,
}

fn choose(dataset: &str, files: Vec<DataFile>, choice: &RecordSource) -> Result<Chosen, DatasetError> {
    let subsets: BTreeSet<String> = files.iter().filter_map(|file| file.subset.clone()).collect();
    let unnamed = files.iter().any(|file| file.subset.is_none());
    let subset = match choice.subset.as_deref() {
        None if unnamed || subsets.is_empty() => None,
        None if subsets.len() == 1 => subsets.first().cloned(),
        None if subsets.contains("default") => Some("default".to_owned()),
        named => {
            let is_named = |known: &&String| {
                named.is_some_and(|named| *known == named || known.split('/').any(|part| part == named))
            };
            let exact = named.and_then(|named| subsets.get(named));
            // A part of a name may be that of several.
            let mut of_part = subsets.iter().filter(is_named);
            let only = of_part.next().filter(|_| of_part.next().is_none());
            match exact.or(only) {
                Some(subset) => Some(subset.clone()),
                // What has no subsets is called this.
                None if unnamed && named == Some("default") => None,
                None => return Err(unknown_part(dataset, "subset", named, subsets)),
            }
        }
    };
    let mut files: Vec<DataFile> = files.into_iter().filter(|file| file.subset == subset).collect();
    let splits: BTreeSet<String> = files.iter().filter_map(|file| file.split.clone()).collect();
    let split = match choice.split.as_deref() {
        // What has no splits is `train` for the hub.
        None | Some("train") if splits.is_empty() => None,
        None if splits.len() == 1 => splits.first().cloned(),
        named => {
            let same = named.and_then(split_of);
            let is_same = |known: &&String| same.is_some() && split_of(known) == same;
            let exact = named.and_then(|named| splits.get(named));
            match exact.or_else(|| splits.iter().find(is_same)) {
                Some(split) => Some(split.clone()),
                None => return Err(unknown_part(dataset, "split", named, splits)),
            }
        }
    };
    if split.is_some() {
        files.retain(|file| file.split == split);
    }
    let counts: Vec<usize> = files.iter().filter_map(|file| shard_count(&stem(&file.path))).collect();
    if let Some(expected) = counts.iter().copied().max()
        && counts.len() < expected
    {
        return Err(missing_files(dataset, counts.len(), expected));
    }
    Ok(Chosen { files: files.into_iter().map(|file| file.path).collect(), subset, split })
}
