//! The server that tests run against: a separate process.

use errorbar_test_support::wait_until;
use serde_json::Value as Json;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

/// A server, until it is dropped.
pub(crate) struct Server {
    process: Child,
    /// `127.0.0.1:PORT`.
    pub(crate) address: String,
}

impl Server {
    /// Starts one with these options and waits until it listens.
    pub(crate) fn start(options: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_chat-server"))
            .args(options)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").expect(&line).to_owned();
        Server { process, address }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// How messages about requests to it start.
    pub(crate) fn request(&self) -> String {
        format!("POST {}/chat/completions ", self.base_url())
    }

    /// What has happened so far.
    pub(crate) fn stats(&self) -> Json {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(b"GET /stats HTTP/1.1\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (_, body) = text.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap()
    }

    /// Waits until there were this many requests.
    pub(crate) fn wait_for_requests(&self, count: u64) {
        wait_until(&format!("{count} requests came"), || (self.requests() >= count).then_some(()));
    }

    /// How many requests there were.
    pub(crate) fn requests(&self) -> u64 {
        self.stats()["requests"].as_u64().unwrap()
    }
}

/// Stands in for a server that is down, until a client has tried to reach it: takes a connection and closes it.
pub(crate) fn wait_for_attempt(address: &str) {
    let listener = TcpListener::bind(address).unwrap();
    drop(listener.accept().unwrap());
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
