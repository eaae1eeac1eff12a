//! Everything that can be called by name: metrics, reducers and conversions.
//!
//! The registry is a value that is passed in, not a global: a test can hold two. The built-in
//! entries come from the explicit lists in `metrics/mod.rs` and `reducers/mod.rs`; what the macros
//! define is collected at link time by `inventory`; anything else is added by hand.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use indexmap::IndexMap;

use crate::args::Args;
use crate::error::{Error, Result};
use crate::metric::Metric;
use crate::plan::{MetricItem, MetricMap, Metrics};
use crate::reducer::Reducer;
use crate::spec::{
    Arg, MetricItem as MetricItemSpec, MetricMap as MetricMapSpec, MetricsSpec, Spec, nearest, split_k_suffix,
};
use crate::value::{Conversion, Leaf, ValueToFloat};
use crate::{metrics, reducers};

/// One argument of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name, as in logs.
    pub name: Cow<'static, str>,
    /// What it is when it is not passed, as a spec would write it; nothing if it must be passed.
    pub default: Option<Cow<'static, str>>,
}

impl Param {
    /// An argument that must be passed.
    pub const fn required(name: &'static str) -> Self {
        Param { name: Cow::Borrowed(name), default: None }
    }

    /// An argument with a default.
    pub const fn optional(name: &'static str, default: &'static str) -> Self {
        Param { name: Cow::Borrowed(name), default: Some(Cow::Borrowed(default)) }
    }
}

/// How something is built from its arguments.
pub type Build<T> = fn(&Args<'_>) -> Result<T>;

/// Something that can be built by name.
#[derive(Clone, Debug)]
pub struct Entry<T: 'static> {
    /// The name it is called by.
    pub name: &'static str,
    /// What it is, a sentence first.
    pub doc: &'static str,
    /// Its arguments, in order.
    pub params: &'static [Param],
    /// How it is built.
    pub build: Build<T>,
    /// Whether it takes the place of an entry of the same name.
    pub replaces: bool,
}

/// An entry that builds a metric.
pub type MetricEntry = Entry<Arc<dyn Metric>>;
/// An entry that builds a reducer.
pub type ReducerEntry = Entry<Arc<dyn Reducer>>;

/// The one conversion that is built in.
const VALUE_TO_FLOAT: Entry<Conversion> = Entry {
    name: "value_to_float",
    doc: "Grades to numbers: correct 1, partial 0.5, incorrect and noanswer 0; numbers and truth words as they are.",
    params: &[
        Param::optional("correct", "\"C\""),
        Param::optional("incorrect", "\"I\""),
        Param::optional("partial", "\"P\""),
        Param::optional("noanswer", "\"N\""),
    ],
    build: |args| {
        type SetGrade = fn(ValueToFloat, Leaf) -> ValueToFloat;
        let setters: [(&str, SetGrade); 4] = [
            ("correct", ValueToFloat::correct),
            ("incorrect", ValueToFloat::incorrect),
            ("partial", ValueToFloat::partial),
            ("noanswer", ValueToFloat::noanswer),
        ];
        let mut grades = ValueToFloat::default();
        for (name, set) in setters {
            if let Some(grade) = args.get(name)? {
                grades = set(grades, grade);
            }
        }
        Ok(grades.into())
    },
    replaces: false,
};

inventory::collect!(MetricEntry);
inventory::collect!(ReducerEntry);

/// An entry as `errorbar list` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The name.
    pub name: String,
    /// The arguments.
    pub params: Vec<Param>,
    /// What it is.
    pub doc: String,
    /// Whether errorbar brings it.
    pub built_in: bool,
}

impl Listing {
    /// The call with its arguments and defaults: `ci(level=0.95, …)`.
    pub fn signature(&self) -> String {
        let params: Vec<String> = self
            .params
            .iter()
            .map(|p| match &p.default {
                Some(default) => format!("{}={default}", p.name),
                None => p.name.to_string(),
            })
            .collect();
        format!("{}({})", self.name, params.join(", "))
    }

