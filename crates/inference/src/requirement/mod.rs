//! What results must show: `accuracy >= 0.8`, `lower(accuracy[category=law]) > 0.5`.

use std::fmt;
use std::str::FromStr;

use errorbar_core::engine::{unique_names, unknown};
use errorbar_core::spec::{Parser, SpecError, expected, nearest};
use errorbar_core::{
    Defined, Error, Estimate, FigurePath, IntervalSide, Metric, Plan, Reducers, Relation, Result, Results,
    Role, Undefined, Wants,
};
use indexmap::IndexSet;

/// What a figure of results must be.
///
/// A bare name is the figure itself. `lower(…)` and `upper(…)` are the ends of its interval, `width(…)` the distance
/// between them, `stderr(…)` the standard error, `n(…)` the number of scores, `absent(…)` the number of samples without
/// one. A requirement on the figure itself is met by luck as often as not where the truth is at the limit; one on
/// `lower(…)` is not.
///
/// ```
/// use errorbar_core::metrics::accuracy;
/// use errorbar_core::{Plan, Score, ScoreColumns, metrics};
/// use errorbar_inference::Requirement;
///
/// let mut columns = ScoreColumns::new(["match"]);
/// for (id, grade) in [("q1", "C"), ("q2", "C"), ("q3", "C"), ("q4", "I"), ("q5", "C")] {
///     columns.push(id, 1).score("match", Score::new(grade))?;
/// }
/// let results = Plan::new().metrics(metrics![accuracy()]).evaluate(&columns)?.results;
/// let met = |text: &str| Ok::<_, errorbar_core::Error>(text.parse::<Requirement>()?.check(&results)?.is_met);
/// assert!(met("accuracy >= 80%")?);
/// assert!(!met("lower(accuracy) >= 0.75")?);
/// assert!(met("n(match/accuracy) == 5")?);
/// # Ok::<(), errorbar_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Requirement {
    /// The number of the estimate that it is about.
    pub part: EstimatePart,
    /// The name of the estimate that it is about.
    pub path: FigurePath,
    /// How its figure is compared.
    pub relation: Relation,
    /// The number that its figure is compared with.
    pub limit: f64,
}

/// A number of an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EstimatePart {
    /// The number itself.
    Value,
    /// The lower end of its interval.
    Lower,
    /// The upper end of its interval.
    Upper,
    /// Its standard error.
    Stderr,
    /// The width of its interval.
    Width,
    /// The number of scores.
    N,
    /// The number of samples without a score.
    Absent,
}

impl EstimatePart {
    /// All that have a name in front of a parenthesis; the number itself has none.
    const NAMED: [(EstimatePart, &'static str); 6] = [
        (EstimatePart::Lower, "lower"),
        (EstimatePart::Upper, "upper"),
        (EstimatePart::Stderr, "stderr"),
        (EstimatePart::Width, "width"),
        (EstimatePart::N, "n"),
        (EstimatePart::Absent, "absent"),
    ];

    /// Its name in front of a parenthesis; the number itself has none.
    pub fn name(self) -> Option<&'static str> {
        EstimatePart::NAMED.into_iter().find(|(part, _)| *part == self).map(|(_, name)| name)
    }

    /// The part of this name.
    pub fn named(name: &str) -> Option<Self> {
        EstimatePart::NAMED.into_iter().find(|(_, known)| *known == name).map(|(part, _)| part)
    }

