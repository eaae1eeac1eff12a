//! How errors and intervals are computed, and what a difference must show.

use errorbar_core::{ErrorMethod, ErrorPlan, IntervalChoice, IntervalSide, Plan};
use errorbar_inference::{ComparisonReport, Gate, GateOutcome};
use errorbar_macros::Setters;
use serde::{Deserialize, Serialize};

use super::{as_text, one_or_many, optional_list};
use crate::diagnostic::{Diagnostic, Outcome};
use crate::text;
use crate::text::{Opt, Text};

/// How errors and intervals are computed. What is left open is that of the task or the log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Setters)]
#[setters(part)]
#[serde(default)]
#[non_exhaustive]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "Errors and intervals"))]
pub struct ErrorRequest {
    /// A metadata key whose samples belong together; given twice, samples are clustered both ways
    #[serde(rename = "cluster", deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "clap", arg(long = "cluster", value_name = "KEY", value_parser = named()))]
    pub clusters: Vec<String>,
    /// The method of standard errors: of independent samples (iid), of clusters (CR0 to CR3), or of either (jackknife,
    /// bootstrap) [default: iid; CR2 with --cluster]
    #[serde(with = "as_text")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "METHOD", value_parser = error_methods(), ignore_case = true))]
    pub errors: Option<ErrorMethod>,
    /// The method of intervals, some with arguments: beta(prior=[1, 1]), wild(weights="rademacher") [default: auto, which
    /// chooses by the scores]
    #[serde(with = "as_text")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "METHOD", value_parser = IntervalParser))]
    pub interval: Option<IntervalChoice>,
    /// The confidence level of intervals [default: 0.95]
    #[cfg_attr(feature = "clap", arg(long, value_name = "P", value_parser = level, allow_negative_numbers = true))]
    pub level: Option<f64>,
    /// The lowest and the highest possible score [default: 0 1 if all scores are within]
    #[serde(deserialize_with = "optional_list")]
    #[cfg_attr(feature = "clap", arg(long, num_args = 2, value_names = ["LO", "HI"], allow_hyphen_values = true))]
    pub range: Option<Vec<f64>>,
    /// The number of resamples of bootstrap errors and intervals [default: 10000]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = draws))]
    pub draws: Option<u32>,
    /// Which ends intervals have: both, or one bound [default: two-sided]
    #[serde(with = "as_text")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SIDE", value_parser = sides()))]
    pub side: Option<IntervalSide>,
    /// The number of samples of the whole benchmark, if the scores are of a random part of it
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = population))]
    pub population: Option<u64>,
}

#[cfg(feature = "clap")]
fn named() -> clap::builder::NonEmptyStringValueParser {
    clap::builder::NonEmptyStringValueParser::new()
}

#[cfg(feature = "clap")]
fn error_methods() -> impl clap::builder::TypedValueParser<Value = ErrorMethod> {
    super::one_of(ErrorMethod::choices().map(|method| (method.name(), method)))
}

/// A method with its arguments, `beta(prior=[1, 1])`, or `auto`. Help and completions have the names.
#[cfg(feature = "clap")]
#[derive(Clone)]
struct IntervalParser;

#[cfg(feature = "clap")]
impl clap::builder::TypedValueParser for IntervalParser {
    type Value = IntervalChoice;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<IntervalChoice, clap::Error> {
        let names: Vec<&str> = IntervalChoice::names().collect();
        let name = value.to_string_lossy();
        if !name.contains('(') && !names.contains(&name.as_ref()) {
            // Lists the names and the nearest of them.
            clap::builder::PossibleValuesParser::new(names).parse_ref(command, arg, value)?;
        }
        let parser = |text: &str| text.parse::<IntervalChoice>();
        parser.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = clap::builder::PossibleValue> + '_>> {
        Some(Box::new(IntervalChoice::names().map(clap::builder::PossibleValue::new)))
    }
}

#[cfg(feature = "clap")]
fn sides() -> impl clap::builder::TypedValueParser<Value = IntervalSide> {
    super::one_of(IntervalSide::CHOICES.map(|side| (side.name(), side)))
}

#[cfg(feature = "clap")]
fn population(text: &str) -> Result<u64, String> {
    let population = text.parse().ok().filter(|population| *population > 0);
    population.ok_or_else(|| "expected the number of samples of the whole benchmark, such as 1319".to_owned())
}

