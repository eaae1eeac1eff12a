//! What is said to people: words, and between them options that each surface spells its own way.

use std::fmt;

use crate::shell;

/// A message whose options are data: no surface reads text that another one wrote.
///
/// ```
/// use errorbar_analysis::{Opt, Surface, text};
///
/// let hint = text!("name the column with {IdColumn}, or add {}", Opt::Unpaired);
/// assert_eq!(hint.on(Surface::CommandLine), "name the column with --id-column, or add --unpaired");
/// assert_eq!(hint.on(Surface::Python), "name the column with id=, or add unpaired=True");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Text {
    parts: Vec<Part>,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Part {
    Words(String),
    Option(OptionUse),
    /// Between options that are given together.
    And,
}

impl Text {
    /// Fills the gaps `{}` of a template in order; `{IdColumn}` names an option, `{Range=LO HI}` one with its values.
    #[doc(hidden)]
    pub fn fill<const N: usize>(template: &str, fillings: [Text; N]) -> Text {
        let mut fillings = fillings.into_iter();
        let mut text = Text::default();
        let mut rest = template;
        while let Some((words, (gap, after))) =
            rest.split_once('{').and_then(|(words, rest)| Some((words, rest.split_once('}')?)))
        {
            text.push_words(words);
            let (name, values) = gap.split_once('=').unwrap_or((gap, ""));
            match (gap, Opt::named(name)) {
                ("", _) => text.extend(fillings.next().unwrap_or_default()),
                (_, Some(option)) => text.extend(option.set_all(values.split_whitespace()).into()),
                (words, None) => text.push_words(&format!("{{{words}}}")),
            }
            rest = after;
        }
        text.push_words(rest);
        debug_assert!(fillings.next().is_none(), "{template:?} has fewer gaps than fillings");
        text
    }

    /// Whether all options that a template names exist.
    #[doc(hidden)]
    pub const fn names_options(template: &str) -> bool {
        let mut rest = template.as_bytes();
        while let [byte, after @ ..] = rest {
            rest = after;
            if *byte == b'{' && matches!(rest, [b'A'..=b'Z', ..]) && !Opt::starts(rest) {
                return false;
            }
        }
        true
    }

    /// Options that are given together.
    pub fn together(options: impl IntoIterator<Item = OptionUse>) -> Text {
        let mut parts = Vec::new();
        for option in options {
            parts.extend((!parts.is_empty()).then_some(Part::And));
            parts.push(Part::Option(option));
        }
        Text { parts }
    }

    /// The same with an option that is given together with the last one.
    #[must_use]
    pub(crate) fn with(mut self, option: OptionUse) -> Text {
        self.parts.extend([Part::And, Part::Option(option)]);
        self
    }

    /// The message as users of a surface read it.
    pub fn on(&self, surface: Surface) -> String {
        let text = |part: &Part| match part {
            Part::Words(words) => words.clone(),
            Part::Option(option) => option.on(surface),
            Part::And => if surface == Surface::CommandLine { " " } else { ", " }.to_owned(),
        };
        self.parts.iter().map(text).collect()
    }

    /// The same behind a subject: `logs/a.eval: no samples`.
    #[must_use]
    pub(crate) fn about(self, subject: Text) -> Text {
        let mut text = subject;
        text.push_words(": ");
        text.extend(self);
        text
    }

    /// Alternatives: `a or b`.
    pub(crate) fn join(texts: impl IntoIterator<Item = Text>, between: &str) -> Text {
        let mut joined = Text::default();
        for text in texts {
            if !joined.parts.is_empty() {
                joined.push_words(between);
            }
            joined.extend(text);
        }
        joined
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    fn push_words(&mut self, words: &str) {
        match self.parts.last_mut() {
            _ if words.is_empty() => {}
            Some(Part::Words(last)) => last.push_str(words),
            _ => self.parts.push(Part::Words(words.to_owned())),
        }
    }

    fn extend(&mut self, other: Text) {
        for part in other.parts {
            match part {
                Part::Words(words) => self.push_words(&words),
                part => self.parts.push(part),
            }
        }
    }
}

/// A message with options: `text!("omit {Level} or {}", Opt::Alpha.number(0.05))`. What fills the gaps is an option, a
/// string, or another message. An option that does not exist is an error of the compiler.
#[macro_export]
macro_rules! text {
    ($template:literal $(, $filling:expr)* $(,)?) => {{
        const { assert!($crate::Text::names_options($template)) };
        $crate::Text::fill($template, [$($crate::Text::from($filling)),*])
    }};
}

impl From<OptionUse> for Text {
    fn from(option: OptionUse) -> Self {
        Text { parts: vec![Part::Option(option)] }
    }
}

impl From<Opt> for Text {
    fn from(option: Opt) -> Self {
        OptionUse::from(option).into()
    }
}

impl From<&str> for Text {
    fn from(words: &str) -> Self {
        let mut text = Text::default();
        text.push_words(words);
        text
    }
}

impl From<String> for Text {
    fn from(words: String) -> Self {
        Text::from(words.as_str())
    }
}

impl From<&String> for Text {
    fn from(words: &String) -> Self {
        Text::from(words.as_str())
    }
}

/// As on the command line.
impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.on(Surface::CommandLine))
    }
}

