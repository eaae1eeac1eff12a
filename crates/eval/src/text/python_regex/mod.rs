//! Regular expressions in the syntax of Python's `re`, rewritten for the engine that runs them.
//!
//! The two agree on most of it. What differs: `$` and `\Z`, the words that `\w`, `\s` and `\b` know, brackets
//! and operators inside a class, braces that are no repetition, octal and Unicode escapes, comments, and how
//! flags are given.

mod budget;
mod class;
mod compiled;

use std::iter::Peekable;
use std::str::Chars;

use super::space::is_word;
pub(crate) use budget::SearchBudget;
pub(crate) use compiled::PythonRegex;

/// The members of the sets that `\w`, `\s` and `\d` stand for.
struct Sets {
    word: &'static str,
    space: &'static str,
    digit: &'static str,
}

impl Sets {
    /// The members of the set that a letter stands for, and whether it stands for all others.
    fn find(&self, letter: char) -> Option<(&'static str, bool)> {
        let members = match letter.to_ascii_lowercase() {
            'd' => self.digit,
            'w' => self.word,
            's' => self.space,
            _ => return None,
        };
        Some((members, letter.is_ascii_uppercase()))
    }
}

/// Letters, digits of every kind and the underscore make a word (the engine's own `\w` also has combining
/// marks); blanks are white space and the four separators of ASCII.
const UNICODE: Sets = Sets { word: r"\p{L}\p{N}_", space: r"\s\x1c-\x1f", digit: r"\d" };
const ASCII: Sets = Sets { word: "0-9A-Za-z_", space: r"\t-\r\x20", digit: "0-9" };

/// An expression in the engine's syntax.
struct Translation {
    /// Means what Python means, on every text.
    exact: String,
    /// Means the same on plain text ([`is_plain`]), and needs no looking around for it, which is many times
    /// as fast; only where the two differ.
    on_plain_text: Option<String>,
}

/// Whether the engine and Python agree on where the words of a text end, and `$` can only mean its very end.
/// They disagree about marks, joiners and some numbers; these are the letters and signs without any, in which
/// most texts are written.
fn is_plain(text: &str) -> bool {
    let plain = |c: char| {
        c.is_ascii()
            || matches!(c,
                'À'..='ɏ' | 'Α'..='ҁ' | '‐'..='‧' | '€' | 'ぁ'..='ゖ' | 'ァ'..='ヺ' | '一'..='鿿' | '가'..='힣')
    };
    !text.ends_with('\n') && (text.is_ascii() || text.chars().all(plain))
}

/// The expression in the engine's syntax, or what is wrong with it.
fn translate(pattern: &str, ignore_case: bool) -> Result<Translation, String> {
    let exact = translate_for(pattern, ignore_case, false)?;
    let plain = translate_for(pattern, ignore_case, true)?;
    Ok(Translation { on_plain_text: (plain != exact).then_some(plain), exact })
}

fn translate_for(pattern: &str, ignore_case: bool, plain_text: bool) -> Result<String, String> {
    let mut flags = Flags { ignore_case, ..Flags::default() };
    let (given, rest) = global_flags(pattern)?;
    flags.apply(&given, true)?;
    let mut translator = Translator {
        chars: rest.chars().peekable(),
        out: String::new(),
        flags,
        open: Vec::new(),
        groups: 0,
        names: Vec::new(),
        plain_text,
    };
    translator.out.push_str(if flags.ignore_case { "(?i)" } else { "(?-i)" });
    translator.all()?;
    Ok(translator.out)
}

/// What is on at some place of an expression.
#[derive(Clone, Copy, Default)]
struct Flags {
    ignore_case: bool,
    multi_line: bool,
    dot_all: bool,
    verbose: bool,
    ascii: bool,
}

impl Flags {
    fn sets(self) -> Sets {
        if self.ascii { ASCII } else { UNICODE }
    }

    fn apply(&mut self, letters: &str, on: bool) -> Result<(), String> {
        for letter in letters.chars() {
            match letter {
                'i' => self.ignore_case = on,
                'm' => self.multi_line = on,
                's' => self.dot_all = on,
                'x' => self.verbose = on,
                'a' => self.ascii = on,
                'u' => self.ascii = false,
                _ => return Err(format!("unknown flag {letter:?}")),
            }
        }
        Ok(())
    }
}

/// The letters of groups such as `(?im)` at the very begin, and what follows them.
fn global_flags(mut pattern: &str) -> Result<(String, &str), String> {
    let mut letters = String::new();
    while let Some((given, rest)) = pattern.strip_prefix("(?").and_then(|flags| flags.split_once(')')) {
        if given.is_empty() || !given.bytes().all(|b| b.is_ascii_alphabetic()) {
            break;
        }
        letters.push_str(given);
        pattern = rest;
    }
    Ok((letters, pattern))
}

