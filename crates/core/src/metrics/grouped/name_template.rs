//! The names of groups: a template in the language of Python's `str.format`, with its format specifications for strings,
//! `[[fill]align][0][width][.precision][s]`.

use std::borrow::Cow;

use crate::metrics::prelude::*;
use crate::python_text::{str_ascii, str_repr};

/// A name with `{group_name}` in it, with a conversion and a format specification as Python has them for strings; `{{` and
/// `}}` stand for braces.
pub(super) struct NameTemplate<'a>(pub(super) &'a str);

impl NameTemplate<'_> {
    pub(super) fn apply(&self, group: &str) -> Result<String, String> {
        let mut name = String::with_capacity(self.0.len() + group.len());
        let mut rest = self.0;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, brace) = rest.split_at(at);
            name.push_str(before);
            if let Some(after) = brace.strip_prefix("{{") {
                name.push('{');
                rest = after;
            } else if let Some(after) = brace.strip_prefix("}}") {
                name.push('}');
                rest = after;
            } else if let Some(field) = brace.strip_prefix("{group_name").filter(|field| ends_name(field)) {
                let (inside, after) =
                    field.split_once('}').ok_or_else(|| self.refuse("expected '}' before end of string"))?;
                name.push_str(&formatted(group, inside).map_err(|problem| self.refuse(&problem))?);
                rest = after;
            } else {
                let template = self.0;
                return Err(format!(
                    "knows only the placeholder {{group_name}} (a brace itself is written twice), found {template:?}"
                ));
            }
        }
        name.push_str(rest);
        Ok(name)
    }

    fn refuse(&self, problem: &str) -> String {
        format!("cannot be used, found {:?}: {problem}", self.0)
    }
}

/// Whether the name of a placeholder ends here.
fn ends_name(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(['}', '!', ':'])
}

/// A string by what stands behind the name of a placeholder: `!r`, `:>6`, both or nothing.
fn formatted(text: &str, inside: &str) -> Result<String, String> {
    let (conversion, spec) = match inside.strip_prefix('!') {
        None => (None, inside.strip_prefix(':').unwrap_or_default()),
        Some(conversion) => {
            let mut chars = conversion.chars();
            let kind = chars.next().ok_or("unmatched '{' in format spec")?;
            let spec = match chars.as_str() {
                "" => "",
                spec => spec.strip_prefix(':').ok_or("expected ':' after conversion specifier")?,
            };
            (Some(kind), spec)
        }
    };
    let text: Cow<'_, str> = match conversion {
        None | Some('s') => text.into(),
        Some('r') => str_repr(text).into(),
        Some('a') => str_ascii(text).into(),
        Some(other) => return Err(format!("Unknown conversion specifier {other}")),
    };
    StringFormat::parse(spec).map(|format| format.apply(&text))
}

/// The names that results have a value under: one, or one for each part of it.
pub(super) fn recorded_names<'l>(label: &'l str, value: &MetricValue, role: Role) -> Vec<Cow<'l, str>> {
    match value {
        MetricValue::One(_) if role == Role::IntervalOf => {
            vec![format!("{label}_lower").into(), format!("{label}_upper").into()]
        }
        MetricValue::One(_) => vec![label.into()],
        MetricValue::Map(map) if role == Role::IntervalOf => {
            let ends = ["lower", "upper"];
            map.keys().flat_map(|key| ends.map(|end| format!("{label}_{key}_{end}").into())).collect()
        }
        MetricValue::Map(map) => map.keys().map(|key| format!("{label}_{key}").into()).collect(),
        MetricValue::List(list) => (1..=list.len()).map(|at| format!("{label}_{at}").into()).collect(),
        MetricValue::Groups(groups) => {
            let inner = groups.groups.iter().filter(|group| group.n > 0);
            let inner = inner.map(|group| (group.label.as_str(), &group.value));
            let all = groups.all.iter().map(|all| (all.label.as_str(), all.value.as_ref()));
            let nested = |(of, value): (&str, &MetricValue)| {
                let label = format!("{label}_{of}");
                let names = recorded_names(&label, value, role);
                names.into_iter().map(|name| name.into_owned().into()).collect::<Vec<_>>()
            };
            inner.chain(all).flat_map(nested).collect()
        }
    }
}

