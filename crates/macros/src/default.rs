//! Defaults, as Rust evaluates them. How a spec writes one is known when the registry is built: of the value.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Expr, Lit};

use crate::at;

/// Whether the default is `None`.
pub(crate) fn is_none(expr: &Expr) -> bool {
    matches!(peeled(expr), Expr::Path(path) if path.path.segments.last().is_some_and(|s| s.ident == "None"))
}

/// The default as an expression of the argument's type. Where the type is none of Rust's own
/// (`converts`), a string becomes whatever can be made of one, and a list in brackets becomes a `Vec`.
pub(crate) fn value(expr: &Expr, converts: bool) -> TokenStream {
    match peeled(expr) {
        Expr::Lit(literal) if converts && matches!(literal.lit, Lit::Str(_)) => {
            quote_spanned!(at(expr)=> ::std::convert::Into::into(#literal))
        }
        Expr::Array(array) if converts => {
            let items = array.elems.iter().map(|item| value(item, true));
            quote_spanned!(at(expr)=> ::std::vec![#(#items),*])
        }
        _ => quote!(#expr),
    }
}

/// Without parentheses, and without the invisible ones of macros.
pub(crate) fn peeled(expr: &Expr) -> &Expr {
    match expr {
        Expr::Group(group) => peeled(&group.expr),
        Expr::Paren(paren) => peeled(&paren.expr),
        other => other,
    }
}
