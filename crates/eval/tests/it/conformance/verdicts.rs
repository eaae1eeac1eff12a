//! What ours must do where it parts from the reference; the reasons stand in `conformance/README.md`.

use super::case::Outcome;

/// What is wrong with ours in a case that carries a verdict.
pub(crate) fn check(tag: &str, ours: &Outcome, differences: &[String]) -> Vec<String> {
    let fine = match tag {
        "negative-zero" | "marked-target" | "chinese-digits" => is(ours, "C"),
        // No number is found.
        "number-forms" => matches!(ours, Outcome::Judged { answer: Some(answer), .. } if answer.is_empty()),
        "look-alikes" => is(ours, "I") && !differences.is_empty(),
        "look-behind" => matches!(ours, Outcome::Judged { .. }),
        "name-escapes" => matches!(ours, Outcome::Refused(_)),
        "dotted-i" => is(ours, "I"),
        _ => return vec![format!("{tag} is no verdict that the tests know")],
    };
    if fine {
        return Vec::new();
    }
    vec![format!("not as verdict `{tag}` says: {ours:?}; differs in {differences:?}")]
}

fn is(ours: &Outcome, expected: &str) -> bool {
    matches!(ours, Outcome::Judged { value, .. } if value == expected)
}
