//! The frame of a page: head with its content security policy, top bar, contents, footer.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::svg::{defs, escape};

/// What a page is made of; all strings are markup, but for titles.
pub(super) struct Document {
    pub(super) title: String,
    /// Where the name in the bar leads, on a server.
    pub(super) home: Option<String>,
    pub(super) description: String,
    /// The trail at the top: where the page comes from.
    pub(super) trail: String,
    /// Anchors and titles of the sections.
    pub(super) contents: Vec<(String, String)>,
    pub(super) main: String,
    /// Blocks of data for the script.
    pub(super) data: String,
    pub(super) script: Option<&'static str>,
    pub(super) style: String,
    pub(super) footer: String,
}

impl Document {
    pub(super) fn to_html(&self) -> String {
        let Document { main, data, style, footer, trail, .. } = self;
        let (title, description) = (escape(&self.title), escape(&self.description));
        let script = self.script.unwrap_or_default();
        let script_source = if script.is_empty() { "'none'".to_owned() } else { source(script) };
        let connect = if self.home.is_some() { "'self'" } else { "'none'" };
        let brand = match &self.home {
            Some(home) => format!("<a class=\"brand\" href=\"{}\">{BRAND}errorbar</a>", escape(home)),
            None => format!("<span class=\"brand\">{BRAND}errorbar</span>"),
        };
        let policy = format!(
            "default-src 'none'; style-src {}; script-src {script_source}; connect-src {connect}; base-uri 'none'; form-action \
             'none'",
            source(style)
        );
        let script = if script.is_empty() {
            String::new()
        } else {
            format!("<script type=\"module\">{script}</script>\n")
        };
        let theme = if script.is_empty() {
            ""
        } else {
            "<button class=\"btn\" type=\"button\" id=\"theme\" hidden>Theme: system</button>"
        };
        let mut contents = String::new();
        for (anchor, title) in &self.contents {
            let _ = write!(contents, "<li><a href=\"#{anchor}\">{}</a></li>", escape(title));
        }
        let skip = self.contents.get(1).map_or("top", |(anchor, _)| anchor.as_str());
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta \
             http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n<meta name=\"viewport\" \
             content=\"width=device-width,initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<meta \
             name=\"generator\" content=\"errorbar {version}\">\n<title>{title}: errorbar report</title>\n<meta \
             name=\"description\" content=\"{description}\">\n<style>{style}</style>\n</head>\n<body>\n<svg class=\"vh\" \
             width=\"0\" height=\"0\" aria-hidden=\"true\" focusable=\"false\">{defs}</svg>\n<a class=\"skip\" \
             href=\"#{skip}\">Skip to the figures</a>\n<header class=\"bar\"><div class=\"in\">{brand}<span class=\"crumbs\">{trail}</span><span class=\"push\"></span>{theme}</div></header>\n<div \
             class=\"page\"><nav class=\"toc\" aria-label=\"Sections\"><ul>{contents}</ul></nav>\n<main>{main}</main></div>\n\
             <footer><div class=\"in\">{footer}</div></footer>\n{data}{script}</body>\n</html>\n",
            version = env!("CARGO_PKG_VERSION"),
            defs = defs(),
        )
    }
}

const BRAND: &str = "<svg viewBox=\"0 0 30 14\" aria-hidden=\"true\" focusable=\"false\"><path d=\"M1 2V12M29 2V12M1 7H29\" \
                     fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.75\"/><circle cx=\"15\" cy=\"7\" r=\"4\" \
                     fill=\"currentColor\"/></svg>";

/// The source of an inline block in a content security policy.
fn source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())))
}
