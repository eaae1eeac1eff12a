//! Tables of the file: which keys they may have, and values of the kind that is wanted.

use std::borrow::Cow;
use std::ops::Range;

use errorbar_core::spec::{SpecError, nearest};
use errorbar_core::{Metadata, Registry};
use serde_json::Value as Json;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toml_parser::decoder::{Encoding, StringBuilder};
use toml_parser::{Raw, Span};

use super::mistake::Mistakes;
use super::{dataset, options};

/// A task file that is being read: its text, what its specs can name, and the mistakes found so far.
#[derive(Debug)]
pub(super) struct TaskFile<'d> {
    pub(super) text: &'d str,
    pub(super) registry: &'d Registry,
    pub(super) mistakes: Mistakes,
    /// How many samples of the dataset are wanted.
    pub(super) limit: Option<usize>,
    /// Whether only a log names the file.
    pub(super) is_of_log: bool,
}

/// A table of the file, its entries under the keys that it may have.
#[derive(Debug, Default)]
pub(super) struct TomlSection<'d> {
    fields: Vec<(&'static str, TomlField<'d>)>,
}

/// A key and its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct TomlField<'d> {
    pub(super) key: &'d Spanned<Cow<'d, str>>,
    pub(super) value: &'d Spanned<DeValue<'d>>,
    pub(super) file: &'d TaskFile<'d>,
}

/// Keys that a table may have.
pub(super) type Keys = &'static [&'static str];

/// The keys of the file itself.
pub(super) const TASK_KEYS: Keys = &[
    "name",
    "version",
    "args",
    "dataset",
    "few_shot",
    "solver",
    "scorer",
    "metrics",
    "epochs",
    "errors",
    "stop_when",
    "model",
    "generate",
    "fail_on_error",
    "time_limit",
    "headline",
    "metadata",
    "task",
];

/// The tables within the file that have their own keys.
const TABLES: &[(&str, Keys)] = &[
    ("dataset", dataset::KEYS),
    ("epochs", options::EPOCHS_KEYS),
    ("errors", options::ERRORS_KEYS),
    ("generate", options::GENERATE_KEYS),
    ("headline", options::HEADLINE_KEYS),
];

impl<'d> TomlSection<'d> {
    /// The file itself. Entries in which the text is no TOML are left out.
    pub(super) fn of_file(file: &'d TaskFile<'d>, table: &'d DeTable<'d>, broken: &[Range<usize>]) -> Self {
        let is_whole = |field: &TomlField<'d>| !broken.iter().any(|place| field.is_touched_by(place));
        let fields = fields(file, table).into_iter().filter(is_whole);
        let advice = |key: &str| {
            let (table, _) = TABLES.iter().find(|(_, keys)| keys.contains(&key))?;
            Some(format!("it is a key of the table `{table}`: {table} = {{ {key} = …, … }}"))
        };
        let mut section = TomlSection::with_known_keys(fields, TASK_KEYS, advice);

        // What follows a [header] belongs to its table, to the surprise of many. It is reported there, and checked
        // as what it was meant to be.
        for (table, keys) in TABLES {
            let inner = section.get(table).and_then(|field| field.as_table()).unwrap_or_default();
            for field in inner.into_iter().filter(|field| !keys.contains(&field.key())) {
                let meant = TASK_KEYS.iter().find(|key| **key == field.key());
                section
                    .fields
                    .extend(meant.filter(|key| section.get(key).is_none()).map(|key| (*key, field)));
            }
        }
        section
    }

    /// Reports the unknown keys. One that is nearly right is taken for what was probably meant, so that its value is
    /// checked too and the right one is not reported as missing.
    fn with_known_keys(
        fields: impl Iterator<Item = TomlField<'d>>,
        known: Keys,
        advice: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let mut section = TomlSection { fields: Vec::new() };
        let mut nearly = Vec::new();
        for field in fields {
            if let Some(key) = known.iter().find(|key| **key == field.key()) {
                section.fields.push((*key, field));
                continue;
            }
            let advice = advice(field.key());
            let near = nearest(field.key(), known.iter().copied()).filter(|_| advice.is_none());
            nearly.extend(near.map(|near| (near, field)));
            let hint =
                advice.or(did_you_mean(near)).unwrap_or_else(|| format!("keys are: {}", known.join(", ")));
            field.file.mistakes.add(field.key.span(), format!("unknown key `{}`", field.key()), Some(hint));
        }
        // Behind the others, so that the right one goes first if it is there too.
        section.fields.extend(nearly);
        section
    }

