//! The figures of one block.

use errorbar_core::{Error, Undefined};
use serde_json::Value as Json;

use super::agreement::Agreement;
use super::outcome::{Check, CheckOutcome, DifferenceKind, NotCheckable};
use crate::eval::plan::{LogWarning, without_package};
use crate::inspect::{ProjectedBlock, ProjectedEntry, metric_name};
use crate::recorded::{RecordedBlock, RecordedMetric};

/// What of the metrics of a scorer cannot be computed.
#[derive(Debug, Default)]
pub(super) struct LeftOut<'w> {
    /// Metrics that are not registered or cannot be built, with the reason of those.
    metrics: Vec<(&'w str, Option<&'w Error>)>,
    /// Conversions that are known by name only: metric, argument, name.
    conversions: Vec<(&'w str, &'w str, &'w str)>,
    /// Why none of the metrics can be read.
    unreadable: Option<&'w str>,
}

impl<'w> LeftOut<'w> {
    /// What the warnings are about that concern a scorer, or all of them.
    pub(super) fn new(warnings: &'w [LogWarning], of_scorer: &str) -> Self {
        let is_ours = |scorer: &Option<String>| scorer.as_ref().is_none_or(|scorer| scorer == of_scorer);
        let mut left_out = LeftOut::default();
        for warning in warnings {
            match warning {
                LogWarning::Unregistered { metric, scorer, .. } if is_ours(scorer) => {
                    left_out.metrics.push((metric, None));
                }
                LogWarning::Unusable { metric, scorer, error } if is_ours(scorer) => {
                    left_out.metrics.push((metric, Some(error)));
                }
                LogWarning::ConversionByName { metric, argument, recorded } => {
                    left_out.conversions.push((metric, argument, recorded));
                }
                LogWarning::Unreadable { scorer, problem } if is_ours(scorer) => {
                    left_out.unreadable = Some(problem);
                }
                _ => {}
            }
        }
        left_out
    }

    /// The metric of this name.
    fn metric(&self, name: &str, is_by_name: bool) -> Option<NotCheckable> {
        let is_it = |(metric, _): &&(&str, Option<&Error>)| without_package(metric) == without_package(name);
        self.metrics.iter().find(is_it).map(|(metric, error)| match error {
            None if is_by_name => NotCheckable::MetricNotRecorded { figure: name.to_owned() },
            error => reason(metric, *error),
        })
    }

    /// The metric of a figure that has the name of none. Older logs do not record which metric one of several figures is
    /// of: a custom one that has no figure of its own name.
    fn nameless(&self, figure: &RecordedMetric, block: &RecordedBlock) -> Option<NotCheckable> {
        if figure.group.is_some() {
            return None;
        }
        let has_own_figure = |name: &str| {
            block.metrics.values().any(|figure| without_package(&figure.name) == without_package(name))
        };
        let mut nameless = self.metrics.iter().filter(|(metric, _)| !has_own_figure(metric));
        let unreadable = || {
            let problem = self.unreadable?.to_owned();
            Some(NotCheckable::UnreadableMetrics { problem })
        };
        nameless.next().map(|(metric, error)| reason(metric, *error)).or_else(unreadable)
    }

    /// The figures of a block that was not recomputed: those of metrics that cannot be, and others, which differ. A block
    /// that records nothing but its scorer has nothing to recompute.
    pub(super) fn missing(&self, block: &RecordedBlock, is_by_name: bool) -> Vec<Check> {
        let missing = || CheckOutcome::Differs(DifferenceKind::BlockNotRecomputed);
        let check = |outcome| Check::of_block(&block.scorer, &block.name, block.reducer.as_deref(), outcome);
        if block.metrics.is_empty() {
            let has_counts = block.scored_samples.is_some() || block.unscored_samples.is_some();
            return has_counts.then(|| check(missing())).into_iter().collect();
        }
        let figure = |(key, figure): (&String, &RecordedMetric)| {
            let reason =
                self.metric(metric_name(figure), is_by_name).or_else(|| self.nameless(figure, block));
            Check {
                metric: Some(key.clone()),
                recorded: Some(figure.value),
                ..check(reason.map_or_else(missing, CheckOutcome::NotCheckable))
            }
        };
        block.metrics.iter().map(figure).collect()
    }

