//! Everything that can be called by name: metrics, reducers, conversions, and what other crates add.
//!
//! The registry is a value that is passed in, not a global: a test can hold two. The built-in
//! entries come from the explicit lists in `metrics/mod.rs` and `reducers/mod.rs`; what the macros
//! define is collected at link time by `inventory`; anything else is added by hand.

mod args;

pub(crate) use args::Count;
pub use args::{ArgProblem, ArgType, ArgWord, Args, KeywordArgs};
pub use args::{DocSections, Param, Params};

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indexmap::IndexMap;

use crate::error::{Error, Result};
use crate::metric::{Metric, Metrics, forward_metric};
use crate::reducer::{Reducer, forward_reducer};
use crate::spec::{Arg, MetricsSpec, OWN_PACKAGE, REFERENCE_PACKAGE, Spec, ToSpec, nearest, split_k_suffix};

/// How something is built from its arguments.
pub type Build<T> = fn(&Args<'_>) -> Result<T>;

/// Something that can be built by name.
#[derive(Clone, Debug)]
pub struct Entry<T: 'static> {
    /// The name it is called by.
    pub name: &'static str,
    /// What it is, a sentence first.
    pub doc: &'static str,
    /// The rest of its documentation: formula, example and so on.
    pub sections: DocSections,
    /// Its arguments, in order.
    pub params: fn() -> Vec<Param>,
    /// How it is built.
    pub build: Build<T>,
    /// Whether it takes the place of an entry of the same name.
    pub replaces: bool,
    /// Whether the reference has an entry of this name.
    pub in_reference: bool,
}

impl<T: 'static> Entry<T> {
    /// The entry that a struct of arguments declares.
    pub const fn of<P: Params>() -> Self
    where
        T: BuiltFrom<P>,
    {
        Entry {
            name: P::NAME,
            doc: P::DOC,
            sections: P::SECTIONS,
            params: P::params,
            build: |args| P::from_args(args).map(T::built_from),
            replaces: false,
            in_reference: P::IN_REFERENCE,
        }
    }

    /// Whether the reference has no entry of this name that takes the arguments of the spec.
    pub(crate) fn is_own(&self, spec: &Spec) -> bool {
        !self.in_reference || passes_own_value(&(self.params)(), spec)
    }

    /// The same, in the place of an entry of the same name.
    #[must_use]
    pub const fn replacing(self) -> Self {
        Entry { replaces: true, ..self }
    }
}

/// Whether a spec passes what the reference's entry of the same name would refuse.
fn passes_own_value(params: &[Param], spec: &Spec) -> bool {
    params.iter().enumerate().any(|(at, param)| {
        let passed = spec.kwargs.get(param.name).or_else(|| spec.args.get(at));
        passed.is_some_and(|value| param.is_own_value(value))
    })
}

/// A kind of entry that is built from a struct of arguments: a metric from whatever implements [`Metric`].
pub trait BuiltFrom<P> {
    /// The arguments as what the registry hands out.
    fn built_from(params: P) -> Self;
}

impl<M: Metric + 'static> BuiltFrom<M> for Arc<dyn Metric> {
    fn built_from(metric: M) -> Self {
        Arc::new(metric)
    }
}

impl<R: Reducer + 'static> BuiltFrom<R> for Arc<dyn Reducer> {
    fn built_from(reducer: R) -> Self {
        Arc::new(reducer)
    }
}

/// An entry that builds a metric.
pub type MetricEntry = Entry<Arc<dyn Metric>>;
/// An entry that builds a reducer.
pub type ReducerEntry = Entry<Arc<dyn Reducer>>;

