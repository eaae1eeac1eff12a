//! What the cells of score columns mean.
//!
//! Readers put cells into columns as they are. What `PASS`, `28%`, `NA` or `0,5` mean is decided here, once for each
//! distinct string of a scorer. Eval logs are not touched by any of this: there values mean what they mean to the
//! reference.

mod grades;

use std::collections::BTreeSet;

use errorbar_core::engine::{Recoded, RecodedKinds};
use errorbar_core::{Conversion, IndexMap, Leaf, LeafRef, ScoreColumns, Value};

pub use self::grades::{GradeMeaning, GradeProposal, is_like_missing};

use self::grades::GradedScorer;
use super::ScoreTable;
use super::location::TableLocation;
use super::mapping::{DecimalMark, InputFormat, ScoreScale, TableMapping};

/// The strings that mean that there is no score, unless a mapping names others; upper and lower case are the same. An
/// empty cell always means that, and `NaN` an answer that could not be scored.
pub const MISSING_SPELLINGS: [&str; 8] = ["NA", "N/A", "#N/A", "<NA>", "None", "null", "nil", "-"];

/// Words that count as 1, in any case; `yes` and `true`, which metrics understand themselves, are among them.
pub(super) const CORRECT: &str = "pass, passed, correct, right, yes, y, true, success, successful, succeeded, solved, resolved, ✓, ✔, \
    ✔\u{fe0f}, ✅, ☑";

/// Words that count as 0, in any case. `N` does too, as the grade for no answer.
pub(super) const INCORRECT: &str = "fail, failed, incorrect, wrong, no, n, false, failure, unsuccessful, unsolved, unresolved, \
    not correct, ✗, ✘, ✕, ✖, ✖\u{fe0f}, ❌";

/// What a cell means.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum CellMeaning {
    /// This score: a number that was written as one, or a grade that metrics understand.
    Score(f64),
    /// This score, which metrics would not understand.
    Word(f64),
    /// There is no score.
    Missing,
    /// No score, and why.
    NoScore(NoScore),
}

/// Why a cell is no score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NoScore {
    /// It is a string without a meaning.
    Word,
    /// It is neither among the correct nor among the incorrect ones, which are named.
    Unnamed,
    /// It is a fraction such as `7/10`, and no scale is given.
    Fraction,
    /// It is a number with a decimal comma, where numbers have a point.
    DecimalComma,
    /// It is a number with a decimal point, where numbers have a comma.
    DecimalPoint,
    /// It is not on the scale that is given.
    OffScale,
    /// It is a percentage, and others are plain numbers.
    MixedPercent,
    /// It is a letter that is not named among grades as schools give them (A, B, D, E, F), where `C` need not mean
    /// correct, or among grades that are named.
    SchoolGrade,
}

impl NoScore {
    /// Whether metrics would take it for a score all the same.
    pub(super) fn is_convertible(self) -> bool {
        use NoScore::{DecimalPoint, MixedPercent, OffScale, SchoolGrade, Unnamed};
        matches!(self, Unnamed | DecimalPoint | OffScale | MixedPercent | SchoolGrade)
    }
}

/// Cells of a scorer that are no scores.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NoScores {
    /// The scorer.
    pub scorer: String,
    /// Why they are none.
    pub reason: NoScore,
    /// The distinct ones with their numbers, the most frequent first.
    pub values: Vec<(String, usize)>,
    /// Why, in a few words.
    pub why: String,
    /// Where the first one is, and its sample.
    pub location: Option<TableLocation>,
    /// The sample of the first one.
    pub sample: Option<String>,
    /// Whether cells of the scorer have commas.
    pub has_commas: bool,
    /// What letter grades are likely to mean, if that they are such is the reason.
    pub grades: Option<GradeMeaning>,
}

/// The cells of a column that has a name of scores, in the first rows.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct UnfitCells {
    /// The distinct ones that are no scores, with their numbers, the most frequent first.
    pub values: Vec<(String, usize)>,
    /// The strings and booleans among the others, with their meaning.
    pub words: Vec<ScoreWord>,
    /// A few numbers among the others.
    pub numbers: Vec<f64>,
    /// What the letters among them are likely to mean, if they are ambiguous grades.
    pub grades: Option<Box<GradeMeaning>>,
}

/// A cell that was given a meaning.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ScoreWord {
    /// The scorer.
    pub scorer: String,
    /// The cell as it is written.
    pub word: String,
    /// What it means; none if the score is missing.
    pub score: Option<f64>,
}

