//! Tables written for a test, read, and what is wrong with them.

use errorbar_table::{ScoreTable, TableError, TableOptions, read_table};
use errorbar_test_support::TestFolder;

/// Reads a table with this content.
pub(crate) fn read_with(
    name: &str,
    content: impl AsRef<[u8]>,
    options: &TableOptions,
) -> Result<ScoreTable, TableError> {
    let (_folder, path) = TestFolder::of_file(name, content);
    read_table(path, options)
}

/// The same with the default options.
pub(crate) fn read(name: &str, content: impl AsRef<[u8]>) -> Result<ScoreTable, TableError> {
    read_with(name, content, &TableOptions::new())
}

/// Where an error is and what it is: `t.csv:3 "q2" the row has 2 field(s), the header has 3`.
pub(crate) fn kind(error: &TableError) -> String {
    let mut text = error.path().file_name().unwrap().to_str().unwrap().to_owned();
    text += &error.line().map(|line| format!(":{line}")).unwrap_or_default();
    if let (None, Some(location)) = (error.line(), error.location()) {
        text += &format!(" {location:?}");
    }
    text += &error.sample().map(|sample| format!(" {sample:?}")).unwrap_or_default();
    format!("{text} {}", error.kind())
}

/// What is wrong with a table, by its [`kind`].
pub(crate) fn refused_with(name: &str, content: impl AsRef<[u8]>, options: &TableOptions) -> String {
    kind(&read_with(name, content, options).unwrap_err())
}

/// The same with the default options.
pub(crate) fn refused(name: &str, content: impl AsRef<[u8]>) -> String {
    refused_with(name, content, &TableOptions::new())
}

/// The words of an error, from the name of the file on.
pub(crate) fn message(error: &TableError) -> String {
    let folder = error.path().parent().unwrap();
    error.to_string().replace(&format!("{}/", folder.display()), "")
}
