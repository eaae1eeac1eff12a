//! Results in parts: what several machines compute, merged to what one would have computed.
//!
//! ```text
//!  columns ── of ──▶ Partial ── to_bytes ══════▶ from_bytes ── Partial ──┐
//!                                                                        ├─ merge ──▶ Partial ── finish ──▶ Results
//!  columns ── of ──▶ Partial ── to_bytes ══════▶ from_bytes ── Partial ──┘
//!        a machine each           network                one machine
//! ```
//!
//! A partial result is made of **whole samples**: all epochs of an id are in one. Its state is not a state of metrics but
//! a **tally of samples**: what the plan can see of a sample (epochs, scores, the metadata that it needs) is a record, and
//! samples with the same record are counted together. [`Partial::finish`] gives the samples back to the engine that
//! computes everything, so that every metric, reducer, count, warning and failure is there and none can differ.
//!
//! A million samples with one of ten grades take a few hundred bytes. Scores that all differ are all kept, and so are ids
//! where figures depend on them ([`Plan::depends_on_ids`]); a partial result of more than 64 MB is refused.
//!
//! On one machine nothing is counted: [`Plan::evaluate`] is [`Partial::of`] and the engine over the same columns.

mod bytes;
mod receipt;
mod record;
mod tally;
mod wire;

use std::borrow::Cow;

pub use receipt::{BUCKETS, Receipt, bucket_of};

use crate::columns::ScoreColumns;
use crate::error::{Error, Result};
use crate::evaluation::{Evaluation, Results};
use crate::naming::Order;
use crate::plan::Plan;
use receipt::Stamp;
use record::{Visible, too_many};
use tally::{MAX_ROWS, Tally};

/// The most rows that bytes may claim unless they are trusted.
const MAX_CLAIMED_ROWS: u64 = 1 << 24;

/// The results of some of the samples, which can be merged with those of others.
///
/// ```
/// use errorbar_core::metrics::accuracy;
/// use errorbar_core::{Partial, Plan, Score, ScoreColumns, metrics};
///
/// let plan = Plan::new().metrics(metrics![accuracy()]);
/// let columns = |ids: [&str; 2], grade: &str| {
///     let mut columns = ScoreColumns::new(["match"]);
///     for id in ids {
///         columns.push(id, 1).score("match", Score::new(grade))?;
///     }
///     Ok::<_, errorbar_core::Error>(columns)
/// };
/// // Two machines, each with its samples, which share no bucket.
/// let first = Partial::of(&columns(["q1", "q2"], "C")?, &plan)?.with_receipt("gpqa")?.to_bytes()?;
/// let second = Partial::of(&columns(["q3", "q4"], "I")?, &plan)?.with_receipt("gpqa")?.to_bytes()?;
/// // A third has what they sent.
/// let merged = Partial::from_bytes(&first, &plan)?.merge(Partial::from_bytes(&second, &plan)?)?;
/// assert_eq!(merged.receipt().map(|receipt| receipt.rows()), Some(4));
/// assert_eq!(merged.finish()?.estimate("accuracy")?.number(), Some(0.5));
/// # Ok::<(), errorbar_core::Error>(())
/// ```
///
/// Merging is commutative and associative, a partial result without samples changes nothing, and any split of samples
/// gives the bits of the whole in [key order](Order::Key).
#[derive(Clone, Debug)]
pub struct Partial<'a> {
    plan: Cow<'a, Plan>,
    samples: Samples<'a>,
    stamp: Option<Stamp>,
    /// The rows that bytes claim: a count of any size takes a few of them, so they prove none.
    claimed: u64,
}

/// The samples of a partial result.
#[derive(Clone, Debug)]
enum Samples<'a> {
    /// All that is known of them, on one machine.
    Columns(&'a ScoreColumns),
    /// What the plan can see of them.
    Tally(Tally),
}

impl<'a> Partial<'a> {
    /// The samples of columns, all of whose epochs are there. Nothing is computed yet.
    ///
    /// # Errors
    /// A plan whose parts do not fit together.
    pub fn of(columns: &'a ScoreColumns, plan: &'a Plan) -> Result<Self> {
        plan.errors.check().map_err(Error::custom)?;
        Ok(Partial { plan: Cow::Borrowed(plan), samples: Samples::Columns(columns), stamp: None, claimed: 0 })
    }

    /// The same with a receipt of its rows and the hash buckets of its samples, so that a row that is lost or counted twice
    /// shows, and a sample in two partial results is refused: those that share a [bucket](bucket_of) are not merged, so
    /// rows must be distributed by it. `group` is what the scores belong to, such as a task and a
    /// model, if several are computed from one table.
    ///
    /// # Errors
    /// The receipt is of rows, so it is given before samples are merged or sent.
    pub fn with_receipt(self, group: &str) -> Result<Self> {
        self.stamped(group, None)
    }

    /// The same with buckets that an engine has computed itself, one for each row: a hash of group and id alone, below
    /// [`BUCKETS`].
    ///
    /// # Errors
    /// As above; a bucket that is too large, and a sample with rows in two.
    pub fn with_buckets(self, group: &str, buckets: &[u16]) -> Result<Self> {
        self.stamped(group, Some(buckets))
    }

