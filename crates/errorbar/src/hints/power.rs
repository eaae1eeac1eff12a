//! Hints for what cannot be planned.

use errorbar_inference::PowerError;

/// What to do about it, unless the error itself names it.
pub(crate) fn hint(error: &PowerError) -> Option<String> {
    let hint = match error {
        PowerError::Alpha(_) => "--alpha is the chance of a false alarm, such as 0.05",
        PowerError::Power(_) => "--power is the chance to detect the difference, such as 0.8",
        PowerError::PowerWithinAlpha { .. } => "give a higher --power, such as 0.8, or a lower --alpha",
        PowerError::Difference(_) => "give the smallest --difference that matters to you",
        PowerError::DifferenceOutside { .. } => "give a smaller --difference, or other shares",
        PowerError::Width(_) => {
            "give the --width from the lower to the upper end of the interval, such as 0.04"
        }
        PowerError::NoSpread => "give the --sd of the differences, such as 0.4",
        PowerError::DesignEffect(_) => "1 is for independent samples; clusters mostly have more",
        PowerError::NoEpochs => "give --epochs 1 or more",
        PowerError::TooManySamples { .. } => "give a larger --difference or --width",
        PowerError::NotDetected { .. } => "give more --samples or a lower --power",
        PowerError::NoComparison => "give --width W, or --correlation R or --unpaired for a difference",
        PowerError::EpochsOfShares(_) => "omit --epochs, or give --sd and --sd-within in place of shares",
        PowerError::Method { .. } => "omit --method for the one that fits",
        PowerError::NoCommonSample => "give runs of the same samples, or --unpaired",
        PowerError::NestedScore { .. } => "name scores of one number with --scorer or --score-column",
        PowerError::FlipShares { .. } | PowerError::Share { .. } => {
            "give shares of all samples, such as 0.06"
        }
        PowerError::Scores(error) => return super::core::hint(error),
        _ => return None,
    };
    Some(hint.to_owned())
}