/// Where a message is shown, and so how it spells options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Surface {
    /// `--score-column verdict`
    CommandLine,
    /// `score="verdict"`
    Python,
    /// `.score_columns("verdict")`
    Rust,
}

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    /// Nothing: it is given or not.
    Nothing,
    /// Nothing, and in Python its opposite is said.
    Opposite,
    /// A number.
    Number,
    /// A number or several, such as the two ends of a range.
    Numbers,
    /// A string.
    Text,
    /// A string that is read as a size, a method, or the like.
    Parsed,
    /// A string; several are several options.
    Texts,
    /// Nothing, or a value that is attached.
    Optional,
    /// Logs and tables behind one option.
    Inputs,
    /// Strings behind one option.
    Several,
    /// Strings with commas between them.
    List,
}

macro_rules! options {
    ($($(#[$doc:meta])* $option:ident: $flag:literal, $keyword:literal, $field:literal, $takes:ident;)*) => {
        /// An option that messages name. Each surface spells it as its users write it.
        ///
        /// ```
        /// use errorbar_analysis::{Opt, Surface, Text};
        ///
        /// let hint = Text::from(Opt::ScoreColumn.set("my verdict"));
        /// assert_eq!(hint.on(Surface::CommandLine), "--score-column 'my verdict'");
        /// assert_eq!(hint.on(Surface::Python), "score=\"my verdict\"");
        /// assert_eq!(hint.on(Surface::Rust), ".score_columns(\"my verdict\")");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Opt {
            $($(#[$doc])* #[doc = concat!("`", $flag, "`, in Python `", $keyword, "`.")] $option,)*
        }

        impl Opt {
            /// All of them.
            pub const ALL: &[Opt] = &[$(Opt::$option),*];

            const NAMES: &[&str] = &[$(stringify!($option)),*];

            /// The option of the command line.
            pub fn flag(self) -> &'static str {
                match self { $(Opt::$option => $flag),* }
            }

            /// The argument of functions in Python.
            pub fn keyword(self) -> &'static str {
                match self { $(Opt::$option => $keyword),* }
            }

            /// The setter of a request.
            pub fn field(self) -> &'static str {
                match self { $(Opt::$option => $field),* }
            }

            fn takes(self) -> Takes {
                match self { $(Opt::$option => Takes::$takes),* }
            }
        }
    };
}

