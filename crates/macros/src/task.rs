//! `#[task]`

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Result, Visibility};

use crate::at;
use crate::builder::Builder;
use crate::function::{Function, FunctionKind};

const KIND: FunctionKind = FunctionKind {
    name: "task",
    leading: &[],
    returns: "Task",
    may_return_nothing: false,
    may_wait: false,
    reserved: &[],
};

/// The function as written, and an entry that calls it with the arguments of a spec.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let builder = Builder::parse(&KIND, &["name"], options, item)?;
    let (name, krate, holder) = (&builder.name, builder.krate(), &builder.ident);
    let Function { ident, docs, item, arguments, output, is_fallible, .. } = &builder.function;
    let local = |name: &str| Ident::new(name, Span::mixed_site());
    let (args, passed, task) = (local("args"), local("passed"), local("task"));
    let definition = builder.definition(&Visibility::Inherited, &quote!(plain));
    let passed_tokens = quote!(#passed);
    let values: Vec<TokenStream> = arguments.iter().map(|argument| argument.value(&passed_tokens)).collect();
    let question = is_fallible.then(|| quote_spanned!(at(output)=> ?));
    let call = quote_spanned!(at(output)=> let #task: #krate::eval::Task = #ident(#(#values),*) #question;);
    Ok(quote! {
        #[doc = #docs]
        #item

        const _: () = {
            #definition

            #krate::inventory::submit! {
                #krate::eval::SubmittedEntry(#krate::eval::TaskEntry {
                    name: #name,
                    doc: <#holder as #krate::Params>::DOC,
                    sections: <#holder as #krate::Params>::SECTIONS,
                    params: <#holder as #krate::Params>::params,
                    build: |#args: &#krate::Args<'_>| -> #krate::Result<#krate::eval::Task> {
                        let #passed = <#holder as #krate::Params>::from_args(#args)?;
                        let _ = &#passed;
                        #call
                        ::std::result::Result::Ok(#task.registered_as(#name, #args.to_log()))
                    },
                    replaces: false,
                    in_reference: false,
                })
            }
        };
    })
}
