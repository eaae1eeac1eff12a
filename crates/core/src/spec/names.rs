//! Names: which need no quotes, which one was meant, and the `name_k` shorthand.

use strsim::damerau_levenshtein;

/// The candidate that `name` was probably meant to be, for "did you mean".
///
/// Near enough is a distance of a third of the name's length (swapped neighbours count once, case not at all), or being
/// the only one that starts with the name or that the name starts with. On a tie the first candidate wins, so pass them in
/// the order you would list them.
///
/// ```
/// use errorbar_core::spec::nearest;
///
/// let known = ["accuracy", "bootstrap_stderr", "mean", "stderr"];
/// assert_eq!(nearest("acuracy", known), Some("accuracy"));
/// assert_eq!(nearest("sdterr", known), Some("stderr"));
/// assert_eq!(nearest("boot", known), Some("bootstrap_stderr"));
/// assert_eq!(nearest("perplexity", known), None);
/// ```
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let wanted = name.to_lowercase();
    let length = wanted.chars().count();
    let limit = (length / 3).max(1);

    let close = candidates.iter().filter_map(|&candidate| {
        // Lengths first: the distance takes time and memory in proportion to their product, and names may be hostile.
        if candidate.chars().count().abs_diff(length) > limit {
            return None;
        }
        let distance = damerau_levenshtein(&wanted, &candidate.to_lowercase());
        // Less than the whole length: replacing every letter is no likeness.
        (distance <= limit && distance < length).then_some((distance, candidate))
    });
    if let Some((_, candidate)) = close.min_by_key(|(distance, _)| *distance) {
        return Some(candidate);
    }

    let mut related = candidates.into_iter().filter(|candidate| {
        let candidate = candidate.to_lowercase();
        let shorter = length.min(candidate.chars().count());
        shorter >= 3 && (candidate.starts_with(&wanted) || wanted.starts_with(&candidate))
    });
    // Several would be a guess.
    match (related.next(), related.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

/// Takes `at_least_2` apart into `at_least` and 2, the shorthand for `at_least(2)`.
///
/// The registry decides whether a name is shorthand: a reducer of the literal name takes precedence.
///
/// ```
/// use errorbar_core::spec::split_k_suffix;
///
/// assert_eq!(split_k_suffix("at_least_2"), Some(("at_least", 2)));
/// assert_eq!(split_k_suffix("at_least"), None);
/// ```
pub fn split_k_suffix(name: &str) -> Option<(&str, u64)> {
    let (base, digits) = name.rsplit_once('_')?;
    // `parse` alone would also take a sign.
    let all_digits = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if base.is_empty() || !all_digits {
        return None;
    }
    Some((base, digits.parse().ok()?))
}

/// The name of a metric or reducer without our own package, which logs record in front of it.
///
/// ```
/// use errorbar_core::spec::without_own_package;
///
/// assert_eq!(without_own_package("errorbar/accuracy"), "accuracy");
/// assert_eq!(without_own_package("accuracy"), "accuracy");
/// assert_eq!(without_own_package("their/accuracy"), "their/accuracy");
/// ```
pub fn without_own_package(name: &str) -> &str {
    match name.split_once('/') {
        Some((super::OWN_PACKAGE, bare)) => bare,
        _ => name,
    }
}

/// Whether a word may start with this character.
pub(super) fn starts_word(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Whether a word may continue with this character.
pub(super) fn continues_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// Whether the word is a literal rather than a name.
pub(super) fn is_reserved(word: &str) -> bool {
    matches!(word, "true" | "True" | "false" | "False" | "null" | "None")
}

/// Whether the word can be written without backquotes.
pub(super) fn is_plain(word: &str) -> bool {
    word.starts_with(starts_word) && word.chars().all(continues_word) && !is_reserved(word)
}

/// A reducer as papers write it, in our words: `pass@2` is `pass_at` of 2, `pass^2` is `pass_k` of 2. The number is
/// none if none was written.
///
/// ```
/// use errorbar_core::spec::reducer_of_papers;
///
/// assert_eq!(reducer_of_papers("pass@2"), Some(("pass_at", Some("2"))));
/// assert_eq!(reducer_of_papers("pass^k"), Some(("pass_k", None)));
/// assert_eq!(reducer_of_papers("mean"), None);
/// ```
pub fn reducer_of_papers(text: &str) -> Option<(&'static str, Option<&str>)> {
    let text = text.trim().strip_prefix("pass")?;
    let (name, k) = match text.strip_prefix('@') {
        Some(k) => ("pass_at", k),
        None => ("pass_k", text.strip_prefix('^')?),
    };
    let is_number = !k.is_empty() && k.bytes().all(|b| b.is_ascii_digit());
    Some((name, is_number.then_some(k)))
}