options! {
    Add: "--add", "add", "add", Nothing;
    AllPairs: "--all-pairs", "all_pairs", "all_pairs", Nothing;
    AllowPath: "--allow-path", "allow_path", "allow_path", Text;
    Alpha: "--alpha", "alpha", "alpha", Number;
    Answer: "--answer", "answer", "answer", Text;
    ApiKeyFile: "--api-key-file", "api_key_file", "api_key_file", Text;
    Base: "--base", "base", "base", Text;
    BaseUrl: "--base-url", "base_url", "base_url", Text;
    By: "--by", "by", "by", Texts;
    Cache: "--cache", "cache", "cache", Nothing;
    CacheDir: "--cache-dir", "cache_dir", "cache_dir", Text;
    CallCost: "--call-cost", "call_cost", "call_cost", Number;
    Cluster: "--cluster", "cluster", "clusters", Texts;
    ComparedScorers: "--scorers", "compare_scorers", "compared_scorers", Several;
    Correct: "--correct", "correct", "correct", Texts;
    Correlation: "--correlation", "correlation", "correlation", Number;
    Decimal: "--decimal", "decimal", "decimal", Parsed;
    Decisive: "--decisive", "decisive", "decisive", Nothing;
    Delimiter: "--delimiter", "delimiter", "delimiter", Parsed;
    DesignEffect: "--design-effect", "design_effect", "design_effect", Number;
    Difference: "--difference", "difference", "difference", Number;
    Draws: "--draws", "draws", "draws", Number;
    Epoch: "--epoch", "epoch", "epoch", Number;
    EpochColumn: "--epoch-column", "epoch", "epoch_column", Text;
    Epochs: "--epochs", "epochs", "epochs", Number;
    Equivalent: "--equivalent", "equivalent", "equivalent", Number;
    Errors: "--errors", "errors", "errors", Parsed;
    Explain: "--explain", "explain", "explain", Nothing;
    Explanation: "--explanation", "explanation", "explanation", Text;
    FailIfWorse: "--fail-if-worse", "fail_if_worse", "fail_if_worse", Nothing;
    Flips: "--flips", "flips", "flips", Optional;
    Force: "--force", "force", "force", Nothing;
    From: "--from", "runs", "from", Inputs;
    Group: "--group", "group", "groups", Texts;
    IdColumn: "--id-column", "id", "id_columns", Texts;
    IgnoreTasks: "--ignore-tasks", "ignore_tasks", "ignore_tasks", Nothing;
    Incorrect: "--incorrect", "incorrect", "incorrect", Texts;
    InputFormat: "--input-format", "input_format", "input_format", Parsed;
    Interval: "--interval", "interval", "interval", Parsed;
    Level: "--level", "level", "level", Number;
    Limit: "--limit", "limit", "limit", Number;
    LogDir: "--log-dir", "log_dir", "log_dir", Text;
    Mapping: "--mapping", "mapping", "mapping", Text;
    Margin: "--margin", "margin", "margin", Number;
    MaxColumns: "--max-columns", "max_columns", "max_columns", Number;
    MaxDecompressed: "--max-decompressed", "max_decompressed", "max_decompressed", Parsed;
    MaxLine: "--max-line", "max_line", "max_line", Parsed;
    MaxMemory: "--max-memory", "max_memory", "max_memory", Parsed;
    MaxRatio: "--max-ratio", "max_ratio", "max_ratio", Number;
    MaxRecord: "--max-record", "max_record", "max_record", Parsed;
    Metadata: "--metadata", "metadata", "metadata", Texts;
    Method: "--method", "method", "method", Parsed;
    Metric: "--metric", "metrics", "metrics", Texts;
    MinDifference: "--min-difference", "min_difference", "min_difference", Number;
    Model: "--model", "model", "model", Texts;
    ModelRole: "--model-role", "model_roles", "model_roles", Texts;
    Na: "--na", "na", "na", List;
    NoReduce: "--no-reduce", "reduce", "no_reduce", Opposite;
    Output: "--output", "output", "output", Text;
    P01: "--p01", "p01", "p01", Number;
    P10: "--p10", "p10", "p10", Number;
    Population: "--population", "population", "population", Number;
    Power: "--power", "power", "power", Number;
    Prices: "--prices", "prices", "prices", Text;
    Range: "--range", "range", "range", Numbers;
    Reducer: "--reducer", "reducers", "reducers", Texts;
    Require: "--require", "require", "require", Texts;
    Resume: "--resume", "resume", "resume", Text;
    RoleApiKeyFile: "--role-api-key-file", "role_api_key_file", "role_api_key_file", Texts;
    RoleBaseUrl: "--role-base-url", "role_base_url", "role_base_url", Texts;
    SampleCost: "--sample-cost", "sample_cost", "sample_cost", Number;
    SampleId: "--sample-id", "sample_ids", "sample_ids", Texts;
    Samples: "--samples", "samples", "samples", Number;
    SaveMapping: "--save-mapping", "save_mapping", "save_mapping", Text;
    Scale: "--scale", "scale", "scale", Numbers;
    ScoreColumn: "--score-column", "score", "score_columns", Texts;
    Scorer: "--scorer", "scorers", "scorers", Texts;
    Sd: "--sd", "sd", "sd", Number;
    SdWithin: "--sd-within", "sd_within", "sd_within", Number;
    Seed: "--seed", "seed", "seed", Number;
    Share: "--share", "share", "share", Number;
    Side: "--side", "side", "side", Parsed;
    SkipBadSamples: "--skip-bad-samples", "skip_bad_samples", "skip_bad_samples", Nothing;
    StopWhen: "--stop-when", "stop_when", "stop_when", Texts;
    Strict: "--strict", "strict", "strict", Nothing;
    TaskArgument: "-T", "arguments", "arguments", Texts;
    TrustIds: "--trust-ids", "trust_ids", "trust_ids", Nothing;
    Unconvertible: "--unconvertible", "unconvertible", "unconvertible", Parsed;
    Unmatched: "--unmatched", "unmatched", "unmatched", Optional;
    Unpaired: "--unpaired", "unpaired", "unpaired", Nothing;
    Value: "--value", "value", "value", Text;
    Width: "--width", "width", "width", Number;
    With: "--with", "with", "with", Texts;
    Write: "--write", "write", "write", Nothing;
}

