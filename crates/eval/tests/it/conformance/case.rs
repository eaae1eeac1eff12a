//! A case: judged by ours, and compared.

use errorbar_core::{Error, Score};
use errorbar_eval::text::{
    Answer, F1, Location, Match, Pattern, judge_choices, judge_exact, judge_includes, marked_choices,
};
use errorbar_test_support::conformance::ReferenceCase;
use serde_json::Value as Json;

/// What is judged, and how.
struct TextCase<'a> {
    scorer: &'a str,
    args: &'a Json,
    completion: &'a str,
    targets: Vec<String>,
    choices: usize,
    multiple: bool,
}

/// What ours made of a case.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The arguments were refused.
    Refused(Error),
    /// There is no such kind of answer.
    UnknownAnswer(String),
    /// The completion could not be judged.
    Failed(Error),
    Judged {
        value: Json,
        answer: Option<String>,
        /// "completion", "prose" or nothing.
        explanation: Option<&'static str>,
        reason: Option<String>,
        /// For `choice`: the places marked.
        marked: Option<Vec<usize>>,
    },
}

/// What ours makes of a case.
pub(crate) fn run(case: &ReferenceCase) -> Outcome {
    TextCase::of(case).run()
}

/// Everything that differs from the reference. Of an error only that there is one.
pub(crate) fn differences(case: &ReferenceCase, ours: &Outcome) -> Vec<String> {
    let expected_error = case.expect.get("error");
    match (ours, expected_error) {
        (Outcome::Refused(_) | Outcome::UnknownAnswer(_) | Outcome::Failed(_), Some(_)) => Vec::new(),
        (Outcome::UnknownAnswer(kind), None) => vec![format!("ours knows no answer {kind}")],
        (Outcome::Refused(error), None) => vec![format!("ours refuses: {error}")],
        (Outcome::Failed(error), None) => vec![format!("ours fails: {error}")],
        (Outcome::Judged { .. }, Some(error)) => vec![format!("the reference fails: {error}")],
        (Outcome::Judged { value, answer, explanation, reason, marked }, None) => {
            let text = |text: Option<&str>| text.map_or(Json::Null, Json::from);
            let mut fields = vec![
                ("value", value.clone()),
                ("answer", text(answer.as_deref())),
                ("explanation", text(*explanation)),
                ("reason", text(reason.as_deref())),
            ];
            if case.json["scorer"] == "choice" {
                fields.push(("marked", marked.clone().map_or(Json::Null, Json::from)));
            }
            let differs = |(field, ours): (&str, Json)| {
                let expected = &case.expect[field];
                (*expected != ours).then(|| format!("{field} is {ours}, expected {expected}"))
            };
            fields.into_iter().filter_map(differs).collect()
        }
    }
}

impl<'a> TextCase<'a> {
    fn of(case: &'a ReferenceCase) -> Self {
        let json = &case.json;
        let targets = json["targets"].as_array().unwrap().iter();
        TextCase {
            scorer: json["scorer"].as_str().unwrap(),
            args: &json["args"],
            completion: json["completion"].as_str().unwrap(),
            targets: targets.map(|target| target.as_str().unwrap().to_owned()).collect(),
            choices: json.get("choices").map_or(0, |n| usize::try_from(n.as_u64().unwrap()).unwrap()),
            multiple: json.get("multiple").is_some_and(|m| m.as_bool().unwrap()),
        }
    }

    fn flag(&self, name: &str, default: bool) -> bool {
        self.args.get(name).map_or(default, |flag| flag.as_bool().unwrap())
    }

    fn word(&self, name: &str, default: &'static str) -> &str {
        self.args.get(name).map_or(default, |word| word.as_str().unwrap())
    }

    fn run(&self) -> Outcome {
        let (completion, targets) = (self.completion, self.targets.as_slice());
        let ignore_case = self.flag("ignore_case", true);
        match self.scorer {
            "match" => {
                let location = match self.word("location", "end") {
                    "begin" => Location::Begin,
                    "end" => Location::End,
                    "any" => Location::Any,
                    _ => Location::Exact,
                };
                let scorer = Match { location, ignore_case, numeric: self.flag("numeric", false) };
                self.judged(scorer.judge(completion, targets))
            }
            "includes" => self.judged(judge_includes(completion, targets, ignore_case)),
            "pattern" => {
                match Pattern::new(self.word("pattern", ""), ignore_case, self.flag("match_all", false)) {
                    Ok(pattern) => self.tried(pattern.judge(completion, targets)),
                    Err(error) => Outcome::Refused(error),
                }
            }
            "answer" => match self.word("pattern", "") {
                "letter" => self.judged(Answer::Letter.judge(completion, targets)),
                "word" => self.judged(Answer::Word.judge(completion, targets)),
                "line" => self.judged(Answer::Line.judge(completion, targets)),
                other => Outcome::UnknownAnswer(other.to_owned()),
            },
            "choice" => {
                let marked = marked_choices(completion, self.choices, self.multiple);
                let places = marked.clone().unwrap_or_default();
                let mut outcome = self.tried(judge_choices(completion, &places, self.choices, targets));
                if let Outcome::Judged { marked: seen, .. } = &mut outcome {
                    *seen = marked;
                }
                outcome
            }
            "exact" => self.judged(judge_exact(completion, targets)),
            "f1" => {
                let words = self.args.get("stop_words").and_then(Json::as_array);
                let stop_words: Vec<&str> =
                    words.into_iter().flatten().map(|w| w.as_str().unwrap()).collect();
                self.judged(F1::new(&stop_words).judge(completion, completion, targets))
            }
            other => panic!("no scorer is named {other}"),
        }
    }

    fn tried(&self, result: Result<Score, Error>) -> Outcome {
        result.map_or_else(Outcome::Failed, |score| self.judged(score))
    }

    fn judged(&self, score: Score) -> Outcome {
        let explained = |text: &str| if text == self.completion { "completion" } else { "prose" };
        Outcome::Judged {
            value: score.value.to_json(),
            answer: score.answer,
            explanation: score.explanation.as_deref().map(explained),
            reason: score.reason,
            marked: None,
        }
    }
}
