//! Files that people write by hand, which are small.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// More than anybody writes by hand. What is parsed takes fifty times as much memory.
const MOST_BYTES: u64 = 4 << 20;

/// Reads a task file or a table of prices.
///
/// # Errors
/// A file that cannot be read, or has more than 4 MiB; a device may have no end.
pub fn read_small(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        let problem = format!("it has more than {} MiB; check that it is the right file", MOST_BYTES >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (bytes, is_read) in [(0, true), (MOST_BYTES, true), (MOST_BYTES + 1, false)] {
            file.as_file().set_len(bytes).unwrap();
            let read = read_small(file.path());
            assert_eq!(read.is_ok(), is_read, "{bytes}");
            assert!(is_read || read.unwrap_err().to_string().contains("more than 4 MiB"));
        }
    }
}