    /// Whether an entry is undefined because of a conversion that is not known.
    fn is_unavailable(&self, entry: &ProjectedEntry<'_>) -> bool {
        !self.conversions.is_empty() && is_unavailable(entry)
    }

    /// The conversion that is among the arguments of a figure.
    fn conversion(&self, figure: &RecordedMetric) -> Option<NotCheckable> {
        let has = |(_, argument, recorded): &&(&str, &str, &str)| {
            figure.params.iter().any(|(key, value)| has_argument(key, value, argument, recorded))
        };
        self.conversions.iter().find(has).map(|(metric, argument, recorded)| {
            NotCheckable::UnknownConversion {
                metric: (*metric).to_owned(),
                argument: (*argument).to_owned(),
                recorded: (*recorded).to_owned(),
            }
        })
    }
}

fn reason(metric: &str, error: Option<&Error>) -> NotCheckable {
    let metric = metric.to_owned();
    match error {
        Some(error) => NotCheckable::UnusableMetric { metric, error: error.clone() },
        None => NotCheckable::CustomMetric { metric },
    }
}

/// Whether an argument, or one of a metric within it, is the one that is recorded by this name.
fn has_argument(key: &str, value: &Json, argument: &str, recorded: &str) -> bool {
    let is_it = key == argument
        && match value {
            Json::String(name) => name == recorded,
            Json::Null => false,
            _ => true,
        };
    let within = || {
        let fields = value.as_object().into_iter().flatten();
        fields.into_iter().any(|(key, value)| has_argument(key, value, argument, recorded))
    };
    is_it || within()
}

/// A recorded block and the recomputed one.
pub(super) struct BlockCheck<'a> {
    pub(super) old: &'a RecordedBlock,
    pub(super) new: &'a ProjectedBlock<'a>,
    pub(super) left_out: LeftOut<'a>,
    /// Whether the metrics are known by the names of figures only.
    pub(super) is_by_name: bool,
    /// The version of the reference, if it is one that treats unscored samples otherwise.
    pub(super) old_version: Option<&'a str>,
}

