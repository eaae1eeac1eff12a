//! What an eval log in JSON begins with: folders are searched for logs, and a table that is one is refused.

use std::path::Path;

use jiter::{Jiter, Peek};

/// How many bytes [`begins_as_log`] looks at.
pub const LOG_HEAD_BYTES: usize = 2048;

/// The keys of `eval` in logs, of which other tools are not known to have two.
const KEYS_OF_EVAL: [&str; 6] = ["config", "created", "dataset", "eval_id", "run_id", "task_id"];

/// Whether a JSON text has an object `eval`, after a `status` or a `version` or with the keys that logs have in it. Other
/// tools have a key `eval`, too.
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
            let is_object = json.peek().is_ok_and(|first| first == Peek::Object);
            // Where keys are sorted, those that mark a log come last.
            return is_object && (is_marked || is_eval_of_log(json));
        }
        is_marked |= name == "status" || name == "version";
        if json.next_skip().is_err() {
            return false;
        }
        key = json.next_key().ok().flatten().map(str::to_owned);
    }
    false
}

/// Whether an object begins with keys that `eval` has in logs.
fn is_eval_of_log(json: &mut Jiter<'_>) -> bool {
    let mut found = 0;
    let mut key = json.next_object().ok().flatten().map(str::to_owned);
    while let Some(name) = key {
        found += usize::from(KEYS_OF_EVAL.contains(&name.as_str()));
        if found == 2 {
            return true;
        }
        if json.next_skip().is_err() {
            return false;
        }
        key = json.next_key().ok().flatten().map(str::to_owned);
    }
    false
}

/// Whether a short JSON text ends too early, as that of a run that was killed.
pub fn is_cut_off(head: &[u8]) -> bool {
    head.len() < LOG_HEAD_BYTES && Jiter::new(head).with_allow_inf_nan().next_skip().is_err()
}

/// Whether a file is called as runs call their logs: by the time, the task and an id.
pub fn has_run_name(path: &Path) -> bool {
    const TIME: &[u8] = b"0000-00-00T00-00-00";
    let Some(name) = path.file_stem().and_then(|stem| stem.to_str()) else { return false };
    let is_time = name.len() > TIME.len()
        && name.bytes().zip(TIME).all(|(found, digit)| match digit {
            b'0' => found.is_ascii_digit(),
            _ => found == *digit,
        });
    has_log_name(path) && is_time && name.split('_').count() > 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_end_too_early() {
        for cut in ["", "\n", "{", r#"{"version": 2, "stat"#, r#"{"version": 2,"#] {
            assert!(is_cut_off(cut.as_bytes()), "{cut}");
        }
        for whole in ["{}", r#"{"accuracy": NaN}"#, "[1]\n"] {
            assert!(!is_cut_off(whole.as_bytes()), "{whole}");
        }
        assert!(!is_cut_off(&[b'['; LOG_HEAD_BYTES]), "what follows is not known");
    }

    #[test]
    fn names_of_runs() {
        let is = |name: &str| has_run_name(Path::new(name));
        assert!(is("logs/2026-11-19T03-57-33-00-00_tf-half_5x3sFdUTTR9gmYZ7PjYxWV.json"));
        assert!(is("2026-11-19T03-52-19+00-00_t_c7c48c7ab48c44859f79d635d4714390.eval"));
        for other in
            ["logs.json", "2026-11-19_t_1.json", "2026-11-19T03-57-33_t.json", "2026-11-19T03-57-33_t_1.csv"]
        {
            assert!(!is(other), "{other}");
        }
    }

    #[test]
    fn a_log_has_its_keys_at_the_top() {
        for log in [
            r#"{"version": 2, "status": "success", "eval": {"#,
            "\n { \"status\" : \"error\",\n\"eval\":\n{}}",
            r#"{"eval": {"config": {"epochs": 2}, "created": "2026-11-19", "dataset": {"name": "#,
        ] {
            assert!(begins_as_log(log.as_bytes()), "{log}");
        }
        for other in [
            "",
            "{}",
            "[1, 2]",
            r#"{"eval": {}}"#,
            r#"{"eval": {"config": {}, "model": "m", "task": "t"}}"#,
            r#"{"eval": ["config", "created"]}"#,
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
