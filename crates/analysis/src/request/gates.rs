//! What a difference must show.

use errorbar_core::{ErrorPlan, IntervalSide};
use errorbar_inference::{ComparisonReport, Gate, GateOutcome};
use serde::{Deserialize, Serialize};

use super::ErrorRequest;
use crate::diagnostic::{Diagnostic, Outcome};
use crate::text;
use crate::text::Opt;
use crate::text::Text;

/// What the difference must show, else the answer is negative.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[cfg_attr(feature = "clap", derive(clap::Args),
    command(next_help_heading = "Gates", group = clap::ArgGroup::new("gate").multiple(false)))]
pub struct GateRequest {
    /// Fail if the other side is worse: the interval of the difference lies below 0. If it contains 0, this
    /// is a warning
    #[cfg_attr(feature = "clap", arg(long, group = "gate"))]
    pub fail_if_worse: bool,
    /// Fail unless the other side is not worse by M or more: the interval must lie above −M
    #[cfg_attr(feature = "clap", arg(long, value_name = "M", group = "gate", allow_negative_numbers = true))]
    pub margin: Option<f64>,
    /// Fail unless both sides are the same within ± M: the interval must lie within
    #[cfg_attr(feature = "clap", arg(long, value_name = "M", group = "gate", allow_negative_numbers = true))]
    pub equivalent: Option<f64>,
    /// Fail unless the other side is better by more than D: the interval must lie above D
    #[cfg_attr(feature = "clap", arg(long, value_name = "D", group = "gate", allow_negative_numbers = true))]
    pub min_difference: Option<f64>,
    /// The probability of a wrong decision; the interval has the level 1 − 2α [default: 0.05]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "P", requires = "gate", allow_negative_numbers = true)
    )]
    pub alpha: Option<f64>,
    /// Fail if the interval leaves open what --fail-if-worse asks, too
    #[cfg_attr(feature = "clap", arg(long, requires = "gate"))]
    pub decisive: bool,
}

impl GateRequest {
    /// What must hold, if anything must.
    pub fn gate(&self) -> Option<Gate> {
        let worse = self.fail_if_worse.then_some(Gate::NotWorse);
        worse
            .or(self.margin.map(Gate::Margin))
            .or(self.equivalent.map(Gate::Equivalent))
            .or(self.min_difference.map(Gate::MinDifference))
    }

    /// The probability of a wrong decision.
    pub fn alpha(&self) -> f64 {
        self.alpha.unwrap_or(Gate::ALPHA)
    }

    /// Whether what a gate decides of a comparison is a success. One that is inconclusive is none if it is a claim, or if a
    /// decision is required.
    pub fn is_met(&self, outcome: GateOutcome) -> bool {
        match outcome {
            GateOutcome::Passed => true,
            GateOutcome::Undecided => !self.decisive && !self.gate().is_some_and(Gate::is_claim),
            _ => false,
        }
    }

    /// What comes of a comparison: negative if a gate is not met, an error if it has nothing to decide.
    pub fn outcome(&self, report: &ComparisonReport) -> Outcome {
        let mut gated = report.comparisons.iter().filter_map(|one| one.gate).peekable();
        match self.gate() {
            None => Outcome::Done,
            Some(_) if gated.peek().is_none() => Outcome::InputError,
            Some(_) if gated.all(|one| self.is_met(one)) => Outcome::Done,
            Some(_) => Outcome::Negative,
        }
    }

    /// Checks what can be checked before anything is read.
    ///
    /// # Errors
    /// Several gates, numbers that are none, and options for intervals that contradict the gate.
    pub fn check(&self, errors: &ErrorRequest) -> Result<(), Diagnostic> {
        let given: Vec<Opt> = [
            (Opt::FailIfWorse, self.fail_if_worse),
            (Opt::Margin, self.margin.is_some()),
            (Opt::Equivalent, self.equivalent.is_some()),
            (Opt::MinDifference, self.min_difference.is_some()),
        ]
        .into_iter()
        .filter_map(|(option, is_given)| is_given.then_some(option))
        .collect();
        if let [one, other, ..] = given.as_slice() {
            let problem = text!("{} and {} do not go together", *one, *other);
            return Err(Diagnostic::error(problem).hint(text!("omit {} or {}", *one, *other)));
        }
        let Some(gate) = self.gate() else {
            let needs = [(Opt::Alpha, self.alpha.is_some()), (Opt::Decisive, self.decisive)];
            return match needs.into_iter().find(|(_, is_given)| *is_given) {
                Some((option, _)) => {
                    Err(Diagnostic::error(text!("{} is about a gate, and there is none", option))
                        .hint(text!("add one, such as {FailIfWorse}")))
                }
                None => Ok(()),
            };
        };
        gate.check(self.alpha()).map_err(|problem| Diagnostic::error(problem).hint(self.example()))?;
        let level = Gate::level(self.alpha());
        if let Some(given) = errors.level.filter(|given| (given - level).abs() > 1e-9) {
            let (alpha, level) = (rounded(self.alpha()), rounded(level));
            let problem = text!(
                "{} contradicts the gate: it reads the interval that is shown, whose level is 1 − 2α = {} for α = {}",
                Opt::Level.number(given),
                level,
                alpha
            );
            let same = Opt::Alpha.set(rounded((1.0 - given) / 2.0));
            return Err(Diagnostic::error(problem).hint(text!("omit {Level}, or give {}", same)));
        }
        if errors.side.is_some_and(|side| side != IntervalSide::TwoSided) {
            let problem = "a gate reads both ends of the interval: each is a bound at α";
            return Err(Diagnostic::error(problem).about_option(Opt::Side).hint(text!("omit {Side}")));
        }
        Ok(())
    }

    /// What a number of the gate looks like.
    fn example(&self) -> Text {
        match self.gate() {
            Some(Gate::Equivalent(_)) => text!("such as {Equivalent=0.02}"),
            Some(Gate::MinDifference(_)) => {
                text!("such as {MinDifference=0.01}; that it is not worse by more is {Margin=0.01}")
            }
            _ => text!("such as {Margin=0.02} and {Alpha=0.05}"),
        }
    }

    /// Sets how intervals are computed: the gate reads those that are shown.
    pub(crate) fn apply(&self, errors: &mut ErrorPlan) {
        if self.gate().is_some() {
            (errors.level, errors.side) = (Some(Gate::level(self.alpha())), None);
        }
    }
}

/// A number as it was given: 1 − 2 · 0.05 is 0.9.
fn rounded(number: f64) -> String {
    ((number * 1e9).round() / 1e9).to_string()
}