impl Opt {
    /// The option that has this name in the template of a message.
    fn named(name: &str) -> Option<Opt> {
        Opt::NAMES.iter().position(|known| *known == name).and_then(|at| Opt::ALL.get(at)).copied()
    }

    /// Whether a gap of a template starts with the name of an option.
    const fn starts(gap: &[u8]) -> bool {
        const fn is_named(mut gap: &[u8], mut name: &[u8]) -> bool {
            loop {
                match (gap, name) {
                    ([b'}' | b'=', ..], []) => return true,
                    ([a, gap_left @ ..], [b, name_left @ ..]) if *a == *b => {
                        (gap, name) = (gap_left, name_left);
                    }
                    _ => return false,
                }
            }
        }
        let mut names = Opt::NAMES;
        while let [name, others @ ..] = names {
            if is_named(gap, name.as_bytes()) {
                return true;
            }
            names = others;
        }
        false
    }

    /// The option with a value.
    pub fn set(self, value: impl Into<String>) -> OptionUse {
        self.set_all([value])
    }

    /// The option with several values.
    pub fn set_all<V: Into<String>>(self, values: impl IntoIterator<Item = V>) -> OptionUse {
        OptionUse { option: self, values: values.into_iter().map(Into::into).collect() }
    }

    /// The option with a number.
    pub fn number(self, value: f64) -> OptionUse {
        self.set(value.to_string())
    }
}

/// An option as a message uses it: with its values, or only named.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OptionUse {
    option: Opt,
    values: Vec<String>,
}

impl From<Opt> for OptionUse {
    fn from(option: Opt) -> Self {
        OptionUse { option, values: Vec::new() }
    }
}

impl OptionUse {
    /// As users of a surface write it.
    fn on(&self, surface: Surface) -> String {
        match surface {
            Surface::CommandLine => self.on_command_line(),
            Surface::Python => format!("{}={}", self.option.keyword(), self.python_value()),
            Surface::Rust => format!(".{}({})", self.option.field(), self.rust_value()),
        }
    }

    fn on_command_line(&self) -> String {
        let flag = self.option.flag();
        let attached = |value: &String| {
            // A value that starts like an option is attached to its own.
            let separator = if value.starts_with('-') { "=" } else { " " };
            format!("{flag}{separator}{}", shell::word(value))
        };
        match (self.option.takes(), self.values.as_slice()) {
            (_, []) => flag.to_owned(),
            (Takes::Text | Takes::Parsed | Takes::Texts, values) => {
                values.iter().map(attached).collect::<Vec<_>>().join(" ")
            }
            (Takes::List, values) => attached(&values.join(",")),
            (Takes::Optional, values) => format!("{flag}={}", shell::word(&values.join(","))),
            (_, values) => {
                let values: Vec<String> = values.iter().map(|value| shell::word(value)).collect();
                format!("{flag} {}", values.join(" "))
            }
        }
    }

    fn python_value(&self) -> String {
        let takes = self.option.takes();
        let listed = self.listed(|value| match takes {
            // What stands for a log may be a frame.
            Takes::Inputs if value.bytes().all(|byte| byte.is_ascii_uppercase()) => value.clone(),
            _ => quoted(value),
        });
        match (takes, self.values.len()) {
            (Takes::Nothing, _) | (Takes::Optional, 0) => "True".to_owned(),
            (Takes::Opposite, _) => "False".to_owned(),
            (_, 0) => listed,
            (Takes::Several | Takes::Inputs, _) => format!("[{listed}]"),
            (_, 1) => listed,
            (Takes::Numbers, _) => format!("({listed})"),
            _ => format!("[{listed}]"),
        }
    }

    fn rust_value(&self) -> String {
        let listed = self.listed(|value| format!("{value:?}"));
        match (self.option.takes(), self.values.len()) {
            (Takes::Nothing | Takes::Opposite, _) => "true".to_owned(),
            (_, 0) => "…".to_owned(),
            (Takes::Parsed | Takes::Optional, _) => format!("{listed}.parse()?"),
            (_, 1) => listed,
            _ => format!("[{listed}]"),
        }
    }

