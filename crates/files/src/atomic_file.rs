//! A file that appears only when it is whole: written beside its place, put on the disk, renamed.
//!
//! A process that is killed leaves the new file behind. Every writer holds a lock on its own for as long as it lives, so
//! the next one that writes the same file removes those that no process holds. Names with the number of a process
//! were rejected: whether it still runs is a guess, and finding its files means listing the folder.

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// How many processes may write one file at a time.
const SLOTS: usize = 16;
/// The longest chain of links that is followed.
const MAX_LINKS: usize = 40;

/// A file that takes the place of one of that name when it is [committed](AtomicFile::commit); one that is dropped before
/// leaves nothing behind.
#[derive(Debug)]
pub struct AtomicFile {
    out: Option<BufWriter<File>>,
    /// The new file and its place; none for what is no file, such as `/dev/null` or a pipe.
    rename: Option<(PathBuf, PathBuf)>,
    written: WrittenFile,
}

/// Who may read a file that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAccess {
    /// Whoever the umask lets; if a file is replaced, whoever could read that one.
    Umask,
    /// Its owner alone: it may hold samples.
    Owner,
}

/// Writes a file, which takes the place of one of that name when it is whole and on the disk. If anything fails before, the
/// old file is as it was.
///
/// ```
/// use errorbar_files::{FileAccess, write_file};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("page.html");
/// write_file(&path, b"old", FileAccess::Umask)?;
/// write_file(&path, b"new", FileAccess::Owner)?;
/// assert_eq!(std::fs::read(&path)?, b"new");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// A folder that is not there or may not be written to; a path that is a folder; a full disk.
pub fn write_file(path: &Path, content: &[u8], access: FileAccess) -> io::Result<WrittenFile> {
    let mut file = AtomicFile::create_with(path, access)?;
    file.write_all(content)?;
    file.commit()
}

/// What became of a file that was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrittenFile {
    /// The file that was replaced had another owner or group, which could not be kept. What the old group could do with
    /// it is then no more than what everybody can.
    pub has_new_owner: bool,
}

impl AtomicFile {
    /// Starts a file. A link is followed, so that it still is one when its target is replaced. The new file has the mode
    /// of the old one and, where that is allowed, its owner and group; it never has a wider mode on the way.
    ///
    /// # Errors
    /// A folder that is not there or may not be written to; a path that is a folder.
    pub fn create(path: &Path) -> io::Result<Self> {
        AtomicFile::create_with(path, FileAccess::Umask)
    }

