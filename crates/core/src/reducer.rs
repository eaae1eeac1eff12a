//! What a reducer is: the scores of one sample over its epochs in, one score out.
//!
//! Most reducers know only how to reduce scalars. [`EpochReducer`] defines just that, and the lifting
//! over scalars, lists and maps (and the fast path over columns) is written once, here and in
//! `scores/reduce.rs`.

use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

use indexmap::IndexMap;

use crate::columns::{Panel, ValueColumn, merge_details};
use crate::error::{Error, Result};
use crate::score::Score;
use crate::spec::{Spec, ToSpec};
use crate::value::{Conversion, Leaf, LeafKey, LeafMap, LeafRef, Value};

/// Makes one score of a sample's epochs.
///
/// Implement it, write a function with `#[reducer]`, or use [`reducer_fn`] on a closure.
///
/// ```
/// use errorbar_core::{Params, Reducer, Result, Score};
///
/// /// The longest answer stands for the sample.
/// #[derive(Debug, Params)]
/// #[params(crate = errorbar_core, name = "longest")]
/// struct Longest;
///
/// impl Reducer for Longest {
///     fn reduce(&self, scores: &[Score]) -> Result<Score> {
///         let longest = scores.iter().max_by_key(|score| score.answer.as_ref().map_or(0, String::len));
///         Ok(longest.cloned().unwrap_or_else(|| Score::unscored("no_response")))
///     }
/// }
///
/// let epochs = [Score::new("C").answer("red"), Score::new("I").answer("orange")];
/// assert_eq!(Longest.reduce(&epochs)?.as_text()?, "I");
/// # Ok::<(), errorbar_core::Error>(())
/// ```
pub trait Reducer: ToSpec + fmt::Debug + Send + Sync {
    /// The name that results carry: `mean`, `pass_at_2`, or the whole spec where other arguments were passed, for two
    /// thresholds must not share a name.
    fn log_name(&self) -> String {
        let spec = self.spec();
        match self.needs_epochs() {
            Some(k) if spec.kwargs.keys().eq(["k"]) => format!("{}_{k}", spec.log_name()),
            _ if spec.kwargs.is_empty() => spec.log_name().into_owned(),
            _ => spec.to_string(),
        }
    }

    /// Reduces the scores of one sample, in epoch order, unscored ones among them.
    fn reduce(&self, scores: &[Score]) -> Result<Score>;

    /// Whether the arguments make sense; checked before anything is reduced.
    fn check(&self) -> Result<()> {
        self.by_epoch().map_or(Ok(()), |reducer| reducer.check())
    }

    /// The number of epochs that the reducer cannot do with less of.
    fn needs_epochs(&self) -> Option<u64> {
        self.by_epoch()?.needs_epochs()
    }

    /// Whether a reduced score has the expectation of one epoch, as the mean has: then a mean over samples is one over
    /// epochs.
    fn keeps_expectation(&self) -> bool {
        self.by_epoch().is_some_and(|reducer| reducer.keeps_expectation())
    }

    /// The scalar reducer behind this one, if there is one: it runs over columns without building
    /// a score per row.
    fn by_epoch(&self) -> Option<&dyn EpochReducer> {
        None
    }
}

/// A reducer of scalars. Lists are reduced index by index and maps key by key.
///
/// What implements this is a [`Reducer`], and runs over columns, without a score built per row.
pub trait EpochReducer: ToSpec + fmt::Debug + Send + Sync {
    /// How values are read as numbers; `None` for reducers that only compare values, which then
    /// find no floats among the [`EpochValues`].
    fn conversion(&self) -> Option<&Conversion> {
        None
    }

