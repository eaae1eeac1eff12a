//! How many samples it takes, and what these samples can show.

mod design;
mod rows;

use std::path::PathBuf;
use std::str::FromStr;

use errorbar_inference::{Gate, PowerMethod};
use errorbar_macros::Setters;
use serde::{Deserialize, Serialize};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::power::design::PilotRuns;
use crate::request::{LimitRequest, ReadRequest, TableRequest, as_text, one_or_many};
use crate::text::Opt;
use crate::{Analysis, Answer, text};

pub use self::design::PlannedDesign;
pub use self::rows::PlannedRow;

/// What to plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Setters)]
#[serde(default)]
#[non_exhaustive]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_display_order = 1))]
pub struct PowerRequest {
    /// The difference to detect: a number, a list (0.01,0.02) or a range (0.01..0.10, 0.1..0.5:0.1)
    #[cfg_attr(feature = "clap", arg(long, value_name = "D", allow_hyphen_values = true))]
    pub difference: Option<Values>,
    /// The width of the interval, from its lower to its upper end
    #[cfg_attr(feature = "clap", arg(long, value_name = "W", allow_hyphen_values = true))]
    pub width: Option<Values>,
    /// The number of samples; of each model, if unpaired
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", allow_hyphen_values = true))]
    pub samples: Option<Counts>,
    /// The chance to detect the difference [default: 0.8, unless it is computed]
    #[cfg_attr(feature = "clap", arg(long, value_name = "P", allow_hyphen_values = true))]
    pub power: Option<Values>,
    /// The chance of a false alarm; intervals have the level 1 − alpha [default: 0.05]
    #[cfg_attr(feature = "clap", arg(long, value_name = "A", value_parser = number, allow_hyphen_values = true))]
    pub alpha: Option<f64>,
    /// The method of the test [default: the one that fits]
    #[serde(with = "as_text")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "METHOD", value_parser = methods()))]
    pub method: Option<PowerMethod>,
    /// How scores vary.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub spread: SpreadRequest,
    /// What samples and epochs cost.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub budget: BudgetRequest,
    /// Runs that show how scores vary.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    #[setters(TableRequest, ReadRequest, LimitRequest)]
    pub runs: PilotRequest,
}

/// How scores vary.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Setters)]
#[setters(part)]
#[serde(default)]
#[non_exhaustive]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "How scores vary"))]
pub struct SpreadRequest {
    /// The standard deviation, between samples, of the paired difference; of the scores, with --unpaired,
    /// --correlation, or --width alone
    #[cfg_attr(feature = "clap", arg(long, value_name = "S", value_parser = number, allow_hyphen_values = true))]
    pub sd: Option<f64>,
    /// The standard deviation of the epochs of one sample of one model; --sd is then without it
    #[cfg_attr(feature = "clap", arg(long, value_name = "S", value_parser = number, allow_hyphen_values = true))]
    pub sd_within: Option<f64>,
    /// The share of right answers (of the base), for scores of zeros and ones
    #[cfg_attr(feature = "clap", arg(long, value_name = "P", value_parser = number, allow_hyphen_values = true))]
    pub share: Option<f64>,
    /// The correlation of the two models' scores over samples, with --sd or --share
    #[cfg_attr(feature = "clap", arg(long, value_name = "R", value_parser = number, allow_hyphen_values = true))]
    pub correlation: Option<f64>,
    /// The share of samples that only the base has right
    #[cfg_attr(feature = "clap", arg(long, value_name = "P", value_parser = number, allow_hyphen_values = true))]
    pub p10: Option<f64>,
    /// The share of samples that only the other model has right
    #[cfg_attr(feature = "clap", arg(long, value_name = "P", value_parser = number, allow_hyphen_values = true))]
    pub p01: Option<f64>,
    /// The two models get different samples
    #[cfg_attr(feature = "clap", arg(long))]
    pub unpaired: bool,
    /// Design effect: variance inflation due to clustering, of the difference (or of the mean, for a width)
    #[cfg_attr(feature = "clap", arg(long, value_name = "D", value_parser = number, allow_hyphen_values = true))]
    pub design_effect: Option<f64>,
}

