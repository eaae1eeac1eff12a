//! Which rows a partial result is made of: a receipt to compare, and the buckets of its samples.

use std::fmt;
use std::str::FromStr;

use twox_hash::{XxHash3_64, XxHash3_128};

use super::wire::{Wire, invalid, take_array};
use crate::columns::ScoreColumns;
use crate::error::{Error, Result};

/// The number of hash buckets that samples are distributed over.
pub const BUCKETS: u16 = 4096;

/// The bucket of a sample, below [`BUCKETS`]: the same on every machine and in every version of the format. Engines that
/// partition rows by it have all epochs of a sample in one partition.
///
/// ```
/// use errorbar_core::{bucket_of, engine::BUCKETS};
/// assert!(bucket_of("gpqa", "q1") < BUCKETS);
/// assert_ne!(bucket_of("gpqa", "q1"), bucket_of("mmlu", "q1"));
/// ```
pub fn bucket_of(group: &str, id: &str) -> u16 {
    bucket(sample_hash(group_seed(group), id.as_bytes()))
}

/// What a group makes of the hashes of its ids.
fn group_seed(group: &str) -> u64 {
    XxHash3_64::oneshot(group.as_bytes())
}

/// A hash of a group and an id that is the same everywhere: XXH3, which is specified to the bit and takes a few nanoseconds for
/// an id. It is no cryptographic hash: it shows what got lost or was counted twice, not what was forged.
#[inline]
fn sample_hash(seed: u64, id: &[u8]) -> u128 {
    XxHash3_128::oneshot_with_seed(seed, id)
}

fn bucket(hash: u128) -> u16 {
    hash as u16 % BUCKETS
}

/// The hash of one epoch of a sample.
#[inline]
fn epoch_hash(hash: u128, epoch: u32) -> u128 {
    let salt = u64::from(epoch).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let half = |word: u64| u128::from(mix(word.wrapping_add(salt)));
    half((hash >> 64) as u64) << 64 | half(hash as u64)
}

/// Spreads every bit over the whole word (the finalizer of SplitMix64, Steele et al. 2014).
fn mix(mut word: u64) -> u64 {
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// What rows a partial result is made of: their number, and a hash of group, id and epoch of each that does not depend on
/// their order. A row that was lost or counted twice on the way gives another receipt.
///
/// ```
/// use errorbar_core::{Partial, Plan, Receipt, Score, ScoreColumns};
/// let mut columns = ScoreColumns::new(["match"]);
/// columns.push("q1", 1).score("match", Score::new("C"))?;
/// let plan = Plan::new();
/// let partial = Partial::of(&columns, &plan)?.with_receipt("gpqa")?;
/// let receipt = partial.receipt().copied().unwrap_or_default();
/// assert_eq!(receipt.rows(), 1);
/// assert_eq!(receipt.to_string().parse(), Ok(receipt));
/// assert_ne!(receipt, Receipt::default());
/// # Ok::<(), errorbar_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Receipt {
    rows: u64,
    hash: u128,
}

impl Receipt {
    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The sum of the hashes of all rows.
    pub fn hash(&self) -> u128 {
        self.hash
    }

    /// The receipt of the rows of both.
    #[must_use]
    pub fn and(self, other: Receipt) -> Receipt {
        Receipt { rows: self.rows.saturating_add(other.rows), hash: self.hash.wrapping_add(other.hash) }
    }

    fn add(&mut self, hash: u128) {
        *self = self.and(Receipt { rows: 1, hash });
    }
}

/// The number of rows and the hash in hexadecimal: `3:00f1…`.
impl fmt::Display for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{:032x}", self.rows, self.hash)
    }
}

impl FromStr for Receipt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once(':').filter(|(_, hash)| hash.len() == 32);
        let parsed = parts.and_then(|(rows, hash)| {
            Some(Receipt { rows: rows.parse().ok()?, hash: u128::from_str_radix(hash, 16).ok()? })
        });
        parsed.filter(|receipt| receipt.to_string() == text).ok_or_else(|| {
            format!("a receipt is a number of rows, a colon and 32 hexadecimal digits, found {text:?}")
        })
    }
}

/// The receipt of a partial result and the buckets that its samples are in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) receipt: Receipt,
    buckets: Box<[u64; WORDS]>,
}

const WORDS: usize = BUCKETS as usize / 64;

impl Default for Stamp {
    fn default() -> Self {
        Stamp { receipt: Receipt::default(), buckets: Box::new([0; WORDS]) }
    }
}

impl Stamp {
    /// Of all rows, in the buckets of [`bucket_of`] or in these, one for each row.
    pub(super) fn of(columns: &ScoreColumns, group: &str, buckets: Option<&[u16]>) -> Result<Self> {
        if let Some(buckets) = buckets.filter(|buckets| buckets.len() != columns.len()) {
            let (rows, found) = (columns.len(), buckets.len());
            return Err(Error::custom(format!("{rows} rows need as many buckets, found {found}")));
        }
        let mut stamp = Stamp::default();
        let (mut failed, seed) = (None, group_seed(group));
        columns.sample_index().for_each(|rows| {
            // Samples come in the order of these rows, so that ids are read one behind the other.
            let Some(first) = rows.iter().min().map(|row| *row as usize) else { return };
            let hash = sample_hash(seed, columns.id_bytes(first));
            for row in rows {
                stamp.receipt.add(epoch_hash(hash, columns.epoch(*row as usize)));
            }
            match given_bucket(columns, rows, buckets) {
                Ok(given) => stamp.add_bucket(given.unwrap_or_else(|| bucket(hash))),
                Err(error) => drop(failed.get_or_insert(error)),
            }
        });
        failed.map_or(Ok(stamp), Err)
    }

