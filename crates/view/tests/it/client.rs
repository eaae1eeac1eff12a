//! A client that sends exactly what a test wants.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use errorbar_view::ViewServer;

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// A header, in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .find_map(|line| line.split_once(": ").filter(|(key, _)| key.eq_ignore_ascii_case(name)))
            .map(|(_, value)| value)
    }
}

/// The path of the list, which has the token.
pub(crate) fn root(server: &ViewServer) -> String {
    let (_, rest) = server.url().split_once("://").unwrap();
    rest[rest.find('/').unwrap()..].to_owned()
}

/// Fetches a path below the token.
pub(crate) fn get(server: &ViewServer, path: &str) -> Answer {
    request(server, "GET", &format!("{}{path}", root(server)), &[])
}

/// Sends a request as it is; `Host` is that of the server unless it is among the headers.
pub(crate) fn request(server: &ViewServer, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let stream = connect(server);
    let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "Host") {
        text += &format!("Host: {}\r\n", server.address());
    }
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    (&stream).write_all(format!("{text}\r\n").as_bytes()).unwrap();
    read_answer(stream)
}

pub(crate) fn connect(server: &ViewServer) -> TcpStream {
    let stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream
}

pub(crate) fn read_answer(mut stream: TcpStream) -> Answer {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

/// The events of the server, one after the other.
pub(crate) struct Events(BufReader<TcpStream>);

impl Events {
    pub(crate) fn open(server: &ViewServer) -> Self {
        let stream = connect(server);
        let head = format!("GET {}events HTTP/1.1\r\nHost: {}\r\n\r\n", root(server), server.address());
        (&stream).write_all(head.as_bytes()).unwrap();
        Events(BufReader::new(stream))
    }

    /// The data of the next event; none when the server has ended.
    pub(crate) fn next(&mut self) -> Option<serde_json::Value> {
        loop {
            let mut line = String::new();
            match self.0.read_line(&mut line) {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(data.trim_end()).unwrap());
            }
        }
    }

    /// The first event that a test waits for.
    pub(crate) fn find(&mut self, is_it: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
        loop {
            let event = self.next().expect("the server ended before the event came");
            if is_it(&event) {
                return event;
            }
        }
    }
}