    /// The first paragraph of the documentation, on one line.
    pub fn summary(&self) -> String {
        let paragraph = self.doc.trim().split("\n\n").next().unwrap_or_default();
        paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

type SharedBuild<T> = Arc<dyn Fn(&Args<'_>) -> Result<T> + Send + Sync>;

#[derive(Clone)]
struct Registered<T> {
    listing: Listing,
    /// The package that its specs may name; built-in ones go by that of the reference.
    package: Option<String>,
    build: SharedBuild<T>,
}

impl<T> Registered<T> {
    /// Whether a spec with this package, or none, can mean this entry.
    fn goes_by(&self, spec: &Spec) -> bool {
        spec.package.is_none() || spec.package == self.package
    }
}

type Table<T> = IndexMap<String, Registered<T>>;

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
    metrics: Table<Arc<dyn Metric>>,
    reducers: Table<Arc<dyn Reducer>>,
    conversions: Table<Conversion>,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("metrics", &self.metrics.keys().collect::<Vec<_>>())
            .field("reducers", &self.reducers.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl Default for Registry {
    fn default() -> Self {
        Registry::built_in()
    }
}

impl Registry {
    /// What errorbar brings, and nothing else.
    pub fn built_in() -> Self {
        let mut registry =
            Registry { metrics: Table::new(), reducers: Table::new(), conversions: Table::new() };
        for entry in metrics::ENTRIES {
            insert(&mut registry.metrics, entry, true);
        }
        for entry in reducers::ENTRIES {
            insert(&mut registry.reducers, entry, true);
        }
        insert(&mut registry.conversions, &VALUE_TO_FLOAT, true);
        registry
    }

    /// What errorbar brings and what `#[metric]` and `#[reducer]` define in the program.
    pub fn collected() -> Result<Self> {
        let mut registry = Registry::built_in();
        for entry in inventory::iter::<MetricEntry> {
            registry.add_metric(entry)?;
        }
        for entry in inventory::iter::<ReducerEntry> {
            registry.add_reducer(entry)?;
        }
        Ok(registry)
    }

    /// Adds a metric; a name that is taken is refused unless the entry says that it replaces.
    pub fn add_metric(&mut self, entry: &MetricEntry) -> Result<()> {
        free("metric", &self.metrics, entry.name, entry.replaces)?;
        insert(&mut self.metrics, entry, false);
        Ok(())
    }

    /// Adds a reducer; a name that is taken is refused unless the entry says that it replaces.
    pub fn add_reducer(&mut self, entry: &ReducerEntry) -> Result<()> {
        free("reducer", &self.reducers, entry.name, entry.replaces)?;
        insert(&mut self.reducers, entry, false);
        Ok(())
    }

    /// Adds a ready metric under its own name, without arguments.
    pub fn add_metric_object(&mut self, metric: Arc<dyn Metric>, doc: &str) -> Result<()> {
        let Spec { name, package, .. } = metric.spec();
        free("metric", &self.metrics, &name, false)?;
        let listing =
            Listing { name: name.clone(), params: Vec::new(), doc: doc.to_owned(), built_in: false };
        self.metrics
            .insert(name, Registered { listing, package, build: Arc::new(move |_| Ok(Arc::clone(&metric))) });
        Ok(())
    }

    /// Adds a ready reducer under its own name, without arguments.
    pub fn add_reducer_object(&mut self, reducer: Arc<dyn Reducer>, doc: &str) -> Result<()> {
        let Spec { name, package, .. } = reducer.spec();
        free("reducer", &self.reducers, &name, false)?;
        let listing =
            Listing { name: name.clone(), params: Vec::new(), doc: doc.to_owned(), built_in: false };
        self.reducers.insert(
            name,
            Registered { listing, package, build: Arc::new(move |_| Ok(Arc::clone(&reducer))) },
        );
        Ok(())
    }

    /// Adds a conversion of one's own under its name.
    pub fn add_conversion(&mut self, conversion: Conversion, doc: &str) -> Result<()> {
        let Spec { name, package, .. } = conversion.spec();
        free("conversion", &self.conversions, &name, false)?;
        let listing =
            Listing { name: name.clone(), params: Vec::new(), doc: doc.to_owned(), built_in: false };
        let build: SharedBuild<Conversion> = Arc::new(move |_| Ok(conversion.clone()));
        self.conversions.insert(name, Registered { listing, package, build });
        Ok(())
    }

    /// Builds a metric from its spec.
    pub fn metric(&self, spec: &Spec) -> Result<Arc<dyn Metric>> {
        let found = self.metrics.get(&spec.name).filter(|registered| registered.goes_by(spec));
        let registered = found.ok_or_else(|| unknown("metric", spec, self.metrics.keys()))?;
        self.build(registered, spec)
    }

    /// Builds a reducer from its spec. `name_k` is shorthand for `name(k)`, unless a reducer of
    /// that literal name is registered.
    pub fn reducer(&self, spec: &Spec) -> Result<Arc<dyn Reducer>> {
        if let Some(registered) = self.reducers.get(&spec.name).filter(|registered| registered.goes_by(spec))
        {
            return self.build(registered, spec);
        }
        if let Some((name, k)) = split_k_suffix(&spec.name)
            && let Some(registered) = self.reducers.get(name)
            && registered.goes_by(spec)
            && registered.listing.params.first().is_some_and(|p| p.name == "k")
        {
            let k = i64::try_from(k).unwrap_or(i64::MAX);
            let mut long = Spec { name: name.to_owned(), ..spec.clone() };
            long.args.insert(0, Arg::Int(k));
            return self.build(registered, &long);
        }
        Err(unknown("reducer", spec, self.reducers.keys()))
    }

    /// Builds a conversion from its spec.
    pub fn conversion(&self, spec: &Spec) -> Result<Conversion> {
        let found = self.conversions.get(&spec.name).filter(|registered| registered.goes_by(spec));
        let registered = found.ok_or_else(|| unknown("conversion", spec, self.conversions.keys()))?;
        self.build(registered, spec)
    }

    /// Builds the metrics of a task or a scorer.
    pub fn metrics(&self, spec: &MetricsSpec) -> Result<Metrics> {
        let map = |map: &MetricMapSpec| -> Result<MetricMap> {
            map.iter()
                .map(|(pattern, specs)| {
                    let built = specs.iter().map(|spec| self.metric(spec)).collect::<Result<_>>()?;
                    Ok((pattern.clone(), built))
                })
                .collect()
        };
        match spec {
            MetricsSpec::Map(patterns) => Ok(Metrics::Map(map(patterns)?)),
            MetricsSpec::List(items) => items
                .iter()
                .map(|item| match item {
                    MetricItemSpec::Metric(spec) => self.metric(spec).map(MetricItem::Metric),
                    MetricItemSpec::Map(patterns) => map(patterns).map(MetricItem::Map),
                })
                .collect::<Result<_>>()
                .map(Metrics::List),
        }
    }

    /// All metrics, in order of registration.
    pub fn list_metrics(&self) -> impl Iterator<Item = &Listing> {
        self.metrics.values().map(|r| &r.listing)
    }

    /// All reducers, in order of registration.
    pub fn list_reducers(&self) -> impl Iterator<Item = &Listing> {
        self.reducers.values().map(|r| &r.listing)
    }

    /// All conversions, in order of registration.
    pub fn list_conversions(&self) -> impl Iterator<Item = &Listing> {
        self.conversions.values().map(|r| &r.listing)
    }

    fn build<T>(&self, registered: &Registered<T>, spec: &Spec) -> Result<T> {
        let names: Vec<&str> = registered.listing.params.iter().map(|p| p.name.as_ref()).collect();
        (registered.build)(&Args::bind(spec, &names, self)?)
    }
}

fn insert<T: 'static>(table: &mut Table<T>, entry: &Entry<T>, built_in: bool) {
    let listing = Listing {
        name: entry.name.to_owned(),
        params: entry.params.to_vec(),
        doc: entry.doc.to_owned(),
        built_in,
    };
    table.insert(
        entry.name.to_owned(),
        Registered {
            listing,
            package: built_in.then(|| "inspect_ai".to_owned()),
            build: Arc::new(entry.build),
        },
    );
}

fn free<T>(kind: &'static str, table: &Table<T>, name: &str, replaces: bool) -> Result<()> {
    if table.contains_key(name) && !replaces {
        return Err(Error::NameTaken { kind, name: name.to_owned() });
    }
    Ok(())
}

fn unknown<'a>(kind: &'static str, spec: &Spec, names: impl Iterator<Item = &'a String> + Clone) -> Error {
    Error::UnknownName {
        kind,
        name: spec.log_name().into_owned(),
        nearest: nearest(&spec.name, names.map(String::as_str)).map(str::to_owned),
    }
}