/// The list of a folder of entries: each word is the module of an entry and the struct that declares it. The modules are
/// declared here and all that is public in them is exported, so that a new entry is a file and a word.
#[doc(hidden)]
#[macro_export]
macro_rules! entry_modules {
    ($(#[$doc:meta])* [$entry:ty] $($module:ident::$params:ident),* $(,)?) => {
        $(
            mod $module;
            pub use $module::*;
        )*

        $(#[$doc])*
        pub(crate) const ENTRIES: &[$entry] =
            &[$($crate::registry::Entry::of::<$module::$params>()),*];
    };
}
#[doc(hidden)]
pub use entry_modules;

/// The list of the entries that these structs declare.
macro_rules! entries {
    ($($params:ty),* $(,)?) => {
        &[$($crate::registry::Entry::of::<$params>()),*]
    };
}
pub(crate) use entries;

inventory::collect!(MetricEntry);
inventory::collect!(ReducerEntry);

/// An entry as `errorbar list` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntryInfo {
    /// The name.
    pub name: String,
    /// The arguments.
    pub params: Vec<Param>,
    /// What it is.
    pub doc: String,
    /// The rest of its documentation: formula, example and so on.
    pub sections: DocSections,
    /// Whether errorbar brings it.
    pub built_in: bool,
    /// Whether the reference has an entry of this name.
    pub in_reference: bool,
}

impl EntryInfo {
    /// The call with its arguments and defaults: `ci(level=0.95, …)`.
    pub fn signature(&self) -> String {
        let params: Vec<String> = self
            .params
            .iter()
            .map(|p| match &p.default {
                Some(default) => format!("{}={default}", p.name),
                None => p.name.to_owned(),
            })
            .collect();
        format!("{}({})", self.name, params.join(", "))
    }

    /// Whether errorbar brings it, and the reference has no entry of this name that takes the arguments of the spec. Logs
    /// record it under our package then.
    ///
    /// ```
    /// use errorbar_core::{Registry, Spec};
    ///
    /// let registry = Registry::built_in();
    /// let ci = registry.list_metrics().find(|entry| entry.name == "ci").ok_or("built in")?;
    /// assert!(ci.is_own(&"ci(method='bca')".parse()?));
    /// assert!(!ci.is_own(&"ci(0.9, 'bootstrap')".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_own(&self, spec: &Spec) -> bool {
        self.built_in && (!self.in_reference || passes_own_value(&self.params, spec))
    }

    /// The first paragraph of the documentation, on one line.
    pub fn summary(&self) -> String {
        let paragraph = self.doc.trim().split("\n\n").next().unwrap_or_default();
        paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

type SharedBuild<T> = Arc<dyn Fn(&Args<'_>) -> Result<T> + Send + Sync>;

#[derive(Clone)]
struct RegistryEntry<T> {
    listing: EntryInfo,
    /// The package that its specs may name, unless it is built in; see [`RegistryEntry::goes_by`].
    package: Option<String>,
    build: SharedBuild<T>,
}

impl<T: 'static> RegistryEntry<T> {
    fn new(entry: &Entry<T>, built_in: bool) -> Self {
        let listing = EntryInfo {
            name: entry.name.to_owned(),
            params: (entry.params)(),
            doc: entry.doc.to_owned(),
            sections: entry.sections,
            built_in,
            in_reference: entry.in_reference,
        };
        RegistryEntry { listing, package: None, build: Arc::new(entry.build) }
    }

    /// Whether a spec with this package, or none, can mean this entry. Built-in ones go by that of the reference and by
    /// our own, under which the reference knows them.
    fn goes_by(&self, spec: &Spec) -> bool {
        match spec.package.as_deref() {
            None => true,
            Some(REFERENCE_PACKAGE | OWN_PACKAGE) if self.listing.built_in => true,
            package => package == self.package.as_deref(),
        }
    }
}

/// A kind of thing that is built by name: metrics, reducers and conversions here, scorers, solvers and tasks
/// in other crates.
pub trait EntryKind: Clone + Send + Sync + 'static {
    /// What it is called in messages: `metric`.
    const KIND: &'static str;

    /// The same under the name of a package, for kinds whose names results and logs record.
    #[must_use]
    fn in_package(self, package: &str) -> Self {
        let _ = package;
        self
    }
}

impl EntryKind for Arc<dyn Metric> {
    const KIND: &'static str = "metric";

    fn in_package(self, package: &str) -> Self {
        Arc::new(PackageMember::new(package, self))
    }
}
impl EntryKind for Arc<dyn Reducer> {
    const KIND: &'static str = "reducer";

    fn in_package(self, package: &str) -> Self {
        Arc::new(PackageMember::new(package, self))
    }
}
type Table<T> = IndexMap<String, RegistryEntry<T>>;

/// Builds metrics, reducers and conversions from specs.
///
/// ```
/// use errorbar_core::Registry;
/// let registry = Registry::built_in();
/// let metric = registry.metric(&"stderr(cluster='category')".parse()?)?;
/// assert_eq!(metric.spec().to_string(), r#"stderr(cluster="category")"#);
/// let error = registry.metric(&"acuracy".parse()?).unwrap_err();
/// assert_eq!(error.to_string(), "unknown metric `acuracy`; did you mean `accuracy`?");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Registry {
    /// One `Table<T>` for each kind that has an entry, so that a crate which core does not know can add its own.
    tables: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
    /// What files among arguments are relative to; nothing here opens them.
    folder: PathBuf,
    /// What templates may be in beside the folder; none if they may be anywhere.
    allowed_paths: Option<Arc<[PathBuf]>>,
    /// Where names that are not in the tables may come from.
    source: Option<Arc<dyn EntrySource>>,
    /// Whether specs are those of the user, who may import what is not loaded yet.
    may_import: bool,
}

