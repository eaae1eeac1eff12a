//! `#[scorer]`

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Error, Result};

use crate::at;
use crate::builder::Builder;
use crate::function::FunctionKind;
use crate::leading::{LeadingArgument, has_name};
use crate::options::ScorerMetrics;

const KIND: FunctionKind = FunctionKind {
    name: "scorer",
    leading: &[
        LeadingArgument { name: "state", ty: "&TaskState", is_mutable: false, fits: has_name },
        LeadingArgument { name: "target", ty: "&Target", is_mutable: false, fits: has_name },
    ],
    returns: "Result<Score>",
    may_return_nothing: false,
    may_wait: true,
    reserved: &["body"],
};

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let builder = Builder::parse(&KIND, &["metrics", "range", "name", "replaces"], options, item)?;
    let Some(metrics) = &builder.options.metrics else {
        let problem =
            "a scorer names the metrics of its scores: `#[scorer(metrics = [accuracy(), stderr()])]`";
        return Err(Error::new(Span::call_site(), problem));
    };
    let (krate, parts, scorer) = (builder.krate(), builder.parts(), implementation(&builder, metrics));
    let registration = builder
        .registration(&quote!(eval::ScorerEntry), |entry| quote!(#krate::eval::SubmittedEntry(#entry)));
    Ok(quote!(#parts #scorer #registration))
}

fn implementation(builder: &Builder, metrics: &ScorerMetrics) -> TokenStream {
    let (name, krate, output) = (&builder.ident, builder.krate(), &builder.function.output);
    let metrics = match metrics {
        ScorerMetrics::List(items) => quote!(#krate::metrics![#items]),
        ScorerMetrics::Map(items) => quote!(#krate::Metrics::Map(#krate::metrics!(@map { #items }))),
    };
    let score = quote!(::std::option::Option<#krate::Score>);
    let value = builder.call();
    let value = quote_spanned!(at(output)=> #krate::eval::IntoScore::into_score(#value));
    let types = [quote!(&'a #krate::eval::TaskState), quote!(&'a #krate::eval::Target)];
    let leading = builder.leading.iter().zip(types).map(|(ident, ty)| quote!(#ident: #ty));
    let needs = builder.options.known.as_ref().map(|known| {
        quote! {
            fn needs(&self) -> #krate::eval::ScorerNeeds {
                #known(self)
            }
        }
    });
    let range = builder.options.range.as_ref().map(|range| {
        quote! {
            fn range(&self) -> ::std::option::Option<(f64, f64)> {
                ::std::option::Option::Some(#range)
            }
        }
    });
    quote! {
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
    }
}