    fn stamped(self, group: &str, buckets: Option<&[u16]>) -> Result<Self> {
        let Samples::Columns(columns) = self.samples else {
            return Err(Error::custom(
                "a receipt is of rows, so it must be given to a partial result before it is merged or sent",
            ));
        };
        Ok(Partial { stamp: Some(Stamp::of(columns, group, buckets)?), ..self })
    }

    /// What rows it is made of, if it has a receipt.
    pub fn receipt(&self) -> Option<&Receipt> {
        self.stamp.as_ref().map(|stamp| &stamp.receipt)
    }

    /// The number of rows: samples times epochs.
    pub fn rows(&self) -> u64 {
        match &self.samples {
            Samples::Columns(columns) => columns.len() as u64,
            Samples::Tally(tally) => tally.rows(),
        }
    }

    /// The same without borrowing the columns: they are counted now.
    ///
    /// # Errors
    /// A sample that has an epoch twice, and more than 64 MB.
    pub fn into_owned(self) -> Result<Partial<'static>> {
        let samples = Samples::Tally(self.samples.into_tally(&Visible::of(&self.plan))?);
        let (stamp, claimed) = (self.stamp, self.claimed);
        Ok(Partial { plan: Cow::Owned(self.plan.into_owned()), samples, stamp, claimed })
    }

    /// The same, whose bytes are believed: they come from machines of yours. Those of others may claim rows that never were,
    /// and take the time and memory of them, so that at most 16,777,216 rows are.
    #[must_use]
    pub fn trusted(self) -> Self {
        Partial { claimed: 0, ..self }
    }

    /// The samples of both.
    ///
    /// # Errors
    /// Partial results of different plans; only one with a receipt; buckets, or ids that are kept, that both have; more
    /// than 64 MB.
    pub fn merge(self, other: Partial<'_>) -> Result<Partial<'a>> {
        if !std::ptr::eq(self.plan.as_ref(), other.plan.as_ref())
            && self.plan.fingerprint()? != other.plan.fingerprint()?
        {
            return Err(Error::custom("partial results of different plans cannot be merged"));
        }
        let stamp = match (self.stamp, &other.stamp) {
            (Some(own), Some(other)) => Some(own.merge(other)?),
            (None, None) => None,
            _ => {
                return Err(Error::custom(
                    "one of the partial results has a receipt and the other has none; give both one, or neither",
                ));
            }
        };
        let visible = Visible::of(&self.plan);
        let claimed = self.claimed.saturating_add(other.claimed);
        let (own, other) = (self.samples.into_tally(&visible)?, other.samples.into_tally(&visible)?);
        let samples = Samples::Tally(own.merge(other)?);
        Ok(Partial { plan: self.plan, samples, stamp, claimed })
    }

    /// The samples as columns, in [key order](Order::Key): for what is decided when all samples are known, such as what
    /// cells of a table mean. Unless the plan [depends on ids](Plan::depends_on_ids), of samples that look the same to it
    /// one has the smallest of their ids, and the others have ids that are made up.
    ///
    /// # Errors
    /// A sample that has an epoch twice, and more than 134 million rows, or 16 million of bytes that are not
    /// [trusted](Partial::trusted).
    pub fn columns(&self) -> Result<ScoreColumns> {
        self.check_claims()?;
        match &self.samples {
            Samples::Tally(tally) => tally.to_columns(),
            Samples::Columns(columns) => Tally::of(columns, &Visible::of(&self.plan))?.to_columns(),
        }
    }

    /// The results over all samples, in [key order](Order::Key).
    ///
    /// # Errors
    /// As [`Plan::evaluate`]; and as [`Partial::columns`].
    pub fn finish(self) -> Result<Results> {
        Ok(self.evaluate(Order::Key)?.results)
    }

    fn check_claims(&self) -> Result<()> {
        match self.claimed {
            0..=MAX_CLAIMED_ROWS => Ok(()),
            claimed if claimed > MAX_ROWS => Err(too_many("rows", MAX_ROWS)),
            claimed => Err(Error::custom(format!(
                "the partial result claims {claimed} rows, and bytes of others may claim at most {MAX_CLAIMED_ROWS}: \
                 finishing takes time and memory for each; if it comes from your own machines, say that its bytes are \
                 trusted when they are read"
            ))),
        }
    }

    /// The same with the reduced scores, in any order that the samples have.
    pub(crate) fn evaluate(self, order: Order) -> Result<Evaluation> {
        self.check_claims()?;
        match self.samples {
            Samples::Columns(columns) => self.plan.evaluate_in(order, columns),
            Samples::Tally(tally) => self.plan.evaluate_or_visit(&tally.to_columns()?, Order::Key, None),
        }
    }
}

impl Samples<'_> {
    fn into_tally(self, visible: &Visible) -> Result<Tally> {
        match self {
            Samples::Columns(columns) => Tally::of(columns, visible),
            Samples::Tally(tally) => Ok(tally),
        }
    }
}