/// What becomes of cells that are no scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoScorePolicy {
    /// The table is refused.
    #[default]
    Refuse,
    /// They count as 0.
    Zero,
    /// They are missing.
    Missing,
}

/// What reads the cells of score columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CellUse {
    /// Metrics of numbers, which know the usual words. A string without a meaning is no score.
    #[default]
    Numbers,
    /// Metrics that may convert strings by themselves: those without a meaning are left to them.
    Converted,
    /// The same, and metrics that read labels, which see the cells as they are written.
    LabelsToo,
    /// Metrics that read labels, and no others: no cell is given a meaning.
    Labels,
}

/// How cells are read.
#[derive(Clone, Debug, Default)]
pub struct CellReader {
    na: Option<Vec<String>>,
    correct: Vec<String>,
    incorrect: Vec<String>,
    scale: Option<ScoreScale>,
    decimal: DecimalMark,
    /// Whether a number with a point is an error: where all numbers are written, and have commas.
    refuses_points: bool,
    conversion: Conversion,
}

impl CellReader {
    /// Reads cells as a mapping says.
    pub fn new(mapping: &TableMapping) -> Self {
        let trimmed = |names: &[String]| names.iter().map(|name| name.trim().to_owned()).collect();
        CellReader {
            na: mapping.na.as_deref().map(trimmed),
            correct: trimmed(&mapping.correct),
            incorrect: trimmed(&mapping.incorrect),
            scale: mapping.scale,
            decimal: mapping.decimal.unwrap_or_default(),
            refuses_points: mapping.decimal == Some(DecimalMark::Comma)
                && matches!(mapping.format, None | Some(InputFormat::Csv | InputFormat::Tsv)),
            conversion: Conversion::default(),
        }
    }

    /// What a scalar means.
    pub fn meaning(&self, leaf: LeafRef<'_>) -> CellMeaning {
        if let LeafRef::Unscored | LeafRef::Null = leaf {
            return CellMeaning::NoScore(NoScore::Word);
        }
        // What is named counts as that, even `None`; an empty cell cannot be.
        if self.has_named() && !is_blank(leaf) {
            return match (is_among(leaf, &self.correct), is_among(leaf, &self.incorrect)) {
                (true, _) => CellMeaning::Word(1.0),
                (_, true) => CellMeaning::Word(0.0),
                _ if self.is_missing(leaf) => CellMeaning::Missing,
                _ => match verdict(leaf).filter(|_| !self.names_verdicts()) {
                    Some(value) => CellMeaning::Word(f64::from(value)),
                    None => CellMeaning::NoScore(NoScore::Unnamed),
                },
            };
        }
        if self.is_missing(leaf) {
            return CellMeaning::Missing;
        }
        match (self.scale, leaf) {
            // Written with a point, so a comma is no mark of decimals, or this was one of thousands.
            (_, LeafRef::Float(float)) if self.refuses_points && float.is_finite() => {
                CellMeaning::NoScore(NoScore::DecimalPoint)
            }
            (Some(scale), leaf) => self.scaled(scale, leaf),
            (None, LeafRef::Str(text)) => self.string(text),
            (None, leaf) => CellMeaning::Score(self.conversion.convert_leaf(leaf).value),
        }
    }

    fn is_missing(&self, leaf: LeafRef<'_>) -> bool {
        match (&self.na, leaf) {
            (_, leaf) if is_blank(leaf) => true,
            (None, LeafRef::Str(text)) => {
                MISSING_SPELLINGS.iter().any(|spelling| text.trim().eq_ignore_ascii_case(spelling))
            }
            (None, _) => false,
            (Some(names), leaf) => is_among(leaf, names),
        }
    }

    /// A score on a scale: a number, a fraction of the highest score, or a percentage of 100.
    fn scaled(&self, scale: ScoreScale, leaf: LeafRef<'_>) -> CellMeaning {
        let number = match leaf {
            LeafRef::Int(int) => Some(int as f64),
            LeafRef::Float(float) => Some(float),
            LeafRef::Str(text) => self.on_scale(scale, text.trim()),
            _ => None,
        };
        let has_point = |text: &str| text.contains('.') && point_number(text.trim()).is_some();
        match (number.and_then(|number| scale.share(number)), leaf) {
            (Some(share), _) => CellMeaning::Word(share),
            (None, LeafRef::Str(text)) if self.refuses_points && has_point(text) => {
                CellMeaning::NoScore(NoScore::DecimalPoint)
            }
            (None, _) => CellMeaning::NoScore(NoScore::OffScale),
        }
    }

