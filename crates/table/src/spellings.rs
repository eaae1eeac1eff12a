//! Names that columns of ids, epochs and scores commonly have, and rows that sum up others. Lists are words with commas between.

/// Names of columns of ids, without what [`normal`] removes.
const IDS: &str = "id, questionid, instanceid, taskid, sampleid, docid, documentid, exampleid, problemid, itemid, \
    promptid, caseid, testid, testcaseid, queryid, recordid, datapointid, qid, uid, uuid, guid";

/// Names of columns of epochs.
const EPOCHS: &str = "epoch, attempt, attemptid, attemptnumber, trial, trialid, run, runid, runnumber, repeat, \
    repetition, rep, replicate, iteration, iter, try, completionid";

/// Names of columns of scores that are any numbers.
const NUMBERS: &str = "score, value, reward, grade, rating, points, finalscore, totalscore, judgescore";

/// Names of columns of scores from 0 to 1. `label`, `answer`, `target` and `prediction` are not among them: they mostly
/// hold the right answer, or the model's.
const SHARES: &str = "passed, pass, ispassed, passfail, resolved, isresolved, correct, iscorrect, correctness, \
    answercorrect, acc, accnorm, accuracy, success, issuccess, succeeded, successful, solved, issolved, \
    exactmatch, em, quasiexactmatch, match, f1, f1score, rougel, bleu, result, outcome, verdict, \
    judgment, judgement";

/// Names of scores from 0 to 1 that are shares of something even for one sample, not verdicts.
const GRADUAL: &str = "accnorm, quasiexactmatch, f1, f1score, rougel, bleu";

/// Names of columns with the answers of a model.
const ANSWERS: &str = "answer, modelanswer, choice, output, modeloutput, response, modelresponse, completion, guess, \
    finalanswer, llmanswer, llmresponse, llmoutput, generation, reply, modelchoice, yhat, pick, picked, \
    ans, resp, rawresponse, useranswer, studentanswer, submission, candidate, hypothesis, decision";

/// What other names of such columns start with.
const ANSWER_STARTS: &str = "pred, parsed, extracted, chosen, selected, generated";

/// Names of columns with the right answers.
const GOLDS: &str = "gold, target, targets, label, truelabel, reference, referenceanswer, groundtruth, truth, ytrue, \
    correctanswer, rightanswer, trueanswer, correctlabel, correctoption, correctchoice, answerkey, \
    ideal, solution, actual, gt, labels, trueclass, labeltrue";

/// Names of columns that figures of whole runs have, and scores of samples do not.
const FIGURES: &str = "stderr, standarderror, se, sem, std, stddev, standarddeviation, n, count, total, support, nsamples, \
    numsamples, samples, numexamples";

/// Names of columns whose values are not to be pooled.
const POOLED: &str = "model, modelname, metric, metricname";

/// Whether a word is in a list.
pub(super) fn is_among(words: &str, word: &str) -> bool {
    words.split(", ").any(|known| known == word)
}

/// A name without case and what is between its words: `Question ID` is `questionid`.
pub(super) fn normal(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

pub(super) fn is_id(name: &str) -> bool {
    is_among(IDS, &normal(name))
}

pub(super) fn is_epoch(name: &str) -> bool {
    is_among(EPOCHS, &normal(name))
}

/// Whether a column of this name holds verdicts: right or wrong.
pub(super) fn is_verdict(name: &str) -> bool {
    let name = normal(name);
    is_among(SHARES, &name) && !is_among(GRADUAL, &name)
}

/// Whether a column of this name holds the answers of a model.
pub(super) fn is_answer(name: &str) -> bool {
    let name = normal(name);
    is_among(ANSWERS, &name)
        || ANSWER_STARTS.split(", ").any(|start| name.starts_with(start))
        || ["pred", "prediction", "predicted"].iter().any(|end| name.ends_with(end))
}

/// Whether a column of this name holds the right answers.
pub(super) fn is_gold(name: &str) -> bool {
    let name = normal(name);
    is_among(GOLDS, &name) || name.starts_with("gold") || name.starts_with("expected")
}

/// Whether a column of this name is one of figures of whole runs.
pub(super) fn is_figure(name: &str) -> bool {
    is_among(FIGURES, &normal(name))
}

/// Whether a column of this name tells models or metrics apart.
pub(super) fn is_pooled(name: &str) -> bool {
    is_among(POOLED, &normal(name))
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
        name if is_among(NUMBERS, name) => Some(ScoreNumbers::Any),
        name if is_among(SHARES, name) => Some(ScoreNumbers::Shares),
        _ => None,
    }
}