    pub(super) fn get(&self, key: &str) -> Option<TomlField<'d>> {
        self.fields.iter().find(|(known, _)| *known == key).map(|(_, field)| *field)
    }

    /// The string of a key, which must not be empty.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        Some(self.get(key)?.string()?.value.to_owned())
    }
}

/// The hint that names the nearest name, if there is one.
pub(super) fn did_you_mean(near: Option<&str>) -> Option<String> {
    near.map(|near| format!("did you mean `{near}`?"))
}

/// The entries of a table in the order of the file, whatever order the table keeps them in.
pub(super) fn fields<'d>(file: &'d TaskFile<'d>, table: &'d DeTable<'d>) -> Vec<TomlField<'d>> {
    let mut fields: Vec<TomlField<'d>> =
        table.iter().map(|(key, value)| TomlField { key, value, file }).collect();
    fields.sort_by_key(|field| field.key.span().start);
    fields
}

impl<'d> TomlField<'d> {
    /// Where the value stands; that of a table under a [header] is the header.
    pub(super) fn place(&self) -> Range<usize> {
        self.value.span()
    }

    pub(super) fn key(&self) -> &'d str {
        self.key.get_ref()
    }

    pub(super) fn value(&self) -> &'d DeValue<'d> {
        self.value.get_ref()
    }

    /// Reports a mistake in the value.
    pub(super) fn report(&self, message: impl Into<String>, hint: Option<String>) {
        self.file.mistakes.add(self.place(), message, hint);
    }

    /// Reports that something else is expected here, and returns `None`.
    pub(super) fn expected<T>(&self, wanted: &str) -> Option<T> {
        self.expected_with_hint(wanted, None)
    }

    pub(super) fn expected_with_hint<T>(&self, wanted: &str, hint: Option<String>) -> Option<T> {
        self.report(format!("`{}`: expected {wanted}, found {}", self.key(), found(self.value())), hint);
        None
    }

    /// The string, if it is one.
    pub(super) fn as_string(&self) -> Option<TomlString<'d>> {
        Some(TomlString { value: self.value().as_str()?, span: self.place(), file: self.file })
    }

    /// The items of a list, under the same key.
    pub(super) fn as_list(&self) -> Option<Vec<TomlField<'d>>> {
        let item = |value| TomlField { value, ..*self };
        Some(self.value().as_array()?.iter().map(item).collect())
    }

    /// The entries of a table, in order.
    pub(super) fn as_table(&self) -> Option<Vec<TomlField<'d>>> {
        Some(fields(self.file, self.value().as_table()?))
    }

    /// The table within the file, if it is one.
    pub(super) fn as_section(&self, keys: Keys) -> Option<TomlSection<'d>> {
        let advice = |key: &str| {
            let is_of_task = TASK_KEYS.contains(&key);
            is_of_task
                .then(|| format!("it is a key of the task and belongs above the table `{}`", self.key()))
        };
        Some(TomlSection::with_known_keys(self.as_table()?.into_iter(), keys, advice))
    }

    /// The table within the file without its keys that are read elsewhere.
    pub(super) fn as_section_beside(&self, keys: Keys, elsewhere: Keys) -> Option<TomlSection<'d>> {
        let own = self.as_table()?.into_iter().filter(|field| !elsewhere.contains(&field.key()));
        let advice = |key: &str| {
            let all = || keys.iter().chain(elsewhere).copied();
            match nearest(key, all()) {
                Some(near) if keys.contains(&near) => None,
                near => did_you_mean(near)
                    .or_else(|| Some(format!("keys are: {}", all().collect::<Vec<_>>().join(", ")))),
            }
        };
        Some(TomlSection::with_known_keys(own, keys, advice))
    }

    /// A table; `example` shows one.
    pub(super) fn section(&self, keys: Keys, example: &str) -> Option<TomlSection<'d>> {
        self.as_section(keys).or_else(|| self.expected(&format!("a table such as {example}")))
    }

    /// The values of a table in JSON, without those that are wrong: `is_good` reports them.
    pub(super) fn json_table(
        &self,
        keys: Keys,
        example: &str,
        is_good: impl Fn(&str, TomlField<'d>, &Json) -> bool,
    ) -> Option<Metadata> {
        let section = self.section(keys, example)?;
        let value = |key: &&str| {
            let field = section.get(key)?;
            let value = options::json(field).filter(|value| is_good(key, field, value))?;
            Some(((*key).to_owned(), value))
        };
        Some(keys.iter().filter_map(value).collect())
    }

    /// A string, which must not be empty.
    pub(super) fn string(&self) -> Option<TomlString<'d>> {
        let string = self.as_string().filter(|string| !string.value.is_empty());
        string.or_else(|| self.expected("a string in quotes"))
    }

    /// One string or a list of strings, none of them empty; `wanted` describes that in words. An item that is something
    /// else is reported and is `None`, so that the others can be looked at.
    pub(super) fn strings(&self, wanted: &str) -> Option<Vec<Option<TomlString<'d>>>> {
        if self.as_string().is_some() {
            return Some(vec![self.string()]);
        }
        let Some(items) = self.as_list() else { return self.expected(wanted) };
        Some(items.iter().map(TomlField::string).collect())
    }

    /// The values of [`strings`](Self::strings), if all of them are right.
    pub(super) fn texts(&self, wanted: &str) -> Option<Vec<String>> {
        all(self.strings(wanted)?.into_iter().map(|string| Some(string?.value.to_owned())))
    }

    /// All strings in the value, however deep in lists and tables.
    pub(super) fn strings_within(&self) -> Vec<TomlString<'d>> {
        let inner = self.as_list().or_else(|| self.as_table()).unwrap_or_default();
        self.as_string().into_iter().chain(inner.iter().flat_map(TomlField::strings_within)).collect()
    }

    /// What one of these names stands for.
    pub(super) fn one_of<T: Copy>(&self, known: &[(&'static str, T)], wanted: &str) -> Option<T> {
        let found = self.value().as_str();
        let named = known.iter().find(|(name, _)| Some(*name) == found).map(|(_, value)| *value);
        named.or_else(|| {
            let near = found.and_then(|found| nearest(found, known.iter().map(|(name, _)| *name)));
            self.expected_with_hint(wanted, did_you_mean(near))
        })
    }

    /// A whole number within the bounds; `wanted` describes them in words.
    pub(super) fn whole_number<T: TryFrom<i128> + PartialOrd>(&self, least: T, wanted: &str) -> Option<T> {
        let number = integer(self.value());
        let fitting = number.and_then(|number| T::try_from(number).ok()).filter(|number| *number >= least);
        let is_too_large = number.is_some_and(|number| number > 0);
        fitting
            .or_else(|| self.expected_with_hint(wanted, is_too_large.then(|| "it is too large".to_owned())))
    }

    /// Whether this place is within the entry, or right behind it.
    fn is_touched_by(&self, place: &Range<usize>) -> bool {
        is_touched(self.key.span().start, self.value, place)
    }
}

/// Whether this place is within an entry or an item that starts here. What stands under a [header] is not within the span
/// of its table, so all of it is looked at.
fn is_touched(start: usize, value: &Spanned<DeValue<'_>>, place: &Range<usize>) -> bool {
    let span = value.span();
    let is_within = start.min(span.start) <= place.end && place.start <= span.end;
    is_within
        || match value.get_ref() {
            DeValue::Table(table) => {
                table.iter().any(|(key, value)| is_touched(key.span().start, value, place))
            }
            DeValue::Array(items) => items.iter().any(|item| is_touched(item.span().start, item, place)),
            _ => false,
        }
}

/// All of them, or nothing; unlike `collect`, it continues after the first that is missing.
pub(super) fn all<T, C: FromIterator<T>>(items: impl Iterator<Item = Option<T>>) -> Option<C> {
    let items: Vec<Option<T>> = items.collect();
    items.into_iter().collect()
}

/// A whole number, as large as anything in the file can be meant to be.
pub(super) fn integer(value: &DeValue<'_>) -> Option<i128> {
    let integer = value.as_integer()?;
    i128::from_str_radix(integer.as_str(), integer.radix()).ok()
}

/// What stands there, in words.
pub(super) fn found(value: &DeValue<'_>) -> String {
    const SHOWN: usize = 40;
    match value {
        DeValue::String(text) if text.is_empty() => "an empty string".to_owned(),
        DeValue::String(text) if text.chars().count() > SHOWN => {
            format!("the string {:?}…", text.chars().take(SHOWN).collect::<String>())
        }
        DeValue::String(text) => format!("the string {text:?}"),
        DeValue::Integer(integer) => integer.to_string(),
        DeValue::Float(float) => float.to_string(),
        DeValue::Boolean(boolean) => boolean.to_string(),
        DeValue::Datetime(date) => format!("the date {date}"),
        DeValue::Array(items) if items.is_empty() => "an empty list".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// A string: its value, and where it is written.
#[derive(Clone, Debug)]
pub(super) struct TomlString<'d> {
    /// Its value, escape sequences resolved.
    pub(super) value: &'d str,
    /// Where it stands, quotes and all.
    pub(super) span: Range<usize>,
    pub(super) file: &'d TaskFile<'d>,
}

impl<'d> TomlString<'d> {
    /// Reports a mistake in a part of the value.
    pub(super) fn report(&self, part: Range<usize>, message: impl Into<String>, hint: Option<String>) {
        self.file.mistakes.add(self.place(part), message, hint);
    }

    /// Reports what is wrong with the value as a spec.
    pub(super) fn report_spec(&self, error: &SpecError) {
        let hint = error.hint().map(str::to_owned);
        self.report(error.span().unwrap_or(0..self.value.len()), error.kind().to_string(), hint);
    }

    /// Where in the file a part of the value stands; all of it, if that is not known.
    ///
    /// The place behind the last character is that of the closing quote.
    pub(super) fn place(&self, part: Range<usize>) -> Range<usize> {
        let raw = self.file.text.get(self.span.clone()).unwrap_or_default();
        let Some(part) = place_in(raw, self.value, part) else { return self.span.clone() };
        self.span.start + part.start..self.span.start + part.end
    }
}

/// Where a part of the value stands in the string as written.
fn place_in(raw: &str, value: &str, part: Range<usize>) -> Option<Range<usize>> {
    let quotes = [
        ("\"\"\"", Encoding::MlBasicString),
        ("'''", Encoding::MlLiteralString),
        ("\"", Encoding::BasicString),
        ("'", Encoding::LiteralString),
    ];
    let is_between =
        |quote: &str| raw.len() >= 2 * quote.len() && raw.starts_with(quote) && raw.ends_with(quote);
    let (quote, encoding) = quotes.into_iter().find(|(quote, _)| is_between(quote))?;
    let mut decoded = DecodedString { raw, value: String::new(), plain: Vec::new() };
    let mut error = None;
    let written = Raw::new_unchecked(raw, Some(encoding), Span::new_unchecked(0, raw.len()));
    let _ = written.decode_scalar(&mut decoded, &mut error);
    // Should it ever be decoded otherwise than the value was, no place is better than a wrong one.
    if error.is_some() || decoded.value != value {
        return None;
    }
    if part.start >= value.len() {
        let close = raw.len() - quote.len();
        return Some(close..close + 1);
    }
    value.get(part.start..)?;
    let start = decoded.start_of(part.start)?;
    let end = value.get(..part.end).and_then(|_| decoded.end_of(part.end));
    Some(start..end.filter(|end| *end >= start).unwrap_or(start))
}

/// A string that is being decoded, and which parts of it stay as they are written. Between them are escape sequences.
struct DecodedString<'r> {
    raw: &'r str,
    value: String,
    /// Their offsets in the value, and their places in what is written.
    plain: Vec<(usize, Range<usize>)>,
}

impl<'r> StringBuilder<'r> for DecodedString<'r> {
    fn clear(&mut self) {}

    fn push_str(&mut self, part: &'r str) -> bool {
        let start = part.as_ptr().addr() - self.raw.as_ptr().addr();
        self.plain.push((self.value.len(), start..start + part.len()));
        self.value.push_str(part);
        true
    }

    fn push_char(&mut self, c: char) -> bool {
        self.value.push(c);
        true
    }
}

