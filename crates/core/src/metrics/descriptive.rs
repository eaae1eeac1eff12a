//! `count`, `sum`, `min` and `max`: figures that describe the scores at hand, and have no error.

use crate::metrics::prelude::*;

/// Which of the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DescriptiveFigure {
    Count,
    Sum,
    Min,
    Max,
}

impl DescriptiveFigure {
    /// Why it has no error.
    fn reason(self) -> &'static str {
        match self {
            DescriptiveFigure::Count => "a count of these scores, not an estimate",
            DescriptiveFigure::Sum => "a total of these scores, not an estimate; take the mean",
            DescriptiveFigure::Min | DescriptiveFigure::Max => {
                "an extreme has no standard error; take a quantile"
            }
        }
    }
}

/// A figure of the scores as a conversion reads them.
fn describe(
    metric: &str,
    figure: DescriptiveFigure,
    conversion: Option<Conversion>,
    scores: &Scores<'_>,
) -> Result<MetricValue> {
    let (n, absent) = (scores.len() as u64, scores.absent() as u64);
    let read = |numbers: &[f64]| match figure {
        DescriptiveFigure::Count => Ok(n as f64),
        _ if n == 0 => Err(Undefined::NoScores),
        DescriptiveFigure::Sum => {
            let mut sum = ExactSum::new();
            sum.extend(numbers);
            Ok(sum.to_f64()).and_then(|sum| if sum.is_finite() { Ok(sum) } else { Err(Undefined::Overflow) })
        }
        // Of the two zeros one, whichever came first.
        DescriptiveFigure::Min => Ok(numbers.iter().copied().fold(f64::INFINITY, f64::min) + 0.0),
        DescriptiveFigure::Max => Ok(numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max) + 0.0),
    };
    let value = match conversion {
        Some(conversion) => scores.finite(metric, &conversion, read)?,
        None => read(&[]),
    };
    let reason = Undefined::Other(figure.reason().to_owned());
    Ok(Estimate::of(value).without_error(&reason).counted(n, absent).into())
}

/// A metric that describes the scores at hand, as numbers.
macro_rules! described_metric {
    ($(#[$doc:meta])* $type:ident, $name:literal, $described:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, $crate::Params)]
        #[params(crate = $crate, name = $name)]
        pub struct $type {
            /// How values become numbers.
            #[param(default = $crate::Conversion::default())]
            to_float: Option<$crate::Conversion>,
        }

        describes!($type, $described, |metric: &$type| Some(metric.to_float_or_default()));
    };
}

/// The metric is one of the figures, over scores as a conversion reads them.
macro_rules! describes {
    ($type:ident, $described:ident, $conversion:expr) => {
        impl Metric for $type {
            metric_flags! { self:
                metadata_keys = MetadataKeys::NONE, depends_on_ids = false, score_parts = Value,
                resample_cost = 1
            }

            fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
                let conversion: fn(&$type) -> Option<Conversion> = $conversion;
                describe(Self::NAME, DescriptiveFigure::$described, conversion(self), scores)
            }
        }
    };
}

/// The number of scores; unscored samples do not count. It has no error.
///
/// # Formula
/// ```text
/// n
/// ```
///
/// # When
/// Counts beside other figures, as of groups: `grouped(count(), "subject")`.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,subject,score 1,law,C 2,law,I 3,law,C 4,art,C 5,art,C 6,art,I > exam.csv
/// $ errorbar score exam.csv --metric 'grouped(count(), "subject")'
/// exam.csv · 6 rows
///
/// score · 6 scored
///   count by subject  n 3 each · no error: a count of these scores, not an estimate
///     law  3
///     art  3
///     all  6  no error: a count of these scores, not an estimate
/// ```
///
/// # See also
/// `sum`, `frequency`
///
/// # Source
/// Defined by errorbar; inspect_ai has no such metric.
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "count")]
pub struct CountScores;

describes!(CountScores, Count, |_| None);

described_metric!(
    /// The sum of the scores. It has no error; a mean has one.
    ///
    /// # Formula
    /// ```text
    /// Σx
    /// ```
    ///
    /// # When
    /// Points or costs add up to a total.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,score 1,0.2 2,0.4 3,0.4 4,0.7 5,0.8 6,0.9 > marks.csv
    /// $ errorbar score marks.csv --metric 'sum'
    /// marks.csv · 6 rows
    ///
    /// score · 6 scored
    ///   sum  3.4  no error: a total of these scores, not an estimate; take the mean
    /// ```
    ///
    /// # See also
    /// `mean`, `count`
    ///
    /// # Source
    /// Defined by errorbar; inspect_ai has no such metric.
    Sum,
    "sum",
    Sum
);

described_metric!(
    /// The smallest score. An extreme has no error; a quantile has one.
    ///
    /// # Formula
    /// ```text
    /// min x
    /// ```
    ///
    /// # When
    /// The worst case that was seen. It falls with every sample more, so compare only runs of the same samples.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,score 1,0.2 2,0.4 3,0.4 4,0.7 5,0.8 6,0.9 > marks.csv
    /// $ errorbar score marks.csv --metric 'min'
    /// marks.csv · 6 rows
    ///
    /// score · 6 scored
    ///   min  0.2  no error: an extreme has no standard error; take a quantile
    /// ```
    ///
    /// # See also
    /// `max`, `quantile`
    ///
    /// # Source
    /// Defined by errorbar; inspect_ai has no such metric.
    Min,
    "min",
    Min
);

described_metric!(
    /// The largest score. An extreme has no error; a quantile has one.
    ///
    /// # Formula
    /// ```text
    /// max x
    /// ```
    ///
    /// # When
    /// The best case that was seen. It rises with every sample more, so compare only runs of the same samples.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,score 1,0.2 2,0.4 3,0.4 4,0.7 5,0.8 6,0.9 > marks.csv
    /// $ errorbar score marks.csv --metric 'max'
    /// marks.csv · 6 rows
    ///
    /// score · 6 scored
    ///   max  0.9  no error: an extreme has no standard error; take a quantile
    /// ```
    ///
    /// # See also
    /// `min`, `quantile`
    ///
    /// # Source
    /// Defined by errorbar; inspect_ai has no such metric.
    Max,
    "max",
    Max
);
