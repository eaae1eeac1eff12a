//! `#[metric]`

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Result, Type};

use crate::argument::at;
use crate::builder::Builder;
use crate::function::Kind;

const KIND: Kind = Kind {
    name: "metric",
    scores: "scores: &Scores",
    returns: "Result<f64>",
    fits: |ty| matches!(ty, Type::Path(_) | Type::Group(_)),
};

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let builder = Builder::parse(&KIND, &["name", "wants", "keys", "replaces"], options, item)?;
    let (definition, methods, constructor) = (builder.definition(), builder.methods(), builder.constructor());
    let metric = implementation(&builder);
    let registration =
        builder.registration(&quote!(::errorbar::registry::MetricEntry), &quote!(dyn ::errorbar::Metric));
    Ok(quote!(#definition #methods #constructor #metric #registration))
}

fn implementation(builder: &Builder) -> TokenStream {
    let (name, output) = (&builder.function.builder, &builder.function.output);
    let spec = builder.spec();
    let scores = Ident::new("scores", Span::mixed_site());
    let (bind, value) = builder.call(&scores);
    let value = quote_spanned!(at(output)=> ::std::convert::Into::<::errorbar::MetricValue>::into(#value));
    let wants = builder.options.wants.as_ref().map(|wants| {
        quote! {
            fn wants(&self) -> ::errorbar::Wants {
                #wants
            }
        }
    });
    let keys = builder.options.keys.as_ref().map(|keys| {
        quote! {
            fn metadata_keys(&self) -> ::errorbar::MetadataKeys {
                ::errorbar::MetadataKeys::Only(::std::vec![#(::std::borrow::ToOwned::to_owned(#keys)),*])
            }
        }
    });
    quote! {
        #[automatically_derived]
        impl ::errorbar::Metric for #name {
            #spec

            fn compute(
                &self,
                #scores: &::errorbar::Scores<'_>,
            ) -> ::errorbar::Result<::errorbar::MetricValue> {
                #bind
                ::std::result::Result::Ok(#value)
            }

            #wants
            #keys
        }
    }
}
