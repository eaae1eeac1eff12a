"""Cases of `match`: text, then numbers, at each of the four locations."""

import itertools
import string

from .build import BLANK, UNICODE_PAIRS, Dice, cases, verdict_on

LOCATIONS = ("begin", "end", "any", "exact")
TEXT = [
    ("Paris", "Paris"), ("The answer is Paris", "Paris"), ("The answer is Paris.", "paris"), ("Paris is it", "PARIS"), ("It is Paris, I think", "Paris"),
    ("  Paris  ", "Paris"), ("\n\nParis\n", "Paris"), ("Paris", " Paris. "), ("**Paris**", "Paris"), ("\"Paris\"", "Paris"), ("(Paris)!?", "Paris"),
    ("Parisian", "Paris"), ("comparis", "paris"), ("Par is", "Paris"), ("Paris", "Par"), ("P.a.r.i.s", "P.a.r"), ("a . b", "a.b"), ("x Paris Paris", "Paris Paris"),
    ("x: a b", "a  b"), ("New York", ["Paris", "york"]), ("New York", ["Paris", "Rome"]), ("New York", ["new", "york"]), ("x", []), ("yes.", "yes"), ("No", "yes"),
    ("Paris…", "Paris"), ("«Paris»", "Paris"), ("Paris。", "Paris"), ("Paris.\u00a0.", "Paris"), ("$Paris$", "Paris"), ("Paris, France", "Paris France"), ("42", "42"), ("42.0", "42"),
]  # fmt: skip
NUMBERS = [
    "42", "-42", "+42", "42.", "42.0", "$42", "42€", "£42.50", "1,234", "1,234,567.891", "1.234,5", "60%", "60 %", "3.14159", ".5", "0.50", "5.", "1e3", "1E-3", "1e400", "007",
    "**42**", "_42_", "*42*", "`42`", "(42)", "[42]", "{42}", "'42'", '"42"', "“42”", "42!", "42?", "42;", "42:", "~42", "≈42", "=42", "#42", "x=42", "42x", "42km", "42 km", "5th", "1/2", "5-6",
    "2^3", "2**3", "10⁶", "5²", "-3²", "2⁻²", "x²", "²", "½", "2½", "-1½", "⅔", "−5", "–5", "--5", "+-5", "- 5", "1 000", "1\u00a0000", "1\u202f000", "1'000", "1’000", "1_000", "٣", "٣٫٥", "४२", "４２", "５．０", "𝟓",
    "①", "⑳", "Ⅳ", "五", "二十五", "三百二十", "一億二千三百万", "五个", "5️⃣", "nan", "inf", "Infinity", "0x10", "five", "1.2.3", "1..2", "1...", "", "¥5", "5°C", "-0", "0",
    "\\boxed{5}", "$5$", "\\(5\\)", "99999.5", "123456", "0.00001234", "5\u200b",
]  # fmt: skip
SENTENCES = [
    "The answer is 42", "The answer is 42.", "42 is the answer", "I have 3 apples and 4 pears", "First 1, then 2; finally 3.", "So $1,234.50 in total", "5% and 6", "5 6 7", "a5 b6",
    "Step 1. 2 + 2 = 4", "It costs $5.00 (five dollars)", "Between 5 and 10", "no number here", "x 5² y", "5 x\n6 y\n", "1. 5\n2. 6", "Total: **1,000**", "The result is -7 degrees", "= 12",
    "12 = 3 * 4", "It is 7/8", "50 percent", "3,5 or 3.5", "About 1e6", "The 5th of 6 runs", "nan 5 inf", "1 000 000", "６ or ７",
]  # fmt: skip
TARGETS = ["42", "5", "4", "3.0", "1234.5", "1,000", "-7", "6", "7", "12", "1e6", "$5", "5%", "five", "", "½", "1 2", "3.5"]
FRAGMENTS = [
    "5", "5.0", "-5", "42", "1,234", "$", "€", "%", ".", ",", "*", "**", "_", "(", ")", "'", "\"", " ", " ", " ", "\n", "the", "answer", "is", "Paris", "½", "²", "⁻¹", "−", "+", "e3", "E", "1e3", "٣",
    "五", "Ⅳ", "’", "x", ":", ";", "!", "0", "00", "。", "~", "=", "-", "/", "\t", "\u00a0", "?", "[", "]", "`", "#",
]  # fmt: skip
RANDOM_TARGETS = ["5", "5.0", "-5", "42", "1234", "1,234", "Paris", "the answer", "5%", "0.5", "25", "3", "x", "é", "1000", "15", "0", "(5)", "is", "."]


