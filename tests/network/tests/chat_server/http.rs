//! As much of HTTP/1.1 as chat completions need, and the ways to break it.

use std::io::{Error, Result};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// A request, as far as it matters.
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) authorization: Option<String>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// Reads the next one of a connection; none if the client has closed it.
    pub(crate) async fn read(stream: &mut BufReader<TcpStream>) -> Result<Option<Request>> {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        let mut words = line.split_whitespace().map(str::to_owned);
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (mut length, mut authorization) = (0, None);
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await? == 0 {
                return Ok(None);
            }
            let Some((name, value)) = line.split_once(':') else { break };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().map_err(Error::other)?,
                "authorization" => authorization = Some(value.to_owned()),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await?;
        Ok(Some(Request { method, path, authorization, body }))
    }
}

/// What is answered.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) ending: Ending,
}

/// How an answer ends.
#[derive(PartialEq)]
pub(crate) enum Ending {
    /// As it should.
    Whole,
    /// Before it has begun.
    Never,
    /// In the middle of the body that was announced.
    Midway,
    /// Only when the client has enough.
    Endless,
}

impl Response {
    pub(crate) fn new(status: u16, body: impl ToString) -> Self {
        Response { status, headers: Vec::new(), body: body.to_string().into_bytes(), ending: Ending::Whole }
    }

    pub(crate) fn with_header(mut self, name: &'static str, value: impl ToString) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }

    pub(crate) fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    /// Writes it; returns whether the connection can be reused.
    pub(crate) async fn write(&self, stream: &mut BufReader<TcpStream>) -> Result<bool> {
        if self.ending == Ending::Never {
            return Ok(false);
        }
        let is_endless = self.ending == Ending::Endless;
        let length = if is_endless { usize::MAX >> 1 } else { self.body.len() };
        let mut bytes = format!(
            "HTTP/1.1 {} Status\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n",
            self.status
        );
        for (name, value) in &self.headers {
            bytes.push_str(&format!("{name}: {value}\r\n"));
        }
        bytes.push_str("\r\n");
        let mut bytes = bytes.into_bytes();
        let sent = if self.ending == Ending::Midway { self.body.len() / 2 } else { self.body.len() };
        bytes.extend(self.body.iter().take(sent));
        stream.write_all(&bytes).await?;
        if is_endless {
            loop {
                stream.write_all(&[b' '; 1 << 16]).await?;
            }
        }
        stream.flush().await?;
        Ok(self.ending == Ending::Whole)
    }
}