/// Entries that are defined elsewhere, such as in Python: asked for names that a registry does not have.
pub trait EntrySource: Send + Sync {
    /// Adds the entry of this name if it is known. `may_import` is true for specs that the user has written: only then code
    /// may be loaded, for a log may come from anywhere. Fails if `module:function` is not there.
    fn add_entry(&self, name: &str, may_import: bool, registry: &mut Registry) -> Result<()>;
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").finish_non_exhaustive()
    }
}

impl Registry {
    /// A registry without entries.
    pub(crate) fn empty() -> Self {
        Registry {
            tables: HashMap::new(),
            folder: PathBuf::new(),
            allowed_paths: None,
            source: None,
            may_import: false,
        }
    }

    /// Adds an entry of any kind; a name that is taken is refused unless the entry is marked as a replacement.
    pub fn add<T: EntryKind>(&mut self, entry: &Entry<T>) -> Result<()> {
        self.free::<T>(entry.name, entry.replaces)?;
        self.insert(&[(entry, false)]);
        Ok(())
    }

    /// Adds entries in the order of their names, whatever the order of the linker was.
    pub fn add_all<T: EntryKind>(&mut self, mut entries: Vec<&Entry<T>>) -> Result<()> {
        entries.sort_by_key(|entry| entry.name);
        entries.into_iter().try_for_each(|entry| self.add(entry))
    }

    /// Adds what a crate brings itself; such entries also go by the package of the reference and by our own.
    pub fn add_built_in<T: EntryKind>(&mut self, entries: &[Entry<T>]) {
        let entries: Vec<(&Entry<T>, bool)> = entries.iter().map(|entry| (entry, true)).collect();
        self.insert(&entries);
    }

    /// Adds something that is ready under the name of its spec, without arguments.
    pub fn add_object<T: EntryKind>(&mut self, spec: Spec, doc: &str, object: T) -> Result<()> {
        let Spec { name, package, .. } = spec;
        self.free::<T>(&name, false)?;
        let listing = EntryInfo {
            name: name.clone(),
            params: Vec::new(),
            doc: doc.to_owned(),
            sections: DocSections::NONE,
            built_in: false,
            in_reference: false,
        };
        let build: SharedBuild<T> = Arc::new(move |_| Ok(object.clone()));
        self.change(|table| {
            table.insert(name, RegistryEntry { listing, package, build });
        });
        Ok(())
    }

    /// Adds a ready metric under its own name, without arguments.
    pub fn add_metric_object(&mut self, metric: Arc<dyn Metric>, doc: &str) -> Result<()> {
        self.add_object(metric.spec(), doc, metric)
    }

    /// Adds a ready reducer under its own name, without arguments.
    pub fn add_reducer_object(&mut self, reducer: Arc<dyn Reducer>, doc: &str) -> Result<()> {
        self.add_object(reducer.spec(), doc, reducer)
    }

    /// Builds anything from its spec.
    pub fn build<T: EntryKind>(&self, spec: &Spec) -> Result<T> {
        match self.find::<T>(spec, &spec.name) {
            Some(registered) => self.call(registered, spec),
            None => self.build_with_source(spec, |registry| registry.build(spec)),
        }
    }

