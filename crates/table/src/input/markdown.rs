//! Tables in Markdown, as reports and chats have them.

/// Whether a line is the one between header and rows: `|---|:--:|`.
pub(super) fn is_rule(line: &[u8]) -> bool {
    let is_part = |byte: &u8| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t' | b'\r');
    line.contains(&b'|') && line.windows(2).any(|pair| pair == b"--") && line.iter().all(is_part)
}

/// The same table as comma-separated values. Lines that are no rows end it.
pub(super) fn to_csv(text: &[u8]) -> Vec<u8> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    for line in text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii) {
        if is_rule(line) {
            continue;
        }
        if !line.contains(&b'|') {
            match line.is_empty() {
                true => continue,
                false => break,
            }
        }
        // Writing to memory does not fail.
        drop(writer.write_record(cells(line)));
    }
    writer.into_inner().unwrap_or_default()
}

/// The cells of a row; `\|` is a bar that is meant.
fn cells(line: &[u8]) -> Vec<Vec<u8>> {
    let line = line.strip_prefix(b"|").unwrap_or(line);
    let mut cells = vec![Vec::new()];
    let mut bytes = line.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if bytes.peek() == Some(&b'|') => {
                cells.last_mut().into_iter().for_each(|cell: &mut Vec<u8>| cell.push(b'|'));
                bytes.next();
            }
            // The bar at the end of a line ends its last cell.
            b'|' if bytes.peek().is_none() => {}
            b'|' => cells.push(Vec::new()),
            byte => cells.last_mut().into_iter().for_each(|cell| cell.push(byte)),
        }
    }
    cells.iter().map(|cell| plain(cell.trim_ascii())).collect()
}

/// A cell without the marks of bold, italic and code around it.
fn plain(cell: &[u8]) -> Vec<u8> {
    let marks: [&[u8]; 4] = [b"**", b"__", b"`", b"*"];
    let inner = marks.iter().find_map(|mark| cell.strip_prefix(*mark)?.strip_suffix(*mark));
    inner.filter(|inner| !inner.is_empty()).unwrap_or(cell).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_records() {
        let text =
            "| id | score |\n|:---|---:|\n| `a, b` | **1** |\n| c \\| d | 0 |\n\nSome text.\n| x | 1 |\n";
        assert_eq!(String::from_utf8(to_csv(text.as_bytes())).unwrap(), "id,score\n\"a, b\",1\nc | d,0\n");
        let text = "id | score\n--- | ---\na | 1\n";
        assert_eq!(String::from_utf8(to_csv(text.as_bytes())).unwrap(), "id,score\na,1\n");
    }
}