def text():
    out = []
    for location in LOCATIONS:
        out += cases("match", f"{location}", TEXT, location=location)
        out += cases("match", f"{location}-unicode", UNICODE_PAIRS, location=location)
        out += cases("match", f"{location}-blank", BLANK, location=location)
        out += cases("match", f"{location}-case", TEXT[:8] + [("paris", "Paris"), ("PARIS.", "PARIS")], location=location, ignore_case=False)
    edges = [(f"{c}a", "a") for c in string.punctuation] + [(f"a{c}", "a") for c in string.punctuation]
    out += cases("match", "edges", edges, location="exact")
    out += cases("match", "default", [("It is Paris", "paris"), ("Paris it is", "paris")])
    dice = Dice("match")
    words = ["Paris", "paris", "PARIS", "is", "the", " ", " ", "\n", ".", "!", "*", "(", ")", "\u00a0", "é", "ß", "SS", "-", "'"]
    for number in range(100):
        location, fold = dice.one(LOCATIONS), dice.chance(0.7)
        row = (dice.join(words, 0, 6), dice.several(["Paris", "is", "ss", "the Paris", "é.", ".", " paris "], 1, 2))
        out += cases("match", f"random-{number}", [row], location=location, ignore_case=fold)
    return out


def numeric():
    out = []
    for location in LOCATIONS:
        out += cases("match", f"numeric-{location}", itertools.product(SENTENCES, TARGETS[:5]), location=location, numeric=True)
        out += cases("match", f"numeric-{location}-target", itertools.product(["5", "y 5 z", "42."], TARGETS[5:]), location=location, numeric=True)
        out += cases("match", f"numeric-{location}-several", [("5%", ["5", "5%"]), ("5%", ["5", "x"]), ("5 x", ["x", "7"]), ("5 X", ["7", "q"]), ("5", ["4", "5.0"]), ("5", [])], location=location, numeric=True)
    for location in ("end", "exact"):
        out += cases("match", f"numeric-{location}-form", [(number, "7") for number in NUMBERS], location=location, numeric=True)
    out += cases("match", "numeric-edge", [(t.format(c), "5") for t in ("{}5", "5{}", "5{}6", "({}5)") for c in string.punctuation], numeric=True)
    out += cases("match", "numeric-same", [(number, number) for number in NUMBERS], numeric=True)
    out += cases("match", "numeric-case", [("A B", "5"), ("1E3", "1e3"), ("A 5", "5"), ("A B", "a b"), ("A B", "A B")], location="exact", numeric=True, ignore_case=False)
    out += cases("match", "numeric-digits", [
        ("123456", "123457"), ("100000", "100001"), ("3.14159", "3.1416"), ("99999", "100000"), ("5.000001", "5"), ("12345.6", "12346"), ("1000000", "1e6"), ("25", "5²"), ("0.5", "½"), ("12", "1 2"), ("7", "Ⅶ"),
    ], numeric=True)  # fmt: skip
    out += cases("match", "numeric-zero", [("-0", "0"), ("0", "-0"), ("-0.0", "0"), ("0", "-0.0")], "negative-zero", numeric=True)
    marked = [("1,000 dogs", "1,000 dogs"), ("It is a_b", "a_b"), ("2*3 = x*y", "x*y"), ("yes, sir", "yes, sir")]
    out += cases("match", "numeric-marked", marked, "marked-target", numeric=True)
    out += cases("match", "numeric-unmarked", [("1000 dogs", "1,000 dogs"), ("ab", "a_b"), ("x", "$x"), ("**bold**", "bold"), ("5 km", "5 km"), ("5.0 km", "5 km"), ("x y", "x, y")], numeric=True)
    out += cases("match", "numeric-forms", [(form, "7") for form in ("ↂ", "㉈", "፪", "௰", "𐄇", "⅟", "🄂", "廿", "卅三")], "number-forms", numeric=True)
    out += cases("match", "numeric-myriads", [(form, "5") for form in ("万五", "1.5万", "一万五", "五万", "二千万", "十", "百五", "千千")], numeric=True)
    out += cases("match", "numeric-chinese", [("3万5000", "35000"), ("12万", "120000"), ("100万", "1000000"), ("約1万2千円 2万30", "20030")], "chinese-digits", numeric=True)
    dice = Dice("match numeric")
    for number in range(200):
        location, fold = dice.one(LOCATIONS), dice.chance(0.8)
        row = (dice.join(FRAGMENTS, 1, 9), dice.several(RANDOM_TARGETS, 1, 2))
        out += cases("match", f"numeric-random-{number}", [row], location=location, ignore_case=fold, numeric=True)
    same = [case["name"] for case in out if case["name"].startswith("match-numeric-same-") and case["completion"] in ("-0",)]
    return verdict_on(out, "negative-zero", *same)
