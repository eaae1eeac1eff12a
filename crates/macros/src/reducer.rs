//! `#[reducer]`

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Result, Type};

use crate::argument::at;
use crate::builder::Builder;
use crate::function::Kind;
use crate::leading::Leading;

const KIND: Kind = Kind {
    name: "reducer",
    leading: &[Leading {
        name: "scores",
        ty: "&[Score]",
        is_mutable: false,
        fits: |ty| matches!(ty, Type::Slice(_)),
    }],
    returns: "Result<Score>",
    may_return_nothing: false,
    may_wait: false,
    reserved: &["body"],
};

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let builder = Builder::parse(&KIND, &["name", "replaces"], options, item)?;
    let (parts, reducer) = (builder.parts(), implementation(&builder));
    let registration = builder.registration(
        |fields| quote!(::errorbar::registry::ReducerEntry #fields),
        &quote!(::std::sync::Arc<dyn ::errorbar::Reducer>),
        &quote!(::std::sync::Arc::new),
    );
    Ok(quote!(#parts #reducer #registration))
}

fn implementation(builder: &Builder) -> TokenStream {
    let (name, output, leading) = (&builder.ident, &builder.function().output, &builder.leading);
    let spec = builder.spec();
    let (bind, value) = builder.call();
    let reduced = Ident::new("reduced", Span::mixed_site());
    let value = quote_spanned!(at(output)=> let #reduced: ::errorbar::Score = #value;);
    quote! {
        #[automatically_derived]
        impl ::errorbar::Reducer for #name {
            #spec

            fn log_name(&self) -> ::std::string::String {
                ::std::string::ToString::to_string(&::errorbar::Reducer::spec(self))
            }

            fn reduce(
                &self,
                #(#leading: &[::errorbar::Score],)*
            ) -> ::errorbar::Result<::errorbar::Score> {
                #bind
                #value
                ::std::result::Result::Ok(#reduced)
            }
        }
    }
}
