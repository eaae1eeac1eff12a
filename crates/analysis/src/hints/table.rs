//! Hints for errors of score tables, read and exported.

use std::io::ErrorKind;

use errorbar_core::LeafRef;
use errorbar_core::spec::nearest;
use errorbar_files::{is_url, machine_memory};
use errorbar_table::{
    CellMeaning, CellReader, GradeMeaning, MISSING_SPELLINGS, NoScore, NoScores, TableDoubt, TableError,
    TableErrorKind, TableMapping, WantedColumn, is_like_missing,
};

use crate::text;
use crate::text::Text;
use crate::text::{Opt, OptionUse};

/// What to do about a name that is neither that of a file nor of a log.
const NO_FILE: &str = "check the path; a log can be named by a handle, too: `latest`, @1";

/// What to do about it.
pub(crate) fn hint(error: &TableError) -> Text {
    match error.kind() {
        TableErrorKind::NoColumn { role: WantedColumn::Score, nearest: Some(nearest), .. } => {
            text!("did you mean {}?", Opt::ScoreColumn.set(nearest))
        }
        TableErrorKind::NoColumn { role: WantedColumn::Score, .. } => {
            text!("name the column that holds the scores with {ScoreColumn}")
        }
        TableErrorKind::Open(open)
            if open.kind() == ErrorKind::NotFound
                && error.path().extension().is_none()
                && !is_url(error.path()) =>
        {
            NO_FILE.into()
        }
        TableErrorKind::NoColumn { role: WantedColumn::Id, wanted, found, .. }
            if near_id(wanted, found).is_some() =>
        {
            let nearest = near_id(wanted, found).unwrap_or_default();
            text!("did you mean {}?", Opt::IdColumn.set(nearest))
        }
        TableErrorKind::NoColumn { role: WantedColumn::Id, .. } => {
            text!(
                "name the column that identifies the samples with {IdColumn}; it may be repeated, and \
                 of each table the first that it has is taken"
            )
        }
        TableErrorKind::EpochsWithoutIds { .. } => {
            text!(
                "name the column that identifies the samples with {IdColumn}, or remove that of the \
                 epochs if every row is a sample"
            )
        }
        TableErrorKind::NoColumn { role: WantedColumn::Epoch, nearest: Some(nearest), .. } => {
            text!("did you mean {}?", Opt::EpochColumn.set(nearest))
        }
        TableErrorKind::NoColumn { role: WantedColumn::Epoch, .. } => {
            text!("name the column that numbers the epochs with {EpochColumn}")
        }
        TableErrorKind::AmbiguousColumn { role: WantedColumn::Id, candidates } => {
            choice(Opt::IdColumn, candidates)
        }
        TableErrorKind::AmbiguousColumn { role: WantedColumn::Epoch, candidates } => {
            choice(Opt::EpochColumn, candidates)
        }
        TableErrorKind::AmbiguousColumn { candidates, .. } => {
            let all = candidates.iter().take(5).map(|name| Opt::ScoreColumn.set(name));
            let choice = choice(Opt::ScoreColumn, candidates);
            text!("{}, or several as separate scorers: {}", choice, Text::together(all))
        }
        TableErrorKind::Doubt(TableDoubt::NoHeader { column }) => {
            let option = Opt::ScoreColumn.set(column);
            text!("add a first line such as id,score; if it is a name, add {}", option)
        }
        TableErrorKind::Doubt(TableDoubt::Answers { column, .. }) => {
            let option = Opt::ScoreColumn.set(column);
            text!("if it holds scores, add {}; else name the column that does so", option)
        }
        TableErrorKind::Doubt(TableDoubt::Confidence { column, answers: [a, b] }) => {
            let option = Opt::ScoreColumn.set(column);
            text!(
                "if it holds scores, add {}; else add a column that has 1 where `{}` and `{}` are equal and 0 elsewhere, or \
                 name the one that holds the scores",
                option,
                a,
                b
            )
        }
        TableErrorKind::Doubt(TableDoubt::PooledEpochs { column, epoch, .. }) => {
            text!(
                "add {} for results of each; if they are epochs all the same, add {}",
                Opt::By.set(column),
                Opt::EpochColumn.set(epoch)
            )
        }
        TableErrorKind::Doubt(TableDoubt::Figures { .. }) => {
            text!(
                "give the table with a row per sample; if this is one, name the column that \
                 identifies the samples with {IdColumn}"
            )
        }
        TableErrorKind::UnevenRepeats { .. } => {
            text!(
                "{IdColumn=question} counts examples with the same question as its epochs, \
                 {IdColumn=example} every example as a sample"
            )
        }
        TableErrorKind::SummaryRow(_) => {
            text!(
                "remove the row; if it is a sample, name the column that identifies the samples with \
                 {IdColumn}"
            )
        }
        TableErrorKind::UnfitScoreColumns { columns, cells: Some(cells) } => {
            if let Some(grades) = &cells.grades {
                return letter_grades_hint(grades);
            }
            let unknown: Vec<String> = cells.values.iter().map(|(value, _)| value.clone()).collect();
            let words: Vec<KnownCell<'_>> =
                cells.words.iter().map(|word| (word.word.as_str(), word.score)).collect();
            let meaning = unknown_cells_hint(&unknown, &words, &cells.numbers);
            let name = columns.first().map_or("", |(name, _)| name.as_str());
            let option = Opt::ScoreColumn.set(name);
            let skips = Text::together([option, Opt::Unconvertible.set("missing")]);
            text!("{}; or {} skips them", meaning, skips)
        }
        TableErrorKind::UnfitScoreColumns { .. } => {
            text!(
                "name the column that holds the scores with {ScoreColumn}; {Correct} and {Incorrect}, \
                 or {Scale}, say what its cells mean"
            )
        }
        TableErrorKind::DuplicateRow { .. } => repeated_hint(error),
        TableErrorKind::NoColumn { nearest: Some(nearest), .. } => {
            text!("did you mean {}?", Opt::By.set(nearest))
        }
        TableErrorKind::NotASplitColumn(name) if name == "scorer" => {
            text!(
                "every scorer has results of its own without it; `compare` with {ComparedScorers=A B} compares two"
            )
        }
        TableErrorKind::NoColumn { .. } | TableErrorKind::NotASplitColumn(_) => {
            text!("name the column whose values are to be compared with {By}")
        }
        TableErrorKind::NoScores { found, .. } => found.first().map(no_score_hint).unwrap_or_default(),
        TableErrorKind::TooManyScorers { .. } => {
            text!("if the column is no scorer but metadata, rename it or use {ScoreColumn}")
        }
        TableErrorKind::LineTooLong { in_quote: true, .. } => {
            text!("look for a quote that is never closed, or allow longer lines with {MaxLine}")
        }
        TableErrorKind::LineTooLong { .. } => {
            text!("check that the file is what its name says, or allow longer lines with {MaxLine}")
        }
        TableErrorKind::PageTooLarge { .. } => {
            text!("write the table with smaller pages, or allow larger ones with {MaxLine}")
        }
        TableErrorKind::FooterTooLarge { .. } => {
            text!("write the table with fewer row groups, or allow a larger footer with {MaxLine}")
        }
        TableErrorKind::TooManyColumns { .. } => {
            text!("remove columns that no metric needs, or allow more with {MaxColumns}")
        }
        TableErrorKind::AmbiguousDelimiter { candidates } => {
            let option = |delimiter: &char| match delimiter {
                '\t' => Opt::Delimiter.set("tab"),
                delimiter => Opt::Delimiter.set(*delimiter),
            };
            Text::join(candidates.iter().map(|delimiter| option(delimiter).into()), " or ")
        }
        TableErrorKind::UnknownFormat { .. } => {
            text!("if it is a table, say which kind with {InputFormat}: csv, tsv, jsonl, json or parquet")
        }
        TableErrorKind::TooMuchMemory { limit }
        | TableErrorKind::TooDense { limit }
        | TableErrorKind::InputTooLarge { limit } => {
            text!("check that the file is what its name says, or allow more with {}", more_memory(*limit))
        }
        _ => error.hint().as_ref().into(),
    }
}

