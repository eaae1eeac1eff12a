//! JSON of logs for other tools: without the bare `NaN` of Python, and laid out anew.

use jiter::{Jiter, JiterError, Peek};

use crate::eval::{LogError, LogErrorKind};

/// How JSON is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// On one line, without blanks.
    Line,
    /// A value a line, indented by two blanks.
    Pretty,
}

/// What is being written: an object or a list, and whether something is in it already.
struct Open {
    is_object: bool,
    has_items: bool,
}

/// The same JSON, strictly: null for `NaN` and the infinities, which logs hold bare. Numbers and texts stay as they
/// are written; characters that play with a terminal are escaped. Nothing is built, so no value is too deep or long.
///
/// ```
/// use errorbar_log::export::{Layout, strict_json};
/// let line = strict_json(br#"{"a": [NaN, 1.50, "NaN"], "b": {}}"#, Layout::Line)?;
/// assert_eq!(line, r#"{"a":[null,1.50,"NaN"],"b":{}}"#);
/// # Ok::<(), errorbar_log::eval::LogError>(())
/// ```
///
/// # Errors
/// Bytes that are no JSON, with the place.
pub fn strict_json(json: &[u8], layout: Layout) -> Result<String, LogError> {
    let mut parser = Jiter::new(json).with_allow_inf_nan();
    write(&mut parser, layout).map_err(|error| {
        LogErrorKind::Json { problem: error.error_type.to_string(), at: error.index as u64 }.into()
    })
}

fn write(json: &mut Jiter<'_>, layout: Layout) -> Result<String, JiterError> {
    let mut out = String::new();
    let mut open: Vec<Open> = Vec::new();
    let mut next = Some(json.peek()?);
    loop {
        // A value, or the end of the list or object that is open.
        if let Some(peek) = next {
            match peek {
                Peek::Array => {
                    out.push('[');
                    open.push(Open { is_object: false, has_items: false });
                    next = json.known_array()?;
                    if next.is_some() {
                        item(&mut out, &mut open, layout);
                    }
                    continue;
                }
                Peek::Object => {
                    out.push('{');
                    open.push(Open { is_object: true, has_items: false });
                    let key = json.known_object()?.map(key_text);
                    next = after_key(key, json, &mut out, &mut open, layout)?;
                    continue;
                }
                Peek::String => {
                    let start = json.current_index();
                    json.known_skip(peek)?;
                    escape_into(&mut out, &String::from_utf8_lossy(json.slice_to_current(start)));
                }
                Peek::Null | Peek::True | Peek::False => {
                    let start = json.current_index();
                    json.known_skip(peek)?;
                    out.push_str(&String::from_utf8_lossy(json.slice_to_current(start)));
                }
                _ => {
                    let number = str::from_utf8(json.known_number_bytes(peek)?).unwrap_or("null");
                    let is_finite =
                        number.bytes().all(|b| !b.is_ascii_alphabetic() || b == b'e' || b == b'E');
                    out.push_str(if is_finite { number } else { "null" });
                }
            }
        } else if let Some(Open { is_object, has_items }) = open.pop() {
            if has_items {
                line_break(&mut out, open.len(), layout);
            }
            out.push(if is_object { '}' } else { ']' });
        }
        match open.last() {
            None => break,
            Some(Open { is_object: false, .. }) => {
                next = json.array_step()?;
                if next.is_some() {
                    item(&mut out, &mut open, layout);
                }
            }
            Some(_) => {
                let key = json.next_key()?.map(key_text);
                next = after_key(key, json, &mut out, &mut open, layout)?;
            }
        }
    }
    json.finish()?;
    Ok(out)
}

/// A key as JSON.
fn key_text(key: &str) -> String {
    serde_json::Value::from(key).to_string()
}

/// Writes a key, if there is one, and looks at its value.
fn after_key(
    key: Option<String>,
    json: &mut Jiter<'_>,
    out: &mut String,
    open: &mut [Open],
    layout: Layout,
) -> Result<Option<Peek>, JiterError> {
    let Some(key) = key else { return Ok(None) };
    item(out, open, layout);
    escape_into(out, &key);
    out.push_str(if layout == Layout::Pretty { ": " } else { ":" });
    json.peek().map(Some)
}

/// Starts an item of the list or object that is open.
fn item(out: &mut String, open: &mut [Open], layout: Layout) {
    let depth = open.len();
    if let Some(inner) = open.last_mut() {
        if inner.has_items {
            out.push(',');
        }
        inner.has_items = true;
    }
    line_break(out, depth, layout);
}

fn line_break(out: &mut String, depth: usize, layout: Layout) {
    if layout == Layout::Pretty {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    }
}

/// Copies a JSON text with its quotes, with escapes for what JSON allows but terminals obey.
fn escape_into(out: &mut String, text: &str) {
    let is_hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    for c in text.chars() {
        // All of them are within the first plane, so one escape is enough.
        if is_hidden(c) { out.push_str(&format!("\\u{:04x}", u32::from(c))) } else { out.push(c) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(json: &str) -> String {
        strict_json(json.as_bytes(), Layout::Line).unwrap()
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
    fn pretty_as_others_write_it() {
        let json = r#"{"a":[1,{"b":[]}],"c":{},"d":"x"}"#;
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        assert_eq!(strict_json(json.as_bytes(), Layout::Pretty).unwrap(), pretty);
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
            let error = strict_json(text.as_bytes(), Layout::Line).unwrap_err();
            assert!(matches!(error.kind(), LogErrorKind::Json { .. }), "{text}: {error}");
        }
    }
}
