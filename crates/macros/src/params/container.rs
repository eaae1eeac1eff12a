//! `#[params(…)]` on the struct.

use syn::{Attribute, Error, Expr, ExprLit, Ident, Lit, Path, Result, parse_quote};

use crate::default::peeled;

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
