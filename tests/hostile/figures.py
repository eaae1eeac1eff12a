"""Figures that take endless work or memory, and figures of next to nothing: metrics, reducers and error plans, in logs
and over tables."""

from __future__ import annotations

from pathlib import Path

from case import Cases
from log_parts import dumps, header, json_log, sample, scorers

CASES = Cases("log")
case = CASES.case


# --- plans of logs ---


def _log(path: Path, metric: dict, values=None, **fields) -> None:
    values = values or [sample(id, metadata={"category": id % 7}) for id in range(1, 101)]
    path.write_text(json_log(header(scorers=scorers(metric), **fields), ",".join(map(dumps, values))))


def _metric(name: str, **options) -> dict:
    return {"name": f"errorbar/{name}", "options": options}


ACCURACY = {"type": "metric", "name": "accuracy", "params": {}}
MEAN_OF_GROUPS = {"type": "metric", "name": "inspect_ai/grouped", "params": {"metric": ACCURACY, "group_key": "category"}}
ALPHA = {"type": "metric", "name": "errorbar/krippendorff_alpha", "params": {"raters": ["category", "match"]}}
PLANS = {
    "bootstrap_of_alpha": _metric("bootstrap", metric=ALPHA, num_samples=10**6),
    "ci_wild_1e7": _metric("ci", method="wild", num_samples=10**7),
    "bootstrap_1e9": _metric("bootstrap", metric=ACCURACY, num_samples=10**9),
    "bootstrap_of_groups": _metric("bootstrap", metric=MEAN_OF_GROUPS, num_samples=10**7),
    "ece_bins_1e9": _metric("ece", bins=10**9),
    "brier_bins_1e9": _metric("brier_decomposition", bins=10**9),
    "quantile_2": _metric("quantile", q=2),
    "quantile_nan": _metric("quantile", q=float("nan")),
    "ci_level_2": _metric("ci", level=2, method="bca"),
    "ci_wild_1e9": _metric("ci", method="wild", num_samples=10**9),
    "kappa_order_1e6": _metric("cohen_kappa", raters="category", weights="linear", order=list(range(10**6))),
    "weights_1e6": _metric("grouped", metric=ACCURACY, group_key="category", all="groups", weights={str(n): 1 for n in range(10**6)}),
    "condition_1e5": _metric("where", metric=ACCURACY, condition=[f"category!={n}" for n in range(10**5)]),
}  # fmt: skip


def _plan(metric: dict):
    return lambda path: _log(path, metric)


for name, metric in PLANS.items():
    text = dumps(metric["options"])
    case(f"figure_{name}.json", f"{metric['name']} with {text if len(text) < 60 else text[:60] + '…'}")(_plan(metric))


@case("figure_bootstraps_1e8.json", "two standard errors from 100,000,000 resamples of 10 scores each")
def bootstraps(path: Path) -> None:
    metric = {"name": "inspect_ai/bootstrap_stderr", "options": {"num_samples": 10**8}}
    samples = ",".join(dumps(sample(id, scores={"match": {"value": id % 4}})) for id in range(1, 11))
    path.write_text(json_log(header(scorers=scorers(metric, metric)), samples))


@case("figure_groups_of_medians.json", "10,000 resamples of the median in each of 10,000 groups")
def groups_of_medians(path: Path) -> None:
    median = {"type": "metric", "name": "errorbar/median", "params": {}}
    inner = {"type": "metric", "name": "errorbar/bootstrap", "params": {"metric": median, "num_samples": 10_000}}
    metric = {"name": "inspect_ai/grouped", "options": {"metric": inner, "group_key": "category"}}
    values = (sample(id, metadata={"category": id % 10_000}, scores={"match": {"value": id % 11}}) for id in range(1, 60_001))
    path.write_text(json_log(header(scorers=scorers(metric)), ",".join(map(dumps, values))))