    fn on_scale(&self, scale: ScoreScale, text: &str) -> Option<f64> {
        if let Some((score, highest)) = text.split_once('/') {
            return self.number(score.trim()).filter(|_| self.number(highest.trim()) == Some(scale.high));
        }
        match percentage(text) {
            Some(percent) => self.number(percent).filter(|_| (scale.low, scale.high) == (0.0, 100.0)),
            None => self.number(text),
        }
    }

    fn string(&self, text: &str) -> CellMeaning {
        let trimmed = text.trim();
        let converted = self.conversion.convert_leaf(LeafRef::Str(trimmed));
        // Blanks around it are no reason to count it as 0.
        let known = |score| {
            if trimmed.len() == text.len() { CellMeaning::Score(score) } else { CellMeaning::Word(score) }
        };
        if converted.convertible && !(self.refuses_points && trimmed.contains('.')) {
            return known(converted.value);
        }
        if is_word(trimmed, CORRECT) {
            return CellMeaning::Word(1.0);
        }
        if is_word(trimmed, INCORRECT) {
            return CellMeaning::Word(0.0);
        }
        if let Some(percent) = percentage(trimmed).and_then(|percent| self.number(percent)) {
            return CellMeaning::Word(percent / 100.0);
        }
        if let Some(number) = self.number(trimmed) {
            return CellMeaning::Word(number);
        }
        CellMeaning::NoScore(match trimmed {
            text if is_fraction(text) => NoScore::Fraction,
            text if comma_number(text).is_some() => NoScore::DecimalComma,
            _ if converted.convertible => NoScore::DecimalPoint,
            _ => NoScore::Word,
        })
    }

    /// Why cells are no scores, in a few words.
    fn why(&self, reason: NoScore) -> String {
        let why = match (reason, self.scale) {
            (NoScore::OffScale, Some(scale)) => {
                return format!("not on the scale from {} to {}", scale.low, scale.high);
            }
            (NoScore::Unnamed, _) => "named neither correct nor incorrect",
            (NoScore::DecimalPoint, _) => "written with a point, where the decimal mark is a comma",
            (NoScore::SchoolGrade, _) => "letter grades, whose meaning is not clear",
            (NoScore::MixedPercent, _) => "in percent, and others are plain numbers",
            _ => "no scores",
        };
        why.to_owned()
    }

    /// A number, with the mark of decimals that numbers have here.
    fn number(&self, text: &str) -> Option<f64> {
        match self.decimal {
            DecimalMark::Comma if text.contains('.') => None,
            DecimalMark::Comma => comma_number(text).or_else(|| point_number(text)),
            DecimalMark::Point => point_number(text),
        }
    }

    /// Whether numbers may mean something else than themselves.
    fn reads_numbers(&self) -> bool {
        self.has_named() || self.scale.is_some() || self.na.is_some() || self.refuses_points
    }

    /// Whether it is named what is correct or incorrect.
    fn has_named(&self) -> bool {
        !self.correct.is_empty() || !self.incorrect.is_empty()
    }

    /// Whether a cell is one of those that are named, or none are.
    pub(super) fn may_name(&self, leaf: LeafRef<'_>) -> bool {
        !self.has_named() || is_among(leaf, &self.correct) || is_among(leaf, &self.incorrect)
    }

    /// Whether a word such as `true` or `fail` is named; if not, all mean what they say, whatever else is named.
    fn names_verdicts(&self) -> bool {
        self.correct.iter().chain(&self.incorrect).any(|name| verdict(LeafRef::Str(name)).is_some())
    }

    fn is_percentage(&self, leaf: LeafRef<'_>) -> bool {
        let LeafRef::Str(text) = leaf else { return false };
        percentage(text.trim()).is_some_and(|percent| self.number(percent).is_some())
    }

    /// Whether it is a number that is not written as a percentage. A zero is one either way.
    fn is_plain_number(&self, leaf: LeafRef<'_>) -> bool {
        match leaf {
            LeafRef::Int(int) => int != 0,
            LeafRef::Float(float) => float != 0.0,
            LeafRef::Str(text) => self.number(text.trim()).is_some_and(|number| number != 0.0),
            _ => false,
        }
    }
}

