//! The end of what a program writes to stderr.

use std::collections::VecDeque;

/// How much is held.
const BYTES: usize = 8 << 10;

/// How many lines are shown, and how many characters of each.
const LINES: usize = 10;
const LINE: usize = 400;

/// The last bytes that were written.
#[derive(Debug, Default)]
pub(super) struct StderrTail {
    bytes: VecDeque<u8>,
    /// Whether there will be no more.
    pub(super) is_complete: bool,
}

impl StderrTail {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        let surplus = self.bytes.len().saturating_sub(BYTES);
        self.bytes.drain(..surplus);
    }

    /// The last lines, indented.
    pub(super) fn lines(&self) -> String {
        let (front, back) = self.bytes.as_slices();
        let bytes = [front, back].concat();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        let last = lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default();
        let shown = last.iter().map(|line| format!("  {}", line.chars().take(LINE).collect::<String>()));
        shown.collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_held() {
        let mut tail = StderrTail::default();
        assert_eq!(tail.lines(), "");
        for number in 0..100_000 {
            tail.push(format!("line {number}\n").as_bytes());
        }
        assert_eq!(tail.bytes.len(), BYTES);
        let lines = tail.lines();
        assert_eq!(lines.lines().count(), LINES);
        assert!(lines.ends_with("  line 99999") && lines.starts_with("  line 99990\n"), "{lines}");
        tail.push(&[b'x'; 3 * BYTES]);
        assert_eq!(tail.lines().chars().count(), LINE + 2);
    }
}