#[cfg(feature = "clap")]
fn level(text: &str) -> Result<f64, String> {
    let mut plan = ErrorPlan::new();
    plan.level = Some(text.parse().map_err(|_| "expected a number such as 0.95".to_owned())?);
    plan.check().map(|()| plan.level())
}

#[cfg(feature = "clap")]
fn draws(text: &str) -> Result<u32, String> {
    let mut plan = ErrorPlan::new();
    plan.draws = Some(text.parse().map_err(|_| "expected an integer such as 10000".to_owned())?);
    plan.check().map(|()| plan.draws())
}

impl ErrorRequest {
    /// Whether one of them is given.
    pub fn is_given(&self) -> bool {
        *self != ErrorRequest::default()
    }

    /// Checks what can be checked without a task or a log.
    ///
    /// # Errors
    /// A level that is none, a range that is none, methods that exclude each other, and the like.
    pub fn check(&self) -> Result<(), Diagnostic> {
        if let Some(range) = self.range.as_ref().filter(|range| range.len() != 2) {
            let found = range.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
            let problem = format!("the range must be two numbers, the lower one first, found {found}");
            return Err(Diagnostic::error(problem).about_option(Opt::Range).hint(range_hint()));
        }
        let of = |set: fn(&mut ErrorPlan, &ErrorPlan)| {
            let mut plan = ErrorPlan::new();
            set(&mut plan, &self.plan());
            plan.check()
        };
        let checks: [(Opt, Result<(), String>, Option<Text>); 5] = [
            (
                Opt::Cluster,
                of(|plan, all| plan.cluster.clone_from(&all.cluster)),
                Some(text!("give {Cluster} once, or twice with two keys")),
            ),
            (Opt::Range, of(|plan, all| plan.range = all.range), Some(range_hint())),
            (Opt::Level, of(|plan, all| plan.level = all.level), None),
            (Opt::Draws, of(|plan, all| plan.draws = all.draws), None),
            (Opt::Population, of(|plan, all| plan.population = all.population), None),
        ];
        for (option, checked, hint) in checks {
            checked.map_err(|problem| Diagnostic::error(problem).about_option(option).hint_if(hint))?;
        }
        self.plan().check().map_err(|problem| {
            let hint = text!("omit {Cluster} or {Errors}");
            Diagnostic::error(problem).about_option(Opt::Errors.set("iid")).hint(hint)
        })
    }

    /// The lowest and the highest possible score.
    pub fn score_range(&self) -> Option<(f64, f64)> {
        match self.range.as_deref() {
            Some(&[low, high]) => Some((low, high)),
            _ => None,
        }
    }

    /// What the options set.
    fn plan(&self) -> ErrorPlan {
        let mut plan = ErrorPlan::new();
        plan.cluster.clone_from(&self.clusters);
        plan.method = self.errors;
        plan.interval = self.interval.unwrap_or_default();
        (plan.level, plan.draws, plan.range) = (self.level, self.draws, self.score_range());
        (plan.side, plan.population) = (self.side, self.population);
        plan
    }

    /// Whether the user requests an error or an interval that draws resamples, however long it takes.
    pub(crate) fn requests_draws(&self) -> bool {
        self.interval.is_some_and(IntervalChoice::is_drawn) || self.errors.is_some_and(ErrorMethod::is_drawn)
    }

    /// The options, and for those that are unset, the plan of a task or a log.
    pub fn over(&self, recorded: &ErrorPlan) -> ErrorPlan {
        let mut plan = self.plan().or(recorded);
        // Independent samples have no clusters: the option decides.
        match self.errors {
            Some(ErrorMethod::Iid) => plan.cluster.clear(),
            None if !self.clusters.is_empty() && plan.method == Some(ErrorMethod::Iid) => plan.method = None,
            _ => {}
        }
        if let Some(interval) = self.interval {
            plan.interval = interval;
        }
        plan
    }
}

fn range_hint() -> Text {
    text!("write {Range=LO HI}, such as {Range=0 10}")
}

/// Checks that a method for clustered samples has a key to cluster by.
///
/// # Errors
/// It has none.
pub fn check_clusters(plan: &Plan) -> Result<(), Diagnostic> {
    let Some(method) = plan.method_without_clusters() else { return Ok(()) };
    let problem = format!("{method} is for clustered samples, and there is no key to cluster by");
    Err(Diagnostic::error(problem).hint(text!("name the metadata key with {Cluster=KEY}, or omit {Errors}")))
}

