//! Zip files with any content, which no writer of ours would write.
//!
//! The fuzzer uses this file too, as a module of its own.

use std::io::Write;

use flate2::{Compression, write::DeflateEncoder};

/// A zip file that grows.
#[derive(Clone, Debug, Default)]
pub struct Zip {
    file: Vec<u8>,
    directory: Vec<u8>,
    count: u16,
    comment: Vec<u8>,
}

impl Zip {
    /// An empty one.
    pub fn new() -> Self {
        Zip::default()
    }

    /// Appends a member: name, method, the content as it is stored, and as it is meant.
    pub fn member(self, name: &str, method: u16, stored: &[u8], content: &[u8]) -> Self {
        self.claiming(name, method, stored, crc32fast::hash(content), content.len() as u32)
    }

    /// Appends a member with these claims in its header, be they true or not.
    pub fn claiming(self, name: &str, method: u16, stored: &[u8], crc: u32, length: u32) -> Self {
        let numbers = [crc, stored.len() as u32, length];
        // An extra field that means nothing to us.
        self.apart(name, [0, method], numbers, (numbers, b"XX\x04\x00abcd"), stored, b"")
    }

    /// Appends a member with flags and a method: checksum and sizes in the directory, the same in front of it with an
    /// extra field, its content, and what stands behind that.
    pub fn apart(
        mut self,
        name: &str,
        [flags, method]: [u16; 2],
        listed: [u32; 3],
        (local, extra): ([u32; 3], &[u8]),
        stored: &[u8],
        behind: &[u8],
    ) -> Self {
        let common = |numbers: [u32; 3]| {
            let mut common = Vec::new();
            for field in [flags, method, 0, 0x21] {
                common.extend_from_slice(&field.to_le_bytes());
            }
            for field in numbers {
                common.extend_from_slice(&field.to_le_bytes());
            }
            common.extend_from_slice(&(name.len() as u16).to_le_bytes());
            common
        };
        let offset = self.file.len() as u32;
        self.file.extend_from_slice(b"PK\x03\x04\x14\x00");
        self.file.extend_from_slice(&common(local));
        self.file.extend_from_slice(&(extra.len() as u16).to_le_bytes());
        self.file.extend_from_slice(name.as_bytes());
        self.file.extend_from_slice(extra);
        self.file.extend_from_slice(stored);
        self.file.extend_from_slice(behind);
        self.directory.extend_from_slice(b"PK\x01\x02\x14\x03\x14\x00");
        self.directory.extend_from_slice(&common(listed));
        self.directory.extend_from_slice(&[0; 12]);
        self.directory.extend_from_slice(&offset.to_le_bytes());
        self.directory.extend_from_slice(name.as_bytes());
        self.count += 1;
        self
    }

    /// A member that is stored as it is.
    pub fn stored(self, name: &str, content: &[u8]) -> Self {
        self.member(name, 0, content, content)
    }

    /// Bytes that belong to no member, or to one that is listed by hand.
    pub fn raw(mut self, bytes: &[u8]) -> Self {
        self.file.extend_from_slice(bytes);
        self
    }

    /// Lists a stored member at a place, with this length.
    pub fn listed(mut self, name: &str, at: usize, length: usize) -> Self {
        self.directory.extend_from_slice(b"PK\x01\x02\x14\x03\x14\x00");
        self.directory.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0x21, 0, 0, 0, 0, 0]);
        for field in [length as u32, length as u32] {
            self.directory.extend_from_slice(&field.to_le_bytes());
        }
        self.directory.extend_from_slice(&(name.len() as u16).to_le_bytes());
        self.directory.extend_from_slice(&[0; 12]);
        self.directory.extend_from_slice(&(at as u32).to_le_bytes());
        self.directory.extend_from_slice(name.as_bytes());
        self.count += 1;
        self
    }

    /// The members alone, as a killed process leaves them.
    pub fn without_directory(&self) -> Vec<u8> {
        self.file.clone()
    }

    /// The directory begins with the entry of this place, and has those before it at its end.
    pub fn listed_from(mut self, first: usize) -> Self {
        let mut at = 0;
        for _ in 0..first {
            at += 46 + usize::from(u16::from_le_bytes([self.directory[at + 28], self.directory[at + 29]]));
        }
        self.directory.rotate_left(at);
        self
    }

    /// A comment behind the directory.
    pub fn comment(mut self, comment: &[u8]) -> Self {
        self.comment = comment.to_owned();
        self
    }

    /// The file with every size and place in the extension for large files, though none is large.
    pub fn bytes_64(&self) -> Vec<u8> {
        let mut file = self.file.clone();
        let offset = file.len() as u64;
        let mut directory = Vec::new();
        let mut rest = self.directory.as_slice();
        let number =
            |bytes: &[u8], at: usize| u64::from(u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()));
        while !rest.is_empty() {
            let length = 46 + usize::from(u16::from_le_bytes([rest[28], rest[29]]));
            let mut record = rest[..length].to_vec();
            let extra: Vec<u8> =
                [24, 20, 42].iter().flat_map(|at| number(&record, *at).to_le_bytes()).collect();
            for at in [20, 24, 42] {
                record[at..at + 4].fill(0xff);
            }
            record[30..32].copy_from_slice(&(extra.len() as u16 + 4).to_le_bytes());
            directory.extend_from_slice(&record);
            directory.extend_from_slice(&[1, 0, extra.len() as u8, 0]);
            directory.extend_from_slice(&extra);
            rest = &rest[length..];
        }
        let end = offset + directory.len() as u64;
        file.extend_from_slice(&directory);
        file.extend_from_slice(b"PK\x06\x06");
        file.extend_from_slice(&44_u64.to_le_bytes());
        file.extend_from_slice(&[45, 3, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        for number in [self.count.into(), self.count.into(), directory.len() as u64, offset] {
            file.extend_from_slice(&number.to_le_bytes());
        }
        file.extend_from_slice(b"PK\x06\x07\0\0\0\0");
        file.extend_from_slice(&end.to_le_bytes());
        file.extend_from_slice(&[1, 0, 0, 0]);
        file.extend_from_slice(b"PK\x05\x06\0\0\0\0");
        file.extend_from_slice(&[0xff; 12]);
        file.extend_from_slice(&[0, 0]);
        file
    }

    /// The file with its directory.
    pub fn bytes(&self) -> Vec<u8> {
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

/// Content as the method 8 of zip files compresses it.
pub fn deflated(content: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}
