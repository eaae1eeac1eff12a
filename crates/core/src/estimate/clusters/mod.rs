//! Scores by cluster: what clustered errors and intervals are made of, by each method and for one way of clustering or two.

mod spanning;

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use serde_json::Value as Json;

use self::spanning::{ClusteredGroup, CodeTotal, spanning_error, spans, totals};
use super::summary::Extent;
use super::{Defined, Draws, Estimate, StdError, Undefined};
use crate::error::{Error, Result};
use crate::error_plan::{ClusterVariance, ErrorMethod, ErrorPlan, Estimation, SummaryKey};
use crate::naming::{CodeTable, Interner};
use crate::python_text::json_text;
use crate::random::Random;
use crate::scores::Scores;
use crate::value::{Leaf, LeafKey};
use errorbar_stats::exact::{ExactSum, Moments, root_of_squares};
use errorbar_stats::resampling::{ClusterTotal, ResampledMeans};

/// Who belongs together. Numbers compare across types: 1, 1.0 and true are one cluster, "1" is another.
/// Null, lists and maps are no cluster.
fn cluster_id(json: &Json) -> Option<LeafKey> {
    if let Some(big) = json.as_u64().filter(|big| i64::try_from(*big).is_err()) {
        return Some(LeafKey::Big(big));
    }
    let leaf = Leaf::from_json(json).ok()?;
    LeafKey::new(leaf.view()).filter(|key| *key != LeafKey::Null)
}

/// Whether a metadata value can be a cluster id.
pub(crate) fn is_cluster_id(json: &Json) -> bool {
    cluster_id(json).is_some()
}

/// The cluster id of a metadata value; the sample at a position has it.
fn identify(metric: &str, key: &str, json: Option<&Json>, scores: &Scores<'_>, at: usize) -> Result<LeafKey> {
    let json = json.unwrap_or(&Json::Null);
    cluster_id(json).ok_or_else(|| Error::ClusterId {
        metric: metric.to_owned(),
        key: key.to_owned(),
        sample: scores.sample_id(at).to_owned(),
        found: describe(json),
    })
}

fn describe(json: &Json) -> String {
    match json {
        Json::Null => "null".to_owned(),
        other => json_text(other).chars().take(60).collect(),
    }
}

/// The id of a cluster; of one by two keys both.
pub(crate) type ClusterId = (LeafKey, Option<LeafKey>);

/// The clusters of scores.
#[derive(Clone, Debug, Default)]
pub struct RowClusters {
    /// The ids of the clusters, in order of first appearance.
    pub(crate) ids: Vec<ClusterId>,
    /// The cluster of the score at each position: a number of those ids.
    pub of_positions: Vec<u32>,
}

impl RowClusters {
    /// By a metadata key. Every distinct value of the key is looked at once.
    ///
    /// # Errors
    /// The first sample without the key, or with a value that is no cluster id.
    pub fn by_key(metric: &str, key: &str, scores: &Scores<'_>) -> Result<Self> {
        RowClusters::of_some(metric, key, scores, 0..scores.len())
    }

    /// The same for some of the scores, given by their positions: as many clusters, in that order. A label of a hundred
    /// thousand has few of them.
    fn of_some(
        metric: &str,
        key: &str,
        scores: &Scores<'_>,
        positions: impl ExactSizeIterator<Item = usize>,
    ) -> Result<Self> {
        let column = scores.key(metric, key);
        let codes = scores.codes(&column)?;
        let (mut ids, mut of_positions) = (Interner::default(), Vec::with_capacity(positions.len()));
        let mut known = CodeTable::default();
        for at in positions {
            let Some(code) = codes.get(at) else { continue };
            let cluster = match known.get(code).copied() {
                Some(cluster) => cluster,
                None => {
                    let id = identify(metric, key, column.value(*code as usize), scores, at)?;
                    let cluster = ids.intern((id, None));
                    known.insert(*code, cluster);
                    cluster
                }
            };
            of_positions.push(cluster);
        }
        Ok(RowClusters { ids: ids.iter().cloned().collect(), of_positions })
    }

