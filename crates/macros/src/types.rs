//! Types as they are written: what a macro can know of them.

use syn::{GenericArgument, Path, PathArguments, Type, TypeParamBound};

/// A type as a path, whatever macro it came through.
pub(crate) fn as_path(ty: &Type) -> Option<&Path> {
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
pub(crate) fn is_exact(ty: &Type) -> bool {
    const EXACT: [&str; 5] = ["bool", "i64", "u32", "u64", "usize"];
    as_path(ty).and_then(Path::get_ident).is_some_and(|ident| EXACT.iter().any(|exact| ident == exact))
}

pub(crate) fn is_f64(ty: &Type) -> bool {
    as_path(ty).is_some_and(|path| path.is_ident("f64"))
}

/// `Arc<dyn Metric>`
pub(crate) fn is_metric(ty: &Type) -> bool {
    let Some(Type::TraitObject(object)) = inner(ty, "Arc") else { return false };
    object.bounds.iter().any(|bound| match bound {
        TypeParamBound::Trait(bound) => {
            bound.path.segments.last().is_some_and(|segment| segment.ident == "Metric")
        }
        _ => false,
    })
}
