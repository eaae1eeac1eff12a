"""Cases of `answer` and `pattern`."""

import string

from .build import BLANK, Dice, cases

KINDS = ("letter", "word", "line")
LAYOUT = [
    "ANSWER: {}", "answer: {}", "Answer : {}", "ANSWER {}", "ANSWER:{}", "ANSWER:   {}", "ANSWER:\t{}", "ANSWER:\u00a0{}", "ANSWER:\n{}", "ANSWER:\n\n{}", "ANSWER\n: {}", "ANSWERS: {}", "ANSWER： {}", "myANSWER: {}", "x ANSWER: {}", "The final answer: {}", "**ANSWER: {}**", "**ANSWER:** {}",
    "**ANSWER**: {}", "ANSWER: {}.", "ANSWER: {}\n", "ANSWER: {}\n\n", "ANSWER: {} \n", "ANSWER: {}\r\n", "ANSWER: {}\r", "ANSWER: {}\n \n", "ANSWER: {}\nmore", "ANSWER: {}\r\nmore", "ANSWER: {} more", "ANSWER: {}. More", "ANSWER: {}\nANSWER: Q", "ANSWER: Q\nANSWER: {}", "ANSWER: Q\n\nANSWER: {}\nmore",
    "ANSWER: Q ANSWER: {}", "ANSWER: ANSWER: {}", "ANSWER:ANSWER:{}", "ANSWER: {}\nANSWER:", "ANSWER: {}\nANSWER", "ANSWER: {}\nANSWER: ", "ANSWER: {}\nmy answer: is that", "ANSWER: {} ANSWER:", "ANSWER: {},ANSWER:", "ANSWER: Q z\nANSWER:\n{}", "# ANSWER: {}", "- ANSWER: {}", "{}", "ANSWER", "ANSWER:", "ANSWER: ", "ANSWER: \n",
    "ANSWER:\n", "ANSWER:\n\n", "ANSWER: \t\n", "ANSWER: \n \n", "I think {}.\n\nANSWER: {}",
]  # fmt: skip
VALUES = [
    ("A", "A"), ("a", "A"), ("A", "a"), ("A", "B"), ("A", ["B", "A"]), ("A", []), ("AB", "AB"), ("yes", "Yes"), ("two words", "two words"), ("two words", "two"), ("(A)", "A"), ("**A**", "A"), ("$A$", "A"), ("`A`", "A"), ("'A'", "A"), ("[A]", "A"), ("A)", "A"), ("A) foo", "A"), ("A, B", "A"),
    ("A pple", "A"), ("\\boxed{A}", "A"), ("_A_", "A"), ("A_", "A"), ("5", "5"), ("$5", "$5"), ("$5", "5"), ("-3", "-3"), ("3.5", "3.5"), ("1,000", "1000"), ("a-b", "a-b"), ("can't", "can't"), ("none", "none"), ("é", "É"), ("e\u0301", "é"), ("ß", "SS"), ("ẞ", "ß"), ("日本", "日本"), ("🙂", "🙂"),
    ("x\u0301", "x"), ("x²", "x"), ("x🙂", "x"), ("A\u2028foo", "A"), ("A\rfoo", "A"), ("A", "A "), ("A", "A."), ("foo.", "foo."), ("foo", "foo."), ("x..", "x"), ("x!.", "x"), ("x .", "x"), (".", "."), ("x:y", "x:y"), ("ΟΣ", "ος"), ("\u200b", "x"), ("foo bar ", "foo bar"), ("<x>", "x"),
]  # fmt: skip