@case("figure_reducers_1e5.json", "pass_at(1..100000) as the reducers of a log")
def reducers(path: Path) -> None:
    names = [f"pass_at_{n}" for n in range(1, 100_001)]
    _log(path, {"name": "inspect_ai/accuracy", "options": {}}, config={"epochs": 2, "epochs_reducer": names})


@case("figure_one_sample.json", "variance components of one sample with one epoch")
def one_sample(path: Path) -> None:
    _log(path, _metric("variance_components"), [sample(1)])


# --- metrics over tables ---


def _table(rows) -> bytes:
    return b"id,epoch,score,category,confidence\n" + "".join(rows).encode()


def groups(path: Path) -> None:
    path.write_bytes(_table(f"q{n},1,{n % 2},c{n},0.5\n" for n in range(100_000)))


def labels(path: Path) -> None:
    path.write_bytes(_table(f"q{n},1,label {n},label {n + 1},0.5\n" for n in range(100_000)))


def numbers(path: Path) -> None:
    path.write_bytes(_table(f"q{n},1,{n}.5,c{n % 1000},{n % 997 / 996}\n" for n in range(100_000)))


def verdicts(path: Path) -> None:
    path.write_bytes(_table(f"q{n},1,{n % 3 % 2},{n % 5 % 2},{n % 997 / 996}\n" for n in range(100_000)))


def epochs(path: Path) -> None:
    path.write_bytes(_table(f"q1,{n},{n % 2},c,0.5\n" for n in range(1, 20_001)))


def one(path: Path) -> None:
    path.write_bytes(_table(["q1,1,1,c,0.5\n"]))


def extremes(path: Path) -> None:
    path.write_bytes(_table(f"q{n},1,{'-' * (n % 2)}1.7e308,c{n % 3},{n % 2}\n" for n in range(40)))


def huge_weights(path: Path) -> None:
    path.write_bytes(_table(f"q{n},1,{n % 2},1e308,{n % 2}\n" for n in range(40)))


def some_groups(path: Path) -> None:
    path.write_bytes(_table(f"q{n},1,{n % 2},c{n},0.5\n" for n in range(50_000)))


def models(count: int, is_shared: bool = True):
    """Two samples of each of many models: the same two, or each its own."""

    def make(path: Path) -> None:
        ids = [["q1", "q2"] if is_shared else [f"q{model}", f"r{model}"] for model in range(count)]
        rows = (f"{id},m{model},{(model + at) % 2}\n" for model in range(count) for at, id in enumerate(ids[model]))
        path.write_text("id,model,score\n" + "".join(rows))

    return make


