//! Format specifications as Python has them for strings: `[[fill]align][0][width][.precision][s]`.

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
