//! Hints for errors of score tables, read and exported.

use std::io::ErrorKind;

use errorbar_core::LeafRef;
use errorbar_core::spec::nearest;
use errorbar_files::{is_url, machine_memory};
use errorbar_table::{
    CellMeaning, CellReader, GradeMeaning, MISSING_SPELLINGS, NoScore, NoScores, TableDoubt, TableError,
    TableErrorKind, TableMapping,
};

use super::log;
use crate::shell;
use crate::table::export::ExportError;

/// What to do about a name that is neither that of a file nor of a log.
const NO_FILE: &str = "check the path; a log can be named by a handle, too: `latest`, @1";

/// What to do about it.
pub(crate) fn hint(error: &TableError) -> Option<String> {
    let hint = match error.kind() {
        TableErrorKind::NoScoreColumn { nearest: Some(nearest), .. } => {
            return Some(format!("did you mean --score-column {}?", shell::word(nearest)));
        }
        TableErrorKind::NoScoreColumn { .. } => "name the column that holds the scores with --score-column",
        TableErrorKind::Open(open)
            if open.kind() == ErrorKind::NotFound
                && error.path().extension().is_none()
                && !is_url(error.path()) =>
        {
            NO_FILE
        }
        TableErrorKind::NoIdColumn { name, found } if near_id(name, found).is_some() => {
            let nearest = near_id(name, found).unwrap_or_default();
            return Some(format!("did you mean {}?", option("--id-column", nearest)));
        }
        TableErrorKind::NoIdColumn { .. } => {
            "name the column that identifies the samples with --id-column; it may be repeated, and of each table the \
             first that it has is taken"
        }
        TableErrorKind::EpochsWithoutIds { .. } => {
            "name the column that identifies the samples with --id-column, or remove that of the epochs if every row \
             is a sample"
        }
        TableErrorKind::NoEpochColumn { nearest: Some(nearest), .. } => {
            return Some(format!("did you mean --epoch-column {}?", shell::word(nearest)));
        }
        TableErrorKind::NoEpochColumn { .. } => "name the column that numbers the epochs with --epoch-column",
        TableErrorKind::AmbiguousIdColumn { candidates } => {
            return Some(choice("--id-column", candidates));
        }
        TableErrorKind::AmbiguousEpochColumn { candidates } => {
            return Some(choice("--epoch-column", candidates));
        }
        TableErrorKind::AmbiguousScoreColumn { candidates } => {
            let all = candidates.iter().take(5).map(|name| option("--score-column", name));
            let all = all.collect::<Vec<_>>().join(" ");
            return Some(format!(
                "{}, or several as separate scorers: {all}",
                choice("--score-column", candidates)
            ));
        }
        TableErrorKind::Doubt(TableDoubt::NoHeader { column }) => {
            let option = option("--score-column", column);
            return Some(format!("add a first line such as id,score; if it is a name, add {option}"));
        }
        TableErrorKind::Doubt(TableDoubt::Answers { column, .. }) => {
            let option = option("--score-column", column);
            return Some(format!("if it holds scores, add {option}; else name the column that does so"));
        }
        TableErrorKind::Doubt(TableDoubt::Confidence { column, answers: [a, b] }) => {
            let option = option("--score-column", column);
            return Some(format!(
                "if it holds scores, add {option}; else add a column that has 1 where `{a}` and `{b}` are equal and 0 \
                 elsewhere, or name the one that holds the scores"
            ));
        }
        TableErrorKind::Doubt(TableDoubt::PooledEpochs { column, epoch, .. }) => {
            return Some(format!(
                "add {} for results of each; if they are epochs all the same, add {}",
                option("--by", column),
                option("--epoch-column", epoch)
            ));
        }
        TableErrorKind::Doubt(TableDoubt::Figures { .. }) => {
            "give the table with a row per sample; if this is one, name the column that identifies the samples with \
             --id-column"
        }
        TableErrorKind::UnevenRepeats { .. } => {
            "--id-column question counts examples with the same question as its epochs, --id-column example every \
             example as a sample"
        }
        TableErrorKind::SummaryRow(_) => {
            "remove the row; if it is a sample, name the column that identifies the samples with --id-column"
        }
        TableErrorKind::UnfitScoreColumns { columns, cells: Some(cells) } => {
            if let Some(grades) = &cells.grades {
                return Some(letter_grades_hint(grades));
            }
            let unknown: Vec<String> = cells.values.iter().map(|(value, _)| value.clone()).collect();
            let words: Vec<KnownCell<'_>> =
                cells.words.iter().map(|word| (word.word.as_str(), word.score)).collect();
            let meaning = unknown_cells_hint(&unknown, &words, &cells.numbers);
            let name = columns.first().map_or("", |(name, _)| name.as_str());
            let option = option("--score-column", name);
            return Some(format!("{meaning}; or {option} --unconvertible missing skips them"));
        }
        TableErrorKind::UnfitScoreColumns { .. } => {
            "name the column that holds the scores with --score-column; --correct and --incorrect, or --scale, say \
             what its cells mean"
        }
        TableErrorKind::DuplicateRow { .. } | TableErrorKind::DuplicateScore { .. } => {
            return Some(repeated_hint(error));
        }
        TableErrorKind::NoSplitColumn { nearest: Some(nearest), .. } => {
            return Some(format!("did you mean --by {}?", shell::word(nearest)));
        }
        TableErrorKind::NotASplitColumn(name) if name == "scorer" => {
            "every scorer has results of its own without it; `compare --scorers A B` compares two of them"
        }
        TableErrorKind::NoSplitColumn { .. } | TableErrorKind::NotASplitColumn(_) => {
            "name the column whose values are to be compared with --by"
        }
        TableErrorKind::TooManyScorers { .. } => {
            "if the column is no scorer but metadata, rename it or use --score-column"
        }
        TableErrorKind::LineTooLong { in_quote: true, .. } => {
            "look for a quote that is never closed, or allow longer lines with --max-line"
        }
        TableErrorKind::LineTooLong { .. } => {
            "check that the file is what its name says, or allow longer lines with --max-line"
        }
        TableErrorKind::PageTooLarge { .. } => {
            "write the table with smaller pages, or allow larger ones with --max-line"
        }
        TableErrorKind::FooterTooLarge { .. } => {
            "write the table with fewer row groups, or allow a larger footer with --max-line"
        }
        TableErrorKind::TooManyColumns { .. } => {
            "remove columns that no metric needs, or allow more with --max-columns"
        }
        TableErrorKind::AmbiguousDelimiter { candidates } => {
            let option = |delimiter: &char| match delimiter {
                '\t' => "--delimiter tab".to_owned(),
                delimiter => format!("--delimiter {}", shell::word(&delimiter.to_string())),
            };
            return Some(candidates.iter().map(option).collect::<Vec<_>>().join(" or "));
        }
        TableErrorKind::UnknownFormat { .. } => {
            "if it is a table, say which kind with --input-format: csv, tsv, jsonl, json or parquet"
        }
        TableErrorKind::TooMuchMemory { limit }
        | TableErrorKind::TooDense { limit }
        | TableErrorKind::InputTooLarge { limit } => {
            return Some(format!(
                "check that the file is what its name says, or allow more with {}",
                more_memory(*limit)
            ));
        }
        _ => return Some(error.hint().into_owned()),
    };
    Some(hint.to_owned())
}

