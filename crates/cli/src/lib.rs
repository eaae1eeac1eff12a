//! The command line of errorbar: options become requests, answers are printed.
//!
//! Nothing is decided here. What a verb computes is a request of `errorbar-analysis`, whose fields are the options; what
//! it prints is rendered by `errorbar-report`. This crate reads arguments, shows progress, pages, and writes to the standard
//! streams, and it is a library so that a program with custom metrics and tasks *is* the command line: see [`App`].
#![forbid(unsafe_code)]

mod app;
mod commands;
mod diagnostic;
mod format;
mod output;
mod pager;
mod progress;

pub use app::{App, main};
