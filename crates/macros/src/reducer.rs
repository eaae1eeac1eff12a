//! `#[reducer]`

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Result, Type};

use crate::at;
use crate::builder::Builder;
use crate::function::FunctionKind;
use crate::leading::LeadingArgument;

const KIND: FunctionKind = FunctionKind {
    name: "reducer",
    leading: &[LeadingArgument {
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
    let registration = builder.registration(&quote!(registry::ReducerEntry), |entry| entry);
    Ok(quote!(#parts #reducer #registration))
}

fn implementation(builder: &Builder) -> TokenStream {
    let (name, krate, output, leading) =
        (&builder.ident, builder.krate(), &builder.function.output, &builder.leading);
    let reduced = Ident::new("reduced", Span::mixed_site());
    let value = builder.call();
    let value = quote_spanned!(at(output)=> let #reduced: #krate::Score = #value;);
    quote! {
        #[automatically_derived]
        impl #krate::Reducer for #name {
            fn reduce(&self, #(#leading: &[#krate::Score],)*) -> #krate::Result<#krate::Score> {
                #value
                ::std::result::Result::Ok(#reduced)
            }
        }
    }
}