    /// Builds what the tables do not have: with the source, and then without it.
    fn build_with_source<T: EntryKind>(
        &self,
        spec: &Spec,
        build: impl FnOnce(&Self) -> Result<T>,
    ) -> Result<T> {
        let Some(source) = &self.source else {
            if !spec.is_import() || !self.may_import {
                return Err(self.unknown::<T>(spec));
            }
            let problem = "functions of Python are known to the command of the Python package".to_owned();
            return Err(Error::Import { name: spec.name.clone(), problem });
        };
        let mut wider = Registry { source: None, may_import: false, ..self.clone() };
        source.add_entry(&spec.name, self.may_import, &mut wider)?;
        build(&wider)
    }

    /// Builds a metric from its spec.
    pub fn metric(&self, spec: &Spec) -> Result<Arc<dyn Metric>> {
        self.build(spec)
    }

    /// Builds a reducer from its spec. `name_k` is shorthand for `name(k)`, unless a reducer of
    /// that literal name is registered.
    pub fn reducer(&self, spec: &Spec) -> Result<Arc<dyn Reducer>> {
        type Built = Arc<dyn Reducer>;
        if let Some(registered) = self.find::<Built>(spec, &spec.name) {
            return self.call(registered, spec);
        }
        if let Some((name, k)) = split_k_suffix(&spec.name)
            && let Some(registered) = self.find::<Built>(spec, name)
            && registered.listing.params.first().is_some_and(|p| p.name == "k")
        {
            let k = i64::try_from(k).unwrap_or(i64::MAX);
            let mut long = Spec { name: name.to_owned(), ..spec.clone() };
            long.args.insert(0, Arg::Int(k));
            return self.call(registered, &long);
        }
        self.build_with_source(spec, |registry| registry.reducer(spec))
    }

    /// Builds the reducers that a spec names: one, or one for each integer of a range among the arguments. `pass_at(1..8)`
    /// is pass@1 to pass@8.
    ///
    /// ```
    /// use errorbar_core::Registry;
    /// let curve = Registry::built_in().reducers(&"pass_at(1..3)".parse()?)?;
    /// let names: Vec<String> = curve.iter().map(|reducer| reducer.log_name()).collect();
    /// assert_eq!(names, ["pass_at_1", "pass_at_2", "pass_at_3"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Registry::reducer`]; and a range that is empty or has too many integers, or two of them.
    pub fn reducers(&self, spec: &Spec) -> Result<Vec<Arc<dyn Reducer>>> {
        let table = self.table::<Arc<dyn Reducer>>();
        let name = split_k_suffix(&spec.name).map_or(spec.name.as_str(), |(name, _)| name);
        let entry = table.and_then(|table| table.get(&spec.name).or_else(|| table.get(name)));
        let params = entry.into_iter().flat_map(|entry| &entry.listing.params);
        let parameters: Vec<&str> = params.map(|param| param.name).collect();
        spec.expanded(&parameters)?.iter().map(|spec| self.reducer(spec)).collect()
    }

    /// Builds the metrics of a task or a scorer.
    pub fn metrics(&self, spec: &MetricsSpec) -> Result<Metrics> {
        spec.try_map(|spec| self.metric(spec))
    }

    /// All entries of a kind, in order of registration.
    pub fn list<T: EntryKind>(&self) -> impl Iterator<Item = &EntryInfo> {
        self.table::<T>().into_iter().flat_map(IndexMap::values).map(|registered| &registered.listing)
    }

    /// All metrics, in order of registration.
    pub fn list_metrics(&self) -> impl Iterator<Item = &EntryInfo> {
        self.list::<Arc<dyn Metric>>()
    }

    /// All reducers, in order of registration.
    pub fn list_reducers(&self) -> impl Iterator<Item = &EntryInfo> {
        self.list::<Arc<dyn Reducer>>()
    }

    fn table<T: EntryKind>(&self) -> Option<&Table<T>> {
        self.tables.get(&TypeId::of::<T>())?.downcast_ref()
    }

    /// Registries are cloned with their tables shared, so a table is copied when it changes.
    fn change<T: EntryKind>(&mut self, change: impl FnOnce(&mut Table<T>)) {
        let mut table = self.table::<T>().cloned().unwrap_or_default();
        change(&mut table);
        self.tables.insert(TypeId::of::<T>(), Arc::new(table));
    }

