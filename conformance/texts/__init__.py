"""The cases of the text scorers, file by file: what a model answered and the targets, in; the score, out.

What comes out is added by `text_reference.ask`. Written-out cases first, then texts composed at random from a fixed seed.
"""

from . import answers, choice, match, words


def all_texts():
    """(file, what it is about, cases)"""
    return [
        ("match", "the scorer match, on text", match.text()),
        ("match-numeric", "the scorer match, on numbers", match.numeric()),
        ("includes", "the scorer includes", words.includes()),
        ("pattern", "the scorer pattern", answers.pattern()),
        ("answer", "the scorer answer", answers.answer()),
        ("choice", "the solver multiple_choice and the scorer choice", choice.choice()),
        ("exact", "the scorer exact", words.exact()),
        ("f1", "the scorer f1", words.f1()),
    ]
