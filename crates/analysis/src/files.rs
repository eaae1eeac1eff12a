//! New files: what may be written where.

use std::path::Path;

use errorbar_files::{FileAccess, WrittenFile, write_file};

use crate::diagnostic::Diagnostic;
use crate::text;
use crate::text::Text;

/// Checks that the name of a new file ends in none of another format than those that can be written. A name without an
/// extension may hold any of them.
pub fn check_extension(path: &Path, known: &[&str]) -> Result<(), Diagnostic> {
    let Some(found) = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase())
    else {
        return Ok(());
    };
    if known.contains(&found.as_str()) || path.metadata().is_ok_and(|there| !there.is_file()) {
        return Ok(());
    }
    let known: Vec<String> = known.iter().map(|known| format!(".{known}")).collect();
    Err(Diagnostic::error(format!(".{found} is no format that this is written in"))
        .about(path.display())
        .hint(format!("give a name that ends in {}", known.join(", "))))
}

/// Checks that no file is replaced unless `--force` is given. What is no file (`/dev/null`, a pipe) is not replaced.
pub fn check_new(path: &Path, force: bool) -> Result<(), Diagnostic> {
    let error = |text: &str, hint: Text| Err(Diagnostic::error(text).about(path.display()).hint(hint));
    match path.metadata() {
        // Whether it is there or not, it is no name of a file.
        _ if path.as_os_str().as_encoded_bytes().ends_with(b"/") => {
            error("this is the name of a folder", "give the name of a file in it".into())
        }
        Ok(there) if there.is_dir() => error("this is a folder", "give the name of a file in it".into()),
        Ok(there) if there.is_file() && !force => {
            error("the file exists already", text!("replace it with {Force}"))
        }
        _ => Ok(()),
    }
}

/// Writes a file, which appears when it is whole.
pub fn save(
    path: &Path,
    content: impl AsRef<[u8]>,
    access: FileAccess,
) -> Result<Option<Diagnostic>, Diagnostic> {
    let written = write_file(path, content.as_ref(), access).map_err(|error| {
        Diagnostic::error(format!("cannot write: {error}"))
            .about(path.display())
            .hint("choose a location that you may write to")
    })?;
    Ok(owner_warning(written, path))
}

/// The warning that a file has another owner than the one that it replaces.
pub fn owner_warning(written: WrittenFile, path: &Path) -> Option<Diagnostic> {
    written.has_new_owner.then(|| {
        let text = "written, but with a new owner or group: this user may not give the file to the old one";
        Diagnostic::warning(text).about(path.display()).hint("see who should read and write it (ls -l)")
    })
}
