//! The scale of a plot: from numbers to percentages of its width.

use errorbar_core::Estimate;

/// The number of steps between ticks that is aimed at.
const STEPS: f64 = 5.0;

/// A linear scale with its ticks.
///
/// ```
/// use errorbar_report::svg::Scale;
///
/// let scale = Scale::around([3.1, 7.4]);
/// assert_eq!((scale.lower(), scale.upper(), scale.ticks()), (3.0, 8.0, [3.0, 4.0, 5.0, 6.0, 7.0, 8.0].as_slice()));
/// assert_eq!(scale.position(5.5), 50.0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    lower: f64,
    upper: f64,
    ticks: Vec<f64>,
    is_signed: bool,
}

impl Scale {
    /// From 0 to 1, with a tick each 0.2: the scale of every figure that lies in it.
    pub fn unit() -> Self {
        Scale { lower: 0.0, upper: 1.0, ticks: vec![0.0, 0.2, 0.4, 0.6, 0.8, 1.0], is_signed: false }
    }

    /// All these numbers, rounded out to ticks that are 1, 2 or 5 times a power of ten apart. Zero is not forced.
    pub fn around(numbers: impl IntoIterator<Item = f64>) -> Self {
        let finite = numbers.into_iter().filter(|number| number.is_finite());
        let range = finite.fold(None, |range: Option<(f64, f64)>, number| {
            let (lower, upper) = range.unwrap_or((number, number));
            Some((lower.min(number), upper.max(number)))
        });
        let (lower, upper) = match range {
            None => return Scale::unit(),
            Some((lower, upper)) if lower < upper => (lower, upper),
            Some((only, _)) => {
                let margin = if only == 0.0 { 1.0 } else { only.abs() / 10.0 };
                (only - margin, only + margin)
            }
        };
        let step = step(upper - lower);
        // A number at a tick needs no further one, though rounding puts it beyond.
        let first = (lower / step + 1e-9).floor();
        let last = (upper / step - 1e-9).ceil().max(first + 1.0);
        let count = (last - first).min(64.0) as usize;
        // Dividing by a whole number keeps 0.3 from being 0.30000000000000004.
        let tick = |at: f64| if step < 1.0 { at / (1.0 / step).round() } else { at * step };
        let ticks: Vec<f64> = (0..=count).map(|at| tick(first + at as f64) + 0.0).collect();
        Scale { lower: tick(first), upper: tick(last), ticks, is_signed: false }
    }

    /// The scale of differences: always with 0, and ticks have signs.
    pub fn differences(numbers: impl IntoIterator<Item = f64>) -> Self {
        let mut scale = Scale::around(numbers.into_iter().chain([0.0]));
        scale.is_signed = true;
        scale
    }

    /// The scale of estimates that are differences.
    pub fn of_differences<'a>(estimates: impl IntoIterator<Item = &'a Estimate>) -> Self {
        Scale::differences(estimates.into_iter().flat_map(extent))
    }

    /// The scale of estimates: 0 to 1 if all their values are within, else around all intervals.
    pub fn of<'a>(estimates: impl IntoIterator<Item = &'a Estimate>) -> Self {
        let estimates: Vec<&Estimate> = estimates.into_iter().collect();
        let is_unit = |value: f64| (0.0..=1.0).contains(&value);
        if estimates.iter().filter_map(|estimate| estimate.number()).all(is_unit) {
            return Scale::unit();
        }
        Scale::around(estimates.into_iter().flat_map(extent))
    }

    /// The lower end.
    pub fn lower(&self) -> f64 {
        self.lower
    }

    /// The upper end.
    pub fn upper(&self) -> f64 {
        self.upper
    }

    /// The numbers that have a tick.
    pub fn ticks(&self) -> &[f64] {
        &self.ticks
    }

    /// Whether it is a scale of differences.
    pub fn is_signed(&self) -> bool {
        self.is_signed
    }

    /// Where a number is, in percent of the width; beyond 0 to 100 if the number is beyond the scale.
    pub fn position(&self, number: f64) -> f64 {
        100.0 * (number - self.lower) / (self.upper - self.lower)
    }

    /// The same, no further than the edges.
    pub fn within(&self, number: f64) -> f64 {
        self.position(number).clamp(0.0, 100.0)
    }

    /// A tick as it is written: `0.2`, `+0.1`, `−1`.
    pub fn label(&self, tick: f64) -> String {
        tick_text(tick, self.is_signed)
    }

    /// Both ends, as scripts read them.
    pub fn ends(&self) -> String {
        format!("{},{}", self.lower, self.upper)
    }
}

