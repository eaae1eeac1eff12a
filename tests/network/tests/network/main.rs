//! errorbar against a server of models, over TCP: what it sends, and what becomes of every way to go wrong.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test's helper may fail as the test may"
)]

mod access;
mod command_line;
mod dead_server;
mod desk;
mod library;
mod lost_log;
#[cfg(feature = "providers")]
mod providers;
mod resume;
mod secrets;
mod server;

/// Ways in which a server goes wrong that may pass, each with what becomes of the message behind the request.
const TRANSIENT_FAULTS: [(&str, &str); 8] = [
    ("500", r"answered 500 Internal Server Error: Something\u{1b}[31m broke."),
    ("503", "answered 503 Service Unavailable: <html>no backend</html>"),
    (
        "malformed",
        r"answered 200 with something that is no chat completion: expected value at line 1 column 1; it begins: <html>\u{7}please log in</html>",
    ),
    (
        "wrong-type",
        r#"answered 200 with something that is no chat completion: the `content` of a message is a string or a list of parts, found 42; it begins: {"choices":[{"message":{"content":42}}]}"#,
    ),
    ("dropped", "got no whole answer: connection closed before message completed"),
    ("dropped-midway", "got no whole answer: end of file before message length reached"),
    (
        "empty-choices",
        r#"answered 200 with something that is no chat completion: its `choices` are empty; it begins: {"choices":[]}"#,
    ),
    (
        "error-in-200",
        r#"answered 200 with something that is no chat completion: it holds an error: The model is overloaded.; it begins: {"error":{"message":"The model is overloaded."}}"#,
    ),
];
