//! The entry by which the registry finds what a function defines.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::{LitStr, Result};

use crate::function::{Function, Kind};
use crate::options::Options;

/// A function and its options: what an entry is made of.
pub(crate) struct Entry {
    pub(crate) function: Function,
    pub(crate) options: Options,
    /// The name in specs and logs.
    pub(crate) name: LitStr,
}

impl Entry {
    /// Reads an attribute that has the options `known`, and the function below it.
    pub(crate) fn parse(
        kind: &Kind,
        known: &[&str],
        options: TokenStream,
        item: TokenStream,
    ) -> Result<Self> {
        let options = Options::parse(options, known)?;
        let function = Function::parse(kind, item)?;
        let own_name = || LitStr::new(&function.ident.unraw().to_string(), function.ident.span());
        let name = options.name.clone().unwrap_or_else(own_name);
        Ok(Entry { function, options, name })
    }

    /// The registration of an entry whose `build` is this block over [`args`] and makes a `built`. What is
    /// submitted is `entry` of its fields in braces.
    pub(crate) fn registration(
        &self,
        entry: impl FnOnce(TokenStream) -> TokenStream,
        built: &TokenStream,
        build: &TokenStream,
    ) -> TokenStream {
        let (name, docs, replaces) = (&self.name, self.function.entry_docs(), self.options.replaces);
        let args = args();
        let params = self.function.arguments.iter().map(|argument| {
            let name = &argument.name;
            match argument.default_text() {
                None => quote!(::errorbar::registry::Param::required(#name)),
                Some(default) => quote!(::errorbar::registry::Param::optional(#name, #default)),
            }
        });
        let entry = entry(quote! {{
            name: #name,
            doc: #docs,
            params: PARAMS,
            build: |#args: &::errorbar::Args<'_>| -> ::errorbar::Result<#built> { #build },
            replaces: #replaces,
        }});
        quote! {
            const _: () = {
                const PARAMS: &[::errorbar::registry::Param] = &[#(#params),*];

                ::errorbar::inventory::submit! { #entry }
            };
        }
    }
}

/// The variable that holds what a spec passes; nothing that the user wrote can see it.
pub(crate) fn args() -> Ident {
    Ident::new("args", Span::mixed_site())
}
