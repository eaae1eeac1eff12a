//! `command`: a program of any language scores.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use errorbar_core::spec::{Arg, MetricsSpec};
use errorbar_core::{ArgProblem, ArgType, Args, Error, Metrics, Params, Registry, Result, Score, ValueRef};

use super::external::{Pool, PoolOptions, Program, Question};
use super::of_grades;
use crate::model::unseen;
use crate::{BoxFuture, NamedSample, Scorer, ScorerNeeds, Target, TaskState};

/// Runs a program that scores: command(["python3", "score.py"]) sends it a line of JSON per sample and reads one back.
///
/// There is no shell. The program runs in the folder of the task file, with a short list of variables (`PATH`, `HOME`, the
/// locale and the like) and those that `env` names, and is started once. It gets `seq`, `id`, `epoch`, `model`, `input`, `output`, `target`,
/// `targets`, `choices`, `metadata` and `store`, and answers with the same `seq` and `value`, perhaps `answer`,
/// `explanation`, `reason` and `metadata`; or with `error`. See docs/command-scorer.md.
///
/// ```
/// use errorbar_core::{metrics, metrics::{mean, stderr}};
/// use errorbar_eval::scorers::command;
/// let _ = command(["python3", "score.py"]).processes(4_usize).timeout(10.0).with_metrics(metrics![mean(), stderr()]);
/// ```
///
/// # When
/// The score needs code: tests to run, a compiler, a library of Python.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,input,target '1,2 + 2?,4' '2,2 + 3?,5' > sums.csv
/// $ printf '%s\n' 's/.*"seq": *\([0-9]*\).*/{"seq": \1, "value": 1}/' > score.sed
/// $ printf '%s\n' 'dataset = "sums.csv"' 'scorer = "command([\"sed\", \"-u\", \"-f\", \"score.sed\"])"' > sums.toml
/// $ errorbar eval sums.toml --model mock/4 --quiet
/// logs/….eval
///       sums · mock/4 · 2 samples
///
/// command · 2 scored
///                                0                                       1
///   accuracy  1.00 [0.34, 1.00]                ├─────────────────────────●  no spread in 2 scores
///
/// [95 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `precomputed`, `pattern`
///
/// # Source
/// Defined by errorbar; inspect_ai has no such scorer.
#[derive(Clone, Debug, Params)]
#[params(crate = errorbar_core, name = "command", finish = Self::in_folder, check = Self::check_arguments)]
pub struct CommandScorer {
    /// The program and its arguments, as a list; a program without arguments may be a string.
    #[param(from = CommandLine)]
    command: CommandLine,
    /// The metrics of its scores, as a list, or by key of map-valued scores; accuracy() and stderr() if unset.
    #[param(no_setter)]
    metrics: Option<MetricsArg>,
    /// The lowest and the highest score that it can give, as a list of two numbers. Others are an error.
    #[param(no_setter)]
    range: Option<Vec<f64>>,
    /// How many processes score at the same time.
    #[param(default = 1_usize)]
    processes: Option<usize>,
    /// How many samples a process has at once; it may answer them in any order.
    #[param(default = 1_usize)]
    concurrency: Option<usize>,
    /// The most seconds that a process may take for a sample.
    #[param(default = 60.0)]
    timeout: Option<f64>,
    /// The most memory of a process, such as "512MB" or "2GB". On Linux only; elsewhere it is an error.
    memory: Option<ByteSize>,
    /// How often processes that end before the run are replaced.
    #[param(default = 10_u32)]
    max_restarts: Option<u32>,
    /// More variables of errorbar's environment that it gets, such as ["OPENAI_API_KEY"].
    env: Option<Vec<String>>,
    /// The folder that it runs in, relative to that of the task file.
    folder: Option<String>,
    /// Whether it gets the conversation, as `messages`.
    #[param(default = false)]
    messages: Option<bool>,
    /// The folder of the task file.
    #[param(skip)]
    base: PathBuf,
    #[param(skip)]
    pool: OnceLock<Arc<Pool>>,
}

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine(Vec<String>);

impl<S: Into<String>, const N: usize> From<[S; N]> for CommandLine {
    fn from(words: [S; N]) -> Self {
        CommandLine(words.into_iter().map(Into::into).collect())
    }
}

impl<S: Into<String>> From<Vec<S>> for CommandLine {
    fn from(words: Vec<S>) -> Self {
        CommandLine(words.into_iter().map(Into::into).collect())
    }
}

impl From<&str> for CommandLine {
    fn from(program: &str) -> Self {
        CommandLine(vec![program.to_owned()])
    }
}

