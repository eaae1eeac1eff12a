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
