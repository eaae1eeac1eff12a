//! Partial results as bytes: canonical, so that equal ones have equal bytes, and checked at every step.
//!
//! ```text
//! magic and version · fingerprint of the plan · receipt and buckets, if any · scorers · metadata keys · has labels
//! records, ascending: record · number of samples · smallest id, or all of them
//! checksum
//! ```

use std::borrow::Cow;

use super::receipt::Stamp;
use super::record::Visible;
use super::tally::Tally;
use super::wire::{Wire, invalid, take_array};
use super::{Partial, Samples};
use crate::error::{Error, Result};
use crate::plan::Plan;

/// What the bytes begin with; the last one is the version.
const MAGIC: [u8; 8] = *b"ebpart\0\x02";

const CHECKSUM: usize = 8;

impl Partial<'_> {
    /// The partial result as bytes, the same for equal ones, however they came about.
    ///
    /// # Errors
    /// A sample that has an epoch twice; more than 64 MB; a plan that has no [text](Plan::to_text).
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let tally = match &self.samples {
            Samples::Tally(tally) => Cow::Borrowed(tally),
            Samples::Columns(columns) => Cow::Owned(Tally::of(columns, &Visible::of(&self.plan))?),
        };
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&self.plan.fingerprint()?);
        self.stamp.put(&mut out);
        tally.put(&mut out);
        let checksum = checksum(&out);
        out.extend_from_slice(&checksum);
        Ok(out)
    }
}

impl Partial<'static> {
    /// The partial result of bytes.
    ///
    /// # Errors
    /// Bytes of another plan or version, and bytes that are damaged or no partial result.
    pub fn from_bytes(bytes: &[u8], plan: &Plan) -> Result<Self> {
        let body = bytes.strip_prefix(&MAGIC).ok_or_else(|| match bytes.starts_with(b"ebpart\0") {
            true => Error::custom(
                "the partial result is of another version; compute all of them with one version",
            ),
            false => invalid("they do not begin like one"),
        })?;
        let (body, found) = body.split_last_chunk::<CHECKSUM>().ok_or_else(|| invalid("they end early"))?;
        let sealed = bytes.get(..bytes.len() - CHECKSUM).unwrap_or_default();
        if *found != checksum(sealed) {
            return Err(invalid("they are damaged, the checksum is another one"));
        }
        let mut rest = body;
        if take_array::<16>(&mut rest)? != plan.fingerprint()? {
            return Err(Error::custom(
                "the partial result is of another plan; metrics, reducers, errors and seed must be the same on all \
                 machines, so send the text of the plan",
            ));
        }
        let stamp: Option<Stamp> = Wire::take(&mut rest)?;
        let tally = Tally::read(&mut rest, plan.depends_on_ids())?;
        if !rest.is_empty() {
            return Err(invalid("there is more behind it"));
        }
        if let Some(stamp) = &stamp
            && tally.rows() != stamp.receipt.rows()
        {
            return Err(invalid("it has another number of rows than its receipt"));
        }
        let claimed = tally.rows();
        let partial =
            Partial { plan: Cow::Owned(plan.clone()), samples: Samples::Tally(tally), stamp, claimed };
        // Whatever could be written in two ways is found here.
        if partial.to_bytes()? != bytes {
            return Err(invalid("they are not written in the canonical way"));
        }
        Ok(partial)
    }
}

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM] {
    let mut checksum = [0; CHECKSUM];
    checksum.iter_mut().zip(blake3::hash(bytes).as_bytes()).for_each(|(own, byte)| *own = *byte);
    checksum
}
