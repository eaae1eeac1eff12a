"""Cases of `choice` after `multiple_choice`: what a completion marks, and how that is judged."""

import string

from .answers import LAYOUT
from .build import Dice, choice_cases

LABELS = [
    "A", "b", "B.", "(B)", "( B )", "((B))", "B)", "B) foo", "B foo", "Bfoo", "**B**", "*B*", "***B***", "**B", "B**", "$B$", "$B", "B$", "$$B$$", "[B]", "{B}", "<B>", "'B'", '"B"', "`B`", "_B_", "\\boxed{B}", "**(B)**", "(**B**)", "**$B$**", "$(B)$", "** B **", "**B.**", "**B** foo", "**B\n**", "**\nB**",
    "**,B**", "**B,**", "** **B", "**B-C**", "**A** and **B**", "**A**, **B**", "**A, B**", "$A,B$", "(A),(B)", "(A), (B)", "(A) (B)", "(A)(B)", "(A) and (B)", "(A,B)", "(AB)", "(A), B", "A,(B)", "(A) , (B)", "(A),(B),(C)", "(A),(B) foo", "(A),(B). foo", "(A), foo", "(A),", ",(A)", "(A)_", "(A)x", "(A)!", "(A).", "(A) foo", "(A). foo",
    "A (B)", "A (foo)", "(A)\n(B)", "(A)\nfoo", "\n(A)", "A,B", "A, B", "A B", "AB", "ab", "A and B", "A AND B", "A  and  B", "A, B, and C", "A, B and C", "A and B and C", "A,B and C,D", "A and", "and A", "and", "A,and B", "AandB", "A and and B", "A and, B", "A , and B", "A & B", "A;B", "A/B", "A+B", "A-B", "A. B", "A or B", "A,,B", "A, ,B",
    ",A", ", A", "A,", "A ,", "A,,", ", ,A", "A,A", "AAB", "D,A", "DCBA", "BAD", "AB,C", "AB CD", "A B,C", "A,B C", "A\tB", "A\nB", "A,\nB", "A,B\nC", "A,E", "AE", "E", "Z", "1", "A,1", "none", "None of the above", "all", "choice 1", "Option B", "is B", "é", "Ｂ", "B é", "A B_", "A,_", "B\u00a0C", "B\r\n", "B\r", "B\rC", "B.\nC",
    "A、B", "A，B", "A.B", "A .", "A ,.", "A, .", "-B", ":B", ",", ", ,", "", " ", "\n", "😀", "B 😀",
]  # fmt: skip
WHOLE = [
    "", " ", "\n\n", "B", "B.", "(B)", "The answer is B", "no idea", "ANSWER: C\nANSWER: B", "ANSWER: C\n\nANSWER: B", "ANSWER: C\nfoo\nANSWER: B", "ANSWER: C\nx ANSWER: B", "ANSWER: C\n ANSWER: B", "ANSWER: C\n**ANSWER: B**", "**ANSWER: C**\nANSWER: B", "**ANSWER: C**\n**ANSWER: B**", "x ANSWER: C\ny ANSWER: B", "x ANSWER: C. y ANSWER: B.",
    "ANSWER: C. ANSWER: B", "ANSWER: C; ANSWER: B", "ANSWER: C, ANSWER: B", "ANSWER: C ANSWER: B", "ANSWER: ANSWER: B", "ANSWER: C because ANSWER: B is wrong", "ANSWER: C\rANSWER: B", "ANSWER: C\r\nANSWER: B", "ANSWER: C\n\rANSWER: B", "ANSWER: C\tANSWER: B", "ANSWER: C.\rANSWER: B", "ANSWER: C\nANSWER: foo", "ANSWER: foo\nANSWER: C", "ANSWER: C\nANSWER: E",
    "ANSWER: E\nANSWER: C", "ANSWER: C\nANSWER: -", "ANSWER: C\nANSWER:", "ANSWER: C\nANSWER: \n", "ANSWER: C\nANSWER:\n", "ANSWER: foo\nx ANSWER: C", "ANSWER: -\nx ANSWER: C", "x ANSWER: C\nANSWER: foo", "ANSWER: (C)\nx ANSWER: B", "ANSWER: (C) foo\nx ANSWER: B", "ANSWER: C)\nx ANSWER: B", "ANSWER: C foo\n ANSWER: B", "(ANSWER: B)", "(ANSWER: (B))", "**ANSWER**: B", "*ANSWER*: B",
    "**ANSWER:** B", "**AN**SWER: B", "$ANSWER$: B", "$ANSWER: B$", "'ANSWER: B'", "<answer>ANSWER: D</answer>", "cost $5 and $6. ANSWER: A", "**Bold** ANSWER: B **x**", "**x\nANSWER: C**\ny ANSWER: B", "ANSWER: **A** - **foo**", "ANSWER: $A$B$", "ANSWER: **A****B**", "ANSWER: D\n\n\nok", "ANSWER: \nfoo\nB", "ANSWER:\nfoo", "ANSWER: ,\nB", "ANSWER: A\n-", "the answer: a\nmore",
    "Let me think.\n\n1. A is wrong.\n2. B is right.\n\nANSWER: B", "ANSWER: $LETTER", "ANSWER: A\n\nExplanation: the ANSWER: B would be wrong", "ANSWER: A:B", "ANSWER: A: foo", "ANSWER: A - foo",
]  # fmt: skip
MANY = ["A", "Z", "z", "1", "2", "4", "9", "10", "14", "0", "01", "99", "1 2", "1,2", "12", "10,11", "10, 11", "10 11", "10 and 11", "A,1", "A10", "A 10", "12 A", "11", "111", "1234", "LAND", "and", "(1)", "(10)", "(1),(2)", "$10$", "**10**", "1.5", "١", "１", "A,Z", "AZ"]
TARGETS = ["A", "a", "B", "AB", "A,B", "A B", ["A", "B"], ["B", "A"], ["A"], [], "", " ", ",", ["", "A"], "AA", ["A", "A"], "A ", "E", "Z", "1", "0", "A!", "(A)", "choice 0", "A and B", "-", "é", "A\nB", "D", ["D", "E"]]
COMPLETIONS = ["ANSWER: A", "ANSWER: A,B", "ANSWER: foo", "", " \n"]


