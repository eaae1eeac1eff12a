//! Where records come from, for every format.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::{fmt, fs};

use errorbar_core::Metadata;
use errorbar_core::spec::nearest;
use errorbar_files::{is_url, url_hint};
use errorbar_table::input::Compression;
use glob::{Pattern, PatternError};

use super::error::{DatasetError, shown};
use super::hub::HubDataset;
use super::record::{IntoSample, Record, RecordSink, Stop, ToSample};
use super::{Dataset, Fields, Origin, ReadSamples, delimited, hub, json};
use crate::allowed_paths::is_within;
use crate::macros::setters;

/// Files whose records become samples: one or several files, folders or patterns, or a dataset of the Hugging Face
/// hub that was downloaded.
///
/// ```no_run
/// use errorbar_eval::{Fields, RecordSource, Sample};
/// let files = RecordSource::new("data/part-*.tsv.gz").columns(["question", "answer"]);
/// let dataset = files.samples(|row| Sample::new(&row["question"]).target(&row["answer"]));
///
/// let test = RecordSource::new("hf:allenai/ai2_arc").subset("ARC-Challenge").split("test");
/// let dataset = test.fields(Fields::new().input("question").target("answerKey")).limit(100);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordSource {
    /// Files, folders, patterns and datasets of the hub, one after the other.
    pub(crate) paths: Vec<PathBuf>,
    /// What relative paths are relative to.
    pub(crate) folder: PathBuf,
    /// What files must be in beside the folder; none if they may be anywhere.
    pub(crate) allowed_paths: Option<Vec<PathBuf>>,
    pub(crate) format: Option<FileFormat>,
    pub(crate) header: Option<bool>,
    pub(crate) columns: Option<Vec<String>>,
    pub(crate) delimiter: Option<u8>,
    pub(crate) subset: Option<String>,
    pub(crate) split: Option<String>,
    pub(crate) hub_cache: Option<PathBuf>,
    /// The columns that samples are made of; all, if it is not known.
    pub(crate) needed: Option<Vec<String>>,
}

/// The files of a source, and what is recorded of them.
type FoundFiles = (Vec<(Arc<Path>, FileFormat)>, Metadata);

impl RecordSource {
    /// A file, a folder, a pattern such as `data/test-*.parquet`, or `hf:ORG/NAME[@REVISION]`.
    pub fn new(path: impl AsRef<Path>) -> Self {
        RecordSource { paths: vec![path.as_ref().to_owned()], ..RecordSource::default() }
    }

