//! Strings with `{names}` to be filled in.

use std::borrow::Cow;
use std::convert::Infallible;
use std::ops::Range;

use errorbar_core::python_text::json_text;
use errorbar_core::{Error, Metadata, Result};
use serde_json::Value as Json;

/// The longest string that a template gives, about.
const LONGEST: usize = 8 << 20;

/// A text with fields in braces, taken apart. `{{` and `}}` stand for the braces themselves.
///
/// The one parser of braces in this crate: prompts (names), graders (the fields of Python's `str.format`) and datasets
/// (expressions) differ in what stands in the braces, and in what they do with braces that are no field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ParsedTemplate<F>(Vec<TemplatePiece<F>>);

/// A piece of a template.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TemplatePiece<F> {
    /// Text that stays.
    Text(String),
    /// What stood in braces.
    Field(F),
}

/// Braces in a template.
pub(crate) enum Braces<'t> {
    /// What stands in them, and where in the template that is.
    Pair(&'t str, Range<usize>),
    /// A brace without its partner: the rest of the template from it on, and where it is.
    Alone(&'t str, usize),
}

/// Where braces end whose inside starts here, if they hold no braces themselves.
pub(crate) fn closing_brace(inside: &str) -> Option<usize> {
    inside.find('}')
}

impl<F> ParsedTemplate<F> {
    /// Takes a template apart. Braces that are read as nothing stay as they are, and there may be fields within them.
    ///
    /// # Errors
    /// What is refused of the braces.
    pub(crate) fn parse<E>(
        template: &str,
        end: fn(&str) -> Option<usize>,
        mut read: impl FnMut(Braces<'_>) -> Result<Option<F>, E>,
    ) -> Result<Self, E> {
        let (mut pieces, mut text, mut at) = (Vec::new(), String::new(), 0);
        let rest = |at: usize| template.get(at..).unwrap_or_default();
        while let Some(before) = rest(at).find(['{', '}']) {
            text.push_str(rest(at).get(..before).unwrap_or_default());
            at += before;
            let brace = rest(at).get(..1).unwrap_or_default();
            if rest(at + 1).starts_with(brace) {
                text.push_str(brace);
                at += 2;
                continue;
            }
            let inside = if brace == "{" { at + 1..template.len() } else { at..at };
            let length = end(template.get(inside.clone()).unwrap_or_default());
            let place = inside.start..inside.start + length.unwrap_or_default();
            let field = match length {
                None => read(Braces::Alone(rest(at), at))?,
                Some(_) => {
                    read(Braces::Pair(template.get(place.clone()).unwrap_or_default(), place.clone()))?
                }
            };
            if let Some(field) = field {
                pieces.push(TemplatePiece::Text(std::mem::take(&mut text)));
                pieces.push(TemplatePiece::Field(field));
                at = place.end + 1;
                continue;
            }
            text.push_str(brace);
            at += 1;
        }
        text.push_str(rest(at));
        pieces.push(TemplatePiece::Text(text));
        Ok(ParsedTemplate(pieces))
    }

    /// The pieces, in order.
    pub(crate) fn into_pieces(self) -> Vec<TemplatePiece<F>> {
        self.0
    }

    /// The fields, in order.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &F> {
        self.0.iter().filter_map(|piece| match piece {
            TemplatePiece::Text(_) => None,
            TemplatePiece::Field(field) => Some(field),
        })
    }

    /// The text with every field filled in; the function gets the text before the field. What is filled in is not looked at again: a question may contain braces
    /// itself (code, JSON, LaTeX).
    ///
    /// # Errors
    /// What the function refuses.
    pub(crate) fn fill<'f, T: AsRef<str>>(
        &'f self,
        text_of: impl Fn(&'f F, &str) -> Result<T>,
    ) -> Result<String> {
        let mut out = String::new();
        for piece in &self.0 {
            match piece {
                TemplatePiece::Text(text) => out.push_str(text),
                TemplatePiece::Field(field) => {
                    let text = text_of(field, &out)?;
                    out.push_str(text.as_ref());
                }
            }
        }
        Ok(out)
    }
}

/// Fills in the names that are known; what is not a known name in braces stays as it is.
///
/// # Errors
/// A string longer than any prompt: a template that names the prompt twice doubles it, and so does the next.
pub(crate) fn fill<'t>(template: &str, known: impl Fn(&str) -> Option<Cow<'t, str>>) -> Result<String> {
    let read = |braces: Braces<'_>| match braces {
        Braces::Pair(name, _) => Ok::<_, Infallible>(known(name)),
        Braces::Alone(..) => Ok(None),
    };
    let Ok(parsed) = ParsedTemplate::parse(template, closing_brace, read);
    parsed.fill(|text, before| match before.len() > LONGEST {
        true => Err(Error::custom(format!(
            "the template gives a string of more than {} MB; fill in less",
            LONGEST >> 20
        ))),
        false => Ok(text),
    })
}