impl ArgType for CommandLine {
    const EXPECTED: &'static str = "a list of strings such as [\"python3\", \"score.py\"]";

    fn from_arg(arg: &Arg, registry: &Registry) -> Result<Self, ArgProblem> {
        let wrong = |_| ArgProblem::Expected(Self::EXPECTED);
        match arg {
            Arg::List(_) => Vec::from_arg(arg, registry).map(CommandLine).map_err(wrong),
            arg => String::from_arg(arg, registry).map(|program| CommandLine(vec![program])).map_err(wrong),
        }
    }

    fn to_arg(&self) -> Arg {
        self.0.to_arg()
    }
}

/// An amount of memory: a string such as "512MB".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteSize(u64);

/// From the largest on.
const UNITS: [(u64, &str); 7] = [
    (1 << 30, "GiB"),
    (1_000_000_000, "GB"),
    (1 << 20, "MiB"),
    (1_000_000, "MB"),
    (1 << 10, "KiB"),
    (1000, "kB"),
    (1, "B"),
];

impl ByteSize {
    /// This many bytes.
    pub fn bytes(bytes: u64) -> Self {
        ByteSize(bytes)
    }

    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
        let unit = if unit.trim() == "KB" { "kB" } else { unit.trim() };
        let (factor, _) = UNITS.into_iter().find(|(_, name)| *name == unit)?;
        number.parse::<u64>().ok()?.checked_mul(factor).filter(|bytes| *bytes > 0).map(ByteSize)
    }
}

impl ArgType for ByteSize {
    const EXPECTED: &'static str = "a size such as \"512MB\" or \"2GiB\"";

    fn from_arg(arg: &Arg, _: &Registry) -> Result<Self, ArgProblem> {
        arg.as_str().and_then(ByteSize::parse).ok_or(ArgProblem::Expected(Self::EXPECTED))
    }

    fn to_arg(&self) -> Arg {
        let ByteSize(bytes) = *self;
        let whole = UNITS.into_iter().find(|(unit, _)| bytes.is_multiple_of(*unit));
        let (unit, name) = whole.unwrap_or((1, "B"));
        Arg::Str(format!("{}{name}", bytes / unit))
    }
}

/// Metrics as an argument.
#[derive(Clone, Debug)]
struct MetricsArg(Metrics);

impl ArgType for MetricsArg {
    const EXPECTED: &'static str = "metrics such as [mean(), stderr()]";

    fn from_arg(arg: &Arg, registry: &Registry) -> Result<Self, ArgProblem> {
        if !matches!(arg, Arg::List(_) | Arg::Map(_) | Arg::Spec(_)) {
            return Err(ArgProblem::Expected(Self::EXPECTED));
        }
        let spec: MetricsSpec = arg.to_string().parse().map_err(|_| ArgProblem::Expected(Self::EXPECTED))?;
        registry.metrics(&spec).map(MetricsArg).map_err(ArgProblem::Invalid)
    }

    fn to_arg(&self) -> Arg {
        let Ok(spec) = self.0.try_map(|metric| Ok::<_, Infallible>(metric.spec()));
        // What specs write they read.
        spec.to_string().parse().unwrap_or(Arg::Null)
    }
}

impl CommandScorer {
    /// The metrics of its scores.
    #[must_use]
    pub fn with_metrics(mut self, metrics: Metrics) -> Self {
        self.metrics = Some(MetricsArg(metrics));
        self
    }

    /// The lowest and the highest score that it can give. Others are an error.
    #[must_use]
    pub fn within(mut self, low: f64, high: f64) -> Self {
        self.range = Some(vec![low, high]);
        self
    }

    /// In a spec the folder is that of the task file.
    fn in_folder(mut self, args: &Args<'_>) -> Result<Self> {
        self.base = args.folder().to_owned();
        Ok(self)
    }

