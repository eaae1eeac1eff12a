//! JSON of logs for other tools: without the bare `NaN` of Python, and laid out anew.

use std::io::{self, Write};

use crate::eval::{LogError, LogErrorKind, validate_json};

/// How JSON is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonLayout {
    /// On one line, without blanks.
    Line,
    /// A value a line, indented by two blanks. Values nested deeper than 20 levels stay on one line, and so does
    /// the rest of a text whose blanks would be three times the text: an indentation grows with the depth, and a
    /// few kilobytes could become gigabytes.
    Pretty,
}

/// How deep values get their own lines.
const INDENTED: usize = 20;
/// The number of blanks that a text may have for each of its bytes, and on top of that.
const BLANKS_PER_BYTE: u64 = 3;
const BLANKS: u64 = 64 << 10;

/// The same JSON, strictly: null for `NaN` and the infinities, which logs hold bare. Numbers and texts stay as they
/// are written; characters that play with a terminal are escaped. Nothing is built, so no value is too deep or long.
///
/// ```
/// use errorbar_log::{JsonLayout, strict_json};
/// let line = strict_json(br#"{"a": [NaN, 1.50, "NaN"], "b": {}}"#, JsonLayout::Line)?;
/// assert_eq!(line, r#"{"a":[null,1.50,"NaN"],"b":{}}"#);
/// # Ok::<(), errorbar_log::eval::LogError>(())
/// ```
///
/// # Errors
/// Bytes that are no JSON, with the place.
pub fn strict_json(json: &[u8], layout: JsonLayout) -> Result<String, LogError> {
    validate_json(json)?;
    let mut writer = StrictWriter::new(Vec::new(), layout);
    writer.write_all(json).map_err(LogErrorKind::Write)?;
    Ok(String::from_utf8_lossy(&writer.into_inner()).into_owned())
}

/// Writes JSON as [`strict_json`] makes it, in pieces, without holding any of it.
///
/// The bytes must be JSON, which is not checked here; of others, what comes out is not JSON either.
///
/// ```
/// use std::io::Write;
/// use errorbar_log::{JsonLayout, StrictWriter};
/// let mut writer = StrictWriter::new(Vec::new(), JsonLayout::Line);
/// for piece in ["{\"a\": Na", "N}"] {
///     writer.write_all(piece.as_bytes())?;
/// }
/// assert_eq!(writer.into_inner(), br#"{"a":null}"#);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct StrictWriter<W> {
    out: W,
    layout: JsonLayout,
    state: WriterState,
    depth: usize,
    /// Whether the list or object that was opened last has nothing in it so far.
    is_empty: bool,
    /// The bytes of a character that is not complete.
    character: Vec<u8>,
    /// What was read, and the blanks that were written.
    read: u64,
    blanks: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WriterState {
    /// Outside of texts, numbers and words.
    Between,
    /// Within a text, perhaps behind a backslash.
    Text { is_escaped: bool },
    /// Behind a minus: a number, or an infinity.
    Minus,
    /// Within a number or a word.
    Copied,
    /// Within a word that JSON does not have.
    Replaced,
}

impl<W: Write> StrictWriter<W> {
    /// Writes to `out`.
    pub fn new(out: W, layout: JsonLayout) -> Self {
        let (read, blanks) = (0, 0);
        let (state, character) = (WriterState::Between, Vec::new());
        StrictWriter { out, layout, state, depth: 0, is_empty: true, character, read, blanks }
    }

    /// The writer beneath, for what follows the JSON.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// Takes what belongs to the current state, at least one byte, and returns its length.
    fn step(&mut self, bytes: &[u8], first: u8) -> io::Result<usize> {
        match self.state {
            WriterState::Text { is_escaped } => return self.text(bytes, is_escaped),
            WriterState::Between => {
                self.between(first)?;
                return Ok(1);
            }
            WriterState::Minus if first == b'I' => {
                self.out.write_all(b"null")?;
                self.state = WriterState::Replaced;
            }
            WriterState::Minus => {
                self.out.write_all(b"-")?;
                self.state = WriterState::Copied;
            }
            WriterState::Copied | WriterState::Replaced => {
                let is_end = |byte: &u8| matches!(byte, b',' | b']' | b'}') || byte.is_ascii_whitespace();
                let end = bytes.iter().position(is_end);
                let word = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
                if self.state == WriterState::Copied {
                    self.out.write_all(word)?;
                }
                if end.is_some() {
                    self.state = WriterState::Between;
                }
                return Ok(word.len());
            }
        }
        Ok(0)
    }