    fn add_bucket(&mut self, bucket: u16) {
        if let Some(word) = self.buckets.get_mut(usize::from(bucket) / 64) {
            *word |= 1 << (bucket % 64);
        }
    }

    /// Of the rows of both.
    pub(super) fn merge(mut self, other: &Stamp) -> Result<Self> {
        let shared = self.buckets.iter().zip(other.buckets.iter()).position(|(own, other)| own & other != 0);
        if let Some(word) = shared {
            let (own, others) = (self.buckets.get(word).unwrap_or(&0), other.buckets.get(word).unwrap_or(&0));
            let bucket = word * 64 + (own & others).trailing_zeros() as usize;
            return Err(Error::custom(format!(
                "both partial results have samples of hash bucket {bucket}: one of them was merged already, or rows of \
                 one sample are in both; partition rows by the bucket of group and id, and merge each partial result once"
            )));
        }
        self.receipt = self.receipt.and(other.receipt);
        for (own, other) in self.buckets.iter_mut().zip(other.buckets.iter()) {
            *own |= other;
        }
        Ok(self)
    }
}

impl Wire for Stamp {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.receipt.rows.to_le_bytes());
        out.extend_from_slice(&self.receipt.hash.to_le_bytes());
        self.buckets.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    }

    fn take(bytes: &mut &[u8]) -> Result<Self> {
        let rows = u64::from_le_bytes(take_array(bytes)?);
        let hash = u128::from_le_bytes(take_array(bytes)?);
        let mut stamp = Stamp { receipt: Receipt { rows, hash }, ..Stamp::default() };
        for word in stamp.buckets.iter_mut() {
            *word = u64::from_le_bytes(take_array(bytes)?);
        }
        if (rows == 0) != stamp.buckets.iter().all(|word| *word == 0) {
            return Err(invalid("the receipt does not fit the buckets"));
        }
        Ok(stamp)
    }
}

/// The bucket that the rows of a sample were given.
fn given_bucket(columns: &ScoreColumns, rows: &[u32], buckets: Option<&[u16]>) -> Result<Option<u16>> {
    let Some(buckets) = buckets else { return Ok(None) };
    let mut of_rows = rows.iter().filter_map(|row| buckets.get(*row as usize).copied());
    let Some(bucket) = of_rows.next() else { return Ok(None) };
    let sample = || columns.id(rows.first().map_or(usize::MAX, |row| *row as usize));
    if bucket >= BUCKETS {
        let sample = sample();
        return Err(Error::custom(format!(
            "the bucket of sample {sample:?} is {bucket}, and buckets are below {BUCKETS}"
        )));
    }
    match of_rows.find(|other| *other != bucket) {
        None => Ok(Some(bucket)),
        Some(other) => {
            let sample = sample();
            Err(Error::custom(format!(
                "sample {sample:?} has rows in the buckets {bucket} and {other}; the bucket must be a hash of group and \
                 id alone, so that all epochs of a sample share it"
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(rows: &[(&str, u32)]) -> ScoreColumns {
        let mut columns = ScoreColumns::new(["s"]);
        for (id, epoch) in rows {
            columns.push(id, *epoch);
        }
        columns
    }

    /// These are a part of the format: bytes of other machines and versions have them. Computed by hand with the Python
    /// package xxhash 4.1.
    #[test]
    fn hashes_are_the_same_for_ever() {
        assert_eq!([bucket_of("", ""), bucket_of("gpqa", "q1"), bucket_of("gp", "qaq1")], [726, 785, 1223]);
        assert_eq!(bucket_of("g", &"x".repeat(300)), 3288);
        let stamp = Stamp::of(&columns(&[("q1", 1), ("q1", 2)]), "gpqa", None).unwrap();
        assert_eq!(stamp.receipt.to_string(), "2:fe26f06f0491cb920780fa8ce6db40fc");
    }

    #[test]
    fn receipts_do_not_depend_on_the_order_and_show_every_row() {
        let of = |rows: &[(&str, u32)]| Stamp::of(&columns(rows), "g", None).unwrap().receipt;
        let whole = of(&[("a", 1), ("b", 1), ("a", 2)]);
        assert_eq!(whole, of(&[("a", 2), ("b", 1), ("a", 1)]));
        assert_eq!(whole, of(&[("a", 1), ("a", 2)]).and(of(&[("b", 1)])));
        let others = [
            of(&[("a", 1), ("b", 1)]),
            of(&[("a", 1), ("b", 1), ("a", 3)]),
            of(&[("a", 1), ("b", 1), ("b", 2)]),
            of(&[("a", 1), ("c", 1), ("a", 2)]),
            Stamp::of(&columns(&[("a", 1), ("b", 1), ("a", 2)]), "h", None).unwrap().receipt,
        ];
        assert!(others.iter().all(|other| *other != whole));
    }

    #[test]
    fn buckets_are_below_their_number_and_one_for_each_sample() {
        let rows = columns(&[("a", 1), ("b", 1), ("a", 2)]);
        let given = |buckets: &[u16]| Stamp::of(&rows, "g", Some(buckets)).map_err(|error| error.to_string());
        assert!(given(&[7, 4095, 7]).is_ok());
        assert!(given(&[7, 4096, 7]).unwrap_err().contains("\"b\" is 4096"));
        assert!(given(&[7, 1, 8]).unwrap_err().contains("sample \"a\" has rows in the buckets 7 and 8"));
        assert!(given(&[7, 1]).unwrap_err().contains("3 rows need as many buckets, found 2"));
        let merged = given(&[7, 1, 7]).unwrap().merge(&given(&[9, 1, 9]).unwrap());
        assert!(merged.unwrap_err().to_string().contains("bucket 1:"));
        assert!(given(&[7, 1, 7]).unwrap().merge(&Stamp::default()).is_ok());
    }
}