/// What a boolean, or a word such as `yes`, says of an answer; a letter may be a grade.
fn verdict(leaf: LeafRef<'_>) -> Option<bool> {
    let text = match leaf {
        LeafRef::Bool(value) => return Some(value),
        LeafRef::Str(text) => text.trim(),
        _ => return None,
    };
    let is_one_of = |words: &str| text.len() > 1 && is_word(text, words);
    is_one_of(CORRECT).then_some(true).or_else(|| is_one_of(INCORRECT).then_some(false))
}

/// Whether it is an empty cell.
fn is_blank(leaf: LeafRef<'_>) -> bool {
    matches!(leaf, LeafRef::Str(text) if text.trim().is_empty())
}

/// A finite number with a point.
fn point_number(text: &str) -> Option<f64> {
    let starts = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'));
    text.parse::<f64>().ok().filter(|number| starts && number.is_finite())
}

/// A number such as `0,5`: one comma between digits.
fn comma_number(text: &str) -> Option<f64> {
    let (integer, fraction) = text.split_once(',')?;
    let digits = integer.strip_prefix(['-', '+']).unwrap_or(integer);
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (are_digits(digits) && are_digits(fraction)).then(|| format!("{integer}.{fraction}").parse().ok())?
}

/// What is before the sign of a percentage.
fn percentage(text: &str) -> Option<&str> {
    text.strip_suffix('%').map(str::trim_end)
}

/// Whether it is two numbers with a slash between them.
fn is_fraction(text: &str) -> bool {
    let is_number = |text: &str| point_number(text.trim()).or_else(|| comma_number(text.trim())).is_some();
    text.split_once('/').is_some_and(|(score, highest)| is_number(score) && is_number(highest))
}

/// Whether it is one of these words, in any case.
fn is_word(text: &str, words: &str) -> bool {
    words.split(", ").any(|word| word.eq_ignore_ascii_case(text))
}

/// Whether a cell is one of those named: strings as they are but for blanks around them, numbers by their value,
/// booleans in any case.
fn is_among(leaf: LeafRef<'_>, names: &[String]) -> bool {
    let number = match leaf {
        LeafRef::Str(text) => return names.iter().any(|name| name == text.trim()),
        LeafRef::Bool(value) => {
            return names.iter().any(|name| name.eq_ignore_ascii_case(if value { "true" } else { "false" }));
        }
        LeafRef::Int(int) => int as f64,
        LeafRef::Float(float) => float,
        LeafRef::Null | LeafRef::Unscored => return false,
    };
    names.iter().any(|name| named_number(name) == Some(number))
}

/// The number that a name is, which may be infinite.
fn named_number(name: &str) -> Option<f64> {
    let infinite = || name.parse().ok().filter(|number: &f64| number.is_infinite());
    point_number(name).or_else(|| comma_number(name)).or_else(infinite)
}

/// Whether two names are of the same cells.
pub(super) fn is_same_cell(a: &str, b: &str) -> bool {
    let (a, b) = (a.trim(), b.trim());
    let is_boolean = is_word(a, "true, false");
    a == b
        || is_boolean && a.eq_ignore_ascii_case(b)
        || named_number(a).is_some_and(|number| named_number(b) == Some(number))
}

/// How many distinct cells are looked at for a message.
const DISTINCT: usize = 10_000;

/// Gives the cells of the score columns of a file their meaning. Percentages in one table beside plain numbers in another are no
/// scores. Returns the cells that are refused, of the first table that has some; then no table is changed.
pub(super) fn give_meaning(tables: &mut [ScoreTable], policy: NoScorePolicy, used: CellUse) -> Vec<NoScores> {
    if used == CellUse::Labels {
        tables.iter_mut().for_each(|table| table.columns.keep_labels());
        return Vec::new();
    }
    let Some(cells) = tables.first().map(|table| CellReader::new(&table.mapping)) else { return Vec::new() };
    let all: Vec<&ScoreColumns> = tables.iter().map(|table| &table.columns).collect();
    let is_refused = policy == NoScorePolicy::Refuse;
    // Letters within lists and maps are reported by whatever reads them; a policy would hide them from it.
    let (mixed, mut graded) = (mixed_percents(&all, &cells), cells.graded_scorers(&all, !is_refused));
    if policy == NoScorePolicy::Zero && !cells.correct.is_empty() {
        // Those that are correct are named, and no others are.
        graded.clear();
    }
    // Scorers with strings that nothing understands.
    let has_unknown = |scorer: &&str| all.iter().any(|columns| has_unknown(columns, scorer, &cells));
    let unknown: BTreeSet<&str> = match used {
        CellUse::Numbers => {
            all.iter().flat_map(|columns| columns.scorer_names()).filter(has_unknown).collect()
        }
        _ => BTreeSet::new(),
    };
    let may_be_refused = cells.reads_numbers() || !mixed.is_empty() || !unknown.is_empty();
    if !graded.is_empty() || is_refused && may_be_refused {
        // No policy makes grades of schools scores.
        let is_wanted = |scorer: &str, why: NoScore| {
            why == NoScore::SchoolGrade || is_refused && (why.is_convertible() || unknown.contains(scorer))
        };
        let mut found = tables.iter().map(|table| no_scores(table, &cells, (&mixed, &graded), is_wanted));
        if let Some(found) = found.find(|found| !found.is_empty()) {
            return found;
        }
    }
    tables.iter_mut().for_each(|table| recode(table, &cells, &mixed, policy, used));
    Vec::new()
}

