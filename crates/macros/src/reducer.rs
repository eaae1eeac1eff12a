//! `#[reducer]`

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Result, Type};

use crate::argument::at;
use crate::builder::Builder;
use crate::function::Kind;

const KIND: Kind = Kind {
    name: "reducer",
    scores: "scores: &[Score]",
    returns: "Result<Score>",
    fits: |ty| matches!(ty, Type::Slice(_)),
};

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let builder = Builder::parse(&KIND, &["name", "replaces"], options, item)?;
    let (definition, methods, constructor) = (builder.definition(), builder.methods(), builder.constructor());
    let reducer = implementation(&builder);
    let registration =
        builder.registration(&quote!(::errorbar::registry::ReducerEntry), &quote!(dyn ::errorbar::Reducer));
    Ok(quote!(#definition #methods #constructor #reducer #registration))
}

fn implementation(builder: &Builder) -> TokenStream {
    let (name, output) = (&builder.function.builder, &builder.function.output);
    let spec = builder.spec();
    let scores = Ident::new("scores", Span::mixed_site());
    let (bind, value) = builder.call(&scores);
    let reduced = Ident::new("reduced", Span::mixed_site());
    let value = quote_spanned!(at(output)=> let #reduced: ::errorbar::Score = #value;);
    quote! {
        #[automatically_derived]
        impl ::errorbar::Reducer for #name {
            #spec

            fn log_name(&self) -> ::std::string::String {
                ::std::string::ToString::to_string(&::errorbar::Reducer::spec(self))
            }

            fn reduce(&self, #scores: &[::errorbar::Score]) -> ::errorbar::Result<::errorbar::Score> {
                #bind
                #value
                ::std::result::Result::Ok(#reduced)
            }
        }
    }
}