    /// What cannot work is a mistake of the spec, and better reported once than for each sample.
    fn check_arguments(&self) -> Result<()> {
        let counts = [
            ("processes", self.processes_or_default(), 256),
            ("concurrency", self.concurrency_or_default(), 4096),
        ];
        for (name, count, most) in counts {
            if !(1..=most).contains(&count) {
                return Err(Self::refuse(name, format!("must be from 1 to {most}, found {count}")));
            }
        }
        let timeout = self.timeout_or_default();
        if !(timeout > 0.0 && timeout <= MOST_SECONDS) {
            return Err(Self::refuse(
                "timeout",
                format!("must be above 0 s and at most a week, found {timeout}"),
            ));
        }
        if self.range.is_some() && self.range().is_none() {
            return Err(Self::refuse("range", "must be the lowest and the highest score, as in [0, 1]"));
        }
        if self.memory.is_some() && !cfg!(any(target_os = "linux", target_os = "android")) {
            return Err(Self::refuse("memory", "can be limited on Linux only; leave it out"));
        }
        self.program().check_folder().map_err(|problem| Self::refuse("folder", problem))?;
        let program = self.program();
        let found = program.find().and_then(|_| program.check_script());
        found.map_err(|problem| Self::refuse("command", problem))
    }

    fn program(&self) -> Program {
        let folder = match &self.folder {
            Some(folder) => self.base.join(folder),
            None => self.base.clone(),
        };
        let mut words = self.command.0.iter().cloned();
        Program {
            name: words.next().unwrap_or_default(),
            arguments: words.collect(),
            folder,
            passed: self.env.clone().unwrap_or_default(),
            memory: self.memory.map(|ByteSize(bytes)| bytes),
        }
    }

    fn pool(&self) -> &Arc<Pool> {
        self.pool.get_or_init(|| {
            let options = PoolOptions {
                processes: self.processes_or_default(),
                concurrency: self.concurrency_or_default(),
                timeout: Duration::try_from_secs_f64(self.timeout_or_default()).unwrap_or(Duration::MAX),
                max_restarts: self.max_restarts_or_default(),
            };
            Arc::new(Pool::new(self.program(), options))
        })
    }

    /// Refuses a score that is not in the range which is declared.
    fn check_score(&self, score: &Score) -> Result<(), String> {
        let Some((low, high)) = self.range() else { return Ok(()) };
        let is_outside = |number: &f64| !number.is_nan() && !(low..=high).contains(number);
        let leaves = score.value.view().leaves();
        match leaves.filter_map(|leaf| ValueRef::Leaf(leaf).as_f64().ok()).find(is_outside) {
            Some(number) => {
                Err(format!("gave the score {number}, which is not in the range from {low} to {high}"))
            }
            None => Ok(()),
        }
    }
}

/// A week.
const MOST_SECONDS: f64 = 604_800.0;

impl Scorer for CommandScorer {
    fn metrics(&self) -> Metrics {
        self.metrics.as_ref().map_or_else(of_grades, |MetricsArg(metrics)| metrics.clone())
    }

    fn range(&self) -> Option<(f64, f64)> {
        match self.range.as_deref()? {
            [low, high] if low < high && low.is_finite() && high.is_finite() => Some((*low, *high)),
            _ => None,
        }
    }

    fn score<'a>(&'a self, state: &'a TaskState, target: &'a Target) -> BoxFuture<'a, Result<Option<Score>>> {
        Box::pin(async move {
            let of_command = |problem: String| {
                Error::custom(format!("the command `{}` {problem}", self.program().shown()))
            };
            let unseen = state.messages.iter().flat_map(unseen).next().filter(|_| self.messages_or_default());
            if let Some(kind) = unseen {
                return Err(of_command(format!(
                    "would get the conversation without its parts that are not text ({kind}); leave out `messages`"
                )));
            }
            let question = Question::new(state, target, self.messages_or_default());
            let score = self.pool().score(question).await.map_err(|error| of_command(error.to_string()))?;
            self.check_score(&score).map_err(of_command)?;
            Ok(Some(score))
        })
    }

    fn needs(&self) -> ScorerNeeds {
        ScorerNeeds { output: true, ..ScorerNeeds::default() }
    }

    fn digest(&self) -> Option<String> {
        self.program().digest()
    }

    fn programs(&self) -> Vec<String> {
        vec![self.program().command()]
    }

    fn warnings(&self) -> Vec<String> {
        let unset = self.env.iter().flatten().filter(|name| std::env::var_os(name).is_none());
        unset.map(|name| format!("`command` passes on the variable {name} (env), which is not set")).collect()
    }

    fn check_dataset(&self, _: &[NamedSample]) -> Result<()> {
        Params::check(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_written() {
        for text in ["512MB", "2GB", "2GiB", "64KiB", "3kB", "1500B"] {
            assert_eq!(ByteSize::parse(text).unwrap().to_arg(), Arg::from(text));
        }
        for text in ["", "0MB", "12", "MB", "1.5GB", "1TBB", "99999999999999999999GB", "-1MB"] {
            assert_eq!(ByteSize::parse(text), None, "{text}");
        }
    }
}
