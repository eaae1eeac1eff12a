//! Addresses in the place of paths.

use std::path::Path;

/// What to do about an address where a path is wanted.
pub const URL_HINT: &str = "addresses are not opened: download the file, and name the copy";

/// Whether a path is an address, such as `https://…` or `s3://…`.
///
/// ```
/// assert!(errorbar_files::is_url("s3://bucket/log.eval".as_ref()));
/// assert!(!errorbar_files::is_url("data/a.csv".as_ref()));
/// ```
pub fn is_url(path: &Path) -> bool {
    let scheme = path.to_str().and_then(|text| text.split_once("://")).map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}
