//! Defaults: as Rust evaluates them, and as a spec would write them.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprCall, Lit, Token, UnOp};

use crate::argument::at;

type Items = Punctuated<Expr, Token![,]>;

/// Whether the default is `None`.
pub(crate) fn is_none(expr: &Expr) -> bool {
    matches!(peeled(expr), Expr::Path(path) if path.path.segments.last().is_some_and(|s| s.ident == "None"))
}

/// The default as an expression of the argument's type. Where the type is none of Rust's own
/// (`converts`), text becomes whatever can be made of text, and a list in brackets becomes a `Vec`.
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

/// The default as a spec would write it; what a spec has no notation for stays as it is in Rust.
pub(crate) fn text(expr: &Expr) -> String {
    spec_text(expr).unwrap_or_else(|| rust_text(expr))
}

fn spec_text(expr: &Expr) -> Option<String> {
    match peeled(expr) {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(int) => Some(int.base10_digits().to_owned()),
            Lit::Float(float) => Some(float.base10_digits().to_owned()),
            Lit::Bool(bool) => Some(bool.value.to_string()),
            Lit::Str(text) => Some(format!("{:?}", text.value())),
            _ => None,
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => {
            spec_text(&unary.expr).map(|text| format!("-{text}"))
        }
        Expr::Path(_) if is_none(expr) => Some("None".to_owned()),
        Expr::Array(array) => list(&array.elems),
        Expr::Macro(call) if call.mac.path.is_ident("vec") => {
            let items = Items::parse_terminated.parse2(call.mac.tokens.clone()).ok()?;
            list(&items)
        }
        Expr::MethodCall(call) if call.args.is_empty() => {
            let same = ["into", "to_owned", "to_string"].iter().any(|name| call.method == name);
            same.then(|| spec_text(&call.receiver)).flatten()
        }
        Expr::Call(call) => call_text(call),
        _ => None,
    }
}

/// Constructors that say nothing more than their argument, the default conversion, and functions
/// that have the name of what they build: `accuracy()`.
fn call_text(call: &ExprCall) -> Option<String> {
    let Expr::Path(function) = call.func.as_ref() else { return None };
    let mut names = function.path.segments.iter().rev().map(|segment| segment.ident.to_string());
    let name = names.next()?;
    let of = names.next().unwrap_or_default();
    let only = call.args.first().filter(|_| call.args.len() == 1);
    match (of.as_str(), name.as_str(), only) {
        ("String" | "Leaf" | "Vec", "from", Some(arg)) | ("Arc", "new", Some(arg)) => spec_text(arg),
        ("String", "new", None) => Some("\"\"".to_owned()),
        ("Vec", "new", None) => Some("[]".to_owned()),
        ("Conversion" | "ValueToFloat", "default", None) => Some("value_to_float()".to_owned()),
        _ if of.starts_with(char::is_uppercase) || name.starts_with(char::is_uppercase) => None,
        _ => {
            let args = call.args.iter().map(spec_text).collect::<Option<Vec<_>>>()?;
            Some(format!("{name}({})", args.join(", ")))
        }
    }
}

fn list(items: &Items) -> Option<String> {
    let items = items.iter().map(spec_text).collect::<Option<Vec<_>>>()?;
    Some(format!("[{}]", items.join(", ")))
}

fn rust_text(expr: &Expr) -> String {
    expr.to_token_stream().to_string().replace(" :: ", "::").replace(" . ", ".")
}

/// Without parentheses, and without the invisible ones of macros.
fn peeled(expr: &Expr) -> &Expr {
    match expr {
        Expr::Group(group) => peeled(&group.expr),
        Expr::Paren(paren) => peeled(&paren.expr),
        other => other,
    }
}
