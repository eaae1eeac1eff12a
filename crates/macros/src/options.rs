//! What stands in the parentheses of the attribute.

use proc_macro2::{Ident, TokenStream};
use syn::meta::ParseNestedMeta;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Error, Expr, LitStr, Path, Result, Token, braced, bracketed};

/// The options of any attribute; those that it does not have stay empty.
#[derive(Default)]
pub(crate) struct Options {
    /// The crate that generated code refers to; `errorbar`, if unset.
    pub(crate) krate: Option<Path>,
    pub(crate) name: Option<LitStr>,
    /// The name of the type that holds the arguments.
    pub(crate) ident: Option<Ident>,
    /// The variants of `Wants`, `MetricRole` and `ScoreParts`.
    pub(crate) wants: Option<Ident>,
    pub(crate) role: Option<Ident>,
    pub(crate) parts: Option<Ident>,
    pub(crate) keys: Option<Vec<LitStr>>,
    pub(crate) metrics: Option<ScorerMetrics>,
    pub(crate) replaces: bool,
    /// Whether the entry stands in a list of its crate, and so is not registered by itself.
    pub(crate) built_in: bool,
    /// The function that says what a solver does or what a scorer needs.
    pub(crate) known: Option<Path>,
    /// The lowest and the highest score.
    pub(crate) range: Option<Expr>,
}

/// What a list of metrics is written as: what the macro `metrics!` takes, or a map alone, for scores that are maps.
pub(crate) enum ScorerMetrics {
    List(TokenStream),
    Map(TokenStream),
}

/// Options that every attribute has, and that no message names: they are for crates below `errorbar`.
const HIDDEN: [&str; 4] = ["crate", "type", "built_in", "known"];

impl Options {
    /// Reads the options; `known` are those that the attribute has.
    pub(crate) fn parse(tokens: TokenStream, known: &[&str]) -> Result<Self> {
        let mut options = Options::default();
        let mut seen: Vec<String> = Vec::new();
        let read = |meta: ParseNestedMeta<'_>| {
            let option = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            if !known.contains(&option.as_str()) && !HIDDEN.contains(&option.as_str()) {
                return Err(meta.error(format!("unknown option; there are: {}", usage(known))));
            }
            if seen.contains(&option) {
                return Err(meta.error(format!("`{option}` is given twice")));
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
            "crate" => self.krate = Some(meta.value()?.call(Path::parse_mod_style)?),
            "name" => self.name = Some(spec_name(meta.value()?.parse()?)?),
            "type" => self.ident = Some(meta.value()?.parse()?),
            "wants" => self.wants = Some(word(meta, &WANTS)?),
            "role" => self.role = Some(word(meta, &ROLES)?),
            "parts" => self.parts = Some(word(meta, &PARTS)?),
            "keys" => self.keys = Some(keys(meta)?),
            "metrics" => self.metrics = Some(metrics(meta)?),
            "known" => self.known = Some(meta.value()?.call(Path::parse_mod_style)?),
            "range" => self.range = Some(meta.value()?.parse()?),
            "replaces" => self.replaces = true,
            _ => self.built_in = true,
        }
        Ok(())
    }
}

/// The words of an option, the variants that they stand for, and what is wrong with any other.
type Words = (&'static [(&'static str, &'static str)], &'static str);

const WANTS: Words = (
    &[("auto", "Auto"), ("reduced", "Reduced"), ("unreduced", "Unreduced")],
    "a metric wants \"auto\", \"reduced\" or \"unreduced\" scores",
);
const ROLES: Words = (
    &[("location", "Location"), ("share", "Share"), ("spread", "Spread"), ("other", "Other")],
    "the role of a metric is \"location\", \"share\", \"spread\" or \"other\"",
);
const PARTS: Words = (
    &[("value", "Value"), ("metadata", "Metadata"), ("all", "All")],
    "a metric reads the \"value\" of scores, their \"metadata\" too, or \"all\" of them",
);

fn word(meta: &ParseNestedMeta<'_>, (words, problem): &Words) -> Result<Ident> {
    let text: LitStr = meta.value()?.parse()?;
    let found = words.iter().find(|(word, _)| *word == text.value());
    let (_, variant) = found.ok_or_else(|| Error::new(text.span(), *problem))?;
    Ok(Ident::new(variant, text.span()))
}

fn usage(known: &[&str]) -> String {
    let shown = known.iter().map(|option| match *option {
        "name" => "`name = \"…\"`",
        "wants" => "`wants = \"auto\" | \"reduced\" | \"unreduced\"`",
        "role" => "`role = \"location\" | \"share\" | \"spread\" | \"other\"`",
        "parts" => "`parts = \"value\" | \"metadata\" | \"all\"`",
        "keys" => "`keys = [\"…\"]`",
        "metrics" => "`metrics = [accuracy(), stderr()]`",
        "range" => "`range = (0.0, 1.0)`",
        _ => "`replaces`",
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// A name that a spec can contain without quotes, and that is no literal there.
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

fn keys(meta: &ParseNestedMeta<'_>) -> Result<Vec<LitStr>> {
    let value = meta.value()?;
    if !value.peek(syn::token::Bracket) {
        return Err(value.error("write the metadata keys as a list: `keys = [\"category\"]`"));
    }
    let list;
    bracketed!(list in value);
    Ok(Punctuated::<LitStr, Token![,]>::parse_terminated(&list)?.into_iter().collect())
}

fn metrics(meta: &ParseNestedMeta<'_>) -> Result<ScorerMetrics> {
    let value = meta.value()?;
    let items;
    if value.peek(syn::token::Bracket) {
        bracketed!(items in value);
        return Ok(ScorerMetrics::List(items.parse()?));
    }
    if value.peek(syn::token::Brace) {
        braced!(items in value);
        return Ok(ScorerMetrics::Map(items.parse()?));
    }
    Err(value.error("write the metrics as a list: `metrics = [accuracy(), stderr()]`"))
}