/// The column whose name is closest to the one of ids that was named; `id` is looked for without being named.
fn near_id<'f>(wanted: &[String], found: &'f [String]) -> Option<&'f str> {
    let name = wanted.first()?;
    nearest(name, found.iter().map(String::as_str)).filter(|_| name != "id")
}

/// The option that allows twice this number of bytes of memory, beside what the machine has.
pub(crate) fn more_memory(limit: u64) -> Text {
    let proposed = (limit.saturating_mul(2) >> 30).max(1);
    let machine = machine_memory().map(|bytes| format!(" (this machine has {} GB)", bytes >> 30));
    text!("{}{}", Opt::MaxMemory.set(format!("{proposed}G")), machine.unwrap_or_default())
}

/// How to choose one of several columns.
fn choice(option: Opt, candidates: &[String]) -> Text {
    let options = candidates.iter().take(5).map(|candidate| option.set(candidate).into());
    text!("choose one with {}", Text::join(options, " or "))
}

/// What to do about rows that repeat a sample and epoch.
fn repeated_hint(error: &TableError) -> Text {
    if let Some(id) = error.identified_by() {
        return text!("`{}` tells the rows apart: add {}", id, Opt::IdColumn.set(id));
    }
    match error.told_apart_by() {
        Some((column, true)) => text!(
            "`{}` tells the rows apart: if it numbers the runs of a sample, add {}; if not, add {}",
            column,
            Opt::EpochColumn.set(column),
            Opt::By.set(column)
        ),
        Some((column, false)) => {
            text!("`{}` tells the rows apart: add {} for results of each", column, Opt::By.set(column))
        }
        None => text!("{}, or name the columns with {IdColumn} and {EpochColumn}", error.hint().as_ref()),
    }
}

