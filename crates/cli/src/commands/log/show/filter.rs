//! Which samples are shown, and what there is if none is.

use std::sync::atomic::{AtomicU32, Ordering};

use errorbar_core::spec::nearest;
use errorbar_core::{Condition, SampleId, Score, ValueRef, ValueToFloat};
use errorbar_log::eval::{EvalLog, Transcript};
use errorbar_report::Verdict;
use indexmap::{IndexMap, IndexSet};
use serde_json::Value as Json;

use super::super::dump::no_sample;
use super::ShowArgs;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::format::counted;
use errorbar_analysis::unknown_scorer;

/// How many values or keys are remembered for messages; a key may have a value for each sample.
const MOST_KNOWN: usize = 1000;
/// How many of them a message names.
const NAMED: usize = 8;

fn text_of(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What is looked for, and what was seen on the way.
pub(super) struct SampleFilter<'a> {
    args: &'a ShowArgs,
    /// The scorers that the log records.
    expected: Vec<String>,
    /// How many samples were looked at.
    seen: usize,
    /// How many of them have the outcome, a reason, and each of the conditions.
    outcomes: usize,
    reasoned: usize,
    met: Vec<usize>,
    /// The values of the keys of the conditions.
    values: Vec<KnownValues>,
    reasons: KnownValues,
    scorers: IndexSet<String>,
    keys: IndexSet<String>,
    /// The last epoch that any sample has.
    last_epoch: AtomicU32,
}

/// Values and how often each was seen.
#[derive(Debug, Default)]
struct KnownValues(IndexMap<String, usize>);

impl KnownValues {
    fn add(&mut self, value: String) {
        if let Some(count) = self.0.get_mut(&value) {
            *count += 1;
        } else if self.0.len() < MOST_KNOWN {
            self.0.insert(value, 1);
        }
    }

    /// The most frequent ones, with their counts.
    fn list(&self) -> String {
        let mut known: Vec<(&String, &usize)> = self.0.iter().collect();
        known.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let named = known.iter().take(NAMED).map(|(value, count)| format!("{value} ({count})"));
        let more = if known.len() > NAMED { ", …" } else { "" };
        named.collect::<Vec<_>>().join(", ") + more
    }

    fn nearest(&self, wanted: &str) -> Option<String> {
        let near = nearest(wanted, self.0.keys().map(String::as_str))?;
        Some(format!("did you mean `{near}`?"))
    }
}

impl<'a> SampleFilter<'a> {
    pub(super) fn new(args: &'a ShowArgs, expected: Vec<String>) -> Self {
        let count = args.conditions.len();
        SampleFilter {
            args,
            scorers: expected.iter().cloned().collect(),
            expected,
            seen: 0,
            outcomes: 0,
            reasoned: 0,
            met: vec![0; count],
            values: std::iter::repeat_with(KnownValues::default).take(count).collect(),
            reasons: KnownValues::default(),
            keys: IndexSet::new(),
            last_epoch: AtomicU32::new(0),
        }
    }

    pub(super) fn expected(&self) -> &[String] {
        &self.expected
    }

    /// Whether a sample of this id and epoch is looked at.
    pub(super) fn wants_key(&self, id: &SampleId, epoch: u32) -> bool {
        self.last_epoch.fetch_max(epoch, Ordering::Relaxed);
        let ids = &self.args.samples;
        self.args.epoch.is_none_or(|wanted| wanted == epoch)
            && (ids.is_empty() || ids.iter().any(|wanted| *wanted == id.to_string()))
    }

