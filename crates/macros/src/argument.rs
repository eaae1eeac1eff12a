//! One argument of a function, which becomes a field of the struct that `#[derive(Params)]` reads.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::{Attribute, Error, Expr, Meta, Pat, PatType, Result, Token, Type};

use crate::default;
use crate::docs::take_docs;
use crate::options::is_literal;
use crate::types::inner;

/// An argument that specs pass.
pub(crate) struct Argument {
    pub(crate) ident: Ident,
    /// The name in specs and logs.
    pub(crate) name: String,
    /// The type as written.
    ty: Type,
    docs: String,
    default: ArgumentDefault,
}

/// What an argument is when it is not passed.
enum ArgumentDefault {
    /// It must be passed.
    Required,
    /// `None`: it is an `Option`.
    None,
    /// This expression.
    Expr(Box<Expr>),
}

impl Argument {
    /// Reads an argument and takes what is ours off it, so that the rest is plain Rust.
    pub(crate) fn take(typed: &mut PatType) -> Result<Self> {
        let ident = name_of(&typed.pat)?;
        let name = ident.unraw().to_string();
        if is_literal(&name) {
            let problem = format!("specs read `{name}` as a value; choose another name");
            return Err(Error::new(ident.span(), problem));
        }
        if let Type::Reference(reference) = typed.ty.as_ref() {
            let problem = "arguments are read from specs, so they own their value: `String`, `Vec<f64>`";
            return Err(Error::new_spanned(reference, problem));
        }
        if let Some(cfg) =
            typed.attrs.iter().find(|a| a.path().is_ident("cfg") || a.path().is_ident("cfg_attr"))
        {
            return Err(Error::new_spanned(cfg, "arguments cannot depend on `cfg`; put it on the function"));
        }
        let docs = take_docs(&mut typed.attrs);
        let written = take_default(&mut typed.attrs)?;
        let default = match (written, inner(&typed.ty, "Option")) {
            (None, None) => ArgumentDefault::Required,
            (None, Some(_)) => ArgumentDefault::None,
            (Some(expr), Some(_)) if default::is_none(&expr) => ArgumentDefault::None,
            (Some(expr), Some(of)) => {
                let of = quote!(#of);
                let problem = format!(
                    "an `Option` is `None` when it is not passed, and specs cannot pass `None`; for another default write `{name}: {of}`"
                );
                return Err(Error::new_spanned(expr, problem));
            }
            (Some(expr), None) => ArgumentDefault::Expr(Box::new(expr)),
        };
        Ok(Argument { ident, name, ty: typed.ty.as_ref().clone(), docs, default })
    }

    pub(crate) fn is_required(&self) -> bool {
        matches!(self.default, ArgumentDefault::Required)
    }

    /// The field that holds the argument.
    pub(crate) fn field(&self) -> TokenStream {
        let Argument { ident, ty, docs, .. } = self;
        let docs = (!docs.is_empty()).then(|| quote!(#[doc = #docs]));
        match &self.default {
            ArgumentDefault::Required | ArgumentDefault::None => quote!(#docs #ident: #ty),
            ArgumentDefault::Expr(expr) => {
                quote!(#docs #[param(default = #expr)] #ident: ::std::option::Option<#ty>)
            }
        }
    }

    /// What the function gets: what was passed, or the default. `holder` is the struct with the field.
    pub(crate) fn value(&self, holder: &TokenStream) -> TokenStream {
        let ident = &self.ident;
        match &self.default {
            ArgumentDefault::Required | ArgumentDefault::None => {
                quote!(::std::clone::Clone::clone(&#holder.#ident))
            }
            ArgumentDefault::Expr(_) => {
                let in_force = format_ident!("{}_or_default", self.name, span = ident.span());
                quote!(#holder.#in_force())
            }
        }
    }
}

fn name_of(pat: &Pat) -> Result<Ident> {
    match pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => Ok(pat.ident.clone()),
        other => Err(Error::new_spanned(
            other,
            "an argument needs a name, by which specs pass it; take the value apart in the body",
        )),
    }
}

fn take_default(attrs: &mut Vec<Attribute>) -> Result<Option<Expr>> {
    let mut found = None;
    for attr in attrs.extract_if(.., |attr| attr.path().is_ident("default")) {
        if found.is_some() {
            return Err(Error::new_spanned(attr, "an argument has one default"));
        }
        let expr = match &attr.meta {
            Meta::List(list) if !list.tokens.is_empty() => {
                let mut items = attr.parse_args_with(Punctuated::<Expr, Token![,]>::parse_terminated)?;
                if items.len() > 1 {
                    let problem =
                        "a default is one expression; a list stands in brackets: `#[default([1, 2])]`";
                    return Err(Error::new_spanned(items, problem));
                }
                items.pop()
            }
            _ => {
                let problem = "write the default in parentheses: `#[default(0.5)]`";
                return Err(Error::new_spanned(attr, problem));
            }
        };
        found = expr;
    }
    Ok(found)
}
