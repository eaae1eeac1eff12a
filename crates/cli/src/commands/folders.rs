//! The task files in a folder.

use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

use crate::diagnostic::{Diagnostic, Diagnostics};

/// The TOML files in a folder and in the folders below it, but for hidden ones and for those behind a link; by path.
pub(super) fn task_files(folder: &Path) -> Result<Vec<PathBuf>, Diagnostics> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).and_then(Iterator::collect::<Result<Vec<DirEntry>, _>>);
        let entries = entries.map_err(|error| {
            let problem = Diagnostic::error(format!("cannot read the folder: {error}"));
            problem.about(folder.display()).hint("check that you may read it")
        })?;
        for entry in entries {
            let path = entry.path();
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            let is_toml = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
            match entry.file_type() {
                _ if is_hidden => {}
                Ok(kind) if kind.is_dir() => folders.push(path),
                _ if is_toml && path.is_file() => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    Ok(found)
}