impl DecodedString<'_> {
    /// Where the character at this offset starts.
    fn start_of(&self, offset: usize) -> Option<usize> {
        let within = |(at, place): &(usize, Range<usize>)| {
            (*at..*at + place.len()).contains(&offset).then(|| place.start + offset - at)
        };
        let before = || self.plain.iter().rfind(|(at, place)| at + place.len() == offset);
        self.plain.iter().find_map(within).or_else(|| Some(before()?.1.end))
    }

    /// Where the character before this offset ends.
    fn end_of(&self, offset: usize) -> Option<usize> {
        let within = |(at, place): &(usize, Range<usize>)| {
            (*at < offset && offset <= at + place.len()).then(|| place.start + offset - at)
        };
        let behind = || self.plain.iter().find(|(at, _)| *at == offset);
        self.plain.iter().find_map(within).or_else(|| Some(behind()?.1.start))
    }
}

#[cfg(test)]
mod text_tests {
    use errorbar_core::Registry;

    use super::super::mistake::Mistakes;
    use super::*;

    /// Where a part of a string of the file stands.
    fn place(text: &str, span: Range<usize>, value: &str, part: Range<usize>) -> Range<usize> {
        let registry = Registry::built_in();
        let file = TaskFile {
            text,
            registry: &registry,
            mistakes: Mistakes::default(),
            limit: None,
            is_of_log: false,
        };
        TomlString { value, span, file: &file }.place(part)
    }

