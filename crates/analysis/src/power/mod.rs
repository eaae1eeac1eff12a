//! How many samples it takes, and what these samples can show.

mod design;
mod goal;
mod rows;
mod runs;
mod values;

use std::path::PathBuf;

use errorbar_inference::{Gate, PowerMethod};
use serde::{Deserialize, Serialize};

pub use self::design::PlannedDesign;
pub use self::goal::PlannedGoal;
pub use self::rows::PlannedRow;
pub use self::values::{Counts, Values};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::request::{ReadRequest, TableRequest, as_text, one_or_many};
use crate::text::Opt;
use crate::{Analysis, Answer, text};

/// What to plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    #[cfg_attr(feature = "clap", arg(long, value_name = "A", value_parser = values::number, allow_hyphen_values = true))]
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
    pub runs: PilotRequest,
}

/// How scores vary.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "How scores vary"))]
pub struct SpreadRequest {
    /// The standard deviation, between samples, of the paired difference; of the scores, with --unpaired,
    /// --correlation, or --width alone
    #[cfg_attr(feature = "clap", arg(long, value_name = "S", value_parser = values::number, allow_hyphen_values = true))]
    pub sd: Option<f64>,
    /// The standard deviation of the epochs of one sample of one model; --sd is then without it
    #[cfg_attr(feature = "clap", arg(long, value_name = "S", value_parser = values::number, allow_hyphen_values = true))]
    pub sd_within: Option<f64>,
    /// The share of right answers (of the base), for scores of zeros and ones
    #[cfg_attr(feature = "clap", arg(long, value_name = "P", value_parser = values::number, allow_hyphen_values = true))]
    pub share: Option<f64>,
    /// The correlation of the two models' scores over samples, with --sd or --share
    #[cfg_attr(feature = "clap", arg(long, value_name = "R", value_parser = values::number, allow_hyphen_values = true))]
    pub correlation: Option<f64>,
    /// The share of samples that only the base has right
    #[cfg_attr(feature = "clap", arg(long, value_name = "P", value_parser = values::number, allow_hyphen_values = true))]
    pub p10: Option<f64>,
    /// The share of samples that only the other model has right
    #[cfg_attr(feature = "clap", arg(long, value_name = "P", value_parser = values::number, allow_hyphen_values = true))]
    pub p01: Option<f64>,
    /// The two models get different samples
    #[cfg_attr(feature = "clap", arg(long))]
    pub unpaired: bool,
    /// Design effect: variance inflation due to clustering, of the difference (or of the mean, for a width)
    #[cfg_attr(feature = "clap", arg(long, value_name = "D", value_parser = values::number, allow_hyphen_values = true))]
    pub design_effect: Option<f64>,
}

/// What samples and epochs cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    #[cfg_attr(feature = "clap", arg(long, value_name = "C", value_parser = values::cost, allow_hyphen_values = true))]
    pub call_cost: Option<f64>,
    /// The cost of one sample besides its calls, such as writing or grading it
    #[cfg_attr(feature = "clap", arg(long, value_name = "C", value_parser = values::cost, allow_hyphen_values = true))]
    pub sample_cost: Option<f64>,
}

/// Runs that show how scores vary.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    #[serde(rename = "scorers")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME", requires = "from"))]
    pub scorer: Option<String>,
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
        let runs = runs::read(&request.runs, &request.spread, self, diagnostics)?;
        let goal = PlannedGoal::of(request, runs.as_ref())?;
        let design = PlannedDesign::of(request, goal, runs.as_ref(), diagnostics)?;
        let rows = rows::compute(request, goal, runs.as_ref(), &design, diagnostics)?;
        Ok(Plans { goal, design, rows })
    }
}

impl PowerRequest {
    /// The chance of a false alarm.
    pub fn alpha(&self) -> f64 {
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