    /// Reduces the scored epochs of one scalar. Never called without one.
    fn reduce_epochs(&self, epochs: &EpochValues<'_>) -> ReducedValue;

    /// Whether the value of lists and maps is reduced leaf by leaf; if not, they are refused.
    fn lifts(&self) -> bool {
        true
    }

    /// Whether a single scored epoch is reduced to its own value as a number.
    fn keeps_single(&self) -> bool {
        false
    }

    /// The variance that the reduced value has over runs of the same sample, estimated from its scored epochs; none if
    /// that is not known, for instance from one epoch.
    fn variance_of_epochs(&self, epochs: &[f64]) -> Option<f64> {
        let _ = epochs;
        None
    }

    /// Whether the reduced value is a probability, whatever the range of the scores: epochs succeed or fail, and −∞ is a
    /// failure, ∞ a success.
    fn is_probability(&self) -> bool {
        false
    }

    /// From which value on an epoch is a success, where the arguments leave that to the default: then it fits scores from
    /// 0 to 1 only.
    fn default_threshold(&self) -> Option<f64> {
        None
    }

    /// Whether the reduced value tends to be another with another number of epochs, so that samples with different
    /// numbers of them cannot be compared.
    fn depends_on_epochs(&self) -> bool {
        false
    }

    /// Whether this is a vote: then the epochs are recorded as a [`Panel`].
    fn is_vote(&self) -> bool {
        false
    }

    /// As [`Reducer::keeps_expectation`].
    fn keeps_expectation(&self) -> bool {
        false
    }

    /// As [`Reducer::check`].
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// As [`Reducer::needs_epochs`].
    fn needs_epochs(&self) -> Option<u64> {
        None
    }
}

impl<R: EpochReducer> Reducer for R {
    fn reduce(&self, scores: &[Score]) -> Result<Score> {
        EpochReducer::check(self)?;
        let name = self.log_name();
        LiftedReducer { reducer: self, name: &name, sample: "", unconvertible: 0 }.reduce(scores)
    }

    fn by_epoch(&self) -> Option<&dyn EpochReducer> {
        Some(self)
    }
}

/// What an [`EpochReducer`] makes of a scalar.
#[derive(Clone, Debug, PartialEq)]
pub enum ReducedValue {
    /// One value.
    Leaf(Leaf),
    /// All of them, as a list.
    List(Vec<Leaf>),
}

impl From<ReducedValue> for Value {
    fn from(reduced: ReducedValue) -> Self {
        match reduced {
            ReducedValue::Leaf(leaf) => leaf.into(),
            ReducedValue::List(list) => Value::List(list),
        }
    }
}

/// The scored epochs of one scalar, with their values as numbers.
#[derive(Debug)]
pub struct EpochValues<'a> {
    floats: &'a [f64],
    leaves: Leaves<'a>,
    total: usize,
}

#[derive(Debug)]
enum Leaves<'a> {
    Column(&'a ValueColumn, &'a [u32]),
    Slice(&'a [LeafRef<'a>]),
}

impl<'a> EpochValues<'a> {
    pub(crate) fn of_column(
        column: &'a ValueColumn,
        rows: &'a [u32],
        floats: &'a [f64],
        total: usize,
    ) -> Self {
        EpochValues { floats, leaves: Leaves::Column(column, rows), total }
    }

    /// All epochs, scored, as numbers.
    pub(crate) fn of_leaves(leaves: &'a [LeafRef<'a>], floats: &'a [f64]) -> Self {
        EpochValues { floats, leaves: Leaves::Slice(leaves), total: leaves.len() }
    }

    /// The values as numbers, if the reducer has a conversion.
    pub fn floats(&self) -> &'a [f64] {
        self.floats
    }

    /// The number of scored epochs.
    pub fn len(&self) -> usize {
        match self.leaves {
            Leaves::Column(_, rows) => rows.len(),
            Leaves::Slice(leaves) => leaves.len(),
        }
    }

    /// Whether no epoch is scored.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of all epochs, unscored ones included.
    pub fn total(&self) -> usize {
        self.total
    }

    /// The value of an epoch as it is.
    pub fn leaf(&self, at: usize) -> LeafRef<'a> {
        match self.leaves {
            Leaves::Column(column, rows) => match rows.get(at).and_then(|row| column.get(*row as usize)) {
                Some(crate::ValueRef::Leaf(leaf)) => leaf,
                _ => LeafRef::Unscored,
            },
            Leaves::Slice(leaves) => leaves.get(at).copied().unwrap_or(LeafRef::Unscored),
        }
    }

    /// The value that most epochs hold, by equality across number types: where it was first seen, and
    /// how often it occurs. On a tie the one seen first.
    pub fn most_common(&self) -> (usize, usize) {
        match self.leaves {
            Leaves::Column(column, rows) => {
                most_common(rows.iter().map(|row| column.scalar_key(*row as usize)))
            }
            Leaves::Slice(leaves) => most_common(leaves.iter().map(|leaf| LeafKey::new(*leaf))),
        }
    }

    /// The value of an epoch, owned.
    pub fn to_leaf(&self, at: usize) -> Leaf {
        match self.leaves {
            Leaves::Column(column, rows) => {
                rows.get(at).and_then(|row| column.to_leaf(*row as usize)).unwrap_or(Leaf::Unscored)
            }
            Leaves::Slice(_) => self.leaf(at).to_leaf(),
        }
    }
}

