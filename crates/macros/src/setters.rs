//! The derive `Setters`: one method for each field of a request, and for each field of the parts that it is made of.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Data, DeriveInput, Field, GenericArgument, Meta, PathArguments, Token, Type, parse_quote,
};

pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let ident = &input.ident;
    let Data::Struct(data) = &input.data else {
        return Err(syn::Error::new_spanned(ident, "`Setters` is derived for structs"));
    };
    let (parts, fields): (Vec<&Field>, Vec<&Field>) = data.fields.iter().partition(|field| is_part(field));
    let impls = parts.into_iter().map(|part| access(ident, part)).collect::<syn::Result<TokenStream>>()?;
    if !input.attrs.iter().any(|attribute| attribute.path().is_ident("setters")) {
        let setters = fields.into_iter().map(|field| setter(field, &quote!(pub), &quote!(self)));
        return Ok(quote! {
            #impls
            #[automatically_derived]
            impl #ident { #(#setters)* }
        });
    }
    let name = format_ident!("{ident}Setters");
    let docs = format!("The setters of [`{ident}`], for it and for all requests that it is a part of.");
    let setters = fields.into_iter().map(|field| setter(field, &TokenStream::new(), &quote!(self.as_mut())));
    Ok(quote! {
        #impls
        #[automatically_derived]
        impl ::std::convert::AsMut<#ident> for #ident {
            fn as_mut(&mut self) -> &mut #ident {
                self
            }
        }
        #[doc = #docs]
        pub trait #name: ::std::convert::AsMut<#ident> + Sized { #(#setters)* }
        impl<R: ::std::convert::AsMut<#ident>> #name for R {}
    })
}

/// Whether the fields of a field are options of the request.
fn is_part(field: &Field) -> bool {
    let flattens = |attribute: &Attribute| {
        attribute.path().is_ident("serde")
            && attribute.parse_args::<Meta>().is_ok_and(|meta| meta.path().is_ident("flatten"))
    };
    field.attrs.iter().any(flattens)
}

/// The way from a request to a part of it, and to the parts of that: `#[setters(LimitRequest)]`.
fn access(ident: &syn::Ident, part: &Field) -> syn::Result<TokenStream> {
    let (name, ty) = (&part.ident, &part.ty);
    let listed = part.attrs.iter().find(|attribute| attribute.path().is_ident("setters"));
    let inner = listed.map(|list| list.parse_args_with(Punctuated::<Type, Token![,]>::parse_terminated));
    let inner = inner.transpose()?.into_iter().flatten().map(|ty| (ty, quote!(self.#name.as_mut())));
    let ways = std::iter::once((ty.clone(), quote!(&mut self.#name))).chain(inner);
    Ok(ways
        .map(|(ty, way)| {
            quote! {
                #[automatically_derived]
                impl ::std::convert::AsMut<#ty> for #ident {
                    fn as_mut(&mut self) -> &mut #ty {
                        #way
                    }
                }
            }
        })
        .collect())
}

fn setter(field: &Field, vis: &TokenStream, request: &TokenStream) -> TokenStream {
    let docs = field.attrs.iter().filter(|attribute| attribute.path().is_ident("doc"));
    let ident = &field.ident;
    let (inner, is_optional) = match argument(&field.ty, "Option") {
        Some(inner) => (inner, true),
        None => (&field.ty, false),
    };
    let (ty, value): (Type, TokenStream) = match argument(inner, "Vec") {
        Some(item) => {
            (parse_quote!(impl ::std::convert::Into<crate::OneOrMany<#item>>), quote!(#ident.into().into()))
        }
        None if is_one_of(inner, &["String", "PathBuf", "f64", "Values", "Counts"]) => {
            (parse_quote!(impl ::std::convert::Into<#inner>), quote!(#ident.into()))
        }
        // The type is known, so that a text can be parsed as it.
        None => (inner.clone(), quote!(#ident)),
    };
    let value = if is_optional { quote!(::std::option::Option::Some(#value)) } else { value };
    quote! {
        #(#docs)*
        #[must_use]
        #vis fn #ident(mut self, #ident: #ty) -> Self {
            #request.#ident = #value;
            self
        }
    }
}

/// The argument of a generic type: `T` of `Option<T>`.
fn argument<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|segment| segment.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

fn is_one_of(ty: &Type, names: &[&str]) -> bool {
    matches!(ty, Type::Path(path) if names.iter().any(|name| path.path.is_ident(name)))
}
