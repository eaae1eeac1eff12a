//! The parts that metrics, reducers, solvers and scorers have in common: the builder, its function and
//! its spec.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Error, Result};

use crate::argument::{Argument, at};
use crate::entry::{Entry, args};
use crate::function::{Function, Kind};
use crate::options::Options;

/// A function and its options, ready to be put together.
pub(crate) struct Builder {
    pub(crate) entry: Entry,
    /// The type that holds the arguments: `PassRate` for `pass_rate`.
    pub(crate) ident: Ident,
    /// What the body gets before its arguments: variables of the trait's method, which nothing that the
    /// user wrote can see.
    pub(crate) leading: Vec<Ident>,
}

impl Builder {
    /// Reads an attribute that has the options `known`, and the function below it.
    pub(crate) fn parse(
        kind: &Kind,
        known: &[&str],
        options: TokenStream,
        item: TokenStream,
    ) -> Result<Self> {
        let entry = Entry::parse(kind, known, options, item)?;
        let ident = camel_case(&entry.function.ident)?;
        let leading = kind.leading.iter().zip(&entry.function.leading);
        let leading = leading.map(|(leading, span)| Ident::new(leading.name, at(span))).collect();
        Ok(Builder { entry, ident, leading })
    }

    pub(crate) fn function(&self) -> &Function {
        &self.entry.function
    }

    pub(crate) fn options(&self) -> &Options {
        &self.entry.options
    }

    /// Everything but the implementation of the trait and the registration.
    pub(crate) fn parts(&self) -> TokenStream {
        let (definition, methods, constructor) = (self.definition(), self.methods(), self.constructor());
        quote!(#definition #methods #constructor)
    }

    /// The type that holds the arguments.
    fn definition(&self) -> TokenStream {
        let Function { arguments, ident, item, .. } = self.function();
        let (builder, vis) = (&self.ident, &item.vis);
        let (summary, made_by) = (self.function().summary(), format!("Made by `{}()`.", ident.unraw()));
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
    fn methods(&self) -> TokenStream {
        let (builder, ident) = (&self.ident, &self.function().ident);
        let setters = self.optional().map(|argument| self.setter(argument));
        let about = format!("The function behind `{}()`, to be called directly.", ident.unraw());
        let mut body = self.function().item.clone();
        body.sig.ident = Ident::new("body", ident.span());
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
        let (vis, ident) = (&self.function().item.vis, &argument.ident);
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
    fn constructor(&self) -> TokenStream {
        let Function { ident, docs, arguments, item, .. } = self.function();
        let (builder, vis) = (&self.ident, &item.vis);
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
        let name = &self.entry.name;
        let new = quote!(::errorbar::Spec::new(#name));
        let arguments = &self.function().arguments;
        let record = arguments.iter().map(|argument| {
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
        let spec = if arguments.is_empty() {
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

    /// The call of the body with the arguments or their defaults (with `.await` if it waits, with `?` if
    /// it may fail), and the statements before it.
    pub(crate) fn call(&self) -> (TokenStream, TokenStream) {
        let Function { arguments, output, is_async, is_fallible, .. } = self.function();
        let bind = arguments.iter().map(|argument| {
            let ident = &argument.ident;
            argument.bind(&quote!(::std::clone::Clone::clone(&self.#ident)))
        });
        let (leading, locals) = (&self.leading, arguments.iter().map(Argument::local));
        let wait = is_async.then(|| quote_spanned!(at(output)=> .await));
        let question = is_fallible.then(|| quote_spanned!(at(output)=> ?));
        let call = quote_spanned!(at(output)=> Self::body(#(#leading,)* #(#locals),*) #wait #question);
        (bind.collect(), call)
    }

    /// The registration of an entry that makes a `built`, by the function `wrap` of the builder; `entry` is
    /// that of [`Entry::registration`].
    pub(crate) fn registration(
        &self,
        entry: impl FnOnce(TokenStream) -> TokenStream,
        built: &TokenStream,
        wrap: &TokenStream,
    ) -> TokenStream {
        let (builder, arguments) = (&self.ident, &self.function().arguments);
        let args = args();
        let unused = arguments.is_empty().then(|| quote!(let _ = #args;));
        let fields = arguments.iter().map(|argument| {
            let (ident, read) = (&argument.ident, argument.read());
            quote!(#ident: #read)
        });
        let build = quote!(#unused ::std::result::Result::Ok(#wrap(#builder { #(#fields),* })));
        self.entry.registration(entry, built, &build)
    }

    fn optional(&self) -> impl Iterator<Item = &Argument> {
        self.function().arguments.iter().filter(|argument| !argument.is_required())
    }
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