/// The first of the most common keys, and how often it occurs.
fn most_common<K: Eq + Hash + Default>(keys: impl ExactSizeIterator<Item = K>) -> (usize, usize) {
    const FEW: usize = 8;
    let len = keys.len();
    if len > FEW {
        let mut counts: IndexMap<K, (usize, usize)> = IndexMap::new();
        keys.enumerate().for_each(|(at, key)| counts.entry(key).or_insert((at, 0)).1 += 1);
        return counts
            .into_values()
            .fold((0, 0), |best, (first, n)| if n > best.1 { (first, n) } else { best });
    }
    // Epochs are few, and their values as good as random: counting each against all, without a branch,
    // is quicker than looking for what was seen before.
    let mut few: [K; FEW] = std::array::from_fn(|_| K::default());
    few.iter_mut().zip(keys).for_each(|(slot, key)| *slot = key);
    let few = few.get(..len).unwrap_or_default();
    let mut best = (0, 0);
    for (first, key) in few.iter().enumerate() {
        let count = few.iter().map(|other| usize::from(other == key)).sum();
        best = if count > best.1 { (first, count) } else { best };
    }
    best
}

/// A reducer's name, a sample's id and a count of what had no meaning as a number: what the lifting
/// needs to report its position.
#[derive(Debug)]
pub(crate) struct LiftedReducer<'a> {
    pub(crate) reducer: &'a dyn EpochReducer,
    pub(crate) name: &'a str,
    pub(crate) sample: &'a str,
    pub(crate) unconvertible: usize,
}

impl LiftedReducer<'_> {
    pub(crate) fn reduce(&mut self, scores: &[Score]) -> Result<Score> {
        let scored: Vec<&Value> = scores.iter().map(|s| &s.value).filter(|v| !v.is_unscored()).collect();
        let value = match scored.first() {
            None => Value::Unscored,
            Some(Value::List(first)) if self.reducer.lifts() => {
                let lists = self.lists(&scored, first.len())?;
                let mut reduced = Vec::with_capacity(first.len());
                for at in 0..first.len() {
                    let leaves = lists.iter().filter_map(|list| list.get(at)).map(Leaf::view);
                    reduced.push(self.leaf(leaves, scores.len()));
                }
                Value::List(reduced)
            }
            Some(Value::Map(first)) if self.reducer.lifts() => {
                let maps = self.maps(&scored, first)?;
                let mut reduced = LeafMap::with_capacity(first.len());
                for key in first.keys() {
                    let leaves = maps.iter().filter_map(|map| map.get(key)).map(Leaf::view);
                    reduced.insert(Arc::clone(key), self.leaf(leaves, scores.len()));
                }
                Value::Map(reduced)
            }
            _ => {
                let leaves = self.scalars(&scored)?;
                self.reduced(&leaves, scores.len()).into()
            }
        };
        let epochs = scores.iter().map(|score| (score.value.clone(), Some(score)));
        let panel = self.reducer.is_vote().then(|| Panel::of(epochs));
        let mut detail = merge_details(scores.iter().map(Some));
        if let Some(panel) = &panel {
            detail.add_panel(panel);
        }
        Ok(detail.with_value(value))
    }

    fn leaf<'l>(&mut self, leaves: impl Iterator<Item = LeafRef<'l>>, total: usize) -> Leaf {
        let scored: Vec<LeafRef<'l>> = leaves.filter(|leaf| !leaf.is_unscored()).collect();
        if scored.is_empty() {
            return Leaf::Unscored;
        }
        match self.reduced(&scored, total) {
            ReducedValue::Leaf(leaf) => leaf,
            ReducedValue::List(_) => Leaf::Unscored,
        }
    }

    fn reduced(&mut self, leaves: &[LeafRef<'_>], total: usize) -> ReducedValue {
        let mut floats = Vec::with_capacity(leaves.len());
        if let Some(conversion) = self.reducer.conversion() {
            for leaf in leaves {
                let converted = conversion.convert_leaf(*leaf);
                self.unconvertible += usize::from(!converted.convertible);
                floats.push(converted.value);
            }
        }
        self.reducer.reduce_epochs(&EpochValues { floats: &floats, leaves: Leaves::Slice(leaves), total })
    }

    fn lists<'s>(&self, scored: &[&'s Value], length: usize) -> Result<Vec<&'s [Leaf]>> {
        scored
            .iter()
            .map(|value| match value {
                Value::List(list) if list.len() == length => Ok(list.as_slice()),
                Value::List(list) => {
                    Err(self.shapes(format!("a list of {length} and a list of {}", list.len())))
                }
                other => Err(self.shapes(format!("a list of {length} and {}", other.view().describe()))),
            })
            .collect()
    }

    fn maps<'s>(&self, scored: &[&'s Value], first: &LeafMap) -> Result<Vec<&'s LeafMap>> {
        scored
            .iter()
            .map(|value| match value {
                Value::Map(map) => {
                    let extra = map.keys().find(|key| !first.contains_key(*key));
                    let lacking = first.keys().find(|key| !map.contains_key(*key));
                    match extra.or(lacking) {
                        None => Ok(map),
                        Some(key) => Err(self.shapes(format!("only some have the key {key:?}"))),
                    }
                }
                other => Err(self.shapes(format!("a map and {}", other.view().describe()))),
            })
            .collect()
    }

    fn scalars<'s>(&self, scored: &[&'s Value]) -> Result<Vec<LeafRef<'s>>> {
        scored
            .iter()
            .map(|value| match value.view() {
                crate::ValueRef::Leaf(leaf) => Ok(leaf),
                nested if !self.reducer.lifts() => {
                    let wanted = "this reducer takes scalars only; choose another one for lists and maps";
                    Err(Error::shape(self.name, self.sample, nested.describe(), wanted))
                }
                nested => Err(self.shapes(format!("a scalar and {}", nested.describe()))),
            })
            .collect()
    }

    fn shapes(&self, difference: String) -> Error {
        Error::epoch_shapes(self.name, self.sample, &difference)
    }
}