struct Translator<'a> {
    chars: Peekable<Chars<'a>>,
    out: String,
    flags: Flags,
    /// The flags to return to when each open group closes.
    open: Vec<Flags>,
    /// How many groups capture so far.
    groups: u32,
    /// The names of groups so far.
    names: Vec<String>,
    /// Only plain text will be searched.
    plain_text: bool,
}

impl Translator<'_> {
    fn all(&mut self) -> Result<(), String> {
        while let Some(c) = self.chars.next() {
            match c {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '(' => self.group()?,
                ')' => {
                    self.flags = self.open.pop().ok_or("a closing bracket without an opening one")?;
                    self.out.push(')');
                }
                '{' => self.brace()?,
                '}' => self.out.push_str(r"\}"),
                '.' => self.out.push_str(if self.flags.dot_all { "(?s:.)" } else { "." }),
                '^' => self.out.push_str(if self.flags.multi_line { "(?m:^)" } else { r"\A" }),
                '$' if self.flags.multi_line => self.out.push_str("(?m:$)"),
                // The end, or just before a line break that ends the text.
                '$' => self.out.push_str(if self.plain_text { r"\z" } else { r"(?=\n?\z)" }),
                _ if self.flags.verbose && c.is_ascii_whitespace() => {}
                '#' if self.flags.verbose => while self.chars.next().is_some_and(|c| c != '\n') {},
                '*' | '+' | '?' | '|' => self.out.push(c),
                _ => self.literal(c),
            }
        }
        match self.open.is_empty() {
            true => Ok(()),
            false => Err("an opening bracket without a closing one".to_owned()),
        }
    }

    /// A character that stands for itself.
    fn literal(&mut self, c: char) {
        self.out.push_str(&fancy_regex::escape(c.encode_utf8(&mut [0; 4])));
    }

    fn escape(&mut self) -> Result<(), String> {
        let sets = self.flags.sets();
        let c = self.chars.next().ok_or("a backslash at the end")?;
        if let Some((members, is_negated)) = sets.find(c) {
            self.out.push_str(&format!("[{}{members}]", if is_negated { "^" } else { "" }));
            return Ok(());
        }
        let word = sets.word;
        match c {
            'A' => self.out.push_str(r"\A"),
            'Z' => self.out.push_str(r"\z"),
            'b' | 'B' if self.plain_text && !self.flags.ascii => self.out.extend(['\\', c]),
            'b' => self.out.push_str(&format!("(?:(?<=[{word}])(?![{word}])|(?<![{word}])(?=[{word}]))")),
            'B' => self.out.push_str(&format!("(?:(?<=[{word}])(?=[{word}])|(?<![{word}])(?![{word}]))")),
            '1'..='9' => self.reference(c)?,
            _ => {
                let escaped = self.escaped_char(c)?;
                self.literal(escaped);
            }
        }
        Ok(())
    }

    /// A reference to a group, or a character in octal: `\1`, `\12`, `\101`.
    fn reference(&mut self, first: char) -> Result<(), String> {
        let ahead: Vec<char> = self.chars.clone().take(2).collect();
        let octal = |c: char| c.is_digit(8);
        if let [second, third] = *ahead.as_slice()
            && octal(first)
            && octal(second)
            && octal(third)
            && let Some(c) = from_digits(&[first, second, third], 8)
        {
            self.chars.by_ref().take(2).for_each(drop);
            self.literal(c);
            return Ok(());
        }
        let mut number = String::from(first);
        if let Some(second) = self.chars.next_if(char::is_ascii_digit) {
            number.push(second);
        }
        if number.parse::<u32>().is_ok_and(|number| number > self.groups) {
            return Err(format!("there is no group {number} before \\{number}"));
        }
        // In its own group, so that a digit behind it is not read as part of it.
        self.out.push_str(&format!("(?:\\{number})"));
        Ok(())
    }

    /// The one character that an escape stands for.
    fn escaped_char(&mut self, c: char) -> Result<char, String> {
        Ok(match c {
            'a' => '\x07',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0b',
            'x' => self.hex(2)?,
            'u' => self.hex(4)?,
            'U' => self.hex(8)?,
            '0' => self.octal('0').unwrap_or('\0'),
            _ if c.is_ascii_alphanumeric() => return Err(format!("invalid escape sequence \\{c}")),
            _ => c,
        })
    }

    /// The character of up to three octal digits, the first of which is read.
    fn octal(&mut self, first: char) -> Option<char> {
        let more = std::iter::from_fn(|| self.chars.next_if(|c| c.is_digit(8))).take(2);
        from_digits(&std::iter::once(first).chain(more).collect::<Vec<_>>(), 8)
    }

    fn hex(&mut self, length: usize) -> Result<char, String> {
        let digits: Vec<char> = self.chars.by_ref().take(length).collect();
        let whole = digits.len() == length;
        from_digits(&digits, 16)
            .filter(|_| whole)
            .ok_or_else(|| format!("an escape that wants {length} hexadecimal digits"))
    }

    /// A repetition such as `{2,5}`, or a brace that stands for itself.
    fn brace(&mut self) -> Result<(), String> {
        let mut ahead = self.chars.clone();
        let inside: String = ahead.by_ref().take_while(|c| *c != '}').collect();
        let closed = self.chars.clone().nth(inside.chars().count()) == Some('}');
        let is_count = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        let bounds = match inside.split_once(',') {
            Some((low, high)) if is_count(low) && is_count(high) => {
                let low = if low.is_empty() { "0" } else { low };
                let most = if high.is_empty() { Ok(u32::MAX) } else { high.parse::<u32>() };
                if low.parse::<u32>().ok() > most.ok() {
                    return Err(format!("the repetition {{{inside}}} has a minimum above its maximum"));
                }
                Some(format!("{low},{high}"))
            }
            None if is_count(&inside) && !inside.is_empty() => Some(inside.clone()),
            _ => None,
        };
        match bounds.filter(|_| closed) {
            Some(bounds) => {
                self.out.push_str(&format!("{{{bounds}}}"));
                self.chars = ahead;
            }
            None => self.out.push_str(r"\{"),
        }
        Ok(())
    }

    /// An opening bracket, with what determines the kind of group.
    fn group(&mut self) -> Result<(), String> {
        if self.chars.next_if_eq(&'?').is_none() {
            self.out.push('(');
            self.groups += 1;
            self.open.push(self.flags);
            return Ok(());
        }
        let kind = self.chars.next().ok_or("a group that ends after its question mark")?;
        match kind {
            '#' => {
                if !self.chars.by_ref().any(|c| c == ')') {
                    return Err("a comment that does not end".to_owned());
                }
                return Ok(());
            }
            'P' => match self.chars.next() {
                Some('<') => {
                    let name = self.new_name()?;
                    self.out.push_str(&format!("(?P<{name}>"));
                    self.names.push(name);
                    self.groups += 1;
                }
                Some('=') => {
                    let name = self.until(')')?;
                    if !self.names.contains(&name) {
                        return Err(format!("there is no group {name:?} before (?P={name})"));
                    }
                    self.out.push_str(&format!("(?P={name})"));
                    return Ok(());
                }
                _ => return Err("a group that begins with (?P and is no name".to_owned()),
            },
            '(' => {
                let group = self.until(')')?;
                self.out.push_str(&format!("(?({group})"));
            }
            ':' | '=' | '!' | '>' => self.out.push_str(&format!("(?{kind}")),
            '<' => {
                match self.chars.next_if(|c| matches!(c, '=' | '!')) {
                    Some(side) => self.out.push_str(&format!("(?<{side}")),
                    None => return Err(
                        "a group that begins with (?< and looks at nothing; names are written (?P<name>…)"
                            .to_owned(),
                    ),
                }
            }
            _ => return self.scoped_flags(kind),
        }
        self.open.push(self.flags);
        Ok(())
    }

    /// Flags for one group: `(?i:…)`, `(?s-i:…)`.
    fn scoped_flags(&mut self, first: char) -> Result<(), String> {
        let mut letters = String::from(first);
        while let Some(c) = self.chars.next_if(|c| c.is_ascii_alphabetic() || *c == '-') {
            letters.push(c);
        }
        if self.chars.next_if_eq(&':').is_none() {
            return Err(match self.chars.peek() {
                Some(')') => "flags for the whole expression must stand at its begin".to_owned(),
                _ => format!("a group that begins with (?{letters}"),
            });
        }
        self.open.push(self.flags);
        let (on, off) = letters.split_once('-').unwrap_or((letters.as_str(), ""));
        self.flags.apply(on, true)?;
        self.flags.apply(off, false)?;
        self.out.push_str(if self.flags.ignore_case { "(?i:" } else { "(?-i:" });
        Ok(())
    }

    /// A name for a group: one word, not a number, and not given before.
    fn new_name(&mut self) -> Result<String, String> {
        let name = self.until('>')?;
        let is_word = name.starts_with(|c: char| c == '_' || c.is_alphabetic()) && name.chars().all(is_word);
        match is_word {
            false => Err(format!("{name:?} cannot be the name of a group")),
            true if self.names.contains(&name) => Err(format!("two groups are named {name:?}")),
            true => Ok(name),
        }
    }

    /// The name before this character.
    fn until(&mut self, end: char) -> Result<String, String> {
        let rest: String = self.chars.clone().collect();
        let (name, _) = rest.split_once(end).ok_or_else(|| format!("a group without its {end:?}"))?;
        self.chars.nth(name.chars().count());
        Ok(name.to_owned())
    }
}

fn from_digits(digits: &[char], radix: u32) -> Option<char> {
    let value =
        digits.iter().try_fold(0_u32, |n, c| n.checked_mul(radix)?.checked_add(c.to_digit(radix)?))?;
    char::from_u32(value)
}
