//! Numbers in tables: value ± error, intervals, and the same at full precision for programs.

use errorbar_core::{Estimate, IntervalSide};
use maud::{Markup, PreEscaped, Render, html};

use super::task::FigureCell;
use crate::figure::{ChanceLevel, EstimateText, IntervalText, TextParts};
use crate::svg::{Scale, axis, axis_height, axis_width};
use crate::text::{grouped, in_thousands};

/// The texts of the figures of a column, so that decimals stand under decimals.
#[derive(Debug)]
pub struct NumberColumn {
    /// The most decimals of a value, and of an end of an interval.
    decimals: usize,
}

impl NumberColumn {
    /// The column of these figures.
    pub fn of<'a>(estimates: impl IntoIterator<Item = &'a Estimate>, is_signed: bool) -> Self {
        let most = estimates.into_iter().map(|estimate| decimals(&texts(estimate, is_signed).value));
        NumberColumn { decimals: most.max().unwrap_or(0) }
    }

    /// `0.847 ± 0.026`.
    pub(super) fn value(&self, cell: &FigureCell) -> Markup {
        self.figure(&cell.estimate, cell.is_estimate, false)
    }

    /// The same of an estimate; `± ?` if it has no error.
    pub fn estimate(&self, estimate: &Estimate) -> Markup {
        self.figure(estimate, true, false)
    }

    /// `+0.116 ± 0.040`.
    pub(super) fn difference(&self, estimate: &Estimate) -> Markup {
        self.figure(estimate, true, true)
    }

    fn figure(&self, estimate: &Estimate, is_estimate: bool, is_signed: bool) -> Markup {
        let TextParts { value, error, .. } = texts(estimate, is_signed);
        if estimate.value.is_err() {
            return html! { span.undef { (value) } };
        }
        let pad = self.padding(&value);
        let value = minus(&thousands(&value));
        html! {
            span.num.pmv.wide[NumberColumn::is_wide(estimate)] {
                @match error {
                    Some(error) => {
                        b class={ "v0" (pad) } { (value) }
                        i { "±" }
                        span class={ "e0" (pad) } { (minus(&thousands(&error))) }
                    }
                    None if is_estimate => { b.v0 { (value) } i { "±" } span.q0 { "?" } }
                    None => { b class={ "v0" (pad) } { (value) } }
                }
            }
        }
    }

    /// `0.796 … 0.899`, `≥ 0.712`; empty without an interval.
    pub(super) fn interval(&self, estimate: &Estimate, is_signed: bool) -> Markup {
        let Some(interval) = texts(estimate, false).interval.filter(|_| estimate.value.is_ok()) else {
            return Markup::default();
        };
        let sign = |text: &str| match is_signed && !text.starts_with('-') && !is_zero(text) {
            true => format!("+{}", thousands(text)),
            false => minus(&thousands(text)),
        };
        html! {
            span.num.ivv {
                @match interval {
                    IntervalText::TwoSided(lower, upper) => {
                        @let pad = self.padding(&lower);
                        span class={ "v0" (pad) } { (sign(&lower)) }
                        i { "…" }
                        span class={ "e0" (pad) } { (sign(&upper)) }
                    }
                    IntervalText::Lower(bound) => { i { "≥" } (sign(&bound)) }
                    IntervalText::Upper(bound) => { i { "≤" } (sign(&bound)) }
                }
            }
        }
    }

    /// Whether a figure with its error needs more room than one of a few digits.
    pub(super) fn is_wide(estimate: &Estimate) -> bool {
        const ROOM: usize = 15;
        thousands(&EstimateText::from(estimate).short()).chars().count() > ROOM && estimate.value.is_ok()
    }

    /// The class that fills up missing decimals.
    fn padding(&self, text: &str) -> &'static str {
        match self.decimals.saturating_sub(decimals(text)) {
            0 => "",
            1 => " p1",
            2 => " p2",
            _ => " p3",
        }
    }
}

fn texts(estimate: &Estimate, is_signed: bool) -> TextParts {
    let text = EstimateText::from(estimate);
    if is_signed { text.signed().texts() } else { text.texts() }
}

fn is_zero(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, b'0' | b'.'))
}