    /// The sample of each score is its cluster.
    pub fn by_sample(scores: &Scores<'_>, positions: impl Iterator<Item = usize>) -> Self {
        let mut ids: Interner<&str> = Interner::default();
        let mut of_positions: Vec<u32> = Vec::with_capacity(scores.len());
        for at in positions {
            let id = scores.sample_id(at);
            // Epochs of a sample stand together, or samples in the same order as in the epoch before.
            let last = of_positions.last().copied().unwrap_or(0);
            let next = if last as usize + 1 < ids.len() { last + 1 } else { 0 };
            let guess = [last, next].into_iter().find(|cluster| ids.get(*cluster as usize) == Some(&id));
            of_positions.push(guess.unwrap_or_else(|| ids.intern(id)));
        }
        let id = |id: &&str| (LeafKey::Text((*id).to_owned()), None);
        RowClusters { ids: ids.iter().map(id).collect(), of_positions }
    }

    /// By one key or by sample; or by each of two keys, and by both at once.
    fn ways(
        metric: &str,
        keys: &[String],
        scores: &Scores<'_>,
        positions: impl ExactSizeIterator<Item = usize> + Clone,
    ) -> Result<Vec<Self>> {
        if keys.is_empty() {
            return Ok(vec![RowClusters::by_sample(scores, positions)]);
        }
        let by_key = |key: &String| RowClusters::of_some(metric, key, scores, positions.clone());
        let mut ways = keys.iter().map(by_key).collect::<Result<Vec<_>>>()?;
        if let [first, second] = ways.as_slice() {
            let mut pairs: Interner<(u32, u32)> = Interner::default();
            let all = first.of_positions.iter().copied().zip(second.of_positions.iter().copied());
            let of_positions = all.map(|pair| pairs.intern(pair)).collect();
            let id = |(a, b): &(u32, u32)| {
                let ((a, _), (b, _)) = (first.ids.get(*a as usize)?, second.ids.get(*b as usize)?);
                Some((a.clone(), Some(b.clone())))
            };
            let ids = pairs.iter().filter_map(id).collect();
            ways.push(RowClusters { ids, of_positions });
        }
        Ok(ways)
    }

    /// As the plan clusters these scores, given by their positions; empty if scores are independent.
    ///
    /// # Errors
    /// As in [`RowClusters::by_key`].
    pub(crate) fn of_plan(
        metric: &str,
        estimation: &Estimation,
        scores: &Scores<'_>,
        positions: impl ExactSizeIterator<Item = usize> + Clone,
    ) -> Result<Defined<Vec<Self>>> {
        let ways = match SummaryKey::of(&estimation.errors, estimation.by_sample) {
            SummaryKey::Moments | SummaryKey::Tally => return Ok(Ok(Vec::new())),
            SummaryKey::BySample => RowClusters::ways(metric, &[], scores, positions),
            SummaryKey::Clusters(keys) => RowClusters::ways(metric, &keys, scores, positions),
        };
        match ways {
            Err(error) if error.is_about_clusters() => Ok(Err(Undefined::Other(error.to_string()))),
            ways => ways.map(Ok),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }
}

/// Whether all scores have a cluster by every key of the plan. A key that a metric named is checked by that metric.
///
/// # Errors
/// The first sample that has none.
pub(crate) fn check(scores: &Scores<'_>) -> Result<()> {
    let estimation = scores.estimation();
    for key in estimation.errors.cluster.iter().filter(|_| !estimation.implied_cluster) {
        RowClusters::by_key(ERRORS, key, scores)?;
    }
    Ok(())
}

/// The name in errors for what requests clusters if no metric does.
pub(crate) const ERRORS: &str = "errors";

/// One cluster: how many scores, and their exact sum.
#[derive(Clone, Debug, Default)]
struct Cluster {
    n: u64,
    sum: ExactSum,
}

/// All clusters of one way of clustering, by their id.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clusters(IndexMap<ClusterId, Cluster, RandomState>);

impl Clusters {
    /// Of scores by a metadata key.
    fn by_key(metric: &str, key: &str, scores: &Scores<'_>, numbers: &[f64]) -> Result<Self> {
        let column = scores.key(metric, key);
        let codes = scores.codes(&column)?;
        // A small group of many clusters: a table of all codes would take longer than the scores.
        if column.distinct() / 4 > codes.len() {
            return Ok(Clusters::of(RowClusters::by_key(metric, key, scores)?, numbers));
        }
        let mut clusters = Clusters::default();
        for total in totals(&codes, numbers, column.distinct()) {
            let id = identify(metric, key, column.value(total.code), scores, total.first)?;
            let cluster = clusters.0.entry((id, None)).or_default();
            cluster.n += total.n;
            cluster.sum.merge(&total.sum);
        }
        Ok(clusters)
    }

