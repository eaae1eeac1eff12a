//! Zip files made by hand, as no writer of ours makes them.

use std::io::Write;

use flate2::{Compression, write::DeflateEncoder};

/// A zip file that grows.
#[derive(Clone, Default)]
pub(crate) struct Zip {
    file: Vec<u8>,
    directory: Vec<u8>,
    count: u16,
    comment: Vec<u8>,
}

impl Zip {
    pub(crate) fn new() -> Self {
        Zip::default()
    }

    /// Appends a member: name, method, the content as it is stored, and as it is meant.
    pub(crate) fn member(self, name: &str, method: u16, stored: &[u8], content: &[u8]) -> Self {
        self.claiming(name, method, stored, crc32fast::hash(content), content.len() as u32)
    }

    /// Appends a member that says so about itself, be it true or not.
    pub(crate) fn claiming(mut self, name: &str, method: u16, stored: &[u8], crc: u32, length: u32) -> Self {
        let mut common = Vec::new();
        for field in [0, method, 0, 0x21] {
            common.extend_from_slice(&field.to_le_bytes());
        }
        for field in [crc, stored.len() as u32, length] {
            common.extend_from_slice(&field.to_le_bytes());
        }
        common.extend_from_slice(&(name.len() as u16).to_le_bytes());
        let offset = self.file.len() as u32;
        self.file.extend_from_slice(b"PK\x03\x04\x14\x00");
        self.file.extend_from_slice(&common);
        // An extra field that means nothing to us.
        self.file.extend_from_slice(&8_u16.to_le_bytes());
        self.file.extend_from_slice(name.as_bytes());
        self.file.extend_from_slice(b"XX\x04\x00abcd");
        self.file.extend_from_slice(stored);
        self.directory.extend_from_slice(b"PK\x01\x02\x14\x03\x14\x00");
        self.directory.extend_from_slice(&common);
        self.directory.extend_from_slice(&[0; 12]);
        self.directory.extend_from_slice(&offset.to_le_bytes());
        self.directory.extend_from_slice(name.as_bytes());
        self.count += 1;
        self
    }

    /// A member that is stored as it is.
    pub(crate) fn stored(self, name: &str, content: &[u8]) -> Self {
        self.member(name, 0, content, content)
    }

    /// A comment behind the directory.
    pub(crate) fn comment(mut self, comment: &[u8]) -> Self {
        self.comment = comment.to_owned();
        self
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut file = self.file.clone();
        let (offset, size) = (file.len() as u32, self.directory.len() as u32);
        file.extend_from_slice(&self.directory);
        file.extend_from_slice(b"PK\x05\x06\0\0\0\0");
        file.extend_from_slice(&self.count.to_le_bytes());
        file.extend_from_slice(&self.count.to_le_bytes());
        file.extend_from_slice(&size.to_le_bytes());
        file.extend_from_slice(&offset.to_le_bytes());
        file.extend_from_slice(&(self.comment.len() as u16).to_le_bytes());
        file.extend_from_slice(&self.comment);
        file
    }
}

pub(crate) fn deflated(content: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}