def answer():
    out = []
    for kind in KINDS:
        out += cases("answer", f"{kind}-layout", [(text.replace("{}", "A"), "A") for text in LAYOUT], pattern=kind)
        out += cases("answer", f"{kind}-value", [(f"ANSWER: {value}", targets) for value, targets in VALUES], pattern=kind)
        out += cases("answer", f"{kind}-mark", [(f"ANSWER: x{c}", "x") for c in string.punctuation], pattern=kind)
        out += cases("answer", f"{kind}-blank", BLANK, pattern=kind)
        out += cases("answer", f"{kind}-look-alike", [("AN\u017fWER: x", "x")], "look-alikes", pattern=kind)
    letters = [("ANSWER: \u212a", "k"), ("ANSWER: \u017f", "s"), ("ANSWER: \u0130", "i"), ("ANSWER: \u0131", "i")]
    out += cases("answer", "letter-look-alike-letter", letters, "look-alikes", pattern="letter")
    out += cases("answer", "unknown", [("ANSWER: x", "x")], pattern="sentence")
    dice = Dice("answer")
    parts = ["ANSWER: ", "ANSWER:", "answer : ", "x", "A", "B", "yes", " ", " ", "\n", "\n", ".", ",", "!", "**", "(", ")", "é", "-", "5", "\t", "\r\n", "_"]
    for number in range(150):
        row = (dice.join(parts, 1, 10), dice.several(["A", "x", "yes", "B", "5", "A B"], 1, 2))
        out += cases("answer", f"random-{number}", [row], pattern=dice.one(KINDS))
    return out


