//! Whether a score says that an answer is right.

use errorbar_core::{LeafRef, Score, Value, ValueRef, ValueToFloat};

/// What a value means for the answer, by the default conversion to a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It counts 1.
    Right,
    /// It counts something between 0 and 1.
    Partial,
    /// It counts 0 or less.
    Wrong,
    /// There is no score.
    Unscored,
    /// It is beyond 1, or not a number: more is not known.
    Other,
}

impl Verdict {
    /// The verdict of one value.
    ///
    /// ```
    /// use errorbar_core::Leaf;
    /// use errorbar_report::Verdict;
    /// let of = |leaf: Leaf| Verdict::of(leaf.view());
    /// assert_eq!([of("C".into()), of("I".into()), of(0.5.into()), of("blue".into())],
    ///     [Verdict::Right, Verdict::Wrong, Verdict::Partial, Verdict::Other]);
    /// ```
    pub fn of(leaf: LeafRef<'_>) -> Self {
        if matches!(leaf, LeafRef::Unscored | LeafRef::Null) {
            return Verdict::Unscored;
        }
        let number = ValueToFloat::default().convert_leaf(leaf);
        match number.value {
            _ if !number.convertible => Verdict::Other,
            value if value <= 0.0 => Verdict::Wrong,
            value if value < 1.0 => Verdict::Partial,
            1.0 => Verdict::Right,
            _ => Verdict::Other,
        }
    }

    /// The verdicts of a score: one, or one for each value of a list or a map.
    pub fn all_of(value: &Value) -> Vec<Self> {
        leaves(value).map(|(_, leaf)| Verdict::of(leaf)).collect()
    }
}

/// The values of a score, those of a map with their keys and those of a list with their indices.
pub(crate) fn leaves(value: &Value) -> Box<dyn Iterator<Item = (Option<String>, LeafRef<'_>)> + '_> {
    match value.view() {
        ValueRef::Leaf(leaf) => Box::new(std::iter::once((None, leaf))),
        ValueRef::List(items) => {
            Box::new(items.iter().enumerate().map(|(at, leaf)| (Some(at.to_string()), leaf.view())))
        }
        ValueRef::Map(map) => Box::new(map.iter().map(|(key, leaf)| (Some(key.to_string()), leaf.view()))),
    }
}

/// A value in words.
pub(super) fn words(leaf: LeafRef<'_>) -> String {
    let meaning = match leaf {
        LeafRef::Unscored | LeafRef::Null => return "unscored".to_owned(),
        LeafRef::Str("C") => "correct",
        LeafRef::Str("I") => "incorrect",
        LeafRef::Str("P") => "partially correct",
        LeafRef::Str("N") => "no answer",
        LeafRef::Float(number) => return crate::number::plain(number),
        other => return other.text(),
    };
    format!("{} ({meaning})", leaf.text())
}

/// The messages that a grader was sent and gave, as scorers record them.
pub(crate) fn grading(score: &Score) -> Vec<errorbar_log::eval::TranscriptMessage> {
    let grading = score.metadata.as_ref().and_then(|metadata| metadata.get("grading")?.as_array());
    let messages = grading.into_iter().flatten();
    messages.filter_map(errorbar_log::eval::TranscriptMessage::from_json).collect()
}