    /// This number of an estimate, or why it does not exist.
    pub fn of(self, estimate: &Estimate) -> Defined<f64> {
        // The other end of a bound is that of the range of scores: no information about the figure.
        let end = |absent: IntervalSide, which: &str| {
            let interval = estimate.interval.as_ref().map_err(Clone::clone)?;
            match interval {
                interval if interval.side == absent => {
                    Err(Undefined::Other(format!("the interval has no {which} end")))
                }
                // Without width it carries no information, and meets no requirement.
                interval if interval.lower == interval.upper => Err(Undefined::NoSpread { n: estimate.n }),
                interval => Ok(interval),
            }
        };
        let lower = || end(IntervalSide::Upper, "lower").map(|interval| interval.lower);
        let upper = || end(IntervalSide::Lower, "upper").map(|interval| interval.upper);
        match self {
            EstimatePart::Value => estimate.value.clone(),
            EstimatePart::Lower => lower(),
            EstimatePart::Upper => upper(),
            EstimatePart::Width => Ok(upper()? - lower()?),
            EstimatePart::Stderr => match &estimate.error {
                // A zero that carries no information meets no requirement.
                Ok(error) if error.degenerate => Err(Undefined::NoSpread { n: estimate.n }),
                Ok(error) => Ok(error.se),
                Err(reason) => Err(reason.clone()),
            },
            EstimatePart::N => Ok(estimate.n as f64),
            EstimatePart::Absent => Ok(estimate.absent as f64),
        }
    }
}

/// What a requirement comes to.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RequirementOutcome {
    /// Whether it is met.
    pub is_met: bool,
    /// The figure, or why there is none; then the requirement is not met.
    pub figure: Defined<f64>,
    /// The estimate that it is a part of.
    pub estimate: Estimate,
}

impl Requirement {
    /// Holds results against it. A figure that does not exist, or whose metric failed, does not meet it.
    ///
    /// # Errors
    /// [`Error::UnknownMetric`], or [`Error::AmbiguousMetric`] if several figures have the name.
    pub fn check(&self, results: &Results) -> Result<RequirementOutcome> {
        let estimate = match results.find(&self.path) {
            Err(error @ Error::UnknownMetric { .. }) => match self.failure(results) {
                Some(reason) => Estimate::undefined(Undefined::Other(reason)),
                None => return Err(error),
            },
            found => found?,
        };
        let figure = self.part.of(&estimate);
        let is_met = figure.as_ref().is_ok_and(|figure| self.relation.holds(*figure, self.limit));
        Ok(RequirementOutcome { is_met, figure, estimate })
    }

    /// Why the metric failed, if that is why there is no estimate of it.
    fn failure(&self, results: &Results) -> Option<String> {
        let failures = results.scores.iter().flat_map(|score| &score.failures);
        let names = self.path.names();
        let mut named = failures.filter(|failure| names.contains(&failure.metric));
        named.next().map(|failure| format!("{} failed", failure.metric))
    }

    /// Whether a plan can have such a figure, and only one. Groups, and keys of scores, are known only later.
    ///
    /// # Errors
    /// [`Error::UnknownMetric`] if no metric of the plan has the name, [`Error::AmbiguousMetric`] if several have it.
    pub fn check_plan(&self, plan: &Plan) -> Result<()> {
        let planned = PlannedFigures::of(plan);
        if !self.path.names().iter().any(|name| planned.names.contains(name)) {
            return Err(unknown(&self.path, planned.names));
        }
        let is_named = |(scorer, metric, reducer): &&PlannedFigure| {
            self.path.fits(scorer, None, metric, reducer.as_deref())
        };
        let named: Vec<&PlannedFigure> = planned.figures.iter().filter(is_named).collect();
        if named.len() < 2 {
            return Ok(());
        }
        let text = |(scorer, metric, reducer): &PlannedFigure| {
            [Some(scorer), Some(metric), reducer.as_ref()]
                .into_iter()
                .flatten()
                .cloned()
                .collect::<Vec<_>>()
                .join("/")
        };
        let candidates = named.into_iter().map(text).collect();
        Err(Error::AmbiguousMetric { metric: self.path.to_string(), candidates })
    }
}

/// The figures that a plan will give.
struct PlannedFigures {
    /// The names of all metrics that will have a figure.
    names: IndexSet<String>,
    /// Those over all scores of a scorer. How many keys there are for metrics by key is known only later.
    figures: IndexSet<PlannedFigure>,
}

