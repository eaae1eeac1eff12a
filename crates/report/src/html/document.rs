//! The frame of a page: head with its content security policy, top bar, contents, footer.

use maud::{Markup, PreEscaped, html};

use crate::assets::policy_source;
use crate::svg::{brand, defs, visible};

/// What a page is made of.
pub(super) struct Document {
    pub(super) title: String,
    pub(super) description: String,
    /// The trail at the top: where the page comes from.
    pub(super) trail: Markup,
    /// Anchors and titles of the sections.
    pub(super) contents: Vec<(String, String)>,
    pub(super) main: Markup,
    /// Blocks of data for the script.
    pub(super) data: String,
    pub(super) script: &'static str,
    /// Whether the script may fetch samples from the server that the page is from.
    pub(super) is_served: bool,
    pub(super) style: String,
    pub(super) footer: Markup,
}

impl Document {
    pub(super) fn to_html(&self) -> String {
        let policy = format!(
            "default-src 'none'; style-src {}; script-src {}; connect-src {}; base-uri 'none'; form-action 'none'",
            policy_source(&self.style),
            policy_source(self.script),
            if self.is_served { "'self'" } else { "'none'" }
        );
        let page = html! {
            (PreEscaped("<!doctype html>"))
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width,initial-scale=1";
                    meta name="referrer" content="no-referrer";
                    meta name="generator" content={ "errorbar " (env!("CARGO_PKG_VERSION")) };
                    title { (visible(&self.title)) ": errorbar report" }
                    meta name="description" content=(visible(&self.description));
                    style { (PreEscaped(&self.style)) }
                }
                body {
                    // Names are escaped where they are put in. What is invisible in them is shown here, so that no
                    // place can forget it.
                    (PreEscaped(visible(&self.shown().0)))
                    (PreEscaped(&self.data))
                    script type="module" { (PreEscaped(self.script)) }
                }
            }
        };
        page.into_string() + "\n"
    }

    /// The page without its data and its script.
    fn shown(&self) -> Markup {
        let skip = self.contents.get(1).map_or("top", |(anchor, _)| anchor.as_str());
        html! {
            svg.vh width="0" height="0" aria-hidden="true" focusable="false" { (defs()) }
            a.skip href={ "#" (skip) } { "Skip to the figures" }
            header.bar {
                div.in {
                    span.brand { (brand()) "errorbar" }
                    span.crumbs { (self.trail) }
                    span.push {}
                    button.btn.js type="button" id="theme" hidden { "Theme: system" }
                }
            }
            div.page {
                nav.toc aria-label="Sections" {
                    ul { @for (anchor, title) in &self.contents { li { a href={ "#" (anchor) } { (title) } } } }
                }
                main { (self.main) }
            }
            footer { div.in { (self.footer) } }
        }
    }
}
