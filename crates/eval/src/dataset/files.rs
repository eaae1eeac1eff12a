//! The files of a dataset: those that a path, a folder or a pattern names.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::path::{Component, Path, PathBuf};

use errorbar_core::spec::nearest;
use errorbar_table::input::Compression;
use glob::{Pattern, PatternError};

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
        return Err(DatasetError::TooManyFiles { path: folder.to_owned(), limit: MOST_FILES });
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
    let parts = parts(Path::new(pattern)).map_err(|error| no_match(Some(error.msg.to_owned())))?;
    let found = walk(&parts, MOST_FILES)
        .ok_or_else(|| DatasetError::TooManyFiles { path: pattern.into(), limit: MOST_FILES })?;
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
    if files.is_empty() { Err(no_match(None)) } else { Ok(files) }
}

/// A part of a pattern, between two slashes.
enum PatternPart {
    Literal(OsString),
    Wildcard(Pattern),
    /// `**`: any number of folders.
    Folders,
}

fn parts(pattern: &Path) -> Result<Vec<PatternPart>, PatternError> {
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
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn walked(folder: &Path, pattern: &str, limit: usize) -> Option<Vec<String>> {
        let found = walk(&parts(&folder.join(pattern)).unwrap(), limit)?;
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