    /// The same for what holds samples: the new file is for its owner alone, whoever could read the old one.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_private(path: &Path) -> io::Result<Self> {
        AtomicFile::create_with(path, FileAccess::Owner)
    }

    fn create_with(path: &Path, access: FileAccess) -> io::Result<Self> {
        let old = fs::metadata(path).ok();
        if old.as_ref().is_some_and(Metadata::is_dir) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            let file = File::options().write(true).open(path)?;
            let written = WrittenFile::default();
            return Ok(AtomicFile { out: Some(BufWriter::new(file)), rename: None, written });
        }
        let place = match &old {
            Some(_) => fs::canonicalize(path)?,
            None => link_target(path)?,
        };
        let (file, new) = create_beside(&place, old.as_ref(), access)?;
        let mut whole = AtomicFile {
            out: Some(BufWriter::new(file)),
            rename: Some((new, place)),
            written: WrittenFile::default(),
        };
        if let (Some(old), Some(out)) = (old, &whole.out) {
            whole.written.has_new_owner = !keep_owner(out.get_ref(), &old, access)?;
        }
        Ok(whole)
    }

    /// Puts the file on the disk and in its place.
    ///
    /// # Errors
    /// A full disk; a folder in which no file may be replaced.
    pub fn commit(mut self) -> io::Result<WrittenFile> {
        let Some(out) = self.out.take() else { return Ok(self.written) };
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        let Some((new, place)) = &self.rename else { return Ok(self.written) };
        file.sync_all()?;
        fs::rename(new, place)?;
        self.rename = None;
        Ok(self.written)
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

/// Whether an open file is the one that has this name now.
///
/// # Errors
/// Those of looking at both, except that no file has this name.
pub fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    match fs::metadata(path) {
        Ok(named) => Ok(identity(&file.metadata()?) == identity(&named)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// What tells a file from others: two that have the same are one file.
#[cfg(unix)]
pub fn identity(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// What tells a file from others, without its number: when it was made, and how long it is.
#[cfg(windows)]
pub fn identity(metadata: &Metadata) -> (u64, u64) {
    use std::os::windows::fs::MetadataExt;
    (metadata.creation_time(), metadata.file_size())
}

/// Where a file of this name would be made: the end of a chain of links, the last of which leads nowhere.
fn link_target(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&place) {
            Ok(target) => place = place.parent().unwrap_or(Path::new("")).join(target),
            // No link, or nothing at all.
            Err(_) => return Ok(place),
        }
    }
    Err(io::Error::other("too many links lead from one to the next"))
}

/// A new file in the same folder, as only there a rename is a single step. What others left there is removed.
fn create_beside(path: &Path, old: Option<&Metadata>, access: FileAccess) -> io::Result<(File, PathBuf)> {
    let mut created = None;
    for slot in 0..SLOTS {
        let new = beside(path, slot);
        remove_abandoned(&new);
        if created.is_none() {
            created = create_locked(&new, old, access)?.map(|file| (file, new));
        }
    }
    // Where a file system has no locks, what a killed writer left is not told from what is being written.
    created.ok_or_else(|| {
        let left = beside(path, 0);
        let problem = format!(
            "many processes are writing this file; if none is, delete {}, which one that was killed has left",
            left.display()
        );
        io::Error::new(io::ErrorKind::WouldBlock, problem)
    })
}

/// Creates a file and locks it; none if another process was faster.
fn create_locked(new: &Path, old: Option<&Metadata>, access: FileAccess) -> io::Result<Option<File>> {
    let mut options = File::options();
    options.write(true).create_new(true);
    limit_mode(&mut options, old, access);
    let file = match options.open(new) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
        opened => opened?,
    };
    // A file system may have no locks; then no process takes this file for an abandoned one either. Between the two
    // steps another process may have done that, and removed it.
    let _ = file.try_lock();
    Ok(is_named(&file, new)?.then_some(file))
}

/// Removes a file that a writer has abandoned and that no process holds.
fn remove_abandoned(new: &Path) {
    // What is no file is none of ours, and to open a pipe would wait for its reader.
    if !fs::symlink_metadata(new).is_ok_and(|metadata| metadata.is_file()) {
        return;
    }
    // What cannot be opened, locked or removed belongs to somebody else.
    let Ok(file) = File::options().write(true).open(new) else { return };
    if file.try_lock().is_ok() && is_named(&file, new).unwrap_or(false) {
        let _ = fs::remove_file(new);
    }
}

/// The name of the new file of one of several writers.
fn beside(path: &Path, slot: usize) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".errorbar-{slot}.new"));
    path.with_file_name(name)
}

/// What a new file starts with is no more than what it will have in the end.
#[cfg(unix)]
fn limit_mode(options: &mut fs::OpenOptions, old: Option<&Metadata>, access: FileAccess) {
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
    match old {
        // Its owner has to write it; no other user may read it before it has its final mode.
        Some(old) => options.mode(old.mode() & 0o700 | 0o600),
        None if access == FileAccess::Owner => options.mode(0o600),
        None => options,
    };
}

#[cfg(not(unix))]
fn limit_mode(_: &mut fs::OpenOptions, _: Option<&Metadata>, _: FileAccess) {}

/// Gives a file the owner, the group and the mode of another, as far as access allows; false if it has another owner or
/// group.
#[cfg(unix)]
fn keep_owner(file: &File, old: &Metadata, access: FileAccess) -> io::Result<bool> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let new = file.metadata()?;
    let (uid, gid) = (old.uid(), old.gid());
    let has_group = new.gid() == gid || fchown(file, None, Some(gid)).is_ok();
    let has_owner = new.uid() == uid || fchown(file, Some(uid), None).is_ok();
    let mut mode = old.mode() & 0o777;
    if !has_group {
        // The bits of the group are for that group alone.
        mode = mode & 0o707 | (mode & 0o007) << 3;
    }
    if access == FileAccess::Owner {
        mode &= 0o600;
    }
    file.set_permissions(Permissions::from_mode(mode))?;
    Ok(has_group && has_owner)
}

