//! The server as a client sees it, on real sockets and real logs.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that fails should say where"
)]

mod client;
mod list;
mod live;
mod logs;
mod samples;
mod search;
mod security;

use std::path::Path;
use std::sync::Arc;

use errorbar_core::Registry;
use errorbar_log::eval::EvalLog;
use errorbar_view::{PageError, ReportPages, ViewOptions, ViewServer};

/// Pages that name the logs that they are of.
struct NamedPages;

impl ReportPages for NamedPages {
    fn page(&self, logs: &[EvalLog]) -> Result<String, PageError> {
        if logs.iter().any(|log| log.path().ends_with("fails.eval")) {
            return Err(PageError::unusable("no <page> of it"));
        }
        let names: Vec<String> =
            logs.iter().map(|log| log.path().file_name().unwrap().display().to_string()).collect();
        Ok(format!("<!doctype html><title>page of {}</title>", names.join(" ")))
    }
}

/// Serves a folder on a free port.
fn serve(folder: &Path) -> ViewServer {
    ViewServer::start(ViewOptions::new(folder, Registry::built_in(), Arc::new(NamedPages))).unwrap()
}
