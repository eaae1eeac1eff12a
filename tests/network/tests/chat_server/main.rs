//! A server of models that speaks chat completions, with answers that can be foretold and faults on demand.
//!
//! `cargo run -p errorbar-network -- --port 8080 --fault-rate 0.2` is a server that every fifth request goes wrong at.
//! HTTP is written by hand here because a proper library keeps one from breaking it.

mod answer;
mod echo;
mod fault;
mod http;
mod server;

use std::io::Write;
use std::sync::Arc;

use anyhow::Result;
use clap::Parser;
use tokio::net::TcpListener;

use server::{Options, Server};

#[tokio::main]
async fn main() -> Result<()> {
    let server = Arc::new(Server::new(Options::parse()));
    let listener = TcpListener::bind(("127.0.0.1", server.options.port)).await?;
    #[allow(clippy::disallowed_methods, reason = "an address of our own")]
    let mut out = std::io::stdout();
    writeln!(out, "listening on {}", listener.local_addr()?)?;
    loop {
        let (stream, _) = listener.accept().await?;
        let server = Arc::clone(&server);
        // A client that goes away in the middle is nothing to report.
        tokio::spawn(async move { server.serve(stream).await });
    }
}
