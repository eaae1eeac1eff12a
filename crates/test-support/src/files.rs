//! Folders with files, removed when a test is over.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A temporary folder, removed when it is dropped.
#[derive(Debug)]
pub struct TestFolder {
    folder: TempDir,
}

impl TestFolder {
    /// An empty folder.
    pub fn new() -> Self {
        TestFolder { folder: tempfile::tempdir().unwrap() }
    }

    /// A folder with these files.
    pub fn with<C: AsRef<[u8]>>(files: impl IntoIterator<Item = (impl AsRef<Path>, C)>) -> Self {
        let folder = TestFolder::new();
        for (name, content) in files {
            folder.write(name, content);
        }
        folder
    }

    /// A folder with one file, and the path of that file.
    pub fn of_file(name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> (Self, PathBuf) {
        let folder = TestFolder::new();
        let path = folder.write(name, content);
        (folder, path)
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The path of a file in the folder, whether or not there is one.
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path().join(name)
    }

    /// Writes a file, and the folders that it is in.
    pub fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// The paths of what is in the folder, sorted; empty if a test removed it.
    pub fn files(&self) -> Vec<PathBuf> {
        file_names(self.path()).into_iter().map(|name| self.join(name)).collect()
    }
}

impl Default for TestFolder {
    fn default() -> Self {
        TestFolder::new()
    }
}

/// The names of what is in a folder, sorted; none if there is no such folder.
pub fn file_names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

/// The root of the repository.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
