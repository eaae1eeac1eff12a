//! One argument that specs pass: its type, its default, how the builder takes it and how an entry reads it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Error, Expr, GenericArgument, Meta, Pat, PatType, Path, PathArguments, Result, Token, Type,
};

use crate::default;
use crate::entry::args;
use crate::function::take_docs;
use crate::options::is_literal;

/// An argument that specs pass.
pub(crate) struct Argument {
    pub(crate) ident: Ident,
    /// The name in specs and logs.
    pub(crate) name: String,
    /// The type as written.
    pub(crate) ty: Type,
    pub(crate) docs: String,
    pub(crate) default: Fallback,
}

/// What an argument is when it is not passed.
pub(crate) enum Fallback {
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
            (None, None) => Fallback::Required,
            (None, Some(_)) => Fallback::None,
            (Some(expr), Some(_)) if default::is_none(&expr) => Fallback::None,
            (Some(expr), Some(of)) => {
                let of = quote!(#of);
                let problem = format!(
                    "an `Option` is `None` when it is not passed, and specs cannot pass `None`; for another default write `{name}: {of}`"
                );
                return Err(Error::new_spanned(expr, problem));
            }
            (Some(expr), None) => Fallback::Expr(Box::new(expr)),
        };
        Ok(Argument { ident, name, ty: typed.ty.as_ref().clone(), docs, default })
    }

    pub(crate) fn is_required(&self) -> bool {
        matches!(self.default, Fallback::Required)
    }

    /// The type of what is passed: for an `Option<T>`, a `T`.
    pub(crate) fn passed_type(&self) -> &Type {
        inner(&self.ty, "Option").unwrap_or(&self.ty)
    }

    /// The type of the builder's field.
    pub(crate) fn field_type(&self) -> TokenStream {
        let ty = self.passed_type();
        if self.is_required() { quote!(#ty) } else { quote!(::std::option::Option<#ty>) }
    }

    /// The default as a spec would write it.
    pub(crate) fn default_text(&self) -> Option<String> {
        match &self.default {
            Fallback::Required => None,
            Fallback::None => Some("None".to_owned()),
            Fallback::Expr(expr) => Some(default::text(expr)),
        }
    }

    /// The type of the parameter by which Rust passes the argument, and the conversion to the field.
    ///
    /// `impl Into<T>` wherever it helps. For integers it would hurt: a literal would become an `i32`,
    /// which is not `Into<u64>`.
    pub(crate) fn parameter(&self) -> (TokenStream, TokenStream) {
        let ident = &self.ident;
        let ty = self.passed_type();
        if is_exact(ty) {
            return (quote!(#ty), quote!(#ident));
        }
        if is_metric(ty) {
            return (quote!(impl ::errorbar::Metric + 'static), quote!(::std::sync::Arc::new(#ident)));
        }
        let iter = quote!(::std::iter::IntoIterator::into_iter(#ident));
        match inner(ty, "Vec") {
            Some(item) if is_exact(item) => {
                let list = quote!(impl ::std::iter::IntoIterator<Item = #item>);
                (list, quote!(::std::iter::Iterator::collect(#iter)))
            }
            Some(item) if !is_metric(item) && inner(item, "Option").is_none() => {
                let list = quote!(impl ::std::iter::IntoIterator<Item = impl ::std::convert::Into<#item>>);
                let items = quote!(::std::iter::Iterator::map(#iter, ::std::convert::Into::into));
                (list, quote!(::std::iter::Iterator::collect(#items)))
            }
            _ => (quote!(impl ::std::convert::Into<#ty>), quote!(::std::convert::Into::into(#ident))),
        }
    }

    /// A `let` of the value that the function gets, of what was passed or the default. `passed` is an
    /// expression of the field's type. The variable cannot be seen by what the user wrote.
    pub(crate) fn bind(&self, passed: &TokenStream) -> TokenStream {
        let (local, ty) = (self.local(), &self.ty);
        let value = Ident::new("passed", Span::mixed_site());
        let fallback = Ident::new("fallback", Span::mixed_site());
        match &self.default {
            Fallback::Required | Fallback::None => quote!(let #local: #ty = #passed;),
            Fallback::Expr(expr) => {
                let default = default::value(expr, !is_exact(ty) && !is_f64(ty));
                quote! {
                    let #local: #ty = match #passed {
                        ::std::option::Option::Some(#value) => #value,
                        ::std::option::Option::None => {
                            let #fallback: #ty = #default;
                            #fallback
                        }
                    };
                }
            }
        }
    }

    /// The variable of [`Argument::bind`], of another name than any other variable of generated code.
    pub(crate) fn local(&self) -> Ident {
        Ident::new(&format!("arg_{}", self.name), at(&self.ident))
    }

    /// The expression that reads the argument from those of an entry; of the field's type.
    pub(crate) fn read(&self) -> TokenStream {
        let (args, name, ty) = (args(), &self.name, self.passed_type());
        let get = if self.is_required() { quote!(required) } else { quote!(get) };
        quote!(#args.#get::<#ty>(#name)?)
    }

    /// The function that writes the argument; rustc points at the type if there is none.
    pub(crate) fn to_arg(&self) -> TokenStream {
        let ty = self.passed_type();
        quote_spanned!(at(ty)=> <#ty as ::errorbar::ArgType>::to_arg)
    }
}

/// Where rustc and Clippy find something that was generated because of `tokens`: they point at what
/// the user wrote, and know that it is not what the user wrote.
pub(crate) fn at(tokens: &impl Spanned) -> Span {
    Span::mixed_site().located_at(tokens.span())
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

/// A type as a path, whatever macro it came through.
fn as_path(ty: &Type) -> Option<&Path> {
    match ty {
        Type::Path(path) if path.qself.is_none() => Some(&path.path),
        Type::Group(group) => as_path(&group.elem),
        Type::Paren(paren) => as_path(&paren.elem),
        _ => None,
    }
}

/// The `T` of `Option<T>`, `std::option::Option<T>` and the like.
fn inner<'t>(ty: &'t Type, outer: &str) -> Option<&'t Type> {
    let segment = as_path(ty)?.segments.last()?;
    match &segment.arguments {
        PathArguments::AngleBracketed(generics) if segment.ident == outer && generics.args.len() == 1 => {
            match generics.args.first()? {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            }
        }
        _ => None,
    }
}

/// A type that parameters name as it is.
fn is_exact(ty: &Type) -> bool {
    const EXACT: [&str; 5] = ["bool", "i64", "u32", "u64", "usize"];
    as_path(ty).and_then(Path::get_ident).is_some_and(|ident| EXACT.iter().any(|exact| ident == exact))
}

fn is_f64(ty: &Type) -> bool {
    as_path(ty).is_some_and(|path| path.is_ident("f64"))
}

/// `Arc<dyn Metric>`
fn is_metric(ty: &Type) -> bool {
    let Some(Type::TraitObject(object)) = inner(ty, "Arc") else { return false };
    object.bounds.iter().any(|bound| match bound {
        syn::TypeParamBound::Trait(bound) => {
            bound.path.segments.last().is_some_and(|segment| segment.ident == "Metric")
        }
        _ => false,
    })
}
