//! What metrics are written with: the trait, what it sees and what it gives.

pub(super) use std::sync::Arc;

pub(super) use indexmap::IndexMap;
pub(super) use serde_json::Value as Json;

pub(super) use crate::columns::ValueColumn;
pub(super) use crate::error::{Error, Result};
pub(super) use crate::error_plan::{
    ClusterVariance, ErrorMethod, ErrorPlan, Estimation, IntervalChoice, IntervalMethod, IntervalSide,
};
pub(super) use crate::estimate::{
    Defined, Draws, ErrorFigure, Estimate, GroupContext, Interval, RatioScale, RatioTerm, ScoreKind,
    ScoreUnits, StdError, Undefined, resampled_estimate,
};
pub(super) use crate::evaluation::{Group, Groups, MetricValue, Role, Subject};
pub(super) use crate::inputs::{KeyUsage, MetadataKeys, Raters, RequiredKey, Wants};
pub(super) use crate::metadata::{Metadata, number_of};
pub(super) use crate::metric::{Metric, metric_flags, params_with_inner};
pub(super) use crate::naming::Order;
pub(super) use crate::python_text::json_text;
pub(super) use crate::registry::{ArgProblem, ArgType, ArgWord, Count, Params, Registry};
pub(super) use crate::scores::Scores;
pub(super) use crate::spec::Arg;
pub(super) use crate::value::{Conversion, Leaf, LeafKey, LeafRef, ValueRef};

pub(super) use errorbar_stats::exact::ExactSum;
