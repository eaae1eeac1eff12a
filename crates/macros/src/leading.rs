//! What a function gets before the arguments that specs pass: the scores, the state, the target.

use std::fmt;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Error, Pat, PatType, PathArguments, Result, Type, parse_quote};

/// One of them, as it should be written.
pub(crate) struct LeadingArgument {
    /// `scores`
    pub(crate) name: &'static str,
    /// `&Scores`
    pub(crate) ty: &'static str,
    /// Whether it is a `&mut`.
    pub(crate) is_mutable: bool,
    /// Whether a type fits behind the `&`.
    pub(crate) fits: fn(&Type) -> bool,
}

impl fmt::Display for LeadingArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.ty)
    }
}

/// A type that has a name; whether it is the right one, only rustc knows.
pub(crate) fn has_name(ty: &Type) -> bool {
    matches!(ty, Type::Path(_) | Type::Group(_))
}

impl LeadingArgument {
    /// Checks it against what was written, and writes out the lifetime that `&Scores` leaves out: some
    /// crates have the lint on that wants it. Returns where the type is.
    pub(crate) fn take(&self, written: &mut PatType, problem: &str) -> Result<Span> {
        let wrong = Error::new_spanned(&written.ty, problem);
        if let Some(attr) = written.attrs.iter().find(|attr| attr.path().is_ident("default")) {
            return Err(Error::new_spanned(attr, format!("{problem}; it has no default")));
        }
        let Type::Reference(reference) = written.ty.as_mut() else { return Err(wrong) };
        if reference.mutability.is_some() != self.is_mutable || !(self.fits)(&reference.elem) {
            return Err(wrong);
        }
        if !matches!(written.pat.as_ref(), Pat::Ident(_) | Pat::Wild(_)) {
            return Err(Error::new_spanned(&written.pat, problem));
        }
        if let Type::Path(path) = reference.elem.as_mut()
            && let Some(last) = path.path.segments.last_mut()
            && last.ident == "Scores"
            && last.arguments.is_none()
        {
            last.arguments = PathArguments::AngleBracketed(parse_quote!(<'_>));
        }
        Ok(reference.elem.span())
    }
}