/// Whether scores in a column of this name are from 0 to 1.
pub(super) fn holds_shares(name: &str) -> bool {
    scores(name) == Some(ScoreNumbers::Shares)
}

/// How many rows at the end of a table are looked at.
pub(super) const LAST_ROWS: usize = 5;

/// Names of rows that sum up others.
const SUMMARIES: &str = "total, totals, grand total, subtotal, sum, average, avg, avg., mean, overall, median, summary, std, \
    sd, stdev, std dev, stderr, min, max, count, macro, micro, weighted, macro avg, micro avg, \
    weighted avg, accuracy, durchschnitt, summe, gesamt, gesamtergebnis, ergebnis, insgesamt, \
    mittelwert, all, moyenne, somme, media, média, promedio, suma, totale, gemiddelde";

/// Whether a name is that of a row which sums up others, such as `Total`, `Mean:` or `TOTAL (2)`.
pub(super) fn is_summary(name: &str) -> bool {
    let name = name.trim();
    let bare = match name.strip_suffix(')').and_then(|name| name.rsplit_once('(')) {
        Some((bare, _)) => bare.trim_end(),
        None => name,
    };
    let bare = bare.strip_suffix(':').unwrap_or(bare).trim_end().to_lowercase();
    is_among(SUMMARIES, &bare)
}

/// The rows, of this many, that may sum up the others: the first, and a few at the end.
pub(super) fn summary_candidates(rows: usize) -> impl Iterator<Item = usize> {
    let last = rows.saturating_sub(LAST_ROWS).max(1);
    std::iter::once(0).chain(last..rows)
}

/// The lines of a text that are not blank.
pub(super) fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split(|byte| matches!(byte, b'\n' | b'\r')).filter(|line| !line.trim_ascii().is_empty()).collect()
}

/// The first cell of a line, if it names a row that sums up others.
pub(super) fn summary_of_line(line: &[u8]) -> Option<&str> {
    let mut cells = line.split(|byte| matches!(byte, b',' | b';' | b'\t' | b'|')).map(<[u8]>::trim_ascii);
    let first = cells.find(|cell| !cell.is_empty())?;
    let first = first.strip_prefix(b"\"").and_then(|first| first.strip_suffix(b"\"")).unwrap_or(first);
    str::from_utf8(first).ok().filter(|name| is_summary(name))
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
        for names in [IDS, EPOCHS, NUMBERS, SHARES, GRADUAL, ANSWERS, GOLDS, FIGURES, POOLED] {
            assert!(names.split(", ").all(|name| normal(name) == name));
        }
    }
}

#[cfg(test)]
mod summary_tests {
    use super::*;

    #[test]
    fn names_and_places() {
        for name in [
            "Total",
            "MEAN:",
            "TOTAL (2)",
            "Std",
            " Durchschnitt ",
            "Macro avg",
            "ALL",
            "Moyenne",
            "Media",
            "Ergebnis",
        ] {
            assert!(is_summary(name), "{name}");
        }
        assert!(!is_summary("max_depth") && !is_summary("") && !is_summary("(2)"));
        assert_eq!(summary_candidates(1).collect::<Vec<_>>(), [0]);
        assert_eq!(summary_candidates(3).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(summary_candidates(9).collect::<Vec<_>>(), [0, 4, 5, 6, 7, 8]);
        assert_eq!(summary_of_line(b",\"Average\",0.5"), Some("Average"));
    }
}