/// Wider than any name is, and no way to fill the memory.
const WIDEST: usize = 1000;

/// How a string is laid out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StringFormat {
    fill: char,
    align: char,
    width: usize,
    precision: usize,
}

impl StringFormat {
    /// Reads a specification. What only numbers can take is an error in the words of Python.
    pub(super) fn parse(spec: &str) -> Result<Self, String> {
        let is_align = |c: char| matches!(c, '<' | '>' | '^' | '=');
        let mut chars = spec.chars();
        let (first, second) = (chars.next(), chars.next());
        let (mut fill, mut align, mut rest) = (None, None, spec);
        if second.is_some_and(is_align) {
            (fill, align, rest) = (first, second, chars.as_str());
        } else if let Some(after) = spec.strip_prefix(is_align) {
            (align, rest) = (first, after);
        }
        let mut take = |wanted: &[char]| {
            let found = rest.chars().next().filter(|c| wanted.contains(c))?;
            rest = rest.get(found.len_utf8()..).unwrap_or_default();
            Some(found)
        };
        let sign = take(&['+', '-', ' ']);
        let coerces_zero = take(&['z']).is_some();
        let is_alternate = take(&['#']).is_some();
        if fill.is_none() {
            fill = take(&['0']);
        }
        let (width, after) = number(rest)?;
        rest = after;
        let mut take = |wanted: char| rest.strip_prefix(wanted).map(|after| rest = after).is_some();
        let (has_comma, has_underscore) = (take(','), take('_'));
        if has_underscore && (has_comma || take(',')) {
            return Err("Cannot specify both ',' and '_'.".to_owned());
        }
        let mut precision = None;
        if take('.') {
            let (digits, after) = number(rest)?;
            precision = Some(digits.ok_or("Format specifier missing precision")?);
            rest = after;
        }
        let mut kinds = rest.chars();
        let kind = kinds.next();
        if kinds.next().is_some() {
            return Err(format!("Invalid format specifier '{spec}' for object of type 'str'"));
        }
        let shown = kind.unwrap_or('s');
        if (has_comma || has_underscore) && !matches!(shown, 'd' | 'e' | 'f' | 'g' | 'E' | 'G' | '%' | 'F') {
            return Err(format!("Cannot specify '{}' with '{shown}'.", if has_comma { ',' } else { '_' }));
        }
        if shown != 's' {
            let code = match u32::from(shown) {
                33..128 => shown.to_string(),
                code => format!("\\x{code:x}"),
            };
            return Err(format!("Unknown format code '{code}' for object of type 'str'"));
        }
        let refused = match sign {
            Some(' ') => Some("Space"),
            Some(_) => Some("Sign"),
            None if coerces_zero => Some("Negative zero coercion (z)"),
            None if is_alternate => Some("Alternate form (#)"),
            None if align == Some('=') => Some("'=' alignment"),
            None => None,
        };
        if let Some(refused) = refused {
            return Err(format!("{refused} not allowed in string format specifier"));
        }
        let width = width.unwrap_or(0);
        if width > WIDEST {
            return Err(format!("a width of more than {WIDEST} characters is not supported"));
        }
        Ok(StringFormat {
            fill: fill.unwrap_or(' '),
            align: align.unwrap_or('<'),
            width,
            precision: precision.unwrap_or(usize::MAX),
        })
    }

    /// The string laid out.
    pub(super) fn apply(&self, text: &str) -> String {
        let text: String = text.chars().take(self.precision).collect();
        let missing = self.width.saturating_sub(text.chars().count());
        let before = match self.align {
            '>' => missing,
            '^' => missing / 2,
            _ => 0,
        };
        let pad = |n: usize| std::iter::repeat_n(self.fill, n);
        pad(before).chain(text.chars()).chain(pad(missing - before)).collect()
    }
}

