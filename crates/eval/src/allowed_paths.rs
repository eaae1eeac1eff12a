//! Which files a task may read.

use std::path::{Path, PathBuf};

/// Whether a file is in a folder or in one of the paths beside it, wherever links lead; any is if there are no such paths.
pub(crate) fn is_within(path: &Path, folder: &Path, allowed: Option<&[PathBuf]>) -> bool {
    let Some(allowed) = allowed else { return true };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Ok(path) = path.canonicalize() else { return false };
    let mut roots = std::iter::once(folder).chain(allowed.iter().map(PathBuf::as_path));
    roots.any(|root| root.canonicalize().is_ok_and(|root| path.starts_with(root)))
}