    /// Several of them, one after the other.
    pub fn several(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Self {
        let paths = paths.into_iter().map(|path| path.as_ref().to_owned()).collect();
        RecordSource { paths, ..RecordSource::default() }
    }

    setters! {
        /// What relative paths are relative to, in place of the working directory.
        folder: impl Into<PathBuf> => folder.into();

        /// The format of the files, in place of what their names end in.
        format: FileFormat => Some(format);

        /// Whether the first row of CSV and TSV files has the names of the columns. It has, unless
        /// [`columns`](RecordSource::columns) are named; columns without names are `column_1`, `column_2` and so on.
        header: bool => Some(header);

        /// The names of the columns of CSV and TSV files, which then have no header.
        columns: impl IntoIterator<Item = impl Into<String>> => Some(columns.into_iter().map(Into::into).collect());

        /// What is between the fields of a row of CSV files, in place of the comma.
        delimiter: u8 => Some(delimiter);

        /// The subset (configuration) of a dataset that has several: a folder, or the name of a file.
        subset: impl Into<String> => Some(subset.into());

        /// The split of a dataset that has several, such as `test`.
        split: impl Into<String> => Some(split.into());

        /// The folder of datasets of the hub, in place of that of the environment.
        hub_cache: impl Into<PathBuf> => Some(hub_cache.into());
    }

    /// A dataset whose samples a closure makes.
    pub fn samples<S: IntoSample>(self, to_sample: impl Fn(&Record) -> S + Send + Sync + 'static) -> Dataset {
        self.dataset(Arc::new(move |record: &Record| to_sample(record).into_sample()))
    }

    /// A dataset whose samples are made of these fields. Of Parquet files no other columns are read.
    pub fn fields(mut self, fields: Fields) -> Dataset {
        self.needed = fields.columns();
        self.samples(fields.reader())
    }

    fn dataset(self, to_sample: Arc<ToSample>) -> Dataset {
        let (name, location) = (self.name(), self.location());
        Dataset::of(name, location, Origin::Files(Arc::new(self), to_sample))
    }

    /// The format of every file, where it is known from the options or the name.
    fn format_of(&self, path: &Path) -> Result<FileFormat, DatasetError> {
        let by_name = FileFormat::of(path);
        match (self.format, by_name) {
            (Some(format), Some(found)) if is_format(found, format) => Ok(found),
            (Some(format), _) => Ok(format),
            (None, Some(found)) => Ok(found),
            (None, None) => Err(match path.metadata() {
                Ok(_) => DatasetError::UnknownFormat { path: path.to_owned() },
                Err(error) => DatasetError::Read { path: path.to_owned(), problem: error.to_string() },
            }),
        }
    }

    /// All files, in order.
    fn files(&self) -> Result<FoundFiles, DatasetError> {
        let (mut all, mut provenance) = (Vec::new(), Metadata::new());
        for path in &self.paths {
            if is_url(path) {
                let message = format!(
                    "cannot read the dataset {}: {}; a dataset of the Hugging Face hub is hf:ORG/NAME",
                    path.display(),
                    url_hint(path)
                );
                return Err(DatasetError::new(message));
            }
            let paths = match HubDataset::parse(path) {
                Some(dataset) => {
                    let (files, recorded) = hub::find(&dataset?, self)?;
                    provenance.extend(recorded);
                    files
                }
                None => {
                    let path = self.folder.join(path);
                    let is_choice = self.subset.is_some() || self.split.is_some();
                    let files = match is_choice {
                        true if path.is_dir() => hub::choose_in_folder(&path, self)?,
                        true => hub::choose_among(&path, find(&path, self.format)?, self)?,
                        false => {
                            let found = find(&path, self.format)?;
                            hub::check_whole(&path, &found)?;
                            found
                        }
                    };
                    let allowed = self.allowed_paths.as_deref();
                    let is_outside =
                        |path: &&PathBuf| path.exists() && !is_within(path, &self.folder, allowed);
                    if let Some(path) = files.iter().find(is_outside) {
                        return Err(DatasetError::OutsideFolder { path: path.clone() });
                    }
                    files
                }
            };
            for path in paths {
                let format = self.format_of(&path)?;
                all.push((path.into(), format));
            }
        }
        Ok((all, provenance))
    }

    /// The samples of all files, `at_most` of them.
    pub(super) fn read(&self, to_sample: &ToSample, at_most: usize) -> ReadSamples {
        let mut sink = RecordSink::new(to_sample, at_most);
        let read = self.files().and_then(|(files, provenance)| {
            for (path, format) in &files {
                if self.read_file(path, *format, &mut sink)? == Stop::Early {
                    break;
                }
            }
            Ok(provenance)
        });
        let RecordSink { samples, skipped, fields, .. } = sink;
        let (read, provenance) = match read {
            Ok(provenance) if samples.is_empty() && skipped > 0 => {
                let location = self.location().unwrap_or_default();
                let message = format!(
                    "none of the {skipped} records of {location} is used: the condition is false for all of them"
                );
                (Err(DatasetError::of_key("where", message)), provenance)
            }
            Ok(provenance) => (Ok(samples), provenance),
            Err(problem) => (Err(problem), Metadata::new()),
        };
        ReadSamples::new(read, fields.unwrap_or_default(), provenance)
    }

    fn read_file(
        &self,
        path: &Arc<Path>,
        format: FileFormat,
        sink: &mut RecordSink<'_>,
    ) -> Result<Stop, DatasetError> {
        let delimiter = match format {
            FileFormat::Csv => b',',
            FileFormat::Tsv => b'\t',
            FileFormat::Json => return json::read(path, sink),
            #[cfg(feature = "parquet")]
            FileFormat::Parquet => return super::parquet::read(path, self.needed.as_deref(), sink),
            #[cfg(not(feature = "parquet"))]
            FileFormat::Parquet => {
                let problem =
                    "this build of errorbar does not read Parquet; build it with the feature `parquet`";
                return Err(DatasetError::Read { path: path.to_path_buf(), problem: problem.to_owned() });
            }
        };
        delimited::read(path, self, delimiter, sink)
    }

    /// What the dataset is called if nothing else is given: as its first file, folder or dataset of the hub.
    fn name(&self) -> Option<String> {
        let path = self.paths.first()?;
        if let Some(Ok(dataset)) = HubDataset::parse(path) {
            return Some(dataset.repository);
        }
        let path = self.folder.join(path);
        let file_name = |path: &Path| Some(path.file_name()?.to_string_lossy().into_owned());
        if path.is_dir() {
            return file_name(&path);
        }
        // Of a pattern, what comes before its first wildcard.
        let stem = stem(&path);
        match stem.split_once(['*', '?', '[']).filter(|_| !path.exists()) {
            None => Some(stem),
            Some((start, _)) => match start.trim_end_matches(['-', '_', '.']) {
                "" => file_name(path.parent()?).or_else(|| Some(stem.clone())),
                start => Some(start.to_owned()),
            },
        }
    }

    /// Where the dataset is, as logs record it: paths as they were given, and datasets of the hub by name.
    fn location(&self) -> Option<String> {
        let location = |path: &PathBuf| match HubDataset::parse(path) {
            Some(Ok(dataset)) => dataset.repository,
            _ => self.folder.join(path).display().to_string(),
        };
        (!self.paths.is_empty()).then(|| self.paths.iter().map(location).collect::<Vec<_>>().join(", "))
    }
}

impl<P: AsRef<Path>> From<P> for RecordSource {
    fn from(path: P) -> Self {
        RecordSource::new(path)
    }
}

/// The format of a dataset file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FileFormat {
    /// CSV; TSV, if the file is called so.
    Csv,
    /// TSV, whatever the file is called.
    Tsv,
    /// A list of objects, or an object a line.
    Json,
    /// Parquet.
    Parquet,
}