    /// Of scores with their clusters.
    fn of(RowClusters { ids, of_positions }: RowClusters, numbers: &[f64]) -> Self {
        let totals = totals(&of_positions, numbers, ids.len());
        let cluster = |total: CodeTotal| Cluster { n: total.n, sum: total.sum };
        // Both are in order of first appearance.
        Clusters(ids.into_iter().zip(totals.into_iter().map(cluster)).collect())
    }

    /// The number of clusters, G.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    fn n(&self) -> u64 {
        self.0.values().map(|c| c.n).sum()
    }

    /// Size and sum of each cluster, for resampling whole clusters.
    pub(crate) fn totals(&self) -> Vec<ClusterTotal> {
        self.0.values().map(|c| ClusterTotal::new(c.n, c.sum.to_double_double())).collect()
    }

    /// The standard error of one way of clustering, and its degrees of freedom: G − 1 for CR0, CR1 and the bootstrap, those of
    /// Bell and McCaffrey (2002) for CR2, CR3 and the jackknife.
    fn error(&self, method: ErrorMethod, draws: u32, random: &Random) -> Defined<WayError> {
        let (g, clusters) = (self.len(), self.len() as u64);
        if g < 2 {
            return Err(Undefined::TooFewClusters { clusters });
        }
        let sizes = || self.0.values().map(|cluster| cluster.n);
        let df = degrees_of_freedom(method, sizes());
        let (se, draws) = match (method, ClusterCorrection::of_method(method, g)) {
            (_, Some(correction)) => (self.stderr_by(correction), None),
            // The mean of resamples of clusters of one size is a mean of independent numbers: nothing is to be drawn.
            (ErrorMethod::Bootstrap, _) if sizes().all(|size| Some(size) == sizes().next()) => {
                (self.stderr_by(ClusterCorrection::new(ClusterVariance::Cr0, g)), None)
            }
            (ErrorMethod::Bootstrap, _) => {
                let (se, draws) = drawn(&self.totals(), draws, random)?;
                (se, Some(draws))
            }
            _ => return Err(Undefined::NotAvailable),
        };
        if se.is_finite() { Ok(WayError { se, df, draws, clusters }) } else { Err(Undefined::Overflow) }
    }

    /// The clustered standard error of the mean with the small-sample factor (CR1):
    /// √( Σ_g (S_g − n_g·x̄)² · G/(G−1) ) / n; `None` for fewer than two clusters.
    ///
    /// n·S_g − n_g·S is taken from the exact sums, so neither a huge offset nor the order of the
    /// scores can change the result.
    pub(crate) fn stderr(&self) -> Option<f64> {
        let correction = ClusterCorrection::new(ClusterVariance::Cr1, self.len());
        (self.len() > 1).then(|| self.stderr_by(correction))
    }

    fn stderr_by(&self, correction: ClusterCorrection) -> f64 {
        correction.stderr(self.n() as f64, |divisor| self.deviations(divisor))
    }

    /// D_g over a weight, which is given the number of scores outside of the cluster.
    fn deviations(&self, weight: impl Fn(f64) -> f64) -> Vec<f64> {
        let n = self.n();
        let mut total = ExactSum::new();
        self.0.values().for_each(|c| total.merge(&c.sum));
        let (total_high, total_low) = total.to_double_double();
        let deviation = |cluster: &Cluster| {
            let (high, low) = cluster.sum.to_double_double();
            let mut deviation = ExactSum::new();
            deviation.add_times(high, n);
            deviation.add_times(low, n);
            deviation.add_times(-total_high, cluster.n);
            deviation.add_times(-total_low, cluster.n);
            deviation.divide(n) / weight(n.saturating_sub(cluster.n) as f64)
        };
        self.0.values().map(deviation).collect()
    }
}

/// Scores by cluster.
#[derive(Clone, Debug)]
pub struct ClusteredScores {
    pub(super) moments: Moments,
    pub(super) extent: Extent,
    /// One way of clustering; or two, and both at once: scores that share both keys.
    ways: Vec<Clusters>,
}

