//! Names that columns of ids, epochs and scores commonly have.

/// Names of columns of ids, without what [`normal`] removes.
const IDS: [&str; 21] = [
    "id",
    "questionid",
    "instanceid",
    "taskid",
    "sampleid",
    "docid",
    "documentid",
    "exampleid",
    "problemid",
    "itemid",
    "promptid",
    "caseid",
    "testid",
    "testcaseid",
    "queryid",
    "recordid",
    "datapointid",
    "qid",
    "uid",
    "uuid",
    "guid",
];

/// Names of columns of epochs.
const EPOCHS: [&str; 17] = [
    "epoch",
    "attempt",
    "attemptid",
    "attemptnumber",
    "trial",
    "trialid",
    "run",
    "runid",
    "runnumber",
    "repeat",
    "repetition",
    "rep",
    "replicate",
    "iteration",
    "iter",
    "try",
    "completionid",
];

/// Names of columns of scores that are any numbers.
const NUMBERS: [&str; 9] =
    ["score", "value", "reward", "grade", "rating", "points", "finalscore", "totalscore", "judgescore"];

/// Names of columns of scores from 0 to 1. `label`, `answer`, `target` and `prediction` are not among them: they mostly
/// hold the right answer, or the model's.
const SHARES: [&str; 32] = [
    "passed",
    "pass",
    "ispassed",
    "passfail",
    "resolved",
    "isresolved",
    "correct",
    "iscorrect",
    "correctness",
    "answercorrect",
    "acc",
    "accnorm",
    "accuracy",
    "success",
    "issuccess",
    "succeeded",
    "successful",
    "solved",
    "issolved",
    "exactmatch",
    "em",
    "quasiexactmatch",
    "match",
    "f1",
    "f1score",
    "rougel",
    "bleu",
    "result",
    "outcome",
    "verdict",
    "judgment",
    "judgement",
];

/// Names of scores from 0 to 1 that are shares of something even for one sample, not verdicts.
const GRADUAL: [&str; 6] = ["accnorm", "quasiexactmatch", "f1", "f1score", "rougel", "bleu"];

/// Names of columns with the answers of a model.
const ANSWERS: [&str; 28] = [
    "answer",
    "modelanswer",
    "choice",
    "output",
    "modeloutput",
    "response",
    "modelresponse",
    "completion",
    "guess",
    "finalanswer",
    "llmanswer",
    "llmresponse",
    "llmoutput",
    "generation",
    "reply",
    "modelchoice",
    "yhat",
    "pick",
    "picked",
    "ans",
    "resp",
    "rawresponse",
    "useranswer",
    "studentanswer",
    "submission",
    "candidate",
    "hypothesis",
    "decision",
];

/// What other names of such columns start with.
const ANSWER_STARTS: [&str; 6] = ["pred", "parsed", "extracted", "chosen", "selected", "generated"];

/// Names of columns with the right answers.
const GOLDS: [&str; 24] = [
    "gold",
    "target",
    "targets",
    "label",
    "truelabel",
    "reference",
    "referenceanswer",
    "groundtruth",
    "truth",
    "ytrue",
    "correctanswer",
    "rightanswer",
    "trueanswer",
    "correctlabel",
    "correctoption",
    "correctchoice",
    "answerkey",
    "ideal",
    "solution",
    "actual",
    "gt",
    "labels",
    "trueclass",
    "labeltrue",
];

/// Names of columns that figures of whole runs have, and scores of samples do not.
const FIGURES: [&str; 15] = [
    "stderr",
    "standarderror",
    "se",
    "sem",
    "std",
    "stddev",
    "standarddeviation",
    "n",
    "count",
    "total",
    "support",
    "nsamples",
    "numsamples",
    "samples",
    "numexamples",
];

/// Names of columns whose values are not to be pooled.
const POOLED: [&str; 4] = ["model", "modelname", "metric", "metricname"];

/// A name without case and what is between its words: `Question ID` is `questionid`.
pub(super) fn normal(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

pub(super) fn is_id(name: &str) -> bool {
    IDS.contains(&normal(name).as_str())
}

pub(super) fn is_epoch(name: &str) -> bool {
    EPOCHS.contains(&normal(name).as_str())
}

/// Whether a column of this name holds verdicts: right or wrong.
pub(super) fn is_verdict(name: &str) -> bool {
    let name = normal(name);
    SHARES.contains(&name.as_str()) && !GRADUAL.contains(&name.as_str())
}

/// Whether a column of this name holds the answers of a model.
pub(super) fn is_answer(name: &str) -> bool {
    let name = normal(name);
    ANSWERS.contains(&name.as_str())
        || ANSWER_STARTS.iter().any(|start| name.starts_with(start))
        || ["pred", "prediction", "predicted"].iter().any(|end| name.ends_with(end))
}

/// Whether a column of this name holds the right answers.
pub(super) fn is_gold(name: &str) -> bool {
    let name = normal(name);
    GOLDS.contains(&name.as_str()) || name.starts_with("gold") || name.starts_with("expected")
}

/// Whether a column of this name is one of figures of whole runs.
pub(super) fn is_figure(name: &str) -> bool {
    FIGURES.contains(&normal(name).as_str())
}

/// Whether a column of this name tells models or metrics apart.
pub(super) fn is_pooled(name: &str) -> bool {
    POOLED.contains(&normal(name).as_str())
}

/// Which numbers scores in a column of this name are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScoreNumbers {
    /// Any.
    Any,
    /// From 0 to 1: other numbers under such a name are counts of something.
    Shares,
}

/// What a column of this name is as scores; none if the name is none of scores.
pub(super) fn scores(name: &str) -> Option<ScoreNumbers> {
    match normal(name).as_str() {
        name if NUMBERS.contains(&name) => Some(ScoreNumbers::Any),
        name if SHARES.contains(&name) => Some(ScoreNumbers::Shares),
        _ => None,
    }
}

/// Whether scores in a column of this name are from 0 to 1.
pub(super) fn holds_shares(name: &str) -> bool {
    scores(name) == Some(ScoreNumbers::Shares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings() {
        for name in ["ID", "question_id", "questionId", "Question ID", "doc-id", "task_id"] {
            assert!(is_id(name), "{name}");
        }
        assert!(!is_id("index") && !is_id("name"));
        assert!(is_epoch("Attempt") && is_epoch("run_id") && !is_epoch("seed"));
        assert!(is_verdict("is_correct") && !is_verdict("f1") && !is_verdict("score"));
        assert!(is_answer("Model Answer") && is_answer("pred_label") && !is_answer("label"));
        assert!(is_answer("y_pred") && is_answer("parsed_answer") && !is_answer("correct_answer"));
        assert!(is_gold("gold_label") && is_gold("label") && !is_gold("answer") && !is_gold("correct"));
        assert_eq!(scores("Is Correct"), Some(ScoreNumbers::Shares));
        assert_eq!(scores("Score"), Some(ScoreNumbers::Any));
        for name in ["label", "answer", "target", "prediction", "gold", "passage"] {
            assert_eq!(scores(name), None, "{name}");
        }
        for names in [&IDS[..], &EPOCHS, &NUMBERS, &SHARES, &GRADUAL, &ANSWERS, &GOLDS, &FIGURES, &POOLED] {
            assert!(names.iter().all(|name| normal(name) == *name));
        }
    }
}