/// What samples and epochs cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Setters)]
#[setters(part)]
#[serde(default)]
#[non_exhaustive]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "Epochs and costs"))]
pub struct BudgetRequest {
    /// Epochs of each sample: a number, a list or a range [default: 1; if the variance within samples is
    /// known, 1 to 16]
    #[cfg_attr(feature = "clap", arg(long, value_name = "K", allow_hyphen_values = true))]
    pub epochs: Option<Counts>,
    /// The number of samples that there are; more epochs make up for samples that are missing
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..)))]
    pub max_samples: Option<u64>,
    /// The cost of one call of a model, for the cost of each plan
    #[cfg_attr(feature = "clap", arg(long, value_name = "C", value_parser = cost, allow_hyphen_values = true))]
    pub call_cost: Option<f64>,
    /// The cost of one sample besides its calls, such as writing or grading it
    #[cfg_attr(feature = "clap", arg(long, value_name = "C", value_parser = cost, allow_hyphen_values = true))]
    pub sample_cost: Option<f64>,
}

/// Runs that show how scores vary.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Setters)]
#[setters(part)]
#[serde(default)]
#[non_exhaustive]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "From runs"))]
pub struct PilotRequest {
    /// One or two eval logs or tables of scores whose variances are taken; two runs of the same samples
    /// show how their difference varies
    #[serde(rename = "runs", deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE", num_args = 1..=2))]
    pub from: Vec<PathBuf>,
    /// The column of a table that tells the two models apart
    #[cfg_attr(feature = "clap", arg(long, value_name = "COLUMN", requires = "from"))]
    pub by: Option<String>,
    /// A metadata key whose samples belong together; given twice, samples are clustered both ways
    #[serde(rename = "cluster", deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "clap", arg(long = "cluster", value_name = "KEY", requires = "from",
        value_parser = clap::builder::NonEmptyStringValueParser::new()))]
    pub clusters: Vec<String>,
    /// The scorer, if there are several
    #[cfg_attr(feature = "clap", arg(long = "scorer", value_name = "NAME", requires = "from"))]
    pub scorers: Option<String>,
    /// Take the same id for the same sample, though input or target differ
    #[cfg_attr(feature = "clap", arg(long, requires = "from"))]
    pub trust_ids: bool,
    /// Take two logs of different tasks as if they were of one
    #[cfg_attr(feature = "clap", arg(long, requires = "from"))]
    pub ignore_tasks: bool,
    /// How tables are read.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub tables: TableRequest,
    /// How logs are read.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    #[setters(LimitRequest)]
    pub read: ReadRequest,
}

#[cfg(feature = "clap")]
fn methods() -> impl clap::builder::TypedValueParser<Value = PowerMethod> {
    crate::request::one_of(PowerMethod::TESTS.map(|method| (method.name(), method)))
}

/// Plans, each with its samples, epochs, difference and power.
#[derive(Debug)]
#[non_exhaustive]
pub struct Plans {
    /// What is computed.
    pub goal: PlannedGoal,
    /// What is planned with.
    pub design: PlannedDesign,
    /// The plans.
    pub rows: Vec<PlannedRow>,
}

impl Analysis<'_> {
    /// How many samples it takes, or what these samples can show.
    pub fn power(&self, request: &PowerRequest) -> Answer<Plans> {
        let mut diagnostics = Diagnostics::default();
        match self.plans(request, &mut diagnostics) {
            Ok(plans) => Answer::new(plans, diagnostics),
            Err(problems) => {
                diagnostics.extend(problems);
                Answer::failed(diagnostics)
            }
        }
    }

    fn plans(&self, request: &PowerRequest, diagnostics: &mut Diagnostics) -> Result<Plans, Diagnostics> {
        request.check()?;
        let runs = design::read(&request.runs, &request.spread, self, diagnostics)?;
        let goal = PlannedGoal::of(request, runs.as_ref())?;
        let design = PlannedDesign::of(request, goal, runs.as_ref(), diagnostics)?;
        let rows = rows::compute(request, goal, runs.as_ref(), &design, diagnostics)?;
        Ok(Plans { goal, design, rows })
    }
}

