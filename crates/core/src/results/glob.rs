//! Case-sensitive shell globs over the keys of map-valued scores.
//!
//! Hand-written: the glob crates at hand match paths (a `/` or a leading dot is special, `**` and
//! braces mean something), and a key is no path.

/// Whether the pattern matches the whole string: `*` any characters, `?` one, `[a-z]` and `[!a-z]`
/// one of a set. An unclosed `[` stands for itself.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    // Where to resume after a star that matched too little: it matches one more character each time.
    let mut retry: Option<(usize, usize)> = None;
    let (mut p, mut t) = (0, 0);
    loop {
        let step = match (pattern.get(p), text.get(t)) {
            (Some('*'), _) => {
                retry = Some((p + 1, t));
                p += 1;
                continue;
            }
            (None, None) => return true,
            (Some('?'), Some(_)) => Some(1),
            (Some('['), Some(c)) => match set(pattern.get(p + 1..).unwrap_or_default()) {
                Some((members, length)) => contains(members, *c).then_some(length + 1),
                None => (*c == '[').then_some(1),
            },
            (Some(a), Some(b)) => (a == b).then_some(1),
            _ => None,
        };
        match (step, retry) {
            (Some(length), _) => {
                p += length;
                t += 1;
            }
            (None, Some((after_star, from))) if from < text.len() => {
                retry = Some((after_star, from + 1));
                p = after_star;
                t = from + 1;
            }
            (None, _) => return false,
        }
    }
}

/// The members of a set and how many characters it takes up to and with the `]`. A `]` right at the
/// beginning is a member.
fn set(rest: &[char]) -> Option<(&[char], usize)> {
    let negated = usize::from(rest.first() == Some(&'!'));
    let close = rest.iter().skip(negated + 1).position(|c| *c == ']')? + negated + 1;
    Some((rest.get(..close)?, close + 1))
}

fn contains(members: &[char], c: char) -> bool {
    let (negated, members) = match members.split_first() {
        Some(('!', rest)) => (true, rest),
        _ => (false, members),
    };
    let mut found = false;
    let mut at = 0;
    while let Some(first) = members.get(at) {
        match (members.get(at + 1), members.get(at + 2)) {
            (Some('-'), Some(last)) => {
                found |= (*first..=*last).contains(&c);
                at += 3;
            }
            _ => {
                found |= *first == c;
                at += 1;
            }
        }
    }
    found != negated
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn globs() {
        for (pattern, text) in [
            ("alpha", "alpha"),
            ("al*", "alpha"),
            ("*", ""),
            ("*a", "alpha"),
            ("a*p*a", "alpha"),
            ("a?pha", "alpha"),
            ("[a-c]x", "bx"),
            ("[!a-c]x", "dx"),
            ("[]]", "]"),
            ("[!]]", "a"),
            ("[!]a]", "b"),
            ("[", "["),
            ("a/*", "a/b/c"),
            ("*.*", ".x"),
            ("ä?", "äö"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("Al*", "alpha"),
            ("a", "ab"),
            ("?", ""),
            ("[a-c]", "d"),
            ("[!a]", "a"),
            ("[!]]", "]"),
            ("[", "a"),
            ("a*b", "abc"),
            ("", "a"),
        ] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn many_stars_stay_quick() {
        assert!(!matches(&"*a".repeat(40), &"a".repeat(39)));
    }
}