PATTERNS = [  # pattern, rows
    (r"(\d+)", [("x 42 y 43", "42"), ("x 42 y 43", "43"), ("٣", "٣"), ("٣", "3"), ("x²", "2"), ("none", "5")]),
    (r"\d+", [("x 42", "42"), ("x", "42")]),
    (r"ANSWER: (.*)", [("answer: Foo", "foo"), ("ANSWER: Foo", "Foo"), ("ANSWER: Foo\nbar", "Foo"), ("ANSWER: ", ""), ("ANSWER: Foo ", "Foo"), ("", "x"), ("ANSWER: ß", "SS"), ("ANSWER: ẞ", "ß"), ("ANSWER: ΟΣ", "ος"), ("ANSWER: \u0130", "i\u0307"), ("ANSWER: a", ["b", "A"]), ("ANSWER: a", [])]),
    (r"(\w)-(\w)", [("a-b", "a"), ("a-b", "b"), ("a-b", "c"), ("A-b", "a"), ("A-B", "b"), ("a-a", "a"), ("a-b", ["b", "a"]), ("a-b", ["a", "b"]), ("a-b", ["x", "b"]), ("a-b", ["a", "b", "c"]), ("a-b", "ab"), ("a-b", [])]),
    (r"(a)|(b)", [("a", "a"), ("b", "b"), ("b", "a"), ("c", "a")]),
    (r"(x)?", [("abc", ""), ("abc", "x"), ("x", "x"), ("x", "")]),
    (r"(x)?(y)?", [("abc", ""), ("y", "y"), ("xy", "y"), ("xy", ["x", "y"])]),
    (r"(\w)-()", [("A-", "A"), ("A-", ["A", ""]), ("A-", [""])]),
    (r"", [("abc", ""), ("", "")]),
    (r"()", [("abc", ""), ("", "")]),
    (r"(?:a)", [("a", "a"), ("A", "a")]),
    (r"(?P<x>\w)!", [("q!", "q"), ("q", "q")]),
    (r"(?P<x>a)(?P<y>b)", [("ab", "b"), ("ab", "c"), ("ab", ["a", "b"])]),
    (r"(?P<q>a)(?P=q)", [("aa", "a"), ("ab", "a")]),
    (r"(a)\1", [("aa", "a"), ("ab", "a"), ("aA", "a")]),
    (r"(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)\10", [("abcdefghijj", "j"), ("abcdefghija0", "j")]),
    (r"(?=a)(.)", [("xa", "a"), ("x", "a")]),
    (r"(?!a)(.)", [("ab", "b")]),
    (r"(?<=x)(.)", [("xa", "a"), ("a", "a")]),
    (r"(?<!x)(b)", [("xb ab", "b"), ("xb", "b")]),
    (r"^(\w+)$", [("one", "one"), ("one\n", "one"), ("one\n\n", "one"), ("one\ntwo", "one"), ("one two", "one")]),
    (r"(?m)^(\w+)$", [("one two\nthree", "three"), ("one\n", "one"), ("one\r\ntwo", "two")]),
    (r"\A(a)\Z", [("a", "a"), ("a\n", "a"), ("ba", "a")]),
    (r"(b)\Z", [("ab", "b"), ("ab\n", "b")]),
    (r"(?s)a(.)b", [("a\nb", "\n"), ("axb", "x")]),
    (r"a(.)b", [("a\nb", "\n"), ("a\rb", "\r")]),
    (r"(?s:.)(.)", [("\na", "a"), ("a\nb", "b")]),
    (r"(?i)x", [("X", "x"), ("X", "X")]),
    (r"(?i:a)(b)", [("Ab", "b"), ("AB", "b")]),
    (r"(?-i:a)(b)", [("ab", "b"), ("AB", "b")]),
    (r"(?im)^(a)$", [("b\nA", "a")]),
    (r"(?x) ( a ) # comment", [("a", "a"), (" a ", "a")]),
    ("(?x)\n (\\d+)   # number\n \\ (km)  # unit", [("5 km", "5"), ("5km", "5")]),
    (r"(?a)(\w+)", [("éa", "a"), ("éa", "éa")]),
    (r"(?u)(\w+)", [("éa", "éa")]),
    (r"(\w+)", [("e\u0301x", "e"), ("²x", "²x"), ("½", "½"), ("ⓐ", "ⓐ"), ("a‿b", "a"), ("x\u200dy", "x"), ("नमस्ते", "नमस"), ("snake_case", "snake_case"), ("日本", "日本")]),
    (r"(\W+)", [("a\u0301b", "\u0301"), ("a--b", "--")]),
    (r"(\s)x", [("\x1cx", "\x1c"), ("\u00a0x", "\u00a0"), ("\u180ex", "\u180e"), ("\u200bx", "\u200b")]),
    (r"(\S+)", [(" ab c", "ab")]),
    (r"(\D+)", [("12ab", "ab")]),
    (r"\b(\w)\b", [("ab c", "c"), ("c\u0301 d", "c"), ("ab", "a")]),
    (r"\B(\w)", [("ab", "b"), ("a", "a")]),
    (r"([A-D])", [("x b", "B"), ("é", "a")]),
    (r"([^a-c]+)", [("abcxyz", "xyz")]),
    (r"[]a]+", [("x]a", "]a")]),
    (r"[^]a]+", [("]bc", "bc")]),
    (r"[[a]+", [("x[a", "[a")]),
    (r"[a&&b]+", [("x&&", "&&"), ("ab", "ab")]),
    (r"[a||b~~]+", [("x|~", "|~")]),
    (r"[\w.-]+", [(" a.b-c ", "a.b-c")]),
    (r"[\d,.-]+", [("x -1,234.5", "-1,234.5")]),
    (r"[a\-z]+", [("x a-z", "a-z")]),
    (r"[^\W\d]+", [("1ab2", "ab")]),
    (r"[\s\S]+", [("a\nb", "a\nb")]),
    (r"[\b]", [("\x08", "\x08")]),
    (r"[\x41-\x43]+", [("xABC", "abc")]),
    (r"\$?(\d[\d,]*)", [("It is $1,234.", "1,234")]),
    (r"(a{2})", [("aaa", "aa")]),
    (r"(a{,2})b", [("aaab", "aa")]),
    (r"(a{2,})", [("aaa", "aaa")]),
    (r"(a{1,2}?)", [("aaa", "a")]),
    (r"{", [("{", "{")]),
    (r"a{x}", [("a{x}", "a{x}")]),
    (r"(a{)", [("a{", "a{")]),
    (r"\{(\w)\}", [("{a}", "a")]),
    (r"(x*?)y", [("xxy", "xx")]),
    (r"(?>a+)b", [("aab", "aab")]),
    (r"a++b", [("aab", "aab")]),
    (r"(a)(?(1)b|c)", [("ab", "a"), ("c", "a")]),
    (r"(a)(?#comment)b", [("ab", "a")]),
    (r"(a|b)*?c", [("abc", "b")]),
    (r"(a|ab)(c|bcd)", [("abcd", "a"), ("abcd", "bcd")]),
    (r"(\x41)", [("A", "A")]),
    (r"(\u0041\U0001F642)", [("A🙂", "A🙂")]),
    (r"(\101)", [("A", "A")]),
    (r"(\0)", [("\0", "\0")]),
    (r"(\t|\n)x", [("\tx", "\t"), ("\nx", "\n")]),
    (r"(\.\*\+\?\(\)\[\]\|\^\/\-\_\<\é)", [(".*+?()[]|^/-_<é", ".*+?()[]|^/-_<é")]),
    (r"ANSWER\s*:\s*([A-D])\b", [("ANSWER: B.", "B"), ("ANSWER: BD", "B"), ("answer :\nc", "C")]),
    (r"\\boxed\{([^}]*)\}", [(r"so \boxed{42}.", "42"), (r"\boxed{}", "")]),
    (r"(?:the answer is|answer:)\s*(\S+)", [("The answer is 42", "42"), ("Answer: 7.", "7")]),
    (r"(?s).*(\d)", [("1 2\n3", "3")]),
    (r"<answer>(.*?)</answer>", [("<answer>x</answer><answer>y</answer>", "x"), ("<answer>\nx</answer>", "x")]),
    (r"####\s*(-?[\d,]+)", [("#### 1,234", "1,234"), ("#### -5", "-5"), ("####5", "5")]),
    (r"(ſ)", [("S", "s")]),
    (r"(k)", [("\u212a", "k")]),
    (r"(ß)", [("ẞ", "ß"), ("SS", "ss")]),
    (r"(µ)", [("μ", "μ")]),
    (r"(ﬁ)", [("FI", "fi")]),
]  # fmt: skip
BROKEN = [
    "(", ")", "[", "*a", "a**", r"\q", "\\", "(?P<1a>x)", "(?P<a>x)(?P<a>y)", "a{2,1}", "[z-a]", r"[\d-x]", "(?L)a", "a(?i)b", "(?", "(?P", r"\z", r"\h", r"\p{L}", r"\x4", r"\u41", "(?z:a)", "(?#", "[a--b]", "(?<n>a)", r"(a)\2", r"\1(a)", r"(?P=n)(?P<n>a)", "(?P=n)",
]  # fmt: skip