impl PowerRequest {
    /// The chance of a false alarm.
    pub fn alpha_or_default(&self) -> f64 {
        self.alpha.unwrap_or(Gate::ALPHA)
    }

    /// Checks what no type does.
    fn check(&self) -> Result<(), Diagnostic> {
        for (option, cost) in
            [(Opt::CallCost, self.budget.call_cost), (Opt::SampleCost, self.budget.sample_cost)]
        {
            if cost.is_some_and(|cost| !(cost >= 0.0 && cost.is_finite())) {
                return Err(Diagnostic::error("a cost is 0 or more, such as 0.002").about_option(option));
            }
        }
        if self.runs.from.len() > 2 {
            let problem = format!("one or two runs show how scores vary, found {}", self.runs.from.len());
            return Err(Diagnostic::error(problem)
                .about_option(Opt::From)
                .hint(text!("give two at a time: {From=A B}")));
        }
        Ok(())
    }
}

/// The most values of one option.
const MOST_VALUES: usize = 1000;

/// One or several numbers: `0.03`, `0.01,0.02`, `0.01..0.10`, `0.1..0.5:0.1`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Form")]
pub struct Values(pub Vec<f64>);

/// The same for counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Form")]
pub struct Counts(pub Vec<u64>);

impl From<f64> for Values {
    fn from(number: f64) -> Self {
        Values(vec![number])
    }
}

impl From<u64> for Counts {
    fn from(count: u64) -> Self {
        Counts(vec![count])
    }
}

impl FromStr for Values {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        parse_list(text, 0.0).map(Values)
    }
}

impl FromStr for Counts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Counts::of_numbers(parse_list(text, 1.0)?)
    }
}

impl Counts {
    fn of_numbers(numbers: Vec<f64>) -> Result<Self, String> {
        let count = |number: f64| {
            let is_count = number.fract() == 0.0 && (0.0..1e15).contains(&number);
            is_count
                .then_some(number as u64)
                .ok_or_else(|| format!("{number} is not a number of samples or epochs"))
        };
        numbers.into_iter().map(count).collect::<Result<Vec<u64>, String>>().map(Counts)
    }
}

/// Numbers as programs give them: one, a list, or a text as people write it.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number, a list of numbers, or a string such as \"0.01..0.10\"")]
enum Form {
    One(f64),
    Many(Vec<f64>),
    Text(String),
}

impl Form {
    fn numbers(self, least: f64) -> Result<Vec<f64>, String> {
        match self {
            Form::One(number) => Ok(vec![number]),
            Form::Many(numbers) => Ok(numbers),
            Form::Text(text) => parse_list(&text, least),
        }
    }
}

impl TryFrom<Form> for Values {
    type Error = String;

    fn try_from(form: Form) -> Result<Self, String> {
        form.numbers(0.0).map(Values)
    }
}

impl TryFrom<Form> for Counts {
    type Error = String;

    fn try_from(form: Form) -> Result<Self, String> {
        Counts::of_numbers(form.numbers(1.0)?)
    }
}

/// A finite number.
fn number(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.trim().parse().ok();
    number.filter(|number| number.is_finite()).ok_or_else(|| "expected a number such as 0.03".to_owned())
}

/// A finite number that is not below 0.
#[cfg(feature = "clap")]
fn cost(text: &str) -> Result<f64, String> {
    number(text).ok().filter(|cost| *cost >= 0.0).ok_or_else(|| "expected a cost such as 0.002".to_owned())
}

/// Steps of ranges are no shorter than `least`.
fn parse_list(text: &str, least: f64) -> Result<Vec<f64>, String> {
    let mut values = Vec::new();
    for part in text.split(',') {
        match part.split_once("..") {
            None => values.push(number(part)?),
            Some((first, rest)) => values.extend(range(first, rest, least)?),
        }
        if values.len() > MOST_VALUES {
            return Err(format!(
                "these are more than {MOST_VALUES} values; take longer steps, as in 0..1:0.01"
            ));
        }
    }
    Ok(values)
}

