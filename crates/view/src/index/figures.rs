//! Numbers with their errors.

use errorbar_core::{Estimate, Undefined};
use errorbar_report::EstimateText;
use maud::{Markup, html};

use crate::catalog::{Figure, ListedLog};

/// The most decimals that numbers are aligned by.
const ALIGNED: usize = 3;

/// The decimals of the most precise figure of some logs. One without an error has more than it deserves, and stands by
/// itself.
pub(super) fn widest<'s>(logs: impl Iterator<Item = &'s ListedLog>) -> usize {
    let text = |summary: &ListedLog| {
        let (value, error) = parts(&summary.figure.as_ref()?.estimate);
        error.map(|_| value)
    };
    logs.filter_map(text).map(|value| decimals(&value)).max().unwrap_or(0)
}

/// `0.847 ± 0.026` as markup, its decimals under those of others; `± ?` if there is no error.
pub(super) fn value(estimate: Option<&Estimate>, widest: usize) -> Markup {
    let Some(estimate) = estimate.filter(|estimate| estimate.number().is_some()) else {
        return html! { span.undef { "undefined" } };
    };
    let (value, error) = parts(estimate);
    let pad = widest.saturating_sub(decimals(&value)).min(ALIGNED);
    let pad = if pad > 0 && error.is_some() { format!(" p{pad}") } else { String::new() };
    html! {
        span.num.pmv {
            b class={ "v0" (pad) } { (minus(&value)) }
            i { "±" }
            @if let Some(error) = error { span class={ "e0" (pad) } { (error) } } @else { span.q0 { "?" } }
        }
    }
}

/// The value and its error.
fn parts(estimate: &Estimate) -> (String, Option<String>) {
    let text = EstimateText::from(estimate).short();
    match text.split_once(" ± ") {
        Some((value, error)) => (value.to_owned(), Some(error.to_owned())),
        None => (text, None),
    }
}

fn decimals(number: &str) -> usize {
    let digits = number.split_once('.').map_or("", |(_, digits)| digits);
    digits.bytes().take_while(u8::is_ascii_digit).count()
}

fn minus(number: &str) -> String {
    number.replacen('-', "\u{2212}", 1)
}

/// Why a number has no error; none if it has one, or an interval.
pub(super) fn why_no_error(figure: &Figure) -> Option<String> {
    let Figure { estimate, is_recorded, .. } = figure;
    estimate.number()?;
    let is_degenerate = estimate.error.as_ref().is_ok_and(|error| error.degenerate);
    match (&estimate.error, &estimate.interval) {
        (Ok(_), _) if !is_degenerate => None,
        (Ok(_), _) if estimate.n == 0 => Some("no spread in the scores".to_owned()),
        (Ok(_), _) => Some(format!("no spread in {} scores", estimate.n)),
        (Err(_), Ok(interval)) => {
            let text = EstimateText::from(estimate).interval_text();
            Some(format!("{} interval {text}, no standard error", level(interval.level)))
        }
        (Err(Undefined::NotAvailable), _) if *is_recorded => Some("the log records no error".to_owned()),
        (Err(Undefined::NotAvailable), _) => Some("no error of this figure".to_owned()),
        (Err(reason), _) => Some(format!("error undefined: {reason}")),
    }
}

/// What a log records in place of a number, if it records an interval alone.
pub(super) fn why_no_value(figure: &Figure) -> Option<String> {
    let interval = figure.estimate.interval.as_ref().ok().filter(|_| figure.is_recorded)?;
    let ends = [interval.lower, interval.upper].map(|end| minus(&EstimateText::new(end).to_string()));
    Some(format!("{} interval {}; the log records no estimate", level(interval.level), ends.join(" … ")))
}

/// `95 %`
fn level(level: f64) -> String {
    let text = format!("{:.1}", level * 100.0);
    format!("{} %", text.trim_end_matches(".0"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::FigureTitle;

    #[test]
    fn decimals_stand_under_decimals_and_what_is_unknown_is_not_zero() {
        let precise = Estimate::new(0.8472).with_stderr(0.0255);
        let vague = Estimate::new(0.33).with_stderr(0.31);
        assert_eq!(
            value(Some(&precise), 3).0,
            "<span class=\"num pmv\"><b class=\"v0\">0.847</b><i>±</i><span class=\"e0\">0.025</span></span>"
        );
        assert!(
            value(Some(&vague), 3)
                .0
                .contains("<b class=\"v0 p1\">0.33</b><i>±</i><span class=\"e0 p1\">0.31")
        );
        assert!(
            value(Some(&Estimate::new(-0.5)), 3)
                .0
                .contains("<b class=\"v0\">\u{2212}0.5</b><i>±</i><span class=\"q0\">?")
        );
        assert!(value(None, 3).0.contains("undefined"));
        let equal = Estimate::new(1.0).with_stderr(0.0).with_n(7);
        assert!(value(Some(&equal), 3).0.contains("<b class=\"v0\">1</b><i>±</i><span class=\"q0\">?"));
        let why = |estimate: &Estimate, is_recorded: bool| {
            let [metric, scorer] = ["accuracy", "choice"].map(str::to_owned);
            let title = FigureTitle { metric, reducer: None, scorer, part: None };
            why_no_error(&Figure { title, estimate: estimate.clone(), is_recorded })
        };
        assert_eq!(why(&equal, true).as_deref(), Some("no spread in 7 scores"));
        assert_eq!(why(&precise, true), None);
        // What is not recorded may exist all the same.
        assert_eq!(why(&Estimate::new(0.5), true).as_deref(), Some("the log records no error"));
        assert_eq!(why(&Estimate::new(0.5), false).as_deref(), Some("no error of this figure"));
    }
}
