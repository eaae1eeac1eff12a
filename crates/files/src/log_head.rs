//! What an eval log in JSON begins with: folders are searched for logs, and a table that is one is refused.

use std::path::Path;

use jiter::{Jiter, Peek};

/// How many bytes [`begins_as_log`] looks at.
pub const LOG_HEAD_BYTES: usize = 2048;

/// Whether a JSON text has an object `eval` after a `status` or a `version`. Other tools have a key `eval`, too.
pub fn begins_as_log(head: &[u8]) -> bool {
    is_object_of_log(&mut Jiter::new(head.get(..LOG_HEAD_BYTES).unwrap_or(head)))
}

/// Whether a JSON text is the header of a log under its name, or begins with the id of a set.
pub fn begins_as_manifest(head: &[u8]) -> bool {
    let mut json = Jiter::new(head.get(..LOG_HEAD_BYTES).unwrap_or(head));
    let Ok(Some(first)) = json.next_object() else { return false };
    first == "eval_set_id" || has_log_name(Path::new(first)) && is_object_of_log(&mut json)
}

/// Whether a file has the name of an eval log.
pub fn has_log_name(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        extension.eq_ignore_ascii_case("eval") || extension.eq_ignore_ascii_case("json")
    })
}

fn is_object_of_log(json: &mut Jiter<'_>) -> bool {
    let mut is_marked = false;
    let mut key = json.next_object().ok().flatten().map(str::to_owned);
    while let Some(name) = key {
        if name == "eval" {
            return is_marked && json.peek().is_ok_and(|first| first == Peek::Object);
        }
        is_marked |= name == "status" || name == "version";
        if json.next_skip().is_err() {
            return false;
        }
        key = json.next_key().ok().flatten().map(str::to_owned);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_has_its_keys_at_the_top() {
        for log in [
            r#"{"version": 2, "status": "success", "eval": {"#,
            "\n { \"status\" : \"error\",\n\"eval\":\n{}}",
        ] {
            assert!(begins_as_log(log.as_bytes()), "{log}");
        }
        for other in [
            "",
            "{}",
            "[1, 2]",
            r#"{"eval": {}}"#,
            r#"{"version": 2, "eval": 1}"#,
            r#"{"date": "2024", "eval": {"HumanEval/0": []}}"#,
            r#"{"2026_t_1.eval": {"version": 2, "status": "success", "eval": {"task": "t"}}}"#,
            r#"{"note": "\"status\":", "eval": {}}"#,
        ] {
            assert!(!begins_as_log(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn a_manifest_has_headers_by_log_or_the_id_of_a_set() {
        for manifest in [
            r#"{"2026_t_1.eval": {"version": 2, "status": "success", "eval": {"task": "t"}}}"#,
            "{\n\"sub/t.json\": {\"version\": 2, \"eval\": {",
            r#"{"eval_set_id": "abc", "tasks": []}"#,
        ] {
            assert!(begins_as_manifest(manifest.as_bytes()), "{manifest}");
        }
        for other in [
            "",
            "{}",
            "[]",
            r#"{"version": 2, "eval": {}}"#,
            r#"{"a.json": 1}"#,
            r#"{"q1": {"version": 1, "eval": {}}}"#,
        ] {
            assert!(!begins_as_manifest(other.as_bytes()), "{other}");
        }
    }
}
