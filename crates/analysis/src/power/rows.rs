//! The plans: one for each combination of what is given.

use errorbar_inference::power::least_samples;
use errorbar_inference::{Flips, PowerDesign, PowerError, ScoreSpread};

use super::design::PilotRuns;
use super::design::PlannedDesign;
use super::{BudgetRequest, PowerRequest};
use super::{Case, PlannedGoal};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::text;
use crate::text::Opt;
use crate::text::short;

/// The epochs that are tried if none are given.
const EPOCHS: [u32; 5] = [1, 2, 4, 8, 16];
/// The most epochs of a sample.
const MOST_EPOCHS: u32 = 100_000;
/// The most plans.
const MOST_ROWS: usize = 10_000;

/// One plan.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlannedRow {
    /// None if no number suffices.
    pub samples: Option<u64>,
    /// The epochs of each sample.
    pub epochs: u32,
    /// The difference that is detected.
    pub difference: Option<f64>,
    /// The width of the interval.
    pub width: Option<f64>,
    /// The chance to detect the difference.
    pub power: Option<f64>,
    /// The standard deviation.
    pub sd: f64,
    /// By what clusters multiply the variance.
    pub design_effect: f64,
    /// The shares of flips.
    pub flips: Option<(f64, f64)>,
    /// The number of calls of all models.
    pub calls: Option<u64>,
    /// What they cost.
    pub cost: Option<f64>,
    /// Whether it is the cheapest of those with other epochs.
    pub is_cheapest: bool,
    /// Why it is no plan.
    pub reason: Option<String>,
}

pub(crate) fn compute(
    args: &PowerRequest,
    goal: PlannedGoal,
    runs: Option<&PilotRuns>,
    design: &PlannedDesign,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<PlannedRow>, Diagnostic> {
    let epochs = epochs(args, design)?;
    let cases = goal.cases(args, runs, design.plan.flips(None).map(|(p10, p01)| p01 - p10));
    if cases.len() * epochs.len() > MOST_ROWS {
        let problem = format!("these are {} plans; {MOST_ROWS} are the most", cases.len() * epochs.len());
        return Err(Diagnostic::error(problem).hint("give shorter lists, or ranges with longer steps"));
    }
    let is_alone = cases.len() * epochs.len() == 1;
    let planner = Planner { design, budget: &args.budget, is_samples: goal.is_samples() };
    let mut rows = Vec::new();
    let mut last_error = None;
    for case in &cases {
        let mut of_case = Vec::new();
        for epochs in planner.epochs_of(case, &epochs, args.budget.epochs.is_some()) {
            match planner.row(case, epochs) {
                Ok(row) => of_case.push(row),
                Err(error) if is_alone || !is_of_row(&error) => return Err(error.into()),
                Err(error) => {
                    let reason = Some(error.to_string());
                    of_case.push(PlannedRow { reason, ..planner.without_answer(case, epochs) });
                    last_error = Some(error);
                }
            }
        }
        planner.judge(&mut of_case, case, diagnostics);
        rows.extend(of_case);
    }
    match last_error {
        Some(error) if rows.iter().all(|row| row.reason.is_some()) => Err(error.into()),
        _ => Ok(rows),
    }
}

/// Whether other rows may have an answer.
fn is_of_row(error: &PowerError) -> bool {
    matches!(
        error,
        PowerError::NotDetected { .. }
            | PowerError::TooManySamples { .. }
            | PowerError::TooFewSamples { .. }
            | PowerError::DifferenceOutside { .. }
    )
}

/// The epochs that are planned for.
fn epochs(args: &PowerRequest, design: &PlannedDesign) -> Result<Vec<u32>, Diagnostic> {
    let Some(given) = &args.budget.epochs else {
        let mut epochs: Vec<u32> = match design.spread() {
            Some(_) => EPOCHS.into_iter().chain(design.run_epochs).collect(),
            None => vec![design.only_epochs.unwrap_or(1)],
        };
        epochs.sort_unstable();
        epochs.dedup();
        return Ok(epochs);
    };
    let mut epochs = Vec::new();
    for count in &given.0 {
        let count = u32::try_from(*count).ok().filter(|count| *count <= MOST_EPOCHS).ok_or_else(|| {
            Diagnostic::error(format!("{count} epochs are more than {MOST_EPOCHS}")).about_option(Opt::Epochs)
        })?;
        if let Some(only) = design.only_epochs.filter(|only| count > 0 && *only != count) {
            let problem = format!(
                "the variance is that of samples with {only} epoch{}, and how much of it is within samples is not known",
                if only == 1 { "" } else { "s" }
            );
            let hint = match &design.source {
                Some(_) => text!("omit {Epochs}, or give runs with two epochs or more"),
                None => text!("omit {Epochs}, or add {SdWithin=S}"),
            };
            return Err(Diagnostic::error(problem)
                .about_option(Opt::Epochs.set(count.to_string()))
                .hint(hint));
        }
        epochs.push(count);
    }
    Ok(epochs)
}

struct Planner<'a> {
    design: &'a PlannedDesign,
    budget: &'a BudgetRequest,
    /// Whether the number of samples is computed.
    is_samples: bool,
}

