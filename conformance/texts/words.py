"""Cases of `includes`, `exact` and `f1`."""

import itertools
import string

from .build import BLANK, UNICODE_PAIRS, Dice, cases

WORDS = ["Paris", "paris", "PARIS", "the", "The", "a", "an", "AN", "is", "5", "5.0", "05", "1,000", "1000", "$5", "50%", "x-y", "it's", "its", "e.g.", "(x)", "**x**", "é", "ß", "ss", "five", ".5", "1e3", "-5", "a’b", "x_y", "!"]
GLUE = [" ", " ", " ", "  ", "-", "\n", ", ", ". ", "\t", " - "]

INCLUDES = [
    ("The answer is Paris", "Paris"), ("The answer is PARIS.", "paris"), ("Par is", "Paris"), ("comparison", "paris"), ("a b", "a  b"), ("a\nb", "a b"), ("a b", "a b "), ("x", "y"),
    ("It is 42.", "42"), ("It is 420", "42"), ("4.2", "42"), ("1,234", "1234"), ("$5", "5"), ("5%", "5%"), ("x²", "²"), ("abc", ["x", "b"]), ("abc", ["x", "y"]), ("abc", ["c", "a"]), ("a.c", "a.c"), ("abc", "a.c"),
    ("ANSWER: C", "answer: c"), ("line one\nline two", "one\nline"), ("tab\there", "tab\t"), ("**bold**", "bold"), ("(x)", "(X)"), ("\\d+", "\\D"),
]  # fmt: skip
EXACT = [
    ("Paris", "paris"), ("The Paris", "paris"), ("paris.", "Paris"), (" Paris\n", "paris"), ("Paris France", "France Paris"), ("c c", "c"), ("Paris, France", "paris france"), ("an apple a day", "apple day"), ("a", "the"), ("THE", "the"),
    ("theory", "ory"), ("thea", "the a"), ("a.m.", "am"), ("a.", "a"), ("it's", "its"), ("x-y", "xy"), ("x-y", "x y"), ("x--y", "x y"), ("x -", "x"), ("-", "-"), ("!", "!"), ("x !", "x"), ("x/y", "xy"), ("x/y", "x y"), ("a_b", "ab"),
    ("“a”", "a"), ("x…", "x"), ("a–b", "ab"), ("a’b", "’b"), ("x a’b", "x ’b"), ("a\nb", "a b"), ("x\ny", "x y"), ("x\u00a0y", "x y"), ("x\u200by", "x y"), ("x\x1fy", "x y"), ("the\ncat", "cat"), ("x\n5.0", "x 5"), ("x\n5.0", "x 50"), ("x 5.0", "x 5"),
    ("5.0", "5"), ("5", "5.0"), ("05", "5"), ("5.", "5"), (".5", "0.5"), ("0.50", ".5"), ("+5", "5"), ("-5", "5"), ("-5", "-5.0"), ("1e3", "1000"), ("1e-5", "1e 5"), ("0.00001", "1e-5"), ("5E3", "5000"), ("0x10", "16"), ("1,000", "1000"), ("$5", "5"),
    ("$5.0", "5"), ("$5.0", "50"), ("$.5", "5"), ("$.5", ".5"), ("(5)", "5"), ("50%", "50"), ("5.0%", "5"), ("5.0%", "50"), ("5.0.", "5"), ("$1,000.00", "1000"), ("$1,000.00", "100000"), ("1.2.3", "123"), ("1.000.000", "1000000"), ("1,5", "1.5"), ("1,5", "15"),
    ("1_000", "1000"), ("1_000.5", "1000.5"), ("1__0", "10"), ("_1", "1"), ("1_", "1"), ("123456", "123457"), ("9007199254740993", "9007199254740992"), ("1e400", "inf"), ("1e400", "1e400"), ("inf", "infinity"), ("nan", "NaN"), ("0", "-0"), ("00", "0"), ("five", "5"),
    ("１", "1"), ("٣", "3"), ("٥.٠", "5"), ("²", "2"), ("5²", "25"), ("½", "0.5"), ("①", "1"), ("x", ["y", "x"]), ("x", ["y", "z"]), ("x", ["", "x"]), ("7 the cat", "7.0 cat"), ("cat 7", "7 cat"), ("yes", "Yes!"),
    *[(f"{c}x{c}", "x") for c in string.punctuation],
]  # fmt: skip
F1 = [
    ("Paris", "paris"), ("the Paris city", "paris"), ("New York City", "new york"), ("x y z", "x"), ("x y z w", "x y z"), ("x x", "x"), ("a a b", "a b b"), ("x y", "y x"), ("x y", "z"), ("x y", ["z", "x", "x y z w"]), ("x y", ["x", "x z"]), ("the", "a"), ("!!!", "!!!"),
    ("x y", "x y z x y"), ("p q r s t u v", "p q r"), ("x " * 50, "x"), ("x\ny", "x y"), ("x\n5", "x 5"), ("p q\nq", "q q"), ("5.0 apples", "5 apples"), ("1,000 dogs", "1000 dogs"), ("x-y", "x y"), ("x-y", "xy"), ("it's ok", "its ok"), ("50% off", "50 off"), ("$5 bill", "5 bill"),
    ("日本 東京", "日本"), ("日本東京", "日本"), ("٣ x", "3 x"), ("x\u00a0y", "x y"), ("one two three four five six seven eight", "one"), ("a b c d e f g", "b"), ("5²", "25"), ("x, y, and z", "x y z"), ("x y z", "x, y, and z"), ("1e3 x", "1000"), ("yes", "Yes."),
    ("Answer: the cat sat", "cat sat"), ("p", ["", "p"]), ("p", [""]),
]  # fmt: skip
STOPPED = [
    ("paris is of", "paris"), ("paris Is", "paris"), ("paris IS.", "paris"), ("is", "is"), ("x is", "y is"), ("the is", "x"), ("5 p", "p"), ("5.0 p", "p"), ("x-y p", "p"), ("xy p", "p"), ("new york p", "p"), ("newyork p", "p"), ("new\nyork p", "p"), ("p\nis", "p"), ("p of\nis", "p"), ("is\np q", "p"),
    ("strasse p", "p"), ("STRASSE p", "p"), ("p q", "q"), ("q", "p is q"), ("it's p", "p"), ("its p", "p"), ("U.S. p", "p"), ("us p", "p"), ("!", "p"),
]  # fmt: skip


