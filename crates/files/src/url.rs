//! Addresses in the place of paths.

use std::io;
use std::path::Path;

/// What to do about an address where a path is wanted.
///
/// ```
/// let hint = errorbar_files::url_hint("https://example.org/log.eval".as_ref());
/// assert_eq!(hint, "addresses are not opened: download the file, and name the copy");
/// let hint = errorbar_files::url_hint("file:///data/log.eval".as_ref());
/// assert_eq!(hint, "addresses are not opened: name the file by its path, /data/log.eval");
/// ```
pub fn url_hint(address: &Path) -> String {
    let path =
        address.to_str().and_then(|text| text.strip_prefix("file://")).filter(|path| path.starts_with('/'));
    match path {
        Some(path) => format!("addresses are not opened: name the file by its path, {path}"),
        None => "addresses are not opened: download the file, and name the copy".to_owned(),
    }
}

/// Why a path could not be opened; that there is no file of an address says nothing.
pub fn open_error(path: &Path, error: io::Error) -> io::Error {
    match is_url(path) {
        true => io::Error::new(error.kind(), "this is an address, and not the path of a file"),
        false => error,
    }
}

/// Whether a path is an address, such as `https://…` or `s3://…`; one that begins with `www.` unless it is there: a copy of a
/// site has folders of such names.
///
/// ```
/// assert!(errorbar_files::is_url("s3://bucket/log.eval".as_ref()));
/// assert!(errorbar_files::is_url("www.example.org/log.eval".as_ref()));
/// assert!(!errorbar_files::is_url("www.example.org.csv".as_ref()));
/// assert!(!errorbar_files::is_url("data/a.csv".as_ref()));
/// ```
pub fn is_url(path: &Path) -> bool {
    let text = path.to_str();
    if text.is_some_and(|text| text.starts_with("www.") && text.contains('/')) {
        return !path.exists();
    }
    let scheme = text.and_then(|text| text.split_once("://")).map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}