/// The numbers that a scale of an estimate must hold: the value, the interval, ± one standard error, the bounds.
fn extent(estimate: &Estimate) -> Vec<f64> {
    let Some(value) = estimate.number() else { return Vec::new() };
    let mut numbers = vec![value];
    if let Ok(interval) = &estimate.interval {
        numbers.extend([interval.lower, interval.upper]);
    }
    if let Some(se) = estimate.stderr() {
        numbers.extend([value - se, value + se]);
    }
    if let Some(bounds) = &estimate.bounds {
        numbers.extend([bounds.worst, bounds.best]);
    }
    numbers
}

/// The step of 1, 2 or 5 times a power of ten that gives about [`STEPS`] steps.
fn step(span: f64) -> f64 {
    let wanted = span / STEPS;
    let power = 10f64.powf(wanted.log10().floor());
    let factor = match wanted / power {
        f if f <= 1.0 + 1e-9 => 1.0,
        f if f <= 2.0 + 1e-9 => 2.0,
        f if f <= 5.0 + 1e-9 => 5.0,
        _ => 10.0,
    };
    factor * power
}

/// A number for a tick: no insignificant zeros, a real minus sign, thousands as `10k`.
pub fn tick_text(number: f64, is_signed: bool) -> String {
    let size = number.abs();
    let text = match size {
        0.0 => return "0".to_owned(),
        size if !(1e-6..1e15).contains(&size) => format!("{size:e}"),
        size if size >= 10_000.0 => {
            let (divisor, unit) = match size {
                size if size >= 1e9 => (1e9, "G"),
                size if size >= 1e6 => (1e6, "M"),
                _ => (1e3, "k"),
            };
            format!("{}{unit}", size / divisor)
        }
        size => {
            let fixed = format!("{size:.9}");
            fixed.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    };
    match (number < 0.0, is_signed) {
        (true, _) => format!("\u{2212}{text}"),
        (false, true) => format!("+{text}"),
        (false, false) => text,
    }
}

/// A percentage for an attribute, to two decimals: `84.72%`, `50%`.
///
/// ```
/// assert_eq!(errorbar_report::svg::percent(84.7222), "84.72%");
/// assert_eq!(errorbar_report::svg::percent(50.0), "50%");
/// ```
pub fn percent(number: f64) -> String {
    let text = format!("{number:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{}%", if text == "-0" { "0" } else { text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_always_have_the_whole_scale() {
        let near = [Estimate::new(0.97).with_interval(0.93, 1.02, 0.95), Estimate::new(0.95)];
        assert_eq!(Scale::of(&near), Scale::unit(), "an interval beyond 1 does not stretch it");
        assert_eq!(Scale::of(&[]), Scale::unit());
        let wide = [Estimate::new(7.25).with_stderr(1.3).with_interval(4.6, 9.9, 0.95)];
        let scale = Scale::of(&wide);
        assert_eq!((scale.lower(), scale.upper()), (4.0, 10.0));
    }

    #[test]
    fn ticks_are_round_and_hold_all_numbers() {
        for (low, high) in
            [(0.0, 1.0), (-0.03, 0.37), (12.0, 14_000.0), (1e-7, 3e-7), (-5.0, -4.9), (0.1, 0.3), (5.0, 5.0)]
        {
            let scale = Scale::around([low, high]);
            let ticks = scale.ticks();
            assert!(scale.lower() <= low && scale.upper() >= high, "{low} {high} {scale:?}");
            assert!((2..=12).contains(&ticks.len()), "{low} {high} {ticks:?}");
            assert_eq!(ticks.first().copied(), Some(scale.lower()));
            assert!((ticks[ticks.len() - 1] - scale.upper()).abs() < 1e-9 * (1.0 + high.abs()));
            assert!(ticks.iter().all(|tick| scale.label(*tick).len() < 10), "{ticks:?}");
        }
        assert_eq!(Scale::around([0.1, 0.3]).ticks(), [0.1, 0.15, 0.2, 0.25, 0.3], "no 0.30000000000000004");
        assert_eq!(Scale::around([f64::NAN, f64::INFINITY]), Scale::unit());
    }

    #[test]
    fn differences_hold_zero_and_have_signs() {
        let scale = Scale::differences([0.036, 0.368, -0.06]);
        let labels: Vec<String> = scale.ticks().iter().map(|tick| scale.label(*tick)).collect();
        assert_eq!(labels, ["−0.1", "0", "+0.1", "+0.2", "+0.3", "+0.4"]);
        let above = Scale::differences([0.2, 0.3]);
        assert_eq!(above.lower(), 0.0);
    }

    #[test]
    fn numbers_of_ticks() {
        for (number, text) in [
            (0.0, "0"),
            (0.05, "0.05"),
            (1500.0, "1500"),
            (20_000.0, "20k"),
            (2.5e6, "2.5M"),
            (-3.0, "−3"),
            (2e-7, "2e-7"),
        ] {
            assert_eq!(tick_text(number, false), text);
        }
        assert_eq!(
            (percent(0.0), percent(-0.001), percent(100.0)),
            ("0%".into(), "0%".into(), "100%".into())
        );
    }
}