OF_TABLES = {
    "report_models_2000": (models(2_000), "REPORT --by model", "a page of 2,000 models"),
    "report_models_5000": (models(5_000), "REPORT --by model", "a page of 5,000 models"),
    "report_models_10000": (models(10_001), "REPORT --by model", "more models than there may be"),
    "report_models_apart": (models(5_000, is_shared=False), "REPORT --by model", "5,000 models without a common sample"),
    "report_models_pairs": (models(201), "REPORT --by model --all-pairs", "more models than all pairs may be of"),
    "report_groups": (some_groups, "REPORT --group category", "a page of 50,000 groups"),
    "groups_bootstrap": (groups, "-m 'bootstrap(grouped(mean(), \"category\"))'", "100,000 groups, resampled"),
    "groups_each_bootstrap": (groups, "-m 'grouped(bootstrap(mean()), \"category\")'", "a bootstrap in each of 100,000 groups"),
    "groups_together": (groups, "-m 'grouped(mean(), \"category\", all=\"groups\", simultaneous=true)'", "100,000 intervals at once"),
    "groups_shrunken": (groups, "-m 'grouped(mean(), \"category\", shrink=true)'", "100,000 groups shrunken"),
    "groups_bca": (groups, "-m 'bootstrap(grouped(mean(), \"category\"), 200)' --interval bca", "one unit left out for 100,000 groups"),
    "groups_median": (groups, "-m 'grouped(median(), \"category\")'", "100,000 medians"),
    "labels_kappa": (labels, "--no-reduce -m 'cohen_kappa(\"category\")'", "kappa with 100,001 labels"),
    "labels_kappa_linear": (labels, "-m 'cohen_kappa(\"category\", weights=\"linear\")'", "weights between 100,001 words"),
    "labels_gwet": (labels, "-m 'gwet_ac1(\"category\")'", "AC1 with 100,001 labels"),
    "labels_fleiss": (labels, "-m 'fleiss_kappa(\"category\")'", "Fleiss' kappa with 100,001 labels"),
    "labels_precision": (labels, "-m 'precision(\"category\", average=\"none\")'", "precision of each of 100,001 labels"),
    "labels_f1_clusters": (labels, "-m 'f1_score(\"category\", average=\"none\")' --cluster confidence", "the same by cluster"),
    "labels_macro": (labels, "-m 'recall(\"category\")'", "a macro mean over 100,001 labels, resampled"),
    "numbers_alpha": (numbers, "-m 'krippendorff_alpha(raters=[\"score\", \"confidence\"], level=\"interval\")'", "alpha over 100,000 distinct numbers"),
    "numbers_alpha_ordinal": (numbers, "-m 'krippendorff_alpha(raters=[\"score\", \"confidence\"], level=\"ordinal\")'", "ordinal alpha"),
    "numbers_kappa_quadratic": (numbers, "-m 'cohen_kappa(\"confidence\", weights=\"quadratic\")'", "quadratic weights of 100,000 numbers"),
    "numbers_bca": (numbers, "--interval bca --draws 200", "BCa over 100,000 distinct scores"),
    "numbers_wild": (numbers, "--interval wild --cluster category", "1,000 clusters, wild"),
    "numbers_exact": (numbers, "--interval exact", "sums with too many values"),
    "numbers_quantiles": (numbers, "-m 'quantile(1e-300)' -m 'quantile(0.999999999)' --cluster category --draws 200", "extreme quantiles"),
    "numbers_coverage": (numbers, "COVERAGE --simulations 100 --interval t", "coverage of 100,000 scores"),
    "verdicts_ece_debiased": (verdicts, "-m 'ece_debiased(bins=1000)'", "1,000 bins, resampled"),
    "verdicts_auroc": (verdicts, "-m auroc --errors jackknife", "100,000 answers, one left out at a time"),
    "verdicts_auprc": (verdicts, "-m auprc --interval bca", "the same for auprc"),
    "verdicts_ppi": (verdicts, "-m 'ppi(\"category\")' -m 'rogan_gladen(\"category\")' --interval bca", "corrected means by BCa"),
    "verdicts_coverage": (verdicts, "COVERAGE --simulations 100000", "100,000 simulations: memory must not grow with them"),
    "epochs_g_pass": (epochs, "-m mean --reducer 'g_pass(10000, 5000)' --reducer 'best_of(20000)'", "20,000 epochs of one sample"),
    "epochs_components": (epochs, "-m variance_components -m consistency", "the same, in components"),
    "one_everything": (one, "-m variance_components -m consistency -m median -m 'bootstrap(mean())' -m brier -m auroc -m ece", "one sample"),
    "one_judges": (one, "-m 'ppi(\"category\")' -m 'cohen_kappa(\"category\")' -m 'gwet_ac1(\"category\")'", "one sample, and judges"),
    "extremes_all": (extremes, "-m mean -m median -m geometric_mean -m 'bootstrap(std())' --interval bca --cluster category", "scores next to overflow"),
    "weights_1e308": (huge_weights, "-m 'weighted_mean(\"category\")' --interval bootstrap", "weights whose sum overflows"),
}  # fmt: skip

for name, (make, arguments, about) in OF_TABLES.items():
    case(f"figure_{name}.csv", about, kind="figures", arguments=arguments)(make)
