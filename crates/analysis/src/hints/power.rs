//! Hints for what cannot be planned.

use errorbar_inference::PowerError;

use crate::opt::Opt;
use crate::text;
use crate::text::Text;

/// What to do about it, unless the error itself names it.
pub fn hint(error: &PowerError) -> Option<Text> {
    let hint = match error {
        PowerError::Alpha(_) => text!("{} is the chance of a false alarm, such as 0.05", Opt::Alpha),
        PowerError::Power(_) => text!("{} is the chance to detect the difference, such as 0.8", Opt::Power),
        PowerError::PowerWithinAlpha { .. } => {
            text!("give a higher {}, such as 0.8, or a lower {}", Opt::Power, Opt::Alpha)
        }
        PowerError::Difference(_) => text!("give the smallest {} that matters to you", Opt::Difference),
        PowerError::DifferenceOutside { .. } => text!("give a smaller {}, or other shares", Opt::Difference),
        PowerError::Width(_) => {
            text!("give the {} from the lower to the upper end of the interval, such as 0.04", Opt::Width)
        }
        PowerError::NoSpread => text!("give the {} of the differences, such as 0.4", Opt::Sd),
        PowerError::DesignEffect(_) => "1 is for independent samples; clusters mostly have more".into(),
        PowerError::NoEpochs => text!("give {} or more", Opt::Epochs.set("1")),
        PowerError::TooManySamples { .. } => text!("give a larger {} or {}", Opt::Difference, Opt::Width),
        PowerError::NotDetected { .. } => text!("give more {} or a lower {}", Opt::Samples, Opt::Power),
        PowerError::NoComparison => text!(
            "give {}, or {} or {} for a difference",
            Opt::Width.set("W"),
            Opt::Correlation.set("R"),
            Opt::Unpaired
        ),
        PowerError::EpochsOfShares(_) => {
            text!("omit {}, or give {} and {} in place of shares", Opt::Epochs, Opt::Sd, Opt::SdWithin)
        }
        PowerError::Method { .. } => text!("omit {} for the one that fits", Opt::Method),
        PowerError::NoCommonSample => text!("give runs of the same samples, or {}", Opt::Unpaired),
        PowerError::NestedScore { .. } => {
            text!("name scores of one number with {} or {}", Opt::Scorer, Opt::ScoreColumn)
        }
        PowerError::FlipShares { .. } | PowerError::Share { .. } => {
            Text::from("give shares of all samples, such as 0.06")
        }
        PowerError::Scores(error) => return super::core::hint(error),
        _ => return None,
    };
    Some(hint)
}
