//! `#[derive(Params)]`: everything about an entry that follows from its arguments.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, ExprLit, Fields, GenericArgument, Ident, Lit, Path,
    PathArguments, Result, Type, TypeParamBound, Visibility, parse_quote,
};

use crate::at;
use crate::docs::{Sections, one_line, prose, take_docs};

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

/// The options of the struct.
pub(crate) struct Container {
    /// The crate that has the trait.
    pub(crate) krate: Path,
    /// The name in specs and logs: a string, or a constant.
    pub(crate) name: Expr,
    /// The documentation, where it is not that of the struct.
    pub(crate) doc: Option<Expr>,
    /// The sections of the documentation, where they are not those of the struct.
    pub(crate) sections: Option<Expr>,
    /// The function that makes one in Rust.
    pub(crate) constructor: Option<Ident>,
    /// A check of all arguments together: `fn(&Self) -> Result<()>`.
    pub(crate) check: Option<Path>,
    /// What is left to do where only a spec is known: `fn(Self, &Args) -> Result<Self>`.
    pub(crate) finish: Option<Path>,
    /// Whether only the trait is implemented.
    pub(crate) plain: bool,
    /// Whether the reference has an entry of this name.
    pub(crate) in_reference: bool,
}

impl Container {
    pub(crate) fn take(attrs: &mut Vec<Attribute>) -> Result<Self> {
        let mut krate: Path = parse_quote!(::errorbar::generated);
        let (mut name, mut doc, mut sections, mut constructor) = (None, None, None, None);
        let (mut check, mut finish, mut plain, mut has_constructor) = (None, None, false, true);
        let mut in_reference = false;
        for attr in attrs.extract_if(.., |attr| attr.path().is_ident("params")) {
            attr.parse_nested_meta(|meta| {
                let option = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
                match option.as_str() {
                    "crate" => krate = meta.value()?.call(Path::parse_mod_style)?,
                    "name" => name = Some(meta.value()?.parse()?),
                    "doc" => doc = Some(meta.value()?.parse()?),
                    "sections" => sections = Some(meta.value()?.parse()?),
                    "constructor" => constructor = Some(meta.value()?.parse()?),
                    "no_constructor" => has_constructor = false,
                    "check" => check = Some(meta.value()?.parse()?),
                    "finish" => finish = Some(meta.value()?.parse()?),
                    "plain" => plain = true,
                    "reference" => in_reference = true,
                    _ => return Err(meta.error(UNKNOWN)),
                }
                Ok(())
            })?;
        }
        let name: Expr = name.ok_or_else(|| {
            Error::new(proc_macro2::Span::call_site(), "the name is missing: `#[params(name = \"ci\")]`")
        })?;
        let constructor = match (constructor, peeled(&name)) {
            _ if !has_constructor || plain => None,
            (Some(constructor), _) => Some(constructor),
            (None, Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) => Some(text.parse()?),
            (None, _) => None,
        };
        Ok(Container { krate, name, doc, sections, constructor, check, finish, plain, in_reference })
    }
}

const UNKNOWN: &str = "unknown option; there are: `crate`, `name`, `doc`, `sections`, `constructor`, \
     `no_constructor`, `check`, `finish`, `plain`, `reference`";

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
                    _ => return Err(meta.error(UNKNOWN_OF_FIELD)),
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

const UNKNOWN_OF_FIELD: &str = "unknown option; there are: `default`, `check`, `from`, `map`, `keywords`, `no_setter`, \
     `own`, `reference`, `skip`";