def choice():
    out = []
    for multiple in (False, True):
        kind = "several" if multiple else "single"
        out += choice_cases(f"{kind}-label", [f"ANSWER: {label}" for label in LABELS], multiple=multiple)
        out += choice_cases(f"{kind}-whole", WHOLE, multiple=multiple)
        out += choice_cases(f"{kind}-layout", [text.replace("{}", "B") for text in LAYOUT], multiple=multiple)
        out += choice_cases(f"{kind}-mark", [t.replace("@", c) for t in ("ANSWER: @B", "ANSWER: B@", "ANSWER: B@ foo", "ANSWER: B@C", "@ANSWER: B", "ANSWER: C\n@ANSWER: B") for c in string.punctuation], multiple=multiple)
        for choices in (2, 26, 30, 40):
            out += choice_cases(f"{kind}-of-{choices}", [f"ANSWER: {label}" for label in MANY], choices=choices, multiple=multiple)
    out += choice_cases("target", [(completion, target) for target in TARGETS for completion in COMPLETIONS], multiple=True)
    numbered = ["1", "10", "12", "1,2", ["A", "10"], "A10", "A 10", "01", "99", "1O"]
    out += choice_cases("target-numbered", [(completion, target) for target in numbered for completion in ("ANSWER: 1,2", "ANSWER: A,10", "ANSWER: 10", "ANSWER: 12", "ANSWER: 1")], choices=40, multiple=True)
    out += choice_cases("look-alike", ["AN\u017fWER: B"], verdict="look-alikes")
    out += choice_cases("look-alike-label", ["ANSWER: \u212a", "ANSWER: B\u0301"], choices=20)
    dice = Dice("choice")
    parts = ["ANSWER: ", "ANSWER: ", "\nANSWER: ", "answer:", "A", "B", "C", "E", "(A)", "**B**", "$C$", ", ", ",", " and ", " ", "\n", ".", ")", "foo", "-", "**", "$", "(", "\r\n", "\t", "AB", "1"]
    for number in range(250):
        rows = [(dice.join(parts, 1, 8), dice.several(["A", "B", "C", "AB"], 1, 2))]
        out += choice_cases(f"random-{number}", rows, multiple=dice.chance(0.6))
    return out