/// The number that a string begins with, and what follows.
fn number(text: &str) -> Result<(Option<usize>, &str), String> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() {
        return Ok((None, rest));
    }
    match digits.parse::<i64>().ok().and_then(|n| usize::try_from(n).ok()) {
        Some(n) => Ok((Some(n), rest)),
        None => Err("Too many decimal digits in format string".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::NameTemplate;

    #[test]
    fn one_placeholder_and_doubled_braces() {
        assert_eq!(NameTemplate("{group_name}").apply("x").unwrap(), "x");
        assert_eq!(NameTemplate("a_{group_name}_{group_name}").apply("x").unwrap(), "a_x_x");
        assert_eq!(NameTemplate("{{{group_name}}}").apply("{y}").unwrap(), "{{y}}");
        for broken in ["{", "}", "{other}", "{}", "{group_name", "{group_name2}", "{group_name >5}"] {
            assert!(NameTemplate(broken).apply("x").is_err(), "{broken}");
        }
    }

    // The right-hand sides were printed by Python 3.11.
    #[test]
    fn conversions_and_formats_are_those_of_python_strings() {
        for (inside, name) in [
            (":>6", "   law"),
            (":<6", "law   "),
            (":*^8", "**law***"),
            (":6", "law   "),
            (":.2", "la"),
            (":é^9.2s", "ééélaéééé"),
            (":08", "law00000"),
            (":>08", "00000law"),
            (":*>08", "*****law"),
            (":>>6", ">>>law"),
            (":0", "law"),
            (":", "law"),
            ("!r", "'law'"),
            ("!s:>5", "  law"),
            ("!r:08", "'law'000"),
            ("!a:_>7", "__'law'"),
        ] {
            let template = format!("{{group_name{inside}}}|");
            assert_eq!(NameTemplate(&template).apply("law"), Ok(format!("{name}|")), "{inside}");
        }
        assert_eq!(NameTemplate("{group_name!a}").apply("é😀'\n").unwrap(), r#""\xe9\U0001f600'\n""#);
        // Characters are counted, not bytes.
        assert_eq!(NameTemplate("{group_name:>3.1}").apply("éa").unwrap(), "  é");
    }

    // The problems too.
    #[test]
    fn what_a_string_cannot_take_is_refused_in_the_words_of_python() {
        for (inside, problem) in [
            (":d", "Unknown format code 'd' for object of type 'str'"),
            (":>6.2f", "Unknown format code 'f' for object of type 'str'"),
            (":+d", "Unknown format code 'd' for object of type 'str'"),
            (":8 ", "Unknown format code '\\x20' for object of type 'str'"),
            (":+", "Sign not allowed in string format specifier"),
            (": 8", "Space not allowed in string format specifier"),
            (":=8", "'=' alignment not allowed in string format specifier"),
            (":#", "Alternate form (#) not allowed in string format specifier"),
            (":z", "Negative zero coercion (z) not allowed in string format specifier"),
            (":,", "Cannot specify ',' with 's'."),
            (":_", "Cannot specify '_' with 's'."),
            (":,_", "Cannot specify both ',' and '_'."),
            (":.", "Format specifier missing precision"),
            (":ss", "Invalid format specifier 'ss' for object of type 'str'"),
            (":1_000", "Invalid format specifier '1_000' for object of type 'str'"),
            (":99999999999999999999", "Too many decimal digits in format string"),
            ("!x", "Unknown conversion specifier x"),
            ("!rr", "expected ':' after conversion specifier"),
        ] {
            let template = format!("{{group_name{inside}}}");
            let expected = format!("cannot be used, found {template:?}: {problem}");
            assert_eq!(NameTemplate(&template).apply("law"), Err(expected), "{inside}");
        }
        // Python would fill the memory.
        assert!(NameTemplate("{group_name:>1001}").apply("law").is_err());
    }
}