/// The names in braces that [`fill`] would look up and that are meant as such, as far as one can tell: words, and not
/// in braces of LaTeX or of a shell, which follow a letter, a sign or other such braces: `\frac{a}{b}`, `x_{i}`, `${x}`.
pub(crate) fn placeholders(template: &str) -> Vec<&str> {
    // Whether the last braces with a word are those of LaTeX or of a shell.
    let mut is_other = false;
    let read = |braces: Braces<'_>| -> Result<Option<Option<&str>>, Infallible> {
        let Braces::Pair(name, place) = braces else { return Ok(None) };
        if !is_word(name) {
            return Ok(None);
        }
        let before = template.get(..place.start - 1).and_then(|before| before.chars().next_back());
        let follows = |c: char| c.is_alphanumeric() || "_^\\$#&%@".contains(c);
        is_other = before.is_some_and(follows) || (before == Some('}') && is_other);
        Ok(Some(template.get(place).filter(|_| !is_other)))
    };
    let Ok(parsed) = ParsedTemplate::parse(template, closing_brace, read);
    parsed.fields().copied().flatten().collect()
}

fn is_word(name: &str) -> bool {
    let mut chars = name.chars();
    let starts = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    starts && chars.all(|c| c.is_alphanumeric() || c == '_')
}

/// A value of metadata or of the store as a string in a prompt.
pub(crate) fn text_of(value: &Json) -> Cow<'_, str> {
    match value {
        Json::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(json_text(other)),
    }
}

/// The first of these maps that has the name.
pub(crate) fn lookup<'m, const N: usize>(name: &str, maps: [&'m Metadata; N]) -> Option<Cow<'m, str>> {
    maps.into_iter().find_map(|map| map.get(name)).map(text_of)
}

/// The same for templates in which a name without a value stays as it is: null is none.
pub(crate) fn lookup_set<'m, const N: usize>(name: &str, maps: [&'m Metadata; N]) -> Option<Cow<'m, str>> {
    maps.into_iter().find_map(|map| map.get(name)).filter(|value| !value.is_null()).map(text_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(template: &str) -> String {
        fill(template, |name| match name {
            "prompt" => Some(Cow::Borrowed("{prompt} {category}")),
            "category" => Some(Cow::Borrowed("physics")),
            _ => None,
        })
        .unwrap()
    }

    #[test]
    fn a_filled_template_has_a_limit() {
        let long = "x".repeat(LONGEST / 2);
        let known = |_: &str| Some(Cow::Borrowed(long.as_str()));
        assert!(fill("{a}{a}", known).is_ok());
        let problem = "the template gives a string of more than 8 MB; fill in less";
        assert_eq!(fill("{a}{a}{a}{a}", known), Err(Error::custom(problem)));
    }

    #[test]
    fn placeholders_are_words_in_braces() {
        assert_eq!(placeholders("{a}{b_1}: {c}. ({d}) \"{e}\""), ["a", "b_1", "c", "d", "e"]);
        assert_eq!(placeholders("{{a}} {{{b}}} {} {1} { c } {d e} {f:.2f} {g[h]} {"), ["b"]);
        assert_eq!(placeholders(r"\boxed{a} \frac{b}{c} x_{i} e^{k} ${home}{d} {e}"), ["e"]);
        assert_eq!(placeholders(r#"{"key": {value}} ü{ä}"#), ["value"]);
    }

    #[test]
    fn known_names_are_filled_in_once() {
        assert_eq!(filled("[{category}] {prompt}"), "[physics] {prompt} {category}");
    }

    #[test]
    fn other_braces_stay() {
        assert_eq!(filled("{unknown} {} { x } {category"), "{unknown} {} { x } {category");
        assert_eq!(filled(r#"{{"a": {category}}}"#), r#"{"a": physics}"#);
        assert_eq!(filled(r"\frac{1}{2} ünï"), r"\frac{1}{2} ünï");
    }
}
