//! What each attribute makes of its function. All but `#[task]` make a builder with the trait of its kind.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Error, LitStr, Path, Result, Visibility, parse_quote};

use crate::at;
use crate::function::{Function, FunctionKind, LeadingArgument, NOTHING};
use crate::options::{Options, ScorerMetrics};

/// An attribute whose function becomes a builder.
pub(crate) struct Attribute {
    kind: FunctionKind,
    options: &'static [&'static str],
    /// The trait for the builder.
    implementation: fn(&Builder) -> Result<TokenStream>,
    /// What is registered, given the crate and how its entry is made.
    registered: fn(&syn::Path, &TokenStream) -> TokenStream,
}

pub(crate) const METRIC: Attribute = Attribute {
    kind: FunctionKind {
        name: "metric",
        leading: &[LeadingArgument { name: "scores", ty: "&Scores" }],
        returns: "Result<f64>",
        may_wait: false,
    },
    options: &["name", "wants", "role", "keys", "parts", "replaces"],
    implementation: metric,
    registered: |krate, entry| quote!(#krate::registry::MetricEntry::#entry),
};

pub(crate) const REDUCER: Attribute = Attribute {
    kind: FunctionKind {
        name: "reducer",
        leading: &[LeadingArgument { name: "scores", ty: "&[Score]" }],
        returns: "Result<Score>",
        may_wait: false,
    },
    options: &["name", "replaces"],
    implementation: reducer,
    registered: |krate, entry| quote!(#krate::registry::ReducerEntry::#entry),
};

pub(crate) const SCORER: Attribute = Attribute {
    kind: FunctionKind {
        name: "scorer",
        leading: &[
            LeadingArgument { name: "state", ty: "&TaskState" },
            LeadingArgument { name: "target", ty: "&Target" },
        ],
        returns: "Result<Score>",
        may_wait: true,
    },
    options: &["metrics", "range", "name", "replaces"],
    implementation: scorer,
    registered: |krate, entry| quote!(#krate::eval::SubmittedEntry(#krate::eval::ScorerEntry::#entry)),
};

pub(crate) const SOLVER: Attribute = Attribute {
    kind: FunctionKind {
        name: "solver",
        leading: &[
            LeadingArgument { name: "state", ty: "&mut TaskState" },
            LeadingArgument { name: "generate", ty: "&Generate" },
        ],
        returns: NOTHING,
        may_wait: true,
    },
    options: &["name", "replaces"],
    implementation: solver,
    registered: |krate, entry| quote!(#krate::eval::SubmittedEntry(#krate::eval::SolverEntry::#entry)),
};

const TASK: FunctionKind = FunctionKind { name: "task", leading: &[], returns: "Task", may_wait: false };

pub(crate) fn expand(attribute: &Attribute, options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let builder = Builder::parse(&attribute.kind, attribute.options, options, item)?;
    let (parts, implementation) = (builder.parts(), (attribute.implementation)(&builder)?);
    let registration = (!builder.options.built_in).then(|| {
        let (krate, name) = (&builder.krate, &builder.ident);
        let replacing = builder.options.replaces.then(|| quote!(.replacing()));
        let entry = (attribute.registered)(krate, &quote!(of::<#name>() #replacing));
        quote!(#krate::inventory::submit! { #entry })
    });
    Ok(quote!(#parts #implementation #registration))
}

fn metric(builder: &Builder) -> Result<TokenStream> {
    let (name, krate, options) = (&builder.ident, &builder.krate, &builder.options);
    let Builder { function: Function { output, .. }, leading, .. } = builder;
    let value = builder.call();
    let value = quote_spanned!(at(output)=> ::std::convert::Into::<#krate::MetricValue>::into(#value));
    let method =
        |method: TokenStream, value: Option<TokenStream>| value.map(|value| quote!(fn #method { #value }));
    let wants = options.wants.as_ref().map(|wants| quote!(#krate::Wants::#wants));
    let role = options.role.as_ref().map(|role| quote!(#krate::MetricRole::#role));
    let parts = options.parts.as_ref().map(|parts| quote!(#krate::ScoreParts::#parts));
    let keys = options.keys.as_ref().map(
        |keys| quote!(#krate::MetadataKeys::Only(::std::vec![#(::std::borrow::ToOwned::to_owned(#keys)),*])),
    );
    let methods = [
        method(quote!(wants(&self) -> #krate::Wants), wants),
        method(quote!(role(&self) -> #krate::MetricRole), role),
        method(quote!(score_parts(&self) -> #krate::ScoreParts), parts),
        method(quote!(metadata_keys(&self) -> #krate::MetadataKeys), keys),
    ];
    Ok(quote! {
        #[automatically_derived]
        impl #krate::Metric for #name {
            fn compute(&self, #(#leading: &#krate::Scores<'_>,)*) -> #krate::Result<#krate::MetricValue> {
                ::std::result::Result::Ok(#value)
            }

            #(#methods)*
        }
    })
}

fn reducer(builder: &Builder) -> Result<TokenStream> {
    let Builder { ident: name, krate, function: Function { output, .. }, leading, .. } = builder;
    let reduced = Ident::new("reduced", Span::mixed_site());
    let value = builder.call();
    let value = quote_spanned!(at(output)=> let #reduced: #krate::Score = #value;);
    Ok(quote! {
        #[automatically_derived]
        impl #krate::Reducer for #name {
            fn reduce(&self, #(#leading: &[#krate::Score],)*) -> #krate::Result<#krate::Score> {
                #value
                ::std::result::Result::Ok(#reduced)
            }
        }
    })
}

fn scorer(builder: &Builder) -> Result<TokenStream> {
    let Builder { ident: name, krate, function: Function { output, .. }, leading, options, .. } = builder;
    let metrics = match &options.metrics {
        Some(ScorerMetrics::List(items)) => quote!(#krate::metrics![#items]),
        Some(ScorerMetrics::Map(items)) => quote!(#krate::Metrics::Map(#krate::metrics!(@map { #items }))),
        None => {
            let problem =
                "a scorer names the metrics of its scores: `#[scorer(metrics = [accuracy(), stderr()])]`";
            return Err(Error::new(Span::call_site(), problem));
        }
    };
    let score = quote!(::std::option::Option<#krate::Score>);
    let value = builder.call();
    let value = quote_spanned!(at(output)=> #krate::eval::IntoScore::into_score(#value));
    let types = [quote!(&'a #krate::eval::TaskState), quote!(&'a #krate::eval::Target)];
    let leading = leading.iter().zip(types).map(|(ident, ty)| quote!(#ident: #ty));
    let needs = options
        .known
        .as_ref()
        .map(|known| quote!(fn needs(&self) -> #krate::eval::ScorerNeeds { #known(self) }));
    let range = options.range.as_ref().map(|range| {
        quote! {
            fn range(&self) -> ::std::option::Option<(f64, f64)> {
                ::std::option::Option::Some(#range)
            }
        }
    });
    Ok(quote! {
        #[automatically_derived]
        impl #krate::eval::Scorer for #name {
            fn metrics(&self) -> #krate::Metrics {
                #metrics
            }

            fn score<'a>(
                &'a self,
                #(#leading,)*
            ) -> #krate::eval::BoxFuture<'a, #krate::Result<#score>> {
                ::std::boxed::Box::pin(async move {
                    ::std::result::Result::<#score, #krate::Error>::Ok(#value)
                })
            }

            #needs
            #range
        }
    })
}

fn solver(builder: &Builder) -> Result<TokenStream> {
    let Builder { ident: name, krate, function: Function { output, .. }, leading, options, .. } = builder;
    let value = builder.call();
    let value = quote_spanned!(at(output)=> let (): () = #value;);
    let types = [quote!(&'a mut #krate::eval::TaskState), quote!(&'a #krate::eval::Generate)];
    let leading = leading.iter().zip(types).map(|(ident, ty)| quote!(#ident: #ty));
    let effects = options
        .known
        .as_ref()
        .map(|known| quote!(fn effects(&self) -> #krate::eval::SolverEffects { #known(self) }));
    Ok(quote! {
        #[automatically_derived]
        impl #krate::eval::Solver for #name {
            fn solve<'a>(
                &'a self,
                #(#leading,)*
            ) -> #krate::eval::BoxFuture<'a, #krate::Result<()>> {
                ::std::boxed::Box::pin(async move {
                    #value
                    ::std::result::Result::<(), #krate::Error>::Ok(())
                })
            }

            #effects
        }
    })
}

/// The function as written, and an entry that calls it with the arguments of a spec.
pub(crate) fn task(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let builder = Builder::parse(&TASK, &["name"], options, item)?;
    let (name, krate, holder) = (&builder.name, &builder.krate, &builder.ident);
    let Function { ident, docs, item, arguments, output, is_fallible, .. } = &builder.function;
    // Names that cannot meet those of the user.
    let local = |name: &str| Ident::new(name, Span::mixed_site());
    let (args, passed, task) = (local("args"), local("passed"), local("task"));
    let definition = builder.definition(&Visibility::Inherited, &quote!(plain));
    let passed_tokens = quote!(#passed);
    let values: Vec<TokenStream> = arguments.iter().map(|argument| argument.value(&passed_tokens)).collect();
    let question = is_fallible.then(|| quote_spanned!(at(output)=> ?));
    let call = quote_spanned!(at(output)=> let #task: #krate::eval::Task = #ident(#(#values),*) #question;);
    Ok(quote! {
        #[doc = #docs]
        #item

        const _: () = {
            #definition

            #krate::inventory::submit! {
                #krate::eval::SubmittedEntry(#krate::eval::TaskEntry {
                    name: #name,
                    doc: <#holder as #krate::Params>::DOC,
                    sections: <#holder as #krate::Params>::SECTIONS,
                    params: <#holder as #krate::Params>::params,
                    build: |#args: &#krate::Args<'_>| -> #krate::Result<#krate::eval::Task> {
                        let #passed = <#holder as #krate::Params>::from_args(#args)?;
                        let _ = &#passed;
                        #call
                        ::std::result::Result::Ok(#task.registered_as(#name, #args.to_log()))
                    },
                    replaces: false,
                    in_reference: false,
                })
            }
        };
    })
}

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