/// Whether strings of a scorer, those within lists and maps aside, have no meaning.
fn has_unknown(columns: &ScoreColumns, scorer: &str, cells: &CellReader) -> bool {
    let is_unknown = |text: &str| matches!(cells.meaning(LeafRef::Str(text)), CellMeaning::NoScore(_));
    columns.distinct_strings(scorer).any(is_unknown)
}

fn recode(
    table: &mut ScoreTable,
    cells: &CellReader,
    mixed: &[MixedPercents],
    policy: NoScorePolicy,
    used: CellUse,
) {
    let kinds = if cells.reads_numbers() { RecodedKinds::All } else { RecodedKinds::Strings };
    let excluded = || match policy {
        NoScorePolicy::Refuse => Recoded::Same,
        NoScorePolicy::Zero => Recoded::Value(Leaf::Int(0)),
        NoScorePolicy::Missing => Recoded::Missing,
    };
    let recode = |leaf: LeafRef<'_>| match cells.meaning(leaf) {
        CellMeaning::Word(score) => Recoded::Value(as_leaf(score)),
        CellMeaning::Missing => Recoded::Missing,
        CellMeaning::NoScore(reason) if reason.is_convertible() || used == CellUse::Numbers => excluded(),
        CellMeaning::Score(_) | CellMeaning::NoScore(_) => Recoded::Same,
    };
    table.words = words(&table.columns, cells);
    if used == CellUse::LabelsToo {
        table.columns.keep_labels();
    }
    // Before percentages become shares, which are numbers like others.
    for MixedPercents { scorer, key: mixed_key } in mixed {
        let recode = |key: Option<&str>, leaf: LeafRef<'_>| match key == mixed_key.as_deref() {
            true if cells.is_percentage(leaf) => excluded(),
            _ => Recoded::Same,
        };
        table.columns.recode_scorer(scorer, RecodedKinds::Strings, recode);
    }
    table.columns.recode_scores(kinds, recode);
}

/// The strings that have a meaning that metrics do not know, a few of each scorer.
fn words(columns: &ScoreColumns, cells: &CellReader) -> Vec<ScoreWord> {
    const MOST: usize = 50;
    let of_scorer = |scorer: &str| {
        let word = |text: &str| {
            let score = match cells.meaning(LeafRef::Str(text)) {
                CellMeaning::Word(score) | CellMeaning::Score(score) => Some(score),
                CellMeaning::Missing => None,
                CellMeaning::NoScore(_) => return None,
            };
            Some(ScoreWord { scorer: scorer.to_owned(), word: text.to_owned(), score })
        };
        columns.distinct_strings(scorer).filter_map(word).take(MOST).collect::<Vec<_>>()
    };
    columns.scorer_names().flat_map(of_scorer).collect()
}

/// A score as a scalar: a whole one is an integer, as readers have it.
fn as_leaf(score: f64) -> Leaf {
    match score {
        0.0 => Leaf::Int(0),
        1.0 => Leaf::Int(1),
        score => Leaf::from(score),
    }
}

/// Gives the strings of a scorer to `each`, and what its lists and maps hold with the keys of maps.
fn for_each_cell<'t>(
    columns: &'t ScoreColumns,
    scorer: &str,
    mut each: impl FnMut(Option<&'t str>, LeafRef<'t>),
) {
    columns.distinct_strings(scorer).for_each(|text| each(None, LeafRef::Str(text)));
    for value in columns.nested_scores(scorer) {
        match value {
            Value::List(items) => items.iter().for_each(|leaf| each(None, leaf.view())),
            Value::Map(map) => map.iter().for_each(|(key, leaf)| each(Some(&**key), leaf.view())),
            _ => {}
        }
    }
}