/// The column whose name is closest to the one of ids that was named; `id` is looked for without being named.
fn near_id<'f>(name: &str, found: &'f [String]) -> Option<&'f str> {
    nearest(name, found.iter().map(String::as_str)).filter(|_| name != "id")
}

/// The option that allows twice this number of bytes of memory, beside what the machine has.
pub(crate) fn more_memory(limit: u64) -> String {
    let proposed = (limit.saturating_mul(2) >> 30).max(1);
    let machine = machine_memory().map(|bytes| format!(" (this machine has {} GB)", bytes >> 30));
    format!("--max-memory {proposed}G{}", machine.unwrap_or_default())
}

/// An option with a value, to be pasted into a shell.
pub(crate) fn option(option: &str, value: &str) -> String {
    // A value that starts like an option is attached to its own.
    let separator = if value.starts_with('-') { "=" } else { " " };
    format!("{option}{separator}{}", shell::word(value))
}

/// How to choose one of several columns.
fn choice(name: &str, candidates: &[String]) -> String {
    let options: Vec<String> = candidates.iter().take(5).map(|candidate| option(name, candidate)).collect();
    format!("choose one with {}", options.join(" or "))
}

/// What to do about rows that repeat a sample and epoch.
fn repeated_hint(error: &TableError) -> String {
    if let Some(id) = error.identified_by() {
        return format!("`{id}` tells the rows apart: add {}", option("--id-column", id));
    }
    match error.told_apart_by() {
        Some((column, true)) => format!(
            "`{column}` tells the rows apart: if it numbers the runs of a sample, add {}; if not, add {}",
            option("--epoch-column", column),
            option("--by", column)
        ),
        Some((column, false)) => {
            format!("`{column}` tells the rows apart: add {} for results of each", option("--by", column))
        }
        None => format!("{}, or name the columns with --id-column and --epoch-column", error.hint()),
    }
}

