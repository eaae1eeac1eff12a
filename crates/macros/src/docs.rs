//! Doc comments, and their sections: `# Formula`, `# When`, `# Example`, `# See also`, `# Source`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Expr, Lit, Meta, Path};

/// Takes off the doc comments and returns their text.
pub(crate) fn take_docs(attrs: &mut Vec<Attribute>) -> String {
    let mut lines: Vec<String> = Vec::new();
    attrs.retain(|attr| {
        let Meta::NameValue(doc) = &attr.meta else { return true };
        let Expr::Lit(literal) = &doc.value else { return true };
        match &literal.lit {
            Lit::Str(text) if doc.path.is_ident("doc") => {
                let text = text.value();
                // The blank behind `///`. A text of several lines that another macro has read is without it, and its
                // indented lines stay as they are.
                let is_indented = text.split('\n').all(|line| line.is_empty() || line.starts_with(' '));
                let without = |line: &str| match is_indented {
                    true => line.strip_prefix(' ').unwrap_or(line).to_owned(),
                    false => line.to_owned(),
                };
                lines.extend(text.split('\n').map(without));
                false
            }
            _ => true,
        }
    });
    lines.join("\n").trim().to_owned()
}

/// The paragraphs before the first example or heading, each on one line: what lists and the reference page show.
pub(crate) fn prose(docs: &str) -> String {
    let paragraphs = docs.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty());
    let prose =
        paragraphs.take_while(|paragraph| !paragraph.starts_with("```") && !paragraph.starts_with('#'));
    prose.map(one_line).collect::<Vec<_>>().join("\n\n")
}

/// A paragraph on one line.
pub(crate) fn one_line(paragraph: &str) -> String {
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The sections of a doc comment; empty ones are absent.
#[derive(Default)]
pub(crate) struct Sections {
    formula: String,
    when: String,
    example: String,
    see_also: Vec<String>,
    source: String,
}

impl Sections {
    /// Those that the documentation has; other headings are skipped.
    pub(crate) fn of(docs: &str) -> Self {
        let mut sections = Sections::default();
        for (heading, lines) in split(docs) {
            match heading {
                "Formula" => sections.formula = without_fences(&lines),
                "When" => sections.when = paragraphs(&lines),
                "Example" => sections.example = console(&lines),
                "See also" => sections.see_also = quoted(&lines.join(" ")),
                "Source" => sections.source = paragraphs(&lines),
                _ => {}
            }
        }
        sections
    }

    /// The value of the type that core has for them.
    pub(crate) fn declaration(&self, krate: &Path) -> TokenStream {
        let Sections { formula, when, example, see_also, source } = self;
        quote! {
            #krate::registry::DocSections {
                formula: #formula,
                when: #when,
                example: #example,
                see_also: &[#(#see_also),*],
                source: #source,
            }
        }
    }
}

/// The headings of the first level outside of code, each with the lines below it.
fn split(docs: &str) -> Vec<(&str, Vec<&str>)> {
    let (mut sections, mut is_code): (Vec<(&str, Vec<&str>)>, bool) = (Vec::new(), false);
    for line in docs.lines() {
        is_code ^= line.starts_with("```");
        match line.strip_prefix("# ") {
            Some(heading) if !is_code => sections.push((heading.trim(), Vec::new())),
            _ => sections.last_mut().into_iter().for_each(|(_, lines)| lines.push(line)),
        }
    }
    sections
}

/// Lines as they are, but for the marks of code.
fn without_fences(lines: &[&str]) -> String {
    let kept: Vec<&str> = lines.iter().copied().filter(|line| !line.starts_with("```")).collect();
    kept.join("\n").trim_matches('\n').to_owned()
}

/// Paragraphs, each on one line.
fn paragraphs(lines: &[&str]) -> String {
    let text = lines.join("\n");
    let paragraphs = text.split("\n\n").map(one_line).filter(|paragraph| !paragraph.is_empty());
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

/// The first block of commands. Code in Rust is for readers of the source.
fn console(lines: &[&str]) -> String {
    let block = lines.iter().skip_while(|line| line.trim() != "```console").skip(1);
    block.take_while(|line| !line.starts_with("```")).copied().collect::<Vec<_>>().join("\n")
}

/// What stands in backticks.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_blank_behind_the_slashes_is_taken_off_once() {
        let mut attrs: Vec<Attribute> = vec![
            syn::parse_quote!(#[doc = " A mean."]),
            syn::parse_quote!(#[doc = ""]),
            syn::parse_quote!(#[doc = "   indented"]),
        ];
        let docs = take_docs(&mut attrs);
        assert_eq!(docs, "A mean.\n\n  indented");
        assert_eq!(take_docs(&mut vec![syn::parse_quote!(#[doc = #docs])]), docs);
    }
}

#[cfg(test)]
mod section_tests {
    use super::*;

    const DOCS: &str = "A mean.

```
let code = 1;
# let hidden = 2;
```

# Formula
```text
x̄ = Σx / n
s = …
```

# Errors
None.

# When
Often,
always.

Never.

# Example
```
accuracy();
```
```console
$ errorbar list

Metrics
```

# See also
`stderr`, `ci`

# Source
Somebody 1900.";

    #[test]
    fn sections_are_found_by_their_headings() {
        let sections = Sections::of(DOCS);
        assert_eq!(sections.formula, "x̄ = Σx / n\ns = …");
        assert_eq!(sections.when, "Often, always.\n\nNever.");
        assert_eq!(sections.example, "$ errorbar list\n\nMetrics");
        assert_eq!(sections.see_also, ["stderr", "ci"]);
        assert_eq!(sections.source, "Somebody 1900.");
    }

    #[test]
    fn what_is_absent_is_empty() {
        let sections = Sections::of("A mean.\n\n```\n# Formula\n```");
        assert_eq!(sections.formula, "");
        assert!(sections.see_also.is_empty());
    }
}