    fn between(&mut self, byte: u8) -> io::Result<()> {
        match byte {
            _ if byte.is_ascii_whitespace() => Ok(()),
            b',' => {
                self.out.write_all(b",")?;
                self.line_break()
            }
            b':' => self.out.write_all(if self.layout == JsonLayout::Pretty { b": " } else { b":" }),
            b'}' | b']' => {
                let is_on_a_line = self.depth > INDENTED;
                self.depth = self.depth.saturating_sub(1);
                if !std::mem::take(&mut self.is_empty) && !is_on_a_line {
                    self.line_break()?;
                }
                self.out.write_all(&[byte])
            }
            _ => {
                // The first thing in what was opened.
                if std::mem::take(&mut self.is_empty) && self.depth > 0 {
                    self.line_break()?;
                }
                match byte {
                    b'{' | b'[' => {
                        self.depth += 1;
                        self.is_empty = true;
                        self.out.write_all(&[byte])
                    }
                    b'"' => {
                        self.state = WriterState::Text { is_escaped: false };
                        self.out.write_all(b"\"")
                    }
                    b'N' | b'I' => {
                        self.state = WriterState::Replaced;
                        self.out.write_all(b"null")
                    }
                    b'-' => {
                        self.state = WriterState::Minus;
                        Ok(())
                    }
                    _ => {
                        self.state = WriterState::Copied;
                        self.out.write_all(&[byte])
                    }
                }
            }
        }
    }

    fn line_break(&mut self) -> io::Result<()> {
        let allowed = self.read.saturating_mul(BLANKS_PER_BYTE).saturating_add(BLANKS);
        if self.layout != JsonLayout::Pretty || self.depth > INDENTED || self.blanks > allowed {
            return Ok(());
        }
        self.blanks += 2 * self.depth as u64;
        write!(self.out, "\n{:1$}", "", 2 * self.depth)
    }

    /// Copies a text up to its closing quote, or as much of it as there is.
    fn text(&mut self, bytes: &[u8], mut is_escaped: bool) -> io::Result<usize> {
        let mut end = 0;
        let mut is_over = false;
        while let Some(rest) = bytes.get(end..).filter(|rest| !rest.is_empty()) {
            if is_escaped {
                is_escaped = false;
                end += 1;
                continue;
            }
            match memchr::memchr2(b'"', b'\\', rest) {
                None => end = bytes.len(),
                Some(at) => {
                    is_over = rest.get(at) == Some(&b'"');
                    is_escaped = !is_over;
                    end += at + 1;
                    if is_over {
                        break;
                    }
                }
            }
        }
        self.state = if is_over { WriterState::Between } else { WriterState::Text { is_escaped } };
        self.put_text(bytes.get(..end).unwrap_or_default())?;
        Ok(end)
    }

    /// Writes a piece of a text, with escapes for what JSON allows but terminals obey.
    fn put_text(&mut self, bytes: &[u8]) -> io::Result<()> {
        const DELETE: u8 = 0x7f;
        if self.character.is_empty() && bytes.is_ascii() && memchr::memchr(DELETE, bytes).is_none() {
            return self.out.write_all(bytes);
        }
        self.character.extend_from_slice(bytes);
        let bytes = std::mem::take(&mut self.character);
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            match str::from_utf8(rest) {
                Ok(text) => return self.put_characters(text),
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    self.put_characters(&String::from_utf8_lossy(valid))?;
                    let Some(wrong) = error.error_len() else {
                        self.character = after.to_vec();
                        return Ok(());
                    };
                    self.out.write_all("\u{fffd}".as_bytes())?;
                    rest = after.get(wrong..).unwrap_or_default();
                }
            }
        }
        Ok(())
    }

    fn put_characters(&mut self, text: &str) -> io::Result<()> {
        let mut plain = text;
        while let Some((at, hidden)) = plain.char_indices().find(|(_, c)| is_hidden(*c)) {
            self.out.write_all(plain.get(..at).unwrap_or_default().as_bytes())?;
            // All of them are within the first plane, so one escape is enough.
            write!(self.out, "\\u{:04x}", u32::from(hidden))?;
            plain = plain.get(at + hidden.len_utf8()..).unwrap_or_default();
        }
        self.out.write_all(plain.as_bytes())
    }
}

