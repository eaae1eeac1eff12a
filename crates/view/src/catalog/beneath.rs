//! Opening files that are inside a folder, and no others, whatever links come and go meanwhile.

use std::fs::File;
use std::io;
use std::path::Path;

/// Opens a file inside the folder. Links are resolved, and may lead anywhere within it; the path that they resolve to is then
/// opened folder by folder without following any, so that one which appears in between is an error.
///
/// # Errors
/// `NotFound` for a path that leads out of the folder; what is no file.
pub(super) fn open(path: &Path, folder: &Path) -> io::Result<File> {
    let (place, root) = (path.canonicalize()?, folder.canonicalize()?);
    let below = place.strip_prefix(&root).map_err(|_| io::ErrorKind::NotFound)?;
    let file = open_resolved(&root, below)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is no file")),
    }
}

#[cfg(unix)]
fn open_resolved(root: &Path, below: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open, openat};
    let folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    // A pipe must not wait for its writer.
    let file = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut at = open(root, folder, Mode::empty())?;
    let mut names = below.iter().peekable();
    while let Some(name) = names.next() {
        let flags = if names.peek().is_some() { folder } else { file };
        at = openat(&at, name, flags | OFlags::NOFOLLOW, Mode::empty())?;
    }
    Ok(at.into())
}

#[cfg(not(unix))]
fn open_resolved(root: &Path, below: &Path) -> io::Result<File> {
    File::open(root.join(below))
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_behind_a_link_is_opened_that_appears_after_the_path_was_resolved() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["logs/sub", "outside"] {
            fs::create_dir_all(root.join(name)).unwrap();
            fs::write(root.join(name).join("b.eval"), name).unwrap();
        }
        let logs = root.join("logs");
        let (path, below) = (logs.join("sub/b.eval"), Path::new("sub/b.eval"));
        assert_eq!(io::read_to_string(open(&path, &logs).unwrap()).unwrap(), "logs/sub");
        symlink("sub/b.eval", logs.join("inside.eval")).unwrap();
        assert!(open(&logs.join("inside.eval"), &logs).is_ok(), "a link within the folder");
        assert!(open(&logs.join("sub"), &logs).is_err(), "a folder");

        fs::remove_dir_all(logs.join("sub")).unwrap();
        symlink("../outside", logs.join("sub")).unwrap();
        assert_eq!(open(&path, &logs).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(open_resolved(&logs, below).is_err(), "a folder that became a link");
        fs::remove_file(logs.join("sub")).unwrap();
        fs::create_dir(logs.join("sub")).unwrap();
        symlink("../../outside/b.eval", &path).unwrap();
        assert!(open_resolved(&logs, below).is_err(), "a file that became a link");
        let status = std::process::Command::new("mkfifo").arg(logs.join("pipe.eval")).status();
        assert!(status.unwrap().success());
        assert!(open(&logs.join("pipe.eval"), &logs).is_err(), "a pipe");
    }
}
