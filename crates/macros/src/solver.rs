//! `#[solver]`

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Result;

use crate::at;
use crate::builder::Builder;
use crate::function::FunctionKind;
use crate::leading::{LeadingArgument, has_name};

const KIND: FunctionKind = FunctionKind {
    name: "solver",
    leading: &[
        LeadingArgument { name: "state", ty: "&mut TaskState", is_mutable: true, fits: has_name },
        LeadingArgument { name: "generate", ty: "&Generate", is_mutable: false, fits: has_name },
    ],
    returns: "Result<()>",
    may_return_nothing: true,
    may_wait: true,
    reserved: &["body"],
};

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let builder = Builder::parse(&KIND, &["name", "replaces"], options, item)?;
    let (krate, parts, solver) = (builder.krate(), builder.parts(), implementation(&builder));
    let registration = builder
        .registration(&quote!(eval::SolverEntry), |entry| quote!(#krate::eval::SubmittedEntry(#entry)));
    Ok(quote!(#parts #solver #registration))
}

fn implementation(builder: &Builder) -> TokenStream {
    let (name, krate, output) = (&builder.ident, builder.krate(), &builder.function.output);
    let value = builder.call();
    let value = quote_spanned!(at(output)=> let (): () = #value;);
    let types = [quote!(&'a mut #krate::eval::TaskState), quote!(&'a #krate::eval::Generate)];
    let leading = builder.leading.iter().zip(types).map(|(ident, ty)| quote!(#ident: #ty));
    let effects = builder.options.known.as_ref().map(|known| {
        quote! {
            fn effects(&self) -> #krate::eval::SolverEffects {
                #known(self)
            }
        }
    });
    quote! {
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
    }
}