/// A reducer from a name and a closure.
///
/// ```
/// use errorbar_core::{Reducer, Score, reducer_fn};
/// let last = reducer_fn("last", |scores: &[Score]| {
///     Ok(scores.last().cloned().unwrap_or_else(|| Score::unscored("no_response")))
/// });
/// assert_eq!(last.reduce(&[Score::new(0), Score::new(1)])?.as_i64()?, 1);
/// # Ok::<(), errorbar_core::Error>(())
/// ```
pub fn reducer_fn<F>(name: impl Into<String>, reduce: F) -> FnReducer<F>
where
    F: Fn(&[Score]) -> Result<Score> + Send + Sync,
{
    FnReducer { name: name.into(), reduce }
}

/// A reducer made of a closure; see [`reducer_fn`].
pub struct FnReducer<F> {
    name: String,
    reduce: F,
}

impl<F> fmt::Debug for FnReducer<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "reducer_fn({:?})", self.name)
    }
}

impl<F> ToSpec for FnReducer<F> {
    fn spec(&self) -> Spec {
        Spec::new(&self.name)
    }
}

impl<F> Reducer for FnReducer<F>
where
    F: Fn(&[Score]) -> Result<Score> + Send + Sync,
{
    fn reduce(&self, scores: &[Score]) -> Result<Score> {
        (self.reduce)(scores)
    }
}

/// The methods of a reducer that does what another one does, but for its name: the expression, of `self`.
macro_rules! forward_reducer {
    ($self:ident => $inner:expr) => {
        $crate::metric::forward_methods! { $self => $inner;
            reduce(scores: &[$crate::Score]) -> $crate::Result<$crate::Score>;
            check() -> $crate::Result<()>;
            needs_epochs() -> Option<u64>;
            keeps_expectation() -> bool;
            by_epoch() -> Option<&dyn $crate::EpochReducer>;
        }
    };
}
pub(crate) use forward_reducer;

impl ToSpec for Arc<dyn Reducer> {
    fn spec(&self) -> Spec {
        self.as_ref().spec()
    }
}

impl Reducer for Arc<dyn Reducer> {
    fn log_name(&self) -> String {
        self.as_ref().log_name()
    }

    forward_reducer!(self => self.as_ref());
}