impl FileFormat {
    /// The names of the formats, and what they are.
    pub const NAMES: [(&'static str, FileFormat); 5] = [
        ("csv", FileFormat::Csv),
        ("tsv", FileFormat::Tsv),
        ("json", FileFormat::Json),
        ("jsonl", FileFormat::Json),
        ("parquet", FileFormat::Parquet),
    ];

    /// The format that a file's name ends in; `.gz` and `.zst` behind it do not count.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = base(path).extension().and_then(OsStr::to_str)?.to_ascii_lowercase();
        match extension.as_str() {
            "ndjson" => Some(FileFormat::Json),
            "pq" => Some(FileFormat::Parquet),
            other => FileFormat::NAMES.iter().find(|(name, _)| *name == other).map(|(_, format)| *format),
        }
    }
}

impl fmt::Display for FileFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileFormat::Csv => "CSV",
            FileFormat::Tsv => "TSV",
            FileFormat::Json => "JSON",
            FileFormat::Parquet => "Parquet",
        })
    }
}

/// A path without the ending of a compressed file.
fn base(path: &Path) -> PathBuf {
    path.file_name()
        .and_then(OsStr::to_str)
        .map_or_else(|| path.to_owned(), |name| path.with_file_name(Compression::strip(name)))
}

/// A file's name without its endings.
pub(super) fn stem(path: &Path) -> String {
    base(path).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// How many files and folders a folder or a pattern may stand for.
const MOST_FILES: usize = 100_000;

/// The files that a path stands for, in the order of their names: itself, those of a folder that have the format, or
/// those that match a pattern.
pub(super) fn find(path: &Path, format: Option<FileFormat>) -> Result<Vec<PathBuf>, DatasetError> {
    if path.is_dir() {
        return of_folder(path, format);
    }
    match path.to_str() {
        Some(pattern) if !path.exists() && pattern.contains(['*', '?', '[']) => matching(pattern, format),
        _ => Ok(vec![path.to_owned()]),
    }
}

/// The data files of a folder, which are all of one format.
fn of_folder(folder: &Path, format: Option<FileFormat>) -> Result<Vec<PathBuf>, DatasetError> {
    let unreadable =
        |error: std::io::Error| DatasetError::Read { path: folder.to_owned(), problem: error.to_string() };
    let entries = fs::read_dir(folder).map_err(unreadable)?.take(MOST_FILES + 1);
    let paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    if paths.len() > MOST_FILES {
        return Err(too_many_files(folder));
    }
    let mut files: Vec<(FileFormat, PathBuf)> = paths
        .iter()
        .filter(|path| is_visible(path) && path.is_file())
        .filter_map(|path| Some((FileFormat::of(path)?, path.clone())))
        .filter(|(found, _)| format.is_none_or(|format| is_format(*found, format)))
        .collect();
    files.sort();
    let mut formats: Vec<FileFormat> = files.iter().map(|(format, _)| *format).collect();
    formats.dedup();
    match formats.as_slice() {
        [] => {
            let names =
                paths.iter().filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
            Err(no_data_files(folder, format, names.collect()))
        }
        [_] => Ok(files.into_iter().map(|(_, path)| path).collect()),
        formats => {
            let formats: Vec<String> = formats.iter().map(ToString::to_string).collect();
            let (folder, formats) = (folder.display(), formats.join(", "));
            let message = format!(
                "the folder {folder} has files of several formats: {formats}; name those that are meant"
            );
            // The path is that of the task file.
            let hint = "name the format, as in format = \"csv\", or a pattern: path = \"{path}/*.csv\"";
            Err(DatasetError::new(message).hint(Some(hint.to_owned())))
        }
    }
}

fn too_many_files(path: &Path) -> DatasetError {
    DatasetError::new(format!(
        "{} stands for more than {MOST_FILES} files and folders; name a folder further down, or fewer files",
        path.display()
    ))
}

/// The error of a folder that has other files, or none.
pub(super) fn no_data_files(
    folder: &Path,
    format: Option<FileFormat>,
    mut found: Vec<String>,
) -> DatasetError {
    found.sort();
    let folder = folder.display();
    let what = match format {
        Some(format) => format!("{format} file"),
        None => "data file (.csv, .tsv, .json, .jsonl, .parquet)".to_owned(),
    };
    DatasetError::new(match found.as_slice() {
        [] => format!("the folder {folder} is empty; it should have at least one {what}"),
        found => format!("the folder {folder} has no {what}; it has {}", shown(found)),
    })
}

/// Whether a file of one format is meant by another: files of TSV are CSV too.
pub(super) fn is_format(found: FileFormat, wanted: FileFormat) -> bool {
    found == wanted || (found, wanted) == (FileFormat::Tsv, FileFormat::Csv)
}

/// Hidden files, and those that writers of datasets put beside the data, are no data.
pub(super) fn is_visible(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    !name.starts_with(['.', '_'])
}

fn matching(pattern: &str, format: Option<FileFormat>) -> Result<Vec<PathBuf>, DatasetError> {
    let no_match = |problem: String| {
        let near = nearest_file(Path::new(pattern)).map(|near| format!("did you mean `{near}`?"));
        DatasetError::new(format!("no file matches {pattern}{problem}")).hint(near)
    };
    let parts = pattern_parts(Path::new(pattern)).map_err(|error| no_match(format!(": {}", error.msg)))?;
    let found = walk(&parts, MOST_FILES).ok_or_else(|| too_many_files(Path::new(pattern)))?;
    let mut files: Vec<PathBuf> = found.into_iter().filter(|path| path.is_file()).collect();
    // Of data and what lies beside it, the data; a pattern that names other files alone means those.
    let is_data = |path: &PathBuf| {
        is_visible(path)
            && FileFormat::of(path).is_some_and(|found| format.is_none_or(|format| is_format(found, format)))
    };
    if files.iter().any(is_data) {
        files.retain(is_data);
    }
    files.sort();
    files.dedup();
    if files.is_empty() { Err(no_match(String::new())) } else { Ok(files) }
}

/// A part of a pattern, between two slashes.
enum PatternPart {
    Literal(OsString),
    Wildcard(Pattern),
    /// `**`: any number of folders.
    Folders,
}

fn pattern_parts(pattern: &Path) -> Result<Vec<PatternPart>, PatternError> {
    let part = |component: Component<'_>| match component.as_os_str().to_str() {
        Some("**") => Ok(PatternPart::Folders),
        Some(text) if text.contains(['*', '?', '[']) => Pattern::new(text).map(PatternPart::Wildcard),
        _ => Ok(PatternPart::Literal(component.as_os_str().to_owned())),
    };
    pattern.components().map(part).collect()
}

