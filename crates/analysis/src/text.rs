//! What is said to people: words, and between them options that each surface spells its own way.

use std::fmt;

use crate::opt::{Opt, OptionUse, Surface};

/// A message whose options are data: no surface reads text that another one wrote.
///
/// ```
/// use errorbar_analysis::{Opt, Surface, text};
///
/// let hint = text!("name the column with {}, or add {}", Opt::IdColumn, Opt::Unpaired);
/// assert_eq!(hint.on(Surface::CommandLine), "name the column with --id-column, or add --unpaired");
/// assert_eq!(hint.on(Surface::Python), "name the column with id=, or add unpaired=True");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Text {
    parts: Vec<Part>,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Part {
    Words(String),
    Option(OptionUse),
    /// Between options that are given together.
    And,
}

impl Text {
    /// Fills the gaps `{}` of a template in order.
    #[doc(hidden)]
    pub fn fill<const N: usize>(template: &str, fillings: [Text; N]) -> Text {
        let mut fillings = fillings.into_iter();
        let mut text = Text::default();
        for (at, words) in template.split("{}").enumerate() {
            if at > 0 {
                text.extend(fillings.next().unwrap_or_default());
            }
            text.push_words(words);
        }
        debug_assert!(fillings.next().is_none(), "{template:?} has fewer gaps than fillings");
        text
    }

    /// Options that are given together.
    pub fn together(options: impl IntoIterator<Item = OptionUse>) -> Text {
        let mut parts = Vec::new();
        for option in options {
            parts.extend((!parts.is_empty()).then_some(Part::And));
            parts.push(Part::Option(option));
        }
        Text { parts }
    }

    /// The same with an option that is given together with the last one.
    #[must_use]
    pub(crate) fn with(mut self, option: OptionUse) -> Text {
        self.parts.extend([Part::And, Part::Option(option)]);
        self
    }

    /// The message as users of a surface read it.
    pub fn on(&self, surface: Surface) -> String {
        let text = |part: &Part| match part {
            Part::Words(words) => words.clone(),
            Part::Option(option) => option.on(surface),
            Part::And => if surface == Surface::CommandLine { " " } else { ", " }.to_owned(),
        };
        self.parts.iter().map(text).collect()
    }

    /// The same behind a subject: `logs/a.eval: no samples`.
    #[must_use]
    pub(crate) fn about(self, subject: Text) -> Text {
        let mut text = subject;
        text.push_words(": ");
        text.extend(self);
        text
    }

    /// Alternatives: `a or b`.
    pub(crate) fn join(texts: impl IntoIterator<Item = Text>, between: &str) -> Text {
        let mut joined = Text::default();
        for text in texts {
            if !joined.parts.is_empty() {
                joined.push_words(between);
            }
            joined.extend(text);
        }
        joined
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    fn push_words(&mut self, words: &str) {
        match self.parts.last_mut() {
            _ if words.is_empty() => {}
            Some(Part::Words(last)) => last.push_str(words),
            _ => self.parts.push(Part::Words(words.to_owned())),
        }
    }

    fn extend(&mut self, other: Text) {
        for part in other.parts {
            match part {
                Part::Words(words) => self.push_words(&words),
                part => self.parts.push(part),
            }
        }
    }
}

/// A message with options: `text!("omit {} or {}", Opt::Level, Opt::Alpha.number(0.05))`. What fills the gaps is an option,
/// a string, or another message.
#[macro_export]
macro_rules! text {
    ($template:literal $(, $filling:expr)* $(,)?) => {
        $crate::Text::fill($template, [$($crate::Text::from($filling)),*])
    };
}

impl From<OptionUse> for Text {
    fn from(option: OptionUse) -> Self {
        Text { parts: vec![Part::Option(option)] }
    }
}

impl From<Opt> for Text {
    fn from(option: Opt) -> Self {
        OptionUse::from(option).into()
    }
}

impl From<&str> for Text {
    fn from(words: &str) -> Self {
        let mut text = Text::default();
        text.push_words(words);
        text
    }
}

impl From<String> for Text {
    fn from(words: String) -> Self {
        Text::from(words.as_str())
    }
}

impl From<&String> for Text {
    fn from(words: &String) -> Self {
        Text::from(words.as_str())
    }
}

/// As on the command line.
impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.on(Surface::CommandLine))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_words_and_options() {
        let both = Text::together([Opt::Correct.set("P"), Opt::Incorrect.set("F")]);
        let hint = text!("say so: {}; or {}", both, "leave {} as it is");
        assert_eq!(hint.to_string(), "say so: --correct P --incorrect F; or leave {} as it is");
        assert_eq!(hint.on(Surface::Python), "say so: correct=\"P\", incorrect=\"F\"; or leave {} as it is");
        assert_eq!(hint.clone().about(Text::from(Opt::Scale)).to_string(), format!("--scale: {hint}"));
        let either = Text::join([Text::from(Opt::Level), Text::from("nothing")], " or ");
        assert_eq!((either.to_string().as_str(), Text::from("").is_empty()), ("--level or nothing", true));
    }
}
