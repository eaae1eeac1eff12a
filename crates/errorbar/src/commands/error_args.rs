//! Options for errors and intervals.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use errorbar_core::{ErrorMethod, ErrorPlan, IntervalChoice, Plan, Side};

use super::common::one_of;
use crate::diagnostic::Diagnostic;

/// How errors and intervals are computed. Options that are unset are those of the task or the log.
#[derive(Debug, Args)]
#[command(next_help_heading = "Errors and intervals")]
pub(crate) struct ErrorArgs {
    /// A metadata key whose samples belong together; given twice, samples are clustered both ways
    #[arg(long = "cluster", value_name = "KEY", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    clusters: Vec<String>,
    /// The method of standard errors: of independent samples (iid), of clusters (CR0 to CR3), or of either (jackknife,
    /// bootstrap) [default: iid; CR2 with --cluster]
    #[arg(long, value_name = "METHOD", value_parser = error_methods(), ignore_case = true)]
    errors: Option<ErrorMethod>,
    /// The method of intervals, some with arguments: beta(prior=[1, 1]), wild(weights="rademacher") [default: auto, which
    /// chooses by the scores]
    #[arg(long, value_name = "METHOD", value_parser = IntervalParser)]
    interval: Option<IntervalChoice>,
    /// The confidence level of intervals [default: 0.95]
    #[arg(long, value_name = "P", value_parser = level, allow_negative_numbers = true)]
    level: Option<f64>,
    /// The lowest and the highest possible score [default: 0 1 if all scores are within]
    #[arg(long, num_args = 2, value_names = ["LO", "HI"], allow_hyphen_values = true)]
    range: Option<Vec<f64>>,
    /// The number of resamples of bootstrap errors and intervals [default: 10000]
    #[arg(long, value_name = "N", value_parser = draws)]
    draws: Option<u32>,
    /// Which ends intervals have: both, or one bound [default: two-sided]
    #[arg(long, value_name = "SIDE", value_parser = sides())]
    side: Option<Side>,
    /// The number of samples of the whole benchmark, if the scores are of a random part of it
    #[arg(long, value_name = "N", value_parser = population)]
    population: Option<u64>,
}

fn error_methods() -> impl TypedValueParser<Value = ErrorMethod> {
    one_of(ErrorMethod::CHOICES.map(|method| (method.name(), method)))
}

/// A method with its arguments, `beta(prior=[1, 1])`, or `auto`. Help and completions have the names.
#[derive(Clone)]
struct IntervalParser;

impl TypedValueParser for IntervalParser {
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
            PossibleValuesParser::new(names).parse_ref(command, arg, value)?;
        }
        let parser = |text: &str| text.parse::<IntervalChoice>();
        parser.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(IntervalChoice::names().map(PossibleValue::new)))
    }
}

fn sides() -> impl TypedValueParser<Value = Side> {
    one_of(Side::CHOICES.map(|side| (side.name(), side)))
}

fn population(text: &str) -> Result<u64, String> {
    let population = text.parse().ok().filter(|population| *population > 0);
    population.ok_or_else(|| "expected the number of samples of the whole benchmark, such as 1319".to_owned())
}

fn level(text: &str) -> Result<f64, String> {
    let mut plan = ErrorPlan::new();
    plan.level = Some(text.parse().map_err(|_| "expected a number such as 0.95".to_owned())?);
    plan.check().map(|()| plan.level())
}

fn draws(text: &str) -> Result<u32, String> {
    let mut plan = ErrorPlan::new();
    plan.draws = Some(text.parse().map_err(|_| "expected an integer such as 10000".to_owned())?);
    plan.check().map(|()| plan.draws())
}

impl ErrorArgs {
    /// Whether a cluster key is asked for.
    pub(crate) fn has_clusters(&self) -> bool {
        !self.clusters.is_empty()
    }

    /// Whether one of the options is given.
    pub(super) fn is_given(&self) -> bool {
        let ErrorArgs { clusters, errors, interval, level, range, draws, side, population } = self;
        let single = errors.is_some() || interval.is_some() || level.is_some() || draws.is_some();
        let single = single || side.is_some() || population.is_some();
        !clusters.is_empty() || range.is_some() || single
    }