/// What a pattern may match; none if more than this number of files and folders were looked at. `**` follows no links:
/// one that leads up would never end.
fn walk(parts: &[PatternPart], limit: usize) -> Option<Vec<PathBuf>> {
    let (mut found, mut looked_at) = (Vec::new(), 0);
    let mut open = vec![(PathBuf::new(), parts)];
    while let Some((path, parts)) = open.pop() {
        let Some((part, rest)) = parts.split_first() else {
            found.push(path);
            continue;
        };
        if let PatternPart::Literal(name) = part {
            open.push((path.join(name), rest));
            continue;
        }
        if matches!(part, PatternPart::Folders) {
            open.push((path.clone(), rest));
        }
        let folder = if path.as_os_str().is_empty() { Path::new(".") } else { &path };
        // What cannot be read has no match.
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            looked_at += 1;
            if looked_at > limit {
                return None;
            }
            let is_folder = || entry.file_type().is_ok_and(|kind| kind.is_dir());
            let name = entry.file_name();
            match part {
                PatternPart::Folders if is_folder() => open.push((path.join(name), parts)),
                PatternPart::Wildcard(wanted) if wanted.matches(&name.to_string_lossy()) => {
                    open.push((path.join(name), rest));
                }
                _ => {}
            }
        }
    }
    Some(found)
}

