//! The parts that metrics, reducers, solvers and scorers have in common: the struct of the arguments, the function and
//! the registration.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Error, LitStr, Path, Result, Visibility, parse_quote};

use crate::at;
use crate::function::{Function, FunctionKind};
use crate::options::Options;

/// A function and its options, ready to be put together.
pub(crate) struct Builder {
    pub(crate) function: Function,
    pub(crate) options: Options,
    /// The crate that generated code refers to.
    pub(crate) krate: Path,
    /// The name in specs and logs.
    pub(crate) name: LitStr,
    /// The type that holds the arguments: `PassRate` for `pass_rate`.
    pub(crate) ident: Ident,
    /// What the body gets before its arguments: variables of the trait's method, which nothing that the
    /// user wrote can see.
    pub(crate) leading: Vec<Ident>,
}

impl Builder {
    /// Reads an attribute that has the options `known`, and the function below it.
    pub(crate) fn parse(
        kind: &FunctionKind,
        known: &[&str],
        options: TokenStream,
        item: TokenStream,
    ) -> Result<Self> {
        let options = Options::parse(options, known)?;
        let function = Function::parse(kind, item)?;
        let own_name = || LitStr::new(&function.ident.unraw().to_string(), function.ident.span());
        let name = options.name.clone().unwrap_or_else(own_name);
        let ident = match &options.ident {
            Some(ident) => ident.clone(),
            None => camel_case(&function.ident, if kind.name == "task" { "Arguments" } else { "" })?,
        };
        let leading = kind.leading.iter().zip(&function.leading);
        let leading = leading.map(|(leading, span)| Ident::new(leading.name, at(span))).collect();
        let krate = options.krate.clone().unwrap_or_else(|| parse_quote!(::errorbar::generated));
        Ok(Builder { function, options, krate, name, ident, leading })
    }

    /// Everything but the implementation of the trait and the registration.
    pub(crate) fn parts(&self) -> TokenStream {
        let Builder { function, ident: builder, .. } = self;
        let ident = &function.ident;
        let definition = self.definition(&function.item.vis, &quote!(constructor = #ident));
        let about = format!("The function behind `{}()`, to be called directly.", ident.unraw());
        let mut body = function.item.clone();
        body.sig.ident = Ident::new("body", ident.span());
        quote! {
            #[derive(::std::clone::Clone, ::std::fmt::Debug)]
            #definition

            #[allow(clippy::too_many_arguments, reason = "nobody but the builder passes them by place")]
            impl #builder {
                #[doc = #about]
                #body
            }
        }
    }

    /// The struct that holds the arguments; `options` are those of the derive.
    pub(crate) fn definition(&self, vis: &Visibility, options: &TokenStream) -> TokenStream {
        let (krate, name, builder) = (&self.krate, &self.name, &self.ident);
        let Function { arguments, docs, .. } = &self.function;
        let fields = arguments.iter().map(|argument| argument.field());
        quote! {
            #[doc = #docs]
            #[derive(#krate::Params)]
            #[params(crate = #krate, name = #name, #options)]
            #vis struct #builder {
                #(#fields,)*
            }
        }
    }

    /// The call of the body with the arguments or their defaults, with `.await` if it waits, with `?` if it may fail.
    pub(crate) fn call(&self) -> TokenStream {
        let Function { arguments, output, is_async, is_fallible, .. } = &self.function;
        let (leading, holder) = (&self.leading, quote!(self));
        let values = arguments.iter().map(|argument| argument.value(&holder));
        let wait = is_async.then(|| quote_spanned!(at(output)=> .await));
        let question = is_fallible.then(|| quote_spanned!(at(output)=> ?));
        let values = quote!(#(#leading,)* #(#values),*);
        quote_spanned!(at(output)=> Self::body(#values) #wait #question)
    }
}

/// `PassRate` for `pass_rate`.
fn camel_case(ident: &Ident, suffix: &str) -> Result<Ident> {
    let mut camel = String::new();
    for word in ident.unraw().to_string().split('_') {
        let mut chars = word.chars();
        camel.extend(chars.next().into_iter().flat_map(char::to_uppercase));
        camel.extend(chars);
    }
    camel.push_str(suffix);
    let mut builder: Ident = syn::parse_str(&camel).map_err(|_| {
        Error::new(
            ident.span(),
            format!("the type is named after the function, and `{camel}` is no name for it"),
        )
    })?;
    builder.set_span(ident.span());
    Ok(builder)
}