impl Planner<'_> {
    fn samples(&self, case: &Case, epochs: u32) -> Result<u64, PowerError> {
        match (case.samples, case.width, case.difference, case.power) {
            (Some(samples), ..) => Ok(samples),
            (None, Some(width), ..) => self.design.plan_of(epochs).samples_for_width(epochs, width, None),
            (None, None, Some(difference), Some(power)) => {
                self.design.plan_of(epochs).samples(epochs, difference, power)
            }
            _ => Err(PowerError::NoComparison),
        }
    }

    fn row(&self, case: &Case, epochs: u32) -> Result<PlannedRow, PowerError> {
        let plan = self.design.plan_of(epochs);
        let samples = self.samples(case, epochs)?;
        let is_test = case.power.is_some() || case.difference.is_some();
        let difference = match (case.difference, case.power) {
            (None, Some(power)) => Some(plan.difference(samples, epochs, power)?),
            (difference, _) => difference,
        };
        let power = match (case.power, difference) {
            (None, Some(difference)) => Some(plan.power(samples, epochs, difference)?),
            (power, _) => power,
        };
        let width = match (is_test, case.width) {
            // Too few samples for an interval may do for a test.
            (true, _) => plan.width(samples, epochs, difference).ok(),
            (false, None) => Some(plan.width(samples, epochs, None)?),
            (false, width) => width,
        };
        let calls = samples.saturating_mul(u64::from(epochs)).saturating_mul(self.design.models);
        Ok(PlannedRow {
            samples: Some(samples),
            difference,
            width,
            power,
            sd: plan.sd(epochs, difference),
            flips: plan.flips(difference),
            calls: Some(calls),
            cost: self.cost(samples, calls),
            ..self.without_answer(case, epochs)
        })
    }

    fn without_answer(&self, case: &Case, epochs: u32) -> PlannedRow {
        PlannedRow {
            samples: case.samples,
            epochs,
            difference: case.difference,
            width: case.width,
            power: case.power,
            sd: self.design.plan.sd(epochs, case.difference),
            design_effect: self.design.plan_of(epochs).design_effect,
            flips: None,
            calls: None,
            cost: None,
            is_cheapest: false,
            reason: None,
        }
    }

    fn has_costs(&self) -> bool {
        self.budget.call_cost.is_some() || self.budget.sample_cost.is_some()
    }

    fn cost(&self, samples: u64, calls: u64) -> Option<f64> {
        let (of_call, of_sample) = self.costs();
        // Unpaired, every model has samples of its own.
        let sets = if matches!(self.design.plan.design, PowerDesign::TwoMeans(_) | PowerDesign::TwoShares(_))
        {
            2.0
        } else {
            1.0
        };
        self.has_costs().then_some(samples as f64 * sets * of_sample + calls as f64 * of_call)
    }

    /// Of a call and of a sample; calls count if no cost is given.
    fn costs(&self) -> (f64, f64) {
        let of_sample = self.budget.sample_cost.unwrap_or(0.0);
        (
            self.budget.call_cost.unwrap_or(if self.budget.sample_cost.is_some() { 0.0 } else { 1.0 }),
            of_sample,
        )
    }

    /// The epochs to try for a case: besides the usual ones the cheapest, and the fewest with which the samples that there
    /// are suffice.
    fn epochs_of(&self, case: &Case, epochs: &[u32], are_given: bool) -> Vec<u32> {
        let mut all = epochs.to_vec();
        if let (true, false, Some(spread)) = (self.is_samples, are_given, self.design.spread()) {
            let (of_call, of_sample) = self.costs();
            let best =
                (spread.within * of_sample / (spread.between * of_call * self.design.models as f64)).sqrt();
            if best.is_finite() && best >= 1.0 {
                all.push((best.round() as u32).min(MOST_EPOCHS));
            }
            all.extend(self.budget.max_samples.and_then(|most| self.fewest_epochs(case, most)));
            all.sort_unstable();
            all.dedup();
        }
        all
    }

    /// The fewest epochs with which this number of samples suffices.
    fn fewest_epochs(&self, case: &Case, most: u64) -> Option<u32> {
        let suffices =
            |epochs: u64| Ok(self.samples(case, epochs as u32).is_ok_and(|samples| samples <= most));
        let epochs = least_samples(1.0, 1, u64::from(MOST_EPOCHS), &suffices).ok()?;
        Some(epochs as u32)
    }

    /// Marks the plans that need more samples than there are, and the cheapest of the others.
    fn judge(&self, rows: &mut [PlannedRow], case: &Case, diagnostics: &mut Diagnostics) {
        if !self.is_samples {
            return;
        }
        let most = self.budget.max_samples.unwrap_or(u64::MAX);
        for row in rows.iter_mut().filter(|row| row.samples.is_some_and(|samples| samples > most)) {
            row.reason = Some(format!("more than {most} samples"));
        }
        let price =
            |row: &PlannedRow| row.cost.unwrap_or(row.calls.map_or(f64::INFINITY, |calls| calls as f64));
        let fits = |row: &&mut PlannedRow| row.reason.is_none();
        let several = rows.len() > 1;
        let cheapest = rows.iter_mut().filter(fits).min_by(|one, two| price(one).total_cmp(&price(two)));
        match cheapest {
            Some(row) => row.is_cheapest = several,
            None if self.budget.max_samples.is_some() => diagnostics.push(self.not_enough(case, most)),
            None => {}
        }
    }

    fn not_enough(&self, case: &Case, most: u64) -> Diagnostic {
        let wanted = match (case.width, case.difference) {
            (Some(width), _) => format!("a width of {}", short(width, 4)),
            (_, Some(difference)) => format!("a difference of {}", short(difference, 4)),
            _ => "this".to_owned(),
        };
        // As if epochs had no end.
        let mut limit = self.design.plan_of(u32::MAX);
        let spread = self.design.spread();
        match &mut limit.design {
            PowerDesign::Mean(of) | PowerDesign::TwoMeans(of) => *of = ScoreSpread::new(of.between, 0.0),
            PowerDesign::Pairs(flips @ Flips::Shares { .. }) => {
                let discordant = self.design.plan.flips(None).map_or(1.0, |(p10, p01)| p10 + p01);
                *flips = Flips::Discordant(discordant.min(1.0));
            }
            _ => {}
        }
        let epochs = if spread.is_some() { " with any number of epochs" } else { "" };
        let shown = match (case.width, case.power) {
            (Some(_), _) => {
                limit.width(most, 1, None).ok().map(|width| format!("a width of {}", short(width, 3)))
            }
            (_, Some(power)) => {
                limit.difference(most, 1, power).ok().map(|at| format!("a difference of {}", short(at, 3)))
            }
            _ => None,
        };
        let hint = shown.map(|shown| format!("{most} samples can show {shown}{epochs}"));
        Diagnostic::failure(format!("{most} samples do not suffice for {wanted}{epochs}")).hint_if(hint)
    }
}
