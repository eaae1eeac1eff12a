//! Strings from anyone, in HTML and SVG.

use std::borrow::Cow;
use std::fmt::Write as _;

use maud::{Markup, html};

use crate::text::is_unsafe;

/// The text with control characters, and those that turn the direction of the text or show nothing, as what they are:
/// `‹U+202E›`. Markup may pass through it as a whole, as none of them has a meaning there.
///
/// ```
/// assert_eq!(errorbar_report::svg::visible("a\u{202e}b\n"), "a‹U+202E›b‹U+000A›");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        // Writing to a string does not fail.
        let _ =
            if is_unsafe(c) { write!(shown, "‹U+{:04X}›", u32::from(c)) } else { shown.write_char(c) };
    }
    Cow::Owned(shown)
}

/// The [visible] text for SVG that is not written by a template, in an element or in a quoted attribute.
///
/// ```
/// use errorbar_report::svg::escape;
///
/// assert_eq!(escape("<b a='x'>\"&"), "&lt;b a=&#39;x&#39;&gt;&quot;&amp;");
/// assert_eq!(escape("a\u{202e}b\n"), "a‹U+202E›b‹U+000A›");
/// ```
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A name with places where it may be broken if it is long: behind `/`, `_` and `:`.
pub fn breakable(text: &str) -> Markup {
    html! {
        @for (at, part) in text.split_inclusive(['/', '_', ':']).enumerate() {
            @if at > 0 { wbr; }
            (part)
        }
    }
}

/// The class of a name by its length, with a blank before it: a short name stays on its line, one of medium length has a
/// line of its own on a small screen, and a long one is broken where it has to be.
pub(crate) fn name_length(name: &str) -> &'static str {
    match name.chars().count() {
        ..=14 => "",
        15..=24 => " mid",
        _ => " long",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_markup_and_nothing_is_invisible() {
        for hostile in
            ["<script>alert(1)</script>", "\" onload=\"x", "' onload='x", "</svg><img src=x>", "&lt;b&gt;"]
        {
            let escaped = escape(hostile);
            assert!(!escaped.contains(['<', '>', '"', '\'']), "{escaped}");
        }
        assert_eq!(escape("&lt;"), "&amp;lt;", "what is escaped already is a text, too");
        assert_eq!(escape("\u{0}\u{1b}[31m\u{200b}\u{2066}"), "‹U+0000›‹U+001B›[31m‹U+200B›‹U+2066›");
        assert_eq!(escape("Größe 数学 😀"), "Größe 数学 😀");
    }

    #[test]
    fn long_names_break_behind_their_parts() {
        assert_eq!(breakable("openai/gpt_4/").0, "openai/<wbr>gpt_<wbr>4/");
        assert_eq!(breakable("<i>/x").0, "&lt;i&gt;/<wbr>x");
    }
}
