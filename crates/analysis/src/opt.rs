//! The options that messages name, with their spelling on each surface.

use crate::shell;

/// Where a message is shown, and so how it spells options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Surface {
    /// `--score-column verdict`
    CommandLine,
    /// `score="verdict"`
    Python,
    /// `score_columns = "verdict"`: the field of a request.
    Rust,
}

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    /// Nothing: it is given or not.
    Nothing,
    /// Nothing, and in Python its opposite is said.
    Opposite,
    /// A number or several, such as the two ends of a range.
    Numbers,
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
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Opt {
            $($(#[$doc])* #[doc = concat!("`", $flag, "`, in Python `", $keyword, "`.")] $option,)*
        }

        impl Opt {
            /// All of them.
            pub const ALL: &[Opt] = &[$(Opt::$option),*];

            /// The option of the command line.
            pub fn flag(self) -> &'static str {
                match self { $(Opt::$option => $flag),* }
            }

            /// The argument of functions in Python.
            pub fn keyword(self) -> &'static str {
                match self { $(Opt::$option => $keyword),* }
            }

            /// The field of a request.
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
    AllPairs: "--all-pairs", "all_pairs", "all_pairs", Nothing;
    Alpha: "--alpha", "alpha", "alpha", Numbers;
    Base: "--base", "base", "base", Texts;
    By: "--by", "by", "by", Texts;
    CallCost: "--call-cost", "call_cost", "call_cost", Numbers;
    Cluster: "--cluster", "cluster", "clusters", Texts;
    ComparedScorers: "--scorers", "compare_scorers", "compared_scorers", Several;
    Correct: "--correct", "correct", "correct", Texts;
    Correlation: "--correlation", "correlation", "correlation", Numbers;
    Decimal: "--decimal", "decimal", "decimal", Texts;
    Decisive: "--decisive", "decisive", "decisive", Nothing;
    Delimiter: "--delimiter", "delimiter", "delimiter", Texts;
    DesignEffect: "--design-effect", "design_effect", "design_effect", Numbers;
    Difference: "--difference", "difference", "difference", Numbers;
    Draws: "--draws", "draws", "draws", Numbers;
    Epoch: "--epoch", "epoch", "epoch", Numbers;
    EpochColumn: "--epoch-column", "epoch", "epoch_column", Texts;
    Epochs: "--epochs", "epochs", "epochs", Numbers;
    Equivalent: "--equivalent", "equivalent", "equivalent", Numbers;
    Errors: "--errors", "errors", "errors", Texts;
    Explain: "--explain", "explain", "explain", Nothing;
    FailIfWorse: "--fail-if-worse", "fail_if_worse", "fail_if_worse", Nothing;
    Flips: "--flips", "flips", "flips", Optional;
    From: "--from", "runs", "from", Inputs;
    Group: "--group", "group", "groups", Texts;
    IdColumn: "--id-column", "id", "id_columns", Texts;
    IgnoreTasks: "--ignore-tasks", "ignore_tasks", "ignore_tasks", Nothing;
    Incorrect: "--incorrect", "incorrect", "incorrect", Texts;
    InputFormat: "--input-format", "input_format", "input_format", Texts;
    Interval: "--interval", "interval", "interval", Texts;
    Level: "--level", "level", "level", Numbers;
    Mapping: "--mapping", "mapping", "mapping", Texts;
    Margin: "--margin", "margin", "margin", Numbers;
    MaxColumns: "--max-columns", "max_columns", "max_columns", Numbers;
    MaxDecompressed: "--max-decompressed", "max_decompressed", "max_decompressed", Texts;
    MaxLine: "--max-line", "max_line", "max_line", Texts;
    MaxMemory: "--max-memory", "max_memory", "max_memory", Texts;
    MaxRatio: "--max-ratio", "max_ratio", "max_ratio", Numbers;
    MaxRecord: "--max-record", "max_record", "max_record", Texts;
    Method: "--method", "method", "method", Texts;
    Metric: "--metric", "metrics", "metrics", Texts;
    MinDifference: "--min-difference", "min_difference", "min_difference", Numbers;
    Na: "--na", "na", "na", List;
    NoReduce: "--no-reduce", "reduce", "no_reduce", Opposite;
    Output: "--output", "output", "output", Texts;
    P01: "--p01", "p01", "p01", Numbers;
    P10: "--p10", "p10", "p10", Numbers;
    Population: "--population", "population", "population", Numbers;
    Power: "--power", "power", "power", Numbers;
    Range: "--range", "range", "range", Numbers;
    Reducer: "--reducer", "reducers", "reducers", Texts;
    Require: "--require", "require", "require", Texts;
    SampleCost: "--sample-cost", "sample_cost", "sample_cost", Numbers;
    Samples: "--samples", "samples", "samples", Numbers;
    SaveMapping: "--save-mapping", "save_mapping", "save_mapping", Texts;
    Scale: "--scale", "scale", "scale", Numbers;
    ScoreColumn: "--score-column", "score", "score_columns", Texts;
    Scorer: "--scorer", "scorers", "scorers", Texts;
    Sd: "--sd", "sd", "sd", Numbers;
    SdWithin: "--sd-within", "sd_within", "sd_within", Numbers;
    Seed: "--seed", "seed", "seed", Numbers;
    Share: "--share", "share", "share", Numbers;
    Side: "--side", "side", "side", Texts;
    SkipBadSamples: "--skip-bad-samples", "skip_bad_samples", "skip_bad_samples", Nothing;
    StopWhen: "--stop-when", "stop_when", "stop_when", Texts;
    Strict: "--strict", "strict", "strict", Nothing;
    TrustIds: "--trust-ids", "trust_ids", "trust_ids", Nothing;
    Unconvertible: "--unconvertible", "unconvertible", "unconvertible", Texts;
    Unmatched: "--unmatched", "unmatched", "unmatched", Optional;
    Unpaired: "--unpaired", "unpaired", "unpaired", Nothing;
    Width: "--width", "width", "width", Numbers;
    With: "--with", "with", "with", Texts;
    Write: "--write", "write", "write", Nothing;
}