/// What to do about cells that only the mapping of a table makes no scores.
fn no_score_hint(found: &NoScores) -> Text {
    let first = found.values.first().map_or("", |(value, _)| value.as_str());
    match found.reason {
        NoScore::Unnamed => text!(
            "name each as {} or {}; or {Unconvertible=missing} skips them, {Unconvertible=zero} \
             counts them as 0",
            Opt::Correct.set(first),
            Opt::Incorrect.set(first)
        ),
        NoScore::OffScale => {
            text!(
                "check {Scale}; or {Unconvertible=missing} skips them, {Unconvertible=zero} counts \
                 them as 0"
            )
        }
        NoScore::DecimalPoint if found.has_commas => {
            "the column has decimal commas and decimal points: write all numbers in one way".into()
        }
        NoScore::DecimalPoint => {
            text!(
                "write all numbers with a comma, or all with a point; {Decimal=.} says that a point \
                 is the decimal mark"
            )
        }
        NoScore::SchoolGrade => found.grades.as_ref().map(letter_grades_hint).unwrap_or_default(),
        _ => text!(
            "write all scores as percentages, or all as numbers; for numbers from 0 to 100 there is \
             {Scale=100}"
        ),
    }
}

/// What to do about ambiguous letter grades.
fn letter_grades_hint(grades: &GradeMeaning) -> Text {
    let numbers = |examples: &str| Text::from(format!("write a number for each of them, such as {examples}"));
    let (correct, incorrect) = (Opt::Correct.set("VALUE"), Opt::Incorrect.set("VALUE"));
    let proposal = match grades {
        GradeMeaning::Named(proposal) => proposal,
        GradeMeaning::Halves => return numbers("1, 0.5 and 0"),
        GradeMeaning::BesideNumbers => return "other cells are numbers: write numbers for these, too".into(),
        GradeMeaning::BesideWords => {
            return text!(
                "say what each means with {} and {}, or {Na=VALUE} if there is no score",
                correct,
                incorrect
            );
        }
        GradeMeaning::Nested => {
            return text!(
                "say what each means with {} and {}, or write the keys that hold scores as columns of \
                 their own, and name one with {ScoreColumn}",
                correct,
                incorrect
            );
        }
        _ => return numbers("1 and 0"),
    };
    let correct: Vec<&str> = proposal.correct.iter().map(String::as_str).collect();
    let incorrect: Vec<&str> = proposal.incorrect.iter().map(String::as_str).collect();
    let mut options = named(&correct, &incorrect);
    if !proposal.missing.is_empty() {
        options = options.with(Opt::Na.set_all(&proposal.missing));
    }
    match (correct.as_slice(), incorrect.as_slice()) {
        (["P"], ["F"]) => text!("P alone counts as 0.5; if it is a pass, say so: {}", options),
        _ => text!("say what each counts as, such as {}", options),
    }
}

/// The options that name correct and incorrect cells.
fn named(correct: &[&str], incorrect: &[&str]) -> Text {
    let used = |option: Opt, cells: &[&str]| {
        (!cells.is_empty()).then(|| option.set_all(cells.iter().map(|cell| cell.trim())))
    };
    Text::together(used(Opt::Correct, correct).into_iter().chain(used(Opt::Incorrect, incorrect)))
}

/// What to do about lists.
pub(crate) const LISTS: &str =
    "give a metric over lists, such as krippendorff_alpha, or write a row for each score";

/// What to do about maps.
pub(crate) fn map_hint() -> Text {
    text!("give metrics by key, such as {}", Opt::Metric.set("{\"*\": [mean(), stderr()]}"))
}

/// The same where only the values under some keys are scores. A reducer of numbers would read all of them, so it takes a
/// command that can do without.
pub(crate) fn keys_hint(keys: &[String], has_no_reduce: bool) -> Text {
    if !has_no_reduce {
        let keys: Vec<String> = keys.iter().take(5).map(|key| format!("`{key}`")).collect();
        return text!(
            "write the keys that hold scores ({}) as columns of their own, and name one with \
             {ScoreColumn}",
            keys.join(", ")
        );
    }
    let metrics: Vec<String> =
        keys.iter().take(5).map(|key| format!("{key:?}: [mean(), stderr()]")).collect();
    let metrics = Opt::Metric.set(format!("{{{}}}", metrics.join(", ")));
    let options = Text::together([Opt::NoReduce.into(), metrics]);
    text!("give metrics to the keys that hold scores: {}", options)
}