    /// What stands in the file at the place of `wanted` in the string.
    fn written<'f>(file: &'f str, wanted: &str) -> &'f str {
        let table = toml::de::DeTable::parse(file).unwrap();
        let value = table.get_ref().get("a").unwrap();
        let decoded = value.get_ref().as_str().unwrap();
        let start = decoded.find(wanted).unwrap();
        &file[place(file, value.span(), decoded, start..start + wanted.len())]
    }

    #[test]
    fn every_kind_of_string() {
        assert_eq!(written(r#"a = "mean(x)""#, "x"), "x");
        assert_eq!(written("a = 'mean(x)'", "x"), "x");
        assert_eq!(written(r#"a = "é\t\u0061\U0001F600\x41 mean(x)""#, "mean"), "mean");
        assert_eq!(written(r#"a = "ab\u0063d""#, "bc"), r"b\u0063");
        assert_eq!(written(r#"a = "say(\"x\")""#, "\"x\""), r#"\"x\""#);
        assert_eq!(written(r"a = '\d\n'", r"\n"), r"\n");
        assert_eq!(written("a = \"\"\"\nmean(\n  x)\"\"\"", "x"), "x");
        assert_eq!(written("a = \"\"\"\r\nmean(\\\r\n\r\n  x)\"\"\"", "(x"), "(\\\r\n\r\n  x");
        assert_eq!(written("a = \"\"\"a \\  \n  \\\n x\"\"\"\"", "x\""), "x\"");
        assert_eq!(written("a = '''\r\nmean('x')\\\n'''", "x"), "x");
        assert_eq!(written("a = ''", ""), "'");
    }

    #[test]
    fn the_end_is_the_closing_quote() {
        let file = "a = \"\"\"mean(\"\"\"";
        let place = |part: Range<usize>| place(file, 4..file.len(), "mean(", part);
        assert_eq!(place(5..5), 12..13);
        assert_eq!(place(99..100), 12..13);
    }

    #[test]
    fn what_cannot_be_located_is_the_whole_string() {
        assert_eq!(place("a = \"x\\qy\"", 4..10, "x\\qy", 1..2), 4..10);
        assert_eq!(place("a = 'xy'", 4..8, "other", 1..2), 4..8);
        assert_eq!(place("a = xy", 4..6, "xy", 0..1), 4..6);
        assert_eq!(place("a = 'é'", 4..8, "é", 1..2), 4..8);
    }
}
