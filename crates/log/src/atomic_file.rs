//! A file that appears only when it is whole: written beside its place, put on the disk, renamed.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A file that takes the place of one of that name when it is [committed](AtomicFile::commit); one that is dropped before
/// leaves nothing behind.
#[derive(Debug)]
pub(crate) struct AtomicFile {
    out: Option<BufWriter<File>>,
    /// The new file and its place; none for what is no file, such as `/dev/null` or a pipe.
    rename: Option<(PathBuf, PathBuf)>,
}

impl AtomicFile {
    /// Starts a file. A link is followed, so that it still is one when its target is replaced.
    ///
    /// # Errors
    /// A folder that is not there or may not be written to; a path that is a folder.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let old = fs::metadata(path).ok();
        if old.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            let file = File::options().write(true).open(path)?;
            return Ok(AtomicFile { out: Some(BufWriter::new(file)), rename: None });
        }
        let place = match &old {
            Some(_) => fs::canonicalize(path)?,
            None => path.to_owned(),
        };
        let (file, new) = create_beside(&place)?;
        let whole = AtomicFile { out: Some(BufWriter::new(file)), rename: Some((new, place)) };
        if let (Some(old), Some((new, _))) = (old, &whole.rename) {
            fs::set_permissions(new, old.permissions())?;
        }
        Ok(whole)
    }

    /// Puts the file on the disk and in its place.
    pub(crate) fn commit(mut self) -> io::Result<()> {
        let Some(out) = self.out.take() else { return Ok(()) };
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        let Some((new, place)) = &self.rename else { return Ok(()) };
        file.sync_all()?;
        fs::rename(new, place)?;
        self.rename = None;
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.out {
            Some(out) => out.write(bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some((new, _)) = &self.rename {
            // It is of no use to anybody; that it cannot be removed is not worth an error.
            let _ = fs::remove_file(new);
        }
    }
}

/// A new file in the same folder. One of its name may have been left by a process that was killed and had the
/// number of this one.
fn create_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    const ATTEMPTS: usize = 100;
    let mut attempt = 1;
    loop {
        let new = beside(path);
        match File::options().write(true).create_new(true).open(&new) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < ATTEMPTS => attempt += 1,
            opened => return Ok((opened?, new)),
        }
    }
}

/// A name in the same folder, as only there a rename is a single step; no two of a process are the same.
fn beside(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}-{}.new", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_there_when_it_is_kept_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        fs::write(&path, "old").unwrap();
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        file.flush().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        file.commit().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(names(folder.path()), ["a.csv"]);
    }

    #[test]
    fn a_file_that_was_left_there_is_no_obstacle() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        // Other tests count on: one of the next names is taken for sure.
        let Some((_, number)) = beside(&path)
            .to_str()
            .and_then(|name| name.rsplit_once('-'))
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
        else {
            panic!()
        };
        let number: u64 = number.trim_end_matches(".new").parse().unwrap();
        for taken in number..number + 50 {
            fs::write(folder.path().join(format!("a.csv.{}-{taken}.new", std::process::id())), "").unwrap();
        }
        let file = AtomicFile::create(&path).unwrap();
        file.commit().unwrap();
        assert!(path.exists());
    }

    #[test]
    fn a_file_that_is_given_up_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = AtomicFile::create(&folder.path().join("a.csv")).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert!(names(folder.path()).is_empty());
        assert!(AtomicFile::create(folder.path()).is_err(), "a folder");
        assert!(AtomicFile::create(&folder.path().join("no/such.csv")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_permissions_and_devices_stay_what_they_are() {
        use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a.csv"), folder.path().join("link.csv"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        symlink(&path, &link).unwrap();
        let mut file = AtomicFile::create(&link).unwrap();
        file.write_all(b"new").unwrap();
        file.commit().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);

        let mut null = AtomicFile::create(Path::new("/dev/null")).unwrap();
        null.write_all(b"x").unwrap();
        null.commit().unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }
}