    /// Whether a sample is shown. What it has is remembered.
    pub(super) fn matches(&mut self, sample: &Transcript) -> bool {
        self.seen += 1;
        let has_outcome = self.has_outcome(sample);
        self.outcomes += usize::from(has_outcome);
        let reasons = self.reasons_of(sample);
        let is_reasoned =
            self.args.reasons.is_empty() || reasons.iter().any(|found| self.args.reasons.contains(found));
        self.reasoned += usize::from(is_reasoned);
        reasons.into_iter().for_each(|reason| self.reasons.add(reason));
        let mut meets_all = true;
        for ((condition, met), values) in self.args.conditions.iter().zip(&mut self.met).zip(&mut self.values)
        {
            let is_met = condition.matches(&sample.metadata);
            *met += usize::from(is_met);
            meets_all &= is_met;
            match condition.lookup(&sample.metadata) {
                Some(Json::Array(items)) => items.iter().for_each(|item| values.add(text_of(item))),
                Some(value) => values.add(text_of(value)),
                None => {}
            }
        }
        if self.keys.len() < MOST_KNOWN {
            self.keys.extend(sample.metadata.iter().map(|(key, _)| key.clone()));
        }
        if self.scorers.len() < MOST_KNOWN {
            self.scorers.extend(sample.scores.keys().cloned());
        }
        // One that the log does not record shows only where it is.
        let is_scored =
            |scorer: &String| self.expected.contains(scorer) || sample.scores.contains_key(scorer);
        let has_scorer = self.args.scorers.is_empty() || self.args.scorers.iter().any(is_scored);
        has_outcome && is_reasoned && meets_all && has_scorer
    }

    fn looks_for_outcome(&self) -> bool {
        let ShowArgs { wrong, below, errors, unscored, .. } = self.args;
        *wrong || below.is_some() || *errors || *unscored
    }

    fn has_outcome(&self, sample: &Transcript) -> bool {
        let ShowArgs { wrong, below, errors, unscored, .. } = self.args;
        !self.looks_for_outcome()
            || (*errors && sample.error.is_some())
            || (*unscored && sample.error.is_none() && self.is_unscored(sample))
            || (*wrong
                && self.scores(sample).any(|score| Verdict::all_of(&score.value).contains(&Verdict::Wrong)))
            || below.is_some_and(|below| self.scores(sample).any(|score| is_below(score, below)))
    }

    /// The scores that count.
    fn scores<'s>(&'s self, sample: &'s Transcript) -> impl Iterator<Item = &'s Score> {
        let is_wanted = |scorer: &String| self.args.scorers.is_empty() || self.args.scorers.contains(scorer);
        sample.scores.iter().filter(move |(scorer, _)| is_wanted(scorer)).map(|(_, score)| score)
    }

    fn is_unscored(&self, sample: &Transcript) -> bool {
        let has_none = |score: &Score| Verdict::all_of(&score.value).contains(&Verdict::Unscored);
        self.is_missing(sample) || self.scores(sample).any(has_none)
    }

    /// Whether a scorer has given the sample no score at all.
    fn is_missing(&self, sample: &Transcript) -> bool {
        let is_wanted = |scorer: &&String| self.args.scorers.is_empty() || self.args.scorers.contains(scorer);
        self.expected.iter().filter(is_wanted).any(|scorer| !sample.scores.contains_key(scorer))
            || sample.scores.is_empty()
    }

    fn reasons_of(&self, sample: &Transcript) -> IndexSet<String> {
        let mut reasons: IndexSet<String> =
            self.scores(sample).filter_map(|score| score.reason.clone()).collect();
        if sample.error.is_some() {
            reasons.insert("error".to_owned());
        } else if self.is_missing(sample) {
            reasons.insert("missing".to_owned());
        }
        reasons.extend(sample.limit.as_ref().map(|kind| format!("{kind}_limit")));
        reasons
    }

