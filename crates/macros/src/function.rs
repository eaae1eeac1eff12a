//! The function that the attribute stands on, taken apart and checked.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{
    Attribute, Error, Expr, FnArg, Item, ItemFn, Lit, Meta, Pat, PathArguments, Result, ReturnType, Safety,
    Signature, Type, Visibility, parse_quote,
};

use crate::argument::Argument;

/// What an attribute is for, as messages say it.
pub(crate) struct Kind {
    /// `metric` or `reducer`.
    pub(crate) name: &'static str,
    /// The first argument as it should be written.
    pub(crate) scores: &'static str,
    /// The type to return as it should be written.
    pub(crate) returns: &'static str,
    /// Whether a type fits behind the `&` of the first argument.
    pub(crate) fits: fn(&Type) -> bool,
}

/// A function with everything of ours taken off it.
pub(crate) struct Function {
    pub(crate) ident: Ident,
    /// The name of the builder: `PassRate` for `pass_rate`.
    pub(crate) builder: Ident,
    pub(crate) vis: Visibility,
    pub(crate) docs: String,
    pub(crate) arguments: Vec<Argument>,
    /// Whether it returns a `Result`.
    pub(crate) fallible: bool,
    /// What it returns.
    pub(crate) output: Type,
    /// The function under the name `body`.
    pub(crate) body: ItemFn,
}

impl Function {
    pub(crate) fn parse(kind: &Kind, item: TokenStream) -> Result<Self> {
        let mut body = match syn::parse2(item)? {
            Item::Fn(function) => function,
            other => {
                let problem = format!("`#[{}]` goes on a function: `{}`", kind.name, kind.example("name"));
                return Err(Error::new_spanned(first_token(&other), problem));
            }
        };
        kind.check_plain(&body.sig)?;
        kind.check_scores(&mut body.sig)?;
        let output = kind.output(&body.sig)?;
        let mut arguments: Vec<Argument> = Vec::new();
        for input in body.sig.inputs.iter_mut().skip(1) {
            let FnArg::Typed(typed) = input else { continue };
            let argument = Argument::take(typed)?;
            if argument.is_required() && arguments.last().is_some_and(|before| !before.is_required()) {
                let problem = "arguments that must be passed come before those with a default";
                return Err(Error::new(argument.ident.span(), problem));
            }
            arguments.push(argument);
        }
        let mut docs = take_docs(&mut body.attrs);
        let ident = body.sig.ident.clone();
        body.sig.ident = Ident::new("body", ident.span());
        if docs.is_empty() {
            docs = format!("The {} `{}`.", kind.name, ident.unraw());
        }
        Ok(Function {
            builder: camel_case(&ident)?,
            ident,
            vis: body.vis.clone(),
            docs,
            arguments,
            fallible: is_result(&output),
            output,
            body,
        })
    }

    /// The first paragraph of the documentation, as one line.
    pub(crate) fn summary(&self) -> String {
        let paragraph = self.docs.split("\n\n").next().unwrap_or_default();
        paragraph.lines().map(str::trim).collect::<Vec<_>>().join(" ")
    }

    /// The documentation with its first paragraph as one line, for the registry, which shows it.
    pub(crate) fn entry_docs(&self) -> String {
        match self.docs.split_once("\n\n") {
            Some((_, rest)) => format!("{}\n\n{}", self.summary(), rest.trim_start_matches('\n')),
            None => self.summary(),
        }
    }
}

impl Kind {
    fn example(&self, name: &str) -> String {
        format!("fn {name}({}) -> {}", self.scores, self.returns)
    }

    /// Refuses what a function that is called by name cannot have.
    fn check_plain(&self, sig: &Signature) -> Result<()> {
        let name = self.name;
        let fail = |tokens: &dyn ToTokens, problem: String| {
            Err(Error::new_spanned(tokens.to_token_stream(), problem))
        };
        if let Some(token) = &sig.asyncness {
            let problem = format!("a {name} has nothing to wait for: write `{}`", self.example("name"));
            return fail(token, problem);
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
                let problem =
                    format!("a {name} is a free function, without `self`: `{}`", self.example("name"));
                fail(receiver, problem)
            }
        }
    }

    /// Checks the first argument, and writes out the lifetime that `&Scores` leaves out: some crates
    /// have the lint on that wants it.
    fn check_scores(&self, sig: &mut Signature) -> Result<()> {
        let problem = format!("the first argument of a {} is `{}`", self.name, self.scores);
        let missing = Error::new_spanned(&sig.ident, format!("{problem}: `{}`", self.example("name")));
        let Some(FnArg::Typed(scores)) = sig.inputs.first_mut() else { return Err(missing) };
        let wrong = Error::new_spanned(&scores.ty, &problem);
        if let Some(attr) = scores.attrs.iter().find(|attr| attr.path().is_ident("default")) {
            return Err(Error::new_spanned(attr, format!("{problem}; it has no default")));
        }
        let Type::Reference(reference) = scores.ty.as_mut() else { return Err(wrong) };
        if reference.mutability.is_some() || !(self.fits)(&reference.elem) {
            return Err(wrong);
        }
        if !matches!(scores.pat.as_ref(), Pat::Ident(_) | Pat::Wild(_)) {
            return Err(Error::new_spanned(&scores.pat, problem));
        }
        if let Type::Path(path) = reference.elem.as_mut()
            && let Some(last) = path.path.segments.last_mut()
            && last.ident == "Scores"
            && last.arguments.is_none()
        {
            last.arguments = PathArguments::AngleBracketed(parse_quote!(<'_>));
        }
        Ok(())
    }

    fn output(&self, sig: &Signature) -> Result<Type> {
        match &sig.output {
            ReturnType::Type(_, ty) => Ok(ty.as_ref().clone()),
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

fn camel_case(ident: &Ident) -> Result<Ident> {
    let mut camel = String::new();
    for word in ident.unraw().to_string().split('_') {
        let mut chars = word.chars();
        camel.extend(chars.next().into_iter().flat_map(char::to_uppercase));
        camel.extend(chars);
    }
    let mut builder: Ident = syn::parse_str(&camel).map_err(|_| {
        Error::new(
            ident.span(),
            format!("the type is named after the function, and `{camel}` is no name for it"),
        )
    })?;
    builder.set_span(ident.span());
    Ok(builder)
}

/// Takes off the doc comments and returns their text.
pub(crate) fn take_docs(attrs: &mut Vec<Attribute>) -> String {
    let mut lines: Vec<String> = Vec::new();
    attrs.retain(|attr| {
        let Meta::NameValue(doc) = &attr.meta else { return true };
        let Expr::Lit(literal) = &doc.value else { return true };
        match &literal.lit {
            Lit::Str(text) if doc.path.is_ident("doc") => {
                let text = text.value();
                lines.extend(text.split('\n').map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned()));
                false
            }
            _ => true,
        }
    });
    lines.join("\n").trim().to_owned()
}