/// What to do about cells that only the mapping of a table makes no scores.
pub(crate) fn no_score_hint(found: &NoScores, mapping: &TableMapping, has_commas: bool) -> String {
    let first = found.values.first().map_or("", |(value, _)| value.as_str());
    match found.reason {
        NoScore::Unnamed => format!(
            "name each as {} or {}; or --unconvertible missing skips them, --unconvertible zero counts them as 0",
            option("--correct", first),
            option("--incorrect", first)
        ),
        NoScore::OffScale if mapping.scale.is_some() => {
            "check --scale; or --unconvertible missing skips them, --unconvertible zero counts them as 0".to_owned()
        }
        NoScore::DecimalPoint if has_commas => {
            "the column has decimal commas and decimal points: write all numbers in one way".to_owned()
        }
        NoScore::DecimalPoint => {
            "write all numbers with a comma, or all with a point; --decimal . says that a point is the decimal mark"
                .to_owned()
        }
        NoScore::SchoolGrade => found.grades.as_ref().map(letter_grades_hint).unwrap_or_default(),
        _ => "write all scores as percentages, or all as numbers; for numbers from 0 to 100 there is --scale 100"
            .to_owned(),
    }
}

/// What to do about ambiguous letter grades.
fn letter_grades_hint(grades: &GradeMeaning) -> String {
    let numbers = |examples: &str| format!("write a number for each of them, such as {examples}");
    let proposal = match grades {
        GradeMeaning::Named(proposal) => proposal,
        GradeMeaning::Halves => return numbers("1, 0.5 and 0"),
        GradeMeaning::BesideNumbers => {
            return "other cells are numbers: write numbers for these, too".to_owned();
        }
        GradeMeaning::BesideWords => {
            return "say what each means with --correct VALUE and --incorrect VALUE, or --na VALUE if there is no \
                    score"
                .to_owned();
        }
        GradeMeaning::Nested => {
            return "say what each means with --correct VALUE and --incorrect VALUE, or write the keys that hold \
                    scores as columns of their own, and name one with --score-column"
                .to_owned();
        }
        _ => return numbers("1 and 0"),
    };
    let correct: Vec<&str> = proposal.correct.iter().map(String::as_str).collect();
    let incorrect: Vec<&str> = proposal.incorrect.iter().map(String::as_str).collect();
    let mut options = named(&correct, &incorrect);
    if !proposal.missing.is_empty() {
        options = format!("{options} {}", option("--na", &proposal.missing.join(",")));
    }
    match (correct.as_slice(), incorrect.as_slice()) {
        (["P"], ["F"]) => format!("P alone counts as 0.5; if it is a pass, say so: {options}"),
        _ => format!("say what each counts as, such as {options}"),
    }
}

/// The options that name correct and incorrect cells.
fn named(correct: &[&str], incorrect: &[&str]) -> String {
    let correct = correct.iter().map(|cell| option("--correct", cell.trim()));
    let incorrect = incorrect.iter().map(|cell| option("--incorrect", cell.trim()));
    correct.chain(incorrect).collect::<Vec<_>>().join(" ")
}

/// What to do about lists.
pub(crate) const LISTS: &str =
    "give a metric over lists, such as krippendorff_alpha, or write a row for each score";

/// What to do about maps.
pub(crate) fn map_hint() -> String {
    "give metrics by key, such as --metric '{\"*\": [mean(), stderr()]}'".to_owned()
}

/// The same where only the values under some keys are scores. A reducer of numbers would read all of them, so it takes a
/// command that can do without.
pub(crate) fn keys_hint(keys: &[String], has_no_reduce: bool) -> String {
    if !has_no_reduce {
        let keys: Vec<String> = keys.iter().take(5).map(|key| format!("`{key}`")).collect();
        return format!(
            "write the keys that hold scores ({}) as columns of their own, and name one with --score-column",
            keys.join(", ")
        );
    }
    let metrics: Vec<String> =
        keys.iter().take(5).map(|key| format!("{key:?}: [mean(), stderr()]")).collect();
    let metrics = shell::word(&format!("{{{}}}", metrics.join(", ")));
    format!("give metrics to the keys that hold scores: --no-reduce --metric {metrics}")
}

