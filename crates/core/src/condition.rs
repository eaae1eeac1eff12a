//! A condition on the metadata of a sample: which samples are shown, which ones a metric is over.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde_json::Value as Json;

use crate::metadata::{Metadata, number_of};

/// A condition on the metadata of a sample: `category=law`, `difficulty!=easy`, `tokens>=100`.
///
/// `a.b` is `b` in the map `a`. A list meets the condition if one of its items does; a sample without the key meets only
/// `!=`. Numbers are compared by value. `<`, `<=`, `>` and `>=` compare numbers, and with a string in quotes strings, by the
/// order of their characters: `date>='2025-06-01'`. Values of another kind do not meet the condition. Other quotes are left
/// out.
///
/// ```
/// use errorbar_core::{Condition, Metadata};
/// let condition: Condition = "category == 'law'".parse()?;
/// assert_eq!(condition.to_string(), "category=law");
/// let metadata: Metadata = [("category".to_owned(), "law".into())].into_iter().collect();
/// assert!(condition.matches(&metadata));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    key: String,
    relation: Relation,
    value: String,
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = text.char_indices().find_map(|(at, _)| {
            let (relation, length) = Relation::at_start_of(text.get(at..)?)?;
            Some((at, at + length, relation))
        });
        let (at, end, relation) =
            found.ok_or("expected KEY=VALUE or KEY!=VALUE, such as category=law; or KEY<NUMBER")?;
        let key = text.get(..at).unwrap_or_default().trim();
        let sign = text.get(at..end).unwrap_or_default();
        let typed = text.get(end..).unwrap_or_default().trim();
        let value = unquoted(typed);
        if key.is_empty() {
            return Err(format!("expected a key before `{sign}`, such as category=law"));
        }
        let is_quoted = value != typed;
        if relation.is_order() && !is_quoted && number(value).is_none() {
            return Err(format!(
                "`{sign}` compares numbers, found {value:?}; to compare strings by their characters, put it into quotes: \
                 {key}{sign}'{value}'"
            ));
        }
        Ok(Condition { key: key.to_owned(), relation, value: value.to_owned() })
    }
}

/// A value without the quotes around it.
fn unquoted(text: &str) -> &str {
    let within = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    within('\'').or_else(|| within('"')).unwrap_or(text)
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Condition { key, relation, value } = self;
        let sign = if *relation == Relation::Equal { "=" } else { relation.text() };
        match relation.is_order() && number(value).is_none() {
            true => write!(f, "{key}{sign}'{value}'"),
            false => write!(f, "{key}{sign}{value}"),
        }
    }
}

impl Condition {
    /// The metadata key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// What its value is compared with.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Whether it is about samples whose value is this one.
    pub fn is_equality(&self) -> bool {
        self.relation == Relation::Equal
    }

    /// Whether it is about samples that do not have this value.
    pub fn is_negated(&self) -> bool {
        self.relation == Relation::NotEqual
    }

    /// Whether the metadata of a sample meet the condition.
    pub fn matches(&self, metadata: &Metadata) -> bool {
        self.matches_value(self.lookup(metadata))
    }

    /// The value of the key, or of a key of a map within: `a.b`.
    pub fn lookup<'m>(&self, metadata: &'m Metadata) -> Option<&'m Json> {
        metadata.get(&self.key).or_else(|| {
            let (first, rest) = self.key.split_once('.')?;
            within(metadata.get(first)?, rest)
        })
    }

    /// Whether the value of the key meets the condition; none if the sample has no such key.
    pub fn matches_value(&self, found: Option<&Json>) -> bool {
        let is_met = match found {
            None => false,
            // Any item of a list will do.
            Some(Json::Array(items)) => items.iter().any(|item| self.compare(item)),
            Some(found) => self.compare(found),
        };
        is_met != self.is_negated()
    }

    /// Whether one value is as the condition has it; that it is equal, for a negated one.
    fn compare(&self, found: &Json) -> bool {
        if !self.relation.is_order() {
            return equals(found, &self.value);
        }
        let order = match number(&self.value) {
            Some(limit) => number_of(found).and_then(|found| found.partial_cmp(&limit)),
            None => found.as_str().map(|found| found.cmp(&self.value)),
        };
        order.is_some_and(|order| self.relation.holds_for(order))
    }
}

/// The number that a condition compares with, unless it is a string.
fn number(value: &str) -> Option<f64> {
    value.parse().ok().filter(|number: &f64| !number.is_nan())
}

/// The value under a path of keys of maps within each other.
pub(crate) fn within<'j>(json: &'j Json, path: &str) -> Option<&'j Json> {
    path.split('.').try_fold(json, |value, key| value.get(key))
}

