//! The files of a dataset: those that a path, a folder or a pattern names.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use errorbar_core::spec::nearest;
use errorbar_log::input::Compression;

use super::error::DatasetError;

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

/// How many files of a folder, or matches of a pattern, are looked at.
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
    let entries = fs::read_dir(folder).map_err(unreadable)?.take(MOST_FILES);
    let paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
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
            let mut found: Vec<String> = paths
                .iter()
                .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
                .collect();
            found.sort();
            Err(DatasetError::NoDataFiles { folder: folder.to_owned(), format, found })
        }
        [_] => Ok(files.into_iter().map(|(_, path)| path).collect()),
        _ => Err(DatasetError::SeveralFormats { folder: folder.to_owned(), formats }),
    }
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
    let no_match = |problem: Option<String>| DatasetError::NoMatch {
        pattern: pattern.to_owned(),
        problem,
        nearest: nearest_file(Path::new(pattern)),
    };
    let paths = glob::glob(pattern).map_err(|error| no_match(Some(error.msg.to_owned())))?;
    let mut files: Vec<PathBuf> =
        paths.take(MOST_FILES).filter_map(Result::ok).filter(|path| path.is_file()).collect();
    // Of data and what lies beside it, the data; a pattern that names other files alone means those.
    let is_data = |path: &PathBuf| {
        is_visible(path)
            && FileFormat::of(path).is_some_and(|found| format.is_none_or(|format| is_format(found, format)))
    };
    if files.iter().any(is_data) {
        files.retain(is_data);
    }
    files.sort();
    if files.is_empty() { Err(no_match(None)) } else { Ok(files) }
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
