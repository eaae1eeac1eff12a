//! The records of a log as the JSON they are, with everything that this version does not know.

use std::io::Write;

use errorbar_core::MetadataKeys;

use super::error::{LogError, LogErrorKind, Result};
use super::members::{HEADER, SAMPLES, START};
use super::reader::{EvalLog, SampleReader};
use super::stored::SampleFields;

impl EvalLog {
    /// The header as it is in the file; the record of the start, if the run has not ended. May hold a bare `NaN`;
    /// see [`strict_json`](crate::export::strict_json).
    pub fn json_of_header(&self) -> Result<Vec<u8>> {
        if let Some(json) = self.raw(HEADER)? {
            return Ok(json);
        }
        self.raw(START)?.ok_or_else(|| LogError::from(LogErrorKind::NoStart).at(self.path()))
    }

    /// Writes the sample of this id and epoch as it is in the file, with its messages and events; false if it is
    /// not there. An id that is a number matches its digits.
    pub fn copy_sample(&self, id: &str, epoch: u32, out: &mut dyn Write) -> Result<bool> {
        let mut reader = SampleReader::new(self, SampleFields::scores(MetadataKeys::NONE));
        // Where every writer puts it; but what a name says is not believed.
        let usual = format!("{SAMPLES}{id}_epoch_{epoch}.json");
        let is_usual = |at: &usize| self.container.sample_member(*at).is_some_and(|(name, _)| name == usual);
        let (first, others): (Vec<usize>, Vec<usize>) = (0..self.sample_count()).partition(is_usual);
        for at in first.into_iter().chain(others) {
            let sample = reader.read(at)?;
            if sample.epoch != epoch || sample.id.to_string() != id {
                continue;
            }
            return reader.copy(at, out).map(|()| true);
        }
        Ok(false)
    }
}
