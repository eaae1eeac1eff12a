//! A local web server over a folder of eval logs: a list with the headline of each log and its error, runs in progress as
//! they grow, and the report page of each log with its samples on demand.
//!
//! The server only reads. It holds no state but a cache of what headers say: a log is addressed by a number that the server
//! gave it, never by a path, so no request can name a file. Every address has a random token in its path. A cookie was
//! rejected, because cookies do not know ports: every server on the same host gets them.
//!
//! Nothing watches the folder while nobody looks: it is read when a page is requested, and once a second while a page
//! listens for changes. Reading modification times is exact on every file system, network mounts included, where
//! notifications of the system are not.
//!
//! ```no_run
//! use errorbar_view::{ViewOptions, ViewServer};
//!
//! # fn serve(pages: std::sync::Arc<dyn errorbar_view::ReportPages>) -> Result<(), errorbar_view::ViewError> {
//! let server = ViewServer::start(ViewOptions::new("logs", errorbar_core::Registry::default(), pages))?;
//! assert!(server.url().starts_with("http://127.0.0.1:"));
//! server.stop();
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]
mod app;
mod catalog;
mod index;
mod server;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use errorbar_core::Registry;

pub use catalog::{PageError, ReportPages};
pub use server::ViewServer;

/// What to serve, and where.
#[derive(Clone)]
#[non_exhaustive]
pub struct ViewOptions {
    /// The folder of logs. It need not exist yet: a run may create it.
    pub folder: PathBuf,
    /// The address to listen on; this machine alone by default.
    pub host: String,
    /// The port; a free one if it is 0.
    pub port: u16,
    /// What the metrics of a run in progress are found in.
    pub registry: Registry,
    /// Makes the pages of logs.
    pub pages: Arc<dyn ReportPages>,
    /// The command that an empty folder shows.
    pub command: String,
}

impl ViewOptions {
    /// A folder, on a free port of this machine.
    pub fn new(folder: impl Into<PathBuf>, registry: Registry, pages: Arc<dyn ReportPages>) -> Self {
        ViewOptions {
            folder: folder.into(),
            host: "127.0.0.1".to_owned(),
            port: 0,
            registry,
            pages,
            command: "errorbar eval task.toml --model openai/NAME".to_owned(),
        }
    }
}

impl std::fmt::Debug for ViewOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ViewOptions { folder, host, port, .. } = self;
        f.debug_struct("ViewOptions").field("folder", folder).field("host", host).field("port", port).finish()
    }
}

/// Why the server cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// The address is no address of this machine, or the port is taken.
    #[error("cannot listen on {host}, port {port}: {source}")]
    Listen {
        /// The address.
        host: String,
        /// The port.
        port: u16,
        /// Why.
        source: io::Error,
    },
    /// The system gives no threads.
    #[error("cannot start: {0}")]
    Start(#[source] io::Error),
    /// The system gives no random numbers, without which no address is secret.
    #[error("the system gives no random numbers: {0}")]
    Random(getrandom::Error),
}
