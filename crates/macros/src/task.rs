//! `#[task]`

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Result;

use crate::argument::{Argument, at};
use crate::entry::{Entry, args};
use crate::function::{Function, Kind};

const KIND: Kind = Kind {
    name: "task",
    leading: &[],
    returns: "Task",
    may_return_nothing: false,
    may_wait: false,
    reserved: &[],
};

/// The function as written, and an entry that calls it.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let entry = Entry::parse(&KIND, &["name"], options, item)?;
    let Function { docs, item, .. } = &entry.function;
    let registration = entry.registration(
        |fields| quote!(::errorbar::eval::SubmittedEntry(::errorbar::TaskEntry #fields)),
        &quote!(::errorbar::Task),
        &build(&entry),
    );
    Ok(quote! {
        #[doc = #docs]
        #item
        #registration
    })
}

fn build(entry: &Entry) -> TokenStream {
    let Function { ident, arguments, output, is_fallible, .. } = &entry.function;
    let (name, args, task) = (&entry.name, args(), Ident::new("task", Span::mixed_site()));
    let bind = arguments.iter().map(|argument| argument.bind(&argument.read()));
    let locals = arguments.iter().map(Argument::local);
    let question = is_fallible.then(|| quote_spanned!(at(output)=> ?));
    let call = quote_spanned!(at(output)=> let #task: ::errorbar::Task = #ident(#(#locals),*) #question;);
    quote! {
        #(#bind)*
        #call
        ::std::result::Result::Ok(#task.registered_as(#name, #args.to_log()))
    }
}