/// Whether a cell looks as if it meant that there is no score.
fn is_like_missing(text: &str) -> bool {
    const SPELLINGS: [&str; 12] = ["?", "??", "???", ".", "..", "--", "---", "–", "—", "N.A.", "N.A", "\\N"];
    let text = text.trim();
    let is_error_of_a_workbook = text.starts_with('#') && text.ends_with(['!', '?']);
    is_error_of_a_workbook
        || SPELLINGS.iter().chain(&MISSING_SPELLINGS).any(|spelling| spelling.eq_ignore_ascii_case(text))
}

/// Whether a cell may be meant as a number, a date or an amount.
fn is_like_number(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit())
}

/// `1 of 4` and `1 out of 4` as `1/4` would be written.
fn fraction_in_words(text: &str) -> Option<(&str, &str)> {
    let (score, highest) = text.split_once(" out of ").or_else(|| text.split_once(" of "))?;
    let is_number = |text: &str| text.trim().parse::<f64>().is_ok();
    (is_number(score) && is_number(highest)).then(|| (score.trim(), highest.trim()))
}

/// A cell that has a meaning: its score, or none if it says that there is none.
pub(crate) type KnownCell<'c> = (&'c str, Option<f64>);

/// What to do about cells that no metric understands; `known` are those of the same column that it does, and `numbers` a
/// few of its numbers.
pub(crate) fn unknown_cells_hint(unknown: &[String], known: &[KnownCell<'_>], numbers: &[f64]) -> String {
    let is_number = |(word, _): &KnownCell<'_>| word.trim().parse::<f64>().is_ok();
    let has_numbers = !numbers.is_empty() || known.iter().any(is_number);
    let reader = CellReader::new(&TableMapping::default());
    let reason = |text: &String| match reader.meaning(LeafRef::Str(text)) {
        CellMeaning::NoScore(reason) => Some(reason),
        _ => None,
    };
    if !unknown.is_empty() && unknown.iter().all(|text| reason(text) == Some(NoScore::Fraction)) {
        let highest = unknown.iter().filter_map(|text| text.rsplit('/').next().map(str::trim));
        let mut distinct: Vec<&str> = highest.collect();
        distinct.sort_unstable();
        distinct.dedup();
        return match distinct.as_slice() {
            [highest] => {
                let example = unknown.first().map_or("", |text| text.trim());
                format!("--scale {} reads {example} as a share", shell::word(highest))
            }
            _ => "write them as numbers of one scale, which --scale names".to_owned(),
        };
    }
    if !unknown.is_empty() && unknown.iter().all(|text| reason(text) == Some(NoScore::DecimalComma)) {
        if numbers.iter().any(|number| number.fract() != 0.0) {
            return "the column has decimal commas and decimal points: write all numbers in one way"
                .to_owned();
        }
        // `1,234` may be a thousand, and must not be read as one and a bit.
        let may_be_thousands = |text: &String| {
            let (whole, rest) = text.trim().split_once(',').unwrap_or_default();
            rest.len() == 3 && whole.trim_start_matches(['-', '+']) != "0"
        };
        return match unknown.iter().any(may_be_thousands) {
            true => {
                "if the comma is the decimal mark, add --decimal , and if not, write thousands without it"
            }
            false => "--decimal , reads them as numbers",
        }
        .to_owned();
    }
    if !unknown.is_empty() && unknown.iter().all(|text| is_like_missing(text)) {
        return format!("if there is no score, say so with {}", na_option(unknown, known));
    }
    let first = unknown.first().map_or("", |text| text.trim());
    if let Some((score, highest)) = fraction_in_words(first) {
        return format!(
            "write them as fractions, such as {score}/{highest} for {first:?}, and add --scale {highest}"
        );
    }
    if unknown.iter().any(|text| is_like_number(text)) {
        return "they are not understood as numbers: write plain ones, such as 1234.5".to_owned();
    }
    if has_numbers {
        let example = unknown.first().map_or("VALUE", |text| text.trim());
        return format!(
            "other cells are numbers: write numbers for these, too, or if there is no score, say so with {}",
            option("--na", example)
        );
    }
    let (mut correct, mut incorrect) = (Vec::new(), Vec::new());
    for (word, score) in known.iter().filter(|(word, _)| !unknown.iter().any(|text| text == word)) {
        match score {
            Some(1.0) => correct.push(*word),
            Some(0.0) => incorrect.push(*word),
            _ => {}
        }
    }
    let (skipped, words): (Vec<&String>, Vec<&String>) =
        unknown.iter().partition(|text| is_like_missing(text) || is_like_skipped(text));
    let has_verdicts = !correct.is_empty() || !incorrect.is_empty();
    let meaning = match words.as_slice() {
        [] => None,
        [a, b] if !has_verdicts => {
            let (right, wrong) = if is_negative(a) && !is_negative(b) { (b, a) } else { (a, b) };
            Some(format!("say which is right: {}", named(&[right.as_str()], &[wrong.as_str()])))
        }
        [only] if !has_verdicts => Some(format!(
            "say what it means: {} or {}",
            option("--correct", only),
            option("--incorrect", only)
        )),
        [only] if keep_their_meaning(&correct, &incorrect, only) => {
            Some(format!("if it counts as wrong, say so: {}", option("--incorrect", only.trim())))
        }
        [only] if correct.len() + incorrect.len() <= 8 => {
            incorrect.push(only);
            Some(format!("if it counts as wrong, say so for all cells: {}", named(&correct, &incorrect)))
        }
        _ => return "say what each means with --correct VALUE and --incorrect VALUE".to_owned(),
    };
    match meaning {
        None => format!("if there is no score, say so with {}", na_option(&skipped, known)),
        Some(meaning) if skipped.is_empty() => meaning,
        Some(meaning) => format!("{meaning} {}", na_option(&skipped, known)),
    }
}

/// Whether correct and incorrect cells are that if this word is the only one that is named.
fn keep_their_meaning(correct: &[&str], incorrect: &[&str], named: &str) -> bool {
    let mut mapping = TableMapping::default();
    mapping.incorrect = vec![named.to_owned()];
    let reader = CellReader::new(&mapping);
    let is = |cell: &&str, score| reader.meaning(LeafRef::Str(cell)) == CellMeaning::Word(score);
    correct.iter().all(|cell| is(cell, 1.0)) && incorrect.iter().all(|cell| is(cell, 0.0))
}

/// The option for cells that mean that there is no score. It replaces the usual spellings, so those that the column has
/// are named too.
fn na_option(missing: &[impl AsRef<str>], known: &[KnownCell<'_>]) -> String {
    let usual = known.iter().filter(|(_, score)| score.is_none()).map(|(word, _)| word.trim());
    let mut names: Vec<&str> = usual.chain(missing.iter().map(|text| text.as_ref().trim())).collect();
    names.retain(|name| !name.is_empty() && !name.contains(','));
    option("--na", &names.join(","))
}

/// Whether a word says that a sample was not scored.
fn is_like_skipped(word: &str) -> bool {
    const WORDS: [&str; 12] = [
        "skip",
        "skipped",
        "missing",
        "pending",
        "unscored",
        "ungraded",
        "not run",
        "not scored",
        "not graded",
        "not applicable",
        "not available",
        "ignored",
    ];
    WORDS.iter().any(|known| known.eq_ignore_ascii_case(word.trim()))
}

/// Whether a word says that something is not so.
fn is_negative(word: &str) -> bool {
    let word = word.trim().to_lowercase();
    let is_letter = matches!(word.as_str(), "f" | "n" | "w");
    let starts = [
        "no", "not", "in", "un", "non", "bad", "mis", "dis", "false", "fail", "wrong", "invalid", "reject",
        "lose", "loss",
    ];
    is_letter || starts.iter().any(|start| word.starts_with(start))
}

/// The same for a table that could not be written.
pub(crate) fn export_hint(error: &ExportError) -> Option<String> {
    match error {
        ExportError::Log(error) => log::hint(error),
        ExportError::UnknownScorer { nearest: Some(nearest), .. }
        | ExportError::UnknownColumn { nearest: Some(nearest), .. } => {
            Some(format!("did you mean `{nearest}`?"))
        }
        ExportError::TooManyColumns { .. } => Some(
            "export the logs one by one, or take the samples as they are: `log dump --samples`".to_owned(),
        ),
        error => Some(error.hint().to_owned()),
    }
}