def includes():
    out = cases("includes", "text", INCLUDES) + cases("includes", "case", INCLUDES, ignore_case=False)
    out += cases("includes", "unicode", UNICODE_PAIRS) + cases("includes", "unicode-case", UNICODE_PAIRS, ignore_case=False)
    out += cases("includes", "blank", BLANK) + cases("includes", "blank-case", BLANK, ignore_case=False)
    dice = Dice("includes")
    for number in range(100):
        row = (dice.join(WORDS, 0, 5, GLUE), dice.several([*WORDS, "paris is", "5\n", "THE "], 1, 3))
        out += cases("includes", f"random-{number}", [row], ignore_case=dice.chance(0.7))
    return out


def exact():
    out = cases("exact", "text", EXACT) + cases("exact", "unicode", UNICODE_PAIRS) + cases("exact", "blank", BLANK)
    dice = Dice("exact")
    for number in range(150):
        target = dice.join(WORDS, 1, 4, GLUE)
        # half of them differ from the target in glue, case and articles only
        completion = dice.one([target.upper(), f"the {target}.", target.replace(" ", dice.one(GLUE))]) if dice.chance(0.5) else dice.join(WORDS, 1, 4, GLUE)
        out += cases("exact", f"random-{number}", [(completion, target)])
    return out


def f1():
    out = cases("f1", "text", F1) + cases("f1", "unicode", UNICODE_PAIRS) + cases("f1", "blank", BLANK)
    out += cases("f1", "stop", STOPPED, stop_words=["is", "Of", "5.0", "x-y", "new york", "Straße", "it's", "U.S.", "-", ""])
    out += cases("f1", "stop-none", STOPPED[:3], stop_words=[]) + cases("f1", "stop-article", STOPPED[:6], stop_words=["the"])
    # every share of c words in common of n and m; the ones that end in 5 show how they are rounded
    shares = [(n, m, c) for n, m in itertools.product(range(1, 40), repeat=2) if n <= m and n + m in (16, 40) for c in range(1, n + 1) if (200 * 2 * c) % (n + m) == 0]
    rows = [(" ".join(f"w{i}" for i in range(n)), " ".join(f"w{i}" for i in range(c)) + " z" * (m - c)) for n, m, c in shares if (200 * 2 * c // (n + m)) % 2][::3]
    out += cases("f1", "half", rows)
    dice = Dice("f1")
    for number in range(150):
        row = (dice.join(WORDS, 0, 8, GLUE), dice.several([dice.join(WORDS, 1, 6, GLUE) for _ in range(3)], 1, 2))
        args = {"stop_words": dice.several(WORDS, 1, 4)} if dice.chance(0.3) else {}
        out += cases("f1", f"random-{number}", [row], **args)
    return out
