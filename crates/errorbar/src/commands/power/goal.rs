//! What is given, and what is computed from it.

use super::PowerArgs;
use super::from::Runs;
use crate::diagnostic::Diagnostic;

/// The power if none is given.
const POWER: f64 = 0.8;

/// What is computed, from all combinations of what is given.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Goal {
    /// Samples for a difference and a power. Without differences, for the one that the shares of flips have.
    Samples { differences: Option<Vec<f64>>, powers: Vec<f64> },
    /// Samples for the width of an interval.
    SamplesForWidth { widths: Vec<f64> },
    /// The difference that samples detect with a power.
    Difference { samples: Vec<u64>, powers: Vec<f64> },
    /// The power of samples for a difference.
    Power { samples: Vec<u64>, differences: Option<Vec<f64>> },
    /// The width of the interval that samples give.
    Width { samples: Vec<u64> },
}

impl Goal {
    pub(super) fn of(args: &PowerArgs, runs: Option<&Runs>) -> Result<Self, Diagnostic> {
        let differences = args.difference.as_ref().map(|values| values.0.clone());
        let samples = args.samples.as_ref().map(|counts| counts.0.clone());
        let powers = args.power.as_ref().map_or_else(|| vec![POWER], |values| values.0.clone());
        // Both shares of flips have a difference.
        let has_difference =
            differences.is_some() || (args.spread.p10.is_some() && args.spread.p01.is_some());
        let is_one = is_one_model(args, runs);
        if let Some(widths) = &args.width {
            let other = [("--difference", differences.is_some()), ("--power", args.power.is_some())];
            if let Some((other, _)) = other.into_iter().find(|(_, is_given)| *is_given) {
                let problem = format!("--width is about an interval, and {other} about a test");
                return Err(Diagnostic::error(problem).hint(format!("omit --width or {other}")));
            }
            return match samples {
                Some(_) => {
                    let problem = "--samples and --width are both given, so that there is nothing to compute";
                    Err(Diagnostic::error(problem).hint("omit --samples or --width"))
                }
                None => Ok(Goal::SamplesForWidth { widths: widths.0.clone() }),
            };
        }
        match (has_difference, samples) {
            (true, Some(_)) if args.power.is_some() => {
                let what = if differences.is_some() { "--difference" } else { "--p10 and --p01" };
                let problem = format!(
                    "--samples, --power and {what} are all given, so that there is nothing to compute"
                );
                Err(Diagnostic::error(problem).hint("omit one of them"))
            }
            (true, Some(samples)) => Ok(Goal::Power { samples, differences }),
            (true, None) => Ok(Goal::Samples { differences, powers }),
            (false, Some(samples)) if is_one => Ok(Goal::Width { samples }),
            (false, Some(samples)) => Ok(Goal::Difference { samples, powers }),
            // What the runs that there are can show.
            (false, None) => match runs {
                Some(runs) if is_one => Ok(Goal::Width { samples: vec![runs.pilot.samples] }),
                Some(runs) => Ok(Goal::Difference { samples: vec![runs.pilot.samples], powers }),
                None => {
                    let hint = "add --difference D or --width W for the number of samples, or --samples N for what they \
                                can show";
                    Err(Diagnostic::error("nothing to plan for").hint(hint))
                }
            },
        }
    }

    /// Whether an interval is planned, not a test.
    pub(super) fn is_width(&self) -> bool {
        matches!(self, Goal::SamplesForWidth { .. } | Goal::Width { .. })
    }

    /// Whether the number of samples is computed.
    pub(super) fn is_samples(&self) -> bool {
        matches!(self, Goal::SamplesForWidth { .. } | Goal::Samples { .. })
    }
}

/// Whether what is known is about one model, so that there is no difference without an assumption about the other.
fn is_one_model(args: &PowerArgs, runs: Option<&Runs>) -> bool {
    let spread = &args.spread;
    let is_compared = spread.unpaired || spread.correlation.is_some() || args.power.is_some();
    let is_one = runs.map_or(spread.share.is_some(), |runs| runs.is_one());
    is_one && !is_compared
}
