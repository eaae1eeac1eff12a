//! One field: an argument, or what is derived from the others.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Error, Expr, Path, Result, Type};

use crate::at;
use crate::default;
use crate::docs::{one_line, take_docs};
use crate::types::{inner, is_exact, is_f64, is_metric};

/// A field of the struct.
pub(crate) enum Field {
    Param(Box<Param>),
    /// `#[param(skip)]`: not an argument. It starts as its default, and every setter resets it.
    Skipped(Ident),
}

/// Whether an argument must be passed, and what a field holds if it is not.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// `T`: it must be passed.
    Required,
    /// `Option<T>`: the field shows whether it was passed.
    Optional,
    /// `T` with a default: it is recorded if it differs from the default.
    Defaulted,
    /// Any number of keyword arguments that no other field names.
    Keywords,
}

/// An argument.
pub(crate) struct Param {
    pub(crate) ident: Ident,
    /// The name in specs and logs.
    name: String,
    /// The type of what is passed: for an `Option<T>`, a `T`.
    ty: Type,
    docs: String,
    pub(crate) presence: Presence,
    default: Option<Expr>,
    /// `fn(&T) -> Result<(), String>`: why a value is refused.
    check: Option<Path>,
    /// The type that Rust passes, and what makes the field of it.
    from: Option<Type>,
    map: Option<Path>,
    pub(crate) has_setter: bool,
    /// Whether the reference's entry of this name has no such argument.
    is_own: bool,
    /// The values that the reference's argument takes, where ours takes more.
    reference: Option<Expr>,
}

impl Field {
    pub(crate) fn parse(field: &syn::Field) -> Result<Self> {
        let ident = field.ident.clone().ok_or_else(|| Error::new_spanned(field, "arguments have names"))?;
        let option = inner(&field.ty, "Option");
        let mut param = Param {
            name: ident.unraw().to_string(),
            ident,
            ty: option.unwrap_or(&field.ty).clone(),
            docs: take_docs(&mut field.attrs.clone()),
            presence: Presence::Required,
            default: None,
            check: None,
            from: None,
            map: None,
            has_setter: true,
            is_own: false,
            reference: None,
        };
        let (mut is_skipped, mut takes_keywords) = (false, false);
        for attr in field.attrs.iter().filter(|attr| attr.path().is_ident("param")) {
            attr.parse_nested_meta(|meta| {
                let option = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
                match option.as_str() {
                    "default" => param.default = Some(meta.value()?.parse()?),
                    "check" => param.check = Some(meta.value()?.parse()?),
                    "from" => param.from = Some(meta.value()?.parse()?),
                    "map" => param.map = Some(meta.value()?.parse()?),
                    "no_setter" => param.has_setter = false,
                    "own" => param.is_own = true,
                    "reference" => param.reference = Some(meta.value()?.parse()?),
                    "keywords" => takes_keywords = true,
                    "skip" => is_skipped = true,
                    _ => return Err(meta.error(UNKNOWN)),
                }
                Ok(())
            })?;
        }
        if is_skipped {
            return Ok(Field::Skipped(param.ident));
        }
        param.presence = match (option, &param.default) {
            _ if takes_keywords => Presence::Keywords,
            (Some(_), _) => Presence::Optional,
            (None, Some(_)) => Presence::Defaulted,
            (None, None) => Presence::Required,
        };
        param.has_setter &= !matches!(param.presence, Presence::Required | Presence::Keywords);
        Ok(Field::Param(Box::new(param)))
    }
}

const UNKNOWN: &str = "unknown option; there are: `default`, `check`, `from`, `map`, `keywords`, `no_setter`, \
     `own`, `reference`, `skip`";

