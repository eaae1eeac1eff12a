//! `#[solver]`

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Result;

use crate::argument::at;
use crate::builder::Builder;
use crate::function::Kind;
use crate::leading::{Leading, has_name};

const KIND: Kind = Kind {
    name: "solver",
    leading: &[
        Leading { name: "state", ty: "&mut TaskState", is_mutable: true, fits: has_name },
        Leading { name: "generate", ty: "&Generate", is_mutable: false, fits: has_name },
    ],
    returns: "Result<()>",
    may_return_nothing: true,
    may_wait: true,
    reserved: &["body"],
};

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let builder = Builder::parse(&KIND, &["name", "replaces"], options, item)?;
    let (parts, solver) = (builder.parts(), implementation(&builder));
    let registration = builder.registration(
        |fields| quote!(::errorbar::eval::SubmittedEntry(::errorbar::SolverEntry #fields)),
        &quote!(::errorbar::AnySolver),
        &quote!(<::errorbar::AnySolver as ::std::convert::From<_>>::from),
    );
    Ok(quote!(#parts #solver #registration))
}

fn implementation(builder: &Builder) -> TokenStream {
    let (name, output) = (&builder.ident, &builder.function().output);
    let spec = builder.spec();
    let (bind, value) = builder.call();
    let value = quote_spanned!(at(output)=> let (): () = #value;);
    let types = [quote!(&'a mut ::errorbar::TaskState), quote!(&'a ::errorbar::Generate)];
    let leading = builder.leading.iter().zip(types).map(|(ident, ty)| quote!(#ident: #ty));
    quote! {
        #[automatically_derived]
        impl ::errorbar::Solver for #name {
            #spec

            fn solve<'a>(
                &'a self,
                #(#leading,)*
            ) -> ::errorbar::BoxFuture<'a, ::errorbar::Result<()>> {
                ::std::boxed::Box::pin(async move {
                    #bind
                    #value
                    ::std::result::Result::<(), ::errorbar::Error>::Ok(())
                })
            }
        }
    }
}