    fn insert<T: EntryKind>(&mut self, entries: &[(&Entry<T>, bool)]) {
        self.change(|table| {
            for (entry, built_in) in entries {
                table.insert(entry.name.to_owned(), RegistryEntry::new(entry, *built_in));
            }
        });
    }

    fn free<T: EntryKind>(&self, name: &str, replaces: bool) -> Result<()> {
        if self.table::<T>().is_some_and(|table| table.contains_key(name)) && !replaces {
            return Err(Error::NameTaken { kind: T::KIND, name: name.to_owned() });
        }
        Ok(())
    }

    /// The entry of this name, if a spec with that package, or none, can mean it.
    fn find<T: EntryKind>(&self, spec: &Spec, name: &str) -> Option<&RegistryEntry<T>> {
        self.table::<T>()?.get(name).filter(|registered| registered.goes_by(spec))
    }

    fn call<T: EntryKind>(&self, registered: &RegistryEntry<T>, spec: &Spec) -> Result<T> {
        let names: Vec<&str> = registered.listing.params.iter().map(|p| p.name).collect();
        let built = (registered.build)(&Args::bind(spec, &names, self)?)?;
        Ok(match spec.package.as_deref() {
            // What only we have is recorded under our package whether it was written or not.
            Some(OWN_PACKAGE) if registered.listing.built_in && !registered.listing.is_own(spec) => {
                built.in_package(OWN_PACKAGE)
            }
            _ => built,
        })
    }

    fn unknown<T: EntryKind>(&self, spec: &Spec) -> Error {
        let known = |name: &str| nearest(name, self.list::<T>().map(|listing| listing.name.as_str()));
        // `pas_at_2` is near to `pass_at`, which then has the number too.
        let numbered = || {
            let (name, k) = split_k_suffix(&spec.name)?;
            let entry = self.table::<T>()?.get(known(name)?)?;
            let takes_k = entry.listing.params.first().is_some_and(|param| param.name == "k");
            takes_k.then(|| format!("{}_{k}", entry.listing.name))
        };
        Error::UnknownName {
            kind: T::KIND,
            name: spec.log_name().into_owned(),
            nearest: numbered().or_else(|| known(&spec.name).map(str::to_owned)),
        }
    }
}

/// A metric or reducer that does all that the inner one does, under the name of a package.
#[derive(Clone, Debug)]
pub(crate) struct PackageMember<T> {
    package: String,
    inner: T,
}

impl<T> PackageMember<T> {
    pub(crate) fn new(package: &str, inner: T) -> Self {
        PackageMember { package: package.to_owned(), inner }
    }
}

impl<T: ToSpec> ToSpec for PackageMember<T> {
    fn spec(&self) -> Spec {
        Spec { package: Some(self.package.clone()), ..self.inner.spec() }
    }
}

impl Metric for PackageMember<Arc<dyn Metric>> {
    forward_metric!(self => self.inner);
}

impl Reducer for PackageMember<Arc<dyn Reducer>> {
    fn log_name(&self) -> String {
        format!("{}/{}", self.package, self.inner.log_name())
    }

    forward_reducer!(self => self.inner);
}

/// The most integers of a range: each gives results.
const MAX_RANGE: u64 = 100;

impl Spec {
    /// The specs that it stands for: itself, or one for each integer of the range among its arguments. `parameters` are
    /// the names of those by position.
    ///
    /// # Errors
    /// A range that is empty or has more than 100 integers, or two ranges.
    pub(crate) fn expanded(&self, parameters: &[&str]) -> Result<Vec<Spec>> {
        let ranges = self.args.iter().chain(self.kwargs.values()).filter_map(|arg| match arg {
            Arg::Range(first, last) => Some((*first, *last)),
            _ => None,
        });
        let ranges: Vec<(i64, i64)> = ranges.collect();
        let refuse = |problem: String| {
            let (target, argument) = (self.log_name().into_owned(), self.range_argument(parameters));
            Err(Error::Argument { target, argument, problem })
        };
        let (first, last) = match ranges.as_slice() {
            [] => return Ok(vec![self.clone()]),
            [range] => *range,
            _ => return refuse("is a range, and so is another argument; only one may be".to_owned()),
        };
        if first > last {
            return refuse(format!("is the empty range {first}..{last}; write {last}..{first}"));
        }
        let count = last.abs_diff(first).saturating_add(1);
        if count > MAX_RANGE {
            return refuse(format!(
                "has {count} values, {first}..{last}, and at most {MAX_RANGE} are computed"
            ));
        }
        Ok((first..=last).map(|number| self.with_number(number)).collect())
    }

