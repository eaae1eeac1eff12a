//! Tables that a guess would read wrongly.

use super::error_text::list;

/// Why it is unclear what a table holds.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableDoubt {
    /// The name of a column of scores, as the first line has it, is a score itself.
    #[error(
        "the table seems to have no header: `{column}` in its first line is a score, not the name of a column"
    )]
    NoHeader {
        /// What is in the place of a name.
        column: String,
    },
    /// A column has the name of one of scores, and holds what another that the model's answers are in holds.
    #[error("`{column}` may hold the right answers, not scores: `{answers}` has the same values")]
    Answers {
        /// The column that has the name of one of scores.
        column: String,
        /// The one with the answers of the model.
        answers: String,
    },
    /// A column has the name of one of scores, and its numbers do not depend on whether two columns of answers are equal.
    #[error(
        "`{column}` may be a confidence, not a score: it does not give the full score wherever `{}` and `{}` are equal, and less elsewhere",
        answers[0],
        answers[1]
    )]
    Confidence {
        /// The column that has the name of one of scores.
        column: String,
        /// The one with the right answers and the one with those of the model.
        answers: [String; 2],
    },
    /// Rows of several models with the same id, which a column of epochs tells apart.
    #[error(
        "`{column}` has several values for the same sample ({}), which would be averaged as if they were the epochs that \
         `{epoch}` numbers",
        values.join(", ")
    )]
    PooledEpochs {
        /// The column of models or metrics.
        column: String,
        /// Two of its values.
        values: Vec<String>,
        /// The column of epochs.
        epoch: String,
    },
    /// Columns as figures of whole runs have them, and none that identifies samples.
    #[error(
        "these seem to be figures of whole runs, not scores of samples: {} beside the scores, and no column identifies \
         samples",
        list(columns)
    )]
    Figures {
        /// The columns that scores of samples do not have.
        columns: Vec<String>,
    },
}

impl TableDoubt {
    /// What to do about it.
    pub(super) fn hint(&self) -> &'static str {
        match self {
            TableDoubt::NoHeader { .. } => "add a first line with the names of the columns, such as id,score",
            TableDoubt::Answers { .. } => "name the column that holds the scores",
            TableDoubt::Confidence { .. } => {
                "name the column that holds the scores, or add one that has 1 where the answers are equal and 0 elsewhere"
            }
            TableDoubt::PooledEpochs { .. } => {
                "split the table by the column, or name the column that numbers the epochs"
            }
            TableDoubt::Figures { .. } => {
                "give a table with a row per sample; if it is one, name the column that identifies the samples"
            }
        }
    }
}
