//! `#[derive(ArgWord)]`: the variants of an enum as words of specs.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Ident, Result};

pub(crate) fn expand(input: TokenStream) -> Result<TokenStream> {
    let DeriveInput { ident, data, .. } = syn::parse2(input)?;
    let Data::Enum(data) = data else {
        return Err(Error::new_spanned(ident, "words are the variants of an enum"));
    };
    let variants: Vec<&Ident> = data.variants.iter().map(|variant| &variant.ident).collect();
    let words: Vec<String> = variants.iter().map(|variant| kebab_case(variant)).collect();
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    let expected = match quoted.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => quoted.concat(),
    };
    Ok(quote! {
        #[automatically_derived]
        impl ArgWord for #ident {
            const EXPECTED: &'static str = #expected;
            const WORDS: &'static [(&'static str, Self)] = &[#((#words, #ident::#variants)),*];
        }
    })
}

/// `two-sided` for `TwoSided`.
fn kebab_case(ident: &Ident) -> String {
    let mut word = String::new();
    for (at, c) in ident.to_string().char_indices() {
        if c.is_uppercase() && at > 0 {
            word.push('-');
        }
        word.extend(c.to_lowercase());
    }
    word
}
