//! The function that the attribute stands on, taken apart and checked.

use std::fmt;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Error, Expr, FnArg, Item, ItemFn, Meta, Pat, PatType, PathArguments, Result, ReturnType,
    Safety, Signature, Token, Type, parse_quote,
};

use crate::docs::take_docs;
use crate::options::is_literal;
use crate::params::{inner, is_none};

/// What an attribute is for: how its functions look, and how messages name it.
#[derive(Clone, Copy)]
pub(crate) struct FunctionKind {
    /// `metric`, `scorer`, …
    pub(crate) name: &'static str,
    /// What the function gets before the arguments that specs pass.
    pub(crate) leading: &'static [LeadingArgument],
    /// The type to return as it should be written.
    pub(crate) returns: &'static str,
    /// Whether it may be `async`.
    pub(crate) may_wait: bool,
}

/// What a function returns that may return nothing.
pub(crate) const NOTHING: &str = "Result<()>";

/// A function with everything of ours taken off it.
pub(crate) struct Function {
    pub(crate) ident: Ident,
    pub(crate) docs: String,
    /// The types of what it gets before its arguments, where rustc shall point if they do not fit.
    pub(crate) leading: Vec<Span>,
    pub(crate) arguments: Vec<Argument>,
    /// Whether it returns a `Result`.
    pub(crate) is_fallible: bool,
    /// Whether it is `async`.
    pub(crate) is_async: bool,
    /// What it returns.
    pub(crate) output: Type,
    /// The function as plain Rust, without documentation.
    pub(crate) item: ItemFn,
}

impl Function {
    pub(crate) fn parse(kind: &FunctionKind, item: TokenStream) -> Result<Self> {
        let mut item = match syn::parse2(item)? {
            Item::Fn(function) => function,
            other => {
                let problem = format!("`#[{}]` goes on a function: `{}`", kind.name, kind.example());
                return Err(Error::new_spanned(first_token(&other), problem));
            }
        };
        kind.check_plain(&item.sig)?;
        let leading = kind.take_leading(&mut item.sig)?;
        let output = kind.output(&item.sig)?;
        let mut arguments: Vec<Argument> = Vec::new();
        for input in item.sig.inputs.iter_mut().skip(leading.len()) {
            let FnArg::Typed(typed) = input else { continue };
            let argument = Argument::take(typed)?;
            if kind.reserves(&argument.name) {
                let problem = format!("the name `{}` is taken; choose another one", argument.name);
                return Err(Error::new(argument.ident.span(), problem));
            }
            if argument.is_required() && arguments.last().is_some_and(|before| !before.is_required()) {
                let problem = "arguments that must be passed come before those with a default";
                return Err(Error::new(argument.ident.span(), problem));
            }
            arguments.push(argument);
        }
        let mut docs = take_docs(&mut item.attrs);
        if docs.is_empty() {
            docs = format!("The {} `{}`.", kind.name, item.sig.ident.unraw());
        }
        Ok(Function {
            ident: item.sig.ident.clone(),
            docs,
            leading,
            arguments,
            is_fallible: is_result(&output),
            is_async: item.sig.asyncness.is_some(),
            output,
            item,
        })
    }
}

impl FunctionKind {
    /// A function as it should be written.
    pub(crate) fn example(&self) -> String {
        let leading: Vec<String> = self.leading.iter().map(LeadingArgument::to_string).collect();
        let wait = if self.may_wait { "async " } else { "" };
        format!("{wait}fn name({}) -> {}", leading.join(", "), self.returns)
    }

    fn reserves(&self, name: &str) -> bool {
        // What a builder is made of has a method `body`; a task stays the function that it is.
        let is_method = name == "body" && !self.leading.is_empty();
        is_method || self.leading.iter().any(|leading| leading.name == name)
    }