impl ClusteredScores {
    /// By these metadata keys, or by sample if there are none.
    pub(super) fn of(metric: &str, keys: &[String], scores: &Scores<'_>, numbers: &[f64]) -> Result<Self> {
        let mut moments = Moments::new();
        moments.extend(numbers);
        let ways = match keys {
            [key] => vec![Clusters::by_key(metric, key, scores, numbers)?],
            keys => {
                let ways = RowClusters::ways(metric, keys, scores, 0..scores.len())?;
                ways.into_iter().map(|way| Clusters::of(way, numbers)).collect()
            }
        };
        Ok(ClusteredScores { moments, extent: Extent::of(numbers), ways })
    }

    /// By cluster, of which only moments and ends are known.
    pub(super) fn from_parts<'p>(parts: impl Iterator<Item = (&'p Moments, Extent)>) -> Self {
        let (mut moments, mut extent, mut clusters) = (Moments::new(), Extent::NONE, Clusters::default());
        for (of_cluster, ends) in parts {
            moments.merge(of_cluster);
            extent = extent.and(ends);
            let cluster = Cluster { n: of_cluster.count(), sum: of_cluster.sum().clone() };
            clusters.0.insert((LeafKey::Int(clusters.0.len() as i64), None), cluster);
        }
        ClusteredScores { moments, extent, ways: vec![clusters] }
    }

    /// The clusters, if there is one way of clustering.
    pub(super) fn single(&self) -> Option<&Clusters> {
        match self.ways.as_slice() {
            [clusters] => Some(clusters),
            _ => None,
        }
    }

    /// The share of the scores that the largest cluster has.
    pub(super) fn largest_share(&self) -> f64 {
        // Both at once are smaller than each.
        let largest = self.ways.iter().flat_map(|way| way.0.values()).map(|cluster| cluster.n).max();
        largest.unwrap_or(0) as f64 / self.moments.count().max(1) as f64
    }

    /// The standard error of the mean.
    pub(super) fn error(&self, plan: &ErrorPlan, random: &Random) -> ErrorFigure {
        let method = plan.clustered_method();
        let ways = self.ways.iter().map(|clusters| clusters.error(method, plan.draws(), random));
        ErrorFigure::of_ways(method, ways)
    }
}

/// The standard error of the weighted mean of groups; none if no cluster has scores in two of them.
pub(super) fn error_of_groups(
    groups: &[(&ClusteredScores, f64)],
    plan: &ErrorPlan,
    random: &Random,
) -> Option<ErrorFigure> {
    let of_way = |way: usize| -> Vec<ClusteredGroup<'_>> {
        let known = groups.iter().filter_map(|(scores, weight)| Some((scores.ways.get(way)?, *weight)));
        known.map(|(clusters, weight)| ClusteredGroup { clusters, weight }).collect()
    };
    let (method, count) = (plan.clustered_method(), groups.first()?.0.ways.len());
    if !(0..count.min(2)).any(|way| spans(&of_way(way))) {
        return None;
    }
    let ways = (0..count).map(|way| spanning_error(&of_way(way), method, plan.draws(), random));
    Some(ErrorFigure::of_ways(method, ways))
}

/// A standard error, and what is to be known about it.
pub struct ErrorFigure {
    /// The error, or why there is none.
    pub error: Defined<StdError>,
    /// What every reader should know.
    pub note: Option<&'static str>,
    /// What makes it random.
    pub draws: Option<Draws>,
}

/// The standard error of one way of clustering.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WayError {
    pub(crate) se: f64,
    pub(crate) df: f64,
    pub(crate) draws: Option<Draws>,
    /// The number of clusters.
    pub(crate) clusters: u64,
}

impl ErrorFigure {
    /// An error that is neither random nor noteworthy.
    pub(crate) fn new(error: Defined<StdError>) -> Self {
        ErrorFigure { error, note: None, draws: None }
    }

