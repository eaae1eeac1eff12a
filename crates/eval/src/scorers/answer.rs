//! `answer`: what follows `ANSWER:` is the target.

use errorbar_core::registry::Param;
use errorbar_core::{Error, Metrics, Result, Score, Spec};

use super::{of_grades, ready};
use crate::text::Answer;
use crate::{BoxFuture, Scorer, ScorerEntry, Target, TaskState};

pub(super) const ENTRY: ScorerEntry = ScorerEntry {
    name: "answer",
    doc: "Whether what follows `ANSWER:` is the target: a \"letter\", a \"word\" or the rest of the \"line\".",
    params: &[Param::required("pattern")],
    build: |args| {
        let wanted: String = args.required("pattern")?;
        match kind(&wanted) {
            Some(kind) => Ok(AnswerScorer { kind }.into()),
            None => {
                Err(args
                    .error("pattern", format!("must be \"letter\", \"word\" or \"line\", found {wanted:?}")))
            }
        }
    },
    replaces: false,
};

const KINDS: [(&str, Answer); 3] =
    [("letter", Answer::Letter), ("word", Answer::Word), ("line", Answer::Line)];

fn kind(text: &str) -> Option<Answer> {
    KINDS.iter().find(|(name, _)| *name == text).map(|(_, kind)| *kind)
}

/// What follows `ANSWER:`; made by [`answer()`].
#[derive(Clone, Debug)]
pub struct AnswerScorer {
    kind: Answer,
}

/// Whether what follows `ANSWER:` is the target.
///
/// ```
/// use errorbar_eval::{scorers::answer, text::Answer};
/// answer(Answer::Letter);
/// ```
pub fn answer(kind: Answer) -> AnswerScorer {
    AnswerScorer { kind }
}

impl Scorer for AnswerScorer {
    fn spec(&self) -> Spec {
        let name = KINDS.iter().find(|(_, kind)| *kind == self.kind).map(|(name, _)| *name);
        Spec::new("answer").kwarg_some("pattern", name)
    }

    fn metrics(&self) -> Metrics {
        of_grades()
    }

    fn score<'a>(&'a self, state: &'a TaskState, target: &'a Target) -> BoxFuture<'a, Result<Option<Score>>> {
        ready(Ok::<_, Error>(self.kind.judge(&state.output.completion, target)))
    }
}
