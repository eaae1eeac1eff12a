"""Two plain tables beside the cases: the conversion of values, and the string that Python writes for them."""

import reference

NAN, INF = float("nan"), float("inf")

VALUES = [
    # grades, and what only looks like one
    "C", "I", "P", "N", "c", "i", "p", "n", " C", "C ", "CC", "", " ",
    # words
    "yes", "no", "true", "false", "Yes", "NO", "TRUE", "False", "yEs", " yes", "yes ", "y", "n", "t", "f", "on", "off", "yes.", "ＹＥＳ",
    # strings that are numbers
    "0", "1", "-1", "+5", " 5 ", "\t7\n", "1.0", ".5", "5.", "-.5", "+.5", "1e-2", "1E5", "1e+3", "1e5.0", "1_000", "1_000.5", "1e1_0",
    "0.1", "00012", "-0", "1e-400", "123456789012345678901234567890", "\u00a05", "5\u2003", "\u200b5", "٣", "１２", "٣.٥", "1e３",
    # strings that are not, or not a finite one
    "nan", "NaN", "NAN", "+nan", "-nan", "inf", "Inf", "INF", "-inf", "+inf", "infinity", "Infinity", "-Infinity", "1e999", "-1e999", "1e309",
    "0x10", "0X1F", "0b1", "0o7", "1__0", "_1", "1_", "1_.5", "1._5", "1,000", "1 000", "50%", "$5", "1/2", "--5", "+-5", "+ 5", "1e", "e5", ".", "+", "-",
    "1.2.3", "1d5", "1f", "1j", "½", "²", "五", "one", "None", "null", "1\x00", "abc", "correct", "[1]", "nan(1)", "1e-", "infinit",
    # numbers and booleans
    0, 1, -1, 42, 2**53, 2**53 + 1, 2**63, -(2**63), 2**64, 10**30, 0.0, -0.0, 0.5, 1.0, -2.5, 1e300, 5e-324, 1e-9, INF, -INF, NAN, True, False,
    # what has no number
    None, [], [1], ["C"], [1, 2], {}, {"a": 1}, {"C": 1},
]  # fmt: skip

CONFIGURED = [
    {"correct": "yes", "incorrect": "no"},
    {"correct": "no", "incorrect": "yes"},
    {"correct": "c", "incorrect": "i", "partial": "p", "noanswer": "n"},
    {"correct": 1, "incorrect": 0},
    {"correct": 0, "incorrect": 1},
    {"correct": 2, "incorrect": 1, "partial": 3, "noanswer": 4},
    {"correct": True, "incorrect": False},
    {"correct": False, "incorrect": True},
    {"correct": 0.5, "partial": 0.25},
    {"correct": "5", "noanswer": "1"},
    {"partial": "C"},
    {"incorrect": "C"},
    {"noanswer": "C"},
    {"noanswer": 1},
    {"correct": NAN},
    {"correct": ""},
    {"partial": "half"},
]
PROBES = ["C", "I", "P", "N", "c", "yes", "no", "half", "5", "1", "", 0, 1, 2, 3, 4, 0.5, 0.25, 1.0, 2.0, True, False, NAN, None, [1]]

TEXTS = [
    # floats of every magnitude
    0.0, -0.0, 1.0, -1.0, 0.1, 0.5, 2.5, 1 / 3, 2 / 3, 0.30000000000000004, 100.0, 123.456, 12345.678, 1e5, 1e15, 123456789012345.0, 1234567890123456.0,
    9999999999999998.0, 1e16, 1.5e16, 12345678901234567.0, 1e17, 1e21, 1e22, 1.7976931348623157e308, 1e100, -1e100, 0.001, 0.0001, 0.00012345, 0.00001, 1e-5, 1.5e-5,
    1e-7, 1e-10, 2.2250738585072014e-308, 5e-324, 4.35, 1e23, 9007199254740993.0, 9007199254740992.0, 1e-4, 9.999e-5, NAN, INF, -INF,
    # integers
    0, 1, -1, 42, 10**6, 2**53, 2**63, 2**64, -(2**63), 10**30,
    # the rest of the scalars
    True, False, None,
    # plain strings stand for themselves
    "", " ", "a", "True", "None", "1", "1.0", "it's", 'say "hi"', "both ' and \"", "back\\slash", "tab\there", "new\nline", "é", "日本", "🙂", "\u200b", "\x00",
    # strings inside a list are quoted
    ["a"], ["it's"], ['say "hi"'], ["both ' and \""], ["back\\slash"], ["tab\there"], ["new\nline"], ["carriage\rreturn"], ["é"], ["日本"], ["🙂"],
    ["\x00"], ["\x1b"], ["\x7f"], ["\x80"], ["\xa0"], ["\xad"], ["\u200b"], ["\u2028"], ["\ufeff"], ["\ue000"], ["\U000e0001"], ["e\u0301"], ["\u0378"], ["\u3000"], [""],
    # lists and maps
    [], [1], [1, 2], [1, "a"], [1.0, 0.5, 1e16, 1e-5], [True, False, None], [[]], [[1], [2, [3]]], [NAN, INF, -INF], [0.1, -0.0],
    {}, {"a": 1}, {"a": 1.0, "b": "x"}, {"k": [1, 2]}, {"k": {"n": None}}, {"it's": "q"}, {"": ""}, {"a b": True}, [{"a": 1}, {}], {"b": 1, "a": 2}, {"é": "日"},
]  # fmt: skip


def value_to_float():
    rows = []
    for args, values in [({}, VALUES)] + [(args, PROBES) for args in CONFIGURED]:
        convert = reference.reference.value_to_float(**args)
        for value in values:
            messages = reference.listen()
            rows.append({"value": value, "args": args, "expect": float(convert(value)), "warned": bool(messages)})
    return rows


def python_text():
    return [{"value": value, "text": str(value)} for value in TEXTS]


FILES = ("value_to_float.json", "python_text.json")


def all_tables():
    return [
        ("value_to_float", "the conversion of values; args are the configured grades", value_to_float()),
        ("python_text", "the text of a value, as group names and frequency keys show it", python_text()),
    ]
