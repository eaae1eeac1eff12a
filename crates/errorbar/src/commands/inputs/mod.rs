//! Several logs and tables, read for one command: which files, what of each is read (`read.rs`), what they are called and of
//! which task they are (`sides.rs`), and whether they have the same samples (`alignment.rs`).

pub(crate) mod alignment;
pub(crate) mod read;
pub(crate) mod sides;

use super::error_args::ErrorArgs;
use super::gate_args::GateArgs;
use super::logs::ReadArgs;
use super::specs::PlanOverrides;
use super::tables::TableArgs;

/// What the commands that read several logs and tables have in common.
#[derive(Clone, Copy)]
pub(crate) struct InputOptions<'a> {
    pub(crate) overrides: &'a PlanOverrides,
    pub(crate) seed: Option<u64>,
    pub(crate) errors: &'a ErrorArgs,
    pub(crate) gates: Option<&'a GateArgs>,
    /// Only these scorers; all if empty.
    pub(crate) scorers: &'a [String],
    /// The scorers of one input that are its sides.
    pub(crate) compared_scorers: &'a [String],
    /// The column or key whose values are the sides.
    pub(crate) split: Option<&'a str>,
    /// The metadata keys of groups, which are read besides those that the plan needs.
    pub(crate) groups: &'a [String],
    /// The option that names them.
    pub(crate) groups_option: &'static str,
    /// The side that others are compared with; the first if unset.
    pub(crate) base: Option<&'a str>,
    /// Whether samples are not matched.
    pub(crate) unpaired: bool,
    /// Whether a table whose samples have no ids is an error.
    pub(crate) requires_ids: bool,
    /// Whether the same id is the same sample, though input or target differ.
    pub(crate) trust_ids: bool,
    pub(crate) ignore_tasks: bool,
    pub(crate) skip_bad_samples: bool,
    /// Whether the confidence of answers is read, where there is one under its usual key.
    pub(crate) reads_confidence: bool,
    /// Whether the level of guessing is read off the choices of samples.
    pub(crate) reads_chance: bool,
    /// Whether questions and answers of tables are read.
    pub(crate) reads_answers: bool,
    /// Whether runs are called by the whole names of their models: data outlive the other runs beside them.
    pub(crate) whole_names: bool,
    /// Whether a log whose samples have no scores is taken.
    pub(crate) takes_unscored: bool,
    /// Whether a log without samples is taken for its recorded figures.
    pub(crate) takes_recorded: bool,
    pub(crate) tables: &'a TableArgs,
    pub(crate) read: &'a ReadArgs,
}