#[cfg(not(unix))]
fn keep_owner(file: &File, old: &Metadata, _: FileAccess) -> io::Result<bool> {
    file.set_permissions(old.permissions())?;
    Ok(true)
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
    fn what_others_left_is_removed_unless_they_are_alive() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        for slot in [0, 3] {
            fs::write(beside(&path, slot), "half").unwrap();
        }
        // The leftover of another file, and a file that is no leftover.
        fs::write(folder.path().join("b.csv.errorbar-0.new"), "half").unwrap();
        fs::write(folder.path().join("a.csv.new"), "mine").unwrap();
        let alive = AtomicFile::create(&path).unwrap();
        let second = AtomicFile::create(&path).unwrap();
        let others = ["a.csv.new", "b.csv.errorbar-0.new"];
        assert_eq!(
            names(folder.path()),
            ["a.csv.errorbar-0.new", "a.csv.errorbar-1.new", "a.csv.new", "b.csv.errorbar-0.new"]
        );
        second.commit().unwrap();
        alive.commit().unwrap();
        assert_eq!(names(folder.path()), [&["a.csv"][..], &others].concat());
    }

    #[test]
    fn there_are_not_arbitrarily_many_writers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let writers: Vec<AtomicFile> = (0..SLOTS).map(|_| AtomicFile::create(&path).unwrap()).collect();
        assert_eq!(AtomicFile::create(&path).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(writers);
        assert!(names(folder.path()).is_empty());
    }

    /// Those of killed writers stay where the file system has no locks; folders are never removed.
    #[test]
    fn leftovers_that_stay_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        for slot in 0..SLOTS {
            fs::create_dir(beside(&path, slot)).unwrap();
        }
        let error = AtomicFile::create(&path).unwrap_err();
        let expected = format!(
            "many processes are writing this file; if none is, delete {}, which one that was killed has left",
            beside(&path, 0).display()
        );
        assert_eq!((error.kind(), error.to_string()), (io::ErrorKind::WouldBlock, expected));
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

    #[cfg(unix)]
    #[test]
    fn what_holds_samples_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.html");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        for (old, access, expected) in [
            (None, FileAccess::Owner, 0o600),
            (Some(0o644), FileAccess::Owner, 0o600),
            (Some(0o400), FileAccess::Owner, 0o400),
            (Some(0o644), FileAccess::Umask, 0o644),
            (Some(0o600), FileAccess::Umask, 0o600),
        ] {
            if let Some(old) = old {
                fs::set_permissions(&path, Permissions::from_mode(old)).unwrap();
            }
            write_file(&path, b"new", access).unwrap();
            assert_eq!(mode(), expected, "{old:?} {access:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn pipes_and_links_in_its_way_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let make_pipe = |name: &Path| {
            assert!(std::process::Command::new("mkfifo").arg(name).status().unwrap().success());
        };
        make_pipe(&beside(&path, 0));
        make_pipe(&folder.path().join("pipe"));
        std::os::unix::fs::symlink("pipe", beside(&path, 1)).unwrap();
        write_file(&path, b"new", FileAccess::Umask).unwrap();
        assert_eq!(names(folder.path()), ["a.csv", "a.csv.errorbar-0.new", "a.csv.errorbar-1.new", "pipe"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_nowhere_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link.csv");
        std::os::unix::fs::symlink("there.csv", &link).unwrap();
        let mut file = AtomicFile::create(&link).unwrap();
        file.write_all(b"new").unwrap();
        file.commit().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(folder.path().join("there.csv")).unwrap(), "new");
        std::os::unix::fs::symlink("circle.csv", folder.path().join("circle.csv")).unwrap();
        assert!(AtomicFile::create(&folder.path().join("circle.csv")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn the_owner_stays_or_its_loss_is_reported() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let mine = fs::metadata(&path).unwrap();
        // Only some may give files away; others keep their own.
        let given_away = chown(&path, Some(12345), Some(23456)).is_ok();
        let file = AtomicFile::create(&path).unwrap();
        let Some((new, _)) = &file.rename else { panic!() };
        assert_eq!(fs::metadata(new).unwrap().mode() & 0o777, 0o640);
        assert!(!file.commit().unwrap().has_new_owner);
        let now = fs::metadata(&path).unwrap();
        let expected = if given_away { (12345, 23456) } else { (mine.uid(), mine.gid()) };
        assert_eq!((now.uid(), now.gid(), now.mode() & 0o777), (expected.0, expected.1, 0o640));
    }
}
