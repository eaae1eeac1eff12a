//! `#[metric]`

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Result;

use crate::at;
use crate::builder::Builder;
use crate::function::FunctionKind;
use crate::leading::{LeadingArgument, has_name};

const KIND: FunctionKind = FunctionKind {
    name: "metric",
    leading: &[LeadingArgument { name: "scores", ty: "&Scores", is_mutable: false, fits: has_name }],
    returns: "Result<f64>",
    may_return_nothing: false,
    may_wait: false,
    reserved: &["body"],
};

const OPTIONS: [&str; 7] = ["name", "wants", "role", "keys", "parts", "state", "replaces"];

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let builder = Builder::parse(&KIND, &OPTIONS, options, item)?;
    let (parts, metric) = (builder.parts(), implementation(&builder));
    let registration = builder.registration(&quote!(registry::MetricEntry), |entry| entry);
    Ok(quote!(#parts #metric #registration))
}

fn implementation(builder: &Builder) -> TokenStream {
    let (name, krate, options) = (&builder.ident, builder.krate(), &builder.options);
    let compute = if options.state { by_state(builder) } else { at_once(builder) };
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
    quote! {
        #[automatically_derived]
        impl #krate::Metric for #name {
            #compute
            #(#methods)*
        }
    }
}

/// The function computes the value.
fn at_once(builder: &Builder) -> TokenStream {
    let (krate, output, leading, value) =
        (builder.krate(), &builder.function.output, &builder.leading, builder.call());
    let value = quote_spanned!(at(output)=> ::std::convert::Into::<#krate::MetricValue>::into(#value));
    quote! {
        fn compute(&self, #(#leading: &#krate::Scores<'_>,)*) -> #krate::Result<#krate::MetricValue> {
            ::std::result::Result::Ok(#value)
        }
    }
}

/// The function makes an empty state, which is all that the metric is computed by.
fn by_state(builder: &Builder) -> TokenStream {
    let (krate, output, state) = (builder.krate(), &builder.function.output, builder.call());
    let state = quote_spanned!(at(output)=> ::std::boxed::Box::new(#state));
    quote! {
        fn compute(&self, scores: &#krate::Scores<'_>) -> #krate::Result<#krate::MetricValue> {
            let mut state: ::std::boxed::Box<dyn #krate::MetricState> = #state;
            state.update(scores)?;
            state.finish(::std::default::Default::default())
        }

        fn state(
            &self,
            _: &#krate::Estimation,
        ) -> ::std::option::Option<::std::boxed::Box<dyn #krate::MetricState>> {
            let state = || -> #krate::Result<::std::boxed::Box<dyn #krate::MetricState>> {
                ::std::result::Result::Ok(#state)
            };
            state().ok()
        }
    }
}
