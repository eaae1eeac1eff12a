//! Files that people write by hand, which are small.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// More than anybody writes by hand. What is parsed takes fifty times as much memory.
const MOST_BYTES: u64 = 4 << 20;

/// Reads a task file, a table of prices, a mapping of a table.
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
        for (bytes, error) in
            [(0, None), (MOST_BYTES, None), (MOST_BYTES + 1, Some(io::ErrorKind::FileTooLarge))]
        {
            file.as_file().set_len(bytes).unwrap();
            assert_eq!(read_small(file.path()).err().map(|error| error.kind()), error, "{bytes}");
        }
        let message = read_small(file.path()).unwrap_err().to_string();
        assert_eq!(message, "it has more than 4 MiB; check that it is the right file");
    }
}