/// The file beside a missing one that was probably meant.
pub(crate) fn nearest_file(path: &Path) -> Option<String> {
    const LOOKED_AT: usize = 1000;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = fs::read_dir(folder).ok()?.take(LOOKED_AT).filter_map(Result::ok);
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str)).map(str::to_owned)
}

#[cfg(test)]
#[cfg(unix)]
mod files_tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn walked(folder: &Path, pattern: &str, limit: usize) -> Option<Vec<String>> {
        let found = walk(&pattern_parts(&folder.join(pattern)).unwrap(), limit)?;
        let name = |path: &PathBuf| path.strip_prefix(folder).unwrap().display().to_string();
        let mut names: Vec<String> = found.iter().filter(|path| path.is_file()).map(name).collect();
        names.sort();
        names.dedup();
        Some(names)
    }

    #[test]
    fn a_pattern_follows_no_links_with_two_stars_and_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("a/b")).unwrap();
        for name in ["1.csv", "a/2.csv", "a/b/3.csv", "a/b/4.txt"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        symlink(folder.path(), folder.path().join("a/up")).unwrap();
        let names = |pattern: &str| walked(folder.path(), pattern, 1000).unwrap();
        assert_eq!(names("**/*.csv"), ["1.csv", "a/2.csv", "a/b/3.csv"]);
        assert_eq!(names("a/**/b/?.csv"), ["a/b/3.csv"]);
        assert_eq!(names("*/*.csv"), ["a/2.csv"]);
        assert_eq!(names("a/up/[0-9].csv"), ["a/up/1.csv"], "a link that is named");
        assert_eq!(names("**/**/3.csv"), ["a/b/3.csv"]);
        assert_eq!(walked(folder.path(), "**/*.csv", 13), None);
        assert!(walked(folder.path(), "**/*.csv", 14).is_some());
    }
}