    /// The values with commas between them; numbers as they are.
    fn listed(&self, shown: impl Fn(&String) -> String) -> String {
        let is_number = matches!(self.option.takes(), Takes::Number | Takes::Numbers);
        let shown = |value: &String| if is_number { value.clone() } else { shown(value) };
        self.values.iter().map(shown).collect::<Vec<_>>().join(", ")
    }
}

/// A string of Python: in double quotes, or in single ones if that is easier to read.
fn quoted(text: &str) -> String {
    let is_plain = text.contains('"') && !text.contains(['\'', '\\']) && !text.contains(char::is_control);
    match is_plain {
        true => format!("'{text}'"),
        // What JSON escapes, Python reads in the same way.
        false => serde_json::Value::from(text).to_string(),
    }
}

/// `1 sample`, `2 samples`.
pub fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A number with this number of significant digits.
pub fn significant(number: f64, digits: usize) -> String {
    let decimals = digits.saturating_sub(1);
    // Rounded first: 0.0996 with two digits is 0.10, not 0.100.
    let scientific = format!("{number:.decimals$e}");
    let exponent = scientific.rsplit('e').next().and_then(|power| power.parse::<i32>().ok());
    match exponent {
        Some(exponent @ -6..=15) => {
            let decimals = usize::try_from(decimals as i32 - exponent).unwrap_or(0);
            format!("{number:.decimals$}")
        }
        _ => scientific,
    }
}

