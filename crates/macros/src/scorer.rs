//! `#[scorer]`

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Error, Result};

use crate::argument::at;
use crate::builder::Builder;
use crate::function::Kind;
use crate::leading::{Leading, has_name};

const KIND: Kind = Kind {
    name: "scorer",
    leading: &[
        Leading { name: "state", ty: "&TaskState", is_mutable: false, fits: has_name },
        Leading { name: "target", ty: "&Target", is_mutable: false, fits: has_name },
    ],
    returns: "Result<Score>",
    may_return_nothing: false,
    may_wait: true,
    reserved: &["body"],
};

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let builder = Builder::parse(&KIND, &["metrics", "name", "replaces"], options, item)?;
    let Some(metrics) = &builder.options().metrics else {
        let problem =
            "a scorer says what is computed over its scores: `#[scorer(metrics = [accuracy(), stderr()])]`";
        return Err(Error::new(Span::call_site(), problem));
    };
    let (parts, scorer) = (builder.parts(), implementation(&builder, metrics));
    let registration = builder.registration(
        |fields| quote!(::errorbar::eval::SubmittedEntry(::errorbar::ScorerEntry #fields)),
        &quote!(::errorbar::AnyScorer),
        &quote!(<::errorbar::AnyScorer as ::std::convert::From<_>>::from),
    );
    Ok(quote!(#parts #scorer #registration))
}

fn implementation(builder: &Builder, metrics: &TokenStream) -> TokenStream {
    let (name, output) = (&builder.ident, &builder.function().output);
    let spec = builder.spec();
    let (bind, value) = builder.call();
    let score = quote!(::std::option::Option<::errorbar::Score>);
    let value = quote_spanned!(at(output)=> ::errorbar::eval::IntoScore::into_score(#value));
    let types = [quote!(&'a ::errorbar::TaskState), quote!(&'a ::errorbar::Target)];
    let leading = builder.leading.iter().zip(types).map(|(ident, ty)| quote!(#ident: #ty));
    quote! {
        #[automatically_derived]
        impl ::errorbar::Scorer for #name {
            #spec

            fn metrics(&self) -> ::errorbar::Metrics {
                #metrics
            }

            fn score<'a>(
                &'a self,
                #(#leading,)*
            ) -> ::errorbar::BoxFuture<'a, ::errorbar::Result<#score>> {
                ::std::boxed::Box::pin(async move {
                    #bind
                    ::std::result::Result::<#score, ::errorbar::Error>::Ok(#value)
                })
            }
        }
    }
}
