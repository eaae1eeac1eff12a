//! What is given, and what is computed from it.

use super::PowerRequest;
use super::runs::PilotRuns;
use crate::diagnostic::Diagnostic;
use crate::opt::Opt;
use crate::text;

/// The power if none is given.
const POWER: f64 = 0.8;

/// What is computed, from all combinations of what is given.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PlannedGoal {
    /// Samples for a difference and a power. Without differences, for the one that the shares of flips have.
    Samples {
        /// Those to detect.
        differences: Option<Vec<f64>>,
        /// The chances to detect them.
        powers: Vec<f64>,
    },
    /// Samples for the width of an interval.
    SamplesForWidth {
        /// From the lower to the upper end.
        widths: Vec<f64>,
    },
    /// The difference that samples detect with a power.
    Difference {
        /// The numbers of samples.
        samples: Vec<u64>,
        /// The chances to detect it.
        powers: Vec<f64>,
    },
    /// The power of samples for a difference.
    Power {
        /// The numbers of samples.
        samples: Vec<u64>,
        /// Those to detect.
        differences: Option<Vec<f64>>,
    },
    /// The width of the interval that samples give.
    Width {
        /// The numbers of samples.
        samples: Vec<u64>,
    },
}

impl PlannedGoal {
    pub(crate) fn of(args: &PowerRequest, runs: Option<&PilotRuns>) -> Result<Self, Diagnostic> {
        let differences = args.difference.as_ref().map(|values| values.0.clone());
        let samples = args.samples.as_ref().map(|counts| counts.0.clone());
        let powers = args.power.as_ref().map_or_else(|| vec![POWER], |values| values.0.clone());
        // Both shares of flips have a difference.
        let has_difference =
            differences.is_some() || (args.spread.p10.is_some() && args.spread.p01.is_some());
        let is_one = is_one_model(args, runs);
        if let Some(widths) = &args.width {
            let other = [(Opt::Difference, differences.is_some()), (Opt::Power, args.power.is_some())];
            if let Some((other, _)) = other.into_iter().find(|(_, is_given)| *is_given) {
                let problem = text!("{} is about an interval, and {} about a test", Opt::Width, other);
                return Err(Diagnostic::error(problem).hint(text!("omit {} or {}", Opt::Width, other)));
            }
            return match samples {
                Some(_) => {
                    let problem = text!(
                        "{} and {} are both given, so that there is nothing to compute",
                        Opt::Samples,
                        Opt::Width
                    );
                    Err(Diagnostic::error(problem).hint(text!("omit {} or {}", Opt::Samples, Opt::Width)))
                }
                None => Ok(PlannedGoal::SamplesForWidth { widths: widths.0.clone() }),
            };
        }
        match (has_difference, samples) {
            (true, Some(_)) if args.power.is_some() => {
                let what = if differences.is_some() {
                    Opt::Difference.into()
                } else {
                    text!("{} and {}", Opt::P10, Opt::P01)
                };
                let problem = text!(
                    "{}, {} and {} are all given, so that there is nothing to compute",
                    Opt::Samples,
                    Opt::Power,
                    what
                );
                Err(Diagnostic::error(problem).hint("omit one of them"))
            }
            (true, Some(samples)) => Ok(PlannedGoal::Power { samples, differences }),
            (true, None) => Ok(PlannedGoal::Samples { differences, powers }),
            (false, Some(samples)) if is_one => Ok(PlannedGoal::Width { samples }),
            (false, Some(samples)) => Ok(PlannedGoal::Difference { samples, powers }),
            // What the runs that there are can show.
            (false, None) => match runs {
                Some(runs) if is_one => Ok(PlannedGoal::Width { samples: vec![runs.pilot.samples] }),
                Some(runs) => Ok(PlannedGoal::Difference { samples: vec![runs.pilot.samples], powers }),
                None => {
                    let hint = text!(
                        "add {} or {} for the number of samples, or {} for what they \
                                can show",
                        Opt::Difference.set("D"),
                        Opt::Width.set("W"),
                        Opt::Samples.set("N")
                    );
                    Err(Diagnostic::error("nothing to plan for").hint(hint))
                }
            },
        }
    }

    /// Whether an interval is planned, not a test.
    pub fn is_width(&self) -> bool {
        matches!(self, PlannedGoal::SamplesForWidth { .. } | PlannedGoal::Width { .. })
    }

    /// Whether the number of samples is computed.
    pub(crate) fn is_samples(&self) -> bool {
        matches!(self, PlannedGoal::SamplesForWidth { .. } | PlannedGoal::Samples { .. })
    }
}

/// Whether what is known is about one model, so that there is no difference without an assumption about the other.
fn is_one_model(args: &PowerRequest, runs: Option<&PilotRuns>) -> bool {
    let spread = &args.spread;
    let is_compared = spread.unpaired || spread.correlation.is_some() || args.power.is_some();
    let is_one = runs.map_or(spread.share.is_some(), |runs| runs.is_one());
    is_one && !is_compared
}
