//! Whether a target occurs in the completion.

use std::borrow::Cow;

use super::casefold::fold_if;
use super::{Judgement, Mark};

/// Right when any target occurs anywhere in the completion.
#[derive(Debug, Clone, Copy)]
pub struct Includes {
    /// Compare without regard to case.
    pub ignore_case: bool,
}

impl Default for Includes {
    fn default() -> Self {
        Includes { ignore_case: true }
    }
}

impl Includes {
    /// Judges one completion. The answer is the text that was searched, so in lower case when case is
    /// ignored; there is none when there is no target.
    pub fn judge<'a>(&self, completion: &'a str, targets: &[impl AsRef<str>]) -> Judgement<'a> {
        if targets.is_empty() {
            return Judgement::new(completion, Mark::Incorrect, None);
        }
        let searched: Cow<'a, str> = fold_if(self.ignore_case, completion);
        let found = targets.iter().any(|target| {
            let target = fold_if(self.ignore_case, target.as_ref());
            searched.contains(&*target)
        });
        Judgement::new(completion, Mark::of(found), Some(searched))
    }
}