fn range(first: &str, rest: &str, least: f64) -> Result<Vec<f64>, String> {
    let (last, step) = match rest.split_once(':') {
        Some((last, step)) => (last, Some(number(step)?)),
        None => (rest, None),
    };
    let (first, last) = (number(first)?, number(last)?);
    if first > last {
        return Err(format!("the range starts at {first}, above its end {last}"));
    }
    if first == last {
        return Ok(vec![first]);
    }
    let step = step.unwrap_or_else(|| round_step(last - first).max(least));
    if step <= 0.0 {
        return Err(format!("the step of the range is {step}; it must be above 0"));
    }
    let steps = (last - first) / step;
    if steps > MOST_VALUES as f64 {
        return Err(format!("the range has more than {MOST_VALUES} values; take longer steps"));
    }
    let mut values: Vec<f64> =
        (0..=(steps + 1e-9) as usize).map(|at| decimal(first + step * at as f64)).collect();
    if steps.fract() > 1e-9 && steps.fract() < 1.0 - 1e-9 {
        values.push(last);
    }
    Ok(values)
}

/// The step of 1, 2 or 5 times a power of ten that makes ten steps or fewer of a range.
fn round_step(length: f64) -> f64 {
    let raw = length / 10.0 * (1.0 - 1e-9);
    let mut power = 1e-12;
    while power * 10.0 <= raw {
        power *= 10.0;
    }
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|times| times * power).find(|step| *step >= raw);
    decimal(step.unwrap_or(10.0 * power))
}

/// The number that its twelve first digits are: a sum of tenths is what one would write.
fn decimal(number: f64) -> f64 {
    format!("{number:.11e}").parse().unwrap_or(number)
}

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
    fn cases(self, args: &PowerRequest, runs: Option<&PilotRuns>, own: Option<f64>) -> Vec<Case> {
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
struct Case {
    samples: Option<u64>,
    difference: Option<f64>,
    width: Option<f64>,
    power: Option<f64>,
}

/// Whether what is known is about one model, so that there is no difference without an assumption about the other.
fn is_one_model(args: &PowerRequest, runs: Option<&PilotRuns>) -> bool {
    let spread = &args.spread;
    let is_compared = spread.unpaired || spread.correlation.is_some() || args.power.is_some();
    let is_one = runs.map_or(spread.share.is_some(), |runs| runs.is_one());
    is_one && !is_compared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges() {
        for (text, values) in [
            ("0.03", &[0.03][..]),
            ("-0.03", &[-0.03]),
            ("0.01,0.5", &[0.01, 0.5]),
            ("0.01..0.10", &[0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1]),
            ("0.1..0.5:0.2,0.9", &[0.1, 0.3, 0.5, 0.9]),
            ("0.1..0.5:0.3", &[0.1, 0.4, 0.5]),
            ("2..2", &[2.0]),
        ] {
            assert_eq!(str::parse::<Values>(text), Ok(Values(values.to_vec())), "{text}");
        }
        for text in [
            "",
            "x",
            "0.1..",
            "..1",
            "0.5..0.1",
            "0..1:0",
            "0..1:-1",
            "0..1:1e-9",
            "1,",
            "nan",
            "inf",
            "0..inf",
        ] {
            assert!(str::parse::<Values>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn counts() {
        assert_eq!(str::parse::<Counts>("100..1000").map(|counts| counts.0.len()), Ok(10));
        assert_eq!(str::parse::<Counts>("1..4"), Ok(Counts(vec![1, 2, 3, 4])));
        assert_eq!(str::parse::<Counts>("1e3,0"), Ok(Counts(vec![1000, 0])));
        for text in ["1.5", "-1", "1e20", "1..2:0.5"] {
            assert!(str::parse::<Counts>(text).is_err(), "{text}");
        }
    }
}