impl Opt {
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
    pub(crate) fn on(&self, surface: Surface) -> String {
        match surface {
            Surface::CommandLine => self.on_command_line(),
            Surface::Python => self.assigned(self.option.keyword(), "="),
            Surface::Rust if self.values.is_empty() && self.option.takes() != Takes::Nothing => {
                format!("`{}`", self.option.field())
            }
            Surface::Rust => self.assigned(self.option.field(), " = "),
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
            (Takes::Texts, values) => values.iter().map(attached).collect::<Vec<_>>().join(" "),
            (Takes::List, values) => attached(&values.join(",")),
            (Takes::Optional, values) => format!("{flag}={}", shell::word(&values.join(","))),
            (_, values) => {
                let values: Vec<String> = values.iter().map(|value| shell::word(value)).collect();
                format!("{flag} {}", values.join(" "))
            }
        }
    }

    fn assigned(&self, name: &str, sign: &str) -> String {
        let takes = self.option.takes();
        let values: Vec<String> = match takes {
            Takes::Numbers => self.values.clone(),
            // What stands for a log may be a frame.
            Takes::Inputs => self.values.iter().map(|value| placeholder(value)).collect(),
            _ => self.values.iter().map(|value| quoted(value)).collect(),
        };
        let value = match (takes, values.as_slice()) {
            (Takes::Nothing, _) | (Takes::Optional, []) => "True".to_owned(),
            (Takes::Opposite, _) => "False".to_owned(),
            (_, []) => String::new(),
            (Takes::Several | Takes::Inputs, several) => format!("[{}]", several.join(", ")),
            (_, [one]) => one.clone(),
            (Takes::Numbers, several) => format!("({})", several.join(", ")),
            (_, several) => format!("[{}]", several.join(", ")),
        };
        format!("{name}{sign}{value}")
    }
}

/// `LOG` as it is, and any other value in quotes.
fn placeholder(text: &str) -> String {
    if text.bytes().all(|byte| byte.is_ascii_uppercase()) { text.to_owned() } else { quoted(text) }
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

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn no_two_options_have_one_flag() {
        let mut flags: Vec<&str> = Opt::ALL.iter().map(|option| option.flag()).collect();
        flags.sort_unstable();
        let count = flags.len();
        flags.dedup();
        assert_eq!(flags.len(), count);
    }
}