/// A number with this number of significant digits, without zeros at its end.
pub fn short(number: f64, digits: usize) -> String {
    let text = significant(number, digits);
    match text.contains('.') && !text.contains('e') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_words_and_options() {
        let both = Text::together([Opt::Correct.set("P"), Opt::Incorrect.set("F")]);
        let hint = text!("say so: {}; or {}", both, "leave {} as it is");
        assert_eq!(hint.to_string(), "say so: --correct P --incorrect F; or leave {} as it is");
        assert_eq!(hint.on(Surface::Python), "say so: correct=\"P\", incorrect=\"F\"; or leave {} as it is");
        assert_eq!(hint.clone().about(Text::from(Opt::Scale)).to_string(), format!("--scale: {hint}"));
        let either = Text::join([Text::from(Opt::Level), Text::from("nothing")], " or ");
        assert_eq!((either.to_string().as_str(), Text::from("").is_empty()), ("--level or nothing", true));
    }

    fn spelled(used: impl Into<OptionUse>) -> [String; 2] {
        let used = used.into();
        [used.on(Surface::CommandLine), used.on(Surface::Python)]
    }

    #[test]
    fn options_are_spelled_as_their_users_write_them() {
        assert_eq!(spelled(Opt::ScoreColumn), ["--score-column", "score="]);
        assert_eq!(spelled(Opt::ScoreColumn.set("a b")), ["--score-column 'a b'", "score=\"a b\""]);
        assert_eq!(
            spelled(Opt::Correct.set_all(["PASS", "-"])),
            ["--correct PASS --correct=-", "correct=[\"PASS\", \"-\"]"]
        );
        assert_eq!(spelled(Opt::Na.set_all(["?", "-"])), ["--na '?,-'", "na=[\"?\", \"-\"]"]);
        assert_eq!(spelled(Opt::Range.set_all(["0", "10"])), ["--range 0 10", "range=(0, 10)"]);
        assert_eq!(spelled(Opt::Level.number(0.9)), ["--level 0.9", "level=0.9"]);
        assert_eq!(spelled(Opt::TrustIds), ["--trust-ids", "trust_ids=True"]);
        assert_eq!(spelled(Opt::Flips), ["--flips", "flips=True"]);
        assert_eq!(spelled(Opt::Flips.set("all")), ["--flips=all", "flips=\"all\""]);
        assert_eq!(
            spelled(Opt::From.set_all(["LOG", "b.csv"])),
            ["--from LOG b.csv", "runs=[LOG, \"b.csv\"]"]
        );
        assert_eq!(spelled(Opt::NoReduce), ["--no-reduce", "reduce=False"]);
        assert_eq!(
            spelled(Opt::ComparedScorers.set_all(["A", "B"])),
            ["--scorers A B", "compare_scorers=[\"A\", \"B\"]"]
        );
        assert_eq!(
            spelled(Opt::Metric.set("grouped(mean(), \"x\")")),
            ["--metric 'grouped(mean(), \"x\")'", "metrics='grouped(mean(), \"x\")'"]
        );
    }

    /// That a hint is code: it is compiled as it is spelled.
    macro_rules! rust_reads {
        ($($option:expr => $request:ident $(.$setter:ident($($value:tt)*))+;)*) => {$({
            let _: crate::$request = crate::$request::default()$(.$setter($($value)*))+;
            let spelled = stringify!($(.$setter($($value)*))+);
            assert_eq!(OptionUse::from($option).on(Surface::Rust).replace(' ', ""), spelled.replace(' ', ""));
        })*};
    }

    #[test]
    fn rust_reads_code() -> Result<(), Box<dyn std::error::Error>> {
        use crate::setters::*;
        rust_reads! {
            Opt::Unpaired => CompareRequest.unpaired(true);
            Opt::NoReduce => ScoreRequest.no_reduce(true);
            Opt::By.set("model") => ScoreRequest.by("model");
            Opt::By.set("model") => CompareRequest.by("model");
            Opt::Scorer.set("match") => ScoreRequest.scorers("match");
            Opt::Scorer.set("match") => PowerRequest.scorers("match");
            Opt::Reducer.set("pass_at_2") => CoverageRequest.reducers("pass_at_2");
            Opt::ScoreColumn.set("a b") => CompareRequest.score_columns("a b");
            Opt::IdColumn.set_all(["a", "b"]) => PowerRequest.id_columns(["a", "b"]);
            Opt::Correct.set_all(["PASS", "a \"b\""]) => ScoreRequest.correct(["PASS", "a \"b\""]);
            Opt::Na.set("?") => ScoreRequest.na("?");
            Opt::Scale.set("10.5") => ScoreRequest.scale(10.5);
            Opt::Range.set_all(["0", "10"]) => ScoreRequest.range([0, 10]);
            Opt::Level.number(0.9) => CompareRequest.level(0.9);
            Opt::Alpha.number(0.1) => PowerRequest.alpha(0.1);
            Opt::Margin.number(0.02) => CompareRequest.margin(0.02);
            Opt::Difference.number(0.05) => PowerRequest.difference(0.05);
            Opt::Epochs.number(1.0) => PowerRequest.epochs(1);
            Opt::Cluster.set("passage") => ScoreRequest.clusters("passage");
            Opt::Errors.set("CR2") => ScoreRequest.errors("CR2".parse()?);
            Opt::Interval.set("wilson") => ScoreRequest.interval("wilson".parse()?);
            Opt::Decimal.set(",") => ScoreRequest.decimal(",".parse()?);
            Opt::Delimiter.set(";") => ScoreRequest.delimiter(";".parse()?);
            Opt::InputFormat.set("csv") => ScoreRequest.input_format("csv".parse()?);
            Opt::Unconvertible.set("missing") => ScoreRequest.unconvertible("missing".parse()?);
            Opt::MaxMemory.set("2G") => VerifyRequest.max_memory("2G".parse()?);
            Opt::Flips.set("all") => CompareRequest.flips("all".parse()?);
            Opt::ComparedScorers.set_all(["a", "b"]) => CompareRequest.compared_scorers(["a", "b"]);
            Opt::From.set_all(["a.eval", "b.eval"]) => PowerRequest.from(["a.eval", "b.eval"]);
            Opt::SaveMapping.set("m.toml") => ScoreRequest.save_mapping("m.toml");
        }
        assert_eq!(OptionUse::from(Opt::IdColumn).on(Surface::Rust), ".id_columns(…)");
        Ok(())
    }

    #[test]
    fn templates_name_options() {
        let text = text!("give {Range=LO HI} or {Unpaired}, as in errors = { range = [0, 1] }{}", ".");
        assert_eq!(text.to_string(), "give --range LO HI or --unpaired, as in errors = { range = [0, 1] }.");
        assert!(!Text::names_options("{Unpaire}") && !Text::names_options("{UnpairedX}"));
    }

    #[test]
    fn no_two_options_have_one_flag() {
        let mut flags: Vec<&str> = Opt::ALL.iter().map(|option| option.flag()).collect();
        flags.sort_unstable();
        let count = flags.len();
        flags.dedup();
        assert_eq!(flags.len(), count);
    }

    #[test]
    fn errors_have_two_digits() {
        let shown = [0.0234567, 0.0996, 12.34, 456.7, 1.0, 3e-9, 2.5e20].map(|error| significant(error, 2));
        assert_eq!(shown, ["0.023", "0.10", "12", "457", "1.0", "3.0e-9", "2.5e20"]);
    }
}