impl BlockCheck<'_> {
    /// The figures, then what is different about the numbers of samples.
    pub(super) fn checks(&self) -> Vec<Check> {
        let agreement = Agreement::new(self.old, self.new);
        let mut checks: Vec<Check> = self.counts();
        for (key, figure) in &self.old.metrics {
            let entry = self.new.entries.get(key).filter(|entry| is_same_metric(figure, entry));
            let outcome = self.figure(&agreement, key, figure, entry);
            let recomputed = entry.map(|entry| entry.figure.number());
            let recorded = Some(figure.value);
            checks.push(Check {
                metric: Some(key.clone()),
                recorded,
                recomputed: recomputed.filter(|_| !matches!(outcome, CheckOutcome::NotCheckable(_))),
                is_by_name: self.is_by_name,
                ..self.check(outcome)
            });
        }
        let extra = self.new.entries.iter().filter(|(key, entry)| {
            !self.old.metrics.get(*key).is_some_and(|figure| is_same_metric(figure, entry))
        });
        for (key, entry) in extra {
            // A custom metric of the same name may have shifted the numbers behind keys, and what cannot be computed need not
            // be recorded.
            let is_known = self.left_out.metric(&entry.figure.result.spec.name, false).is_none();
            if is_known && !self.left_out.is_unavailable(entry) {
                checks.push(Check {
                    metric: Some(key.clone()),
                    recomputed: Some(entry.figure.number()),
                    ..self.check(CheckOutcome::Differs(DifferenceKind::NotRecorded { metric: key.clone() }))
                });
            }
        }
        checks
    }

    fn check(&self, outcome: CheckOutcome) -> Check {
        Check::of_block(&self.old.scorer, &self.old.name, self.old.reducer.as_deref(), outcome)
    }

    /// The version that computed these figures otherwise, because there are unscored samples.
    fn otherwise(&self) -> Option<NotCheckable> {
        let counts = &self.new.score.counts;
        let version = self.old_version.filter(|_| counts.unscored + counts.unscored_epochs > 0)?.to_owned();
        Some(NotCheckable::OldUnscored { version })
    }

    fn counts(&self) -> Vec<Check> {
        if self.otherwise().is_some() {
            return Vec::new();
        }
        let counts = &self.new.score.counts;
        let counts = [
            ("scored samples", self.old.scored_samples, counts.scored as u64),
            ("unscored samples", self.old.unscored_samples, counts.unscored as u64),
        ];
        let differing = counts.into_iter().filter_map(|(what, recorded, recomputed)| {
            let recorded = recorded.filter(|recorded| *recorded != recomputed)?;
            Some(Check {
                recorded: Some(recorded as f64),
                recomputed: Some(recomputed as f64),
                ..self.check(CheckOutcome::Differs(DifferenceKind::Count { what, recorded, recomputed }))
            })
        });
        differing.collect()
    }

    fn figure(
        &self,
        agreement: &Agreement<'_>,
        key: &str,
        figure: &RecordedMetric,
        entry: Option<&ProjectedEntry<'_>>,
    ) -> CheckOutcome {
        let is_computed = |entry: &&ProjectedEntry<'_>| !is_unavailable(entry);
        let reason = self.reason(figure, entry);
        // What is undefined because it cannot be computed does not agree with what is not a number.
        let entry_to_compare = entry.filter(|entry| reason.is_none() || is_computed(entry));
        if entry_to_compare.is_some_and(|entry| agreement.holds(figure, key, &entry.figure)) {
            return CheckOutcome::Agrees;
        }
        if let Some(reason) = reason {
            // Where a custom metric has the name of a built-in one, keys do not show which is which.
            let namesakes = self.new.entries.iter().filter(|(_, other)| other.name == figure.name);
            let mut namesakes = namesakes.filter(|(_, other)| is_computed(other));
            return match namesakes.any(|(key, other)| agreement.holds(figure, key, &other.figure)) {
                true => CheckOutcome::Agrees,
                false => CheckOutcome::NotCheckable(reason),
            };
        }
        let metric = key.to_owned();
        CheckOutcome::Differs(match entry {
            Some(entry) => {
                let (recorded, recomputed) = (figure.value, entry.figure.number());
                DifferenceKind::Value { metric, recorded, recomputed }
            }
            None => {
                let error = self.failure(figure).map(Error::to_string);
                DifferenceKind::NotRecomputed { metric, error }
            }
        })
    }

    /// Why a figure that does not agree cannot be checked, if so.
    fn reason(&self, figure: &RecordedMetric, entry: Option<&ProjectedEntry<'_>>) -> Option<NotCheckable> {
        let metric = metric_name(figure);
        if let Some(reason) = self.left_out.metric(metric, self.is_by_name) {
            return Some(reason);
        }
        match entry {
            Some(entry) if is_unavailable(entry) => {
                return self.left_out.conversion(figure).or_else(|| self.otherwise());
            }
            Some(_) => return self.otherwise(),
            None => {}
        }
        let is_known = self.new.score.metrics.iter().any(|known| known.spec.name == without_package(metric));
        match self.failure(figure) {
            Some(error @ (Error::SharedGroupName { .. } | Error::GroupNameTaken { .. })) => {
                return Some(NotCheckable::SharedGroupName { error: error.clone() });
            }
            Some(_) => return None,
            None if is_known => return None,
            None => {}
        }
        self.left_out.nameless(figure, self.old)
    }

    /// Why the metric of a figure failed now, if it did.
    fn failure(&self, figure: &RecordedMetric) -> Option<&Error> {
        // A group has no package, a name has.
        let is_of = |failed: &str| match &figure.group {
            Some(group) => without_package(failed) == without_package(group),
            None => failed == figure.name,
        };
        let failure = self.new.score.failures.iter().find(|failure| is_of(&failure.metric));
        failure.map(|failure| &failure.error)
    }
}

/// Whether an entry is undefined for a reason that does not follow from the number of scores: the log does not record
/// enough to compute it, or the metric has no figure for these scores.
fn is_unavailable(entry: &ProjectedEntry<'_>) -> bool {
    entry.figure.estimate.is_some_and(|estimate| matches!(estimate.value, Err(Undefined::Other(_))))
}

/// Whether a figure can be of the same metric as a recomputed one of the same key. Older logs do not record the metric.
fn is_same_metric(figure: &RecordedMetric, entry: &ProjectedEntry<'_>) -> bool {
    match (&figure.group, &entry.group) {
        (Some(old), Some(new)) => without_package(old) == without_package(new),
        (Some(_), None) => false,
        (None, _) => true,
    }
}
