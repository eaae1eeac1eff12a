//! The parts that metrics and reducers have in common: the builder, its function, its spec and its
//! entry in the registry.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{LitStr, Result};

use crate::argument::{Argument, at};
use crate::function::{Function, Kind};
use crate::options::Options;

/// A function and its options, ready to be put together.
pub(crate) struct Builder {
    pub(crate) function: Function,
    pub(crate) options: Options,
    /// The name in specs and logs.
    name: LitStr,
}

impl Builder {
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
        Ok(Builder { function, options, name })
    }

    /// The type that holds the arguments.
    pub(crate) fn definition(&self) -> TokenStream {
        let Function { builder, vis, arguments, ident, .. } = &self.function;
        let (summary, made_by) = (self.function.summary(), format!("Made by `{}()`.", ident.unraw()));
        let fields = arguments.iter().map(|argument| {
            let (ident, ty) = (&argument.ident, argument.field_type());
            quote!(#ident: #ty)
        });
        quote! {
            #[doc = #summary]
            #[doc = ""]
            #[doc = #made_by]
            #[derive(::std::clone::Clone, ::std::fmt::Debug)]
            #vis struct #builder {
                #(#fields,)*
            }
        }
    }

    /// The methods that pass an argument each, and the function as written.
    pub(crate) fn methods(&self) -> TokenStream {
        let Function { builder, body, ident, .. } = &self.function;
        let setters = self.optional().map(|argument| self.setter(argument));
        let about = format!("The function behind `{}()`, to be called directly.", ident.unraw());
        quote! {
            #[allow(clippy::too_many_arguments, reason = "nobody but the builder passes them by place")]
            impl #builder {
                #(#setters)*
                #[doc = #about]
                #body
            }
        }
    }

    fn setter(&self, argument: &Argument) -> TokenStream {
        let (vis, ident) = (&self.function.vis, &argument.ident);
        let (ty, value) = argument.parameter();
        let docs = match argument.default_text() {
            Some(default) if argument.docs.is_empty() => {
                format!("Sets `{}`, which is `{default}` if nothing is said.", argument.name)
            }
            _ => argument.docs.clone(),
        };
        quote! {
            #[doc = #docs]
            #[must_use]
            #vis fn #ident(mut self, #ident: #ty) -> Self {
                self.#ident = ::std::option::Option::Some(#value);
                self
            }
        }
    }

    /// The function that makes a builder of the arguments that must be passed.
    pub(crate) fn constructor(&self) -> TokenStream {
        let Function { builder, vis, ident, docs, arguments, .. } = &self.function;
        let parameters = arguments.iter().filter(|argument| argument.is_required()).map(|argument| {
            let (ident, (ty, _)) = (&argument.ident, argument.parameter());
            quote!(#ident: #ty)
        });
        let fields = arguments.iter().map(|argument| {
            let (ident, (_, value)) = (&argument.ident, argument.parameter());
            let value = if argument.is_required() { value } else { quote!(::std::option::Option::None) };
            quote!(#ident: #value)
        });
        quote! {
            #[doc = #docs]
            #[must_use]
            #vis fn #ident(#(#parameters),*) -> #builder {
                #builder { #(#fields),* }
            }
        }
    }

    /// The method `spec` of the trait: the name, and the arguments that were passed.
    pub(crate) fn spec(&self) -> TokenStream {
        let name = &self.name;
        let new = quote!(::errorbar::Spec::new(#name));
        let record = self.function.arguments.iter().map(|argument| {
            let (name, ident, to_arg) = (&argument.name, &argument.ident, argument.to_arg());
            if argument.is_required() {
                quote!(spec = spec.kwarg(#name, #to_arg(&self.#ident));)
            } else {
                quote! {
                    if let ::std::option::Option::Some(passed) = &self.#ident {
                        spec = spec.kwarg(#name, #to_arg(passed));
                    }
                }
            }
        });
        let spec = if self.function.arguments.is_empty() {
            new
        } else {
            quote! {
                let mut spec = #new;
                #(#record)*
                spec
            }
        };
        quote! {
            fn spec(&self) -> ::errorbar::Spec {
                #spec
            }
        }
    }

    /// The call of the body with the arguments or their defaults (with `?` if it may fail), and the
    /// statements before it. `scores` are those that the trait's method got.
    pub(crate) fn call(&self, scores: &Ident) -> (TokenStream, TokenStream) {
        let arguments = &self.function.arguments;
        let bind: TokenStream = arguments.iter().map(Argument::bind).collect();
        let locals = arguments.iter().map(Argument::local);
        let question = self.function.fallible.then(|| quote_spanned!(at(&self.function.output)=> ?));
        (bind, quote_spanned!(at(&self.function.output)=> Self::body(#scores, #(#locals),*) #question))
    }

    /// The entry by which the registry finds it: of type `entry`, building `built`.
    pub(crate) fn registration(&self, entry: &TokenStream, built: &TokenStream) -> TokenStream {
        let Function { builder, arguments, .. } = &self.function;
        let (name, docs, replaces) = (&self.name, self.function.entry_docs(), self.options.replaces);
        let params = arguments.iter().map(|argument| {
            let name = &argument.name;
            match argument.default_text() {
                None => quote!(::errorbar::registry::Param::required(#name)),
                Some(default) => quote!(::errorbar::registry::Param::optional(#name, #default)),
            }
        });
        let fields = arguments.iter().map(|argument| {
            let (name, ident, ty) = (&argument.name, &argument.ident, argument.passed_type());
            let get = if argument.is_required() { quote!(required) } else { quote!(get) };
            quote!(#ident: args.#get::<#ty>(#name)?)
        });
        let args = if arguments.is_empty() { quote!(_) } else { quote!(args) };
        quote! {
            const _: () = {
                const PARAMS: &[::errorbar::registry::Param] = &[#(#params),*];

                fn build(#args: &::errorbar::Args<'_>) -> ::errorbar::Result<::std::sync::Arc<#built>> {
                    ::std::result::Result::Ok(::std::sync::Arc::new(#builder { #(#fields),* }))
                }

                ::errorbar::inventory::submit! {
                    #entry { name: #name, doc: #docs, params: PARAMS, build, replaces: #replaces }
                }
            };
        }
    }

    fn optional(&self) -> impl Iterator<Item = &Argument> {
        self.function.arguments.iter().filter(|argument| !argument.is_required())
    }
}