impl<W: Write> Write for StrictWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            let taken = self.step(rest, *first)?;
            self.read += taken as u64;
            rest = rest.get(taken..).unwrap_or_default();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Whether JSON allows a character that terminals obey.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(json: &str) -> String {
        strict_json(json.as_bytes(), JsonLayout::Line).unwrap()
    }

    #[test]
    fn numbers_that_are_not_finite_are_null() {
        assert_eq!(line("[NaN, Infinity ,-Infinity, 1e5, 1E-5, -0.0]"), "[null,null,null,1e5,1E-5,-0.0]");
        assert_eq!(line(r#"{"NaN": "NaN", "x": NaN}"#), r#"{"NaN":"NaN","x":null}"#);
        assert_eq!(line("NaN"), "null");
    }

    #[test]
    fn everything_else_stays_as_it_is_written() {
        for text in [
            "123456789012345678901234567890",
            "0.1000000000000000055511151231257827",
            r#""\u00e9\ud83d\ude00\n\/""#,
            "[]",
            "{}",
            r#"[[],{},[{"a":[null,true,false]}]]"#,
        ] {
            assert_eq!(line(text), text);
        }
        let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
        assert_eq!(line(&deep), deep);
    }

    #[test]
    fn pieces_of_any_size_give_the_same() {
        let text = "{\"a\\\\\\\"\": [NaN, -Infinity,-1.5e3 ,Infinity,true, {}, []], \"b\u{9b}é\u{202e}\" : {\"c\":\"\\u00e9😀\"}} ";
        for layout in [JsonLayout::Line, JsonLayout::Pretty] {
            let whole = strict_json(text.as_bytes(), layout).unwrap();
            for size in 1..=text.len() {
                let mut writer = StrictWriter::new(Vec::new(), layout);
                text.as_bytes().chunks(size).for_each(|piece| writer.write_all(piece).unwrap());
                assert_eq!(String::from_utf8(writer.into_inner()).unwrap(), whole, "pieces of {size}");
            }
        }
        assert_eq!(
            line(text),
            r#"{"a\\\"":[null,null,-1.5e3,null,true,{},[]],"b\u009bé\u202e":{"c":"\u00e9😀"}}"#
        );
    }

    #[test]
    fn indentation_does_not_grow_with_depth() {
        // Each level has two items more, which would be indented by the depth.
        let deep = format!("{}0{}", "[1,2,".repeat(4_000), "]".repeat(4_000));
        let pretty = strict_json(deep.as_bytes(), JsonLayout::Pretty).unwrap();
        assert!(pretty.len() < 4 * deep.len() + (100 << 10), "{} of {}", pretty.len(), deep.len());
        assert_eq!(strict_json(pretty.as_bytes(), JsonLayout::Line).unwrap(), deep);
        // And many small items at the last level that is indented do not fill the disk either.
        let wide = format!("{}{}[]{}", "[".repeat(19), "[],".repeat(100_000), "]".repeat(19));
        let pretty = strict_json(wide.as_bytes(), JsonLayout::Pretty).unwrap();
        assert!(pretty.len() < 5 * wide.len() + (100 << 10), "{} of {}", pretty.len(), wide.len());
        assert_eq!(strict_json(pretty.as_bytes(), JsonLayout::Line).unwrap(), wide);
    }

    #[test]
    fn pretty_as_others_write_it() {
        let json = r#"{"a":[1,{"b":[]}],"c":{},"d":"x"}"#;
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        assert_eq!(strict_json(json.as_bytes(), JsonLayout::Pretty).unwrap(), pretty);
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        let text = "{\"k\u{9b}\":\"\u{202e}\u{7f}é\"}";
        assert_eq!(line(text), r#"{"k\u009b":"\u202e\u007fé"}"#);
        let same: serde_json::Value = serde_json::from_str(&line(text)).unwrap();
        assert_eq!(same, serde_json::from_str::<serde_json::Value>(text).unwrap());
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for text in ["", "{", "[1,", "[1 2]", "{\"a\"}", "{\"a\":}", "1 2", "nul", "\"\u{1b}[31m\"", "[}"] {
            let error = strict_json(text.as_bytes(), JsonLayout::Line).unwrap_err();
            assert!(matches!(error.kind(), LogErrorKind::Json { .. }), "{text}: {error}");
        }
    }
}