    /// Why no sample is shown. What the log does not have at all is an error.
    pub(super) fn nothing_found(&self, log: &EvalLog) -> Result<Diagnostics, Diagnostics> {
        let path = log.path().display();
        let total = counted(log.sample_count() as u64, "sample");
        if log.sample_count() == 0 {
            return Ok(Diagnostic::warning("the log has no samples").about(path).into());
        }
        if self.seen == 0 {
            return match (self.args.samples.first(), self.args.epoch) {
                (Some(id), epoch) => Err(no_sample(log, id, epoch)?.into()),
                (None, Some(epoch)) => {
                    let last = self.last_epoch.load(Ordering::Relaxed);
                    let problem = format!("no sample has epoch {epoch}; the last epoch is {last}");
                    Err(Diagnostic::error(problem).about(path).into())
                }
                // All of them could not be read, which is reported.
                (None, None) => Ok(Diagnostics::default()),
            };
        }
        let known: Vec<String> = self.scorers.iter().cloned().collect();
        if let Some(name) = self.args.scorers.iter().find(|name| !known.contains(name)) {
            return Err(unknown_scorer(name, &known).about(path).into());
        }
        let mut errors = Diagnostics::default();
        if self.reasoned == 0 {
            errors.push(self.unknown_reason(&total).about(&path));
        }
        let conditions = self.args.conditions.iter().zip(&self.met).zip(&self.values);
        for ((condition, _), values) in conditions.clone().filter(|((_, met), _)| **met == 0) {
            errors.push(self.unmet(condition, values, &total).about(&path));
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut counts: Vec<String> = Vec::new();
        if self.looks_for_outcome() {
            counts.push(format!("{} that {}", self.outcomes, self.outcome_in_words()));
        }
        if !self.args.reasons.is_empty() {
            counts.push(format!("{} with the reason {}", self.reasoned, self.args.reasons.join(" or ")));
        }
        counts.extend(conditions.map(|((condition, met), _)| format!("{met} with {condition}")));
        let found = match counts.as_slice() {
            [_] if self.looks_for_outcome() => {
                format!("none of {} {}", counted(self.seen as u64, "sample"), self.outcome_in_words())
            }
            _ => format!(
                "no sample matches all that is looked for: of {}, {}",
                counted(self.seen as u64, "sample"),
                counts.join(", ")
            ),
        };
        Ok(Diagnostic::note(found).about(path).into())
    }

    fn outcome_in_words(&self) -> String {
        let ShowArgs { wrong, below, errors, unscored, .. } = self.args;
        let words = [
            wrong.then(|| "is wrong".to_owned()),
            below.map(|below| format!("has a score below {below}")),
            errors.then(|| "failed".to_owned()),
            unscored.then(|| "is unscored".to_owned()),
        ];
        words.into_iter().flatten().collect::<Vec<_>>().join(" or ")
    }

    fn unknown_reason(&self, total: &str) -> Diagnostic {
        let wanted: Vec<String> = self.args.reasons.iter().map(|reason| format!("`{reason}`")).collect();
        let wanted = wanted.join(" or ");
        if self.reasons.0.is_empty() {
            return Diagnostic::error(format!("no sample has the reason {wanted}; none of {total} has any"));
        }
        let near = self.args.reasons.iter().find_map(|reason| self.reasons.nearest(reason));
        Diagnostic::error(format!("no sample has the reason {wanted}; reasons: {}", self.reasons.list()))
            .hint_if(near)
    }

    fn unmet(&self, condition: &Condition, values: &KnownValues, total: &str) -> Diagnostic {
        let (key, value) = (condition.key(), condition.value());
        if condition.is_negated() {
            return Diagnostic::error(format!("every one of {total} has {key}={value}"));
        }
        if !values.0.is_empty() {
            let problem = format!("no sample has {condition}; values: {}", values.list());
            return Diagnostic::error(problem).hint_if(values.nearest(value));
        }
        let keys: Vec<&str> = self.keys.iter().map(String::as_str).collect();
        let near = nearest(key, keys.iter().copied()).map(|near| format!("did you mean `{near}`?"));
        let more = if keys.len() > NAMED { ", …" } else { "" };
        let known = match keys.as_slice() {
            [] => format!("none of {total} has metadata"),
            keys => {
                format!("keys: {}{more}", keys.iter().take(NAMED).copied().collect::<Vec<_>>().join(", "))
            }
        };
        Diagnostic::error(format!("no sample has the metadata `{key}`; {known}")).hint_if(near)
    }
}

/// Whether a value of the score counts less than this.
fn is_below(score: &Score, below: f64) -> bool {
    let conversion = ValueToFloat::default();
    let is_low = |leaf| {
        let number = conversion.convert_leaf(leaf);
        number.convertible && number.value < below
    };
    match score.value.view() {
        ValueRef::Leaf(leaf) => is_low(leaf),
        ValueRef::List(items) => items.iter().any(|leaf| is_low(leaf.view())),
        ValueRef::Map(map) => map.values().any(|leaf| is_low(leaf.view())),
    }
}