    /// That of one way of clustering, or of two and of both at once: then the degrees of freedom are the smaller ones.
    pub(crate) fn of_ways(method: ErrorMethod, ways: impl Iterator<Item = Defined<WayError>>) -> Self {
        let ways = match ways.collect::<Defined<Vec<WayError>>>() {
            Ok(ways) => ways,
            Err(reason) => return ErrorFigure::new(Err(reason)),
        };
        let draws = ways.iter().find_map(|way| way.draws);
        let (se, note, df, clusters) = match ways.as_slice() {
            [first, second, both] => {
                let (se, note) = combined([first.se, second.se], both.se);
                (se, note, first.df.min(second.df), vec![first.clusters, second.clusters])
            }
            [way, ..] => (way.se, None, way.df, vec![way.clusters]),
            [] => return ErrorFigure::new(Err(Undefined::NoScores)),
        };
        let error = StdError::new(se, method).with_df(df).with_clusters(clusters);
        ErrorFigure { error: Ok(error), note, draws }
    }

    /// Puts into an estimate with this error what is to be known about it: what it would be for independent scores, the
    /// design effect, the effective n, the share of the largest cluster.
    pub(crate) fn annotate(&self, estimate: &mut Estimate, iid: Option<f64>, largest_share: Option<f64>) {
        let notes = &mut estimate.notes;
        estimate.draws = estimate.draws.or(self.draws);
        notes.iid_stderr = iid;
        notes.largest_cluster_share = largest_share;
        if largest_share.is_some() {
            let of_errors = self.error.as_ref().ok().zip(iid.filter(|iid| *iid > 0.0));
            let effect = of_errors.map(|(error, iid)| (error.se / iid) * (error.se / iid));
            notes.design_effect = effect;
            let effective = effect.filter(|effect| *effect > 0.0).map(|effect| estimate.n as f64 / effect);
            // That of an interval by Wilson counts zeros and ones, which is another number.
            notes.effective_n = effective.or(notes.effective_n);
        }
        // Kept, as clusters may well be more alike to each other than samples are, but it should be known.
        if notes.design_effect.is_some_and(|effect| effect > 0.0 && effect < 1.0 - ROUNDING) {
            notes.add_reason(BELOW_IID);
        }
        self.caution(estimate);
    }

    /// Puts into an estimate what every reader should know about its error.
    pub(crate) fn caution(&self, estimate: &mut Estimate) {
        if let Some(note) = self.note {
            estimate.notes.add_caution(note);
        }
    }
}

/// A design effect that is this close to 1 is 1.
const ROUNDING: f64 = 1e-9;

/// The note on a design effect below 1.
const BELOW_IID: &str = "the clustered error is below that of independent scores";

/// The standard deviation of the means of resampled clusters.
pub(super) fn drawn(clusters: &[ClusterTotal], draws: u32, random: &Random) -> Defined<(f64, Draws)> {
    random.check_draws(u64::from(draws), clusters.len() as u64).map_err(Undefined::Other)?;
    let means = ResampledMeans::of_clusters(clusters);
    let se = means.map_or(f64::NAN, |means| means.standard_deviation(draws as usize, random.seed));
    Ok((se, Draws::new(random.seed, u64::from(draws))))
}

/// V = V_a + V_b − V_ab (Cameron, Gelbach & Miller, "Robust inference with multiway clustering", 2011). That may come out
/// negative; the larger of the first two is then what can be defended.
fn combined(ways: [f64; 2], both: f64) -> (f64, Option<&'static str>) {
    let larger = ways[0].max(ways[1]);
    let unit = larger.max(both);
    if unit == 0.0 {
        return (0.0, None);
    }
    let square = |se: f64| (se / unit) * (se / unit);
    let sum = square(ways[0]) + square(ways[1]);
    let variance = sum - square(both);
    // Of variances that cancel nothing but rounding is left.
    if variance > 1e-12 * sum {
        return (unit * variance.sqrt(), None);
    }
    (larger, Some("the two-way variance is not positive, so the larger of the two one-way variances is used"))
}

/// The degrees of freedom of a method for clusters of these sizes.
pub(crate) fn degrees_of_freedom(method: ErrorMethod, sizes: impl Iterator<Item = u64> + Clone) -> f64 {
    let clusters = sizes.clone().count();
    match ClusterCorrection::of_method(method, clusters) {
        Some(correction) if correction.is_by_size() => bell_mccaffrey(sizes.map(|size| size as f64)),
        _ => (clusters as f64 - 1.0).max(0.0),
    }
}