/// Whether a cell looks as if it meant that there is no score.
fn is_no_score(text: &str) -> bool {
    let text = text.trim();
    let is_error_of_a_workbook = text.starts_with('#') && text.ends_with(['!', '?']);
    is_error_of_a_workbook
        || text == "\\N"
        || is_like_missing(text)
        || MISSING_SPELLINGS.iter().any(|spelling| spelling.eq_ignore_ascii_case(text))
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
pub(crate) fn unknown_cells_hint(unknown: &[String], known: &[KnownCell<'_>], numbers: &[f64]) -> Text {
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
                text!("{} reads {} as a share", Opt::Scale.set(*highest), example)
            }
            _ => text!("write them as numbers of one scale, which {Scale} names"),
        };
    }
    if !unknown.is_empty() && unknown.iter().all(|text| reason(text) == Some(NoScore::DecimalComma)) {
        if numbers.iter().any(|number| number.fract() != 0.0) {
            return "the column has decimal commas and decimal points: write all numbers in one way".into();
        }
        // `1,234` may be a thousand, and must not be read as one and a bit.
        let may_be_thousands = |text: &String| {
            let (whole, rest) = text.trim().split_once(',').unwrap_or_default();
            rest.len() == 3 && whole.trim_start_matches(['-', '+']) != "0"
        };
        return match unknown.iter().any(may_be_thousands) {
            true => {
                text!(
                    "if the comma is the decimal mark, add {Decimal=,} and if not, write thousands \
                     without it"
                )
            }
            false => text!("{Decimal=,} reads them as numbers"),
        };
    }
    if !unknown.is_empty() && unknown.iter().all(|text| is_no_score(text)) {
        return text!("if there is no score, say so with {}", na_option(unknown, known));
    }
    let first = unknown.first().map_or("", |text| text.trim());
    if let Some((score, highest)) = fraction_in_words(first) {
        return text!(
            "write them as fractions, such as {}/{} for {}, and add {}",
            score,
            highest,
            format!("{first:?}"),
            Opt::Scale.set(highest)
        );
    }
    if unknown.iter().any(|text| is_like_number(text)) {
        return "they are not understood as numbers: write plain ones, such as 1234.5".into();
    }
    if has_numbers {
        let example = unknown.first().map_or("VALUE", |text| text.trim());
        return text!(
            "other cells are numbers: write numbers for these, too, or if there is no score, say so with {}",
            Opt::Na.set(example)
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
    let (skipped, words): (Vec<&String>, Vec<&String>) = unknown.iter().partition(|text| is_no_score(text));
    let has_verdicts = !correct.is_empty() || !incorrect.is_empty();
    let meaning = match words.as_slice() {
        [] => None,
        [a, b] if !has_verdicts => {
            let (right, wrong) = if is_negative(a) && !is_negative(b) { (b, a) } else { (a, b) };
            Some(text!("say which is right: {}", named(&[right.as_str()], &[wrong.as_str()])))
        }
        [only] if !has_verdicts => {
            let (correct, incorrect) = (Opt::Correct.set(*only), Opt::Incorrect.set(*only));
            Some(text!("say what it means: {} or {}", correct, incorrect))
        }
        [only] if keep_their_meaning(&correct, &incorrect, only) => {
            Some(text!("if it counts as wrong, say so: {}", Opt::Incorrect.set(only.trim())))
        }
        [only] if correct.len() + incorrect.len() <= 8 => {
            incorrect.push(only);
            Some(text!("if it counts as wrong, say so for all cells: {}", named(&correct, &incorrect)))
        }
        _ => {
            return text!("say what each means with {Correct=VALUE} and {Incorrect=VALUE}");
        }
    };
    match meaning {
        None => text!("if there is no score, say so with {}", na_option(&skipped, known)),
        Some(meaning) if skipped.is_empty() => meaning,
        Some(meaning) => meaning.with(na_option(&skipped, known)),
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
fn na_option(missing: &[impl AsRef<str>], known: &[KnownCell<'_>]) -> OptionUse {
    let usual = known.iter().filter(|(_, score)| score.is_none()).map(|(word, _)| word.trim());
    let mut names: Vec<&str> = usual.chain(missing.iter().map(|text| text.as_ref().trim())).collect();
    names.retain(|name| !name.is_empty() && !name.contains(','));
    Opt::Na.set_all(names)
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