impl Param {
    /// The argument as the registry lists it.
    pub(crate) fn declaration(&self, krate: &Path) -> TokenStream {
        let (param, own) = (self.plain_declaration(krate), self.is_own.then(|| quote!(.own())));
        let values = self.reference.as_ref().map(|values| quote!(.with_reference_values(&#values)));
        let ty = &self.ty;
        let expected = (self.presence != Presence::Keywords)
            .then(|| quote_spanned!(at(ty)=> .of_type(<#ty as #krate::ArgType>::EXPECTED)));
        quote!(#param #expected #own #values)
    }

    fn plain_declaration(&self, krate: &Path) -> TokenStream {
        let (name, docs) = (&self.name, one_line(&self.docs));
        let param = quote!(#krate::registry::Param);
        match (&self.default, self.presence) {
            (Some(_), _) => {
                let (default, to_arg) = (self.default_fn(), self.to_arg(krate));
                quote!(#param::optional(#name, #docs, #to_arg(&Self::#default())))
            }
            (None, Presence::Keywords) => {
                let name = format!("**{name}");
                quote!(#param::keywords(#name, #docs))
            }
            (None, Presence::Optional) => quote!(#param::optional(#name, #docs, "None")),
            (None, _) => quote!(#param::required(#name, #docs)),
        }
    }

    /// The field from what a spec passes.
    pub(crate) fn read(&self, others: &[&str]) -> TokenStream {
        let Param { ident, name, ty, .. } = self;
        let default = self.default_fn();
        match self.presence {
            Presence::Keywords => quote!(#ident: args.keywords(&[#(#others),*])?),
            Presence::Required => quote!(#ident: args.required::<#ty>(#name)?),
            Presence::Optional => quote!(#ident: args.get::<#ty>(#name)?),
            Presence::Defaulted => quote!(#ident: args.get::<#ty>(#name)?.unwrap_or_else(Self::#default)),
        }
    }

    /// The call that adds the argument to a spec, if it was passed.
    pub(crate) fn write(&self, krate: &Path) -> TokenStream {
        let (name, ident, to_arg) = (&self.name, &self.ident, self.to_arg(krate));
        let default = self.default_fn();
        match self.presence {
            Presence::Required => quote!(.kwarg(#name, #to_arg(&self.#ident))),
            Presence::Optional => {
                quote!(.kwarg_some(#name, ::std::option::Option::map(self.#ident.as_ref(), #to_arg)))
            }
            Presence::Defaulted => {
                let passed = quote!((self.#ident != Self::#default()).then(|| #to_arg(&self.#ident)));
                quote!(.kwarg_some(#name, #passed))
            }
            Presence::Keywords => TokenStream::new(),
        }
    }

    /// The name in specs.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The function that writes the argument; rustc points at the type if there is none.
    fn to_arg(&self, krate: &Path) -> TokenStream {
        let ty = &self.ty;
        quote_spanned!(at(ty)=> <#ty as #krate::ArgType>::to_arg)
    }

    /// The statement that refuses a value.
    pub(crate) fn check(&self) -> Option<TokenStream> {
        let (check, ident, name) = (self.check.as_ref()?, &self.ident, &self.name);
        let passed = match self.presence {
            Presence::Optional => quote!(self.#ident.as_ref()),
            Presence::Required | Presence::Defaulted | Presence::Keywords => {
                quote!(::std::option::Option::Some(&self.#ident))
            }
        };
        Some(quote! {
            if let ::std::option::Option::Some(::std::result::Result::Err(problem)) = #passed.map(|passed| #check(passed)) {
                return ::std::result::Result::Err(Self::refuse(#name, problem));
            }
        })
    }

    /// The name of the function that gives the default.
    pub(crate) fn default_fn(&self) -> Ident {
        format_ident!("default_{}", self.name, span = self.ident.span())
    }

    /// The default, and what is in force: what was passed, or the default.
    pub(crate) fn default_fns(&self) -> Option<TokenStream> {
        let (expr, ty, ident, default) = (self.default.as_ref()?, &self.ty, &self.ident, self.default_fn());
        let value = default::value(expr, !is_exact(ty) && !is_f64(ty));
        let in_force = format_ident!("{}_or_default", self.name, span = self.ident.span());
        let in_force = (self.presence == Presence::Optional).then(|| {
            quote! {
                #[allow(dead_code, reason = "some compare with the default instead")]
                fn #in_force(&self) -> #ty {
                    ::std::option::Option::unwrap_or_else(
                        ::std::clone::Clone::clone(&self.#ident),
                        Self::#default,
                    )
                }
            }
        });
        Some(quote! {
            fn #default() -> #ty {
                #value
            }
            #in_force
        })
    }

    pub(crate) fn setter_docs(&self) -> String {
        if self.docs.is_empty() { format!("Sets `{}`.", self.name) } else { self.docs.clone() }
    }

    /// The type of the parameter by which Rust passes the argument, and the conversion to the field.
    pub(crate) fn parameter(&self, krate: &Path) -> (TokenStream, TokenStream) {
        let (ty, value) = self.plain_parameter(krate);
        let value = match &self.map {
            Some(map) => quote!(#map(#value)),
            None => value,
        };
        (ty, value)
    }

    /// `impl Into<T>` wherever it helps.
    fn plain_parameter(&self, krate: &Path) -> (TokenStream, TokenStream) {
        let ident = &self.ident;
        let ty = self.from.as_ref().unwrap_or(&self.ty);
        if is_exact(ty) {
            return (quote!(#ty), quote!(#ident));
        }
        if is_metric(ty) {
            return (quote!(impl #krate::Metric + 'static), quote!(::std::sync::Arc::new(#ident)));
        }
        let iter = quote!(::std::iter::IntoIterator::into_iter(#ident));
        match inner(ty, "Vec") {
            Some(item) if is_exact(item) => {
                let list = quote!(impl ::std::iter::IntoIterator<Item = #item>);
                (list, quote!(::std::iter::Iterator::collect(#iter)))
            }
            Some(item) if !is_metric(item) && inner(item, "Option").is_none() => {
                let list = quote!(impl ::std::iter::IntoIterator<Item = impl ::std::convert::Into<#item>>);
                let items = quote!(::std::iter::Iterator::map(#iter, ::std::convert::Into::into));
                (list, quote!(::std::iter::Iterator::collect(#items)))
            }
            _ => (quote!(impl ::std::convert::Into<#ty>), quote!(::std::convert::Into::into(#ident))),
        }
    }
}
