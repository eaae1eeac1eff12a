//! Whose specs a registry builds: what files among their arguments are relative to, which files they may name, and whether
//! they may import.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{EntrySource, Registry};

impl Registry {
    /// The same, with files among arguments relative to this folder: that of a task file, for the specs in it.
    #[must_use]
    pub fn relative_to(&self, folder: impl Into<PathBuf>) -> Self {
        Registry { folder: folder.into(), ..self.clone() }
    }

    /// The same, with files whose content may go to a model only from its folder and these paths: for the specs of a task
    /// file, that may be someone else's.
    #[must_use]
    pub fn confined(&self, allowed_paths: impl IntoIterator<Item = PathBuf>) -> Self {
        Registry { allowed_paths: Some(allowed_paths.into_iter().collect()), ..self.clone() }
    }

    /// The same, with names that it does not have from this source.
    #[must_use]
    pub fn with_source(self, source: Arc<dyn EntrySource>) -> Self {
        Registry { source: Some(source), ..self }
    }

    /// The same for specs that the user has written: `module:function` is imported.
    #[must_use]
    pub fn importing(&self) -> Self {
        Registry { may_import: true, ..self.clone() }
    }

    /// The folder that files among arguments are relative to; empty for the current one.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The paths beside the [folder](Self::folder) that such files may be in if the registry is [confined](Self::confined).
    pub fn allowed_paths(&self) -> Option<&[PathBuf]> {
        self.allowed_paths.as_deref()
    }
}
