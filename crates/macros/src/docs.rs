//! Doc comments.

use syn::{Attribute, Expr, Lit, Meta};

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