    /// Whether a size of the population is given.
    pub(super) fn has_population(&self) -> bool {
        self.population.is_some()
    }

    /// Checks what can be checked without a task or a log.
    pub(super) fn check(&self) -> Result<(), Diagnostic> {
        let wrong = |option: &str, plan: ErrorPlan, hint: &str| {
            plan.check().map_err(|problem| Diagnostic::error(problem).about(option).hint(hint))
        };
        let mut clusters = ErrorPlan::new();
        clusters.cluster.clone_from(&self.clusters);
        wrong("--cluster", clusters, "give --cluster once, or twice with two keys")?;
        let mut range = ErrorPlan::new();
        range.range = self.range();
        wrong("--range", range, "write --range LO HI, such as --range 0 10")?;
        wrong("--errors iid", self.plan(), "omit --cluster or --errors")
    }

    pub(super) fn range(&self) -> Option<(f64, f64)> {
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
        (plan.level, plan.draws, plan.range) = (self.level, self.draws, self.range());
        (plan.side, plan.population) = (self.side, self.population);
        plan
    }

    /// The requested level of intervals.
    pub(super) fn level(&self) -> Option<f64> {
        self.level
    }

    /// The requested ends of intervals.
    pub(super) fn side(&self) -> Option<Side> {
        self.side
    }

    /// The requested method of intervals.
    pub(super) fn interval(&self) -> Option<IntervalChoice> {
        self.interval
    }

    /// Whether the user requests an error or an interval that draws resamples, however long it takes.
    pub(super) fn requests_draws(&self) -> bool {
        self.interval.is_some_and(IntervalChoice::is_drawn) || self.errors.is_some_and(ErrorMethod::is_drawn)
    }

    /// The options, and for those that are unset, the plan of a task or a log.
    pub(super) fn over(&self, recorded: &ErrorPlan) -> ErrorPlan {
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

/// Checks that a method for clustered samples has a key to cluster by.
pub(super) fn check_clusters(plan: &Plan) -> Result<(), Diagnostic> {
    let Some(method) = plan.method_without_clusters() else { return Ok(()) };
    let problem = format!("{method} is for clustered samples, and there is no key to cluster by");
    Err(Diagnostic::error(problem).hint("name the metadata key with --cluster KEY, or omit --errors"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use errorbar_core::{Cr, Reducers};

    use super::*;

    #[derive(Parser)]
    struct TestArgs {
        #[command(flatten)]
        errors: ErrorArgs,
    }

    fn over(line: &str, recorded: &str) -> String {
        let line = ["errorbar"].into_iter().chain(line.split_whitespace());
        TestArgs::try_parse_from(line).unwrap().errors.over(&recorded.parse().unwrap()).to_string()
    }

    #[test]
    fn options_win_field_by_field() {
        let recorded = r#"{"cluster":"a","method":"CR1","interval":"t","level":0.9}"#;
        assert_eq!(over("", recorded), recorded);
        assert_eq!(
            over("--cluster b --level 0.8", recorded),
            r#"{"cluster":"b","method":"CR1","interval":"t","level":0.8}"#
        );
        assert_eq!(over("--interval auto", recorded), r#"{"cluster":"a","method":"CR1","level":0.9}"#);
        assert_eq!(over("--errors iid", recorded), r#"{"method":"iid","interval":"t","level":0.9}"#);
        assert_eq!(over("--cluster a", r#"{"method":"iid"}"#), r#"{"cluster":"a"}"#);
        assert_eq!(over("--range -1 2 --draws 200", "{}"), r#"{"draws":200,"range":[-1.0,2.0]}"#);
        assert_eq!(over("--range -2.5e-1 2 --draws 200", "{}"), r#"{"draws":200,"range":[-0.25,2.0]}"#);
    }

    #[test]
    fn a_method_for_clusters_needs_them() {
        let mut plan = ErrorPlan::new();
        plan.method = Some(ErrorMethod::Cluster(Cr::Cr2));
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
