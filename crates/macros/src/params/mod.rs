//! `#[derive(Params)]`: everything about an entry that follows from its arguments.

mod container;
mod field;

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Result, Visibility};

use self::container::Container;
use self::field::{Field, Param, Presence};
use crate::docs::{Sections, prose, take_docs};

pub(crate) fn expand(input: TokenStream) -> Result<TokenStream> {
    let mut input: DeriveInput = syn::parse2(input)?;
    let container = Container::take(&mut input.attrs)?;
    let docs = take_docs(&mut input.attrs);
    let fields = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => fields.named.iter().map(Field::parse).collect::<Result<Vec<_>>>()?,
            Fields::Unit => Vec::new(),
            Fields::Unnamed(fields) => {
                return Err(Error::new_spanned(fields, "arguments have names: `{ level: Option<f64> }`"));
            }
        },
        _ => return Err(Error::new_spanned(&input.ident, "arguments are the fields of a struct")),
    };
    let sections = Sections::of(&docs);
    let derive = Derive { input: &input, container, docs: prose(&docs), sections, fields };
    derive.check_order()?;
    Ok([derive.params(), derive.methods(), derive.constructor()].into_iter().collect())
}

/// A struct of arguments, read.
struct Derive<'i> {
    input: &'i DeriveInput,
    container: Container,
    docs: String,
    sections: Sections,
    fields: Vec<Field>,
}

impl Derive<'_> {
    fn arguments(&self) -> impl Iterator<Item = &Param> {
        self.fields.iter().filter_map(|field| match field {
            Field::Param(param) => Some(param.as_ref()),
            Field::Skipped(_) => None,
        })
    }

    fn skipped(&self) -> impl Iterator<Item = &Ident> {
        self.fields.iter().filter_map(|field| match field {
            Field::Param(_) => None,
            Field::Skipped(ident) => Some(ident),
        })
    }

    fn check_order(&self) -> Result<()> {
        let mut optional = false;
        for param in self.arguments() {
            if optional && param.presence == Presence::Required {
                let problem = "arguments that must be passed come before those with a default";
                return Err(Error::new(param.ident.span(), problem));
            }
            optional = param.presence != Presence::Required;
        }
        Ok(())
    }

    /// The visibility of what is generated beside the trait.
    fn vis(&self) -> &Visibility {
        &self.input.vis
    }

    /// The implementation of the trait: name, documentation, arguments, parsing, spec.
    fn params(&self) -> TokenStream {
        let Derive { input, container, docs, .. } = self;
        let (ident, krate, name) = (&input.ident, &container.krate, &container.name);
        let (generics, types, bounds) = input.generics.split_for_impl();
        let docs = match &container.doc {
            Some(doc) => quote!(#doc),
            None => quote!(#docs),
        };
        let sections = match &container.sections {
            Some(sections) => quote!(#sections),
            None => self.sections.declaration(krate),
        };
        let params = self.arguments().map(|param| param.declaration(krate));
        let named = self.arguments().filter(|param| param.presence != Presence::Keywords);
        let names: Vec<&str> = named.map(Param::name).collect();
        let read = self.arguments().map(|param| param.read(&names));
        let keywords = self.arguments().filter(|param| param.presence == Presence::Keywords).map(|param| {
            let ident = &param.ident;
            quote!(let spec = self.#ident.add_to(spec);)
        });
        let skipped = self.skipped().map(|ident| quote!(#ident: ::std::default::Default::default()));
        let write = self.arguments().map(|param| param.write(krate));
        let checks = self.arguments().filter_map(Param::check);
        let whole = container.check.as_ref().map(|check| quote!(#check(self)?;));
        let in_reference = container.in_reference;
        let finish = container.finish.as_ref().map(|finish| quote!(let built = #finish(built, args)?;));
        quote! {
            #[automatically_derived]
            impl #generics #krate::Params for #ident #types #bounds {
                const NAME: &'static str = #name;
                const DOC: &'static str = #docs;
                const SECTIONS: #krate::registry::DocSections = #sections;
                const IN_REFERENCE: bool = #in_reference;

                fn params() -> ::std::vec::Vec<#krate::registry::Param> {
                    ::std::vec![#(#params),*]
                }

                fn from_args(args: &#krate::Args<'_>) -> #krate::Result<Self> {
                    let _ = args;
                    let built = Self { #(#read,)* #(#skipped,)* };
                    #finish
                    #krate::Params::check(&built)?;
                    ::std::result::Result::Ok(built)
                }

                fn to_spec(&self) -> #krate::Spec {
                    let spec = #krate::Spec::new(Self::NAME) #(#write)*;
                    #(#keywords)*
                    spec
                }

                fn check(&self) -> #krate::Result<()> {
                    #(#checks)*
                    #whole
                    ::std::result::Result::Ok(())
                }
            }
        }
    }

    /// A setter for each argument that may be left out, and its default.
    fn methods(&self) -> TokenStream {
        let ident = &self.input.ident;
        let (generics, types, bounds) = self.input.generics.split_for_impl();
        let defaults = self.arguments().filter_map(Param::default_fns);
        let setters = self.arguments().filter(|param| param.has_setter && !self.container.plain);
        let setters: Vec<TokenStream> = setters.map(|param| self.setter(param)).collect();
        quote! {
            #[automatically_derived]
            impl #generics #ident #types #bounds {
                #(#setters)*
                #(#defaults)*
            }
        }
    }

    fn setter(&self, param: &Param) -> TokenStream {
        let (vis, ident, docs, skipped) = (self.vis(), &param.ident, param.setter_docs(), self.skipped());
        let (ty, value) = param.parameter(&self.container.krate);
        let value = match param.presence {
            Presence::Optional => quote!(::std::option::Option::Some(#value)),
            Presence::Defaulted | Presence::Required | Presence::Keywords => value,
        };
        quote! {
            #[doc = #docs]
            #[must_use]
            #vis fn #ident(mut self, #ident: #ty) -> Self {
                self.#ident = #value;
                #(self.#skipped = ::std::default::Default::default();)*
                self
            }
        }
    }

    /// The function that takes the arguments that must be passed.
    fn constructor(&self) -> TokenStream {
        let Some(function) = &self.container.constructor else { return TokenStream::new() };
        let (vis, ident, docs, krate) = (self.vis(), &self.input.ident, &self.docs, &self.container.krate);
        let required = self.arguments().filter(|param| param.presence == Presence::Required);
        let parameters = required.map(|param| {
            let (ident, (ty, _)) = (&param.ident, param.parameter(krate));
            quote!(#ident: #ty)
        });
        let fields = self.arguments().map(|param| {
            let (field, default) = (&param.ident, param.default_fn());
            let value = match param.presence {
                Presence::Required => param.parameter(krate).1,
                Presence::Optional => quote!(::std::option::Option::None),
                Presence::Keywords => quote!(::std::default::Default::default()),
                Presence::Defaulted => quote!(#ident::#default()),
            };
            quote!(#field: #value)
        });
        let skipped = self.skipped().map(|ident| quote!(#ident: ::std::default::Default::default()));
        quote! {
            #[doc = #docs]
            #[must_use]
            #vis fn #function(#(#parameters),*) -> #ident {
                #ident { #(#fields,)* #(#skipped,)* }
            }
        }
    }
}
