//! Are the results that a log records those of its samples?

use std::path::{Path, PathBuf};

use errorbar_core::Raters;
use errorbar_log::eval::{ReducerConversion, Verification, Verifier, VerifyOutcome};
use errorbar_macros::Setters;
use serde::{Deserialize, Serialize};

use crate::diagnostic::{Diagnostic, Diagnostics, Outcome};
use crate::read::{RunRequest, read_log_scores, recovered};
use crate::request::{LimitRequest, PlanChanges, ReadRequest, TableRequest};
use crate::source::expand;
use crate::{Analysis, Answer};

/// What is checked, and what counts as a failure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Setters)]
#[serde(default)]
#[non_exhaustive]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct VerifyRequest {
    /// Fail, with exit code 1, also if a figure or a log is not checkable
    #[cfg_attr(feature = "clap", arg(long))]
    pub require_checked: bool,
    /// How logs are read.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    #[setters(LimitRequest)]
    pub read: ReadRequest,
}

/// What came of one log.
#[derive(Debug)]
#[non_exhaustive]
pub struct LogVerification {
    /// The log.
    pub log: String,
    /// Its figures, checked.
    pub verification: Verification,
}

impl Analysis<'_> {
    /// Whether logs record what their samples give. The outcome is negative if a figure differs, or if one is not checkable
    /// and that is required.
    pub fn verify(&self, logs: &[PathBuf], request: &VerifyRequest) -> Answer<Vec<LogVerification>> {
        let mut input = expand(logs);
        if request.require_checked {
            input = input.all_named();
        }
        let (verified, diagnostics) =
            input.map(|path, warnings| self.verify_log(path, &request.read, warnings));
        let is_fine = |log: &LogVerification| {
            let verification = &log.verification;
            match verification.outcome() {
                VerifyOutcome::Differs => false,
                VerifyOutcome::NotCheckable(_) => !request.require_checked,
                VerifyOutcome::Agrees => !request.require_checked || verification.counts().not_checkable == 0,
            }
        };
        let found = if verified.iter().all(is_fine) { Outcome::Done } else { Outcome::Negative };
        let answer = Answer::new(verified, diagnostics);
        Answer { outcome: answer.outcome.max(found), ..answer }
    }

    fn verify_log(
        &self,
        path: &Path,
        read: &ReadRequest,
        warnings: &mut Diagnostics,
    ) -> Result<LogVerification, Diagnostics> {
        let log = read.open(path)?;
        let header = log.header()?;
        let verifier = Verifier::new(&header, self.registry).map_err(|error| error.at(path))?;
        let (keys, parts) = (verifier.plan().metadata_keys(), verifier.plan().score_parts());
        let (changes, tables) = (PlanChanges::default(), TableRequest::default());
        let (request, raters) = (RunRequest::new(&changes, &tables, read), Raters::default());
        let scores = read_log_scores(&log, &header, keys, parts, &request, &raters, self)?;
        if log.was_recovered() {
            warnings.push(recovered(path));
        }
        // What else cannot be built is the reason of a figure that is not checkable.
        let of_errors = verifier.warnings().iter().filter(|warning| warning.is_of_errors());
        warnings
            .extend(of_errors.map(|warning| Diagnostic::warning(warning.to_string()).about(path.display())));
        let conversions = ReducerConversion::find(&log, &header, verifier.plan(), &scores.columns)?;
        let verifier = verifier.conversions(conversions);
        let verification = verifier.verify(&scores.columns).map_err(|error| error.at(path))?;
        Ok(LogVerification { log: path.display().to_string(), verification })
    }
}