def pattern():
    out = []
    for number, (regex, rows) in enumerate(PATTERNS):
        out += cases("pattern", f"{number}", rows, pattern=regex)
        out += cases("pattern", f"{number}-case", rows, pattern=regex, ignore_case=False)
        out += cases("pattern", f"{number}-all", rows, pattern=regex, match_all=True)
    for number, regex in enumerate(BROKEN):
        out += cases("pattern", f"broken-{number}", [("a", "a")], pattern=regex)
    out += cases("pattern", "look-behind", [("aab1", "b"), ("b", "b")], "look-behind", pattern=r"(?<=a+)(b)")
    out += cases("pattern", "name-escape", [("ab1", "1")], "name-escapes", pattern=r"(\N{DIGIT ONE})")
    out += cases("pattern", "dotted", [("\u0130", "\u0130")], "dotted-i", pattern="(i)")
    out += cases("pattern", "blank", BLANK, pattern=r"(\w*)")
    # few enough for the reference, which knows no limit
    out += cases("pattern", "runaway", [("a" * 18 + "b", "a")], pattern=r"(a+)+$")
    dice = Dice("pattern")
    atoms = ["a", "b", ".", r"\w", r"\d", r"\s", "[ab]", "[^a]", "(a)", "(b|c)", r"(\w+)", r"(\d+)", "(?:x|y)", r"\b", "^", "$", "é", "(?P<n>[a-z])", r"\W", "(.)"]
    marks = ["", "", "", "*", "+", "?", "{1,2}", "*?"]
    for number in range(150):
        regex = "".join(atom + ("" if atom in ("^", "$", r"\b") else dice.one(marks)) for atom in dice.several(atoms, 1, 4))
        if regex.count("?P<n>") > 1:
            regex = regex.replace("(?P<n>", "(")
        row = (dice.join(["a", "b", "c", "x", "1", "23", " ", "\n", "é", "A", "-", "_"], 1, 8), dice.several(["a", "b", "ab", "1", "23", "é", "a b", "x"], 1, 2))
        out += cases("pattern", f"random-{number}", [row], pattern=regex, ignore_case=dice.chance(0.7), match_all=dice.chance(0.3))
    return out
