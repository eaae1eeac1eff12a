//! `#[metric]`

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Result;

use crate::argument::at;
use crate::builder::Builder;
use crate::function::Kind;
use crate::leading::{Leading, has_name};

const KIND: Kind = Kind {
    name: "metric",
    leading: &[Leading { name: "scores", ty: "&Scores", is_mutable: false, fits: has_name }],
    returns: "Result<f64>",
    may_return_nothing: false,
    may_wait: false,
    reserved: &["body"],
};

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let builder = Builder::parse(&KIND, &["name", "wants", "role", "keys", "replaces"], options, item)?;
    let (parts, metric) = (builder.parts(), implementation(&builder));
    let registration = builder.registration(
        |fields| quote!(::errorbar::registry::MetricEntry #fields),
        &quote!(::std::sync::Arc<dyn ::errorbar::Metric>),
        &quote!(::std::sync::Arc::new),
    );
    Ok(quote!(#parts #metric #registration))
}

fn implementation(builder: &Builder) -> TokenStream {
    let (name, output, leading) = (&builder.ident, &builder.function().output, &builder.leading);
    let spec = builder.spec();
    let (bind, value) = builder.call();
    let value = quote_spanned!(at(output)=> ::std::convert::Into::<::errorbar::MetricValue>::into(#value));
    let wants = builder.options().wants.as_ref().map(|wants| {
        quote! {
            fn wants(&self) -> ::errorbar::Wants {
                #wants
            }
        }
    });
    let role = builder.options().role.as_ref().map(|role| {
        quote! {
            fn role(&self) -> ::errorbar::MetricRole {
                #role
            }
        }
    });
    let keys = builder.options().keys.as_ref().map(|keys| {
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
                #(#leading: &::errorbar::Scores<'_>,)*
            ) -> ::errorbar::Result<::errorbar::MetricValue> {
                #bind
                ::std::result::Result::Ok(#value)
            }

            #wants
            #role
            #keys
        }
    }
}
