//! What is given, and what is computed from it.

use super::runs::PilotRuns;
use super::{PowerRequest, Values};
use crate::diagnostic::Diagnostic;
use crate::text;
use crate::text::Opt;

/// The power if none is given.
const POWER: f64 = 0.8;

/// What is computed, from all combinations of what is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlannedGoal {
    /// Samples for a difference and a power.
    Samples,
    /// Samples for the width of an interval.
    SamplesForWidth,
    /// The difference that samples detect with a power.
    Difference,
    /// The power of samples for a difference.
    Power,
    /// The width of the interval that samples give.
    Width,
}

impl PlannedGoal {
    pub(crate) fn of(args: &PowerRequest, runs: Option<&PilotRuns>) -> Result<Self, Diagnostic> {
        // Both shares of flips have a difference.
        let has_difference =
            args.difference.is_some() || (args.spread.p10.is_some() && args.spread.p01.is_some());
        if args.width.is_some() {
            let other = [(Opt::Difference, args.difference.is_some()), (Opt::Power, args.power.is_some())];
            if let Some((other, _)) = other.into_iter().find(|(_, is_given)| *is_given) {
                let problem = text!("{Width} is about an interval, and {} about a test", other);
                return Err(Diagnostic::error(problem).hint(text!("omit {Width} or {}", other)));
            }
            if args.samples.is_some() {
                let problem =
                    text!("{Samples} and {Width} are both given, so that there is nothing to compute");
                return Err(Diagnostic::error(problem).hint(text!("omit {Samples} or {Width}")));
            }
            return Ok(PlannedGoal::SamplesForWidth);
        }
        match (has_difference, args.samples.is_some()) {
            (true, true) if args.power.is_some() => {
                let what = match args.difference {
                    Some(_) => Opt::Difference.into(),
                    None => text!("{P10} and {P01}"),
                };
                let problem = text!(
                    "{Samples}, {Power} and {} are all given, so that there is nothing to compute",
                    what
                );
                Err(Diagnostic::error(problem).hint("omit one of them"))
            }
            (true, true) => Ok(PlannedGoal::Power),
            (true, false) => Ok(PlannedGoal::Samples),
            (false, false) if runs.is_none() => {
                let hint = text!(
                    "add {Difference=D} or {Width=W} for the number of samples, or {Samples=N} for what they can show"
                );
                Err(Diagnostic::error("nothing to plan for").hint(hint))
            }
            // Without a number of samples, what those of the runs can show.
            (false, _) if is_one_model(args, runs) => Ok(PlannedGoal::Width),
            (false, _) => Ok(PlannedGoal::Difference),
        }
    }

    /// What is given, for each answer; `own` is the difference of the shares of flips.
    pub(super) fn cases(self, args: &PowerRequest, runs: Option<&PilotRuns>, own: Option<f64>) -> Vec<Case> {
        use PlannedGoal::{Difference, Power, Samples, SamplesForWidth, Width};
        fn given<T: Copy>(is_given: bool, values: Option<&Vec<T>>, or: Option<T>) -> Vec<Option<T>> {
            match values {
                _ if !is_given => vec![None],
                Some(values) => values.iter().copied().map(Some).collect(),
                None => vec![or],
            }
        }
        let values = |values: &'_ Option<Values>| values.as_ref().map(|values| values.0.clone());
        let [powers, differences, widths] = [&args.power, &args.difference, &args.width].map(values);
        let powers = given(matches!(self, Samples | Difference), powers.as_ref(), Some(POWER));
        let differences = given(matches!(self, Samples | Power), differences.as_ref(), own);
        let of_runs = runs.map(|runs| runs.pilot.samples);
        let samples = args.samples.as_ref().map(|samples| &samples.0);
        let samples = given(matches!(self, Difference | Power | Width), samples, of_runs);
        let widths = given(self == SamplesForWidth, widths.as_ref(), None);
        let mut cases = Vec::new();
        for power in powers {
            for &difference in &differences {
                for &samples in &samples {
                    cases.extend(widths.iter().map(|&width| Case { samples, difference, width, power }));
                }
            }
        }
        cases
    }

    /// Whether an interval is planned, not a test.
    pub fn is_width(self) -> bool {
        matches!(self, PlannedGoal::SamplesForWidth | PlannedGoal::Width)
    }

    /// Whether the number of samples is computed.
    pub(crate) fn is_samples(self) -> bool {
        matches!(self, PlannedGoal::SamplesForWidth | PlannedGoal::Samples)
    }
}

/// What is given, for one answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) samples: Option<u64>,
    pub(super) difference: Option<f64>,
    pub(super) width: Option<f64>,
    pub(super) power: Option<f64>,
}

/// Whether what is known is about one model, so that there is no difference without an assumption about the other.
fn is_one_model(args: &PowerRequest, runs: Option<&PilotRuns>) -> bool {
    let spread = &args.spread;
    let is_compared = spread.unpaired || spread.correlation.is_some() || args.power.is_some();
    let is_one = runs.map_or(spread.share.is_some(), |runs| runs.is_one());
    is_one && !is_compared
}