/// Scores with percentages beside plain numbers, which may be shares or not.
struct MixedPercents {
    scorer: String,
    /// The key of map-valued scores that they are under.
    key: Option<String>,
}

/// The scores of these tables that have percentages beside plain numbers.
fn mixed_percents(tables: &[&ScoreColumns], cells: &CellReader) -> Vec<MixedPercents> {
    if cells.scale.is_some() || cells.has_named() {
        return Vec::new();
    }
    let mut scorers: Vec<&str> = tables.iter().flat_map(|columns| columns.scorer_names()).collect();
    scorers.sort_unstable();
    scorers.dedup();
    let mixed_keys = |scorer: &str| {
        // Whether there are percentages, and whether there are plain numbers.
        let mut found: IndexMap<Option<&str>, (bool, bool)> = IndexMap::new();
        let mut note = |key, leaf: LeafRef<'_>| {
            let (percentages, numbers) = found.entry(key).or_default();
            *percentages |= cells.is_percentage(leaf);
            *numbers |= cells.is_plain_number(leaf);
        };
        tables.iter().for_each(|columns| for_each_cell(columns, scorer, &mut note));
        // Strings are looked at first, because they are few.
        if let Some((true, numbers @ false)) = found.get_mut(&None) {
            let is_number = |leaf: LeafRef<'_>| cells.is_plain_number(leaf);
            *numbers = tables.iter().any(|columns| columns.find_score(scorer, is_number).is_some());
        }
        let mixed = found.into_iter().filter(|(_, found)| *found == (true, true));
        mixed.map(|(key, _)| key.map(str::to_owned)).collect::<Vec<_>>()
    };
    let of_scorer = |scorer: &str| {
        let keys = mixed_keys(scorer).into_iter();
        keys.map(|key| MixedPercents { scorer: scorer.to_owned(), key }).collect::<Vec<_>>()
    };
    scorers.into_iter().flat_map(of_scorer).collect()
}

/// The cells that are no scores, of the reasons that are wanted.
fn no_scores(
    table: &ScoreTable,
    cells: &CellReader,
    (mixed, graded): (&[MixedPercents], &[GradedScorer<'_>]),
    is_wanted: impl Fn(&str, NoScore) -> bool,
) -> Vec<NoScores> {
    let (columns, mut all) = (&table.columns, Vec::new());
    for scorer in columns.scorer_names() {
        let has_mixed = mixed.iter().any(|mixed| mixed.scorer == scorer);
        let grades = graded.iter().find(|graded| graded.name == scorer).map(|graded| &graded.meaning);
        let reason = |leaf: LeafRef<'_>| match (cells.meaning(leaf), leaf) {
            (_, LeafRef::Unscored) => None,
            (_, LeafRef::Str(text)) if grades.is_some() && cells.is_unclear_grade(text) => {
                Some(NoScore::SchoolGrade)
            }
            (CellMeaning::NoScore(reason), _) => Some(reason),
            (_, leaf) if has_mixed && cells.is_percentage(leaf) => Some(NoScore::MixedPercent),
            _ => None,
        };
        let mut found: IndexMap<NoScore, Vec<(String, usize)>> = IndexMap::new();
        let is_found = |leaf: LeafRef<'_>| reason(leaf).is_some_and(|why| is_wanted(scorer, why));
        for (leaf, count) in columns.distinct_scores_where(scorer, DISTINCT, is_found).values {
            if let Some(reason) = reason(leaf.view()) {
                found.entry(reason).or_default().push((leaf.view().text(), count));
            }
        }
        all.extend(found.into_iter().map(|(why, mut values)| {
            values.sort_by(|(_, a), (_, b)| b.cmp(a));
            let row = columns.find_score(scorer, |leaf| reason(leaf) == Some(why));
            let grades = grades.filter(|_| why == NoScore::SchoolGrade).cloned();
            NoScores {
                scorer: scorer.to_owned(),
                reason: why,
                values,
                why: cells.why(why),
                location: row.and_then(|row| table.locations.get(row)),
                sample: row.map(|row| columns.id(row).to_owned()),
                has_commas: columns.distinct_strings(scorer).any(|text| text.contains(',')),
                grades,
            }
        }));
    }
    all
}

#[cfg(test)]
mod tests;
