//! Values within the objects of a line, which are named by their paths: `scores.judge.value`.

use jiter::{Jiter, JiterError, Peek};

/// Whether one of these paths leads through the object that this one leads to.
pub(super) fn is_parent(paths: &[String], path: &str) -> bool {
    paths.iter().any(|wanted| wanted.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
}

/// The ends of those of these paths that lead through the value at hand, which is at `path` itself; each with a parser that
/// is at its value.
pub(super) fn ends<'j>(
    mut json: Jiter<'j>,
    path: &str,
    paths: &[String],
) -> Result<Vec<(String, Jiter<'j>)>, JiterError> {
    let mut found = Vec::new();
    if json.peek()? != Peek::Object {
        return Ok(found);
    }
    let mut key = json.known_object()?.map(str::to_owned);
    while let Some(name) = key {
        let path = format!("{path}.{name}");
        if paths.contains(&path) {
            found.push((path.clone(), json.clone()));
        }
        if is_parent(paths, &path) {
            found.extend(ends(json.clone(), &path, paths)?);
        }
        json.next_skip()?;
        key = json.next_key()?.map(str::to_owned);
    }
    Ok(found)
}
