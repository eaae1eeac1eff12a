//! JSON in pieces, as it comes off a decompressor: nothing here builds a tree, or needs a whole record.
//!
//! Most of a log is transcripts, and no metric needs them. [`outline`] finds where the fields of an object
//! and the items of a list begin and end; [`skim`] copies the requested fields and skips the others;
//! [`validate`] checks every byte, for those who ask for it. A parser that must see a whole value to skip it
//! would need memory for the largest of them.

mod outline;
mod skim;
pub(super) mod splice;
mod validate;

pub(super) use outline::{Descent, Outline, PartVisitor};
pub(super) use skim::{FieldSelection, Selection, Skimmer};
pub(super) use validate::Validator;
pub(crate) use validate::validate;
