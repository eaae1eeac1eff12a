//! The controls of the sample browser, as markup; `assets/browser.js` fills them.

use maud::{Markup, PreEscaped, html};

use super::{OutcomeVerdict, SampleSet};

/// Where the page finds its samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleOrigin {
    /// In the page, as [`EncodedSamples`](super::EncodedSamples).
    Page,
    /// On the server that the page is from: `samples.json` and `sample.json` beside it.
    Server,
}

/// The verdicts in the order of the key, the class of their squares, and what they mean.
const KEY: [(OutcomeVerdict, &str, &str); 8] = [
    (OutcomeVerdict::Right, "C", "right"),
    (OutcomeVerdict::Partial, "P", "partly right"),
    (OutcomeVerdict::Wrong, "I", "wrong"),
    (OutcomeVerdict::NoAnswer, "N", "no answer found, counts as wrong"),
    (OutcomeVerdict::Other, "O", "other value"),
    (OutcomeVerdict::Unscored, "U", "unscored"),
    (OutcomeVerdict::Errored, "E", "errored"),
    (OutcomeVerdict::Absent, "A", "absent"),
];

impl SampleSet {
    /// What the squares of these samples mean, for the heading of the section.
    pub fn key_html(&self) -> String {
        key(|verdict| self.outcomes.iter().any(|outcome| outcome.verdict == verdict))
    }
}

/// What squares mean, where the samples are not known yet.
pub fn whole_key_html() -> String {
    key(|_| true)
}

fn key(is_used: impl Fn(OutcomeVerdict) -> bool) -> String {
    let used = KEY.iter().filter(|(verdict, ..)| is_used(*verdict));
    html! { p.key.m0 { @for (_, class, words) in used { span { i class={ "v " (class) } {} (words) } } } }
        .into_string()
}

/// The browser without its data, for the section `samples` of a page.
pub fn section_html(origin: SampleOrigin) -> Markup {
    let origin = match origin {
        SampleOrigin::Page => "page",
        SampleOrigin::Server => "server",
    };
    PreEscaped(SECTION.replace("{origin}", origin).replace('\n', ""))
}

const SECTION: &str = r##"<div class="br noprint" id="br" data-origin="{origin}" hidden>
<div class="ctl"><input type="search" id="q" placeholder="Search id, text, answers" aria-label="Search samples" autocomplete="off" spellcheck="false">
<select id="fshow" aria-label="Show"></select>
<select id="fsort" aria-label="Order"></select>
<button class="btn" type="button" id="fmore" aria-expanded="false" aria-controls="fpanel">Filters</button>
<button class="btn" type="button" id="fpair" hidden></button>
<button class="btn" type="button" id="fclear" hidden>Clear</button>
<span class="count" id="count" role="status"></span>
<button class="btn" type="button" id="fcsv">CSV</button></div>
<div class="ctl more" id="fpanel" role="group" aria-label="More filters" hidden></div>
<p class="note omit" id="omit" hidden></p>
<div class="panes"><div class="list" id="list" role="listbox" tabindex="0" aria-label="Samples"></div><div class="det" id="det" role="region" aria-label="Sample" tabindex="-1"></div></div>
<div class="hints" id="hints"><span><kbd>↑</kbd><kbd>↓</kbd> or <kbd>j</kbd><kbd>k</kbd> sample</span><span><kbd>/</kbd> search</span><span><kbd>d</kbd> next disagreement</span><span><kbd>m</kbd> messages</span><button class="btn" type="button" id="keysopen"><kbd>?</kbd> all keys</button></div></div>
<noscript><p class="note">Without scripts the samples are not shown; all figures above are.</p></noscript>
<dialog id="keys" aria-labelledby="h-keys"><h3 id="h-keys">Keys</h3><table><tbody>
<tr><th scope="row"><kbd>↑</kbd> <kbd>↓</kbd> <kbd>j</kbd> <kbd>k</kbd></th><td>previous, next sample</td></tr>
<tr><th scope="row"><kbd>Home</kbd> <kbd>End</kbd></th><td>first, last sample</td></tr>
<tr><th scope="row"><kbd>/</kbd></th><td>search</td></tr>
<tr><th scope="row"><kbd>d</kbd></th><td>next sample on which models or epochs disagree</td></tr>
<tr><th scope="row"><kbd>m</kbd></th><td>open or close messages</td></tr>
<tr><th scope="row"><kbd>Esc</kbd></th><td>clear the filters</td></tr>
<tr><th scope="row"><kbd>?</kbd></th><td>this list</td></tr></tbody></table>
<p class="note"><label><input type="checkbox" id="keyson" checked> single letters are keys</label></p><p><button class="btn" type="button" id="keysx">Close</button></p></dialog>
"##;