fn decimals(text: &str) -> usize {
    text.split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

/// The text with a real minus sign.
pub(super) fn minus(text: &str) -> String {
    text.replace('-', "\u{2212}")
}

/// The text with commas between the thousands of its numbers: `1,092,584,950`. Numbers up to 9999 and with exponents stay.
pub(super) fn thousands(text: &str) -> String {
    let mut grouped = String::with_capacity(text.len() + 4);
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c: char| !c.is_ascii_digit()).unwrap_or(from.len());
        let (digits, after) = from.split_at(end);
        grouped.push_str(before);
        // Not the decimals, nor the digits of an exponent.
        let is_whole = !before.ends_with(['.', 'e']) && !before.ends_with("e-") && !after.starts_with('e');
        grouped += &if is_whole && digits.len() > 4 { in_thousands(digits) } else { digits.to_owned() };
        rest = after;
    }
    grouped + rest
}

/// `0.847 ± 0.026` in a sentence, which does not break.
pub(super) fn inline(estimate: &Estimate) -> Markup {
    html! { span.nw { (minus(&thousands(&EstimateText::from(estimate).short()))) } }
}

/// The axis above a column of plots; where the column is narrower than its labels, it does without some of them.
pub(super) fn axis_head(scale: &Scale, chance: Option<ChanceLevel>) -> Markup {
    let room = match axis_width(scale) {
        ..200.0 => "a200",
        200.0..300.0 => "a300",
        _ => "a400",
    };
    let mut drawn = axis(scale, chance);
    if *scale == Scale::unit() {
        // In the middle there is no tick; a narrow axis has 0, 0.5 and 1.
        let y = axis_height(scale, chance) - 8;
        let middle = format!("<text class=\"tick t5\" x=\"50%\" y=\"{y}\">0.5</text></svg>");
        drawn.0 = drawn.0.replace("</svg>", &middle);
    }
    html! { div.axw.(room) { (drawn) } }
}

/// A table whose rows have a drawing on a common scale.
pub(super) fn drawn_table(class: &str, scale: &Scale, label: &str, heads: &Markup, rows: &Markup) -> Markup {
    html! {
        table class=(class) data-scale=(scale.ends()) role="table" aria-label=(label) {
            thead role="rowgroup" { tr role="row" { (heads) } }
            (rows)
        }
    }
}

/// The head of a column of a table.
pub(super) fn head(class: &str, title: impl Render) -> Markup {
    html! { th role="columnheader" scope="col" class=[Some(class).filter(|class| !class.is_empty())] { (title) } }
}

/// The head of the column of drawings.
pub(super) fn drawn_head(scale: &Scale, chance: Option<ChanceLevel>) -> Markup {
    head("pl", html! { span.vh { "drawn" } (axis_head(scale, chance)) })
}

/// The drawing in a cell of a table.
pub(super) fn drawing(body: &Markup) -> Markup {
    html! { svg.iv width="100%" aria-hidden="true" focusable="false" { (body) } }
}

/// `1 sample`, `1,296 samples`.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Attributes of an element that programs read: there are as many as there are facts, which a template has no form for.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes(String);

impl Attributes {
    #[must_use]
    pub(super) fn with(mut self, name: &str, value: impl Render) -> Self {
        self.0 += &format!(" {name}=\"{}\"", value.render().0);
        self
    }

    /// The same with a figure at full precision: what is absent does not exist.
    #[must_use]
    pub(super) fn with_estimate(self, estimate: &Estimate) -> Self {
        let interval = estimate.interval.as_ref().ok();
        let numbers = [
            ("data-value", estimate.number()),
            ("data-stderr", estimate.stderr()),
            ("data-lower", interval.filter(|i| i.side != IntervalSide::Upper).map(|i| i.lower)),
            ("data-upper", interval.filter(|i| i.side != IntervalSide::Lower).map(|i| i.upper)),
        ];
        let known = numbers.into_iter().filter_map(|(name, number)| Some((name, number?)));
        let finite = known.filter(|(_, number)| number.is_finite());
        finite.fold(self, |all, (name, number)| all.with(name, number)).with("data-n", estimate.n)
    }

    /// The element with them.
    pub(super) fn element(self, tag: &str, content: &Markup) -> Markup {
        PreEscaped(format!("<{tag}{}>{}</{tag}>", self.0, content.0))
    }
}

/// The date of a time by RFC 3339, for people: `15 November 2026, 19:34 UTC`; as it is if it is another form.
pub(super) fn date(created: &str) -> String {
    let Some((day, month, year, clock)) = date_parts(created) else { return created.to_owned() };
    let zone = created.rfind(['+', 'Z']).and_then(|at| created.get(at..)).unwrap_or_default();
    let zone = if matches!(zone, "Z" | "+00:00") { " UTC" } else { zone };
    format!("{day} {month} {year}, {clock}{zone}")
}

