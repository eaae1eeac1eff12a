//! The file of `--junit`: what gates and requirements came to, for CI systems.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use errorbar_files::{FileAccess, write_file};
use errorbar_report::TestSuite;

use crate::diagnostic::Diagnostic;

/// Checks that the file can be written, before anything takes long. A file that is there is replaced only if it is XML:
/// a slip must not cost a log.
pub(super) fn check(path: &Path) -> Result<(), Diagnostic> {
    let about = |problem: &str| Diagnostic::error(problem).about(path.display());
    let hint = "name a file for the test results: --junit results.xml";
    if path.is_dir() {
        return Err(about("--junit names a folder").hint(hint));
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent.filter(|parent| !parent.is_dir()) {
        let problem = format!("the folder {} does not exist", parent.display());
        return Err(about(&problem).hint("create it first"));
    }
    if path.is_file() && !is_xml(path) {
        return Err(about("the file of --junit exists and holds something else than XML").hint(hint));
    }
    Ok(())
}

/// Whether a file is empty or starts as XML does.
fn is_xml(path: &Path) -> bool {
    let mut start = [0; 64];
    let read = File::open(path).and_then(|mut file| file.read(&mut start));
    let text = read.ok().and_then(|length| start.get(..length)).unwrap_or(b"?");
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text).trim_ascii_start();
    text.is_empty() || text.starts_with(b"<")
}

/// Writes the file.
pub(super) fn write(path: &Path, suite: &TestSuite) -> Result<(), Diagnostic> {
    check(path)?;
    let written = write_file(path, suite.to_xml().as_bytes(), FileAccess::Umask);
    written.map(drop).map_err(|error| {
        Diagnostic::error(format!("the test results cannot be written: {error}")).about(path.display())
    })
}