/// What the difference must show, else the answer is negative.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Setters)]
#[setters(part)]
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
    pub fn alpha_or_default(&self) -> f64 {
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
            return Err(Diagnostic::excluded(*one, *other));
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
        gate.check(self.alpha_or_default())
            .map_err(|problem| Diagnostic::error(problem).hint(self.example()))?;
        let level = Gate::level(self.alpha_or_default());
        if let Some(given) = errors.level.filter(|given| (given - level).abs() > 1e-9) {
            let (alpha, level) = (rounded(self.alpha_or_default()), rounded(level));
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
            (errors.level, errors.side) = (Some(Gate::level(self.alpha_or_default())), None);
        }
    }
}

/// A number as it was given: 1 − 2 · 0.05 is 0.9.
fn rounded(number: f64) -> String {
    ((number * 1e9).round() / 1e9).to_string()
}

#[cfg(test)]
mod tests {
    use errorbar_core::{ClusterVariance, Reducers};
    use serde_json::{Value, json};

    use super::*;

    fn request(fields: Value) -> ErrorRequest {
        serde_json::from_value(fields).unwrap()
    }

    fn over(fields: Value, recorded: &str) -> String {
        request(fields).over(&recorded.parse().unwrap()).to_string()
    }

    #[test]
    fn what_is_wrong_is_about_its_option() {
        let problem = |fields: Value| request(fields).check().unwrap_err().text.to_string();
        assert!(problem(json!({"level": 95})).starts_with("--level: the level must lie between 0 and 1"));
        assert!(problem(json!({"range": [10, 0]})).starts_with("--range: the range must be two numbers"));
        assert!(problem(json!({"range": 10})).starts_with("--range: the range must be two numbers"));
        assert!(problem(json!({"cluster": ["a", "a"]})).starts_with("--cluster: the cluster key"));
        assert!(problem(json!({"cluster": "a", "errors": "iid"})).starts_with("--errors iid: "));
        assert!(problem(json!({"population": 0})).starts_with("--population: "));
        assert!(problem(json!({"draws": 0})).starts_with("--draws: "));
        assert!(request(json!({"cluster": ["a", "b"], "range": [0, 10], "level": 0.9})).check().is_ok());
    }

    #[test]
    fn requests_are_values() {
        let asked = request(json!({"cluster": "a", "errors": "CR1", "interval": "t", "side": "lower"}));
        assert_eq!(request(serde_json::to_value(&asked).unwrap()), asked);
        assert!(asked.is_given() && !ErrorRequest::default().is_given());
    }

    #[test]
    fn options_win_field_by_field() {
        let recorded = r#"{"cluster":"a","method":"CR1","interval":"t","level":0.9}"#;
        assert_eq!(over(json!({}), recorded), recorded);
        assert_eq!(
            over(json!({"cluster": "b", "level": 0.8}), recorded),
            r#"{"cluster":"b","method":"CR1","interval":"t","level":0.8}"#
        );
        assert_eq!(
            over(json!({"interval": "auto"}), recorded),
            r#"{"cluster":"a","method":"CR1","level":0.9}"#
        );
        assert_eq!(
            over(json!({"errors": "iid"}), recorded),
            r#"{"method":"iid","interval":"t","level":0.9}"#
        );
        assert_eq!(over(json!({"cluster": "a"}), r#"{"method":"iid"}"#), r#"{"cluster":"a"}"#);
        assert_eq!(
            over(json!({"range": [-1, 2], "draws": 200}), "{}"),
            r#"{"draws":200,"range":[-1.0,2.0]}"#
        );
    }

    #[test]
    fn a_method_for_clusters_needs_them() {
        let mut plan = ErrorPlan::new();
        plan.method = Some(ErrorMethod::Cluster(ClusterVariance::Cr2));
        let is_refused = |errors: ErrorPlan, reducers: Reducers| {
            check_clusters(&Plan::new().errors(errors).reducers(reducers)).is_err()
        };
        assert!(is_refused(plan.clone(), Reducers::Implicit));
        assert!(!is_refused(plan.clone(), Reducers::Disabled));
        let metrics = errorbar_core::metrics![errorbar_core::metrics::stderr().cluster("passage")];
        assert!(check_clusters(&Plan::new().errors(plan.clone()).metrics(metrics)).is_ok());
        assert!(!is_refused(plan.cluster("passage"), Reducers::Implicit));
    }
}
