"""What the cases of the text scorers are written with."""

import random

SEED = 20_250_102


def cases(scorer, group, rows, verdict=None, **args):
    """Rows (completion, targets), a target being a string or a list of them; numbered within the group."""
    out = []
    for number, (completion, targets) in enumerate(rows, 1):
        case = {
            "name": f"{scorer}-{group}-{number}",
            "scorer": scorer,
            "args": args,
            "completion": completion,
            "targets": [targets] if isinstance(targets, str) else targets,
        }
        if verdict:
            case["verdict"] = verdict
        out.append(case)
    return out


def choice_cases(group, rows, choices=4, multiple=False, targets="A", verdict=None):
    """Rows are completions, or (completion, targets)."""
    rows = [row if isinstance(row, tuple) else (row, targets) for row in rows]
    out = cases("choice", group, rows, verdict)
    return [case | {"choices": choices, "multiple": multiple} for case in out]


def verdict_on(cases, tag, *names):
    """The same cases, with a verdict on the named ones."""
    assert set(names) <= {case["name"] for case in cases}, f"no such case among {names}"
    return [case | {"verdict": tag} if case["name"] in names else case for case in cases]


class Dice:
    """Strings composed at random, the same ones each time."""

    def __init__(self, name):
        self.random = random.Random(f"{SEED} {name}")

    def one(self, items):
        return self.random.choice(items)

    def several(self, items, least, most):
        return [self.one(items) for _ in range(self.random.randint(least, most))]

    def join(self, items, least, most, glue=("",)):
        """Items with glue between them."""
        parts = self.several(items, least, most)
        return "".join(part + (self.one(glue) if i + 1 < len(parts) else "") for i, part in enumerate(parts))

    def chance(self, share):
        return self.random.random() < share


# ---------------------------------------------------------------- strings for several scorers

NFC, NFD = "\u00e9", "e\u0301"
UNICODE_PAIRS = [
    ("Straße", "STRASSE"), ("STRASSE", "straße"), ("ẞ", "ß"), ("ß", "SS"), (NFC, NFD), (NFD, NFC), ("É", NFC),
    ("\u0130", "i\u0307"), ("\u0130", "i"), ("ı", "I"), ("ΟΔΟΣ", "οδος"), ("οδος", "ΟΔΟΣ"), ("ﬁn", "FIN"), ("ſ", "s"), ("\u212a", "k"),
    ("日本", "日本"), ("ｐａｒｉｓ", "paris"), ("ＰＡＲＩＳ", "ｐａｒｉｓ"), ("🙂", "🙂"), ("👩‍🚀", "👩"), ("नमस्ते", "नमस्ते"), ("Ꭰ", "ꭰ"), ("ŉ", "ʼn"),
    ("\u200bparis", "paris"), ("paris\u00a0", "paris"), ("paris\u3000", "paris"), ("\x1cparis", "paris"), ("Ǆ", "ǆ"), ("Ω", "ω"),
]  # fmt: skip
BLANK = [("", "x"), ("", ""), (" ", "x"), ("\n", ""), ("\u3000", "x"), ("\u200b", "x"), ("x", ""), ("x", " "), ("x", []), ("", [])]
