//! What stands in the parentheses of the attribute.

use proc_macro2::TokenStream;
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Error, LitStr, Result, Token, braced, bracketed};

/// The options of any attribute; those that it does not have stay empty.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) name: Option<LitStr>,
    pub(crate) wants: Option<TokenStream>,
    pub(crate) role: Option<TokenStream>,
    pub(crate) keys: Option<Vec<LitStr>>,
    /// The metrics as an expression.
    pub(crate) metrics: Option<TokenStream>,
    pub(crate) replaces: bool,
}

impl Options {
    /// Reads the options; `known` are those that the attribute has.
    pub(crate) fn parse(tokens: TokenStream, known: &[&str]) -> Result<Self> {
        let mut options = Options::default();
        let mut seen: Vec<String> = Vec::new();
        let read = |meta: ParseNestedMeta<'_>| {
            let option = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            if !known.contains(&option.as_str()) {
                return Err(meta.error(format!("unknown option; there are: {}", usage(known))));
            }
            if seen.contains(&option) {
                return Err(meta.error(format!("`{option}` is said twice")));
            }
            options.read(&option, &meta)?;
            seen.push(option);
            Ok(())
        };
        syn::meta::parser(read).parse2(tokens)?;
        Ok(options)
    }

    fn read(&mut self, option: &str, meta: &ParseNestedMeta<'_>) -> Result<()> {
        match option {
            "name" => self.name = Some(spec_name(meta.value()?.parse()?)?),
            "wants" => self.wants = Some(wants(&meta.value()?.parse()?)?),
            "role" => self.role = Some(role(&meta.value()?.parse()?)?),
            "keys" => self.keys = Some(keys(meta)?),
            "metrics" => self.metrics = Some(metrics(meta)?),
            _ => self.replaces = true,
        }
        Ok(())
    }
}

fn usage(known: &[&str]) -> String {
    let shown = known.iter().map(|option| match *option {
        "name" => "`name = \"…\"`",
        "wants" => "`wants = \"auto\" | \"reduced\" | \"unreduced\"`",
        "role" => "`role = \"location\" | \"share\" | \"spread\" | \"other\"`",
        "keys" => "`keys = [\"…\"]`",
        "metrics" => "`metrics = [accuracy(), stderr()]`",
        _ => "`replaces`",
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// A name that a spec can say without quotes, and that is no literal there.
fn spec_name(name: LitStr) -> Result<LitStr> {
    let text = name.value();
    let mut chars = text.chars();
    let starts = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    let plain = starts && chars.all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    if !plain {
        let problem = "a name is a letter or `_`, then letters, digits, `_`, `-` and `.`: `pass_rate`";
        return Err(Error::new(name.span(), problem));
    }
    if is_literal(&text) {
        return Err(Error::new(name.span(), format!("specs read `{text}` as a value; choose another name")));
    }
    Ok(name)
}

/// Whether a spec reads this word as a value.
pub(crate) fn is_literal(word: &str) -> bool {
    matches!(word, "true" | "True" | "false" | "False" | "null" | "None")
}

fn wants(text: &LitStr) -> Result<TokenStream> {
    match text.value().as_str() {
        "auto" => Ok(quote!(::errorbar::Wants::Auto)),
        "reduced" => Ok(quote!(::errorbar::Wants::Reduced)),
        "unreduced" => Ok(quote!(::errorbar::Wants::Unreduced)),
        _ => Err(Error::new(text.span(), "a metric wants \"auto\", \"reduced\" or \"unreduced\" scores")),
    }
}

fn role(text: &LitStr) -> Result<TokenStream> {
    match text.value().as_str() {
        "location" => Ok(quote!(::errorbar::MetricRole::Location)),
        "share" => Ok(quote!(::errorbar::MetricRole::Share)),
        "spread" => Ok(quote!(::errorbar::MetricRole::Spread)),
        "other" => Ok(quote!(::errorbar::MetricRole::Other)),
        _ => Err(Error::new(
            text.span(),
            "the role of a metric is \"location\", \"share\", \"spread\" or \"other\"",
        )),
    }
}

fn keys(meta: &ParseNestedMeta<'_>) -> Result<Vec<LitStr>> {
    let value = meta.value()?;
    if !value.peek(syn::token::Bracket) {
        return Err(value.error("write the metadata keys as a list: `keys = [\"category\"]`"));
    }
    let list;
    bracketed!(list in value);
    Ok(Punctuated::<LitStr, Token![,]>::parse_terminated(&list)?.into_iter().collect())
}

/// A list as the macro `metrics!` takes it, or a map alone, for scores that are maps.
fn metrics(meta: &ParseNestedMeta<'_>) -> Result<TokenStream> {
    let value = meta.value()?;
    let items;
    if value.peek(syn::token::Bracket) {
        bracketed!(items in value);
        let items: TokenStream = items.parse()?;
        return Ok(quote!(::errorbar::metrics![#items]));
    }
    if value.peek(syn::token::Brace) {
        braced!(items in value);
        let items: TokenStream = items.parse()?;
        return Ok(quote!(::errorbar::Metrics::Map(::errorbar::metrics!(@map { #items }))));
    }
    Err(value.error("write the metrics as a list: `metrics = [accuracy(), stderr()]`"))
}