/// The day, the month, the year and the clock of a time by RFC 3339: `15`, `November`, `2026`, `19:34`.
pub fn date_parts(created: &str) -> Option<(u32, &'static str, u32, &str)> {
    const MONTHS: &str =
        "January February March April May June July August September October November December";
    let (day, time) = created.split_once(['T', ' '])?;
    let mut parts = day.split('-').map(|part| part.parse().ok());
    let (year, month, day): (_, u32, _) = (parts.next()??, parts.next()??, parts.next()??);
    let month = MONTHS.split(' ').nth(month.checked_sub(1)? as usize)?;
    let clock = time.get(..5).filter(|time| time.bytes().all(|b| b.is_ascii_digit() || b == b':'))?;
    Some((day, month, year, clock))
}

#[cfg(test)]
mod tests {
    use errorbar_core::Undefined;

    use super::*;

    fn data(estimate: &Estimate) -> String {
        Attributes::default().with_estimate(estimate).0
    }

    fn cell(estimate: Estimate) -> FigureCell {
        FigureCell { estimate, notes: Vec::new(), is_estimate: true, no_error: None }
    }

    #[test]
    fn decimals_stand_under_decimals() {
        let fine = Estimate::new(0.8472).with_stderr(0.0255).with_interval(0.7958, 0.8986, 0.95);
        let coarse = Estimate::new(0.61).with_stderr(0.112).with_interval(0.36, 0.86, 0.95);
        let column = NumberColumn::of([&fine, &coarse], false);
        let text = column.value(&cell(coarse.clone())).0;
        assert!(
            text.contains("<b class=\"v0 p1\">0.61</b><i>±</i><span class=\"e0 p1\">0.11</span>"),
            "{text}"
        );
        assert!(column.value(&cell(fine)).0.contains("\"v0\">0.847</b>"));
        assert!(column.interval(&coarse, false).0.contains("0.36</span><i>…</i>"));
    }

    #[test]
    fn unknown_is_never_zero() {
        let column = NumberColumn::of([], false);
        let certain = column.value(&cell(Estimate::new(1.0).with_stderr(0.0))).0;
        assert!(certain.contains(">1</b><i>±</i><span class=\"q0\">?</span>"), "{certain}");
        let none = column.value(&cell(Estimate::undefined(Undefined::Other("<b>".to_owned())))).0;
        assert_eq!(none, "<span class=\"undef\">undefined (&lt;b&gt;)</span>");
        assert_eq!(data(&Estimate::undefined(Undefined::NoScores)), " data-n=\"0\"");
    }

    #[test]
    fn differences_have_signs() {
        let difference = Estimate::new(-0.116).with_stderr(0.04).with_interval(-0.196, 0.036, 0.95);
        let column = NumberColumn::of([&difference], true);
        assert!(column.difference(&difference).0.contains("−0.116"));
        assert!(
            column.interval(&difference, true).0.contains("−0.196</span><i>…</i><span class=\"e0\">+0.036")
        );
    }

    #[test]
    fn thousands_have_commas() {
        assert_eq!(thousands("1092584950 ± 38951339"), "1,092,584,950 ± 38,951,339");
        assert_eq!(thousands("-12345.678901 ± 9999"), "-12,345.678901 ± 9999");
        assert_eq!(thousands("1.000e300 ± 1.234e-10 [12e10000]"), "1.000e300 ± 1.234e-10 [12e10000]");
    }

    #[test]
    fn counts_and_dates() {
        assert_eq!(
            (grouped(1296), grouped(999), grouped(1_234_567)),
            ("1,296".into(), "999".into(), "1,234,567".into())
        );
        assert_eq!(date("2026-11-05T19:34:12+00:00"), "5 November 2026, 19:34 UTC");
        assert_eq!(date("2026-11-05T19:34:12+02:00"), "5 November 2026, 19:34+02:00");
        assert_eq!(date("yesterday"), "yesterday");
    }

    #[test]
    fn programs_read_all_digits() {
        let estimate = Estimate::new(2.0 / 3.0).with_stderr(0.1).with_interval(0.1, 0.9, 0.95).with_n(3);
        assert_eq!(
            data(&estimate),
            " data-value=\"0.6666666666666666\" data-stderr=\"0.1\" data-lower=\"0.1\" data-upper=\"0.9\" data-n=\"3\""
        );
    }
}
