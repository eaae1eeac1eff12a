"""Perplexity, which reads the metadata of scores."""

import itertools
import random

from .build import INF, MISSING, NAN, S, case, epochs, rows, slug


def perplexity():
    def m(tokens=MISSING, logp=MISSING, **more):
        meta = {} if tokens is MISSING else {"num_tokens": tokens}
        if logp is not MISSING:
            meta["sum_log_probs"] = logp
        return S(1.0, metadata=meta | more)

    tables = {
        "plain": [m(10, -5.0), m(20, -30.0), m(1, -0.1)],
        "zero-tokens": [m(0, 0.0), m(10, -5.0)],
        "zero-tokens-with-logp": [m(0, -3.0), m(10, -5.0)],
        "only-zero": [m(0, 0.0), m(0, 0.0)],
        "no-metadata": [1.0, m(10, -5.0)],
        "nothing": [1.0, 2.0],
        "no-tokens": [m(logp=-5.0), m(10, -5.0)],
        "no-logp": [m(10), m(10, -5.0)],
        "null-fields": [m(None, None), m(10, -5.0)],
        "int-logp": [m(10, -5), m(20, -30)],
        "float-tokens": [m(10.0, -5.0), m(2.5, -1.0)],
        "text-fields": [m("10", "-5"), m(10, -5.0)],
        "negative-tokens": [m(-5, -5.0), m(10, -5.0)],
        "positive-logp": [m(10, 5.0)],
        "overflow": [m(1, -1000.0)],
        "overflow-one": [m(1, -1000.0), m(1000, -1.0)],
        "underflow": [m(1, 1000.0)],
        "nan-logp": [m(10, NAN), m(10, -5.0)],
        "minus-inf-logp": [m(10, -INF), m(10, -5.0)],
        "inf-logp": [m(10, INF), m(10, -5.0)],
        "bool-tokens": [m(True, -1.0), m(10, -5.0)],
        "none": [],
        "one": [m(7, -3.5)],
        "unscored-with-metadata": [S(NAN, metadata={"num_tokens": 10, "sum_log_probs": -50.0}), m(10, -5.0)],
        "all-unscored": [S(NAN, metadata={"num_tokens": 10, "sum_log_probs": -50.0})],
        "extra": [m(10, -5.0, model="x")],
    }
    both = ["perplexity_per_token()", "perplexity_per_seq()"]
    out = []
    for (label, values), spec in itertools.product(tables.items(), both):
        odd = ("float-tokens", "text-fields", "negative-tokens", "bool-tokens", "nan-logp", "minus-inf-logp", "inf-logp")
        verdict = "perplexity-fields" if label in odd else None
        out.append(case(f"{slug(spec)}-{label}", f"token counts and log-probabilities: {label}", [spec], rows(values), verdict=verdict))
    out += [
        case("perplexity-epochs", "reduction keeps the first epoch's metadata", both, epochs([[m(10, -5.0), m(10, -9.0)], [m(4, -1.0), m(4, -2.0)]])),
        case("perplexity-epochs-unreduced", "every epoch", both, epochs([[m(10, -5.0), m(10, -9.0)], [m(4, -1.0), m(4, -2.0)]]), reducers=[]),
        case("perplexity-value-ignored", "the value does not matter", both, rows([S("x", metadata={"num_tokens": 2, "sum_log_probs": -1.0})]), reducers=[]),
        case("perplexity-beside-mean", "beside a converting metric", ["mean()", *both], rows([m(10, -5.0), m(2, -3.0)])),
        case("perplexity-epoch-first-unscored", "the first epoch is unscored but its metadata stays", both,
             epochs([[S(NAN, metadata={"num_tokens": 3, "sum_log_probs": -9.0}), m(10, -5.0)]])),
    ]
    rng = random.Random(4)
    values = [m(rng.randint(1, 200), -round(rng.random() * 300, 3)) for _ in range(40)]
    out.append(case("perplexity-random", "forty sequences", both, rows(values)))
    return out