/// The scorer, the metric and the reducer.
type PlannedFigure = (String, String, Option<String>);

impl PlannedFigures {
    fn of(plan: &Plan) -> Self {
        let mut planned = PlannedFigures { names: IndexSet::new(), figures: IndexSet::new() };
        let scorers = unique_names(plan.scorers.iter().map(|scorer| scorer.name.as_str()));
        for (scorer, own) in scorers.iter().zip(&plan.scorers) {
            let metrics = plan.task_metrics.as_ref().unwrap_or(&own.metrics);
            let is_part = |metric: &dyn Metric| matches!(metric.role(), Role::ErrorOf | Role::IntervalOf);
            // Errors and intervals have no figure of their own if there is a location that they may belong to.
            let has_location = metrics.iter().any(|metric| metric.role() == Role::Location);
            let is_figure = |metric: &dyn Metric| !(has_location && is_part(metric));
            let name = |metric: &dyn Metric| metric.spec().innermost().name.clone();
            let figures = metrics.iter().filter(|metric| is_figure(metric.as_ref()));
            planned.names.extend(figures.map(|metric| name(metric.as_ref())));
            for metric in metrics.whole().filter(|metric| is_figure(metric.as_ref())) {
                let reducers = match plan.reducers_of(scorer) {
                    Reducers::Explicit(reducers) if metric.wants() != Wants::Unreduced => {
                        reducers.iter().map(|reducer| Some(reducer.log_name())).collect()
                    }
                    _ => vec![None],
                };
                let figure = |reducer| (scorer.clone(), name(metric.as_ref()), reducer);
                planned.figures.extend(reducers.into_iter().map(figure));
            }
        }
        planned
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Requirement { part, path, relation, limit } = self;
        match part.name() {
            Some(part) => write!(f, "{part}({path}) {} {limit}", relation.text()),
            None => write!(f, "{path} {} {limit}", relation.text()),
        }
    }
}

const NO_ARGUMENTS: &str =
    "a metric is named without arguments: accuracy; a group of it is accuracy[category=law]";

impl FromStr for Requirement {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Parser::whole(text, requirement)
    }
}

fn requirement(parser: &mut Parser<'_>) -> Result<Requirement, SpecError> {
    if matches!(parser.peek(), Some('0'..='9' | '+' | '-' | '.')) {
        let error = parser.expected("the name of a figure");
        return Err(error.with_hint("the figure comes first: accuracy >= 0.8"));
    }
    let (part, path) = figure(parser)?;
    let relation = parser.relation()?;
    let limit = parser.limit()?;
    Ok(Requirement { part, path, relation, limit })
}

fn figure(parser: &mut Parser<'_>) -> Result<(EstimatePart, FigurePath), SpecError> {
    let start = parser.skip_blanks();
    let path = parser.figure_path()?;
    if parser.peek() != Some('(') {
        return Ok((EstimatePart::Value, path));
    }
    let part = match path.names() {
        [name] => EstimatePart::named(name),
        _ => None,
    };
    let Some(part) = part else {
        let parts = EstimatePart::NAMED.map(|(_, name)| name);
        let found = parser.since(start);
        let wanted = format!("one of {} before a parenthesis", parts.join(", "));
        let kind = expected(&wanted, format!("'{}'", found.trim_end()));
        let hint = match nearest(found.trim_end(), parts) {
            Some(near) => format!("did you mean `{near}`?"),
            None => NO_ARGUMENTS.to_owned(),
        };
        return Err(parser.error_at(start, kind).with_hint(hint));
    };
    parser.eat('(');
    let path = parser.figure_path()?;
    if !parser.eat(')') {
        let error = parser.expected("')' after the name of a metric");
        return Err(match parser.next_char() {
            Some('(') => error.with_hint("a metric is named without arguments: lower(accuracy)"),
            _ => error,
        });
    }
    Ok((part, path))
}

#[cfg(test)]
mod tests;