    /// The name of the argument that is a range.
    fn range_argument(&self, parameters: &[&str]) -> String {
        let named = self.kwargs.iter().map(|(name, arg)| (name.as_str(), arg));
        let mut all = parameters.iter().copied().zip(&self.args).chain(named);
        all.find(|(_, arg)| matches!(arg, Arg::Range(..))).map_or("k", |(name, _)| name).to_owned()
    }

    /// The same with a number in place of the range.
    fn with_number(&self, number: i64) -> Spec {
        let mut spec = self.clone();
        for arg in spec.args.iter_mut().chain(spec.kwargs.values_mut()) {
            if let Arg::Range(..) = arg {
                *arg = Arg::Int(number);
            }
        }
        spec
    }
}

impl Registry {
    /// The same, with files among arguments relative to this folder: that of a task file, for the specs in it.
    #[must_use]
    pub fn relative_to(&self, folder: impl Into<PathBuf>) -> Self {
        Registry { folder: folder.into(), ..self.clone() }
    }

    /// The same, with files whose content may go to a model only from its folder and these paths: for the specs of a task
    /// file, that may be someone else's.
    #[must_use]
    pub fn confined(&self, allowed_paths: impl IntoIterator<Item = PathBuf>) -> Self {
        Registry { allowed_paths: Some(allowed_paths.into_iter().collect()), ..self.clone() }
    }

    /// The same, with names that it does not have from this source.
    #[must_use]
    pub fn with_source(self, source: Arc<dyn EntrySource>) -> Self {
        Registry { source: Some(source), ..self }
    }

    /// The same for specs that the user has written: `module:function` is imported.
    #[must_use]
    pub fn importing(&self) -> Self {
        Registry { may_import: true, ..self.clone() }
    }

    /// The folder that files among arguments are relative to; empty for the current one.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The paths beside the [folder](Self::folder) that such files may be in if the registry is [confined](Self::confined).
    pub fn allowed_paths(&self) -> Option<&[PathBuf]> {
        self.allowed_paths.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spec_for_each_integer() {
        let texts = |text: &str| -> Vec<String> {
            let expanded = text.parse::<Spec>().unwrap().expanded(&["k"]).unwrap();
            expanded.iter().map(Spec::to_string).collect()
        };
        assert_eq!(texts("pass_at(2..3, value=0.5)"), ["pass_at(2, value=0.5)", "pass_at(3, value=0.5)"]);
        assert_eq!(texts("g_pass(8, j=7..8)"), ["g_pass(8, j=7)", "g_pass(8, j=8)"]);
        assert_eq!(texts("f(-1..1)"), ["f(-1)", "f(0)", "f(1)"]);
        assert_eq!(texts("f(-2..-2)"), ["f(-2)"]);
        assert_eq!(texts("mean"), ["mean"]);
        assert_eq!(texts("f(1..100)").len(), 100);
    }

    #[test]
    fn empty_long_and_several_ranges_are_refused() {
        for text in
            ["f(8..1)", "f(1..101)", "f(1..2, j=1..2)", "f(-9223372036854775808..9223372036854775807)"]
        {
            let refused = text.parse::<Spec>().unwrap().expanded(&["k"]);
            assert!(
                matches!(&refused, Err(Error::Argument { argument, .. }) if argument == "k"),
                "{refused:?}"
            );
        }
    }

    #[test]
    fn the_text_of_a_range_comes_back() {
        let spec: Spec = "pass_at(1..8)".parse().unwrap();
        assert_eq!(spec.args, [Arg::Range(1, 8)]);
        assert_eq!(spec.to_string(), "pass_at(1..8)");
        for wrong in ["f(1..)", "f(..8)", "f(1...8)", "f(1..8..9)", "f(1.5..2)", "f(1..2.5)", "f(a..b)"] {
            assert!(wrong.parse::<Spec>().is_err() || !wrong.contains(char::is_numeric), "{wrong}");
        }
    }
}