/// The degrees of freedom of CR2 for clusters of these sizes, or weights in place of them:
/// n² / (Σ n_g² + (Σ a_g)² − Σ a_g²) with a_g = n_g²/(n − n_g).
pub(crate) fn bell_mccaffrey(weights: impl Iterator<Item = f64> + Clone) -> f64 {
    // Exact sums: the order of the clusters is that in which they were seen.
    let mut total = ExactSum::new();
    weights.clone().for_each(|weight| total.add(weight));
    let n = total.to_f64();
    let (mut of_sizes, mut sum, mut squares) = (ExactSum::new(), ExactSum::new(), ExactSum::new());
    for size in weights {
        let others = n - size;
        let a = size * size / others;
        of_sizes.add_product(size, size);
        sum.add(a);
        squares.add_product(a, a);
    }
    let sum = sum.to_f64();
    n * n / (of_sizes.to_f64() + (sum * sum - squares.to_f64()))
}

/// What the deviations of clusters are divided by, and the factor of their squares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClusterCorrection {
    leverage: Leverage,
    factor: f64,
}

/// The power of 1 − n_g/n that a deviation is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leverage {
    None,
    Half,
    Full,
}

impl ClusterCorrection {
    /// That of a method for this number of clusters; none for a method that has no such form.
    pub(crate) fn of_method(method: ErrorMethod, clusters: usize) -> Option<Self> {
        match method {
            ErrorMethod::Cluster(correction) => Some(ClusterCorrection::new(correction, clusters)),
            ErrorMethod::Jackknife => Some(ClusterCorrection::jackknife(clusters)),
            _ => None,
        }
    }

    pub(crate) fn new(correction: ClusterVariance, clusters: usize) -> Self {
        let g = clusters as f64;
        let (leverage, factor) = match correction {
            ClusterVariance::Cr0 => (Leverage::None, 1.0),
            ClusterVariance::Cr1 => (Leverage::None, g / (g - 1.0)),
            ClusterVariance::Cr2 => (Leverage::Half, 1.0),
            ClusterVariance::Cr3 => (Leverage::Full, 1.0),
        };
        ClusterCorrection { leverage, factor }
    }

    /// Leaving out one cluster at a time: x̄ − x̄₋g = D_g/(n − n_g).
    pub(crate) fn jackknife(clusters: usize) -> Self {
        let g = clusters as f64;
        ClusterCorrection { leverage: Leverage::Full, factor: (g - 1.0) / g }
    }

    /// The factor of the sum of squares.
    pub(crate) fn factor(self) -> f64 {
        self.factor
    }

    /// Whether it goes by the size of each cluster, so that its degrees of freedom are those of Bell and McCaffrey.
    pub(crate) fn is_by_size(self) -> bool {
        self.leverage != Leverage::None
    }

    /// d_g, in a whole of n of which `others` are outside of the cluster.
    pub(crate) fn divisor(self, n: f64, others: f64) -> f64 {
        match self.leverage {
            Leverage::None => n,
            Leverage::Half => n.sqrt() * others.sqrt(),
            Leverage::Full => others,
        }
    }

    /// factor/d_g².
    pub(crate) fn weight(self, n: f64, others: f64) -> f64 {
        let square = match self.leverage {
            Leverage::None => n * n,
            Leverage::Half => n * others,
            Leverage::Full => others * others,
        };
        self.factor / square
    }

    /// The standard error of a mean of n. `deviations` are the D_g, each over what it is given for the others.
    pub(crate) fn stderr(self, n: f64, deviations: impl FnOnce(&dyn Fn(f64) -> f64) -> Vec<f64>) -> f64 {
        match self.leverage {
            // A common divisor is divided by once.
            Leverage::None => root_of_squares(&deviations(&|_| 1.0), self.factor) / n,
            _ => root_of_squares(&deviations(&|others| self.divisor(n, others)), self.factor),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_factors_over_squared_divisors() {
        for method in ErrorMethod::choices() {
            let Some(correction) = ClusterCorrection::of_method(method, 4) else { continue };
            let (n, others) = (12.0, 9.0);
            let divisor = correction.divisor(n, others);
            let expected = correction.factor() / (divisor * divisor);
            assert!((correction.weight(n, others) / expected - 1.0).abs() < 1e-15, "{method}");
            let one = correction.stderr(n, |divisor| vec![3.0 / divisor(others)]);
            assert!((one / (9.0 * expected).sqrt() - 1.0).abs() < 1e-15, "{method}");
        }
    }
}