impl Param {
    /// The argument as the registry lists it.
    pub(crate) fn declaration(&self, krate: &Path) -> TokenStream {
        let Param { ty, docs, presence, is_own, .. } = self;
        let (option, to_string) = (quote!(::std::option::Option), quote!(::std::string::ToString::to_string));
        let asterisks = if *presence == Presence::Keywords { "**" } else { "" };
        let (name, doc) = (format!("{asterisks}{}", self.name), one_line(docs));
        let expected = match presence {
            Presence::Keywords => quote!(""),
            _ => quote_spanned!(at(ty)=> <#ty as #krate::ArgType>::EXPECTED),
        };
        let default = match (&self.default, presence) {
            (Some(_), _) => {
                let (default, to_arg) = (self.default_fn(), self.to_arg(krate));
                quote!(#option::Some(#to_string(&#to_arg(&Self::#default()))))
            }
            (None, Presence::Optional) => quote!(#option::Some(#to_string("None"))),
            (None, _) => quote!(#option::None),
        };
        let values = match &self.reference {
            Some(values) => quote!(#option::Some(&#values)),
            None => quote!(#option::None),
        };
        quote! {
            #krate::registry::Param {
                name: #name, doc: #doc, expected: #expected, default: #default, is_own: #is_own,
                reference_values: #values,
            }
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
        let value = default_value(expr, !is_exact(ty) && !is_f64(ty));
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

/// Whether the default is `None`.
pub(crate) fn is_none(expr: &Expr) -> bool {
    matches!(peeled(expr), Expr::Path(path) if path.path.segments.last().is_some_and(|s| s.ident == "None"))
}

/// The default as an expression of the argument's type. Where the type is none of Rust's own
/// (`converts`), a string becomes whatever can be made of one, and a list in brackets becomes a `Vec`.
fn default_value(expr: &Expr, converts: bool) -> TokenStream {
    match peeled(expr) {
        Expr::Lit(literal) if converts && matches!(literal.lit, Lit::Str(_)) => {
            quote_spanned!(at(expr)=> ::std::convert::Into::into(#literal))
        }
        Expr::Array(array) if converts => {
            let items = array.elems.iter().map(|item| default_value(item, true));
            quote_spanned!(at(expr)=> ::std::vec![#(#items),*])
        }
        _ => quote!(#expr),
    }
}

/// Without parentheses, and without the invisible ones of macros.
fn peeled(expr: &Expr) -> &Expr {
    match expr {
        Expr::Group(group) => peeled(&group.expr),
        Expr::Paren(paren) => peeled(&paren.expr),
        other => other,
    }
}

/// A type as a path, whatever macro it came through.
fn as_path(ty: &Type) -> Option<&Path> {
    match ty {
        Type::Path(path) if path.qself.is_none() => Some(&path.path),
        Type::Group(group) => as_path(&group.elem),
        Type::Paren(paren) => as_path(&paren.elem),
        _ => None,
    }
}

/// The `T` of `Option<T>`, `std::option::Option<T>` and the like.
pub(crate) fn inner<'t>(ty: &'t Type, outer: &str) -> Option<&'t Type> {
    let segment = as_path(ty)?.segments.last()?;
    match &segment.arguments {
        PathArguments::AngleBracketed(generics) if segment.ident == outer && generics.args.len() == 1 => {
            match generics.args.first()? {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            }
        }
        _ => None,
    }
}

/// A type that parameters name as it is. `impl Into<T>` would hurt: a literal would become an `i32`, which is not
/// `Into<u64>`.
fn is_exact(ty: &Type) -> bool {
    const EXACT: [&str; 5] = ["bool", "i64", "u32", "u64", "usize"];
    as_path(ty).and_then(Path::get_ident).is_some_and(|ident| EXACT.iter().any(|exact| ident == exact))
}

fn is_f64(ty: &Type) -> bool {
    as_path(ty).is_some_and(|path| path.is_ident("f64"))
}

/// `Arc<dyn Metric>`
fn is_metric(ty: &Type) -> bool {
    let Some(Type::TraitObject(object)) = inner(ty, "Arc") else { return false };
    object.bounds.iter().any(|bound| match bound {
        TypeParamBound::Trait(bound) => {
            bound.path.segments.last().is_some_and(|segment| segment.ident == "Metric")
        }
        _ => false,
    })
}