    /// Refuses what a function that is called by name cannot have.
    fn check_plain(&self, sig: &Signature) -> Result<()> {
        let name = self.name;
        let fail = |tokens: &dyn ToTokens, problem: String| {
            Err(Error::new_spanned(tokens.to_token_stream(), problem))
        };
        if let Some(token) = &sig.asyncness
            && !self.may_wait
        {
            return fail(token, format!("a {name} has nothing to wait for: write `{}`", self.example()));
        }
        if !matches!(sig.safety, Safety::Default) {
            return fail(&sig.safety, format!("a {name} is called by name: it is a safe function"));
        }
        if let Some(abi) = &sig.abi {
            return fail(abi, format!("a {name} is a Rust function: leave out `extern`"));
        }
        if !sig.generics.params.is_empty() {
            let problem = format!("a {name} is built by name, so its types are all known: no generics");
            return fail(&sig.generics, problem);
        }
        if let Some(clause) = &sig.generics.where_clause {
            return fail(clause, format!("a {name} has no generics, so there is nothing to bound"));
        }
        match sig.inputs.iter().find(|input| matches!(input, FnArg::Receiver(_))) {
            None => Ok(()),
            Some(receiver) => {
                let problem = format!("a {name} is a free function, without `self`: `{}`", self.example());
                fail(receiver, problem)
            }
        }
    }

    /// Checks what the function gets before its arguments; returns where the types are.
    fn take_leading(&self, sig: &mut Signature) -> Result<Vec<Span>> {
        let name = sig.ident.clone();
        let mut inputs = sig.inputs.iter_mut();
        let take = |(leading, which): (&LeadingArgument, &str)| {
            let problem = format!("the {which} argument of a {} is `{leading}`", self.name);
            match inputs.next() {
                Some(FnArg::Typed(typed)) => leading.take(typed, &problem),
                _ => Err(Error::new_spanned(&name, format!("{problem}: `{}`", self.example()))),
            }
        };
        self.leading.iter().zip(["first", "second"]).map(take).collect()
    }

    fn output(&self, sig: &Signature) -> Result<Type> {
        match &sig.output {
            ReturnType::Type(_, ty) => Ok(ty.as_ref().clone()),
            ReturnType::Default if self.returns == NOTHING => Ok(parse_quote!(())),
            ReturnType::Default => {
                let problem = format!("a {} returns something: write `-> {}`", self.name, self.returns);
                Err(Error::new(sig.paren_token.span.close(), problem))
            }
        }
    }
}

fn is_result(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == "Result"),
        Type::Group(group) => is_result(&group.elem),
        _ => false,
    }
}

fn first_token(item: &Item) -> TokenStream {
    item.to_token_stream().into_iter().take(1).collect()
}

/// What a function gets before the arguments that specs pass, as it should be written: the scores, the state, the target.
pub(crate) struct LeadingArgument {
    /// `scores`
    pub(crate) name: &'static str,
    /// `&Scores`
    pub(crate) ty: &'static str,
}

impl fmt::Display for LeadingArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.ty)
    }
}

impl LeadingArgument {
    /// Whether a type fits behind the `&`: a slice, or one that has a name. Whether it is the right one, only rustc knows.
    fn fits(&self, ty: &Type) -> bool {
        match self.ty.starts_with("&[") {
            true => matches!(ty, Type::Slice(_)),
            false => matches!(ty, Type::Path(_) | Type::Group(_)),
        }
    }

    /// Checks it against what was written, and writes out the lifetime that `&Scores` leaves out: some
    /// crates have the lint on that wants it. Returns where the type is.
    pub(crate) fn take(&self, written: &mut PatType, problem: &str) -> Result<Span> {
        let wrong = Error::new_spanned(&written.ty, problem);
        if let Some(attr) = written.attrs.iter().find(|attr| attr.path().is_ident("default")) {
            return Err(Error::new_spanned(attr, format!("{problem}; it has no default")));
        }
        let Type::Reference(reference) = written.ty.as_mut() else { return Err(wrong) };
        let is_mutable = self.ty.starts_with("&mut");
        if reference.mutability.is_some() != is_mutable || !self.fits(&reference.elem) {
            return Err(wrong);
        }
        if !matches!(written.pat.as_ref(), Pat::Ident(_) | Pat::Wild(_)) {
            return Err(Error::new_spanned(&written.pat, problem));
        }
        if let Type::Path(path) = reference.elem.as_mut()
            && let Some(last) = path.path.segments.last_mut()
            && last.ident == "Scores"
            && last.arguments.is_none()
        {
            last.arguments = PathArguments::AngleBracketed(parse_quote!(<'_>));
        }
        Ok(reference.elem.span())
    }
}

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
            (Some(expr), Some(_)) if is_none(&expr) => ArgumentDefault::None,
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