/// Whether a value is the one of a condition: a string as it is, a number by its value.
fn equals(found: &Json, typed: &str) -> bool {
    match found {
        Json::String(text) => text == typed,
        Json::Number(number) => {
            number.to_string() == typed
                || typed.parse().is_ok_and(|typed: f64| number.as_f64() == Some(typed))
        }
        other => other.to_string().eq_ignore_ascii_case(typed),
    }
}

// How two values are compared.

/// How two values are compared: in requirements, in stopping rules, and in conditions on metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Relation {
    /// At least the number.
    AtLeast,
    /// At most the number.
    AtMost,
    /// Equal to the number.
    Equal,
    /// Not equal to the number.
    NotEqual,
    /// Above the number.
    Above,
    /// Below the number.
    Below,
}

impl Relation {
    /// The longer ones first: `>=` starts with `>`.
    const ALL: [Relation; 6] = [
        Relation::AtLeast,
        Relation::AtMost,
        Relation::Equal,
        Relation::NotEqual,
        Relation::Above,
        Relation::Below,
    ];

    /// As it is written.
    pub fn text(self) -> &'static str {
        match self {
            Relation::AtLeast => ">=",
            Relation::AtMost => "<=",
            Relation::Equal => "==",
            Relation::NotEqual => "!=",
            Relation::Above => ">",
            Relation::Below => "<",
        }
    }

    /// Whether it holds. Nothing holds for what is not a number.
    pub fn holds(self, figure: f64, limit: f64) -> bool {
        figure.partial_cmp(&limit).is_some_and(|order| self.holds_for(order))
    }

    /// The relation that a text begins with, and its length there. A single `=` is equality, too.
    pub fn at_start_of(text: &str) -> Option<(Self, usize)> {
        let found = Relation::ALL.into_iter().find(|relation| text.starts_with(relation.text()));
        let found = found.map(|relation| (relation, relation.text().len()));
        found.or_else(|| text.starts_with('=').then_some((Relation::Equal, 1)))
    }

    /// Whether it holds for values in this order.
    pub fn holds_for(self, order: Ordering) -> bool {
        match self {
            Relation::AtLeast => order.is_ge(),
            Relation::AtMost => order.is_le(),
            Relation::Equal => order.is_eq(),
            Relation::NotEqual => order.is_ne(),
            Relation::Above => order.is_gt(),
            Relation::Below => order.is_lt(),
        }
    }

    /// Whether it is about which value is greater.
    pub fn is_order(self) -> bool {
        !matches!(self, Relation::Equal | Relation::NotEqual)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn conditions_are_about_keys_and_values() {
        let metadata: Metadata = [
            ("category", json!("law")),
            ("passage", json!(7)),
            ("share", json!(1.0)),
            ("hard", json!(true)),
            ("tags", json!(["a", 2])),
            ("size", json!({"rows": 3})),
            ("a.b", json!("x=y")),
            ("year", json!("1999")),
            ("date", json!("2025-06-01")),
            ("none", Json::Null),
        ]
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
        let holds = |text: &str| text.parse::<Condition>().unwrap().matches(&metadata);
        for text in [
            "category=law",
            "category == 'law'",
            "category=\"law\"",
            "passage=7",
            "passage<8",
            "passage>=7",
            "passage <= 7.0",
            "year>1998",
            "share=1",
            "hard=true",
            "hard=True",
            "tags=2",
            "tags>1",
            "tags=a",
            "size.rows=3",
            "size.rows<4",
            "a.b=x=y",
            "none=null",
            "category!=history",
            "other!=x",
            " category = law",
            "date>='2025-06-01'",
            "date < '2025-10-01'",
            "category>\"Law\"",
        ] {
            assert!(holds(text), "{text}");
        }
        for text in [
            "category=la",
            "category!=law",
            "category<8",
            "passage=8",
            "passage<7",
            "passage>7",
            "tags=b",
            "size.cols=3",
            "other=x",
            "other<1",
            "size=3",
            "hard=1",
            "date>'2025-06-01'",
            "category<'Law'",
            "passage<'law'",
            "category<8",
            "none<'x'",
        ] {
            assert!(!holds(text), "{text}");
        }
        for text in ["category", "=law", "passage<x", ">3", ""] {
            assert!(text.parse::<Condition>().is_err(), "{text}");
        }
        assert_eq!("a!=b".parse::<Condition>().unwrap().to_string(), "a!=b");
        assert_eq!("a >= '2'".parse::<Condition>().unwrap().to_string(), "a>=2");
        // A string keeps its quotes, so that the text can be parsed again.
        let dated: Condition = "date >= \"2025-06-01\"".parse().unwrap();
        assert_eq!(dated.to_string(), "date>='2025-06-01'");
        assert_eq!(dated.to_string().parse(), Ok(dated));
        let unquoted = "date>=2025-06-01".parse::<Condition>().unwrap_err();
        assert!(unquoted.ends_with("put it into quotes: date>='2025-06-01'"), "{unquoted}");
    }
}
