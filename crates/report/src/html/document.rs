//! The frame of a page: head with its content security policy, top bar, contents, footer.

use std::fmt::Write as _;

use crate::assets::policy_source;
use crate::svg::{defs, escape};

/// What a page is made of; all strings are markup, but for titles.
pub(super) struct Document {
    pub(super) title: String,
    pub(super) description: String,
    /// The trail at the top: where the page comes from.
    pub(super) trail: String,
    /// Anchors and titles of the sections.
    pub(super) contents: Vec<(String, String)>,
    pub(super) main: String,
    /// Blocks of data for the script.
    pub(super) data: String,
    pub(super) script: &'static str,
    /// Whether the script may fetch samples from the server that the page is from.
    pub(super) is_served: bool,
    pub(super) style: String,
    pub(super) footer: String,
}

impl Document {
    pub(super) fn to_html(&self) -> String {
        let Document { main, data, style, footer, trail, .. } = self;
        let (title, description) = (escape(&self.title), escape(&self.description));
        let script = self.script;
        let connections = if self.is_served { "'self'" } else { "'none'" };
        let policy = format!(
            "default-src 'none'; style-src {}; script-src {}; connect-src {connections}; base-uri 'none'; form-action 'none'",
            policy_source(style),
            policy_source(script)
        );
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
             href=\"#{skip}\">Skip to the figures</a>\n<header class=\"bar\"><div class=\"in\"><span class=\"brand\">{BRAND}\
             errorbar</span><span class=\"crumbs\">{trail}</span><span class=\"push\"></span><button class=\"btn js\" type=\"button\" id=\"theme\" \
             hidden>Theme: system</button></div></header>\n<div \
             class=\"page\"><nav class=\"toc\" aria-label=\"Sections\"><ul>{contents}</ul></nav>\n<main>{main}</main></div>\n\
             <footer><div class=\"in\">{footer}</div></footer>\n{data}<script type=\"module\">{script}</script>\n</body>\n</html>\n",
            version = env!("CARGO_PKG_VERSION"),
            defs = defs(),
        )
    }
}

const BRAND: &str = "<svg viewBox=\"0 0 30 14\" aria-hidden=\"true\" focusable=\"false\"><path d=\"M1 2V12M29 2V12M1 7H29\" \
                     fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.75\"/><circle cx=\"15\" cy=\"7\" r=\"4\" \
                     fill=\"currentColor\"/></svg>";
